"""The switch between light and dark, which starts as the browser likes it and remembers."""

from __future__ import annotations

from typing import ClassVar

import panel as pn
import param

__all__ = ["Switch"]


class Switch(pn.custom.JSComponent):
    """A button; `dark` tells which it is."""

    dark = param.Boolean(default=False)

    _esm = """
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
    """
    _stylesheets: ClassVar[list[str]] = [
        """.toggle { font: 0.9rem var(--sans); color: var(--ink); background: var(--field); padding: 0.35rem 0.8rem;
        border: 1px solid var(--edge); border-radius: 5px; min-width: 4.5rem; cursor: pointer; }"""
    ]
