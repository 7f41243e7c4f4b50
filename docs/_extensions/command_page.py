"""Write docs/command-line.md from the options of the commands: python docs/_extensions/command_page.py."""

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

from modeseek.cli import options
from modeseek.cli.commands import ENTRY

PAGE = Path(__file__).parents[1] / "command-line.md"
COMMANDS = ("Cluster", "Label", "Segment", "Diarize", "Explore", "Paper", "WarmUp")


def page():
    """Return the page as text."""
    parts = [
        "# Command line",
        "All commands with their options. `modeseek COMMAND --help` prints the same. This page is written by "
        "`python docs/_extensions/command_page.py`.",
        *(section(name) for name in COMMANDS),
    ]
    return "\n\n".join(parts) + "\n"


def section(name):
    """Return the description and the options of a command."""
    kind = getattr(options, f"{name}Options")
    intro, _, attributes = str(inspect.getdoc(kind)).partition("\nAttributes\n")
    entries = {each: (value, " ".join(text.split())) for each, value, text in ENTRY.findall(attributes + "\n")}
    hints, groups, arguments = get_type_hints(kind, include_extras=True), {}, []
    for field in fields(kind):
        value, text = entries[field.name]
        if get_origin(hints[field.name]) is not Annotated:
            arguments.append((value, text))
            continue
        option = get_args(hints[field.name])[1]
        names = option.names.split() or [f"--{field.name.replace('_', '-')}"]
        shown = ", ".join(f"`{each}`" for each in names) + ("" if value == "flag" else f" `{value}`")
        groups.setdefault(option.group or "Options", []).append((shown, text))
    command = re.sub("(?<=[a-z])(?=[A-Z])", "-", name).lower()
    usage = " ".join(["modeseek", command, "[OPTIONS]", *(value for value, _ in arguments)])
    lines = [
        f"## modeseek {command}",
        f"```\n{usage}\n```",
        *(" ".join(each.split()) for each in intro.split("\n\n")),
    ]
    if arguments:
        lines.append(table("argument", [(f"`{value}`", text) for value, text in arguments]))
    lines += [f"### {group}\n\n{table('option', rows)}" for group, rows in groups.items()]
    return "\n\n".join(lines)


def table(title, rows):
    """Return rows as a table."""
    cells = [f"| {name.replace('|', chr(92) + '|')} | {text.replace('|', chr(92) + '|')} |" for name, text in rows]
    return "\n".join([f"| {title} | |", "|---|---|", *cells])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
