"""Constants of the segmentation that have no parameter of their own in `segment`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SegmentConfig:
    """Constants that shape the result of `modeseek.images.segment`.

    Attributes
    ----------
    cell_level : int
        Cells of the grid have side 2 ** cell_level, in units of the bandwidths. At half a bandwidth, all cells within
        reach of a kernel are at most two cells away.
    max_cells : int
        Upper bound on the number of cells. If an image needs more, the side of the cells is doubled.
    bandwidths_per_side : float
        The default spatial bandwidth is the side of the image divided by this number. Objects that people outline are
        seldom smaller.
    min_bandwidth_pixels : float
        Lower bound on the default spatial bandwidth, in pixels: a cell then has two pixels along each axis.
    max_channels : int
        Upper bound on the number of channels. With more of them, most cells hold a single pixel and the density
        carries no information.
    """

    cell_level: int = -1
    max_cells: int = 200_000
    bandwidths_per_side: float = 16.0
    min_bandwidth_pixels: float = 4.0
    max_channels: int = 8


DEFAULT_CONFIG = SegmentConfig()
