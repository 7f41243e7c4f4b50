"""The command `modeseek explore`."""

from modeseek.cli.commands import UsageError
from modeseek.cli.options import ExploreOptions
from modeseek.explorer import from_file


def run(options: ExploreOptions) -> None:
    """Serve the explorer until Ctrl-C."""
    try:
        from modeseek.explorer.page.server import PortError, serve
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("panel", "bokeh", "param"):
            raise
        raise UsageError("modeseek explore needs Panel and Bokeh: pip install 'modeseek[explore]'") from None
    data = None if options.file is None else from_file(options.file)
    try:
        serve(data, port=options.port, browser=not options.no_browser)
    except PortError as error:
        raise UsageError(f"{error}: give another with --port, or leave it out.") from error
