"""Limits of the explorer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ExplorerConfig:
    """Limits that keep the explorer responsive.

    Attributes
    ----------
    max_upload_bytes : int
        Largest file that the page accepts. Uploads are held in memory several times.
    max_shown : int
        Largest number of points that are drawn. If there are more rows, a random sample is drawn.
    max_groups : int
        A column with more distinct values is not offered as known groups.
    max_scan_rows : int
        Largest number of rows in a bandwidth scan. If there are more rows, a random sample is used.
    scan_low, scan_high : float
        Default ends of a bandwidth scan, as multiples of the automatic bandwidth.
    objective_points : int
        Largest number of points from which the objective L_h is computed. If there are more, a random sample is used.
    parts_per_sweep : int
        Number of frames per sweep, if points move one at a time.
    first_part : int
        Largest number of updates before the first frame of a run, so that it appears soon for large data.
    part_seconds : float
        Target duration of the computation of a later frame.
    max_clump_points : int
        With more points, clumps are not counted at every frame.
    clump_time_share : float
        Largest share of the time that is spent on counting the clumps of many points.
    """

    max_upload_bytes: int = 128 * 1024 * 1024
    max_shown: int = 20_000
    max_groups: int = 100
    max_scan_rows: int = 5_000
    scan_low: float = 0.25
    scan_high: float = 3.0
    objective_points: int = 600
    parts_per_sweep: int = 8
    first_part: int = 4096
    part_seconds: float = 0.1
    max_clump_points: int = 3000
    clump_time_share: float = 0.25


DEFAULT = ExplorerConfig()
