"""The report of the paper's experiments: what was found, every figure with its tables and config, claim by claim."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from typing import NamedTuple

from modeseek import __version__
from modeseek.paper.claims import CLAIMS, Findings, judge, reading_name
from modeseek.paper.experiment import Experiment
from modeseek.paper.journal import config_of
from modeseek.paper.rows import Rows
from modeseek.report import Block, Bullets, Details, Heading, ImageBlock, Page, Paragraph, TableBlock, Verdict

__all__ = ["RunInfo", "claims_page", "report_page", "section_of"]

TITLE = "The paper's experiments, run again"
LEAD = (
    "The experiments of Trigano, Sepulcre and Lapidot, *Doubly Stochastic Mean-Shift Clustering*, run by "
    "`modeseek`. The paper's figures show what its authors measured with code that is not public; here is what this"
    " code measures, with what holds and what does not."
)
READING = (
    "**Two bandwidths carry one name.** The paper prints a law that we call *walk*; its theorems are about it. Its "
    "experiments describe another, with a limiting bandwidth h_inf and draws that cover the whole range. Our "
    "reading of that is *shrinking*: h is uniform between h_inf - nu_k (h_inf - h_min) and h_inf + nu_k (h_max - "
    "h_inf). Every figure shows both.",
    "**Two widths too.** The paper's 0.65 is a covariance in its table and a standard deviation in the caption. The"
    " comparisons run both.",
    "**Intervals** are 90 % intervals of the mean over the runs, by Student's t: mean -+ t s / sqrt(runs). The "
    "paper does not say how it made its own.",
    "**Pairs.** In a run, all lines see the same data and the same seed. Differences are taken run by run.",
    "**Stopping.** MS climbs until a shift is at most 10^-6. BMS, SMS and DSMS stop when no later update can change"
    " their partition, or on small shifts where their bandwidth has come to rest, or at 10^7 updates. Each section "
    "says how its runs ended.",
    "**K** is sqrt(ACP ALP). The paper averages over clusters without weights, so that a lone point counts as much "
    "as a whole cluster; the older definition weights by size. Both are shown, with ARI and the number of clusters.",
    "**The kernel.** The paper does not name the one of its experiments. Ours is the biweight, which its theorems "
    "cover.",
)


class RunInfo(NamedTuple):
    """How a report was made.

    Attributes
    ----------
    figures : tuple of str
        The experiments that were asked for; none means all.
    runs, seed : int
    quick : bool
    minutes : float or None
        What the jobs took, if they were not interrupted.
    """

    figures: tuple[str, ...]
    runs: int
    seed: int
    quick: bool
    minutes: float | None


def report_page(results: Mapping[Experiment, Rows], made: RunInfo) -> Page:
    """Return the report: what was found, every figure with its tables and config, and claim by claim."""
    found = _settled(results)
    sections = [block for experiment, rows in results.items() for block in section_of(experiment, rows)]
    blocks = [*_findings(found, made), *_reading(), *sections, *_claim_by_claim(found), *_origin(made)]
    return Page(TITLE, LEAD, tuple(blocks))


def claims_page(results: Mapping[Experiment, Rows], made: RunInfo) -> Page:
    """Return the short page: claim by claim, with the main picture of each experiment."""
    found = _settled(results)
    pictures: list[Block] = [Heading("The main figures")]
    for experiment in results:
        stem, caption = next(iter(experiment.captions.items()))
        pictures += [Heading(experiment.title, 3), ImageBlock(f"figures/{stem}", caption, caption)]
    blocks = [*_findings(found, made), *_claim_by_claim(found), *_reading(), *pictures, *_origin(made)]
    return Page(TITLE, LEAD, tuple(blocks))


def section_of(experiment: Experiment, rows: Rows) -> list[Block]:
    """Return what the report says of one experiment."""
    config = json.dumps(config_of(experiment), indent=2)
    return [
        Heading(experiment.title),
        *(Paragraph(text) for text in experiment.text.split("\n\n")),
        *(ImageBlock(f"figures/{stem}", caption, caption) for stem, caption in experiment.captions.items()),
        *experiment.tables(rows),
        Details(f"Config of `{experiment.name}`; its {len(rows):,} rows are in data/{experiment.name}.csv", config),
    ]


def _settled(results: Mapping[Experiment, Rows]) -> list[Findings]:
    measured = {experiment.name: rows for experiment, rows in results.items()}
    return [each for each in (judge(claim, measured) for claim in CLAIMS) if each is not None]


def _reading() -> list[Block]:
    return [Heading("How to read the figures"), Bullets(READING)]


def _origin(made: RunInfo) -> list[Block]:
    return [Heading("How this page was made"), Paragraph(_provenance(made))]


def _findings(found: Sequence[Findings], made: RunInfo) -> list[Block]:
    if not found:
        return []
    body: list[list[str | Verdict]] = [
        [str(number), each.claim.text, Verdict(each.verdict, each.kind), each.under]
        for number, each in enumerate(found, start=1)
    ]
    counts = {kind: sum(each.kind == kind for each in found) for kind in ("good", "partly", "bad")}
    summary = (
        f"Of {len(found)} claims of the paper's experiments and theory, {counts['good']} hold under every reading of "
        f"what the paper leaves open, {counts['partly']} under some only, and {counts['bad']} under none. Each is "
        "tested by a rule that is stated below."
    )
    warning = (
        [Paragraph(f"**Only {made.runs} runs on a small grid (`--quick`): verdicts can change with more.**")]
        if made.quick
        else []
    )
    return [Heading("What was found"), *warning, Paragraph(summary), TableBlock(["", "claim", "verdict", ""], body)]


def _claim_by_claim(found: Sequence[Findings]) -> list[Block]:
    blocks: list[Block] = [Heading("Claim by claim")] if found else []
    for number, each in enumerate(found, start=1):
        blocks += [
            Heading(f"{number}. {each.claim.text}", 3),
            Paragraph(f"**{_sentence(each)}** In the paper: {each.claim.where}. *Test:* {each.claim.test}"),
            Bullets(
                tuple(
                    f"{reading_name(reading)}: {'yes' if finding.holds else 'no'}; {finding.figures}."
                    for reading, finding in each.found
                )
            ),
        ]
    return blocks


def _sentence(found: Findings) -> str:
    text = f"{found.verdict} {found.under}".strip()
    return f"{text[:1].upper()}{text[1:]}."


def _provenance(made: RunInfo) -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    words = ["modeseek paper", *made.figures, f"--runs {made.runs} --seed {made.seed}", *["--quick"] * made.quick]
    took = "" if made.minutes is None else f"; the jobs took {made.minutes:.1f} minutes"
    return (
        f"By `{' '.join(words)}`, modeseek {__version__}, Python {platform.python_version()}, {libraries}, on "
        f"{os.cpu_count()} cores ({platform.machine()}) on {date.today():%d %B %Y}{took}. "
        "The same seed gives the same rows, byte for byte, with any number of cores."
    )
