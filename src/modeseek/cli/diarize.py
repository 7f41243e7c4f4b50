"""The job of `modeseek diarize`: read embeddings and segments, find the turns, write and score them."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeseek._storage import check_target, write_json
from modeseek.cli.settings import Problem
from modeseek.cli.steps import PIPE_WIDTH, STANDARD_STREAM, run_fit

if TYPE_CHECKING:
    from modeseek.diarization import Diarization, Scores

__all__ = ["Asked", "run_command"]

MOST_ROWS = 20


@dataclass(frozen=True)
class Asked:
    """The options of `modeseek diarize`, one field each."""

    file: str
    segments: str | None
    reference: str | None
    output: str | None
    timeline: str | None
    json: str | None
    quiet: bool
    uri: str | None
    num_speakers: int | None
    min_speakers: int | None
    max_speakers: int | None
    min_duration: float
    overlapping: str
    centre: bool
    components: int | None
    whiten: bool
    collar: float
    skip_overlap: bool
    seed: int
    jobs: int | None

    @property
    def recording(self) -> str:
        """Name of the recording: as given, else that of the file."""
        return self.uri or Path(self.file).stem.replace(" ", "_")


def run_command(asked: Asked) -> None:
    """Find who speaks when; whatever can be refused is refused before the work begins."""
    _check_targets(asked)
    from modeseek import diarization as d

    windows = d.read_windows(asked.file)
    times = windows.times if asked.segments is None else d.read_segments(asked.segments)
    if times is None:
        raise Problem(
            f"'{asked.file}' says nothing of when its embeddings are: give --segments FILE (CSV, .lab or RTTM), or "
            "save an array `times` (n, 2) beside X in an NPZ file."
        )
    if len(times) != len(windows.embeddings):
        where = f"'{asked.segments or asked.file}'"
        raise Problem(
            f"'{asked.file}' has {len(windows.embeddings):,} embeddings and {where} {len(times):,} segments: give one "
            "segment for each embedding, in the same order."
        )
    reference = None if asked.reference is None else _reference(asked)
    search = d.SpeakerSearch(
        asked.num_speakers,
        asked.min_speakers,
        asked.max_speakers,
        d.EmbeddingTransform(asked.centre, asked.components, asked.whiten),
        asked.seed,
        asked.jobs,
        int(not asked.quiet),
    )
    made: list[Diarization] = []
    begun = time.perf_counter()

    def work() -> None:
        found = d.find_turns(
            windows.embeddings,
            times,
            search,
            uri=asked.recording,
            min_duration=asked.min_duration,
            overlapping=asked.overlapping,
        )
        made.append(found)

    if run_fit(work).interrupted and not made:
        print("interrupted before there was anything to keep: nothing was written.", file=sys.stderr)
        raise KeyboardInterrupt
    seconds = time.perf_counter() - begun
    found = made[0]
    scores = None if reference is None else _scored(asked, found, reference)
    _write(asked, found, reference, scores)
    if not asked.quiet:
        _show(asked, found, scores, seconds)


def _check_targets(asked: Asked) -> None:
    if asked.output == asked.json == STANDARD_STREAM:
        raise Problem("-o - and --json - cannot both go to standard output: give one of them a file.")
    if asked.output not in (None, STANDARD_STREAM):
        target = check_target(str(asked.output), [".rttm"])
        for source in (asked.segments, asked.reference):
            if source is not None and target.exists() and Path(source).exists() and target.samefile(source):
                raise Problem(f"-o {asked.output} is a file that is read: give the result another name.")
    if asked.json not in (None, STANDARD_STREAM):
        check_target(str(asked.json), [".json"])
    if asked.timeline is not None:
        from modeseek.plots import FIGURE_SUFFIXES

        check_target(asked.timeline, FIGURE_SUFFIXES)
    if asked.uri is not None and asked.uri.split() != [asked.uri]:
        raise Problem(f"--uri {asked.uri!r} cannot be written as RTTM: give a name without blanks.")
    if asked.jobs == 0:
        raise Problem("--jobs must not be 0: give a number of cores, or -1 for all.")
    if asked.reference is None and (asked.collar or asked.skip_overlap):
        raise Problem("--collar and --skip-overlap say how to score: give --reference FILE, or leave them out.")


def _reference(asked: Asked) -> Any:
    """Return the Annotation of the recording in the reference file."""
    from modeseek.diarization import read_rttm
    from modeseek.diarization.pyannote_import import import_pyannote

    try:
        import_pyannote("metrics.diarization")  # asked for before the work, not after
        recordings = read_rttm(str(asked.reference))
    except ImportError as error:
        raise Problem(str(error)) from None
    if asked.recording in recordings:
        return recordings[asked.recording]
    if len(recordings) > 1:
        known = ", ".join(list(recordings)[:5]) + (", ..." if len(recordings) > 5 else "")
        raise Problem(
            f"'{asked.reference}' has no recording called '{asked.recording}'; it has {known}: name one with --uri."
        )
    return next(iter(recordings.values()))


def _scored(asked: Asked, found: Diarization, reference: Any) -> Scores:
    from modeseek.diarization import score

    try:
        return score(found, reference, collar=asked.collar, skip_overlap=asked.skip_overlap)
    except (ValueError, ImportError) as error:
        raise Problem(str(error)) from None


def _write(asked: Asked, found: Diarization, reference: Any, scores: Scores | None) -> None:
    from modeseek.diarization import save_timeline, write_rttm
    from modeseek.diarization.rttm import rttm_lines

    if asked.output == STANDARD_STREAM:
        sys.stdout.write("".join(rttm_lines(found.turns, asked.recording)))
    elif asked.output is not None:
        write_rttm(asked.output, found)
    if asked.json is not None:
        write_json(asked.json, _record(asked, found, scores))
    if asked.timeline is not None:
        save_timeline(asked.timeline, found, reference=reference, title=f"{asked.recording}: {_speakers(found)}")


def _record(asked: Asked, found: Diarization, scores: Scores | None) -> dict[str, Any]:
    return {
        "recording": asked.recording,
        "n_speakers": found.speakers.n_speakers,
        "message": found.speakers.message,
        "turns": [
            {"start": round(t.start, 3), "end": round(t.end, 3), "speaker": t.speaker, "confidence": t.confidence}
            for t in found.turns
        ],
        # JSON has no number for what could not be counted
        "scores": None if scores is None else {k: v if v == v else None for k, v in scores._asdict().items()},
    }


def _speakers(found: Diarization) -> str:
    count = found.speakers.n_speakers
    return f"{count:,} {'speaker' if count == 1 else 'speakers'}"


def _show(asked: Asked, found: Diarization, scores: Scores | None, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=STANDARD_STREAM in (asked.output, asked.json))
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH  # nobody wraps the lines of a pipe or a file
    head = f"{_speakers(found)}, {len(found.turns):,} turns in {len(found.times):,} windows of {asked.recording}"
    console.print(Text(head, style="bold"), soft_wrap=True)
    table = Table(header_style="bold")
    for name in ("speaker", "turns", "seconds", "share", "confidence"):
        table.add_column(name, justify="left" if name == "speaker" else "right", no_wrap=True)
    spoken = {name: [turn for turn in found.turns if turn.speaker == name] for name in found.names}
    total = sum(turn.end - turn.start for turn in found.turns)
    for name, turns in list(spoken.items())[:MOST_ROWS]:
        length = sum(turn.end - turn.start for turn in turns)
        sure = sum((turn.end - turn.start) * (turn.confidence or 0.0) for turn in turns) / length if length else 0.0
        table.add_row(name, f"{len(turns):,}", f"{length:,.1f}", f"{length / total:.1%}", f"{sure:.2f}")
    console.print(table)
    if len(spoken) > MOST_ROWS:
        console.print(f"and {len(spoken) - MOST_ROWS:,} more; --json or -o has them all", soft_wrap=True)
    console.print(Text(f"{found.speakers.message}; {seconds:.2f} s, seed {asked.seed}"), soft_wrap=True)
    if scores is not None:
        for line in _score_lines(scores):
            console.print(Text(line), soft_wrap=True)
    for what, where in (("turns", asked.output), ("timeline", asked.timeline)):
        if where not in (None, STANDARD_STREAM):
            console.print(Text(f"{what}: {where}"), soft_wrap=True)


def _score_lines(scores: Scores) -> list[str]:
    return [
        f"DER {scores.der:.1%} (missed {scores.missed:.1%}, false alarm {scores.false_alarm:.1%}, "
        f"confusion {scores.confusion:.1%}), JER {scores.jer:.1%}",
        f"purity {scores.purity:.1%}, coverage {scores.coverage:.1%}; "
        f"K {scores.k:.3f}, by size {scores.k_weighted:.3f}; "
        f"speakers found {scores.found}, true {scores.true}",
    ]
