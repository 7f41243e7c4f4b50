"""The section on how the clusters were chosen (ModeSeek) or how the run ended (mean shifts)."""

import numpy as np

from modeseek._common.text import NameSetting, counted
from modeseek.estimators import ModeSeek
from modeseek.estimators.alternatives import listed_alternatives
from modeseek.estimators.result import FitResult
from modeseek.report.blocks import Block, Heading, Paragraph, TableBlock, TableCell, Verdict
from modeseek.report.markdown_text import PlainText
from modeseek.report.report_data import ReportData

RUN_CAPTION = (
    "Certified: a proof shows that no later update can change the clusters. Diameter: the largest distance between two "
    "points of one cluster at the end of the run. Gap: the smallest distance between two clusters. Bandwidths, "
    "diameter and gap are in units of the data as clustered."
)

EXPECTED_AGREEMENT = (
    "Expected agreement: adjusted Rand index with the true clusters, as predicted by a model; 1 is the maximum."
)
ONE_CLUSTER = "To see the best partition into two or more clusters, set {min_clusters}."
FEWER_COLUMNS = " Fewer columns ({columns}) may also show structure."


def method_section(data: ReportData) -> list[Block]:
    """Return the section; it is empty for estimators of other libraries."""
    if data.result is None:
        return []
    if isinstance(data.estimator, ModeSeek):
        return _choice(data.estimator, data.result, data.name_setting)
    return _run(data.result)


def _choice(model: ModeSeek, result: FitResult, name_setting: NameSetting) -> list[Block]:
    message = PlainText(f"{result.algorithm}: {result.message}.")
    blocks: list[Block] = [Heading("How the clusters were chosen"), Paragraph(message)]
    if result.n_clusters == 1 and result.n_rows > 1:
        text = ONE_CLUSTER + (FEWER_COLUMNS if result.centers.shape[1] > 1 else "")
        named = {"min_clusters": name_setting("min_clusters", 2), "columns": name_setting("columns", None)}
        blocks.append(Paragraph(text.format(**named)))
    if not result.alternatives:
        return blocks
    if result.n_clusters > 1:
        text = (
            f"The stability of the partition is **{result.stability:.2f}**. This is its mean agreement (adjusted Rand "
            "index) with partitions of random subsamples of the rows: 1 for identical partitions, 0 for unrelated ones."
        )
        blocks.append(Paragraph(text))
    others = listed_alternatives(model)
    if others:
        rows = [
            [counted(other.n_clusters, "cluster"), f"{other.expected_agreement:.2f}", other.proposer]
            for other in others
        ]
        caption = f"Other partitions that were considered, the best first. {EXPECTED_AGREEMENT}"
        if model.n_clusters is None:
            caption += f" Set {name_setting('n_clusters', None)} to get another number of clusters."
        blocks.append(TableBlock(["alternative", "expected agreement", "proposed by"], rows, caption))
    return blocks


def _run(result: FitResult) -> list[Block]:
    converged = Verdict("converged", "good") if result.outcome.converged else Verdict("stopped early", "bad")
    rows: list[list[TableCell]] = [["run", converged], ["reason", result.outcome.value]]
    if result.partition is not None:
        rows.append(["certified", "yes" if result.partition.certified else "no"])
    rows += [[f"`{name}`", f"{h:.4g}"] for name, h in result.settings.bandwidths.items()]
    rows += [["updates", f"{result.n_updates:,}"], ["engine", str(result.settings.engine)]]
    if result.n_chains > 1:
        rows += [["chains", f"{result.n_chains}"], ["stability", f"{result.stability:.2f}"]]
    if result.partition is not None:
        lengths = (("diameter", result.partition.diameter), ("gap", result.partition.gap))
        rows += [[name, f"{length:.3g}"] for name, length in lengths if np.isfinite(length)]
    return [Heading("How the run ended"), TableBlock(["", ""], rows, RUN_CAPTION, numeric=False)]
