"""The pipeline for files larger than memory: several passes over the chunks, which a later call can resume."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from modeseek._common.types import Stage
from modeseek._storage.chunks import Chunk, open_chunks
from modeseek._storage.errors import DataError, SourceChangedError, WriteError
from modeseek._storage.formats.base import OutputSpec
from modeseek._storage.formats.registry import format_of
from modeseek._storage.table import Table, unique_names
from modeseek._storage.writing import ChunkWriter, check_chunk_target, check_writable
from modeseek.estimators.state import labelled_copy, resume_stream, stream_sketch
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import PipelineInterrupted
from modeseek.pipeline.fit import check_directions, run_fit
from modeseek.pipeline.options import PipelineJob
from modeseek.pipeline.outputs import Shown, added_columns, write_extras
from modeseek.pipeline.result import PipelineResult, result_of_job
from modeseek.pipeline.resume import LABELS, SKETCH, STATISTICS, ResumeState, ResumeStore
from modeseek.prepare.preparation import Prepared, Statistics


def cluster_in_chunks(job: PipelineJob) -> PipelineResult:
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
        # no state is kept for damaged data: the corrected file would be a different one
        if run.step in (STATISTICS, SKETCH):
            run.store.remove()
        raise
    finally:
        run.store.close()


class _ChunkedRun:
    """The passes over the chunks of one call."""

    writer: ChunkWriter | None = None
    step: str = ""

    def __init__(self, job: PipelineJob):
        self.job, rows = job, job.outputs.rows
        if job.estimator.get_params(deep=False)["sketch"] is None:
            job.estimator.set_params(sketch="auto")
        self.chunks = open_chunks(job.files, header=job.data.header, chunk_bytes=job.config.chunk_bytes)
        self.first = first = next(iter(self.chunks.read())).table
        self.preparer = job.data.preparer(first, job.metric)
        self.options = self.preparer.options()
        self.statistics = Statistics.start(first, self.options)
        # names may occur twice; see `Chunks.read`
        self.spec = OutputSpec(0, self.chunks.columns)
        if rows is not None:
            first.check_free(job.outputs.label_column)
            self.spec = check_writable(first, rows, unique_names(first.columns))
        # whether the output format needs the contents of all columns before the first row is written
        self.needs_contents = rows is not None and format_of(rows).needs_contents(self.chunks.delimiter)
        self.store = ResumeStore(job, self.chunks)

    def cluster(self) -> PipelineResult:
        """Run all passes, or those after the saved state if one exists, and write the outputs."""
        job = self.job
        state = self.store.open() or ResumeState(STATISTICS, statistics=self.statistics)
        if state.sketch is not None:
            resume_stream(job.estimator, state.sketch)
        state = self._find_columns(state)
        assert state.statistics is not None
        self.preparer.finish(state.statistics, self.first, job.metric)
        self.spec = self.spec._replace(contents=state.contents, features=self.preparer.kept_columns_)
        if job.outputs.rows is not None:
            format_of(job.outputs.rows).check_contents(job.outputs.rows, self.spec)
        job.note(*self.first.notes, *self.preparer.notes_)
        if state.step == SKETCH:
            state = self._pass(state, self._add_to_sketch, self.preparer.kept_columns_)
        fit = run_fit(job, job.estimator.finalize)
        if fit.interrupted:
            self._stop(state, "while the sketch was clustered")
        job.note(f"clustered by a sketch: {job.estimator.result_.sketch}")
        state = self._label(state)
        shown = self._shown(state) if job.outputs.plot is not None or job.outputs.report is not None else None
        result = result_of_job(job, self.preparer, state.counts, fit.seconds)
        write_extras(job, result, shown)
        if self.writer is not None:
            self.writer.finish()
        self.store.remove()
        return result

    def _find_columns(self, state: ResumeState) -> ResumeState:
        """Run the first pass, which computes statistics of the columns and decides which columns are clustered."""
        start = self.statistics
        columns = None if self.needs_contents else tuple(start.facts) or start.columns
        while state.step == STATISTICS:
            state = self._pass(state, self._add_statistics, columns)
            assert state.statistics is not None
            again = state.statistics.next_pass(self.first, self.options)
            if again is None:
                return state.next_pass(SKETCH)
            state = ResumeState(STATISTICS, statistics=again)
        return state

    def _pass(
        self,
        state: ResumeState,
        step: Callable[[ResumeState, Chunk], ResumeState],
        columns: Sequence[str] | None,
    ) -> ResumeState:
        """Return the state at the end of a pass, after `step` was applied to each remaining chunk."""
        total, self.step = self.chunks.size, state.step
        try:
            for chunk in self.chunks.read(state.place, columns):
                if not state.first_digest:
                    state = self._count(state, chunk.table)
                state = replace(step(state, chunk), place=chunk.after, done=chunk.done)
                if self.job.progress is not None:
                    self.job.progress(Stage(state.step, state.done, total, "bytes"))
                if self.store.due():
                    self.store.save(state)
            if state.first_digest not in ("", state.digest):
                raise SourceChangedError(self.job.title)
            self.store.save(state)
        except KeyboardInterrupt:
            self._stop(state, f"at {state.done / 1e6:,.1f} of {total / 1e6:,.1f} MB of the pass '{state.step}'")
        return state

    def _stop(self, state: ResumeState, where: str) -> NoReturn:
        self.store.save(state)
        raise PipelineInterrupted(None, where, resumable=self.store.path is not None)

    def _count(self, state: ResumeState, table: Table) -> ResumeState:
        """Add a chunk to the number of rows, and to the contents of columns if the output format needs them."""
        contents = state.contents
        if self.needs_contents:
            found = table.contents()
            contents = tuple(a | b for a, b in zip(contents or found, found, strict=True))
        return replace(state, rows=state.rows + table.n_rows, contents=contents)

    def _add_statistics(self, state: ResumeState, chunk: Chunk) -> ResumeState:
        assert state.statistics is not None
        statistics, values = state.statistics.add(chunk.table, self.options)
        return state.read(values, statistics=statistics)

    def _prepare(self, state: ResumeState, chunk: Chunk) -> tuple[ResumeState, Prepared]:
        """Return the state with the numbers of a chunk in its checksum, and the prepared rows of the chunk."""
        values = self.preparer.preparation_.values(chunk.table)
        return state.read(values), self.preparer.preparation_.apply(chunk.table, values)

    def _add_to_sketch(self, state: ResumeState, chunk: Chunk) -> ResumeState:
        state, prepared = self._prepare(state, chunk)
        check_directions(self.job, chunk.table, prepared.complete, prepared.X)
        if not len(prepared.X):
            return state
        self.job.estimator.partial_fit(prepared.X)
        return replace(state, sketch=stream_sketch(self.job.estimator))

    def _label(self, state: ResumeState) -> ResumeState:
        """Label all rows, and write them chunk by chunk."""
        fit, target = self.job.estimator.result_, self.job.outputs.rows
        confidence = b"" if fit.confidence is None else fit.confidence.tobytes()
        model = hashlib.sha256(fit.labels.tobytes() + confidence).hexdigest()
        sketch = stream_sketch(self.job.estimator)
        start = state.next_pass(LABELS, sketch=sketch, output=0, counts=RowCounts(), model=model)
        if state.model != model:
            if state.model:
                self.job.tell("the clusters differ from those of the earlier run: all rows are labelled again")
            state = start
            self.store.save(state)
        if target is None and fit.sketch.resolution is not None:
            # no pass is needed: the cells of a grid sketch count all rows
            counts = RowCounts().add(fit.labels, fit.confidence, fit.n_clusters, fit.sketch.weights)
            return replace(state, counts=counts)
        if target is not None:
            added = tuple(added_columns(self.job, self.chunks.columns, fit.labels, fit.confidence))
            guard = self.job.outputs.guard_formulas
            spec = self.spec._replace(n_rows=state.rows, added=added, guard=guard)
            try:
                self.writer = ChunkWriter(target, self.store.path, spec, state.output)
            except DataError:
                # the files with the rows written so far are missing: label all rows again
                state = start
                self.writer = ChunkWriter(target, self.store.path, spec, 0)
        return self._pass(state, self._label_chunk, self.preparer.kept_columns_ if target is None else None)

    def _label_chunk(self, state: ResumeState, chunk: Chunk) -> ResumeState:
        state, prepared = self._prepare(state, chunk)
        if state.counts.n_rows + len(prepared.X) > state.rows:
            raise SourceChangedError(self.chunks.readers[chunk.after.file].file.name)
        fit, output, counts = self.job.estimator.result_, 0, state.counts
        labels, confidence = np.zeros(0, fit.labels.dtype), None if fit.confidence is None else np.zeros(0)
        if len(prepared.X):
            found = fit.relabelled(prepared.X, self.job.estimator.n_jobs)
            labels, confidence = found.labels, found.confidence
            counts = counts.add(labels, confidence, fit.n_clusters)
        if self.writer is not None:
            added = added_columns(self.job, self.chunks.columns, labels, confidence, prepared.complete)
            output = self.writer.write(chunk.table, added)
        return replace(state, output=output, counts=counts)

    def _shown(self, state: ResumeState) -> Shown:
        """Return the rows for the picture and the report: the random sample that the sketch keeps."""
        assert state.sketch is not None
        rows = state.sketch.sample.rows
        values = self.preparer.inverse_transform(rows)
        if len(rows) < state.counts.n_rows:
            shown = f"{len(rows):,} of {state.counts.n_rows:,} rows"
            self.job.note(f"the picture and the report show a sample of {shown}")
        table = Table.from_arrays(self.job.title, self.preparer.preparation_.names, values.T)
        prepared = Prepared(np.ones(len(rows), bool), values, rows)
        return Shown(table, prepared, labelled_copy(self.job.estimator, rows))
