"""Check a built site: no page loads anything from the network, and every internal link has a target.

python .ci/site.py docs/_build
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

# tags that make a browser load a file, and the attribute with its address
LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "track": "src",
    "video": "src",
}
# links that a browser does not follow
IDLE = {"canonical", "next", "prev", "search", "index", "author", "copyright", "help", "license"}
REMOTE = re.compile(r"^(?:[a-z]+:)?//", re.I)
STYLE = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Page(HTMLParser):
    """What a page loads, links to, and offers as anchors."""

    def __init__(self, text: str):
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag loads or links to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        idle = tag == "link" and set(values.get("rel", "").split()) <= IDLE
        if tag in LOADED and not idle:
            self.loads.append(values.get(LOADED[tag], ""))
            self.loads += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]
        self.loads += styled(values.get("style", ""))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        """Note what a style sheet within the page loads."""
        if self._in_style:
            self.loads += styled(data)


def styled(text: str) -> list[str]:
    """Return what a style sheet loads."""
    return [first or second for first, second in STYLE.findall(text)]


def faults(site: Path) -> list[str]:
    """Return what is wrong with a site, a line for each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else [f"{site}: no pages"]
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: loads {url}" for url in page.loads if REMOTE.match(url)]
        for url in page.links:
            if REMOTE.match(url) or re.match(r"[a-z]+:", url):
                continue
            file, anchor = urldefrag(url)
            target = (path.parent / unquote(file)).resolve() if file else path
            if not target.exists():
                found.append(f"{name}: no file for {url}")
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                found.append(f"{name}: no anchor for {url}")
    for path in sorted(site.rglob("*.css")):
        urls = styled(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: loads {url}" for url in urls if REMOTE.match(url)]
    return found


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]).resolve())
    print("\n".join(wrong) or "the site loads nothing from the network, and its links lead somewhere")
    sys.exit(bool(wrong))
