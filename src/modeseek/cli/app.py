"""The command `modeseek` and its exit status.

The status is 0 after success, 1 if standard output was closed, 2 after an error in usage or input, 130 after Ctrl-C
and 143 after SIGTERM.
"""

import atexit
import gc
import os
import shlex
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from modeseek._common.resources import NotEnoughMemory
from modeseek._storage.errors import DataError
from modeseek.cli import options as o
from modeseek.cli.commands import UsageError, add_command
from modeseek.cli.signals import sigterm_as_ctrl_c

# the base class of click's errors; it cannot be imported by name, because recent versions of typer bundle click
ClickError: type[Exception] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
# exit statuses by which shells report a process that a signal ended
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
# texts that identify errors without a specific type: Python and Arrow raise them if a thread cannot start, and the
# loader of shared libraries raises them if memory is limited
NO_THREAD = ("can't start new thread", "Failed to launch worker thread")
NO_MEMORY = ("failed to map segment", "annot allocate memory")

# new objects before Python searches for reference cycles; with its default of 700, imports take a tenth longer
GC_THRESHOLD = 100_000


class PlainGroup(TyperGroup):
    """A group of commands that prints an error as one line, without a frame or a traceback."""

    def main(self, *arguments: Any, **named: Any) -> Any:
        """Run a command and exit with its status."""
        if isinstance(sys.stdout, TextIOWrapper):
            # characters that the encoding of the output lacks are printed as escapes
            sys.stdout.reconfigure(errors="backslashreplace")
        # in standalone mode click would print errors itself
        named |= {"prog_name": named.get("prog_name") or "modeseek", "standalone_mode": False}
        with sigterm_as_ctrl_c() as signals:
            status = self._run(*arguments, **named)
            try:
                sys.stdout.flush()  # write what was printed before an error
            except OSError:
                _abandon_output()
        terminated = status == INTERRUPTED and signal.SIGTERM in signals
        sys.exit(TERMINATED if terminated else status if isinstance(status, int) else 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that arguments name; say what to type if the first of them is a file."""
        try:
            return super().resolve_command(ctx, args)
        except ClickError:
            path = args[0].partition("::")[0]
            if not os.path.isfile(path):
                raise
            raise UsageError(
                f"'{path}' is a file, not a command: use modeseek cluster {shlex.quote(args[0])}."
            ) from None

    def _run(self, *arguments: Any, **named: Any) -> Any:
        try:
            status = super().main(*arguments, **named)
            sys.stdout.flush()  # flush here, where a full disk can still be reported
        except ClickError as error:
            status = _fail(error.format_message(), hint=_hint(error))  # type: ignore[attr-defined]
        except UsageError as error:
            status = _fail(_shortage(error) or str(error))
        except DataError as error:
            from modeseek.cli.messages import message_of

            status = _fail(message_of(error))
        except BrokenPipeError:
            status = 1
            _abandon_output()
        except OSError as error:
            where = "standard output" if error.filename is None else f"'{error.filename}'"
            status = _fail(f"cannot write to {where}: {error.strerror or error}.")
            _abandon_output()
        except NotEnoughMemory as error:
            status = _fail(str(error))
        except (KeyboardInterrupt, typer.Abort):
            status = INTERRUPTED
        except Exception as error:
            message = _shortage(error)
            # after Ctrl-C during an import, Python and libraries may raise another error
            if any(isinstance(each, KeyboardInterrupt) for each in _causes(error)):
                status = INTERRUPTED
            elif message:
                status = _fail(message)
            else:
                raise
        return status


app = typer.Typer(
    cls=PlainGroup,
    help="Mean-shift clustering of tables, speaker embeddings and images.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from modeseek import __version__

        typer.echo(f"modeseek {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


add_command(app, "cluster", o.ClusterOptions, o.InputLimits)
add_command(app, "label", o.LabelOptions, o.InputLimits)
add_command(app, "segment", o.SegmentOptions, o.InputLimits)
add_command(app, "diarize", o.DiarizeOptions, o.InputLimits)
add_command(app, "explore", o.ExploreOptions, o.InputLimits)
add_command(app, "paper", o.PaperOptions)
add_command(app, "warm-up", o.WarmUpOptions)


def main() -> None:
    """Run the command `modeseek`; this is its entry point."""
    gc.set_threshold(GC_THRESHOLD)
    # without this, Python searches all objects for cycles at exit, which takes a sixth of the time of a short run
    atexit.register(gc.freeze)
    app()


def _fail(message: str, *, hint: str = "") -> int:
    # standard error may be on the same full disk
    with suppress(OSError):
        print(f"error: {' '.join(message.split())}", file=sys.stderr)
        if hint:
            print(hint, file=sys.stderr)
    return 2


def _shortage(error: BaseException) -> str:
    """Return a message if an error was caused by a lack of memory or processes; "" otherwise."""
    causes = _causes(error)
    if any(text in str(each) for each in causes for text in NO_THREAD):
        return "the system refused to start a thread: free memory, or raise the limit on processes."
    if any(isinstance(each, MemoryError) or text in str(each) for each in causes for text in NO_MEMORY):
        return "there is not enough memory: use fewer rows or columns, or raise the limit on memory."
    return ""


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and the chain of errors that caused it."""
    causes = [error]
    while following := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(following)
    return causes


def _abandon_output() -> None:
    # otherwise Python would try to write the rest of the buffer when it exits, and fail again
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _hint(error: Any) -> str:
    return f"Try '{error.ctx.command_path} --help'." if error.ctx is not None else ""
