"""The steps of the segmentation: colours, density on the grid, regions."""

import numpy as np
import pytest
from skimage import color, data

from modeseek.images.cielab import to_cielab
from modeseek.images.config import DEFAULT_CONFIG
from modeseek.images.density_modes import Bandwidths, count_pixels, modes_of_cells
from modeseek.images.input_image import check_image
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
    cells = count_pixels(image, Bandwidths(10.0, 10.0), 1 << 20, DEFAULT_CONFIG)
    assert cells.weight == 2000
    heights = np.log(kernel_mass(cells.means, cells.means, 1.0, profile=BIWEIGHT, weights=cells.counts))
    # at prominence 0, every cell without a higher cell in reach is a mode
    apart = np.linalg.norm(cells.means[:, None] - cells.means[None], axis=2)
    higher = (apart <= 1) & (heights[None] > heights[:, None] + 1e-12)
    assert modes_of_cells(cells, 0.0).max() + 1 == int((~higher.any(axis=1)).sum())


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
