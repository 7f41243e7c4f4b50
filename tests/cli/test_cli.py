"""The command: what it writes and prints."""

import html
import inspect
import json
import sys
from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from commands import DSMS, RANGE, X, refused, run
from commands import data as data
from modeseek import DoublyStochasticMeanShift, ModeSeek, __version__
from modeseek._storage.reading import read_table
from modeseek.cli import options as command_options
from modeseek.cli.commands import ENTRY
from modeseek.cli.messages import print_note
from modeseek.estimators.alternatives import listed_alternatives
from modeseek.prepare import Note, TablePreparer
from modeseek.prepare.scaling import fit_scaling

BLOBS, _ = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)


def test_rows_come_back_in_order_with_their_cluster(data, tmp_path):
    status, out, err = run("cluster", data, "--ignore", "name", *RANGE, "-o", tmp_path / "out.csv")
    assert (status, err) == (0, "")
    before, after = data.read_text().splitlines(), (tmp_path / "out.csv").read_text().splitlines()
    assert after[0] == "name,width,height,cluster"
    assert [line.rsplit(",", 1)[0] for line in after] == before
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    own = DoublyStochasticMeanShift(0.4, 1.6, 0.8, random_state=0).fit(scaled)
    assert [int(line.rsplit(",", 1)[1]) for line in after[1:]] == own.labels_.tolist()
    assert "share" in out
    assert "height" in out
    assert own.outcome_.value in out
    assert "h_min 0.4, h_inf 0.8, h_max 1.6 after scaling" in out


def test_a_command_repeats_itself(data, tmp_path):
    for name, seed in [("a", []), ("b", ["--seed", "0"]), ("c", ["--seed", "1"])]:
        run(
            "cluster",
            data,
            "--ignore",
            "name",
            "-o",
            tmp_path / f"{name}.csv",
            "--json",
            tmp_path / f"{name}.json",
            *seed,
        )
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    records = [json.loads((tmp_path / f"{name}.json").read_text()) for name in "ac"]
    assert [record["seed"] for record in records] == [0, 1]


@pytest.fixture
def blobs(tmp_path):
    path = tmp_path / "blobs.csv"
    path.write_text("width,height\n" + "\n".join(f"{a!r},{b!r}" for a, b in BLOBS.tolist()) + "\n")
    return path


def modeseek(**options):
    return ModeSeek(random_state=0, **options).fit((BLOBS - BLOBS.mean(axis=0)) / BLOBS.std(axis=0))


def test_modeseek_runs_where_nobody_names_another(blobs, tmp_path):
    target = tmp_path / "out.csv"
    status, out, err = run("cluster", blobs, "-o", target, "--json", tmp_path / "out.json")
    assert (status, err) == (0, "")
    own, table = modeseek(), read_table(target)
    assert table.columns == ("width", "height", "cluster", "confidence")
    assert [int(cell) for cell in table.cells[2]] == own.labels_.tolist()
    np.testing.assert_allclose([float(cell) for cell in table.cells[3]], own.confidence_)
    assert out.splitlines()[0].startswith("5 clusters in 300 rows")
    assert out.count("20.0%") == 5
    assert f"modeseek: {own.message_}; " in out
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["settings"]["algorithm"] == "modeseek"
    assert (record["message"], record["stability"]) == (own.message_, own.stability_)
    assert (record["outcome"], record["converged"]) == ("chosen", True)
    assert not {"bandwidths", "n_updates"} & record.keys()
    assert run("cluster", blobs, "--algorithm", "modeseek", "-o", tmp_path / "named.csv")[0] == 0
    assert (tmp_path / "named.csv").read_text() == target.read_text()


def test_low_stability_is_explained(blobs):
    """Pieces of a cluster had a stability of 0.05 and a confidence of 1, and nothing said why."""
    text = "stability falls if a cluster is split or joined with others in repeated fits; confidence does not"
    assert text not in run("cluster", blobs)[1]
    assert text in run("cluster", blobs, "--max-cluster-size", "20")[1]


def test_features_are_listed(tmp_path):
    rows = [f"{7 * i + i % 3},{i % 7},{i % 3}" for i in range(30)]
    (tmp_path / "ids.csv").write_text("order_id,x,y\n" + "\n".join(rows))
    assert run("cluster", tmp_path / "ids.csv")[1].splitlines()[1] == "2 features: x, y"
    wide = np.random.default_rng(0).normal(size=(20, 40))
    (tmp_path / "wide.csv").write_text("\n".join(",".join(map(str, row)) for row in wide))
    assert run("cluster", tmp_path / "wide.csv")[1].splitlines()[1].endswith("x10, x11 and 28 more")


