"""Making commands from dataclasses: the fields of a class become the options, and its docstring the help."""

import inspect
import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer

# an entry of the section "Attributes" of a docstring: name, value, help
ENTRY = re.compile(r"^(\w+) : (.+)\n((?:    .+\n?)+)", re.MULTILINE)


class UsageError(Exception):
    """A mistake in the use of the command. It is printed without a traceback, and the exit status is 2."""


class Option(NamedTuple):
    """Marks a field of a dataclass as an option, as metadata of `Annotated`; other fields are positional arguments.

    Attributes
    ----------
    group : str or None
        Title under which the help lists the option.
    names : str
        Names of the option, separated by blanks; the default is the name of the field.
    limits : dict
        Smallest and largest value of a number, with the keys `min` and `max`.
    """

    group: str | None = None
    names: str = ""
    limits: dict[str, Any] = {}  # noqa: RUF012


class BaseCommand:
    """Base class of the options of a command."""

    n_jobs: int | None = None

    def check(self) -> None:
        """Raise `UsageError` for mistakes that are found without loading scientific libraries."""
        if self.n_jobs == 0:
            raise UsageError("--jobs must not be 0: give a number of cores, or -1 for all.")

    def around(self) -> AbstractContextManager[object]:
        """Return the context in which the command runs."""
        return nullcontext()


def add_command(app: typer.Typer, name: str, options: type[BaseCommand], limits: type | None = None) -> None:
    """Add a command that makes an instance of `options` and calls the function `run` of module `modeseek.cli.NAME`.

    A hyphen in the name of the command is an underscore in the name of the module. The module is imported when the
    command runs: the help appears without loading scientific libraries. If the class `options` has a method `check`,
    the command calls it before the import, to report mistakes without loading these libraries. If the class has a
    method `around`, which returns a context manager, the command runs within this context.

    A hyphen in the name is an underscore in the name of the module. The module is imported when the command runs, so
    that the help appears without loading scientific libraries. The section "Attributes" of the docstring of `options`
    has the help of each field. The text after the colon, where numpydoc has the type, is the placeholder of the value,
    such as FILE.
    """

    def command(**given: Any) -> None:
        bounds = {field.name: given.pop(field.name) for field in fields(limits)} if limits else {}
        with limits(**bounds).applied() if limits else nullcontext():
            chosen = options(**given)
            chosen.check()
            with chosen.around():
                import_module(f"modeseek.cli.{name.replace('-', '_')}").run(chosen)

    intro = str(inspect.getdoc(options)).partition("\nAttributes\n")[0]
    paragraphs = [" ".join(paragraph.split()) for paragraph in intro.split("\n\n")]
    parameters = [*_parameters(options), *(_parameters(limits) if limits else ())]
    # typer reads the options from the signature of a function
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(name, help=_escaped("\n\n".join(paragraphs)))(command)


def _escaped(text: str) -> str:
    """Escape square brackets, as in 'modeseek[explore]', which Rich would take for markup."""
    return text.replace("[", r"\[")


def _parameters(options: type) -> list[inspect.Parameter]:
    """Return the fields of a class as parameters of a function, from which typer makes options."""
    attributes = str(inspect.getdoc(options)).partition("\nAttributes\n")[2]
    entries = {name: (value, " ".join(help.split())) for name, value, help in ENTRY.findall(attributes + "\n")}
    hints, parameters = get_type_hints(options, include_extras=True), []
    for field in fields(options):
        value, help = entries.get(field.name, ("flag", ""))  # "python -OO" removes docstrings
        hint = hints[field.name]
        own: dict[str, Any] = {
            "metavar": " " if value == "flag" else value,
            "help": _escaped(help),
            "show_default": False,
        }
        declared: Any = typer.Argument(**own)
        if get_origin(hint) is Annotated:
            hint, option = get_args(hint)
            declared = typer.Option(..., *option.names.split(), rich_help_panel=option.group, **option.limits, **own)
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        parameters.append(
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, declared]
            )
        )
    return parameters
