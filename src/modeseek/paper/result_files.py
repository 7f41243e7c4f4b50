"""Write the rows and figures of experiments to a folder."""

from collections.abc import Mapping
from pathlib import Path

from joblib import Parallel, delayed

from modeseek._storage import atomic_path
from modeseek.paper.experiment import Experiment
from modeseek.paper.rows import Rows
from modeseek.plots import save_figure

FIGURE_SUFFIXES = (".png", ".svg")


def write_results(folder: Path, results: Mapping[Experiment, Rows], *, n_jobs: int | None = None) -> None:
    """Write the rows of each experiment as CSV, and its figures as PNG and SVG."""
    for name in ("data", "figures"):
        (folder / name).mkdir(exist_ok=True)
    for experiment, rows in results.items():
        with atomic_path(folder / "data" / f"{experiment.name}.csv") as part:
            part.write_text(rows.csv(), encoding="utf-8", newline="")
    # local processes even if jobs run on Dask, because they write local files
    Parallel(n_jobs, backend="loky")(delayed(_draw)(folder, experiment, rows) for experiment, rows in results.items())


def _draw(folder: Path, experiment: Experiment, rows: Rows) -> None:
    for stem, figure in experiment.draw(rows).items():
        for suffix in FIGURE_SUFFIXES:
            save_figure(folder / "figures" / f"{stem}{suffix}", figure)