def test_rows_with_missing_values_can_be_used(tmp_path):
    """Of 100 rows with gaps, 98 were left out, and the command suggested --min-clusters 2 for the others."""
    gaps = [(i % 5 in (0, 1), i % 5 in (2, 3)) for i in range(len(BLOBS))]
    cells = np.where(gaps, "NA", BLOBS.round(3).astype(str))
    rows = map(",".join, cells.tolist())
    (tmp_path / "gaps.csv").write_text("\n".join(["a,b", *rows]))
    out = run("cluster", tmp_path / "gaps.csv")[1]
    assert "to look further: --missing median to cluster the 240 rows with missing values" in out
    assert "--missing median" not in run("cluster", tmp_path / "gaps.csv", "--missing", "median")[1]


def test_alternatives_are_listed(blobs, tmp_path):
    _, out, _ = run("cluster", blobs)
    # scaled as the command does, to the last digit: the expected agreement is a step function
    columns = {"width": BLOBS[:, 0], "height": BLOBS[:, 1]}
    model = ModeSeek(random_state=0).fit(TablePreparer(scale="standard").fit_transform(columns))
    listed = listed_alternatives(model)
    assert listed
    lines = out.splitlines()[out.splitlines().index("alternatives:") + 1 :]
    assert lines == [
        f"  {k} clusters (expected agreement {agreement:.2f}): --n-clusters {k}"
        for k, agreement in ((each.n_clusters, each.expected_agreement) for each in listed)
    ]
    counts = [each.n_clusters for each in listed]
    assert len(set(counts)) == len(counts)
    record = json.loads(run("cluster", blobs, "--json", "-", "-q")[1])
    fields = ("n_clusters", "expected_agreement", "stability")
    assert [tuple(each[name] for name in fields) for each in record["alternatives"]] == [
        tuple(getattr(each, name) for name in fields) for each in listed
    ]


def test_one_cluster_says_why(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(300, 2)))
    status, out, _ = run("cluster", tmp_path / "a.npy")
    assert status == 0
    assert "1 cluster in 300 rows" in out
    [reason] = [line for line in out.splitlines() if line.startswith("modeseek: one cluster, expected agreement ")]
    assert "; preferred to " in reason
    assert " because " in reason
    assert "to look further: --min-clusters 2 for the best partition" in out
    assert "--scale" not in out


def test_one_cluster_offers_only_what_has_an_effect(tmp_path):
    """Logarithms were offered although no column was skewed, and another scaling of a single column."""
    rng = np.random.default_rng(0)
    even, skewed = rng.normal(size=100), np.exp(2 * rng.normal(size=100))
    for columns, steps in (((even,), ()), ((even, skewed), ("--scale log", "--scale robust, because"))):
        np.save(tmp_path / "a.npy", np.column_stack(columns))
        out = run("cluster", tmp_path / "a.npy", "--max-clusters", "1")[1]
        [line] = [line for line in out.splitlines() if line.startswith("to look further")]
        assert [step for step in ("--scale log", "--scale robust, because") if step in line] == list(steps)
        assert line.count("--") == 1 + len(steps) + (len(columns) > 1)


def test_known_groups_are_compared(data, tmp_path):
    names = ["NA"] * 3 + [f"g{i % 2}" for i in range(3, len(X))]
    rows = zip(names, X.tolist(), strict=True)
    data.write_text("kind,width,height\n" + "".join(f"{name},{a!r},{b!r}\n" for name, (a, b) in rows))
    options = ["--truth", "kind", *RANGE, "--json", tmp_path / "o.json", "--report", tmp_path / "o.html"]
    status, out, err = run("cluster", data, *options)
    assert (status, err) == (0, "")
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["features"] == ["width", "height"]
    own = DoublyStochasticMeanShift(0.4, 1.6, 0.8, random_state=0).fit(fit_scaling("standard", X).apply(X))
    assert record["truth"]["ari"] == pytest.approx(adjusted_rand_score(names[3:], own.labels_[3:]))
    assert np.sum(record["truth"]["counts"]) == len(X)
    assert record["truth"]["groups"][-1] == "missing"
    assert "2 groups in 'kind', and 3 rows without a group: adjusted Rand index" in out
    assert "Comparison with known groups" in (tmp_path / "o.html").read_text("utf-8")
    refused("--truth needs all rows in memory", "cluster", data, "--truth", "kind", "--out-of-core")


