"""Constants of the segmentation that have no parameter of their own in `segment`."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SegmentConfig:
    """Constants that shape the result of `modeseek.images.segment`.

    `benchmarks/picture_constants.py` chooses most of them, and the default threshold, on synthetic pictures.

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
    border_sigma, texture_sigma : float
        Standard deviations, in pixels, of the Gaussian filters for the contrast at borders and for the local standard
        deviation.
    full_bandwidth : float
        If the spatial bandwidth has fewer pixels than this, the filters are narrower in proportion, down to half
        their width: small regions must not lie within the blur of a border.
    deviation_edges : tuple of float
        Edges of the bins of the texture histogram: local standard deviation of lightness, five steps per decade.
    lightness_weight, texture_weight : float
        Weights of the chi-squared distances of the histograms of lightness and of texture in the dissimilarity of two
        regions. The histograms of a* and b* share the weight 1 - lightness_weight. Of two or three channels that are
        not colours, each has the weight 1/3.
    contrast_offset : float
        This is added to the contrast of a border, in CIELAB units, so that regions without a visible border are still
        compared by their histograms.
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
    bandwidths_per_side: float = 40.0
    min_bandwidth_pixels: float = 4.0
    max_channels: int = 8
    color_bin: float = 5.0
    border_sigma: float = 3.0
    texture_sigma: float = 3.0
    full_bandwidth: float = 14.0
    deviation_edges: tuple[float, ...] = (0.4, 0.63, 1.0, 1.6, 2.5, 4.0, 6.3, 10.0, 16.0)
    lightness_weight: float = 0.2
    texture_weight: float = 2.0
    contrast_offset: float = 2.0
    size_exponent: float = 0.3
    reference_share: float = 0.01

    def for_bandwidth(self, pixels: float) -> SegmentConfig:
        """Return the configuration with filters for a spatial bandwidth of `pixels` pixels."""
        scale = min(max(pixels / self.full_bandwidth, 0.5), 1.0)
        return replace(
            self,
            border_sigma=scale * self.border_sigma,
            texture_sigma=scale * self.texture_sigma,
        )


DEFAULT = SegmentConfig()
