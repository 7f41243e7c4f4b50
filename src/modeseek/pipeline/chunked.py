"""The pipeline for files larger than memory: passes over chunks, with a state that a later call resumes from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from modeseek._common.scaling import Moments, Scaling
from modeseek._common.types import Array, Stage
from modeseek._storage import (
    Chunk,
    ChunkWriter,
    DataError,
    Features,
    OutputSpec,
    SourceChangedError,
    Table,
    WriteError,
    check_chunk_target,
    check_writable,
    format_of,
    open_chunks,
)
from modeseek.estimators.streaming import labelled_copy, resume_stream, stream_sketch
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import PipelineInterrupted
from modeseek.pipeline.fit import run_fit
from modeseek.pipeline.options import Job, Note
from modeseek.pipeline.outputs import Shown, added_columns, write_extras
from modeseek.pipeline.prepare import check_directions, notes_on_data, selected_columns
from modeseek.pipeline.result import PipelineResult, make_result
from modeseek.pipeline.resume import LABELS, SKETCH, STATISTICS, ResumeState, ResumeStore

__all__ = ["cluster_in_chunks"]


def cluster_in_chunks(job: Job) -> PipelineResult:
    """Read files in chunks, cluster a sketch of their rows and write the outputs.

    Raises
    ------
    PipelineInterrupted
        If the work was interrupted; its state is saved first.
    """
    if job.outputs.rows is not None:
        check_chunk_target(job.outputs.rows)
    run = _ChunkedRun(job)
    try:
        return run.cluster()
    except (SourceChangedError, WriteError):
        raise
    except ValueError:
        # a file that is being written may look damaged
        for reader in run.chunks.readers:
            reader.file.check_unchanged(reader.stamp)
        # damaged data must be corrected, and a corrected file cannot be resumed
        if run.step in (STATISTICS, SKETCH):
            run.store.remove()
        raise
    finally:
        run.store.close()


class _ChunkedRun:
    """The passes over the chunks of one call."""

    writer: ChunkWriter | None = None

    def __init__(self, job: Job):
        self.job = job
        if job.estimator.get_params(deep=False)["sketch"] is None:
            job.estimator.set_params(sketch="auto")
        self.chunks = open_chunks(job.files, header=job.data.header, chunk_bytes=job.config.chunk_bytes)
        first = next(iter(self.chunks.read())).table
        self.selection = selected_columns(job.data, first)
        features = first.features(*self.selection)
        self.names, self.n_columns = features.names, len(first.columns)
        self.spec, self.needs_contents = None, False
        if job.outputs.rows is not None:
            first.check_free(job.outputs.label_column)
            self.spec = check_writable(first, job.outputs.rows)
            self.needs_contents = format_of(job.outputs.rows).needs_contents(self.chunks.delimiter)
        self.notes = job.note(*notes_on_data(job, first, features))
        self.store = ResumeStore(job, self.chunks)
        self.step = ""

    def cluster(self) -> PipelineResult:
        """Run all passes, from the saved state if there is one, and write the outputs."""
        job, estimator = self.job, self.job.estimator
        state = self.store.open() or self._start()
        if state.survey is not None:
            resume_stream(estimator, state.survey)
        if state.step == STATISTICS:
            state = self._pass(state, self._add_moments, self._columns())
            assert state.moments is not None
            state = state.next_pass(SKETCH, moments=None, scaling=state.moments.scaling())
        if state.step == SKETCH:
            state = self._pass(state, self._add_to_sketch, self._columns())
        fit = run_fit(job, estimator.finalize)
        if fit.interrupted:
            self._stop(state, "while the sketch was clustered")
        self.notes += [*fit.notes, *job.note(Note(f"clustered by a sketch: {estimator.result_.sketch}"))]
        state = self._label(state)
        assert state.scaling is not None
        shown = self._shown(state)
        result = make_result(job, self.names, state.scaling, state.counts, fit.seconds, self.notes)
        write_extras(job, result, shown, chunked=True)
        if self.writer is not None:
            self.writer.finish()
        self.store.remove()
        return result

    def _start(self) -> ResumeState:
        d = len(self.names)
        if self.job.standardize:
            return ResumeState(STATISTICS, moments=Moments.empty(d))
        return ResumeState(SKETCH, scaling=Scaling.none(d))

    def _columns(self) -> Sequence[str] | None:
        """Return the columns to read before the rows are written; None for all, if the writer must know their cells."""
        return None if self.needs_contents else self.names

    # ---------------------------------------- passes

    def _pass(
        self,
        state: ResumeState,
        step: Callable[[ResumeState, Chunk, Array], ResumeState],
        columns: Sequence[str] | None,
    ) -> ResumeState:
        """Apply `step` to the chunks that are left, report progress, and save the state now and then."""
        total, self.step = self.chunks.size, state.step
        try:
            for chunk in self.chunks.read(state.place, columns):
                numbers = self._numbers(chunk.table)
                digest = hashlib.sha256(state.digest.encode() + numbers.tobytes()).hexdigest()
                state = replace(step(state, chunk, numbers), place=chunk.after, done=chunk.done, digest=digest)
                if self.job.progress is not None:
                    self.job.progress(Stage(state.step, state.done, total, "bytes"))
                if self.store.due():
                    self.store.save(state)
            if state.first_digest not in ("", state.digest):
                raise SourceChangedError(
                    self.chunks.readers[0].file.name if len(self.job.files) == 1 else self.job.title
                )
            self.store.save(state)
        except KeyboardInterrupt:
            where = f"at {state.done / 1e6:,.1f} of {total / 1e6:,.1f} MB of the pass '{state.step}'"
            self._stop(state, where)
        return state

    def _stop(self, state: ResumeState, where: str) -> NoReturn:
        self.store.save(state)
        raise PipelineInterrupted(None, where, resumable=self.store.path is not None)

    def _numbers(self, table: Table) -> Array:
        # by name; if two columns share a name, all columns were read and are selected as in the first chunk
        whole = len(table.columns) == self.n_columns
        return np.ascontiguousarray(table.features(*(self.selection if whole else (self.names,))).values)

    def _scaled(self, state: ResumeState, chunk: Chunk, numbers: Array) -> Array:
        assert state.scaling is not None
        scaled = state.scaling.apply(numbers)
        check_directions(self.job, chunk.table, scaled)
        return scaled

    def _count(self, state: ResumeState, table: Table) -> ResumeState:
        """Count the rows, and collect what the writer must know before its first row."""
        contents = state.contents
        if self.needs_contents:
            found = check_writable(table, str(self.job.outputs.rows)).contents
            contents = tuple(a | b for a, b in zip(contents or found, found, strict=True))
        return replace(state, rows=state.rows + table.n_rows, contents=contents)

    def _add_moments(self, state: ResumeState, chunk: Chunk, numbers: Array) -> ResumeState:
        assert state.moments is not None
        return replace(self._count(state, chunk.table), moments=state.moments.add(numbers))

    def _add_to_sketch(self, state: ResumeState, chunk: Chunk, numbers: Array) -> ResumeState:
        if not self.job.standardize:
            state = self._count(state, chunk.table)
        self.job.estimator.partial_fit(self._scaled(state, chunk, numbers))
        return replace(state, survey=stream_sketch(self.job.estimator))

    def _label(self, state: ResumeState) -> ResumeState:
        """Label all rows, and write them chunk by chunk."""
        fit, target = self.job.estimator.result_, self.job.outputs.rows
        confidence = b"" if fit.confidence is None else fit.confidence.tobytes()
        model = hashlib.sha256(fit.labels.tobytes() + confidence).hexdigest()
        survey = stream_sketch(self.job.estimator)
        start = state.next_pass(LABELS, survey=survey, output=0, counts=RowCounts(), model=model)
        if state.step != LABELS or state.model != model:
            if state.step == LABELS:
                self.job.note(
                    Note("the clusters differ from those of the earlier run, so that all rows are relabelled")
                )
            state = start
            self.store.save(state)
        if target is None and fit.sketch.resolution is not None:
            # the cells of a grid count all rows
            counts = RowCounts().add(fit.labels, fit.confidence, fit.n_clusters, fit.sketch.weights)
            return replace(state, counts=counts)
        if target is None:
            return self._pass(state, self._label_chunk, self.names)
        try:
            self.writer = self._open_writer(target, state)
        except DataError:
            # the rows written so far were damaged or removed
            state = start
            self.writer = self._open_writer(target, state)
        return self._pass(state, self._label_chunk, None)

    def _open_writer(self, target: str, state: ResumeState) -> ChunkWriter:
        fit = self.job.estimator.result_
        added = added_columns(self.job, self.chunks.columns, fit.labels, fit.confidence)
        assert self.spec is not None
        delimiter, guard = self.spec.delimiter, self.job.outputs.guard_formulas
        spec = OutputSpec(state.rows, self.chunks.columns, tuple(added), state.contents, delimiter, guard)
        return ChunkWriter(target, self.store.path, spec, state.output)

    def _label_chunk(self, state: ResumeState, chunk: Chunk, numbers: Array) -> ResumeState:
        if state.counts.n_rows + len(numbers) > state.rows:
            raise SourceChangedError(self.chunks.readers[chunk.after.file].file.name)
        fit = self.job.estimator.result_
        found = fit.relabelled(self._scaled(state, chunk, numbers), self.job.estimator.n_jobs)
        output = 0
        if self.writer is not None:
            added = added_columns(self.job, self.chunks.columns, found.labels, found.confidence)
            output = self.writer.write(chunk.table, added)
        counts = state.counts.add(found.labels, found.confidence, fit.n_clusters)
        return replace(state, output=output, counts=counts)

    def _shown(self, state: ResumeState) -> Shown | None:
        """Return the rows of the sample, if a picture or a report is written."""
        if self.job.outputs.plot is None and self.job.outputs.report is None:
            return None
        assert state.survey is not None
        assert state.scaling is not None
        rows = state.survey.sample.rows
        features = Features(state.scaling.undo(rows), self.names)
        if len(rows) < state.counts.n_rows:
            text = f"the picture and the report show a sample of {len(rows):,} of {state.counts.n_rows:,} rows"
            self.notes += self.job.note(Note(text))
        table = Table.from_arrays(self.job.title, self.names, features.values.T)
        return Shown(table, features, rows, labelled_copy(self.job.estimator, rows))
