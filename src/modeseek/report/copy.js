"use strict";
document.querySelectorAll(".copy").forEach((button) => {
  const code = button.parentElement.querySelector("code");
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };
  // where the browser hands out no clipboard, the text is at least selected
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
