"use strict";
document.querySelectorAll(".copy").forEach((button) => {
  const code = button.parentElement.querySelector("code");
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };
  // without access to the clipboard, select the text
  const select = () => {
    getSelection().selectAllChildren(code);
    say(document.execCommand("copy") ? "Copied" : "Selected");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => say("Copied"), select);
    else select();
  });
});