@pytest.mark.parametrize(
    ("options", "least", "most"),
    [(["--n-clusters", "2"], 2, 2), (["--max-clusters", "2"], 1, 2), (["--min-clusters", "6"], 6, 300)],
)
def test_wishes(options, least, most, blobs):
    status, out, _ = run("cluster", blobs, *options, "--json", "-", "-q")
    assert status == 0
    assert least <= json.loads(out)["n_clusters"] <= most


def test_metric_and_smallest_size_reach_modeseek(blobs):
    status, out, _ = run("cluster", blobs, "--metric", "cosine", "--min-cluster-size", "61", "--json", "-", "-q")
    assert status == 0
    record = json.loads(out)
    assert record["settings"]["metric"] == "cosine"
    assert all(cluster["size"] >= 61 for cluster in record["clusters"])


@pytest.mark.parametrize("mode", ["--in-memory", "--out-of-core"])
def test_json_has_what_the_screen_says(mode, tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60)[:, None] % 2)
    lines = [f"{'odd' if i % 2 else 'even'},{x},{y}" for i, (x, y) in enumerate(rows.tolist())]
    (tmp_path / "a.csv").write_text("\n".join(["name,x,y", *lines, "odd,1.5,", "odd,,2.5"]) + "\n")
    _, out, err = run("cluster", tmp_path / "a.csv", mode, "--json", "-")
    record = json.loads(out)
    assert (record["n_rows_total"], record["n_rows"], record["left_out"]) == (62, 60, ["name"])
    assert record["clusters"][0]["confidence"] == 1
    assert all(f"note: {note.rstrip('.')}" in err for note in record["notes"])
    assert [note.split()[0] for note in record["notes"][:2]] == ["left", "missing"]


def test_json(data, tmp_path):
    status, _, _ = run("cluster", data, "--columns", "width,height", *RANGE, "--json", tmp_path / "out.json")
    assert status == 0
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["version"] == __version__
    assert record["settings"]["algorithm"] == "dsms"
    assert record["settings"]["scale"] == "standard"
    assert (record["n_rows"], record["n_features"], record["features"]) == (45, 2, ["width", "height"])
    assert record["n_clusters"] == len(record["clusters"])
    assert sum(cluster["size"] for cluster in record["clusters"]) + record["n_noise"] == 45
    assert sum(cluster["share"] for cluster in record["clusters"]) == pytest.approx(1)
    assert record["bandwidths"] == {"h_min": 0.4, "h_inf": 0.8, "h_max": 1.6}
    assert record["outcome"] == "certified"
    assert record["certified"] is True
    assert record["diameter"] < record["gap"]
    assert {"outcome_message", "n_updates", "engine", "seconds", "seed"} <= record.keys()


def test_centres_are_in_the_units_of_the_data(tmp_path):
    # two clumps at (1000, 1) and (3000, 2)
    rows = ["1000,1", "1000,1", "3000,2", "3000,2", "3000,2"]
    (tmp_path / "a.csv").write_text("mass,size\n" + "\n".join(rows) + "\n")
    status, out, _ = run("cluster", tmp_path / "a.csv", *RANGE, "--json", tmp_path / "a.json")
    assert status == 0
    record = json.loads((tmp_path / "a.json").read_text())
    assert [cluster["size"] for cluster in record["clusters"]] == [3, 2]
    np.testing.assert_allclose([c["center"] for c in record["clusters"]], [[3000, 2], [1000, 1]], rtol=1e-6)
    assert "60.0%" in out
    assert "mass ↑ 3000" in out


