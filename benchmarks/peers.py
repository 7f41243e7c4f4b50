"""Compare with other clustering libraries: time, memory and ARI on ten Gaussian blobs.

Run it as

    pip install ".[bench]"
    python benchmarks/peers.py [--quick] [--large] [--out FILE.csv] [--report docs/benchmarks.md] [--from FILE.csv]

Every measurement runs in a new process, which first fits a few rows: imports and compilation are not included. Times
are medians of three runs, or of fewer if three would take longer than a third of the time-out; the column `repeats` has
the number. A method is skipped at larger sizes after a time-out, or if a time-out is predicted (by the assumption that
ten times the rows take three times as long). `--report` writes tables and a figure from the new rows, or from those of
`--from`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from common import (
    RESULTS,
    ROOT,
    in_fresh_process,
    machine,
    measured,
    number,
    parser_of,
    read_csv,
    replace_section,
    write_csv,
)
from common import table as markdown
from contestants import BY_NAME, CONTESTANTS, DATA, blobs

SIZES = (1_000, 10_000, 100_000)
LARGE = 1_000_000
WARM_UP = 100
# ten times the points take at least this many times as long; bin seeding has been seen to take four times
GROWTH = 3
# seconds for imports, compilation and data, which are not counted
SET_UP = 180
# names of ours as they stand in tables, which mark them as ours
OWN = "**modeseek** "


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Fit one method on one data set, in this process."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    contestant, data = BY_NAME[job["method"]], DATA[job["data"]]
    contestant.fit(blobs(data, WARM_UP)[0], data)
    X, y = blobs(data, job["n"])
    figures, fitted = measured(lambda: contestant.fit(X, data), job["repeats"], job["limit"] / 3, job["limit"])
    labels = np.asarray(fitted.labels)
    scores = {"ari": float(adjusted_rand_score(y, labels)), "clusters": len(np.unique(labels[labels >= 0]))}
    return {**figures, **scores, "note": fitted.note}


def measure_all(quick: bool, large: bool, limit: float, only: str | None) -> list[dict[str, Any]]:
    """Measure every method on every data set, smallest first, and print each row."""
    sizes = SIZES[:1] if quick else (*SIZES, LARGE) if large else SIZES
    rows: list[dict[str, Any]] = []
    for contestant in CONTESTANTS:
        if only and only not in contestant.name:
            continue
        if not contestant.there:
            print(f"skipped {contestant.name}: pip install {contestant.install}", flush=True)
            continue
        about = {"method": contestant.name, "ours": contestant.ours, "threads": contestant.threads}
        for data in list(DATA)[: 1 if quick else None]:
            before = 0.0
            for n in sizes:
                patience = limit if n < LARGE else 5 * limit
                if before * GROWTH > patience:
                    answer = {"status": "not tried"}
                else:
                    repeats = 1 if quick or n == LARGE else 3
                    job = {"method": contestant.name, "data": data, "n": n, "repeats": repeats, "limit": patience}
                    answer = attempt(job)
                rows.append({**about, "data": data, "n": n, **answer})
                print(line_of(rows[-1]), flush=True)
                if answer["status"] != "ok":
                    break
                before = answer["wall_s"]
    return rows


def attempt(job: dict[str, Any]) -> dict[str, Any]:
    """Measure in a fresh process."""
    answer = in_fresh_process(__file__, job, 2 * job["limit"] + SET_UP)
    return {**answer, "limit_s": job["limit"]} if answer["status"] == "time-out" else answer


def line_of(row: dict[str, Any]) -> str:
    """Return a row as a line for the terminal."""
    start = f"{row['method']:<30} {row['data']:>5} {row['n']:>8}  "
    if row["status"] != "ok":
        return start + row["status"] + " " + str(row.get("message", ""))
    return start + (
        f"{row['wall_s']:>9.3f} s {row['cpu_s']:>9.3f} s CPU {row['added_mb']:>7.0f} MB  "
        f"ARI {row['ari']:.3f}, {row['clusters']} clusters  {row['note']}"
    )


def cell(row: dict[str, str] | None) -> str:
    """Return a cell of the table."""
    if row is None:
        return ""
    if row["status"] == "time-out":
        return f"> {float(row['limit_s']):.0f} s"
    if row["status"] != "ok":
        return row["status"]
    figures = f"{number(float(row['wall_s']))} s ({number(float(row['cpu_s']))})"
    return f"{figures} · {float(row['ari']):.3f} · {float(row['added_mb']):.0f} MB"


def report(page: Path, rows: list[dict[str, str]], stated: str) -> None:
    """Write the tables and the picture."""
    from picture import draw

    parts = [stated, "", "A cell is: seconds (CPU seconds) · ARI · memory added at the peak."]
    for data, facts in DATA.items():
        mine = [row for row in rows if row["data"] == data]
        sizes = sorted({int(row["n"]) for row in mine})
        at = {(row["method"], int(row["n"])): row for row in mine}
        threads = {row["method"]: (row["threads"], row["ours"] == "True") for row in mine}
        lines = [
            [(OWN if own else "") + name, count, *(cell(at.get((name, n))) for n in sizes)]
            for name, (count, own) in threads.items()
        ]
        parts += [
            f"\n### {data}\n\nCentres in [-{facts.box:g}, {facts.box:g}]^{facts.d}. "
            f"The bandwidth is {facts.flat:g} for flat kernels and {facts.smooth:g} for biweight kernels; DSMS draws "
            f"it from [{facts.h_min:g}, {facts.h_max:g}], a range that shrinks to h_inf = {facts.h_inf:g}.\n",
            markdown(["method", "threads", *(f"n = {n:,}" for n in sizes)], lines),
        ]
    image = page.parent / "images" / "benchmarks.svg"
    draw(rows, image)
    parts.append("\n![Seconds over the number of points, both axes logarithmic](images/benchmarks.svg)")
    replace_section(page, "peers", "\n".join(parts))


def main() -> None:
    """Measure, print, write."""
    parser = parser_of(__doc__)
    parser.add_argument("--large", action="store_true", help=f"n = {LARGE:,} too, for those that can")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds before a method is given up")
    parser.add_argument("--only", help="methods whose name has this in it")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    parser.add_argument("--from", dest="source", type=Path, help="measure nothing: take the rows of this CSV file")
    parser.add_argument("--job", help="for its own use: one measurement, as JSON")
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(measure(json.loads(arguments.job))))
        return
    out = arguments.out or (None if arguments.quick or arguments.only else RESULTS / "peers.csv")
    if arguments.source is None:
        stated = machine()
        print(stated)
        rows = measure_all(arguments.quick, arguments.large, arguments.limit, arguments.only)
        if out:
            write_csv(out, [{**row, "machine": stated} for row in rows])
    if arguments.report:
        source = arguments.source or out
        if source is None:
            sys.exit("--report needs --out or --from with --quick or --only")
        rows = read_csv(source)
        report(ROOT / arguments.report, rows, rows[0]["machine"])


if __name__ == "__main__":
    main()
