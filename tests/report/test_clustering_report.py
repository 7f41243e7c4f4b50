"""The report of a clustering: its texts and tables, escaping of data, size and reproducibility of the file."""

import base64
import hashlib
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from test_report import Reader
from typer.testing import CliRunner

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift, __version__
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek._storage.errors import DataError
from modeseek.cli import app
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.result import FitData, FitSettings, make_result
from modeseek.meanshift.chains import Outcome
from modeseek.prepare.scaling import fit_scaling
from modeseek.report import Page, PlainText, TableBlock, to_html, to_markdown, write_report
from modeseek.report.blocks import CellLines, HtmlBlock, RowLink, Swatch

BLOBS, TRUTH = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
THREE, _ = make_blobs([60, 40, 20], 3, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 9]], random_state=0, shuffle=False)
NASTY = "</script><b>&\"'*x*`y`[z](https://a.org)"


class OtherClusterer(ClusterMixin, BaseEstimator):
    """An estimator of another library, of which only the labels are known."""

    def fit(self, X, y=None):
        return self


class OwnClusterer(BaseClusterer):
    """An estimator of this library with a given result."""


def given(labels, *, memberships=None, confidence=None):
    """Return a fitted estimator with the given labels, and with memberships or confidence if given, by row."""
    labels = np.asarray(labels)
    if memberships is None and confidence is None:
        model = OtherClusterer()
        model.labels_ = labels
        return model
    n, k = len(labels), labels.max() + 1
    points = canonical_points(np.arange(n, dtype=float)[:, None], np.ones(n), Geometry())
    rows = np.argsort(points.inverse)  # the row of each point
    confidence = np.max(memberships, axis=1) if confidence is None else np.asarray(confidence, dtype=float)
    model = OwnClusterer()
    model.result_ = make_result(
        "OwnClusterer",
        FitData(points, FitSettings()),
        labels[rows],
        np.zeros((k, 1)),
        outcome=Outcome.CERTIFIED,
        message="",
        confidence=confidence,
        memberships=None if memberships is None else csr_array(memberships[rows]),
        n_updates=0,
    )
    model.labels_ = labels
    return model


@pytest.fixture(scope="module")
def blobs():
    return ModeSeek(random_state=0).fit(BLOBS)


def page(folder, model, X, **options):
    """Write a page; return its text, parsed, and what its script is given."""
    write_report(folder / "page.html", model, X, **options)
    text = (folder / "page.html").read_text("utf-8")
    payload = re.search(r'<script type="application/json" id="scatter-data">(.*?)</script>', text, re.DOTALL)
    return text, Reader(text), json.loads(payload[1])


