"""Code blocks of documentation pages that need other packages: they run where these packages are installed."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeseek import ModeSeek

DOCS = Path(__file__).parent.parent / "docs"
pytestmark = pytest.mark.filterwarnings("ignore")  # of the other packages

ROWS, TRUTH = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


def run_block(page: str, heading: str, **given: Any) -> dict[str, Any]:
    """Run the first code block below a heading with the given names, and return all names."""
    section = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (code, *_) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    names = {"__name__": "__main__", **given}
    exec(compile(code, page, "exec"), names)
    return names


def check_labels(frame: Any) -> None:
    """Compare labels with those of a fit to all rows; engines may change the order of rows."""
    assert len(frame) == len(ROWS)
    expected = ModeSeek(random_state=0).fit(ROWS)
    assert_array_equal(frame["cluster"], expected.predict(frame[["x", "y"]].to_numpy()))


def test_spark(monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    pandas = pytest.importorskip("pandas")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    with builder.getOrCreate() as spark:
        frame = spark.createDataFrame(pandas.DataFrame(ROWS, columns=["x", "y"])).repartition(3)
        found = run_block("how-to-spark-and-ray.md", "Spark", frame=frame)
        check_labels(found["labelled"].toPandas())
        # an earlier version of the page changed the schema of the frame itself
        assert frame.schema.names == ["x", "y"]
        assert frame.count() == len(ROWS)


def test_ray(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray")
    pyarrow = pytest.importorskip("pyarrow")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        data = ray.data.from_arrow(pyarrow.table({"x": ROWS[:, 0], "y": ROWS[:, 1]})).repartition(3)
        check_labels(run_block("how-to-spark-and-ray.md", "Ray Data", data=data)["labelled"].to_pandas())
    finally:
        ray.shutdown()


def test_geodataframes(monkeypatch, tmp_path):
    geopandas = pytest.importorskip("geopandas")
    pytest.importorskip("pyogrio")
    places = geopandas.points_from_xy(13 + ROWS[:, 0] / 10, 52 + ROWS[:, 1] / 10, crs="EPSG:4326")
    geopandas.GeoDataFrame(geometry=places).to_crs("EPSG:3035").to_file(tmp_path / "airports.gpkg")
    monkeypatch.chdir(tmp_path)
    names = run_block("how-to-maps.md", "GeoDataFrames")
    assert len(names["areas"]) == names["found"]["cluster"].nunique()
    assert names["centers"].crs == names["places"].crs == "EPSG:3035"
    assert_array_equal(names["labels"], names["model"].labels_[:5])


def test_single_cells():
    pytest.importorskip("scanpy")
    pytest.importorskip("matplotlib").use("agg")
    adata = run_block("ecosystem.md", "Single cells")["adata"]
    assert_array_equal(adata.obs["modeseek"].astype(int), ModeSeek(random_state=0).fit(adata.obsm["X_pca"]).labels_)
    assert adata.obs["modeseek_confidence"].between(0, 1).all()


def test_the_graph_of_scanpy():
    pytest.importorskip("scanpy")
    adata = run_block("how-to-neighbor-graphs.md", "scanpy")["adata"]
    expected = ModeSeek(metric="precomputed", random_state=0).fit(adata.obsp["distances"]).labels_
    assert_array_equal(adata.obs["modeseek"].astype(int), expected)


def test_topics():
    pytest.importorskip("bertopic")
    pytest.importorskip("umap")
    rng = np.random.default_rng(0)
    lists = "wave tide harbour sail anchor reef", "oven flour butter knife recipe sugar"
    documents = [" ".join(rng.choice(words.split(), 5)) for words in lists for _ in range(60)]
    embeddings = np.repeat(rng.normal(size=(2, 16)), 60, axis=0) + 0.2 * rng.normal(size=(120, 16))
    topics = run_block("ecosystem.md", "Topics", documents=documents, embeddings=embeddings)["topics"]
    assert min(topics.topics_) >= 0
    # no topic mixes the two vocabularies
    assert not set(topics.topics_[:60]) & set(topics.topics_[60:])


def test_neighbors_of_faiss():
    faiss = pytest.importorskip("faiss")
    k, rows = 32, ROWS.astype(np.float32)
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(rows)
    squares, indices = index.search(rows, k)
    starts = np.arange(0, k * len(rows) + 1, k)
    graph = csr_array((np.sqrt(np.maximum(squares, 0)).ravel(), indices.ravel(), starts), shape=(len(rows), len(rows)))
    labels = ModeSeek(metric="precomputed", random_state=0).fit(graph).labels_
    assert adjusted_rand_score(TRUTH, labels) == 1.0
