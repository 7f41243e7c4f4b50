"""Rows passed to `partial_fit`: batches are kept until there are enough rows for a sketch, then added to the sketch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array
from modeseek.sketches import Sketch, SketchConfig, SketchLayout


def _check_stream(stream: Stream) -> None:
    require(stream.sketch is None or not stream.pending, "pending batches beside a sketch")
    for rows, weights in stream.pending:
        require(is_real(rows, 2) and is_real(weights, 1) and len(rows) == len(weights), "the weights of batches")


@storable(_check_stream)
@dataclass(frozen=True, eq=False)
class Stream:
    """The rows passed to `partial_fit`.

    Attributes
    ----------
    pending : tuple of (rows, weights)
        Batches that are kept until there are enough rows for the layout of a sketch.
    sketch : Sketch or None
        Sketch of all batches; None while the batches are pending.
    """

    pending: tuple[tuple[Array, Array], ...] = ()
    sketch: Sketch | None = None

    def arrays(self) -> list[Array]:
        """Return the rows that the stream holds."""
        return [rows for rows, _ in self.pending] + ([] if self.sketch is None else [self.sketch.sample.rows])

    def add(self, rows: Array, weights: Array, config: SketchConfig) -> Stream:
        """Return the stream after a batch is added."""
        if self.sketch is not None:
            return Stream(sketch=self.sketch.add(rows, weights))
        more = Stream((*self.pending, (rows, weights)))
        return more.settled(config) if sum(len(each) for each, _ in more.pending) >= config.layout_rows else more

    def settled(self, config: SketchConfig) -> Stream:
        """Return the stream after its pending batches are put into a sketch."""
        if not self.pending:
            return self
        rows = np.concatenate([rows for rows, _ in self.pending])
        return Stream(sketch=make_sketch(rows, np.concatenate([weights for _, weights in self.pending]), config))

    def faded(self, share: float, config: SketchConfig) -> Stream:
        """Return the stream with all weights multiplied by `share`."""
        settled = self.settled(config)
        return settled if settled.sketch is None else Stream(sketch=settled.sketch.discounted(share))


def make_sketch(rows: Array, weights: Array, config: SketchConfig) -> Sketch:
    """Return a sketch of rows, with a layout derived from these rows."""
    return SketchLayout.of(rows, config).empty().add(rows, weights)