def tables(text):
    """Return the tables of a page, each as rows of texts."""
    found = []
    for table in re.findall(r"<table[^>]*>(.*?)</table>", text, re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
        found.append([[Reader(cell).text for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows])
    return found


def numbers(axis):
    packed = np.frombuffer(base64.b64decode(axis["data"]), "<f4")
    return axis["middle"] + axis["half"] * packed.astype(float)


def integers(text):
    return np.frombuffer(base64.b64decode(text), "<u4")


# ---------------------------------------- what it says


def test_lead_and_sections(blobs, tmp_path):
    text, reader, _ = page(tmp_path, blobs, BLOBS, title="Blobs")
    lead = text[text.index("<header>") : text.index("</header>")]
    assert "5 clusters in 300 rows; " in lead
    assert ("Blobs" in lead, "<title>Blobs</title>" in text) == (True, True)
    headings = [" ".join(h.split()) for h in re.findall(r"<h2[^>]*>(.*?)</h2>", text)]
    assert headings == [
        "Scatter plot",
        "Clusters",
        "Confidence",
        "How the clusters were chosen",
        "Settings",
        "Python code",
    ]
    assert f"ModeSeek: {blobs.message_}." in reader.text
    assert f"modeseek {__version__}" in reader.text
    assert "model = ModeSeek(random_state=0).fit(X)" in reader.text


@pytest.mark.parametrize(
    ("labels", "confidence", "lead"),
    [
        ([0, 0, 1, 1], None, "2 clusters in 4 rows."),
        ([0, 0, 1, -1], None, "2 clusters in 4 rows, 1 of them noise."),
        (
            [0, 0, 1, -1],
            [1, 0.5, 0.7, 0],
            "2 clusters in 4 rows, 1 of them noise; 2 rows doubtful (confidence below 0.75).",
        ),
        ([0, 0, 0, 0], [1, 1, 0.74, 0.75], "1 cluster in 4 rows; 1 row doubtful (confidence below 0.75)."),
        ([-1, -1, -1, -1], [0, 0, 0, 0], "0 clusters in 4 rows, 4 of them noise."),
    ],
)
def test_lead_counts_rows_clusters_noise_and_doubtful_rows(labels, confidence, lead, tmp_path):
    model = given(labels, confidence=confidence)
    _, reader, _ = page(tmp_path, model, [[0.0, 1], [1, 0], [5, 5], [6, 6]])
    assert f"\n{lead}\n" in reader.text


def test_distinguishing_features(tmp_path):
    """By hand: means in the cluster and elsewhere, their difference over the standard deviation, furthest first."""
    model = given(np.repeat([0, 1, 2], [60, 40, 20]))
    units = THREE * [1, 1000, 0.01] + [0, 5000, 0]
    text, _, payload = page(tmp_path, model, THREE, original=units, feature_names=["width", "mass", "depth"])
    rows = tables(text)[0]
    assert rows[0] == ["cluster", "rows", "distinguishing features", "typical row"]
    assert [row[:2] for row in rows[1:]] == [["0", "60 (50%)"], ["1", "40 (33%)"], ["2", "20 (17%)"]]
    inside = model.labels_ == 1
    expected = (units[inside].mean(axis=0) - units[~inside].mean(axis=0)) / units.std(axis=0)
    best = int(np.argmax(np.abs(expected)))
    assert best == 0
    assert rows[2][2].startswith(f"width: {units[inside, 0].mean():.1f} ↑ (others {units[~inside, 0].mean():.1f}; ")
    assert f"; {expected[0]:+.1f}\N{GREEK SMALL LETTER SIGMA})" in rows[2][2]
    mass = units[model.labels_ == 2, 1].mean()
    assert f"mass: {mass:,.0f} ↑" in rows[3][2]
    # the most typical row has the least sum of squared distances to the rows of its cluster
    for label in range(3):
        members = np.flatnonzero(model.labels_ == label)
        sums = ((THREE[members, None] - THREE[None, members]) ** 2).sum(axis=(1, 2))
        assert rows[1 + label][3] == f"row {members[sums.argmin()]}"
    # what is shown and pointed at is in the data's own units
    np.testing.assert_allclose(numbers(payload["axes"][4]), units[:, 1], rtol=1e-6)


def test_noise_is_not_among_the_others(tmp_path):
    """The report compared a cluster with all other rows, and the command with the other clusters."""
    X = np.r_[np.zeros((10, 1)), np.full((10, 1), 4.0), np.full((5, 1), 90.0)]
    text, _, _ = page(tmp_path, given(np.repeat([0, 1, -1], [10, 10, 5])), X, feature_names=["width"])
    assert tables(text)[0][1][2] == "no feature differs in its mean"  # 4 of 36, the standard deviation
    X[20:] = 9
    text, _, _ = page(tmp_path, given(np.repeat([0, 1, -1], [10, 10, 5])), X, feature_names=["width"])
    assert tables(text)[0][1][2] == "width: 0 ↓ (others 4; -1.2\N{GREEK SMALL LETTER SIGMA})"
    text, _, _ = page(tmp_path, given(np.repeat([0, -1], [20, 5])), X, feature_names=["width"])
    assert [row[2] for row in tables(text)[0]] == ["mean values", "width: 2 ± 2", ""]


def test_features_with_equal_means_are_not_distinguishing(tmp_path):
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 400), np.repeat([1.0, 5.0], 200)
    rings = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
    rings -= [rings[radius == r].mean(axis=0) for r in radius]
    text, _, _ = page(tmp_path, given(np.repeat([0, 1], 200)), rings)
    assert [row[2] for row in tables(text)[0][1:]] == ["no feature differs in its mean"] * 2


def test_confidence_and_stability_are_explained(blobs, tmp_path):
    _, reader, _ = page(tmp_path, blobs, BLOBS)
    assert (
        "It falls if a cluster is split or joined with others in repeated fits; the confidence does not." in reader.text
    )


def test_extra_columns(blobs, tmp_path):
    kinds = np.array(["ash", "beech", "cedar", "date", "elm"])[TRUTH]
    extra = {"tree": kinds, "note": [f"n{i}" for i in range(300)], "gap": [None, float("nan")] * 150}
    text, _, payload = page(tmp_path, blobs, BLOBS, extra=extra)
    rows = tables(text)[0]
    assert rows[0][3] == "tree"
    assert "note" not in rows[0]
    for row, label in zip(rows[1:], range(5), strict=True):
        assert row[3] == f"{kinds[blobs.labels_ == label][0]}: 100%"
    tree, note, gap = payload["extra"]
    assert [tree["values"][code] for code in integers(tree["codes"])] == kinds.tolist()
    assert (len(note["values"]), gap["values"]) == (300, [""])


def test_doubtful_rows_have_a_second_choice(tmp_path):
    shares = np.array([[0.9, 0.1, 0], [0.5, 0.1, 0.4], [0.35, 0.6, 0.05], [0, 0, 1], [0, 0, 0]])
    model = given([0, 0, 1, 2, -1], memberships=shares)
    text, reader, payload = page(tmp_path, model, np.arange(10.0).reshape(5, 2), row_names=list("abcde"))
    table = next(rows for rows in tables(text) if rows[0][0] == "row")
    assert table[1:] == [["b", "0", "0.50", "2 (0.40)", "2", "3"], ["c", "1", "0.60", "0 (0.35)", "4", "5"]]
    (histogram,) = [attributes["aria-label"] for attributes in reader.all("svg")]
    assert histogram.startswith("Confidence of 4 rows: 1 from 0.50 to 0.55, 1 from 0.60 to 0.65, 1 from 0.90 to 0.95")
    assert [attributes["class"] for attributes in reader.all("rect")] == ["unsure", "unsure", "sure", "sure"]
    assert payload["names"] == list("abcde")
    assert [cluster["name"] for cluster in payload["clusters"]] == ["cluster 0", "cluster 1", "cluster 2", "noise"]
    assert integers(payload["labels"]).tolist() == [0, 0, 1, 2, 3]


def test_long_list_of_doubtful_rows_is_truncated(tmp_path):
    model = given([0, 1] * 100, confidence=np.linspace(0, 0.7, 200))
    text, reader, _ = page(tmp_path, model, np.arange(200.0)[:, None])
    table = next(rows for rows in tables(text) if rows[0][0] == "row")
    assert len(table) == 31
    assert "The 30 least confident of 200 rows with a confidence below 0.75" in reader.text


def test_method_section_of_modeseek(blobs, tmp_path):
    text, reader, _ = page(tmp_path, blobs, BLOBS)
    assert f"The stability of the partition is {blobs.stability_:.2f}" in reader.text
    table = next(rows for rows in tables(text) if rows[0][0] == "alternative")
    assert len(table) == len(blobs.alternatives_)
    assert "Expected agreement: adjusted Rand index with the true clusters" in reader.text
    one = ModeSeek(random_state=0).fit(np.random.default_rng(0).normal(size=(300, 2)))
    assert one.n_clusters_ == 1
    text, reader, _ = page(tmp_path, one, np.random.default_rng(0).normal(size=(300, 2)))
    assert one.message_ in reader.text
    assert one.message_[1:] in text[: text.index("</header>")]
    assert "stability of the partition" not in reader.text
    assert tables(text)[0][0][2] == "mean values"
    assert "feature 0: " in tables(text)[0][1][2]


@pytest.mark.parametrize(
    "model",
    [
        MeanShift(bandwidth=1.5),
        BlurringMeanShift(bandwidth=1.5),
        StochasticMeanShift(bandwidth=1.5, random_state=0),
        DoublyStochasticMeanShift(0.5, 3.0, 1.5, random_state=0, n_chains=4),
    ],
)
def test_method_section_of_mean_shifts(model, tmp_path):
    text, reader, _ = page(tmp_path, model.fit(BLOBS), BLOBS)
    table = dict(next(rows for rows in tables(text) if rows[0][0] == "run"))
    assert table["run"] == "converged"
    assert table["reason"] == model.outcome_.value
    assert table["updates"] == f"{model.n_updates_:,}"
    assert table["certified"] == ("yes" if model.partition_.certified else "no")
    assert ("chains" in table) == hasattr(model, "chain_labels_")
    assert {"h_min", "h_max"} <= table.keys() or table["bandwidth"] == "1.5"
    assert ("computed no confidence" in reader.text) != hasattr(model, "chain_labels_")


def test_lead_states_that_a_run_did_not_converge(tmp_path):
    model = StochasticMeanShift(bandwidth=1.5, random_state=0, max_updates=1)
    with pytest.warns(match="limit on updates"):
        model.fit(BLOBS)
    text, reader, _ = page(tmp_path, model, BLOBS, notes=["take *more* <updates>"])
    assert f"The run did not converge ({model.outcome_.value})" in text[: text.index("</header>")]
    assert "stopped early" in reader.text
    assert "take *more* <updates>" in reader.text


def test_estimators_of_other_libraries_and_data_frames(tmp_path):
    frame = pd.DataFrame(THREE, columns=["a", "b", "c"], index=[f"id{i}" for i in range(len(THREE))])
    model = KMeans(3, n_init=1, random_state=0).fit(frame)
    _, reader, payload = page(tmp_path, model, frame, extra=pd.DataFrame({"half": ["x", "y"] * 60}))
    assert "from sklearn.cluster import KMeans" in reader.text
    assert [axis["name"] for axis in payload["axes"]][3:] == ["a", "b", "c"]
    assert payload["names"][:2] == ["id0", "id1"]
    assert payload["extra"][0]["name"] == "half"
    assert page(tmp_path, model, frame.reset_index(drop=True))[2]["names"] is None


# ---------------------------------------- odd data


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        ([[1.0]], [0]),
        ([[1.0, 2.0, 3.0]], [0]),
        ([[1.0, 2.0, 3.0]], [-1]),
        (np.ones((5, 4)), [0, 0, 1, 1, -1]),
        (np.full((3, 2), 1e300) * [[1], [-1], [0.5]], [0, 1, 1]),
        (np.arange(6.0).reshape(3, 2) * 1e-300, [0, 1, 1]),
        (np.arange(12.0).reshape(3, 4), [0, 5, 9]),
    ],
)
def test_extreme_data(X, labels, tmp_path):
    X = np.asarray(X)
    scaled = fit_scaling("standard", X).apply(X)
    _, _, payload = page(tmp_path, given(labels), scaled, original=X)
    places = [axis for axis in payload["axes"] if axis["feature"]]
    shown = np.column_stack([numbers(axis) for axis in places])
    np.testing.assert_allclose(shown, X, rtol=1e-5, atol=1e-6 * np.abs(X).max())
    names = {int(label) for label in labels if label >= 0}
    assert [c["name"] for c in payload["clusters"] if "noise" not in c] == [
        f"cluster {label}" for label in sorted(names)
    ]