def test_one_cluster_has_no_gap(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n1\n1\n")
    status, out, _ = run("cluster", tmp_path / "a.csv", *RANGE, "--json", tmp_path / "a.json")
    assert status == 0
    assert json.loads((tmp_path / "a.json").read_text())["gap"] is None
    assert "1 cluster in 3 rows" in out


@pytest.mark.parametrize("algorithm", ["sms", "bms", "ms"])
def test_other_algorithms(algorithm, data, tmp_path):
    target = tmp_path / "out.json"
    status, out, _ = run(
        "cluster", data, "--ignore", "name", "--algorithm", algorithm, "--bandwidth", "0.9", "--json", target
    )
    assert status == 0
    assert json.loads(target.read_text())["bandwidths"] == {"bandwidth": 0.9}
    assert f"{algorithm}: " in out


def test_scale_none_and_cosine(data, tmp_path):
    target = tmp_path / "out.json"
    run("cluster", data, "--ignore", "name", *RANGE, "--scale", "none", "--json", target)
    assert json.loads(target.read_text())["settings"]["scale"] == "none"
    status, out, _ = run(
        "cluster",
        data,
        "--ignore",
        "name",
        *RANGE,
        "--metric",
        "cosine",
        "--json",
        target,
        "--plot",
        tmp_path / "a.png",
    )
    assert status == 0
    record = json.loads(target.read_text())
    assert record["settings"]["scale"] == "none"
    np.testing.assert_allclose(np.linalg.norm([c["center"] for c in record["clusters"]], axis=1), 1)
    assert "directions" in out


def test_small_clusters_become_noise(data, tmp_path):
    target = tmp_path / "out.csv"
    status, out, _ = run(
        "cluster",
        data,
        "--ignore",
        "name",
        "--algorithm",
        "sms",
        "--bandwidth",
        "0.3",
        "--min-cluster-size",
        "4",
        "-o",
        target,
    )
    assert status == 0
    assert "noise" in out
    assert ",-1\n" in target.read_text()


def test_standard_streams(data, tmp_path):
    status, out, err = run("cluster", "-", "--ignore", "name", *RANGE, "-o", "-", stdin=data.read_text())
    assert status == 0
    assert out.splitlines()[0] == "name,width,height,cluster"
    assert len(out.splitlines()) == 46
    assert "share" in err  # the table makes room
    status, out, err = run("cluster", data, "--ignore", "name", *RANGE, "--json", "-", "--quiet")
    assert json.loads(out)["n_rows"] == 45
    assert err == ""


def test_quiet_prints_nothing(data, tmp_path):
    assert run("cluster", data, "--ignore", "name", *RANGE, "-q", "-o", tmp_path / "a.tsv") == (0, "", "")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "npy", "npz"])
def test_kinds_of_files(suffix, tmp_path):
    (tmp_path / "in.csv").write_text("a;b\n" + "\n".join(f"{a};{b}" for a, b in X.tolist()) + "\n")
    first = tmp_path / f"first.{suffix}"
    assert run("cluster", tmp_path / "in.csv", *RANGE, "-o", first)[0] == 0
    columns = ["--columns", "x0,x1"] if suffix == "npy" else ["--columns", "a", "--columns", "b"]
    assert run("cluster", first, *columns, *RANGE, "--name", "again", "-o", tmp_path / "last.csv")[0] == 0
    if suffix in ("csv", "tsv", "parquet"):
        table = read_table(tmp_path / "last.csv")
        assert table.columns == ("a", "b", "cluster", "again")
        assert table.cells[2].tolist() == table.cells[3].tolist()


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_pictures(suffix, n_features, tmp_path):
    np.save(tmp_path / "in.npy", np.random.default_rng(0).normal(size=(30, n_features)))
    target = tmp_path / f"out.{suffix}"
    assert run("cluster", tmp_path / "in.npy", *RANGE, "--plot", target, "-q") == (0, "", "")
    assert target.read_bytes()[:4] in (b"\x89PNG", b"<?xm", b"%PDF")


def test_a_report_of_the_run(data, tmp_path):
    """Its lines, run as they are, give the labels of the command; what was left out is still shown."""
    target = tmp_path / "out.html"
    options = ["--ignore", "name", "--seed", "3", "--min-cluster-size", "4", "-o", tmp_path / "rows.csv"]
    status, out, err = run("cluster", data, *options, "--report", target)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == f"written: {tmp_path / 'rows.csv'}, {target}"
    page = target.read_text("utf-8")
    assert "<h1" in page
    assert "Clusters of points.csv" in page
    assert "each feature to mean 0 and standard deviation 1" in page
    payload = json.loads(page.split('id="scatter-data">')[1].split("</script>")[0])
    assert payload["extra"][0]["name"] == "name"
    assert payload["first"] == 1
    assert [axis["name"] for axis in payload["axes"]] == ["width", "height"]
    space: dict = {}
    exec(html.unescape(page.split("<pre")[-1].split("<code>")[1].split("</code>")[0]), space)
    written = [int(cell) for cell in read_table(tmp_path / "rows.csv").cells[3]]
    assert space["model"].labels_.tolist() == written
    assert run("cluster", data, *options, "--report", tmp_path / "again.html", "-q") == (0, "", "")
    assert (tmp_path / "again.html").read_bytes() == target.read_bytes()


