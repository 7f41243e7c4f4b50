"""Pages: HTML and Markdown have the same content, text is escaped, and the HTML file is self-contained."""

import base64
import re
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser

import numpy as np
import pytest
from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from modeseek import DoublyStochasticMeanShift
from modeseek._storage.errors import DataError
from modeseek.plots import save_figure
from modeseek.prepare import TablePreparer
from modeseek.prepare.scaling import fit_scaling
from modeseek.report import (
    Bullets,
    Details,
    Heading,
    ImageBlock,
    Page,
    Paragraph,
    TableBlock,
    Verdict,
    fit_code,
    markdown_text,
    to_html,
    to_markdown,
    write_page,
)

VOID = {"meta", "link", "img", "br", "hr"}
# GitHub's extensions of CommonMark; HTML passes through, so that an unescaped tag is detected
GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


class Reader(HTMLParser):
    """Parse HTML into tags with attributes and text; fail if tags are not nested properly."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.open = [], "", []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "figures").mkdir()
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 2])
    for suffix in (".png", ".svg"):
        save_figure(tmp_path / f"figures/line{suffix}", figure)
    return tmp_path


LINE = ImageBlock("figures/line", 'a "line" <rising>', "**It** rises.")
WHOLE = Page(
    "All *blocks*",
    "In short.\n\nAnd once more.",
    [
        Heading("First"),
        Paragraph("One.\n\nTwo, see [below](#details)."),
        Bullets(["a", "**b**"]),
        Heading("Finer", 3),
        TableBlock(["line", "K"], [["SMS", "0.9"], ["DSMS", Verdict("best", "good")]], "A table."),
        LINE,
        Heading("Finest", 4),
        Heading("Details"),
        Details("The `config`", "a = 1 < 2\n```\n  b = 2"),
    ],
)

# text -> its plain text; None if nothing in it is markup
TEXTS = {
    "see `code`, **bold**, *italic* and [a link](https://a.org/b_c?d=1&e=(2)#f)": "see code, bold, italic and a link",
    "**bold with `a*b` and *italic* in it**": "bold with a*b and italic in it",
    "[**all** `of it`](docs/theory.md)": "all of it",
    "<script>alert('x')</script> & \"quotes\" &amp; &lt; <b>": None,
    "<!-- gone? --> <https://a.org> </p>": None,
    "2 * 3 * 4, * a * b, *unclosed, 5 ** 6, f(**b)": None,
    "h_min, _x, __init and a_b_c": None,
    "~one~ ~~two~~ $x$ and $y$, a\\b \\* `": None,
    "1. no list": None,
    "2) no list": None,
    "- no list": None,
    "+ no list": None,
    "# no heading": None,
    "> no quotation": None,
    "---": None,
    "===": None,
    "[a]: no-definition": None,
    "[0.9, 1.0] and [a][b] and [x] (y)": None,
    "no picture: ![alt](https://a.org/b.png)": "no picture: !alt",
    "[a](javascript:alert(1)) [b](JaVaScRiPt:c) [d](data:text/html,e) [f](vbscript:g)": None,
    "[a](//evil.org) [b](\\\\evil.org) [c](file:///d) [e](mailto:f@g) [h](j\x01avascript:i)": None,
    "one\nline | after  another": "one line | after another",
    "": "",
}


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_the_same_in_html_and_markdown_and_literal_text_is_escaped(text):
    expected = text if TEXTS[text] is None else TEXTS[text]
    web, page = (
        Reader(markdown_text.to_markup(text)),
        Reader(GITHUB.render(markdown_text.to_markdown(text, starts_line=True))),
    )
    assert markdown_text.to_plain(text) == web.text == page.text.strip() == expected
    assert {tag for tag, _ in web.tags} <= {"code", "strong", "em", "a"}
    assert [tag for tag, _ in page.tags] == ["p"] * bool(text) + [tag for tag, _ in web.tags]
    if TEXTS[text] is None:
        assert not web.tags


@pytest.mark.parametrize("text", TEXTS)
def test_special_characters_do_not_split_a_table_cell(text):
    table = TableBlock(["a", "b"], [[text, "next"], ["x|y", Verdict("p|*q*", "bad")]])
    page = Reader(GITHUB.render(to_markdown(Page("T", "", [table]))))
    assert [len(page.all(tag)) for tag in ("tr", "th", "td")] == [3, 2, 4]
    assert "p|*q*" in page.text
    assert markdown_text.to_plain(text) in page.text
    web = Reader(to_html(Page("T", "", [table]), "."))
    assert [len(web.all(tag)) for tag in ("tr", "th", "td")] == [3, 4, 2]


@pytest.mark.parametrize(
    ("target", "is_link"),
    [
        ("https://a.org", True),
        ("HTTP://a.org/b:c", True),
        ("#here", True),
        ("a/b.md#c", True),
        ("../a.csv?b:c", True),
        ("ftp://a.org", False),
        ("javascript&colon;alert", False),
        ("java\tscript:a", False),
        ("/\\evil.org", False),
    ],
)
def test_only_safe_targets_are_links(target, is_link):
    web = Reader(markdown_text.to_markup(f"[a]({target})")).all("a")
    page = Reader(GITHUB.render(markdown_text.to_markdown(f"[a]({target})"))).all("a")
    assert len(web) == len(page) == is_link
    if is_link:
        assert web[0]["href"] == target
        assert page[0]["href"].replace("%", "") == target.replace("%", "")


@pytest.mark.parametrize("block", [Paragraph, Heading, lambda text: Bullets([text]), lambda text: Details(text, text)])
def test_no_block_passes_html_through(block):
    evil = "</code></pre></p><script>alert(1)</script><img src=https://a.org onerror='b'>"
    page = Page(evil, evil, [block(evil), TableBlock([evil], [[evil], [Verdict(evil, "bad")]], evil)])
    web, text = Reader(to_html(page, ".")), Reader(GITHUB.render(to_markdown(page)))
    for reader in (web, text):
        assert not reader.all("script")
        assert not reader.all("img")
        assert reader.text.count(evil) >= 7


def test_html_loads_no_resources_and_runs_no_scripts(folder):
    page = Reader(to_html(WHOLE, folder))
    assert [tag for tag, _ in page.tags if tag in ("script", "iframe", "object", "form")] == []
    assert all(image["src"].startswith("data:image/") for image in page.all("img"))
    assert all(link["href"].startswith("data:") for link in page.all("link"))
    assert not re.search(r"@import|url\(", to_html(WHOLE, folder))
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert page.all("html") == [{"lang": "en"}]
    assert any(meta.get("name") == "viewport" for meta in page.all("meta"))


def test_contents_link_to_the_headings(folder):
    text = to_html(WHOLE, folder)
    nav = text[text.index("<nav") : text.index("</nav>")]
    targets = re.findall(r'href="#([^"]*)"', nav)
    assert targets == ["first", "finer", "details"]
    for target in targets:
        assert text.count(f'id="{target}"') == 1
    assert "<h4" in text
    assert "<nav" not in to_html(Page("T", "", [Paragraph("alone")]), folder)


def test_anchors_follow_github_and_are_unique():
    names = ["T", "What *holds*: `h_min`?", "T", "A", "A", "A-1", "?", "Größe 2"]
    text = to_html(Page(names[0], "", [Heading(name) for name in names[1:]]), ".")
    assert re.findall(r'<h\d id="([^"]*)"', text) == [
        *("t", "what-holds-h_min", "t-1", "a", "a-1", "a-1-1", "section", "größe-2"),
    ]


def test_columns_of_numbers_are_right_aligned():
    rows = [
        ["1", "0.91 ± 0.02", "12 ms", "-", "3 of 5", "words", Verdict("0.5", "bad")],
        ["2", "**-0.5** [-1, 0.2]", "—", "-", "", "4 words here", Verdict("0.7", "good")],
    ]
    right = [False, True, True, False, True, False, True]
    for numeric in (True, False):
        page = Page("T", "", [TableBlock(list("abcdefg"), rows, numeric=numeric)])
        rule = "|".join("--:" if column and numeric else ":--" for column in right)
        assert f"|{rule}|\n" in to_markdown(page)
        assert to_html(page, ".").count('class="number"') == 3 * sum(right) * numeric


def test_a_table_without_rows():
    page = Page("T", "", [TableBlock(["a", "b"], [])])
    assert "| a | b |\n|:--|:--|\n" in to_markdown(page)
    assert len(Reader(to_html(page, ".")).all("th")) == 2


def test_verdicts():
    page = Page("T", "", [TableBlock(["a", "b"], [["x", Verdict("does <not> hold", "bad")]])])
    assert '<span class="verdict bad">does &lt;not&gt; hold</span>' in to_html(page, ".")
    assert r"| **does \<not> hold** |" in to_markdown(page)


def test_the_smaller_of_png_and_svg_is_embedded(folder):
    png, svg = ((folder / f"figures/line{suffix}").read_bytes() for suffix in (".png", ".svg"))
    (image,) = Reader(to_html(Page("T", "", [LINE]), folder)).all("img")
    kind, data = image["src"].split(";base64,")
    assert kind == ("data:image/svg+xml" if len(svg) < len(png) else "data:image/png")
    assert base64.b64decode(data) == min(png, svg, key=len)
    assert image["alt"] == LINE.alt
    # 3 by 2 inches at 96 pixels per inch, independent of the resolution of the PNG
    assert (image["width"], image["height"]) == ("288", "192")

    (folder / "figures/line.svg").write_bytes(svg + b" " * len(png))
    assert Reader(to_html(Page("T", "", [LINE]), folder)).all("img")[0]["src"].startswith("data:image/png")
    (folder / "figures/line.svg").unlink()
    assert Reader(to_html(Page("T", "", [LINE]), folder)).all("img")[0]["src"].startswith("data:image/png")


def test_errors_name_the_image_file(folder):
    with pytest.raises(DataError, match=r"cannot read '.*figures/lime\.png'"):
        write_page(folder, "page", Page("T", "", [ImageBlock("figures/lime", "", "")]))
    (folder / "figures/line.svg").unlink()
    with open(folder / "figures/line.png", "ab") as png:
        png.write(bytes(1_500_000))
    with pytest.raises(DataError, match=r"line\.png' is too large for a page: 1,5\d\d,\d+ bytes, and the limit"):
        write_page(folder, "page", Page("T", "", [LINE]))
    (folder / "figures/line.png").write_text("GIF")
    with pytest.raises(DataError, match=r"line\.png' is not a PNG"):
        write_page(folder, "page", Page("T", "", [LINE]))
    assert [file.name for file in folder.iterdir()] == ["figures"]


def test_markdown_of_all_blocks():
    assert to_markdown(WHOLE) == (
        "# All *blocks*\n\nIn short.\n\nAnd once more.\n\n## First\n\nOne.\n\nTwo, see [below](#details).\n\n"
        "- a\n- **b**\n\n### Finer\n\n*A table.*\n\n| line | K |\n|:--|:--|\n| SMS | 0.9 |\n| DSMS | **best** |\n\n"
        '![a "line" \\<rising>](figures/line.png)\n\n***It** rises.*\n\n#### Finest\n\n## Details\n\n'
        "<details>\n<summary>The <code>config</code></summary>\n\n"
        "````text\na = 1 < 2\n```\n  b = 2\n````\n\n</details>\n"
    )


def test_image_names_are_quoted_in_markdown():
    page = Page("T", "", [ImageBlock("my figures/a (1)", "x ] ![y](https://a.org/b.png)", "")])
    (image,) = Reader(GITHUB.render(to_markdown(page)).replace(" />", ">")).all("img")
    assert image == {"src": "my%20figures/a%20%281%29.png", "alt": "x ] ![y](https://a.org/b.png)"}


def test_html_and_markdown_have_the_same_content(folder):
    write_page(folder, "page", WHOLE)
    web = (folder / "page.html").read_text("utf-8")
    shown = Reader(web[web.index("<header>") : web.index("<nav")] + web[web.index("<main>") : web.index("</body>")])
    page = Reader(GITHUB.render((folder / "page.md").read_text("utf-8")).replace(" />", ">"))
    assert "".join(shown.text.split()) == "".join(page.text.split())
    compared = {"h1", "h2", "h3", "h4", "li", "tr", "img", "a", "details", "summary", "pre"}
    assert [tag for tag, _ in shown.tags if tag in compared] == [tag for tag, _ in page.tags if tag in compared]


def test_pages_are_reproducible(folder):
    write_page(folder, "a", WHOLE)
    write_page(folder, "b", WHOLE)
    for suffix in (".html", ".md"):
        first, second = ((folder / (name + suffix)).read_bytes() for name in "ab")
        assert first == second
        assert b"\r" not in first


def test_blocks_are_validated_and_frozen():
    with pytest.raises(ValueError, match="level of heading 'a' must be 2 to 6"):
        Heading("a", 1)
    with pytest.raises(ValueError, match="kind of verdict 'a' must be one of good, partly, bad; got 'fine'"):
        Verdict("a", "fine")
    with pytest.raises(ValueError, match="row 1 of the table has 1 cells, but the header has 2"):
        TableBlock(["a", "b"], [["c", "d"], ["e"]])
    with pytest.raises(FrozenInstanceError):
        Paragraph("a").text = "b"


def test_fit_code_repeats_a_fit(tmp_path):
    """Running the code gives the labels of the fit; long calls are split into lines."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 12)), rng.normal(8, 1, size=(20, 12))]) * np.arange(1, 13)
    path = tmp_path / "rows.txt"
    np.savetxt(path, X)
    model = DoublyStochasticMeanShift(1.0, 9.0, 3.0, policy="uniform", n_chains=2, min_cluster_size=2, random_state=5)
    scaled = fit_scaling("standard", X).apply(X)
    code = fit_code(
        model.set_params(max_time=3600.0), ("import numpy", f"numpy.loadtxt({str(path)!r})"), TablePreparer()
    )
    assert max(map(len, code.splitlines())) < 140
    space: dict = {}
    exec(code, space)
    np.testing.assert_array_equal(space["model"].labels_, model.fit(scaled).labels_)
    assert repr(space["model"]) == repr(model)


def test_cells_of_stacked_tables_have_the_names_of_their_columns():
    rows = [["1", "2"]]
    assert 'data-name="a&lt;b"' in to_html(Page("T", "", [TableBlock(["a<b", "c"], rows, stacked=True)]), ".")
    assert "data-name=" not in to_html(Page("T", "", [TableBlock(["a<b", "c"], rows)]), ".").split("<main>")[1]