def test_names_and_cells_are_escaped(tmp_path):
    """A name such as </script><b> is shown as it is: in the title, in tables, in the payload and in the lines."""
    shares = np.array([[0.6, 0.4], [0.6, 0.4], [0.3, 0.7]])
    model = given([0, 0, 1], memberships=shares)
    text, reader, payload = page(
        tmp_path,
        model,
        [[0.0, 1], [1, 0], [5, 5]],
        feature_names=[NASTY, "b"],
        row_names=[NASTY, "\ud800", "x\x00y"],
        extra={NASTY: [NASTY, NASTY, "c"]},
        title=NASTY,
        data_info={"data": NASTY},
        notes=[NASTY],
        code=f"read_table({NASTY!r})",
    )
    plain = [tag for tag, _ in reader.tags]
    assert not {"b", "em"} & set(plain[plain.index("main") :])
    assert {attributes["href"][0] for attributes in reader.all("a")} == {"#"}
    assert plain.count("script") == 3
    assert reader.text.count(NASTY) >= 8
    assert payload["names"][0] == payload["axes"][0]["name"] == payload["extra"][0]["values"][0] == NASTY
    assert text.count("</script>") == 3


# ---------------------------------------- the file


def test_policy_allows_only_the_scripts_of_the_page(blobs, tmp_path):
    text, reader, _ = page(tmp_path, blobs, BLOBS)
    policy = reader.all("meta")[1]["content"]
    assert "default-src 'none'" in policy
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert not [a for tag in ("script", "link", "img") for a in reader.all(tag) if "http" in str(a.values())]
    assert "http" not in re.sub(r"data:[^\"]*", "", "".join(scripts))


