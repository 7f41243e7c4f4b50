"""Clusters of an AnnData object: with a stand-in, and with the package where it is installed."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer

from modeseek import MeanShift
from modeseek.anndata import cluster

X, Y = make_blobs([60, 40, 2], centers=[[0, 0], [9, 9], [40, -40]], random_state=0)


def stand_in():
    return SimpleNamespace(X=csr_array(X), obs=pd.DataFrame(index=range(len(X))), obsm={"X_pca": X}, uns={})


def check(adata):
    model = cluster(adata, key_added="found", estimator=MeanShift(4.0, min_cluster_size=5))
    assert_array_equal(adata.obs["found"], model.labels_.astype(str))
    assert list(adata.obs["found"].cat.categories) == ["-1", "0", "1"]
    assert_array_equal(adata.obs["found_confidence"], model.probabilities_)
    written = adata.uns["found"]["params"]
    assert (written["estimator"], written["use_rep"], written["bandwidth"]) == ("MeanShift", "X_pca", 4.0)


def test_with_a_stand_in():
    check(stand_in())


def test_the_matrix_itself():
    assert_array_equal(cluster(stand_in(), use_rep="X", estimator=MeanShift(4.0)).labels_, Y)


def test_a_missing_representation():
    with pytest.raises(KeyError, match=r"X_umap.*X_pca"):
        cluster(stand_in(), use_rep="X_umap")


def test_with_anndata(tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.settings.allow_write_nullable_strings = True  # names are strings of pandas 3
    adata = anndata.AnnData(X.astype(np.float32), obsm={"X_pca": X})
    check(adata)
    adata.write_h5ad(tmp_path / "data.h5ad")
    assert_array_equal(anndata.read_h5ad(tmp_path / "data.h5ad").obs["found"], adata.obs["found"])


def test_distances_of_scanpy_are_reused():
    adata = stand_in()
    distances = KNeighborsTransformer(mode="distance", n_neighbors=15).fit_transform(adata.obsm["X_pca"])
    distances.eliminate_zeros()  # scanpy stores no distance of an observation to itself
    adata.obsp = {"distances": distances}
    model = cluster(adata, obsp="distances")
    assert adata.uns["modeseek"]["params"]["obsp"] == "distances"
    assert model.metric == "precomputed"
    assert adjusted_rand_score(Y[Y < 2], model.labels_[Y < 2]) == 1
    with pytest.raises(KeyError, match=r"not in adata\.obsp"):
        cluster(adata, obsp="other")
    with pytest.raises(ValueError, match="holds similarities: pass the distances, umap_distances"):
        cluster(adata, obsp="umap_connectivities")
    with pytest.raises(ValueError, match="precomputed"):
        cluster(adata, obsp="distances", estimator=MeanShift(4.0))
