"""The button that switches between light and dark colours and stores the choice in the browser."""

from typing import ClassVar

import panel as pn
import param

from modeseek.explorer.page.style import DARK, LIGHT, FigureColors, read_asset


class ThemeSwitch(pn.custom.JSComponent):
    """A button; the browser sets `dark`."""

    dark = param.Boolean(default=False)

    _esm = read_asset("theme_switch.js")
    _stylesheets: ClassVar[list[str]] = [read_asset("theme_switch.css")]

    @property
    def colors(self) -> FigureColors:
        """The colours of figures."""
        return DARK if self.dark else LIGHT
