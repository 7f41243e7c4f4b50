"""The command `modeseek diarize`."""

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modeseek import diarization as d
from modeseek._common.text import counted, printable
from modeseek._storage.atomic import standard_output, write_json
from modeseek._storage.errors import TextColumnError
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek.cli.commands import UsageError
from modeseek.cli.messages import library_errors
from modeseek.cli.options import DiarizeOptions
from modeseek.cli.screen import make_console, print_lines, print_table, print_written
from modeseek.diarization.pyannote_import import import_pyannote
from modeseek.diarization.rttm import rttm_lines
from modeseek.pipeline.outputs import check_targets
from modeseek.plots import FIGURE_SUFFIXES


def run(options: DiarizeOptions) -> None:
    """Find the speakers and their turns, write the outputs and print the result."""
    _check(options)
    try:
        windows = d.read_windows(options.file)
    except TextColumnError as error:
        raise UsageError(error.explain("remove columns that are not part of the embeddings from the file")) from error
    times = windows.times if options.segments is None else d.read_segments(options.segments)
    if times is None:
        raise UsageError(
            f"'{options.file}' has no times of its embeddings: give --segments FILE (CSV, .lab or RTTM), or save an "
            "array `times` (n, 2) with X in an NPZ file."
        )
    if len(times) != len(windows.embeddings):
        raise UsageError(
            f"'{options.file}' has {len(windows.embeddings):,} embeddings, but there are {len(times):,} segments in "
            f"'{options.segments or options.file}': give one segment for each embedding, in the same order."
        )
    reference = None if options.reference is None else _read_reference(options)
    search = d.SpeakerSearch(
        options.num_speakers,
        options.min_speakers,
        options.max_speakers,
        d.EmbeddingTransform(options.centre, options.components, options.whiten),
        options.seed,
        options.n_jobs,
        int(not options.quiet),
    )
    start = time.perf_counter()
    try:
        with library_errors():
            found = d.find_turns(
                windows.embeddings,
                times,
                search,
                uri=recording(options),
                min_duration=options.min_duration,
                overlapping=options.overlapping,
                smooth=options.smooth,
            )
    except KeyboardInterrupt:
        print("interrupted before there was a result: nothing was written.", file=sys.stderr)
        raise
    seconds = time.perf_counter() - start
    scores = None
    if reference is not None:
        with library_errors():
            scores = d.score(found, reference, collar=options.collar, skip_overlap=options.skip_overlap)
    _write(options, found, reference, scores)
    if not options.quiet:
        _show(options, found, scores, seconds)


def recording(options: DiarizeOptions) -> str:
    """Return the name of the recording: --uri, or the name of the file."""
    return options.uri or "_".join(printable(Path(options.file).stem).split())


def _check(options: DiarizeOptions) -> None:
    targets: dict[str, tuple[str | None, Iterable[str]]] = {
        "rows": (options.output, [".rttm"]),
        "json": (options.json, [".json"]),
        "timeline": (options.timeline, FIGURE_SUFFIXES),
    }
    with library_errors():
        check_targets(targets, [options.file, options.segments, options.reference])
    if options.uri is not None and options.uri.split() != [options.uri]:
        raise UsageError(f"--uri {options.uri!r} cannot be written as RTTM: give a name without blanks.")
    if options.reference is None and (options.collar or options.skip_overlap):
        raise UsageError("--collar and --skip-overlap need --reference FILE.")


def _read_reference(options: DiarizeOptions) -> Any:
    """Return the annotation of the recording in the reference file."""
    with library_errors():
        import_pyannote("metrics.diarization")  # raises an error before the work if it is not installed
        recordings = d.read_rttm(str(options.reference))
    name = recording(options)
    if name in recordings:
        return recordings[name]
    if len(recordings) > 1:
        known = ", ".join(list(recordings)[:5]) + (", ..." if len(recordings) > 5 else "")
        raise UsageError(f"'{options.reference}' has no recording '{name}'. It has {known}: choose one with --uri.")
    return next(iter(recordings.values()))


def _write(options: DiarizeOptions, found: d.Diarization, reference: Any, scores: d.Scores | None) -> None:
    name = recording(options)
    if options.output == STANDARD_STREAM:
        standard_output().write("".join(rttm_lines(found.turns, name)))
    elif options.output is not None:
        d.write_rttm(options.output, found)
    if options.json is not None:
        write_json(options.json, _record(options, found, scores))
    if options.timeline is not None:
        title = f"{name}: {counted(found.speakers.n_speakers, 'speaker')}"
        d.save_timeline(options.timeline, found, reference=reference, title=title)


def _record(options: DiarizeOptions, found: d.Diarization, scores: d.Scores | None) -> dict[str, Any]:
    return {
        "recording": recording(options),
        "n_speakers": found.speakers.n_speakers,
        "message": found.speakers.message,
        "turns": [
            {"start": round(t.start, 3), "end": round(t.end, 3), "speaker": t.speaker, "confidence": t.confidence}
            for t in found.turns
        ],
        # JSON has no NaN
        "scores": None if scores is None else {k: v if v == v else None for k, v in scores._asdict().items()},
    }


def _show(options: DiarizeOptions, found: d.Diarization, scores: d.Scores | None, seconds: float) -> None:
    console = make_console(stderr=STANDARD_STREAM in (options.output, options.json))
    found_text = f"{counted(found.speakers.n_speakers, 'speaker')}, {counted(len(found.turns), 'turn')}"
    title = f"{found_text} in {counted(len(found.times), 'window')} of {recording(options)}"
    print_lines(console, title, style="bold")
    total, rows = sum(turn.end - turn.start for turn in found.turns), []
    for name in found.names:
        turns = [turn for turn in found.turns if turn.speaker == name]
        length = sum(turn.end - turn.start for turn in turns)
        sure = sum((turn.end - turn.start) * (turn.confidence or 0.0) for turn in turns) / length if length else 0.0
        rows.append((name, f"{len(turns):,}", f"{length:,.1f}", f"{length / total:.1%}", f"{sure:.2f}"))
    print_table(console, ("speaker", "turns", "seconds", "share", "confidence"), rows, "more")
    print_lines(console, f"{found.speakers.message}; {seconds:.2f} s, seed {options.seed}")
    if scores is not None:
        print_lines(
            console,
            f"DER {scores.der:.1%} (missed {scores.missed:.1%}, false alarm {scores.false_alarm:.1%}, "
            f"confusion {scores.confusion:.1%}), JER {scores.jer:.1%}",
            f"purity {scores.purity:.1%}, coverage {scores.coverage:.1%}; "
            f"K {scores.k:.3f}, by size {scores.k_weighted:.3f}; "
            f"speakers found {scores.found}, true {scores.true}",
        )
    print_written(console, options.output, options.timeline, options.json)
