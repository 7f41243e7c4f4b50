"""The tables of `quality.py`, from its rows."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from common import number, table
from labelled import METHODS

Row = dict[str, str]


def tables(rows: Sequence[Row]) -> str:
    """Return machine, seeds and the tables, as Markdown."""
    methods = methods_of(rows)
    absent = [method.name for method in METHODS if method.name not in methods]
    kept = [row for row in rows if row["method"] in methods]
    seeds = sorted({int(row["seed"]) for row in kept})
    lines = [f"- {stated}" for stated in dict.fromkeys(row["machine"] for row in kept)]
    lines.append(f"- sets: {_count(kept)}; seeds: {', '.join(map(str, seeds))}")
    if absent:
        lines.append(f"- not measured: {', '.join(absent)}")
    lines += _gaps(kept, methods)
    parts = [
        ("Mean ARI by kind of data", by_kind(kept, methods)),
        ("All measures", overall(kept, methods)),
        ("Each set: ARI (clusters found + points left as noise)", by_set(kept, methods)),
    ]
    if errors := [row for row in kept if row["error"]]:
        cells = ([row["set"], _head(row["method"]), row["seed"], row["error"].replace("|", "/")] for row in errors)
        parts.append(("Errors", table(["set", "method", "seed", "error"], cells, left=4)))
    return "\n".join(lines) + "".join(f"\n\n### {title}\n\n{text}" for title, text in parts)


def methods_of(rows: Sequence[Row]) -> list[str]:
    """Return the methods that rows are about, in their order."""
    present = {row["method"] for row in rows}
    return [method.name for method in METHODS if method.name in present]


def by_kind(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """Return mean ARI, a line for each kind of data and one for all sets; every set has the same weight."""
    lines = []
    for kind in sorted({row["kind"] for row in rows}):
        mine = [row for row in rows if row["kind"] == kind]
        lines.append([kind, _count(mine), *(_shown(_over_sets(_of(mine, name), "ari")) for name in methods)])
    means = [f"**{_shown(_over_sets(_of(rows, name), 'ari'))}**" for name in methods]
    lines.append(["**all**", _count(rows), *means])
    return table(["kind", "sets", *map(_head, methods)], lines)


def overall(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """Return every measure, a line for each method."""
    lines = []
    for name in methods:
        mine = _of(rows, name)
        by_seed = [_over_sets([r for r in mine if r["seed"] == seed], "ari") for seed in _distinct(mine, "seed")]
        spread = f"{min(by_seed):.3f} to {max(by_seed):.3f}" if len(by_seed) > 1 else ""
        measures = [_shown(_over_sets(mine, key), 3) for key in ("ari", "ami", "k_paper", "k_weighted")]
        seconds = [float(row["seconds"]) for row in mine]
        times = [number(statistics.median(seconds)), number(max(seconds))]
        lines.append([_head(name), measures[0], spread, *measures[1:], *times, str(_errors(mine)), _endings(mine)])
    head = ["method", "ARI", "by seed", "AMI", "K", "K, weighted", "median s", "longest s", "errors", "how runs ended"]
    return table(head, lines)


def by_set(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """Return ARI and what was found, a line for each set."""
    lines = []
    for name in sorted(_distinct(rows, "set"), key=lambda name: (_first(rows, name)["kind"], name)):
        one = _first(rows, name)
        mine = [row for row in rows if row["set"] == name]
        lines.append([name, one["n"], one["d"], one["k"], *(_cell(_of(mine, method)) for method in methods)])
    return table(["set", "n", "d", "k", *map(_head, methods)], lines)


def _cell(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    good = [row for row in rows if not row["error"]]
    if not good:
        return "error"
    found, noise = (statistics.mean(int(row[key]) for row in good) for key in ("found", "noise"))
    failed = f", {_errors(rows)} failed" if len(good) < len(rows) else ""
    left_over = f" + {noise:.0f}" if noise else ""
    return f"{_shown(_over_sets(rows, 'ari'))} ({found:.0f}{left_over}{failed})"


def _over_sets(rows: Sequence[Row], measure: str) -> float | None:
    """Return the mean over sets of the mean over seeds; a run that failed counts 0."""
    if not rows:
        return None
    of_set: dict[str, list[float]] = {}
    for row in rows:
        of_set.setdefault(row["set"], []).append(0.0 if row["error"] else float(row[measure]))
    return statistics.mean(statistics.mean(values) for values in of_set.values())


def _gaps(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    """Return a note on methods that lack some of the sets."""
    wanted = {(row["set"], row["seed"]) for row in rows}
    lines = []
    for name in methods:
        missing = wanted - {(row["set"], row["seed"]) for row in _of(rows, name)}
        if missing:
            lines.append(f"- {name}: {len(missing)} of {len(wanted)} sets and seeds not run, means without them")
    return lines


def _endings(rows: Sequence[Row]) -> str:
    ends = [row["outcome"].replace("_", " ") for row in rows if row["outcome"]]
    return ", ".join(f"{ends.count(end)} {end}" for end in sorted(set(ends), key=lambda end: (-ends.count(end), end)))


def _shown(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: no "-0.00"


def _head(method: str) -> str:
    return next((known.head for known in METHODS if known.name == method), method)


def _of(rows: Sequence[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method]


def _first(rows: Sequence[Row], name: str) -> Row:
    return next(row for row in rows if row["set"] == name)


def _distinct(rows: Iterable[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _count(rows: Sequence[Row]) -> str:
    return str(len(_distinct(rows, "set")))


def _errors(rows: Sequence[Row]) -> int:
    return sum(bool(row["error"]) for row in rows)
