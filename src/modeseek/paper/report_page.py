"""The output of the paper's experiments: rows, figures, and a report with the test of each claim."""

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from joblib import Parallel, delayed

from modeseek import __version__
from modeseek._storage.atomic import atomic_path
from modeseek.paper.claims import BEYOND, CLAIMS, Claim, Finding, Findings, judge, reading_name
from modeseek.paper.experiment import Experiment, report_texts
from modeseek.paper.job_list import config_json
from modeseek.paper.rows import Rows
from modeseek.plots import save_figure
from modeseek.report import (
    Block,
    Bullets,
    Details,
    Heading,
    ImageBlock,
    Page,
    Paragraph,
    PlainText,
    TableBlock,
    Verdict,
)

FIGURE_SUFFIXES = (".png", ".svg")


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


def write_results(folder: Path, results: Mapping[Experiment, Rows], *, n_jobs: int | None = None) -> None:
    """Write the rows of each experiment as CSV, and its figures as PNG and SVG."""
    for name in ("data", "figures"):
        (folder / name).mkdir(exist_ok=True)
    for experiment, rows in results.items():
        with atomic_path(folder / "data" / f"{experiment.name}.csv") as part:
            part.write_text(rows.csv(), encoding="utf-8", newline="")
    # local processes even if jobs run on Dask, because they write local files
    Parallel(n_jobs, backend="loky")(delayed(_draw)(folder, experiment, rows) for experiment, rows in results.items())


def _draw(folder: Path, experiment: Experiment, rows: Rows) -> None:
    for stem, figure in experiment.draw(rows).items():
        for suffix in FIGURE_SUFFIXES:
            save_figure(folder / "figures" / f"{stem}{suffix}", figure)


def report_page(results: Mapping[Experiment, Rows], made: RunInfo) -> Page:
    """Return the full report: findings, every figure with its tables and config, and the test of each claim."""
    sections = [block for experiment, rows in results.items() for block in section_of(experiment, rows)]
    return _page(*_findings(results, made), *_notes("reading"), *sections, *_tests(results), *_provenance(made))


def claims_page(results: Mapping[Experiment, Rows], made: RunInfo) -> Page:
    """Return the short page: the test of each claim, and the main figures and tables of each experiment."""
    main_figures: list[Block] = [Heading("The main figures")]
    for experiment, rows in results.items():
        captions = experiment.captions
        stems = {_without_spread(next(iter(captions))), *experiment.also_shown}
        main_figures.append(Heading(experiment.title, 3))
        main_figures += [
            ImageBlock(f"figures/{each}", caption, caption)
            for each, caption in captions.items()
            if _without_spread(each) in stems
        ]
        if experiment.tables_shown:
            main_figures += experiment.tables(rows)
    return _page(*_findings(results, made), *_tests(results), *_notes("reading"), *main_figures, *_provenance(made))


def _without_spread(stem: str) -> str:
    return stem.removesuffix("-std").removesuffix("-variance")


def _page(*blocks: Block) -> Page:
    return Page(report_texts()["report"]["title"], report_texts()["report"]["lead"], blocks)


def section_of(experiment: Experiment, rows: Rows) -> list[Block]:
    """Return the section of one experiment."""
    config = config_json(experiment, indent=2)
    return [
        Heading(experiment.title),
        *(Paragraph(text) for text in experiment.text.split("\n\n")),
        *(ImageBlock(f"figures/{stem}", caption, caption) for stem, caption in experiment.captions.items()),
        *experiment.tables(rows),
        Details(f"Config of `{experiment.name}`; its {len(rows):,} rows are in data/{experiment.name}.csv", config),
    ]


def _judged(results: Mapping[Experiment, Rows], claims: Sequence[Claim] = CLAIMS) -> list[Findings]:
    measured = {experiment.name: rows for experiment, rows in results.items()}
    return [each for each in (judge(claim, measured) for claim in claims) if each is not None]


def _notes(name: str) -> list[Block]:
    notes = report_texts()["report"][name]
    return [Heading(notes["title"]), Bullets(tuple(notes["points"]))]


def _findings(results: Mapping[Experiment, Rows], made: RunInfo) -> list[Block]:
    found = _judged(results)
    if not found:
        return []
    body: list[list[str | Verdict]] = [
        [str(number), PlainText(each.claim.title), each.claim.section.split(",")[0], verdict, each.under]
        for number, each in enumerate(found, start=1)
        for verdict in [Verdict(each.verdict, each.kind)]
    ]
    counts = {kind: sum(each.kind == kind for each in found) for kind in ("good", "partly", "bad")}
    undecided = sum(each.verdict == "undecided" for each in found)
    summary = (
        f"Of {len(found)} claims of the paper's experiments and theory, {counts['good']} hold under every reading of "
        f"what the paper leaves open, {counts['partly']} under some only, {counts['bad'] - undecided} under none, and "
        f"{undecided} {'is' if undecided == 1 else 'are'} undecided. Every claim is a quotation; the rule that tests "
        "it is stated below."
    )
    warning = Paragraph(f"**Only {made.runs} runs on a small grid (`--quick`): verdicts may change with more runs.**")
    table = TableBlock(["", "claim", "section", "verdict", ""], body)
    return [*_notes("choices"), Heading("Findings"), *[warning] * made.quick, Paragraph(summary), table]


def _tests(results: Mapping[Experiment, Rows]) -> list[Block]:
    """Return a section for each claim of the paper, then one for each further statement that was tested."""
    found, beyond = _judged(results), _judged(results, BEYOND)
    blocks: list[Block] = [Heading("Claim by claim")] if found else []
    for number, each in enumerate(found, start=1):
        blocks += _test(each, f"{number}. {each.claim.title}", f" Section {each.claim.section}.")
    if beyond:
        blocks.append(Heading("Beyond the paper"))
    for each in beyond:
        blocks += _test(each, each.claim.title, "")
    return blocks


def _test(found: Findings, title: str, section: str) -> list[Block]:
    return [
        # subscripts such as L_{h_k} are no markup
        Heading(PlainText(title), 3),
        Paragraph(f"**{_sentence(found)}**{section} *Test:* {found.claim.test}"),
        Bullets(tuple(f"{reading_name(reading)}: {_answer(finding)}" for reading, finding in found.found)),
    ]


def _answer(finding: Finding) -> str:
    answer = "yes" if finding.holds else "undecided" if finding.undecided else "no"
    return f"{answer}; {finding.figures}."


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
