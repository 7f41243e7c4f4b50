"""Cluster the observations of an AnnData object, and write the labels to it as scanpy's functions do.

The package anndata is not imported: any object with `X`, `obs`, `obsm` and `uns` can be used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from modeseek.estimators import ModeSeek
from modeseek.estimators.base import BaseClusterer

__all__ = ["cluster"]


def cluster(
    adata: Any,
    *,
    use_rep: str = "X_pca",
    obsp: str | None = None,
    key_added: str = "modeseek",
    estimator: BaseClusterer | None = None,
    random_state: Any = 0,
) -> BaseClusterer:
    """Cluster the observations of an AnnData object and write the result to it.

    These entries are written:

    - ``adata.obs[key_added]``: the cluster of each observation, a categorical column; "-1" is noise.
    - ``adata.obs[key_added + "_confidence"]``: the membership of each observation in its cluster, `probabilities_`.
    - ``adata.uns[key_added]``: the class, its parameters, `use_rep` or `obsp`, and the message of the fit.

    Parameters
    ----------
    adata : AnnData
        The data.
    use_rep : str, default="X_pca"
        Entry of ``adata.obsm`` to cluster, or "X" for ``adata.X``.
    obsp : str, optional
        Entry of ``adata.obsp`` with distances between observations, from which clusters are computed instead of
        `use_rep`. ``scanpy.pp.neighbors`` writes the entry "distances". If you pass an `estimator`, it must have
        ``metric="precomputed"``.
    key_added : str, default="modeseek"
        Name of the entries that are written.
    estimator : estimator of this package, optional
        The estimator that is fitted. If None, ``ModeSeek(random_state=random_state)``.
    random_state : int, RandomState, Generator or None, default=0
        Seed of `ModeSeek`. Ignored if `estimator` is given.

    Returns
    -------
    estimator : object
        The fitted estimator.

    Examples
    --------
    >>> import pandas as pd
    >>> from types import SimpleNamespace
    >>> from sklearn.datasets import make_blobs
    >>> from modeseek import MeanShift
    >>> X, y = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=0)
    >>> adata = SimpleNamespace(X=X, obs=pd.DataFrame(index=range(60)), obsm={"X_pca": X}, uns={})
    >>> model = cluster(adata, estimator=MeanShift(4.0))
    >>> adata.obs["modeseek"].value_counts().to_dict()
    {'0': 30, '1': 30}
    """
    import pandas as pd  # a dependency of anndata

    metric = "euclidean" if obsp is None else "precomputed"
    model = ModeSeek(metric=metric, random_state=random_state) if estimator is None else estimator
    if obsp is not None and model.metric != "precomputed":
        raise ValueError(f'obsp={obsp!r} needs an estimator with metric="precomputed"; got {model.metric!r}.')
    if obsp is not None and obsp.endswith("connectivities"):
        raise ValueError(f"obsp={obsp!r} holds similarities: pass the distances, {obsp[:-14]}distances.")
    model.fit(_representation(adata, use_rep) if obsp is None else _entry(adata.obsp, "obsp", obsp, "pp.neighbors"))
    names = [str(label) for label in range(-1 if (model.labels_ < 0).any() else 0, model.n_clusters_)]
    adata.obs[key_added] = pd.Categorical(model.labels_.astype(str), categories=names)
    adata.obs[f"{key_added}_confidence"] = np.asarray(model.probabilities_)
    source = {"use_rep": use_rep} if obsp is None else {"obsp": obsp}
    # files of AnnData hold numbers and strings, but not None or objects
    settings = {name: value for name, value in model.get_params().items() if isinstance(value, str | int | float)}
    adata.uns[key_added] = {
        "params": {"estimator": type(model).__name__, **source, **settings},
        "message": model.result_.message,
    }
    return model


def _representation(adata: Any, use_rep: str) -> Any:
    if use_rep == "X":
        return adata.X.toarray() if hasattr(adata.X, "toarray") else adata.X
    return _entry(adata.obsm, "obsm", use_rep, 'pp.pca, or pass use_rep="X"')


def _entry(entries: Any, name: str, key: str, remedy: str) -> Any:
    if key not in entries:
        raise KeyError(f"{key!r} is not in adata.{name} ({', '.join(entries) or 'empty'}). Run scanpy.{remedy}.")
    return entries[key]
