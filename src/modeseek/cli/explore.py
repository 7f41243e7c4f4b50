"""The job of `modeseek explore`: read the file, serve the page."""

from __future__ import annotations

from modeseek.cli.settings import Problem

__all__ = ["run_command"]


def run_command(file: str | None, port: int | None, *, browser: bool) -> None:
    """Serve the explorer until Ctrl-C."""
    try:
        from modeseek.explorer.page.server import PortError, serve
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("panel", "bokeh", "param"):
            raise
        raise Problem("modeseek explore needs Panel and Bokeh: pip install 'modeseek[explore]'") from None
    from modeseek.explorer import from_file

    data = None if file is None else from_file(file)
    try:
        serve(data, port=port, browser=browser)
    except PortError as error:
        raise Problem(f"{error}: give another with --port, or leave it out.") from error
