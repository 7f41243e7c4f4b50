export function render({ model }) {
  const list = document.createElement("div")
  list.className = "pictures"
  const fill = () => {
    list.replaceChildren(...model.pictures.map((picture, k) => {
      const button = document.createElement("button")
      const image = document.createElement("img")
      image.src = picture.image
      image.alt = ""
      const title = document.createElement("strong"), note = document.createElement("span")
      title.textContent = picture.title
      note.textContent = picture.note
      button.append(image, title, note)
      button.addEventListener("click", () => { model.chosen = k })
      return button
    }))
    mark()
  }
  const mark = () => {
    [...list.children].forEach((button, k) => button.setAttribute("aria-pressed", String(k === model.chosen)))
  }
  model.on("pictures", fill)
  model.on("chosen", mark)
  fill()
  return list
}
