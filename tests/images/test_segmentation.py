"""Segmentation: regions of known images, independence of the tile size, and messages for invalid input."""

import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage import color, data
from skimage.measure import label as connected_parts
from sklearn.metrics import adjusted_rand_score

from modeseek._common.hints import AdviceWarning
from modeseek.images import SegmentConfig, overlay, segment

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def scene():
    """The still life of the examples: the image, and the true region of each pixel."""
    spec = importlib.util.spec_from_file_location("still_life", EXAMPLES / "still_life.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scene()


@pytest.fixture(scope="module")
def noisy():
    """A small photograph whose regions cross every border between bands."""
    return data.coffee()[::3, ::3]


def as_sets(labels):
    """Return the partition with labels in a canonical order."""
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape)


def test_regions_of_the_example(scene):
    """Seven surfaces with noise, at the default settings."""
    image, things = scene
    labels = segment(image)
    assert labels.max() == 7
    assert adjusted_rand_score(things.ravel(), labels.ravel()) > 0.99
    assert (np.asarray(Image.open(EXAMPLES / "still-life.png")) == image).all()


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("tile", [1, 2_000, 7_777, 20_000])
def test_labels_do_not_depend_on_the_tile_size(noisy, tile, connected):
    whole = segment(noisy, enforce_connectivity=connected)
    assert whole.max() > 10
    assert (segment(noisy, enforce_connectivity=connected, tile=tile) == whole).all()


def test_labels_do_not_depend_on_the_tile_size_of_a_volume_with_a_mask():
    rng = np.random.default_rng(1)
    volume = rng.normal(0, 0.1, (17, 24, 20, 2))
    volume[4:12, 5:15, 3:18] += 1.0
    volume[13:, :12, :, 1] += 0.6
    mask = np.ones(volume.shape[:3], bool)
    mask[6:9, :, :4] = False
    mask[0] = False
    settings = {"mask": mask, "spacing": (2.0, 1.0, 1.0), "min_size": 3, "threshold": 0.2}
    whole = segment(volume, **settings)
    assert whole.max() > 2
    assert ((whole == 0) == ~mask).all()
    for tile in (1, 1_000, 3_000):
        assert (segment(volume, tile=tile, **settings) == whole).all()


def test_a_region_that_spans_many_tiles_is_one_region():
    """Parts of a spiral that are separate in one band are connected only by later bands."""
    image = np.zeros((60, 60), np.uint8)
    image[5:55, 5:10] = image[50:55, 5:50] = image[15:55, 45:50] = image[15:20, 20:50] = image[15:40, 20:25] = 255
    labels = segment(image, spatial_bandwidth=100.0, min_size=1, tile=60)
    assert labels.max() == 2
    assert (labels[image == 255] == 2).all()


def test_regions_are_connected_and_not_small(noisy):
    labels = segment(noisy, min_size=40)
    assert connected_parts(labels, connectivity=1).max() == labels.max()
    sizes = np.bincount(labels.ravel())[1:]
    assert sizes.min() >= 40
    assert (np.diff(sizes) <= 0).all()
    scattered = segment(noisy, min_size=0, enforce_connectivity=False)
    assert connected_parts(scattered, connectivity=1).max() > scattered.max()


def test_layers_are_nested(noisy):
    layers = segment(noisy, n_regions=(3, 12, 40))
    assert [int(layer.max()) for layer in layers] == [3, 12, 40]
    for coarse, fine in itertools.pairwise(layers):
        # each fine region lies in one coarse region
        assert len(np.unique(np.stack([coarse.ravel(), fine.ravel()]), axis=1).T) == fine.max()
    assert (segment(noisy, n_regions=12) == layers[1]).all()
    assert (segment(noisy, n_regions=[12], tile=3_000, out=np.zeros((1, *noisy.shape[:2]), int)) == layers[1]).all()
    at_levels = segment(noisy, threshold=[0.3, 0.9])
    assert at_levels[0].max() > at_levels[1].max() > 1
    assert segment(noisy, threshold=0).max() > segment(noisy, threshold=0.3).max()
    assert segment(noisy, n_regions=1).max() == 1


