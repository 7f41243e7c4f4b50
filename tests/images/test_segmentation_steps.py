"""The steps of the segmentation: colours, density on the grid, regions."""

import numpy as np
import pytest
from skimage import color, data

from modeseek.images.cielab import to_cielab
from modeseek.images.config import DEFAULT
from modeseek.images.density_modes import Bandwidths, count_pixels, modes_of_cells
from modeseek.images.input_image import check_image
from modeseek.images.merging import merge_regions
from modeseek.images.pixel_features import pixel_features
from modeseek.images.region_graph import RegionGraph, measure_regions
from modeseek.images.regions import Regions
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.meanshift.objective import kernel_mass


def test_cielab_agrees_with_scikit_image():
    rgb = np.random.default_rng(0).integers(0, 256, (500, 3)).astype(np.uint8)
    assert to_cielab(rgb) == pytest.approx(color.rgb2lab(rgb), abs=1e-9)
    assert to_cielab(rgb / 255) == pytest.approx(to_cielab(rgb), abs=1e-9)
    assert to_cielab(rgb.astype(np.uint16) * 257) == pytest.approx(to_cielab(rgb), abs=1e-9)


def test_modes_agree_with_sums_over_all_pairs():
    image = check_image(data.coffee()[:120:3, :150:3], None, None, None, -1, tile=1 << 20, max_channels=8)
    cells = count_pixels(image, Bandwidths(10.0, 10.0), 1 << 20, DEFAULT)
    assert cells.counts.sum() == 2000
    heights = np.log(kernel_mass(cells.means, cells.means, 1.0, profile=BIWEIGHT, weights=cells.counts))
    # every cell without a higher cell in reach is a mode
    apart = np.linalg.norm(cells.means[:, None] - cells.means[None], axis=2)
    higher = (apart <= 1) & (heights[None] > heights[:, None] + 1e-12)
    assert modes_of_cells(cells).max() + 1 == int((~higher.any(axis=1)).sum())


def test_small_regions_join_the_neighbour_of_the_closest_colour():
    sums = np.array([[0], [90], [100 * 50], [8 * 90]]) * 1
    regions = Regions(np.array([50, 1, 50, 8]), sums, np.array([[0, 1], [1, 2], [0, 3]]))
    left, number = regions.without_small(5)
    assert number.tolist() == [0, 1, 1, 2]
    assert left.sizes.tolist() == [50, 51, 8]
    assert left.pairs.tolist() == [[0, 1], [0, 2]]
    assert regions.without_small(9)[1].tolist() == [0, 1, 1, 0]
    alone = Regions(np.array([2]), np.array([[4]]), np.zeros((0, 2), np.int64))
    assert alone.without_small(10)[1].tolist() == [0]


def test_regions_are_measured_as_pixel_by_pixel():
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (13, 17, 3)).astype(np.uint8)
    regions = rng.integers(0, 4, (13, 17))
    image = check_image(picture, None, None, None, -1, tile=1 << 20, max_channels=8)
    graph = measure_regions(image, lambda band: regions[band], 4, 1 << 20, DEFAULT)
    assert graph.sizes.tolist() == np.bincount(regions.ravel()).tolist()
    contrast = pixel_features(image, slice(0, 13), DEFAULT).contrast
    inner = [contrast[regions == i].sum() for i in range(4)]
    assert graph.inner_contrasts == pytest.approx(inner, abs=regions.size / 256)
    for (i, j), length, total in zip(graph.pairs.tolist(), graph.lengths, graph.contrasts, strict=True):
        along = [
            (contrast[p] + contrast[q]) / 2
            for p in np.ndindex(13, 17)
            for q in ((p[0] + 1, p[1]), (p[0], p[1] + 1))
            if q[0] < 13 and q[1] < 17 and {int(regions[p]), int(regions[q])} == {i, j}
        ]
        assert length == len(along)
        assert total == pytest.approx(sum(along), abs=len(along) / 256)


def test_contrast_is_the_height_of_a_step():
    picture = np.zeros((40, 40, 1))
    picture[:, 20:] = 30.0
    picture[0, 0] = 100.0  # the range of the image is 0 to 100, so that values are not rescaled
    image = check_image(picture, None, None, None, -1, tile=1 << 20, max_channels=8)
    contrast = pixel_features(image, slice(0, 40), DEFAULT).contrast
    assert contrast[30, 19:21] == pytest.approx([30, 30], rel=0.07)
    assert contrast[30, [2, 38]] == pytest.approx([0, 0], abs=1e-6)


def test_regions_that_are_alike_merge_first():
    """Four regions in a row: the middle two have nearly the same histogram, the last one is different."""
    histograms = np.array([[100.0, 0, 0], [0, 60, 40], [0, 55, 45], [0, 0, 100]])
    pairs, one = np.array([[0, 1], [1, 2], [2, 3]]), np.ones(3)
    graph = RegionGraph(np.full(4, 100.0), histograms, np.ones(3), np.zeros(4), pairs, 10 * one, 0 * one)
    tree = merge_regions(graph, DEFAULT)
    assert tree.cut_into(3).tolist() == [0, 1, 1, 2]
    assert tree.cut_into(2).tolist() == [0, 1, 1, 1]
    assert tree.cut_into(1).tolist() == [0, 0, 0, 0]
    assert tree.cut(0.0).tolist() == tree.cut_into(9).tolist() == [0, 1, 2, 3]
    assert (np.diff(np.sort(tree.heights)) >= 0).all()
    # by hand: half the chi-squared distance, no contrast, and regions of 25 times the reference size
    expected = (0.05**2 / 1.15 + 0.05**2 / 0.85) / 2 * DEFAULT.contrast_offset
    assert tree.heights.min() == pytest.approx(expected * 25**DEFAULT.size_exponent)


def test_a_weak_border_merges_before_a_strong_one():
    """The histograms on both sides of a border differ by the same amount."""
    sizes, histograms = np.array([50.0, 100, 100]), np.array([[45.0, 5], [50, 50], [90, 10]])
    pairs, contrasts = np.array([[0, 1], [1, 2]]), np.array([300.0, 20.0])

    def merged(inner):
        graph = RegionGraph(sizes, histograms, np.ones(2), inner, pairs, np.full(2, 10.0), contrasts)
        return merge_regions(graph, DEFAULT).cut_into(2).tolist()

    assert merged(np.zeros(3)) == [0, 1, 1]
    # the contrast within the smaller region is as large as on its border
    assert merged(np.array([1500.0, 0.0, 0.0])) == [0, 0, 1]