@pytest.mark.parametrize("algorithm", ["dsms", "sms", "bms", "ms"])
def test_a_report_of_other_algorithms_has_their_notes(algorithm, data, tmp_path):
    limit = ["--max-updates", "1"] if algorithm in ("dsms", "sms") else []
    target = tmp_path / "out.html"
    status, _, err = run(
        "cluster", data, "--ignore", "name", "--algorithm", algorithm, *limit, "--report", target, "-q"
    )
    page = target.read_text("utf-8")
    assert status == 0
    assert ("stopped early" in page) == ("note: " in err) == bool(limit)
    if limit:
        assert html.escape(err.removeprefix("note: ").strip()) in page


def test_a_report_names_rows_by_their_names(tmp_path):
    rows = "".join(f"bird {i},{a},{b}\n" for i, (a, b) in enumerate(X.tolist()))
    (tmp_path / "a.csv").write_text(",x,y\n" + rows)
    status, _, err = run("cluster", tmp_path / "a.csv", "--metric", "cosine", "--report", tmp_path / "a.html", "-q")
    assert status == 0
    assert "left out: column1 (row names)" in err
    page = (tmp_path / "a.html").read_text("utf-8")
    assert "left out: column1 (row names)" in page
    assert '"names":["bird 0","bird 1"' in page
    assert "bird 7" in page


def test_a_comma_in_a_column_s_name(tmp_path):
    (tmp_path / "a.csv").write_text('"u,v",w\n1,2\n3,4\n')
    status, out, _ = run("cluster", tmp_path / "a.csv", "--columns", "u,v", *RANGE, "--json", "-", "-q")
    assert status == 0
    assert json.loads(out)["features"] == ["u,v"]


def test_row_names_are_left_out_with_a_note(tmp_path):
    (tmp_path / "a.csv").write_text(",w\n0,2\n1,4\n")
    status, out, err = run("cluster", tmp_path / "a.csv", *RANGE, "--json", "-", "-q")
    assert status == 0
    assert json.loads(out)["features"] == ["w"]
    assert "note: left out: column1 (row names)." in err


def test_an_unfinished_run_says_so(data):
    status, out, err = run("cluster", data, "--ignore", "name", *DSMS, "--max-updates", "1")
    assert status == 0
    assert err.startswith("note: ")
    assert "max_updates" in err
    assert "stopped at the limit on updates" in out


def test_many_clusters_are_cut_and_counted(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(30.0)[:, None] * 10)
    status, out, _ = run("cluster", tmp_path / "a.npy", "--scale", "none", *RANGE)
    assert status == 0
    assert "and 10 smaller clusters" in out


def test_many_features_are_cut_and_counted(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(5, 40)))
    _, out, _ = run("cluster", tmp_path / "a.npy", *RANGE)
    assert max(map(len, out.splitlines())) <= 100
    assert "what sets it apart" in out


@pytest.mark.parametrize("name", [name for name in vars(command_options) if name.endswith("Options")])
def test_every_option_has_a_help_text(name):
    options = getattr(command_options, name)
    documented = [entry[0] for entry in ENTRY.findall(inspect.getdoc(options) + "\n")]
    assert documented == [field.name for field in fields(options)]


def test_version_and_help():
    assert run("--version") == (0, f"modeseek {__version__}\n", "")
    assert "cluster" in run("--help")[1]
    assert "cluster" in run()[1]
    assert "--h-min" in run("cluster", "--help")[1]
    # square brackets are no markup
    assert "pip install 'modeseek[explore]'" in " ".join(run("explore", "--help")[1].split())


def test_scaling():
    rows = np.array([[1.0, 5.0, 1e200], [3.0, 5.0, -1e200]])
    scaling = fit_scaling("standard", rows)
    np.testing.assert_allclose(scaling.apply(rows), [[-1, 0, 1], [1, 0, -1]])
    np.testing.assert_allclose(scaling.undo(scaling.apply(rows)), rows)
    np.testing.assert_array_equal(fit_scaling("none", rows).apply(rows), rows)


def test_a_terminal_wraps_notes_between_words(monkeypatch, capsys):
    """Notes were broken inside words in a terminal of 80 columns."""
    text = "left out: " + ", ".join(f"column-{number}" for number in range(40))
    monkeypatch.setenv("COLUMNS", "80")
    for terminal in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        print_note(Note(text, "scale", "log"))
        lines = capsys.readouterr().err.splitlines()
        assert " ".join(line.strip() for line in lines) == f"note: {text} (--scale log)."
        assert (max(map(len, lines)) <= 80) == terminal
