"""Maps of the quality of DSMS over h_min and h_max, for several geometries of the data."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from modeseek.estimators import DoublyStochasticMeanShift
from modeseek.paper.contenders import MEASURES, Contender, dsms_contender, fit_and_score
from modeseek.paper.experiment import BySpread, Job, grid_jobs, seed_for
from modeseek.paper.paper_chains import Mixture
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import legend, new_figure, style_panel
from modeseek.report import TableBlock

SHOWN = ("ari", "k", "n_clusters")


SETUPS = {
    "paper's mixture": Mixture(),
    "much overlap": Mixture(apart=0.8),
    "little overlap": Mixture(apart=1.6),
    "imbalance 16": Mixture((114, 29, 7)),
    "N = 15": Mixture((15, 15, 15)),
    "N = 150": Mixture((150, 150, 150)),
    "d = 5": Mixture(d=5),
    "d = 20": Mixture(d=20),
}


@dataclass(frozen=True)
class RangeMap(BySpread):
    """DSMS (shrinking) on a grid of ranges, and on the range that is chosen from the data.

    Attributes
    ----------
    setups : tuple of str
        Names in `SETUPS`.
    h_mins, h_maxs : tuple of float
        The grid, in units of `Mixture.unit`; pairs with h_min < h_max are run, with the default h_inf.
    most_runs : int
        Maximum number of data sets of a set-up.
    """

    setups: tuple[str, ...] = tuple(SETUPS)
    h_mins: tuple[float, ...] = (0.1, 0.2, 0.4, 0.7, 1.0, 1.4)
    h_maxs: tuple[float, ...] = (0.6, 0.9, 1.2, 1.6, 2.0, 2.6, 3.4)
    most_runs: int = 10

    name: ClassVar[str] = "range-map"
    small: ClassVar = {
        "setups": ("paper's mixture", "N = 15"),
        "h_mins": (0.2, 0.7),
        "h_maxs": (0.9, 1.6, 2.6),
    }
    also_shown: ClassVar[tuple[str, ...]] = ("range-map-k",)
    tables_shown: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...]] = ("spread", "setup", "run", "automatic", "h_min", "h_max", *SHOWN)

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each data set."""
        return grid_jobs(min(runs, self.most_runs), lambda cell: 800, spread=self.spreads, setup=self.setups)

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run DSMS on every range of the grid, and on the automatic range."""
        data = SETUPS[job.cell["setup"]]
        X, truth = data.draw(seed_for(seed, job.run, 0), job.cell["spread"])
        chance, rows = seed_for(seed, job.run, 1), []

        def row(contender: Contender, automatic: int, h_min: float, h_max: float) -> Row:
            found = fit_and_score(contender, X, truth, chance)
            shown = {name: found[name] for name in SHOWN}
            return {"automatic": automatic, "h_min": h_min, "h_max": h_max, **shown}

        for h_min in self.h_mins:
            for h_max in (each for each in self.h_maxs if each > h_min):
                low, high = h_min * data.unit, h_max * data.unit
                given = replace(self.settings, h_min=low, h_max=high, h_inf=float(np.sqrt(low * high)))
                rows.append(row(dsms_contender(given, "shrinking"), 0, h_min, h_max))
        model = DoublyStochasticMeanShift(random_state=chance).fit(X)
        own = Contender("automatic", None, DoublyStochasticMeanShift(model.h_min_, model.h_max_, model.h_inf_))
        return [*rows, row(own, 1, model.h_min_ / data.unit, model.h_max_ / data.unit)]

    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return a figure with the maps of ARI, and one with the maps of K."""
        return {f"range-map-{name}": self._draw_maps(rows, name) for name in ("ari", "k")}

    def _draw_maps(self, rows: Rows, name: str) -> Figure:
        setups = [str(each) for each in rows.distinct("setup")]
        across = min(4, len(setups))
        down = -(-len(setups) // across)
        figure = new_figure(3.3 * across + 0.6, 3.2 * down + 0.5)
        axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for ax, setup in zip(axes.flat, setups, strict=False):
            image = self._draw_map(ax, rows.where(setup=setup), name)
            style_panel(ax, title=setup)
            ax.grid(visible=False)
        for ax in axes.flat[len(setups) :]:
            ax.set_visible(False)
        for ax in axes[-1]:
            ax.set_xlabel("h_max")
        for ax in axes[:, 0]:
            ax.set_ylabel("h_min")
        legend(axes[0, 0], place="upper left")
        figure.colorbar(image, ax=axes, label=f"mean {MEASURES[name]}", shrink=0.7)
        return figure

    def _draw_map(self, ax: Axes, rows: Rows, name: str) -> Any:
        grid = np.array([[self.mean(rows, low, high, name) for high in self.h_maxs] for low in self.h_mins])
        image = ax.imshow(grid, origin="lower", aspect="auto", cmap="viridis", vmin=0.0, vmax=1.0)
        best = np.unravel_index(np.nanargmax(grid), grid.shape)
        ax.plot(best[1], best[0], "*", color="white", markeredgecolor="black", markersize=14, label="best by labels")
        # the grid is not evenly spaced: positions on the axes are interpolated in log h
        own = rows.where(automatic=1)
        x, y = (
            np.interp(np.log(own[each]), np.log(values), np.arange(len(values)))
            for each, values in (("h_max", self.h_maxs), ("h_min", self.h_mins))
        )
        outside = (own["h_max"] < self.h_maxs[0]) | (own["h_max"] > self.h_maxs[-1])
        outside |= (own["h_min"] < self.h_mins[0]) | (own["h_min"] > self.h_mins[-1])
        for kept, marker, label in ((~outside, "o", "automatic, each run"), (outside, "X", "automatic, off the map")):
            ax.plot(
                x[kept], y[kept], marker,
                color="#D55E00", markeredgecolor="white", markersize=6, alpha=0.8, label=label,
            )  # fmt: skip
        ax.set_xticks(range(len(self.h_maxs)), [f"{each:g}" for each in self.h_maxs])
        ax.set_yticks(range(len(self.h_mins)), [f"{each:g}" for each in self.h_mins])
        return image

    @staticmethod
    def mean(rows: Rows, h_min: float, h_max: float, name: str) -> float:
        """Return the mean of a measure on one range of the grid; NaN if it was not run."""
        values = rows.where(automatic=0, h_min=h_min, h_max=h_max)[name]
        return float(values.mean()) if len(values) else np.nan

    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return a table: the best range by labels and the automatic range, compared on the second half of the runs."""
        body = []
        for setup in rows.distinct("setup"):
            mine = rows.where(setup=setup)
            search, fresh = mine.halves()
            ranges = [(low, high) for low in self.h_mins for high in self.h_maxs if low < high]
            low, high = max(ranges, key=lambda each: self.mean(search, each[0], each[1], "ari"))
            own = fresh.where(automatic=1)
            body.append(
                [
                    str(setup), f"[{low:g}, {high:g}]", f"{self.mean(fresh, low, high, 'ari'):.2f}",
                    f"{self.mean(fresh, low, high, 'k'):.2f}",
                    f"[{np.median(own['h_min']):.2f}, {np.median(own['h_max']):.2f}]",
                    f"{own['ari'].mean():.2f}", f"{own['k'].mean():.2f}", f"{own['n_clusters'].mean():.1f}",
                ]
            )  # fmt: skip
        header = ["set-up", "best range by labels", "its ARI", "its K", "automatic range (median)", "its ARI", "its K"]
        caption = (
            "The best range is chosen by ARI on the first half of the data sets; both are scored on the second half. "
            "In d dimensions bandwidths are divided by sqrt(d / 2)."
        )
        return [TableBlock([*header, "its clusters"], body, caption)]
