"""The HTML report of a clustering: plot, clusters, confidence, method, settings, and code that repeats the fit."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from modeseek._common.text import NameSetting, counted, python_setting
from modeseek._common.validation import check_integer
from modeseek._storage.atomic import atomic_path, check_target
from modeseek.estimators.table import DOUBTFUL
from modeseek.report.blocks import Block, Bullets, Heading, Page
from modeseek.report.markdown_text import PlainText
from modeseek.report.python_code import fit_code
from modeseek.report.rendering import to_html
from modeseek.report.report_data import ReportData, check_extra, check_feature_names, check_row_names, clustered_rows
from modeseek.report.sections.clusters import clusters_section
from modeseek.report.sections.confidence import confidence_section
from modeseek.report.sections.method import method_section
from modeseek.report.sections.scatter import scatter_section
from modeseek.report.sections.settings import code_section, settings_section
from modeseek.report.sections.truth import truth_section

REPORT_SUFFIXES = (".html",)


def write_report(
    path: str | os.PathLike[str],
    estimator: BaseEstimator,
    X: ArrayLike,
    *,
    original: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    row_names: Sequence[Any] | None = None,
    extra: Mapping[str, Sequence[Any]] | None = None,
    title: str | None = None,
    data_info: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    code: str | None = None,
    comparison: Any = None,
    first_row: int = 0,
    name_setting: NameSetting = python_setting,
) -> None:
    """Write a report on a clustering: a single HTML file that needs no network.

    The report has an interactive scatter plot, a table of the clusters with their distinguishing features, the
    confidence of the rows, a list of doubtful rows, how the clusters were chosen or how the run ended, the settings,
    and Python code that repeats the fit. The same estimator and data give the same bytes. See docs/report.md.

    Parameters
    ----------
    path : str or path-like
        The file to write, with the suffix `.html`.
    estimator : fitted clusterer
        An estimator of this library, or any other scikit-learn clusterer with `labels_`, where -1 is noise. Only the
        labels and the parameters of other clusterers are used.
    X : array-like of shape (n, d)
        The rows that the estimator was fitted on.
    original : array-like of shape (n, d), optional
        The same rows in their original units, if X is scaled. The report shows these.
    feature_names : sequence of str, optional
        Names of the columns. The default is the column names of a DataFrame.
    row_names : sequence, optional
        Names of the rows. The default is the index of a DataFrame, unless it is a range; otherwise rows are numbered.
    extra : dict of columns or pandas DataFrame, optional
        Columns that were not used for clustering. They are shown with each row, and counted in each cluster.
    title : str, optional
        The title. The default is the number of clusters.
    data_info : dict of str to str, optional
        Further lines for the settings section, such as the file name and the scaling.
    notes : sequence of str, optional
        Warnings and remarks.
    code : str, optional
        Python code that repeats the fit. The default is the code for `estimator.fit(X)`.
    comparison : TruthComparison, optional
        Comparison of the clusters with known groups.
    first_row : int, default=0
        Number of the first row, if rows are numbered.
    name_setting : callable, optional
        ``name_setting(parameter, value)`` returns the name of a setting in the texts of the report; `value` may be
        None. By default, settings are written as Python arguments, such as `n_chains=8`.

    Raises
    ------
    DataError
        If the file cannot be written.
    ValueError
        If shapes or lengths of the arguments do not match.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from modeseek import ModeSeek
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "report.html")
    >>> write_report(path, ModeSeek(random_state=0).fit(X), X, feature_names=["width", "height"])
    >>> "5 clusters in 300 rows" in path.read_text(encoding="utf-8")
    True
    """
    check_target(path, REPORT_SUFFIXES)
    rows, in_units = clustered_rows(estimator, X, original)
    named, (n, d) = X if original is None else original, rows.shape
    data = ReportData(
        estimator,
        rows,
        in_units,
        check_feature_names(feature_names, named, d),
        check_row_names(row_names, named, n),
        check_integer("first_row", first_row, low=0),
        check_extra(extra, n),
        name_setting,
    )
    blocks: list[Block] = [
        *scatter_section(data),
        *clusters_section(data),
        *confidence_section(data),
        *([] if comparison is None else truth_section(data, comparison)),
        *method_section(data),
        *settings_section(data, data_info or {}),
        *_notes(notes),
        *code_section(fit_code(estimator) if code is None else code),
    ]
    page = Page(PlainText(title or counted(data.table.n_clusters, "cluster")), _lead(data), blocks)
    # names from broken files may hold lone surrogates, which UTF-8 cannot encode
    html = to_html(page, ".").encode("utf-8", "replace")
    with atomic_path(path) as part:
        part.write_bytes(html)


def _notes(notes: Sequence[str]) -> list[Block]:
    return [Heading("Notes"), Bullets([*map(PlainText, notes)])] if notes else []


def _lead(data: ReportData) -> str:
    table, result = data.table, data.result
    summary = [table.headline]
    if table.doubtful is not None and table.n_clusters:
        summary.append(f"{counted(int(table.doubtful.sum()), 'row')} doubtful (confidence below {DOUBTFUL:g})")
    lead = [f"**{'; '.join(summary)}.**"]
    if result is not None and not result.outcome.converged:
        lead.append(f"The run did not converge ({result.outcome.value}); these are the clusters when it stopped.")
    elif result is not None and table.n_clusters == 1 and table.n_rows > 1:
        lead.append(f"{result.message[:1].upper()}{result.message[1:]}.")
    return "\n\n".join(lead)
