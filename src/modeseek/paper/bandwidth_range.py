"""Effect of the width of the bandwidth range, h_max - h_min, on K, ACP and ALP."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from matplotlib.figure import Figure

from modeseek.datasets import paper_mixture
from modeseek.paper.comparison import COST_OF_FIT, COST_OF_POINT, FigureLayout, Panel, dsms_curves, outcome_table
from modeseek.paper.contenders import POLICIES, RESULT_COLUMNS, dsms_contender, fit_and_score, fixed_contenders
from modeseek.paper.experiment import SPREADS, Experiment, Job, grid_jobs, seed_for
from modeseek.paper.intervals import mean_interval
from modeseek.paper.rows import Row, Rows
from modeseek.report import TableBlock

# relative position of h_inf in the range: in the middle, or as in the paper's table, (0.6 - 0.2) / (1.6 - 0.2)
PLACES = {"middle": 0.5, "paper": 2 / 7}


@dataclass(frozen=True)
class BandwidthRange(Experiment):
    """DSMS on increasingly wide ranges around the best bandwidth of SMS, on the same data.

    Attributes
    ----------
    spreads : tuple of str
    n_per_cluster : int
    sweep : tuple of float
        Bandwidths of SMS; the one with the best K (computed from the true labels) becomes h_inf.
    widths : tuple of float
        Values of h_max - h_min; 0 is SMS.
    lowest : float
        Smallest h_min; a range that would begin below this value is shifted up and keeps its width.
    """

    spreads: tuple[str, ...] = ("std", "variance")
    n_per_cluster: int = 100
    sweep: tuple[float, ...] = (0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0)
    widths: tuple[float, ...] = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 1.8, 2.4)
    lowest: float = 0.1

    name: ClassVar[str] = "range"
    small: ClassVar = {"sweep": (0.6, 1.0, 1.2, 1.6), "widths": (0.0, 0.2, 0.8, 1.8)}
    columns: ClassVar[tuple[str, ...]] = ("spread", "run", "place", "width", "h_min", "h_max", *RESULT_COLUMNS)

    def jobs(self, runs: int) -> list[Job]:
        n_fits = len(self.sweep) + len(self.widths) * len(POLICIES) * len(PLACES)
        cost = n_fits * (COST_OF_FIT + COST_OF_POINT * 3 * self.n_per_cluster)
        return grid_jobs(runs, lambda cell: cost, spread=self.spreads)

    def work(self, job: Job, seed: int) -> list[Row]:
        X, truth = paper_mixture(self.n_per_cluster, spread=job.cell["spread"], random_state=seed_for(seed, job.run, 0))
        chance = seed_for(seed, job.run, 1)
        tried = [fit_and_score(each, X, truth, chance) for each in fixed_contenders(self.settings, self.sweep, ["SMS"])]
        best: Row = max(tried, key=lambda row: row["k"])  # type: ignore[arg-type, return-value]
        h_inf = float(best["h"])  # type: ignore[arg-type]
        # h_inf is chosen with one seed and evaluated with another: the best of many runs overestimates its own quality
        fresh = seed_for(seed, job.run, 2)
        sms = fit_and_score(fixed_contenders(self.settings, [h_inf], ["SMS"])[0], X, truth, fresh)
        rows: list[Row] = [{"width": 0.0, "h_min": row["h"], "h_max": row["h"], **row} for row in tried]
        for place, share in PLACES.items():
            for width in self.widths:
                h_min = h_inf if width == 0 else max(h_inf - share * width, self.lowest)
                settings = replace(self.settings, h_min=h_min, h_max=h_min + width, h_inf=h_inf)
                ends: Row = {"place": place, "width": width, "h_min": h_min, "h_max": h_min + width}
                for policy in POLICIES:
                    dsms = dsms_contender(settings, policy)
                    # a range of width 0 is SMS, which has been run with the same draws
                    row = fit_and_score(dsms, X, truth, fresh) if width else {**sms, "line": dsms.name}
                    rows.append({**ends, **row})
        return rows

    def draw(self, rows: Rows) -> dict[str, Figure]:
        measures = {"range": ("k", "acp", "alp"), "range-scores": ("k_weighted", "ari", "n_clusters")}
        return {
            f"{stem}-{spread}": self._layout(shown, [spread]).draw(rows)
            for spread in self.spreads
            for stem, shown in measures.items()
        }

    def tables(self, rows: Rows) -> list[TableBlock]:
        body = []
        for spread in self.spreads:
            best = rows.where(spread=spread, line=f"DSMS {POLICIES[0]}", place=next(iter(PLACES)), width=0.0)
            shares = [f"{h:g} ({len(best.where(h=h))})" for h in best.sorted("h")]
            body.append([SPREADS[spread], mean_interval(best["h"]).text(), ", ".join(shares)])
        caption = "The best bandwidth of SMS, by K, on each data set."
        chosen = TableBlock(["spread", "mean", "h (data sets)"], body, caption)
        measures = ("k", "acp", "alp")
        return [chosen, *self._layout(measures, self.spreads).tables(rows, measures), outcome_table(rows)]

    def _layout(self, measures: tuple[str, ...], spreads: Sequence[str]) -> FigureLayout:
        titles = {"middle": "h_inf in the middle", "paper": "h_inf 2/7 of the way up"}
        return FigureLayout(
            x="width",
            x_label="width of the range, h_max - h_min",
            measures=measures,
            panels=tuple(
                Panel(f"{titles[place]}\n{SPREADS[spread]}", {"spread": spread, "place": place})
                for spread in spreads
                for place in PLACES
            ),
            curves=dsms_curves(),
            reference={"n_clusters": 3.0},
        )
