"""Measure what each part of ModeSeek is worth, on every set of a folder, all alike.

Run it as

    python benchmarks/ablations.py --data DIR [--out FILE.csv] [--candidates FILE.jsonl] [--seeds 3] [--only PATTERN]
                                   [--variants A,B] [--report docs/quality.md]
    python benchmarks/ablations.py --table FILE.csv [--candidates FILE.jsonl] [--report docs/quality.md]

DIR is as in `quality.py`. `ablation_variants.py` has the variants, each with one part changed. Rows are added
to --out as they come, and a run with the same --out continues where the last one stopped.

--candidates keeps all candidates, one line for each set and seed. `split_half.py` uses them to choose settings of the
selection on half of the sets and score them on the other half.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ablation_tables import tables
from ablation_variants import VARIANTS, Variant
from common import ROOT, machine, read_csv, replace_section
from labelled import BY_NAME, LabelledSet, measure
from quality import Job, append, as_text, chosen_sets, line_of, mend, rows_so_far
from split_half import Record, add_record, candidates_of, read_records

Row = dict[str, str]


def chosen_variants(names: str | None) -> list[Variant]:
    """Return the variants of a list with commas, all by default."""
    if names is None:
        return VARIANTS
    by_name = {variant.name.lower(): variant for variant in VARIANTS}
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name.lower() not in by_name:
            raise SystemExit(f"no variant is called {name!r}; there are {', '.join(v.name for v in VARIANTS)}")
    return [by_name[name.lower()] for name in wanted]


def measured(
    data: LabelledSet, variants: Sequence[Variant], seed: int, done: set[tuple[str, str, str]]
) -> Iterator[Row]:
    """Measure those variants of a set and seed that are not done, and yield rows as they come."""
    for variant in variants:
        if Job(data, variant.name, seed).key in done:
            continue
        BY_NAME[variant.name] = variant.method
        yield as_text({**measure(data, variant.name, seed), "machine": machine()})


def run(
    sets: Sequence[LabelledSet], variants: Sequence[Variant], seeds: int, out: Path | None, candidates: Path | None
) -> tuple[list[Row], list[Record]]:
    """Measure what the files do not have yet; return what they have then."""
    if candidates:
        mend(candidates)
    rows, records = rows_so_far(out), read_records(candidates)
    done = {(row["set"], row["method"], row["seed"]) for row in rows}
    kept = {(record["set"], record["seed"]) for record in records}
    # seeds outermost: an interrupted run has whole seeds
    for seed in range(seeds):
        for count, data in enumerate(sets, 1):
            for row in measured(data, variants, seed, done):
                rows.append(row)
                if out:
                    append(out, row)
                print(f"[{count}/{len(sets)}] {line_of(row)}", file=sys.stderr, flush=True)
            if candidates and (data.name, seed) not in kept:
                records.append(candidates_of(data, seed))
                add_record(candidates, records[-1])
    return rows, records


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with manifest.json and NAME.npz files")
    parser.add_argument("--out", type=Path, help="CSV file that rows are added to as they come")
    parser.add_argument("--candidates", type=Path, help="file of proposals, added to as they come: for split halves")
    parser.add_argument("--seeds", type=int, default=3, help="how many: 0, 1, ... (default 3)")
    parser.add_argument("--only", metavar="PATTERN", help="sets whose name has this in it")
    parser.add_argument("--variants", metavar="A,B", help="some of: " + ", ".join(v.name for v in VARIANTS))
    parser.add_argument("--table", type=Path, metavar="CSV", help="measure nothing: print the tables of this file")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    arguments = parser.parse_args(given)
    if (arguments.data is None) == (arguments.table is None):
        parser.error("give --data to measure, or --table to show what a file has")
    if arguments.seeds < 1:
        parser.error("--seeds must be 1 or more")
    if arguments.table:
        if not arguments.table.is_file():
            raise SystemExit(f"there is no file {arguments.table}")
        rows, records = read_csv(arguments.table), read_records(arguments.candidates)
    else:
        variants, sets = chosen_variants(arguments.variants), chosen_sets(arguments.data, arguments.only)
        rows, records = run(sets, variants, arguments.seeds, arguments.out, arguments.candidates)
    if not rows:
        raise SystemExit("no rows: nothing to show")
    text = tables(rows, records)
    print(text)
    if arguments.report:
        replace_section(ROOT / arguments.report, "ablations", text)


if __name__ == "__main__":
    main()
