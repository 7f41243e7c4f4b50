"""How the clusters were chosen, or how the run ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from modeseek.estimators.alternatives import nearly_chosen
from modeseek.report.blocks import Block, Heading, Paragraph, TableBlock, TableCell, Verdict
from modeseek.report.inline import PlainText

__all__ = ["ending", "unfinished"]

BANDWIDTHS = ("h_min", "h_inf", "h_max", "bandwidth")


def ending(model: Any) -> list[Block]:
    """Return what a page says about how a fitted model came to its clusters; nothing where the model does not tell."""
    if hasattr(model, "alternatives_"):
        return _choice(model)
    return _run(model) if hasattr(model, "outcome_") else []


def unfinished(model: Any) -> str:
    """Return how a run ended that did not end by itself; nothing of any other."""
    outcome = getattr(model, "outcome_", None)
    return "" if outcome is None or outcome.converged else str(outcome.value)


def _choice(model: Any) -> list[Block]:
    blocks: list[Block] = [
        Heading("How they were chosen"),
        Paragraph(PlainText(f"{type(model).__name__}: {model.message_}.")),
    ]
    if not model.alternatives_:
        return blocks
    if model.n_clusters_ > 1:
        blocks.append(_whole(model.stability_))
    nearly = nearly_chosen(model)
    if nearly:
        rows = [[_count(each.n_clusters), f"{each.stability:.2f}", each.proposer] for each in nearly]
        wish = (
            " `n_clusters`, in the command `--n-clusters`, asks for another number." if model.n_clusters is None else ""
        )
        caption = f"Other partitions that were looked at, the best first.{wish}"
        blocks.append(TableBlock(["nearly chosen", "stability", "by"], rows, caption))
    return blocks


def _whole(stability: float) -> Paragraph:
    return Paragraph(
        f"The stability of the whole is **{stability:.2f}**: the mean agreement (adjusted Rand index) with the "
        "partitions of the same data when rows are taken away at random. 1 is the same every time, "
        "0 is what chance gives."
    )


def _count(n_clusters: int) -> str:
    return "1 cluster" if n_clusters == 1 else f"{n_clusters:,} clusters"


def _run(model: Any) -> list[Block]:
    outcome, part = model.outcome_, model.partition_
    by_itself = Verdict("ended by itself", "good") if outcome.converged else Verdict("stopped early", "bad")
    rows: list[list[TableCell]] = [["the run", by_itself], ["why", outcome.value]]
    rows.append(["certified", "yes" if part.certified else "no"])
    for name in BANDWIDTHS:
        h = getattr(model, f"{name}_", None)
        if h is not None:
            rows.append([f"`{name}`", f"{h:.4g}"])
    rows += [["updates", f"{model.n_updates_:,}"], ["engine", str(model.engine_)]]
    if getattr(model, "chain_labels_", None) is not None:
        rows += [["chains", f"{len(model.chain_labels_)}"], ["stability", f"{model.stability_:.2f}"]]
    for name, value in (("diameter", part.diameter), ("gap", part.gap)):
        if np.isfinite(value):
            rows.append([name, f"{value:.3g}"])
    caption = (
        "Certified: it is proven that no later update can change the clusters. Bandwidths and lengths are in units of "
        "the data as clustered. Diameter: how wide the widest cluster is at the end. Gap: how far the nearest two lie "
        "apart."
    )
    return [Heading("How the run ended"), TableBlock(["", ""], rows, caption, numeric=False)]
