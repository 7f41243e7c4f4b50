"""Pages can be read on GitHub as they are, and built into a site.

Links from the pages to files of the repository become links to the pages that are made of these files. The empty line
that ends the last output of a block, for doctest, is left out.
"""

from __future__ import annotations

import re
from typing import Any

PAGES = {
    "../README.md": "index.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../SECURITY.md": "security.md",
    "../benchmarks/README.md": "benchmark-scripts.md",
    "../examples/README.md": "example-data.md",
    "../examples/gallery": "gallery/index.rst",
}


def to_pages(app: Any, page: str, source: list[str]) -> None:
    """Rewrite one page, in place."""
    source[0] = re.sub(r"\n\n```$", "\n```", source[0], flags=re.M)
    source[0] = re.sub(r"\]\(\.\./examples/gallery/(\w+)\.py\)", r"](gallery/\1.rst)", source[0])
    for file, target in PAGES.items():
        source[0] = re.sub(rf"\]\({re.escape(file)}/?([)#])", rf"]({target}\1", source[0])


def opened(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let a click on a picture that is a link open it: Sphinx would have the browser save it."""
    context["body"] = re.sub(r'download="" (href="[^"]+\.(?:png|svg)")', r"\1", context.get("body", ""))


def setup(app: Any) -> dict[str, bool]:
    """Register."""
    app.connect("source-read", to_pages)
    app.connect("html-page-context", opened)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