def test_reports_are_reproducible(blobs, tmp_path):
    for name in "ab":
        write_report(tmp_path / f"{name}.html", blobs, BLOBS, feature_names=["u", "v"])
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"X": BLOBS[:9]}, ValueError, "X has 9 rows, but the estimator was fitted on 300"),
        ({"original": BLOBS[:, :1]}, ValueError, r"original has shape \(300, 1\), but X has \(300, 2\)"),
        ({"feature_names": ["a"]}, ValueError, "feature_names must name the 2 features of X; got 1"),
        ({"row_names": ["a"]}, ValueError, "row_names must name the 300 rows of X; got 1"),
        ({"extra": {"u": [1]}}, ValueError, r"extra\['u'\] must have 300 entries, one for each row; got 1"),
        ({"extra": [1]}, TypeError, "extra must be a dict of columns or a pandas DataFrame; got list"),
        ({"first_row": -1}, ValueError, "first_row"),
        ({"X": BLOBS * np.nan}, ValueError, "X contains NaN"),
        ({"model": ModeSeek()}, NotFittedError, "not fitted"),
        ({"path": "page.pdf"}, DataError, "unknown ending '.pdf'"),
    ],
)
def test_errors_name_the_argument(options, error, message, blobs, tmp_path):
    all_of_it = {"path": "page.html", "model": blobs, "X": BLOBS, **options}
    with pytest.raises(error, match=message):
        write_report(tmp_path / all_of_it.pop("path"), all_of_it.pop("model"), all_of_it.pop("X"), **all_of_it)
    assert not list(tmp_path.iterdir())


