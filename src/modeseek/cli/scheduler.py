"""`--scheduler`: the work goes to the workers of a Dask scheduler, and only what is small comes back."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any

from modeseek._common.scaling import Moments, Scaling
from modeseek._common.types import Array
from modeseek._storage import check_target, format_of, write_json
from modeseek.cli.settings import Problem, Settings
from modeseek.cli.steps import STANDARD_STREAM, note, run_fit, show_result
from modeseek.cli.summary import Tally, summarise
from modeseek.cli.work import added_columns
from modeseek.sketches import DaskError, DaskRows, dask_errors
from modeseek.sketches.dask_chunks import DaskChunk

__all__ = ["cluster_by_dask", "connected"]

# seconds to wait for an answer
PATIENCE = 10
MESSAGES = {
    "scheduler": "the Dask scheduler at '{0}' is gone or was restarted: start it and its workers again, and type the "
    "same command again",
    "workers": "workers died again and again over one part of the data, most likely for want of memory: start them "
    "with a larger --memory-limit, and type the same command again",
    "modeseek": "the scheduler at '{0}' or its workers cannot read the tasks: install the same modeseek there as here",
}
NEEDED = "--scheduler needs Dask: pip install 'modeseek[dask]'."


@contextmanager
def connected(address: str, kept: str) -> Iterator[Any]:
    """Connect to a scheduler while the block runs; `kept` says what is left if it goes away meanwhile."""
    try:
        from distributed import Client
    except ImportError as error:
        raise Problem(NEEDED) from error
    # what is wrong is said once, below
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL + 1)
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise Problem(
            f"no Dask scheduler answers at '{address}': start one with 'dask scheduler', and give the address that it "
            "prints, such as --scheduler tcp://127.0.0.1:8786."
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise Problem(f"the scheduler at '{address}' has no workers: start some with 'dask worker {address}'.")
        try:
            with dask_errors():
                yield client
        except DaskError as error:
            raise Problem(f"{MESSAGES[error.what].format(address)}; {kept}.") from error


def cluster_by_dask(settings: Settings, estimator: Any) -> None:
    """Cluster the rows of files that workers read, and let them write the result."""
    _check(settings)
    assert settings.scheduler is not None
    with connected(settings.scheduler, "nothing was written"):
        frame = _read(settings)
        names = _chosen(settings, [str(name) for name in frame.columns])
        try:
            data = DaskRows.of(frame[names].astype("float64"))
            scaling = _scaling(settings, data)
        except (TypeError, ValueError, OSError) as error:
            raise Problem(str(error)) from error
        X = data.rows.map_blocks(scaling.apply, dtype=data.rows.dtype)
        fit = run_fit(lambda: estimator.fit(X))
        if fit.interrupted:
            raise KeyboardInterrupt
        if hasattr(estimator, "sketch_"):
            note(f"clustered by a summary: {estimator.sketch_}.")
        tally = _label(settings, frame, estimator)
        summary = summarise(settings, tuple(names), scaling, estimator, fit.seconds, tally)
    if settings.json is not None:
        write_json(settings.json, summary.record())
    if not settings.quiet:
        show_result(summary)


def _check(settings: Settings) -> None:
    if settings.save is not None:
        raise Problem("--save keeps the labels of all rows, which stay with the workers of --scheduler: leave it out.")
    for name in ("plot", "report"):
        if getattr(settings, name) is not None:
            raise Problem(f"--{name} draws rows, which stay with the workers of --scheduler: leave it out.")
    if STANDARD_STREAM in settings.files:
        raise Problem("--scheduler has workers read the files, and standard input is none: name the files.")
    if {format_of(file).name for file in settings.files} not in ({"Parquet"}, {"delimited text"}):
        raise Problem("--scheduler reads Parquet or CSV, all files of one kind: convert the others first.")
    if settings.output is not None:
        check_target(settings.output, [".parquet"])
        if Path(settings.output).exists():
            raise Problem(f"'{settings.output}' is there: with --scheduler -o makes a folder. Give it another name.")


def _read(settings: Settings) -> Any:
    import dask.dataframe as dd
    import pandas

    if format_of(settings.file).name == "Parquet":
        read = dd.read_parquet
    else:
        options: dict[str, Any] = {} if settings.header is not False else {"header": None}
        if tuple(int(part) for part in pandas.__version__.split(".")[:2]) < (3, 1):
            # the digits as they stand, to the last bit; later pandas reads them so by itself
            options["float_precision"] = "round_trip"
        tabs = all(Path(file).suffix.lower() == ".tsv" for file in settings.files)
        read = partial(dd.read_csv, sep="\t" if tabs else ",", **options)
    try:
        # one by one: Dask would put them in an order of its own
        parts = [read(os.path.abspath(file) if "://" not in file else file) for file in settings.files]
        return parts[0] if len(parts) == 1 else dd.concat(parts)
    except (OSError, ValueError) as error:
        raise Problem(f"cannot read: {error}") from error


def _chosen(settings: Settings, columns: Sequence[str]) -> list[str]:
    asked = [part.strip() for text in settings.columns or () for part in text.split(",")]
    left_out = [part.strip() for text in settings.ignore or () for part in text.split(",")]
    for name in [*asked, *left_out]:
        if name not in columns:
            raise Problem(f"there is no column '{name}': there are {', '.join(columns)}.")
    if settings.output is not None and settings.name in columns:
        raise Problem(f"there is a column '{settings.name}' already: give the new one another name with --name.")
    return [name for name in (asked or columns) if name not in left_out]


def _scaling(settings: Settings, data: DaskRows) -> Scaling:
    """Return how features are brought to one scale: by the same sums, in the same order, as without Dask."""
    from dask import delayed

    d = data.rows.shape[1]
    if not settings.standardise:
        return Scaling.none(d)
    moments: Any = Moments.empty(d)
    for chunk, rows in data.chunks():
        moments = delayed(partial(_add, chunk), pure=False)(moments, rows)
    return moments.compute().scaling()


def _add(chunk: DaskChunk, moments: Moments, rows: Any) -> Moments:
    return moments.add(chunk.check(rows)[0])


def _label(settings: Settings, frame: Any, estimator: Any) -> Tally:
    """Have rows labelled, written and counted; the folder appears once all of it is there."""
    from dask import compute, delayed

    columns = added_columns(settings, [str(name) for name in frame.columns], estimator)
    folder = None if settings.output is None else Path(settings.output).absolute()
    # a new name: a folder that exists may hold other files, or those of a run with more parts
    begun = None if folder is None else folder.with_name(f"{folder.name}.{secrets.token_hex(8)}.part")
    if begun is not None:
        begun.mkdir()
    parts = frame.to_delayed() if begun is not None else [None] * frame.npartitions
    added = zip(*(each.to_delayed() for each in columns.values()), strict=True)
    give = partial(_give, begun, tuple(columns), estimator.n_clusters_)
    jobs = [delayed(give, pure=False)(*each) for each in enumerate(zip(parts, added, strict=True))]
    try:
        tallies = compute(*jobs)
        if begun is not None and folder is not None:
            begun.rename(folder)
    except BaseException:
        if begun is not None:
            shutil.rmtree(begun, ignore_errors=True)
        raise
    return _joined(tallies)


def _give(
    folder: Path | None, names: tuple[str, ...], n_clusters: int, number: int, part: tuple[Any, tuple[Array, ...]]
) -> Tally:
    rows, added = part
    if folder is not None:
        target = folder / f"part.{number:06d}.parquet"
        draft = target.with_suffix(".draft")  # a worker that dies leaves no half of a part
        rows.assign(**dict(zip(names, added, strict=True))).to_parquet(draft)
        draft.replace(target)
    return Tally().add(added[0], added[1] if len(added) > 1 else None, n_clusters)


def _joined(tallies: Sequence[Tally]) -> Tally:
    sizes = tuple(int(sum(each)) for each in zip(*(tally.sizes for tally in tallies), strict=True))
    sure = tuple(fsum(each) for each in zip(*(tally.sure for tally in tallies), strict=True))
    return Tally(sum(tally.rows for tally in tallies), sizes, sure, sum(tally.doubtful for tally in tallies))
