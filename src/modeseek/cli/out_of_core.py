"""Files larger than memory: block by block, a pass to scale, one to summarise and one to label."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from modeseek._common.progress import show_progress
from modeseek._common.scaling import Moments, Scaling
from modeseek._common.types import Array, Stage
from modeseek._storage import (
    Chunk,
    ChunkWriter,
    DataError,
    Features,
    OutputSpec,
    Place,
    Table,
    check_chunk_target,
    check_writable,
    format_of,
    open_chunks,
    write_json,
)
from modeseek.cli.kept import LABELS, STATISTICS, SUMMARY, Keeper, State
from modeseek.cli.settings import Problem, Settings
from modeseek.cli.steps import check_directions, column_names, note, notes_on, run_fit, show_result
from modeseek.cli.summary import Tally, summarise
from modeseek.cli.work import added_columns, draw, save_model
from modeseek.estimators.streaming import resume_survey, survey_of, told_of
from modeseek.estimators.table import DOUBTFUL

__all__ = ["cluster_blocks"]

BLOCK = 1 << 23
TITLES = {STATISTICS: "mean and spread", SUMMARY: "summary", LABELS: "labels"}


def cluster_blocks(settings: Settings, estimator: Any) -> None:
    """Cluster the rows of files of any size and write what was asked for."""
    if settings.output is not None:
        check_chunk_target(settings.output)
    job = _Job(settings, estimator)
    try:
        job.run()
    except ValueError as error:
        if job.step != LABELS:
            # whoever puts the data right has other data
            job.keeper.end()
        if isinstance(error, DataError):
            raise
        raise Problem(str(error)) from error
    finally:
        job.keeper.close()


class _Job:
    """The passes, and what they share."""

    def __init__(self, settings: Settings, estimator: Any):
        self.settings, self.estimator = settings, estimator
        if estimator.get_params(deep=False)["sketch"] is None:
            # there is no other way here, and whoever reads the settings should see it
            estimator.set_params(sketch="auto")
        self.chunks = open_chunks(settings.files, header=settings.header, chunk_bytes=BLOCK)
        first = next(iter(self.chunks.read())).table
        columns = column_names(settings.columns, first) if settings.columns else None
        self.chosen = columns, column_names(settings.ignore, first)
        features = first.features(*self.chosen)
        self.names = features.names
        self.n_columns, self.format = len(first.columns), None
        if settings.output is not None:
            first.check_free(settings.name)
            self.format = format_of(settings.output)
            self.spec = check_writable(first, settings.output)
        self.notes = notes_on(settings, first, features)
        self.keeper, self.writer = Keeper(settings, BLOCK), None
        self.step = STATISTICS

    writer: ChunkWriter | None

    def run(self) -> None:
        """Go through all passes, from where an earlier run has come to."""
        state = self.keeper.begin() or self._start()
        if state.survey is not None:
            resume_survey(self.estimator, state.survey)
        if state.step == STATISTICS:
            state = self._walk(state, self._measure, self._needed)
            assert state.moments is not None
            state = replace(state, step=SUMMARY, place=Place(), done=0, moments=None, scaling=state.moments.scaling())
        if state.step == SUMMARY:
            state = self._walk(state, self._count, self._needed)
        self.step = state.step
        fit = run_fit(self.estimator.finalize)
        if fit.interrupted:
            self._stop(state, "while the summary was being clustered")
        self.notes.append(f"clustered by a summary: {self.estimator.sketch_}.")
        note(self.notes[-1])
        state = self._label(state)
        self._write(state, fit.seconds, [*self.notes, *fit.notes])

    def _start(self) -> State:
        d = len(self.names)
        if self.settings.standardise:
            return State(STATISTICS, moments=Moments.empty(d))
        return State(SUMMARY, scaling=Scaling.none(d))

    @property
    def _needed(self) -> Sequence[str] | None:
        """The columns to read before labels are given; None is all, where cells decide how they can be written."""
        return None if self._needs_contents else self.names

    @property
    def _needs_contents(self) -> bool:
        return self.format is not None and self.format.needs_contents(self.chunks.delimiter)

    def _walk(
        self,
        state: State,
        step: Callable[[State, Chunk], State],
        only: Sequence[str] | None,
    ) -> State:
        """Take all blocks that are left through a step, show how far it is, and keep it now and then."""
        total, self.step = self.chunks.size, state.step
        interrupted = False
        with nullcontext() if self.settings.quiet else show_progress(TITLES[state.step]) as line:
            try:
                for chunk in self.chunks.read(state.place, only):
                    state = replace(step(state, chunk), place=chunk.after, done=chunk.done)
                    if line is not None:
                        line(Stage("reading", state.done, total, "bytes"))
                    if self.keeper.due():
                        self._keep(state)
                self._keep(state)
            except KeyboardInterrupt:
                interrupted = True
        if interrupted:
            where = f"at {state.done / 1e6:,.1f} of {total / 1e6:,.1f} MB of the pass '{TITLES[state.step]}'"
            self._stop(state, where)
        return state

    def _keep(self, state: State) -> None:
        self.keeper.keep(state)

    def _stop(self, state: State, where: str) -> NoReturn:
        self._keep(state)
        on = "nothing is kept without -o FILE" if self.keeper.folder is None else "the same command goes on from there"
        print(f"interrupted {where}: {on}.", file=sys.stderr)
        raise KeyboardInterrupt

    def _numbers(self, table: Table) -> Array:
        # by name, unless two columns have one and all are there
        whole = len(table.columns) == self.n_columns
        return table.features(*(self.chosen if whole else (self.names,))).values

    def _scaled(self, state: State, table: Table) -> Array:
        assert state.scaling is not None
        scaled = state.scaling.apply(self._numbers(table))
        check_directions(self.settings, table, scaled)
        return scaled

    def _seen(self, state: State, table: Table) -> State:
        """Take note of what the first pass must know of all rows."""
        contents = state.contents
        if self._needs_contents:
            found = check_writable(table, str(self.settings.output)).contents
            contents = tuple(a | b for a, b in zip(contents or found, found, strict=True))
        return replace(state, rows=state.rows + table.n_rows, contents=contents)

    def _measure(self, state: State, chunk: Chunk) -> State:
        assert state.moments is not None
        return replace(self._seen(state, chunk.table), moments=state.moments.add(self._numbers(chunk.table)))

    def _count(self, state: State, chunk: Chunk) -> State:
        if not self.settings.standardise:
            state = self._seen(state, chunk.table)
        self.estimator.partial_fit(self._scaled(state, chunk.table))
        return replace(state, survey=survey_of(self.estimator))

    def _label(self, state: State) -> State:
        """Give every row its label, and write it as it goes."""
        fitted, target = self.estimator, self.settings.output
        model = hashlib.sha256(fitted.labels_.tobytes() + np.asarray(getattr(fitted, "confidence_", 0.0)).tobytes())
        anew = replace(
            state,
            step=LABELS,
            place=Place(),
            done=0,
            survey=survey_of(fitted),
            output=0,
            tally=Tally(),
            model=model.hexdigest(),
        )
        if state.step != LABELS or state.model != anew.model:
            if state.step == LABELS:
                note("the clusters came out otherwise than in the earlier run: all rows are labelled anew.")
            state = anew
            self._keep(state)
        if target is None and fitted.sketch_.resolution is not None:
            return replace(state, tally=_weighed(fitted))
        only: Sequence[str] | None = self.names
        if target is not None:
            added = added_columns(self.settings, self.chunks.columns, fitted)
            columns, guard = self.chunks.columns, self.settings.guard_formulas
            spec = OutputSpec(state.rows, columns, tuple(added), state.contents, self.spec.delimiter, guard)
            folder = None if self.keeper.folder is None else self.keeper.folder.path
            try:
                self.writer = ChunkWriter(target, folder, spec, state.output)
            except DataError:
                state = anew
                self.writer = ChunkWriter(target, folder, spec, 0)
            only = None
        return self._walk(state, self._give, only)

    def _give(self, state: State, chunk: Chunk) -> State:
        told, output = told_of(self.estimator, self._scaled(state, chunk.table)), 0
        if self.writer is not None:
            added = added_columns(self.settings, self.chunks.columns, told)
            output = self.writer.write(chunk.table, added)
        n_clusters = len(self.estimator.cluster_centers_)
        tally = state.tally.add(told.labels_, getattr(told, "confidence_", None), n_clusters)
        return replace(state, output=output, tally=tally)

    def _write(self, state: State, seconds: float, notes: list[str]) -> None:
        settings, scaling = self.settings, state.scaling
        assert scaling is not None
        assert state.survey is not None
        summary = summarise(settings, self.names, scaling, self.estimator, seconds, state.tally)
        if settings.json is not None:
            write_json(settings.json, summary.record())
        save_model(settings, self.names, scaling, self.estimator)
        if settings.plot is not None or settings.report is not None:
            rows = state.survey.sample.rows
            told, features = told_of(self.estimator, rows), Features(scaling.undo(rows), self.names)
            if len(rows) < state.tally.rows:
                notes.append(f"pictures show {len(rows):,} of {state.tally.rows:,} rows, drawn by a hash.")
                note(notes[-1])
            if settings.plot is not None:
                draw(summary, told, features, rows)
            if settings.report is not None:
                from modeseek.cli.page import write_clustering

                shown = Table.from_arrays(settings.title, self.names, tuple(features.values.T))
                write_clustering(settings.report, settings, shown, features, rows, told, notes, blocks=True)
        if self.writer is not None:
            self.writer.finish()
        self.keeper.end()
        if not settings.quiet:
            show_result(summary)


def _weighed(fitted: Any) -> Tally:
    """Count rows by the weights of a summary that holds them all."""
    labels, weights, sure = fitted.labels_, fitted.sketch_.weights, getattr(fitted, "confidence_", None)
    member, n_clusters = labels >= 0, len(fitted.cluster_centers_)
    sizes = np.bincount(labels[member], weights[member], n_clusters)
    counted = int(fitted.sketch_.weight), tuple(int(size) for size in sizes)
    if sure is None:
        return Tally(*counted)
    sums = np.bincount(labels[member], (weights * sure)[member], n_clusters)
    return Tally(*counted, tuple(float(each) for each in sums), int(weights[sure < DOUBTFUL].sum()))
