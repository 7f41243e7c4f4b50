"""Constants of the segmentation that have no parameter of their own in `segment`."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SegmentConfig:
    """Constants that shape the result of `modeseek.images.segment`.

    The weights and edges are round numbers. They and the default threshold of `segment` were chosen by hand with
    photographs in view.

    Attributes
    ----------
    cell_level : int
        Cells of the grid have side 2 ** cell_level, in units of the bandwidths. At half a bandwidth, all cells within
        reach of a kernel are at most two cells away.
    max_cells : int
        Upper bound on the number of cells. If an image needs more, the side of the cells is doubled.
    bandwidths_per_side : float
        The default spatial bandwidth is the side of the image divided by this number. The modes are small parts of the
        objects in an image; merging joins them.
    min_bandwidth_pixels : float
        Lower bound on the default spatial bandwidth, in pixels: a cell then has two pixels along each axis.
    max_channels : int
        Upper bound on the number of channels. With more of them, most cells hold a single pixel and the density
        carries no information.
    color_bin : float
        Width of the bins of colour histograms, in CIELAB units.
    fine_sigma, border_sigma, texture_sigma : float
        Standard deviations, in pixels, of the Gaussian filters for fine detail, for the contrast at borders and for the
        local standard deviation.
    full_bandwidth : float
        If the spatial bandwidth has fewer pixels than this, the filters are narrower in proportion, down to half
        their width: small regions must not lie within the blur of a border.
    deviation_edges, detail_edges : tuple of float
        Edges of the bins of the two texture histograms: local standard deviation of lightness, and difference between
        the filters of `fine_sigma` and `border_sigma` (in absolute value).
    color_weight, texture_weight, border_weight : float
        Weights of the three terms of the dissimilarity of two regions: chi-squared distances of colour and of texture
        histograms, from 0 to 1, and the mean contrast along the common border, in CIELAB units.
    size_exponent : float
        The dissimilarity is multiplied by (smaller size / reference size) to this power, so that small regions merge
        first.
    reference_share : float
        The reference size as a share of the image.

    Examples
    --------
    >>> SegmentConfig(color_bin=4.0).color_bin  # segment(image, config=SegmentConfig(...))
    4.0
    """

    cell_level: int = -1
    max_cells: int = 200_000
    bandwidths_per_side: float = 28.0
    min_bandwidth_pixels: float = 4.0
    max_channels: int = 8
    color_bin: float = 5.0
    fine_sigma: float = 1.0
    border_sigma: float = 2.0
    texture_sigma: float = 3.0
    full_bandwidth: float = 14.0
    deviation_edges: tuple[float, ...] = (0.25, 0.6, 1.2, 2.1, 3.4, 5.3, 8.3, 12.7, 19.4)
    detail_edges: tuple[float, ...] = (0.0, 0.6, 1.6, 3.2, 5.8)
    color_weight: float = 1.0
    texture_weight: float = 1.0
    border_weight: float = 1 / 60
    size_exponent: float = 0.25
    reference_share: float = 0.01

    def for_bandwidth(self, pixels: float) -> SegmentConfig:
        """Return the configuration with filters for a spatial bandwidth of `pixels` pixels."""
        scale = min(max(pixels / self.full_bandwidth, 0.5), 1.0)
        return replace(
            self,
            fine_sigma=scale * self.fine_sigma,
            border_sigma=scale * self.border_sigma,
            texture_sigma=scale * self.texture_sigma,
        )


DEFAULT_CONFIG = SegmentConfig()
