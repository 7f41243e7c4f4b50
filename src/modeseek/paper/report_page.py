"""The report of the paper's experiments: findings, figures with tables and configs, and the test of each claim."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from typing import NamedTuple

from modeseek import __version__
from modeseek.paper.claims import CLAIMS, Finding, Findings, judge, reading_name
from modeseek.paper.experiment import Experiment, report_texts
from modeseek.paper.journal import config_of
from modeseek.paper.rows import Rows
from modeseek.report import Block, Bullets, Details, Heading, ImageBlock, Page, Paragraph, TableBlock, Verdict


class RunInfo(NamedTuple):
    """Settings and duration of the run behind a report.

    Attributes
    ----------
    figures : tuple of str
        Names of the selected experiments; empty means all.
    runs, seed : int
    quick : bool
    minutes : float or None
        Duration of the jobs; None if the run was resumed.
    """

    figures: tuple[str, ...]
    runs: int
    seed: int
    quick: bool
    minutes: float | None


def report_page(results: Mapping[Experiment, Rows], made: RunInfo) -> Page:
    """Return the full report: findings, every figure with its tables and config, and the test of each claim."""
    found = _judged(results)
    sections = [block for experiment, rows in results.items() for block in section_of(experiment, rows)]
    return _page(*_findings(found, made), *_reading(), *sections, *_claim_by_claim(found), *_provenance(made))


def claims_page(results: Mapping[Experiment, Rows], made: RunInfo) -> Page:
    """Return the short page: the test of each claim, and the main figure of each experiment."""
    found = _judged(results)
    main_figures: list[Block] = [Heading("The main figures")]
    for experiment in results:
        stem, caption = next(iter(experiment.captions.items()))
        main_figures += [Heading(experiment.title, 3), ImageBlock(f"figures/{stem}", caption, caption)]
    return _page(*_findings(found, made), *_claim_by_claim(found), *_reading(), *main_figures, *_provenance(made))


def _page(*blocks: Block) -> Page:
    return Page(report_texts()["report"]["title"], report_texts()["report"]["lead"], blocks)


def section_of(experiment: Experiment, rows: Rows) -> list[Block]:
    """Return the section of one experiment."""
    config = json.dumps(config_of(experiment), indent=2)
    return [
        Heading(experiment.title),
        *(Paragraph(text) for text in experiment.text.split("\n\n")),
        *(ImageBlock(f"figures/{stem}", caption, caption) for stem, caption in experiment.captions.items()),
        *experiment.tables(rows),
        Details(f"Config of `{experiment.name}`; its {len(rows):,} rows are in data/{experiment.name}.csv", config),
    ]


def _judged(results: Mapping[Experiment, Rows]) -> list[Findings]:
    measured = {experiment.name: rows for experiment, rows in results.items()}
    return [each for each in (judge(claim, measured) for claim in CLAIMS) if each is not None]


def _reading() -> list[Block]:
    return [Heading("How to read the figures"), Bullets(tuple(report_texts()["report"]["reading"]))]


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
        f"what the paper leaves open, {counts['partly']} under some only, and {counts['bad']} under none. The rule "
        "that tests each claim is stated below."
    )
    warning = Paragraph(f"**Only {made.runs} runs on a small grid (`--quick`): verdicts may change with more runs.**")
    table = TableBlock(["", "claim", "verdict", ""], body)
    return [Heading("Findings"), *[warning] * made.quick, Paragraph(summary), table]


def _claim_by_claim(found: Sequence[Findings]) -> list[Block]:
    blocks: list[Block] = [Heading("Claim by claim")] if found else []
    for number, each in enumerate(found, start=1):
        blocks += [
            Heading(f"{number}. {each.claim.text}", 3),
            Paragraph(f"**{_sentence(each)}** In the paper: {each.claim.where}. *Test:* {each.claim.test}"),
            Bullets(tuple(f"{reading_name(reading)}: {_answer(finding)}" for reading, finding in each.found)),
        ]
    return blocks


def _answer(finding: Finding) -> str:
    return f"{'yes' if finding.holds else 'no'}; {finding.figures}."


def _sentence(found: Findings) -> str:
    text = f"{found.verdict} {found.under}".strip()
    return f"{text[:1].upper()}{text[1:]}."


def _provenance(made: RunInfo) -> list[Block]:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    words = ["modeseek paper", *made.figures, f"--runs {made.runs} --seed {made.seed}", *["--quick"] * made.quick]
    took = "" if made.minutes is None else f"; the jobs took {made.minutes:.1f} minutes"
    text = (
        f"By `{' '.join(words)}`, modeseek {__version__}, Python {platform.python_version()}, {libraries}, on "
        f"{os.cpu_count()} cores ({platform.machine()}) on {date.today():%d %B %Y}{took}. "
        "The same seed gives the same rows, byte for byte, with any number of cores."
    )
    return [Heading("How this page was made"), Paragraph(text)]
