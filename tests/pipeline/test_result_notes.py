from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from modeseek import ModeSeek
from modeseek.pipeline import DataOptions, cluster_file


def counties(n=300):
    rng = np.random.default_rng(0)
    columns = {"inmetro": rng.integers(0, 2, n), "size": rng.normal(size=n), "income": rng.normal(size=n)}
    return pd.DataFrame(columns)


def notes_of(tmp_path, rows, n_clusters=None, **options):
    path = tmp_path / "table.csv"
    rows.to_csv(path, index=False)
    return cluster_file(path, ModeSeek(n_clusters=n_clusters, random_state=0), **options).notes


@pytest.mark.parametrize("out_of_core", [False, True])
def test_clusters_that_follow_a_column_with_two_values(tmp_path, out_of_core):
    """The two clusters of a table of counties were the values 0 and 1 of a column, and no note said so."""
    columns = DataOptions(columns=tuple(counties().columns))
    notes = notes_of(tmp_path, counties(), 2, data=columns, out_of_core=out_of_core)
    assert ("the clusters follow column inmetro (2 values); try without it", "ignore", "inmetro") in notes


def test_a_column_with_two_values_is_left_out_among_several(tmp_path):
    """In 48 tables of other packages, clusters often were the two values of one column."""
    notes = notes_of(tmp_path, counties(), 2)
    assert ("left out: inmetro (few different values)", "", "") in notes


def test_clusters_that_follow_an_encoded_column(tmp_path):
    rows = counties().assign(inmetro=np.repeat(["north", "south", "west"], 100))
    notes = notes_of(tmp_path, rows, 3, data=DataOptions(encode="onehot"))
    assert any(note.text.startswith("the clusters follow column inmetro (3 values)") for note in notes)


def test_a_column_that_differs_within_clusters_is_not_followed(tmp_path):
    rows = counties()
    rows["inmetro"] = rows.index % 10 < 3
    rows["size"] += 20.0 * (rows.index % 2)
    rows["income"] += 20.0 * (rows.index % 2)
    assert not any("follow" in note.text for note in notes_of(tmp_path, rows, 2))


def test_visibly_rounded_columns_are_named(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"exact": rng.normal(size=500), "score": np.round(20 + 8 * rng.normal(size=500))})
    text = "visibly rounded: score; values are treated as intervals of one rounding step"
    assert text in map(str, notes_of(tmp_path, rows))


def test_clusters_of_rows_with_medians(tmp_path):
    """Medians in one column formed a cluster of their own, and no note said so."""
    rng = np.random.default_rng(0)
    level = np.repeat([0.0, 10.0, 20.0], 100)
    rows = pd.DataFrame({"x": level + rng.normal(size=300), "y": level + rng.normal(size=300)})
    rows.loc[:19, "x"] = np.nan  # the median of x is that of the second cluster
    rows.loc[150:159, "x"] = np.nan
    notes = {missing: notes_of(tmp_path, rows, data=DataOptions(missing=missing)) for missing in ("median", "drop")}
    expected = (
        "medians replace missing values of most rows in cluster 3; such rows can be left out",
        "missing",
        "drop",
    )
    assert expected in notes["median"]
    assert not any("medians replace" in note.text for note in notes["drop"])
