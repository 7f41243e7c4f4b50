"""Markdown-lite, the text of all blocks: `code`, **bold**, *italic*, [link](target); all else is itself.

It is parsed once, into spans; HTML and Markdown are written from these. So both show the same, and what is no
markup here is none in either.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple, TypeAlias

__all__ = ["PlainText", "escaped", "paragraphs", "parse", "plain", "to_html", "to_markdown"]


class PlainText(str):
    """Text in which nothing is markup, such as a name from a file."""


class Code(NamedTuple):
    """Text set as code."""

    text: str


class Strong(NamedTuple):
    """Bold text."""

    spans: tuple[Span, ...]


class Emphasis(NamedTuple):
    """Italic text."""

    spans: tuple[Span, ...]


class Link(NamedTuple):
    """Text that leads to a target."""

    spans: tuple[Span, ...]
    target: str


Span: TypeAlias = str | Code | Strong | Emphasis | Link

# Stars count only at the edges of words, where CommonMark sees them alike: 2**3**4 is no markup. Code in other
# markup is taken as a whole, so that a star or bracket in it does not end the markup.
MARKUP = re.compile(
    r"""
      `(?P<code>[^`]+)`
    | (?<![\w*])\*\*(?=[^\s*])(?P<strong>(?:`[^`]+`|[^*`]|\*(?!\*))+?)(?<![\s*])\*\*(?![\w*])
    | (?<![\w*])\*(?=[^\s*])(?P<emphasis>(?:`[^`]+`|[^*`])+?)(?<!\s)\*(?![\w*])
    | \[(?P<label>(?:`[^`]+`|[^\[\]`])+)\]\((?P<target>(?:[^\s()]|\([^\s()]*\))+)\)
    """,
    re.VERBOSE,
)
SPECIAL = re.compile(
    r"""
      [\\`*~$]                           # escapes, code, emphasis, strike-through, GitHub's formulas
    | (?<![^\W_])_|_(?![^\W_])           # emphasis; inside a word, as in h_min, it is none
    | <(?=[A-Za-z/!?])                   # HTML
    | &(?=\#?\w+;)                       # entities
    | \](?=\()                           # links
    """,
    re.VERBOSE,
)
# what would begin a numbered list; a heading, another list, a rule, an underline, a quotation or a definition
LINE_START = re.compile(r"(\d{1,9}(?=[.)](?:\s|$))|(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|--|=+$|[>\[]))")


def parse(text: str) -> tuple[Span, ...]:
    """Return the spans of a text; blanks and line breaks in a row become one blank.

    Examples
    --------
    >>> parse("see **this** and `x*y`")
    ('see ', Strong(spans=('this',)), ' and ', Code(text='x*y'))
    >>> parse("[a](javascript:b) < 2*3*4")
    ('[a](javascript:b) < 2*3*4',)
    >>> parse(PlainText("**no** markup"))
    ('**no** markup',)
    """
    line = " ".join(text.split())
    if isinstance(text, PlainText):
        return (line,) if line else ()
    return _spans(line)


def plain(text: str) -> str:
    """Return a text without its markup.

    Examples
    --------
    >>> plain("the *mean* of `h_min`")
    'the mean of h_min'
    """
    return "".join(map(_plain, parse(text)))


def to_html(text: str) -> str:
    """Return a text as HTML.

    Examples
    --------
    >>> to_html("[**R**](https://a.org/?b&c) <script>")
    '<a href="https://a.org/?b&amp;c"><strong>R</strong></a> &lt;script&gt;'
    """
    return "".join(map(_html, parse(text)))


def to_markdown(text: str, *, starts_line: bool = True) -> str:
    r"""Return a text as one line of GitHub's Markdown, with all that is no markup here escaped.

    Parameters
    ----------
    text : str
        The text.
    starts_line : bool, default=True
        Whether nothing stands before it in its line, so that "1." would begin a list.

    Returns
    -------
    str
        The line.

    Examples
    --------
    >>> print(to_markdown("1. *all* 3 * 4 <b> of h_min"))
    1\. *all* 3 \* 4 \<b> of h_min
    """
    spans = parse(text)
    line = _markdown(spans)
    if starts_line and spans and isinstance(spans[0], str) and (start := LINE_START.match(line)):
        line = f"{start[0]}\\{line[start.end() :]}"
    return line


def escaped(text: str) -> str:
    r"""Return a text, in which nothing is markup, for a place inside markup of Markdown.

    Examples
    --------
    >>> print(escaped("a [b] *c*"))
    a \[b\] \*c\*
    """
    return re.sub(r"([\\`*_~$<&\[\]])", r"\\\1", " ".join(text.split()))


def paragraphs(text: str) -> list[str]:
    r"""Divide a text at its blank lines.

    Examples
    --------
    >>> paragraphs("one\nand more\n\ntwo")
    ['one\nand more', 'two']
    """
    return [type(text)(part) for part in re.split(r"\n\s*\n", text.strip()) if part]


def _spans(text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    written = 0
    for match in MARKUP.finditer(text):
        span = _span(match)
        if span is None:
            continue
        if match.start() > written:
            spans.append(text[written : match.start()])
        spans.append(span)
        written = match.end()
    if written < len(text):
        spans.append(text[written:])
    return tuple(spans)


def _span(match: re.Match[str]) -> Span | None:
    if match["code"]:
        return Code(match["code"])
    if match["strong"]:
        return Strong(_spans(match["strong"]))
    if match["emphasis"]:
        return Emphasis(_spans(match["emphasis"]))
    return Link(_spans(match["label"]), match["target"]) if _is_safe(match["target"]) else None


def _is_safe(target: str) -> bool:
    """Tell whether a target is http, https, an anchor or relative; browsers read a backslash as a slash."""
    if "\\" in target or not target.isprintable() or target.startswith("//"):
        return False
    return bool(re.match(r"https?://", target, re.IGNORECASE)) or ":" not in re.split(r"[/?#]", target)[0]


def _plain(span: Span) -> str:
    if isinstance(span, str):
        return span
    return span.text if isinstance(span, Code) else "".join(map(_plain, span.spans))


def _html(span: Span) -> str:
    if isinstance(span, str):
        return html.escape(span)
    if isinstance(span, Code):
        return f"<code>{html.escape(span.text)}</code>"
    inner = "".join(map(_html, span.spans))
    if isinstance(span, Link):
        return f'<a href="{html.escape(span.target)}">{inner}</a>'
    return f"<strong>{inner}</strong>" if isinstance(span, Strong) else f"<em>{inner}</em>"


def _markdown(spans: tuple[Span, ...]) -> str:
    written = ""
    for span in spans:
        if isinstance(span, str):
            written += _escape(span)
        elif isinstance(span, Code):
            written += f"`{span.text}`"
        elif isinstance(span, Strong):
            written += f"**{_markdown(span.spans)}**"
        elif isinstance(span, Emphasis):
            written += f"*{_markdown(span.spans)}*"
        else:
            # "!" before a link would make it a picture, which is loaded
            written = written[:-1] + "\\!" if written.endswith("!") else written
            written += f"[{_markdown(span.spans)}]({_markdown_target(span.target)})"
    return written


def _escape(text: str) -> str:
    return SPECIAL.sub(lambda match: "&amp;" if match[0] == "&" else "\\" + match[0], text)


def _markdown_target(target: str) -> str:
    return re.sub(r"[<>()`]", lambda match: f"%{ord(match[0]):02X}", target).replace("&", "&amp;")
