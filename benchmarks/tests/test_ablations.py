"""Ablations: every variant runs, the variants differ where they should, and stored candidates replay the selection."""

from __future__ import annotations

import csv
import importlib
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.selection import build_knn_graph
from modeseek.selection.grid_proposers import Modes
from modeseek.selection.modes import cut

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "ablations.py"
HEADS = "<!-- ablations -->\nold\n<!-- end of ablations -->\n"


@pytest.fixture
def ablations(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))  # it imports its neighbours, as a script does
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def variants(ablations):
    return {variant.name: variant for variant in importlib.import_module("ablation_variants").VARIANTS}


@pytest.fixture
def folder(tmp_path):
    """Two sets: three blobs in the plane, and directions that fill enough dimensions for communities."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    blobs = 6.0 * np.array([[0, 0], [1, 0], [0, 1]])[y] + rng.normal(size=(60, 2))
    rays = np.eye(40)[y] + 0.22 * rng.normal(size=(60, 40))
    home = tmp_path / "data"
    home.mkdir()
    np.savez(home / "blobs.npz", X=blobs, y=y)
    np.savez(home / "rays.npz", X=rays, y=y)
    entries = [{"name": "blobs", "kind": "plane", "prep": "std"}, {"name": "rays", "kind": "voices", "prep": "l2"}]
    (home / "manifest.json").write_text(json.dumps(entries))
    return home


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def task_of(folder, name, *, cosine=False):
    labelled = importlib.import_module("labelled")
    with np.load(folder / f"{name}.npz") as arrays:
        return labelled.Task(labelled.prepared(arrays["X"], "l2" if cosine else "std"), cosine, 3, 0)


def test_every_variant_on_every_set_and_the_page(ablations, variants, folder, tmp_path, capsys):
    out, kept, page = tmp_path / "rows.csv", tmp_path / "kept.jsonl", tmp_path / "page.md"
    page.write_text(f"before\n{HEADS}after\n")
    given = ["--data", str(folder), "--out", str(out), "--candidates", str(kept), "--seeds", "1"]
    ablations["main"]([*given, "--report", str(page)])
    rows = rows_of(out)
    assert [(row["set"], row["method"]) for row in rows] == [(s, v) for s in ("blobs", "rays") for v in variants]
    assert [row["error"] for row in rows] == [""] * len(rows)
    found = {(row["set"], row["method"]): row for row in rows}
    assert found["rays", "as is"]["note"] == "communities"
    assert found["rays", "modes only"]["note"] != "communities"
    assert found["blobs", "as is"]["note"] != "communities"
    assert found["blobs", "communities everywhere"]["note"] in ("communities", "one cluster")
    assert found["blobs", "DSMS basins"]["note"].endswith(" basins")
    assert found["rays", "DSMS basins"]["note"] == "communities"
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| variant | ARI | gain | better, worse | plane (1) | voices (1) | median s |" in text
    assert "Over the 1 sets with proposals by modes, seeds 0. Without rays." in text
    # the replay of what was kept gives what was measured
    halves = importlib.import_module("split_half")
    replayed = halves.answers(halves.read_records(kept), [halves.PRESENT])[0]
    assert replayed == pytest.approx([float(found[name, "as is"]["ari"]) for name in ("blobs", "rays")], abs=1e-4)
    # a second run measures nothing, a line cut short is measured again
    before = out.read_bytes(), kept.read_bytes()
    kept.write_bytes(before[1][:-20])
    capsys.readouterr()
    ablations["main"](given)
    assert (out.read_bytes(), kept.read_bytes()) == before
    assert "seed 0" not in capsys.readouterr().err


def test_the_test_for_one_cluster_and_the_merge_have_an_effect(ablations, variants, folder):
    labelled = importlib.import_module("labelled")
    noise = labelled.Task(np.random.default_rng(3).normal(size=(300, 2)), False, 1, 0)
    assert variants["as is"].fit(noise).labels.max() == 0
    assert variants["without the gate"].fit(noise).labels.max() > 0
    merged, apart = (variants[name].fit(noise).labels.max() for name in ("without the gate", "without merge and gate"))
    assert apart > merged
    fixed = variants["without the choice"].fit(task_of(folder, "blobs"))
    assert {each.setting for each in fixed.model.alternatives_ if each.proposer == "modes"} <= {(8.0, 2.0)}


@pytest.mark.parametrize("kind", ["SMS", "DSMS"])
def test_points_of_a_basin_are_never_separated(ablations, kind):
    module = importlib.import_module("ablation_basins")
    x = np.random.default_rng(0).normal(size=(200, 2))
    points = canonical_points(x, np.ones(200), Geometry())
    graph, labels = build_knn_graph(points), module.basins(points, kind, 0)
    assert 1 < labels.max() + 1 < 200
    tied = type("Tied", (module.BasinModes,), {"basins": labels})().trees(graph)
    plain = Modes().trees(graph)
    parted = 0
    for count, tree in tied.items():
        found = cut(tree, 0.0)
        assert all(len(np.unique(found[labels == basin])) == 1 for basin in range(labels.max() + 1))
        without = cut(plain[count], 0.0)
        parted += sum(len(np.unique(without[labels == basin])) > 1 for basin in range(labels.max() + 1))
    assert parted > 0  # else the ties would do nothing here


def record(name, *, dimension=2.0, excess_prominence=1.5, mixture=None, modes=(), communities=()):
    # a proposal: setting, stability, that around it, entropy, ARI, like the mixture
    return {
        "set": name,
        "seed": 0,
        "dimension": dimension,
        "excess_prominence": excess_prominence,
        "mixture": mixture,
    } | {
        "modes": [[8, 2, *each] for each in modes],
        "communities": [[14, 1, *each] for each in communities],
    }


def test_a_replay_by_hand(ablations):
    halves = importlib.import_module("split_half")
    at = halves.Constants(0.25, 0.01, 3.6, 0.7, 0.6, 0.5)
    two = ((0.9, 0.1, 0.7, 0.3, 0), (0.8, 0.8, 0.7, 0.6, 1))
    records = [
        record("second", modes=two),
        record("gate", excess_prominence=0.5, modes=two),
        record("unstable", excess_prominence=1.0, modes=((0.65, 0.65, 0.7, 0.6, 0),)),
        record("mixture", mixture=0.4, modes=two[:1]),
        record("alike", mixture=0.4, modes=two),
        record("none", mixture=None),
        record("high", dimension=5.0, mixture=0.4, modes=two, communities=((0.71, 0.7, 1.0, 0.9, 0),)),
        record("unsure", dimension=5.0, mixture=0.4, modes=two, communities=((0.69, 0.7, 1.0, 0.9, 0),)),
    ]
    others = [
        at._replace(smoothing=0.0),
        at._replace(min_excess_prominence=0.3),
        at._replace(communities_dimension=6.0),
    ]
    found = halves.answers(records, [at, *others])
    assert found[0].tolist() == [0.6, 0.0, 0.0, 0.4, 0.6, 0.0, 0.9, 0.0]
    assert found[1, 0] == 0.3  # without neighbours the first is more stable
    assert found[2].tolist()[:3] == [0.6, 0.6, 0.0]  # a low excess_prominence is enough, if the partition is stable
    assert found[3, 6] == 0.6


def test_constants_are_chosen_on_one_half_and_scored_on_the_other(ablations):
    halves = importlib.import_module("split_half")
    # half of the sets want sure communities, half want any: no constants suit both
    sure = [record(f"a{i}", dimension=5.0, communities=((0.55, 0.55, 0.0, -0.5, 0),)) for i in range(4)]
    unsure = [record(f"b{i}", dimension=5.0, communities=((0.55, 0.55, 0.0, 0.5, 0),)) for i in range(4)]
    found = halves.split_half(sure + unsure, splits=200)
    assert found.sets == 8
    assert found.present == found.best == 0.0
    assert found.chosen_on > 0.05
    assert found.scored_on < -0.05


def test_an_unknown_variant_is_named(ablations, folder):
    with pytest.raises(SystemExit, match=r"no variant is called 'with'; there are as is, "):
        ablations["main"](["--data", str(folder), "--variants", "with"])