def test_regions_that_differ_in_texture_only():
    """Two halves have the same mean; one is flat, the other has stripes of two pixels."""
    image = np.full((80, 120), 128, np.uint8)
    image[:, 60:] += np.tile(np.array([20, 20, -20, -20]).astype(np.uint8), 15)
    labels = segment(image, n_regions=2)
    truth = np.repeat([[0, 1]], 60, axis=1)
    assert adjusted_rand_score(np.broadcast_to(truth, image.shape).ravel(), labels.ravel()) > 0.8


def test_grey_and_the_same_grey_in_rgb_have_the_same_regions(noisy):
    grey = noisy[..., 1]
    lightness = color.rgb2lab(np.stack([grey] * 3, axis=-1))[..., 0]
    lightness[0, :2] = 0, 100  # fixes the range
    found = segment(lightness, n_regions=8, channel_axis=None)
    in_rgb = segment(np.stack([grey] * 3, axis=-1), n_regions=8)
    assert adjusted_rand_score(found.ravel(), in_rgb.ravel()) > 0.8


def test_all_number_types_give_the_same_regions(scene):
    image = scene[0][::2, ::2]
    labels = as_sets(segment(image))
    assert (as_sets(segment(image.astype(np.uint16) * 257)) == labels).all()
    assert (as_sets(segment((image.astype(np.uint16) * 257).astype(">u2"))) == labels).all()
    assert (as_sets(segment(image / 255)) == labels).all()
    assert (as_sets(segment(np.moveaxis(image, -1, 0), channel_axis=0)) == labels).all()
    grey = image[..., 0]
    assert (segment(grey) == segment(grey.astype(float) * 7 - 3, channel_axis=None)).all()


def test_other_channels_and_constant_images():
    image = np.zeros((40, 40, 5), np.float32)
    image[:, 20:, 3] = 4000.0
    assert segment(image)[0, [0, 39]].tolist() == [1, 2]
    assert segment(np.full((20, 30), 7.0)).max() == 1
    assert segment(np.zeros((1, 1, 3), np.uint8), start_label=0).tolist() == [[0]]
    assert segment(image[..., 3] > 0).max() == 2


def test_spacing_scales_distances():
    image = np.zeros((64, 64), np.uint8)
    image[:, 28:36] = 255
    settings = {"spatial_bandwidth": 30.0, "enforce_connectivity": False}
    assert segment(image, **settings).max() == 2
    # the halves are now farther apart than the kernel reaches
    assert segment(image, spacing=(1.0, 10.0), **settings).max() > 2


def test_labels_are_written_to_out(scene, tmp_path):
    image = scene[0][::2, ::2]
    target = np.lib.format.open_memmap(tmp_path / "labels.npy", "w+", np.int32, image.shape[:2])
    np.save(tmp_path / "image.npy", image)
    assert segment(np.load(tmp_path / "image.npy", mmap_mode="r"), out=target) is target
    assert (target == segment(image)).all()


def test_overlay_draws_boundaries(scene):
    image, _ = scene
    labels = segment(image)
    drawn = overlay(image, labels)
    assert drawn.dtype == np.uint8
    yellow = (drawn == (255, 255, 0)).all(axis=-1)
    assert 0.01 < yellow.mean() < 0.1
    far = np.s_[:40, :200]
    assert (drawn[far] == image[far]).all()
    assert overlay(image[..., 0].astype(float), labels).shape == image.shape


RGB = np.random.default_rng(0).integers(0, 256, (40, 50, 3)).astype(np.uint8)
HOLE = RGB / 255
HOLE[3, 4, 1] = np.nan


