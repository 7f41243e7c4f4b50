"""Sensitivity of SMS to its bandwidth, and of DSMS to h_min, h_inf and h_max."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

from modeseek.paper.comparison import Curve, FigureLayout, OnPaperMixture, Panel, outcome_table
from modeseek.paper.contenders import POLICIES, Contender, dsms_contender, fixed_contenders
from modeseek.paper.experiment import SPREADS
from modeseek.paper.rows import Rows
from modeseek.plots import LineStyle, palette
from modeseek.report import TableBlock


@dataclass(frozen=True)
class Sweep(OnPaperMixture):
    """SMS at several bandwidths, and DSMS at several values of h_min, h_inf and h_max, on the paper's mixture."""

    bandwidths: tuple[float, ...] = (0.3, 0.6, 0.9, 1.2, 1.6, 2.0, 2.4, 3.2)
    h_mins: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6)
    h_infs: tuple[float, ...] = (0.3, 0.6, 0.9, 1.2, 1.6)
    h_maxs: tuple[float, ...] = (0.9, 1.2, 1.6, 2.0, 2.4, 3.2)

    name: ClassVar[str] = "sweep"
    small: ClassVar = {
        "sizes": (10, 50),
        "bandwidths": (0.3, 0.6, 1.2, 2.4),
        "h_mins": (0.05, 0.2, 0.4, 0.6),
        "h_infs": (0.3, 0.6, 1.2),
        "h_maxs": (0.9, 1.6, 2.4),
    }

    def contenders(self) -> list[Contender]:
        dsms = []
        varied = {"h_min": self.h_mins, "h_inf": self.h_infs, "h_max": self.h_maxs}
        for policy, (parameter, values) in product(POLICIES, varied.items()):
            for value in values:
                settings = replace(self.settings, **{parameter: value})  # type: ignore[arg-type]
                dsms.append(dsms_contender(settings, policy, name=f"DSMS {policy} over {parameter}", h=value))
        return [*fixed_contenders(self.settings, self.bandwidths, ["SMS"]), *dsms]

    def figures(self) -> dict[str, FigureLayout]:
        return {f"sweep-{spread}": self._layout([spread]) for spread in self.spreads}

    def tables(self, rows: Rows) -> list[TableBlock]:
        return [*self._layout(self.spreads).tables(rows, ("n_clusters", "ari")), outcome_table(rows)]

    def _layout(self, spreads: Sequence[str]) -> FigureLayout:
        blue, orange, green, pink, sky, red = palette(6)
        styles = {
            "SMS, its h": ("SMS", LineStyle(color=orange, marker="s")),
            "DSMS shrinking, h_inf": ("DSMS shrinking over h_inf", LineStyle(color=blue, marker="o", width=2.0)),
            "DSMS shrinking, h_max": ("DSMS shrinking over h_max", LineStyle(color=green, marker="^", width=2.0)),
            "DSMS shrinking, h_min": ("DSMS shrinking over h_min", LineStyle(color=sky, marker="P", width=2.0)),
            "DSMS walk, h_inf": ("DSMS walk over h_inf", LineStyle(color=red, marker="D", dash="--")),
            "DSMS walk, h_max": ("DSMS walk over h_max", LineStyle(color=pink, marker="v", dash="--")),
            "DSMS walk, h_min": ("DSMS walk over h_min", LineStyle(color=sky, marker="X", dash="--")),
        }
        return FigureLayout(
            x="h",
            x_label="h, h_min, h_inf or h_max",
            measures=("n_clusters", "ari"),
            panels=tuple(
                Panel(f"N = {n}\n{SPREADS[spread]}", {"spread": spread, "n_per_cluster": n})
                for spread, n in product(spreads, self.sizes)
            ),
            curves=tuple(Curve(label, {"line": name}, style) for label, (name, style) in styles.items()),
            reference={"n_clusters": 3.0},
            log_y=("n_clusters",),
        )
