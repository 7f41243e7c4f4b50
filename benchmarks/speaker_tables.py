"""The tables of `speakers.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from scipy.stats import t as student

from common import table

Rows: TypeAlias = Sequence[dict[str, str]]


def figure(row: dict[str, str], name: str) -> float:
    """Return a figure of a row; a run that failed counts 0."""
    return float(row[name]) if row[name] else 0.0


def near(row: dict[str, str]) -> float:
    """Return whether the number of speakers is within 20 %."""
    return float(bool(row["found"]) and abs(int(row["found"]) - int(row["k"])) <= 0.2 * int(row["k"]))


def interval(values: Sequence[float]) -> str:
    """Return a mean with its 95 % interval (Student's t)."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return f"{mean:.2f}"
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean:.2f} ± {half:.2f}"


def means_by_set(rows: Rows, take: Callable[[dict[str, str]], float]) -> list[float]:
    """Return the mean of each set."""
    names = dict.fromkeys(row["set"] for row in rows)
    return [float(np.mean([take(row) for row in rows if row["set"] == name])) for name in names]


def of_sets(rows: Rows, order: Sequence[str]) -> str:
    """Return the tables of whole sets."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    lines, by_set = [], []
    for method in order:
        own = [row for row in rows if row["method"] == method]
        if not own:
            continue
        seeds = sorted({row["seed"] for row in own})
        spread = [np.mean([figure(row, "ari") for row in own if row["seed"] == seed]) for seed in seeds]
        hits = sum(share > 0.5 for share in means_by_set(own, near))
        means = [np.mean(means_by_set(own, lambda row, c=c: figure(row, c))) for c in ("k_paper", "k_weighted")]
        span = f"{min(spread):.2f} to {max(spread):.2f}" if len(seeds) > 1 else "one seed"
        ari = np.mean(means_by_set(own, lambda row: figure(row, "ari")))
        lines.append([method, f"{ari:.3f}", span, *(f"{mean:.2f}" for mean in means), f"{hits} of {len(names)}"])
        cells = []
        for name in names:
            mine = [row for row in own if row["set"] == name]
            found = "/".join(dict.fromkeys(row["found"] or "-" for row in mine))
            cells.append(f"{np.mean([figure(row, 'ari') for row in mine]):.2f} ({found})")
        by_set.append([method, *cells])
    head = ["method", "mean ARI", "over seeds", "K", "K, by size", "number within 20 %"]
    truth = [next(row["k"] for row in rows if row["set"] == name) for name in names]
    sets = [f"{name.removeprefix('spk_')} ({k})" for name, k in zip(names, truth, strict=True)]
    return f"{table(head, lines)}\n\nARI of each set (speakers found; at the head, the true number):\n\n" + table(
        ["method", *sets], by_set
    )


def of_few(rows: Rows, order: Sequence[str]) -> str:
    """Return the table of the paper's case: mean ARI with intervals over draws."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    lines = []
    for method in order:
        own = [row for row in rows if row["method"] == method]
        if own:
            cells = [interval([figure(row, "ari") for row in own if row["set"] == name]) for name in names]
            hits = f"{np.mean([near(row) for row in own]):.0%}"
            lines.append([method, interval([figure(row, "ari") for row in own]), hits, *cells])
    sets = [name.removeprefix("spk_") for name in names]
    return table(["method", "all", "number within 20 %", *sets], lines)


def of_one(rows: Rows, order: Sequence[str]) -> str:
    """Return the table of single speakers: the share found as one cluster."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    lines = []
    for method in order:
        own = [row for row in rows if row["method"] == method]
        if own:
            whole = [[row["found"] == "1" for row in own if row["set"] == name] for name in names]
            lines.append([method, f"{sum(map(sum, whole))} of {len(own)}", *(f"{sum(w)} of {len(w)}" for w in whole)])
    return table(["method", "all", *(name.removeprefix("spk_") for name in names)], lines)


def of_meeting(rows: Rows) -> str:
    """Return the error rates on the meeting."""
    lines = [[row["method"], *(f"{figure(row, c):.1%}" for c in ("ari", "ami")), row["found"]] for row in rows]
    return table(["method", "overlap counted", "overlap left out", "speakers found (4)"], lines)


def targets(rows: Rows, method: str = "diarize") -> str:
    """Return whether the targets are met."""
    sets, few, one = (
        [r for r in rows if r["part"] == part and r["method"] == method] for part in ("sets", "few", "one")
    )
    ari = float(np.mean(means_by_set(sets, lambda row: figure(row, "ari"))))
    hits, names = sum(share > 0.5 for share in means_by_set(sets, near)), len({row["set"] for row in sets})
    whole = float(np.mean([row["found"] == "1" for row in one]))
    case = float(np.mean([figure(row, "ari") for row in few]))
    lines = [
        ["mean ARI of whole sets", "0.86", f"{ari:.3f}", ari >= 0.86],
        ["number of speakers within 20 %", "5 of 6", f"{hits} of {names}", hits >= 5],
        ["one speaker stays whole", "90 %", f"{whole:.0%} of {len(one)}", whole >= 0.9],
        ["4 to 20 speakers, 3 to 20 utterances", "0.85", f"{case:.2f}", case >= 0.85],
    ]
    return table(
        ["target", "at least", "measured", ""], [[*line[:3], "met" if line[3] else "not met"] for line in lines]
    )


def tables(rows: Rows, order: Sequence[str]) -> str:
    """Return all tables of the page."""
    sets, draws = ([row for row in rows if row["part"] == part] for part in ("sets", "few"))
    count = len({row["draw"] for row in draws})
    parts = [f"*{rows[0]['machine']}*", "### Whole sets", of_sets(sets, order)] if sets else []
    if draws:
        parts += [
            "### Few utterances, uneven speakers",
            f"Mean ARI and its 95 % interval over {count} draws from each set (4 to 20 speakers, 3 to 20 rows each).",
            of_few(draws, order),
        ]
    if one := [row for row in rows if row["part"] == "one"]:
        parts += [
            "### One speaker alone",
            "How many of the speakers with ten rows or more, each alone, come out as one speaker.",
            of_one(one, order),
        ]
    if meeting := [row for row in rows if row["part"] == "der"]:
        parts += [
            "### Diarization error rate on the meeting",
            of_meeting(meeting),
            "### Targets",
            targets(rows),
        ]
    return "\n\n".join(parts)
