export function render({ model }) {
  const root = document.documentElement
  const button = document.createElement("button")
  button.className = "toggle"
  const show = () => {
    button.textContent = model.dark ? "Light" : "Dark"
    button.setAttribute("aria-label", model.dark ? "Switch to light colours" : "Switch to dark colours")
    root.dataset.theme = model.dark ? "dark" : "light"
  }
  button.addEventListener("click", () => {
    model.dark = !model.dark
    try { localStorage.setItem("modeseek-theme", model.dark ? "dark" : "light") } catch {}
    show()
  })
  model.dark = root.dataset.theme === "dark"
  show()
  return button
}
