"""The progress bar, as a callback: `run` knows callbacks, never rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from modeseek.types import Callback, ChainState, SweepInfo

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(title: str, n_points: int) -> Iterator[list[Callback]]:
    """Show a line with updates, sweeps, bandwidth and largest shift on standard error while the block runs.

    Yields the callbacks to hand to `run`: none where standard error is no terminal, so pipes stay clean. The number
    of updates that a run needs is random, so the bar has no end to aim at.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield []
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"{title}: starting", total=None)

        def show(state: ChainState, info: SweepInfo) -> None:
            text = (
                f"{title}: {state.k:,} updates ({state.k / n_points:.0f} sweeps)"
                f"  h {state.h:.3g}  largest shift {info.largest_shift:.2g}"
            )
            progress.update(task, description=text)

        yield [show]
