"""The tables of `ablations.py`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from ablation_variants import AS_IS, BASINS, VARIANTS
from common import number, table
from split_half import PRESENT, SPLITS, TRIED, Constants, Record, answers, by_set, split_half

Row = dict[str, str]
Key = tuple[str, str]
# least difference of a data set that counts as better or worse
MATTERS = 0.01


def tables(rows: Sequence[Row], records: Sequence[Record]) -> str:
    """Return the machine, the seeds and the tables as Markdown."""
    scores = {variant.name: _scores(rows, variant.name) for variant in VARIANTS}
    present = [variant for variant in VARIANTS if scores[variant.name]]
    lines = [f"- {stated}" for stated in dict.fromkeys(row["machine"] for row in rows)]
    lines.append(f"- sets: {len(_distinct(rows, 'set'))}; seeds: {', '.join(sorted(_distinct(rows, 'seed'), key=int))}")
    wanted = set().union(*scores.values())
    for variant in present:
        if missing := wanted - set(scores[variant.name]):
            lines.append(f"- {variant.name}: {len(missing)} of {len(wanted)} sets and seeds not run")
    failed = [row for row in rows if row["error"]]
    lines += [f"- {row['set']}, {row['method']}, seed {row['seed']} failed: {row['error']}" for row in failed]
    parts = [("Mean ARI with a part changed", by_variant(rows, [v.name for v in present if v.name not in BASINS]))]
    if any(scores[name] for name in BASINS):
        parts.append(("Basins of random chains in place of points", of_basins(rows)))
    if records:
        parts.append(("Constants chosen on half of the sets", of_halves(records)))
    says = "\n".join(f"- *{variant.name}*: {variant.says}." for variant in present)
    return "\n".join(lines) + f"\n\n{says}" + "".join(f"\n\n### {title}\n\n{text}" for title, text in parts)


def by_variant(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Return a table with one line for each variant: mean ARI, gain over "as is", and ARI by kind of data."""
    kinds = {row["set"]: row["kind"] for row in rows}
    base = _scores(rows, AS_IS)
    lines = []
    for name in names:
        mine = _scores(rows, name)
        by_kind = [_mean({key: v for key, v in mine.items() if kinds[key[0]] == kind}) for kind in _sorted(kinds)]
        cells = [f"{_mean(mine):.3f}", *_against(mine, base), *(f"{value:.2f}" for value in by_kind)]
        lines.append([name, *cells, number(_seconds(rows, name))])
    heads = [f"{kind} ({list(kinds.values()).count(kind)})" for kind in _sorted(kinds)]
    return table(["variant", "ARI", "gain", "better, worse", *heads, "median s"], lines)


def of_basins(rows: Sequence[Row]) -> str:
    """Return the same table for basins, over the data sets and seeds for which basins were computed."""
    made = [{(r["set"], r["seed"]) for r in rows if r["method"] == name and "basins" in r["note"]} for name in BASINS]
    common = set.intersection(*made)
    if not common:
        return "No basins were computed."
    mine = [row for row in rows if (row["set"], row["seed"]) in common]
    base = _scores(mine, AS_IS)
    lines = []
    for name in (AS_IS, *BASINS):
        share = [
            int(row["note"].split(";")[1].split()[0]) / int(row["n"])
            for row in mine
            if row["method"] == name and "basins" in row["note"]
        ]
        of_points = f"{statistics.median(share):.2f}" if share else "1"
        found = _scores(mine, name)
        cells = [f"{_mean(found):.3f}", *_against(found, base), of_points, number(_seconds(mine, name))]
        lines.append([name, *cells])
    sets = {name for name, _ in common}
    left = sorted({row["set"] for row in rows} - sets)
    said = f"Over the {len(sets)} sets with proposals by modes, seeds {', '.join(sorted({s for _, s in common}))}."
    if left:
        said += f" Without {', '.join(left)}."
    return f"{said}\n\n" + table(["variant", "ARI", "gain", "better, worse", "basins per point", "median s"], lines)


def of_halves(records: Sequence[Record]) -> str:
    """Return the scores of constants on data sets that they were not chosen on."""
    if len({record["set"] for record in records}) < 2:
        return "One set cannot be split into halves."
    found = split_half(records)
    lines = [
        ["present, all sets", f"{found.present:.3f}"],
        [f"best of {found.tried:,} on all sets", f"{found.best:.3f}"],
        ["best on a half, on that half", f"{found.chosen_on:.3f}"],
        ["best on a half, **on the other half**", f"**{found.scored_on:.3f}**"],
        ["the same, among equals those nearest to the present constants", f"{found.near:.3f}"],
    ]
    seeds = ", ".join(map(str, sorted({record["seed"] for record in records})))
    said = (
        f"{found.sets} sets, seeds {seeds}; {SPLITS} splits, both ways. On the other half, the constants chosen on one "
        f"half differ from the present ones by {found.scored_on - found.present:+.3f}, with a standard deviation of "
        f"{found.spread:.3f} over splits. If several constants are equally good on a half, their mean counts. Best on "
        f"all sets: {_listed(found.constants)}."
    )
    alone = "Mean ARI over all sets with one constant changed (bold: the present value):"
    return "\n\n".join([said, table(["constants", "mean ARI"], lines), alone, _one_at_a_time(records)])


def _one_at_a_time(records: Sequence[Record]) -> str:
    lines = []
    for name, values in zip(Constants._fields, TRIED, strict=True):
        scores = by_set(records, answers(records, [PRESENT._replace(**{name: value}) for value in values])).mean(axis=1)
        cells = [f"{value:g}: {score:.3f}" for value, score in zip(values, scores, strict=True)]
        here = values.index(getattr(PRESENT, name))
        cells[here] = f"**{cells[here]}**"
        lines.append([f"`{name}`", ", ".join(cells)])
    return table(["constant", "value: mean ARI"], lines, left=2)


def _listed(constants: Constants) -> str:
    return ", ".join(f"`{name}` {value:g}" for name, value in constants._asdict().items())


def _scores(rows: Sequence[Row], name: str) -> dict[Key, float]:
    """Return the ARI by data set and seed; a run that failed counts 0."""
    return {(r["set"], r["seed"]): 0.0 if r["error"] else float(r["ari"]) for r in rows if r["method"] == name}


def _over_seeds(scores: dict[Key, float]) -> dict[str, float]:
    by_set: dict[str, list[float]] = {}
    for (name, _), value in scores.items():
        by_set.setdefault(name, []).append(value)
    return {name: statistics.mean(values) for name, values in by_set.items()}


def _mean(scores: dict[Key, float]) -> float:
    return statistics.mean(_over_seeds(scores).values()) if scores else float("nan")


def _against(scores: dict[Key, float], base: dict[Key, float]) -> list[str]:
    """Return the mean gain over "as is" with its standard error, and the numbers of better and worse sets."""
    gains = np.array(list(_over_seeds({k: v - base[k] for k, v in scores.items() if k in base}).values()))
    if scores is base or not len(gains) or scores == base:
        return ["", ""]
    error = f" ± {gains.std(ddof=1) / np.sqrt(len(gains)):.3f}" if len(gains) > 1 else ""
    return [f"{gains.mean():+.3f}{error}", f"{(gains >= MATTERS).sum()}, {(gains <= -MATTERS).sum()}"]


def _seconds(rows: Sequence[Row], name: str) -> float:
    return statistics.median(float(row["seconds"]) for row in rows if row["method"] == name)


def _distinct(rows: Sequence[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _sorted(kinds: dict[str, str]) -> list[str]:
    return sorted(set(kinds.values()))
