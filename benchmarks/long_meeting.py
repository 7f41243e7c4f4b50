"""Measure time and memory of `find_turns` on a meeting of eight hours, a window every quarter of a second.

Run it as

    python benchmarks/long_meeting.py [--quick] [--out FILE.csv] [--report docs/how-to-speakers.md]

The data are synthetic: 115,200 windows of 1.5 s, 256 dimensions in 32 bits, 12 speakers with unequal shares, turns of 1
to 20 s. A window is the sum of its speaker's direction, a slowly varying part (windows overlap), and noise. The
measurement runs in a new process; its peak memory includes Python, libraries and embeddings.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import ROOT, in_fresh_process, machine, measured, parser_of, replace_section, table, write_csv

HOP, WINDOW, DIMENSION, SPEAKERS = 0.25, 1.5, 256, 12
LIMIT = 1_800.0


def meeting(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return embeddings (float32), times and speakers of n windows."""
    rng = np.random.default_rng(seed)
    scale = 1.0 / DIMENSION**0.5  # a Python float: rows stay at 32 bits
    voices = rng.normal(size=(SPEAKERS, DIMENSION)).astype(np.float32) * scale
    share = 1.0 / np.arange(1, SPEAKERS + 1)
    who = np.empty(n, dtype=int)
    at = 0
    while at < n:
        length = int(rng.uniform(1.0, 20.0) / HOP)
        who[at : at + length] = rng.choice(SPEAKERS, p=share / share.sum())
        at += length
    # windows that share five sixths of their sound share as much of what is not the voice
    rows = rng.standard_normal((n, DIMENSION), dtype=np.float32) * scale
    for row in range(1, n):
        rows[row] = 0.8 * rows[row - 1] + 0.6 * rows[row]
    rows *= 0.9
    rows += voices[who]
    starts = HOP * np.arange(n)
    return rows, np.column_stack([starts, starts + WINDOW]), who


def job(n: int) -> dict[str, Any]:
    """Find the turns once, in this process."""
    from sklearn.metrics import adjusted_rand_score

    from modeseek.diarization import find_turns

    rows, times, who = meeting(n)
    find_turns(rows[:500], times[:500])  # compiled before the clock starts
    start = time.perf_counter()
    figures, found = measured(lambda: find_turns(rows, times), 1, LIMIT, LIMIT)
    return {
        "windows": n,
        "seconds": time.perf_counter() - start,
        "process_mb": figures["process_mb"],
        "embeddings_mb": rows.nbytes / 2**20,
        "speakers": found.speakers.n_speakers,
        "true": SPEAKERS,
        "ari": adjusted_rand_score(who, found.speakers.labels),
        "said": found.speakers.message,
    }


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(job(json.loads(arguments.job)["n"])))
        return
    rows = []
    for n in (5_000,) if arguments.quick else (28_800, 115_200):
        rows.append({**in_fresh_process(__file__, {"n": n}, 2 * LIMIT), "machine": machine()})
        print(rows[-1])
    if arguments.out:
        write_csv(arguments.out, rows)
    if arguments.report:
        head = ["windows", "hours", "embeddings", "peak memory", "seconds", "speakers (true)", "ARI"]
        lines = [
            [
                f"{row['windows']:,}",
                f"{row['windows'] * HOP / 3600:g}",
                f"{row['embeddings_mb']:.0f} MB",
                f"{row['process_mb']:.0f} MB",
                f"{row['seconds']:.0f}",
                f"{row['speakers']} ({row['true']})",
                f"{row['ari']:.3f}",
            ]
            for row in rows
        ]
        replace_section(ROOT / arguments.report, "long meeting", f"{table(head, lines, 0)}\n\n*{machine()}*")


if __name__ == "__main__":
    main()