def test_kinds_of_table_cells():
    cells = [[Swatch("a|<b>", "#0072B2"), CellLines(["one", PlainText("*two*")])], [RowLink("<i>", "up", 3), ""]]
    made = Page(PlainText("*T*"), "", [TableBlock(["", ""], cells), HtmlBlock("<hr>", "a *rule*", ".x { }", "1 + 1;")])
    html, markdown = to_html(made, "."), to_markdown(made)
    assert '<span class="swatch" style="--color: #0072B2"></span>a|&lt;b&gt;' in html
    assert "<div>one</div><div>*two*</div>" in html
    assert '<a href="#up" data-row="3">&lt;i&gt;</a>' in html
    assert "<thead>" not in html
    assert ".x { }</style>" in html
    assert "<script>\n1 + 1;\n</script>" in html
    assert markdown.startswith("# \\*T\\*\n")
    assert "| a\\|\\<b> | one<br>\\*two\\* |" in markdown
    assert markdown.endswith("a *rule*\n")
    with pytest.raises(ValueError, match="color of swatch 'a' must be '#rrggbb'; got 'red'"):
        Swatch("a", "red")


def test_the_command_names_its_options_and_the_library_its_parameters(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="x,y", comments="")
    model = StochasticMeanShift(0.6, random_state=0).fit(X)
    write_report(tmp_path / "python.html", model, X)
    page = (tmp_path / "python.html").read_text(encoding="utf-8")
    assert "<code>n_chains=8</code>" in page
    assert "--chains" not in page
    command = ["cluster", str(tmp_path / "rows.csv"), "--algorithm", "sms", "--bandwidth", "0.6"]
    done = CliRunner().invoke(app, [*command, "--report", str(tmp_path / "command.html")])
    assert done.exit_code == 0, done.output
    assert "<code>--chains 8</code>" in (tmp_path / "command.html").read_text(encoding="utf-8")