@pytest.mark.parametrize(
    ("image", "settings", "says"),
    [
        ("photo.jpg", {}, r"got the file name 'photo.jpg': read it with skimage.io.imread"),
        (RGB.astype(int), {}, r"got int64: pass image.astype\(np.uint8\)"),
        (RGB.astype(float), {}, r"floats from 0 to 255.*divide by 255, or pass convert2lab=False"),
        (HOLE, {}, r"first at pixel \(3, 4, channel 1\).*mask=np.isfinite\(image\).all\(axis=channel_axis\)"),
        (HOLE[..., 1], {}, r"first at pixel \(3, 4\).*mask=np.isfinite\(image\)\."),
        (np.dstack([RGB, RGB[..., 0]]), {}, r"4 channels.*image\[..., :3\].*convert2lab=False"),
        (np.moveaxis(RGB, -1, 0), {}, r"50 channels along axis -1.*pass the axis of channels"),
        (RGB[0, :, 0], {}, r"axes \(rows, columns\) or \(planes, rows, columns\).*got shape \(50,\)"),
        (RGB[:0], {}, r"no pixels: its shape is \(0, 50, 3\)"),
        (RGB, {"mask": np.ones((50, 40))}, r"mask has shape \(50, 40\), but the image has \(40, 50\)"),
        (RGB, {"mask": np.zeros((40, 50))}, r"mask selects no pixel"),
        (RGB, {"spatial_bandwidth": 0}, r"spatial_bandwidth must be a finite number > 0; got 0"),
        (RGB, {"spacing": (1, 1, 1)}, r"or 2 of them, one per axis; got \(1, 1, 1\)"),
        (RGB, {"channel_axis": 5}, r"channel_axis=5 is out of range for an image of shape \(40, 50, 3\)"),
        (RGB, {"n_regions": 0}, r"n_regions must be a whole number >= 1; got 0"),
        (RGB, {"threshold": []}, r"threshold is an empty sequence"),
        (RGB, {"start_label": 2}, r"start_label must be 0 or 1; got 2"),
        (RGB, {"out": np.zeros((40, 50), np.uint8)}, r"int32 or int64 array of shape \(40, 50\); got uint8"),
        (RGB[..., :2], {"convert2lab": True}, r"needs 3 channels \(RGB\); image has 2"),
    ],
)
def test_invalid_input_is_rejected(image, settings, says):
    with pytest.raises((TypeError, ValueError), match=says):
        segment(image, **settings)


def test_progress_is_reported_after_each_tile():
    told = []
    segment(RGB, tile=1000, progress=told.append)
    assert [(stage.name, stage.done, stage.total) for stage in told] == [
        (name, done, 40) for name in ("counting", "labelling", "measuring", "numbering") for done in (20, 40)
    ]


def test_nan_can_be_masked():
    labels = segment(HOLE, mask=np.isfinite(HOLE).all(axis=-1))
    assert labels[3, 4] == 0
    assert (labels == 0).sum() == 1


def test_bandwidths_that_are_too_small():
    config = SegmentConfig(max_cells=150)
    with pytest.raises(ValueError, match=r"divide this image into more than 150 cells.*use a larger bandwidth"):
        segment(RGB, config=config)
    grey = RGB[..., 0] // 8
    with pytest.warns(AdviceWarning, match="cells of one bandwidth instead of half a bandwidth"):
        segment(grey, spatial_bandwidth=15.0, color_bandwidth=20.0, config=config)


def test_without_scikit_image(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "modeseek.images.segmentation.find_spec", lambda name: None if name == "skimage" else found(name)
    )
    with pytest.raises(ImportError, match=r'pip install "modeseek\[images\]"'):
        segment(RGB)


def test_scikit_image_is_imported_only_when_needed():
    names = "sorted({'skimage', 'tifffile', 'PIL'} & set(sys.modules))"
    code = f"import sys, modeseek, modeseek.cli, modeseek.images; print({names})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
