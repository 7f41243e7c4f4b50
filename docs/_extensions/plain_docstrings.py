"""Docstrings here are plain text first: make reStructuredText of what would be read as markup.

- An indented block after an empty line is an equation or a command, and is shown as it stands.
- |x| is a length and not a substitution, and labels_ is a name and not a link.
- `name` links to what it names where that has a page. Elsewhere it is code, and no error.
"""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(``.+?``|`[^`]+`)")


def as_markup(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn the lines of a docstring into reStructuredText, in place; runs before numpydoc does."""
    lines[:] = [line if literal else escaped(line) for line, literal in marked(lines)]


def marked(lines: list[str]) -> list[tuple[str, bool]]:
    """Pair each line with whether it stands as it is; a `::` goes before each block that is indented by itself."""
    out: list[tuple[str, bool]] = []
    depth, block = 0, None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            out.append((line, False))
            continue
        if block is not None and indent < block:
            block = None
        fresh = number > 0 and not lines[number - 1].strip()
        if block is None and fresh and indent > depth and not line.lstrip().startswith(("- ", "* ", ">>>", "..")):
            block = indent
            out += [(" " * depth + "::", True), ("", False)]
        if block is None:
            depth = indent
        out.append((line, block is not None or line.lstrip().startswith((">>>", "... ", ".."))))
    return out


def escaped(line: str) -> str:
    """Return the line with bars and trailing underscores that are no markup, code left alone."""
    parts = CODE.split(line)
    for i in range(0, len(parts), 2):
        parts[i] = parts[i].replace("|", r"\|")
        if not re.match(r"\s*[\w, ]+_(?:, [\w]+)*(?: : .*)?$", line):  # names of attributes are escaped by numpydoc
            parts[i] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[i])
    return "".join(parts)


def as_code(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Return what stands between single backticks as it is where nothing is documented under that name."""
    return content if node.get("refdomain") == "py" and node.get("reftype") == "obj" else None


def without(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what tuples bring along: the fields are in the docstring."""
    text = getattr(thing, "__doc__", None) or ""
    return True if text.startswith("Alias for field number") or name in ("count", "index") else None


def setup(app: Any) -> dict[str, bool]:
    """Register."""
    app.connect("autodoc-process-docstring", as_markup, priority=100)
    app.connect("autodoc-skip-member", without)
    app.connect("missing-reference", as_code, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
