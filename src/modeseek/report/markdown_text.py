r"""Texts of a page: Markdown with `code`, **bold**, *italic* and [links](target); everything else is literal.

HTML tags, entities and links to other schemes than http and https stay literal text, in HTML and in Markdown.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape


class PlainText(str):
    """Literal text without any markup, such as a name from a data file.

    Examples
    --------
    >>> print(to_markup(PlainText("*width*")), to_markup("*width*"))
    *width* <em>width</em>
    """


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Accept http, https, anchors and relative links; browsers treat a backslash as a slash."""
        if "\\" in url or not url.isprintable() or url.startswith("//"):
            return False
        return bool(re.match(r"https?://", url, re.IGNORECASE)) or ":" not in re.split(r"[/?#]", url)[0]

    def normalizeLink(self, url: str) -> str:
        return url


PARSER = _Parser("zero").enable(["backticks", "emphasis", "link"])

SPECIAL = re.compile(
    r"""
      [\\`*~$]                           # escapes, code, emphasis, strike-through, GitHub's formulas
    | (?<![^\W_])_|_(?![^\W_])           # emphasis; an underscore inside a word, as in h_min, is literal
    | <(?=[A-Za-z/!?])                   # HTML
    | &(?=\#?\w+;)                       # entities
    | \](?=\()                           # links
    """,
    re.VERBOSE,
)
# starts of lines that Markdown reads as a numbered list, or as a heading, another list, a rule, an underline, a
# quotation or a definition
LINE_START = re.compile(r"(\d{1,9}(?=[.)](?:\s|$))|(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|--|=+$|[>\[]))")


def to_plain(text: str) -> str:
    """Return a text without its markup.

    Examples
    --------
    >>> to_plain("the *mean* of `h_min`")
    'the mean of h_min'
    """
    return "".join(token.content for token in _parse(text))


def to_markup(text: str) -> Markup:
    """Return a text as HTML.

    Examples
    --------
    >>> print(to_markup("[**R**](https://a.org/?b&c) <script>"))
    <a href="https://a.org/?b&amp;c"><strong>R</strong></a> &lt;script&gt;
    >>> print(to_markup(PlainText("**no** markup")))
    **no** markup
    """
    if isinstance(text, PlainText):
        return escape(_one_line(text))
    return Markup(PARSER.renderInline(_one_line(text)))


def to_markdown(text: str, *, starts_line: bool = False) -> str:
    r"""Return a text as one line of GitHub's Markdown, with literal special characters escaped.

    Parameters
    ----------
    text : str
        The text.
    starts_line : bool, default=False
        Whether the text stands at the start of a line, where "1." would begin a list.

    Returns
    -------
    str
        The line.

    Examples
    --------
    >>> print(to_markdown("1. *all* 3 * 4 <b> of h_min", starts_line=True))
    1\. *all* 3 \* 4 \<b> of h_min
    """
    tokens = _parse(text)
    line, target = "", ""
    for token in tokens:
        match token.type:
            case "text":
                line += SPECIAL.sub(lambda match: "&amp;" if match[0] == "&" else f"\\{match[0]}", token.content)
            case "code_inline":
                line += f"{token.markup}{token.content}{token.markup}"
            case "link_open":
                target = str(token.attrs["href"])
                # "!" before a link would turn it into an image
                line = f"{line[:-1]}\\![" if line.endswith("!") else f"{line}["
            case "link_close":
                quoted = re.sub(r"[<>()`]", lambda match: f"%{ord(match[0]):02X}", target)
                line += f"]({quoted.replace('&', '&amp;')})"
            case _:
                line += token.markup
    if starts_line and tokens and tokens[0].type == "text" and (start := LINE_START.match(line)):
        line = f"{start[0]}\\{line[start.end() :]}"
    return line


def escape_markdown(text: str) -> str:
    r"""Escape literal text for a place inside Markdown markup, such as the description of an image.

    Examples
    --------
    >>> print(escape_markdown("a [b] *c*"))
    a \[b\] \*c\*
    """
    return re.sub(r"([\\`*_~$<&\[\]])", r"\\\1", _one_line(text))


def split_paragraphs(text: str) -> list[str]:
    r"""Split a text at its blank lines.

    Examples
    --------
    >>> split_paragraphs("one\nand more\n\ntwo")
    ['one\nand more', 'two']
    """
    return [type(text)(part) for part in re.split(r"\n\s*\n", text.strip()) if part]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _parse(text: str) -> list[Token]:
    line = _one_line(text)
    if isinstance(text, PlainText):
        return [Token("text", "", 0, content=line)] if line else []
    return PARSER.parseInline(line)[0].children or []
