"""Pictures: regions as they should be, the same in any tiles; files, the command, and mistakes."""

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage import color, data
from skimage.measure import label as parts_of
from sklearn.metrics import adjusted_rand_score, rand_score

from commands import run as call
from modeseek._common.hints import AdviceWarning
from modeseek._storage import DataError, read_picture, write_picture
from modeseek.images import overlay, segment
from modeseek.images.basins import Scales, basins, survey
from modeseek.images.colours import lab, unit_range
from modeseek.images.picture import check_picture
from modeseek.images.regions import Regions
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.meanshift.objective import kernel_mass

EXAMPLES = Path(__file__).parents[2] / "examples"


def still_life():
    spec = importlib.util.spec_from_file_location("still_life", EXAMPLES / "still_life.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scene()


@pytest.fixture(scope="module")
def scene():
    return still_life()


@pytest.fixture(scope="module")
def noisy():
    """A photograph, small, with regions that meet every border between bands."""
    return data.coffee()[::3, ::3]


def as_sets(labels):
    """The partition, whatever its numbers are."""
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape)


def test_the_example_is_found(scene):
    """Seven surfaces under noise, at the defaults."""
    image, things = scene
    labels = segment(image)
    assert labels.max() == 7
    assert adjusted_rand_score(things.ravel(), labels.ravel()) > 0.99
    assert (np.asarray(Image.open(EXAMPLES / "still-life.png")) == image).all()


def test_colours_are_those_of_scikit_image():
    rgb = np.random.default_rng(0).integers(0, 256, (500, 3)).astype(np.uint8)
    assert lab(rgb) == pytest.approx(color.rgb2lab(rgb), abs=1e-9)
    assert lab(unit_range(rgb)) == pytest.approx(lab(rgb), abs=1e-9)
    wide = rgb.astype(np.uint16) * 257
    assert lab(wide) == pytest.approx(lab(rgb), abs=1e-9)


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("tile", [1, 2_000, 7_777, 20_000])
def test_tiles_change_no_label(noisy, tile, connected):
    whole = segment(noisy, enforce_connectivity=connected)
    assert whole.max() > 10
    assert (segment(noisy, enforce_connectivity=connected, tile=tile) == whole).all()


def test_tiles_change_no_label_of_a_volume_with_a_mask():
    rng = np.random.default_rng(1)
    volume = rng.normal(0, 0.1, (17, 24, 20, 2))
    volume[4:12, 5:15, 3:18] += 1.0
    volume[13:, :12, :, 1] += 0.6
    mask = np.ones(volume.shape[:3], bool)
    mask[6:9, :, :4] = False
    mask[0] = False
    settings = {"mask": mask, "spacing": (2.0, 1.0, 1.0), "min_size": 3, "prominence": 0.2}
    whole = segment(volume, **settings)
    assert whole.max() > 2
    assert ((whole == 0) == ~mask).all()
    for tile in (1, 1_000, 3_000):
        assert (segment(volume, tile=tile, **settings) == whole).all()


def test_a_region_over_many_tiles_is_one():
    """A spiral meets itself only at its end: parts of one band belong together by what comes in later bands."""
    image = np.zeros((60, 60), np.uint8)
    image[5:55, 5:10] = image[50:55, 5:50] = image[15:55, 45:50] = image[15:20, 20:50] = image[15:40, 20:25] = 255
    labels = segment(image, spatial_bandwidth=100.0, min_size=1, tile=60)
    assert labels.max() == 2
    assert (labels[image == 255] == 2).all()


def test_the_density_is_that_of_all_cells(noisy):
    """Slow twin: sums over all pairs instead of those in reach."""
    picture = check_picture(noisy[:40, :50], None, None, None, -1, 1 << 20)
    cells = survey(picture, Scales(10.0, 10.0), 1 << 20)
    assert cells.weight == 2000
    heights = np.log(kernel_mass(cells.means, cells.means, 1.0, profile=BIWEIGHT, weights=cells.counts))
    # without a threshold every cell that has no higher one in reach is a mode
    apart = np.linalg.norm(cells.means[:, None] - cells.means[None], axis=2)
    higher = (apart <= 1) & (heights[None] > heights[:, None] + 1e-12)
    assert basins(cells, 0.0).max() + 1 == int((~higher.any(axis=1)).sum())


def test_regions_are_connected_and_not_small(noisy):
    labels = segment(noisy, min_size=40)
    assert parts_of(labels, connectivity=1).max() == labels.max()
    sizes = np.bincount(labels.ravel())[1:]
    assert sizes.min() >= 40
    assert (np.diff(sizes) <= 0).all()
    scattered = segment(noisy, min_size=0, enforce_connectivity=False)
    assert parts_of(scattered, connectivity=1).max() > scattered.max()


def test_small_regions_join_the_neighbour_like_them():
    sums = np.array([[0], [90], [100 * 50], [8 * 90]]) * 1
    regions = Regions(np.array([50, 1, 50, 8]), sums, np.array([[0, 1], [1, 2], [0, 3]]))
    left, number = regions.without_small(5)
    assert number.tolist() == [0, 1, 1, 2]
    assert left.sizes.tolist() == [50, 51, 8]
    assert left.pairs.tolist() == [[0, 1], [0, 2]]
    assert regions.without_small(9)[1].tolist() == [0, 1, 1, 0]
    alone = Regions(np.array([2]), np.array([[4]]), np.zeros((0, 2), np.int64))
    assert alone.without_small(10)[1].tolist() == [0]


def test_kinds_of_numbers_give_the_same_regions(scene):
    image = scene[0][::2, ::2]
    labels = as_sets(segment(image))
    assert (as_sets(segment(image.astype(np.uint16) * 257)) == labels).all()
    assert (as_sets(segment((image.astype(np.uint16) * 257).astype(">u2"))) == labels).all()
    assert (as_sets(segment(image / 255)) == labels).all()
    assert (as_sets(segment(np.moveaxis(image, -1, 0), channel_axis=0)) == labels).all()
    grey = image[..., 0]
    assert (segment(grey) == segment(grey.astype(float) * 7 - 3, channel_axis=None)).all()


def test_other_channels_and_constant_pictures():
    image = np.zeros((40, 40, 5), np.float32)
    image[:, 20:, 3] = 4000.0
    assert segment(image)[0, [0, 39]].tolist() == [1, 2]
    assert segment(np.full((20, 30), 7.0)).max() == 1
    assert segment(np.zeros((1, 1, 3), np.uint8), start_label=0).tolist() == [[0]]
    assert segment(image[..., 3] > 0).max() == 2


def test_spacing_stretches_the_plane():
    image = np.zeros((64, 64), np.uint8)
    image[:, 28:36] = 255
    settings = {"spatial_bandwidth": 30.0, "enforce_connectivity": False}
    assert segment(image, **settings).max() == 2
    # with the halves farther apart than any kernel reaches, they are regions of their own
    assert segment(image, spacing=(1.0, 10.0), **settings).max() > 2


def test_labels_are_written_where_they_are_wanted(scene, tmp_path):
    image = scene[0][::2, ::2]
    target = np.lib.format.open_memmap(tmp_path / "labels.npy", "w+", np.int32, image.shape[:2])
    np.save(tmp_path / "image.npy", image)
    assert segment(np.load(tmp_path / "image.npy", mmap_mode="r"), out=target) is target
    assert (target == segment(image)).all()


def test_an_overlay_shows_boundaries(scene):
    image, _ = scene
    labels = segment(image)
    drawn = overlay(image, labels)
    assert drawn.dtype == np.uint8
    yellow = (drawn == (255, 255, 0)).all(axis=-1)
    assert 0.01 < yellow.mean() < 0.1
    far = np.s_[:40, :200]
    assert (drawn[far] == image[far]).all()
    assert overlay(image[..., 0].astype(float), labels).shape == image.shape


@pytest.mark.parametrize("suffix", [".png", ".tif", ".npy"])
def test_labels_come_back_from_files(tmp_path, suffix):
    labels = np.arange(600).reshape(20, 30)
    write_picture(tmp_path / f"labels{suffix}", labels)
    assert (read_picture(tmp_path / f"labels{suffix}").values == labels).all()
    if suffix == ".png":
        with pytest.raises(DataError, match=r"from 0 to 65,535.*\.tif or \.npy"):
            write_picture(tmp_path / "many.png", labels + 70_000)
        with pytest.raises(DataError, match=r"volume need \.tif or \.npy"):
            write_picture(tmp_path / "volume.png", labels[None])


def test_files_as_people_have_them(tmp_path, scene):
    rgb = Image.fromarray(scene[0])
    rgb.convert("RGBA").save(tmp_path / "opaque.png")
    read = read_picture(tmp_path / "opaque.png")
    assert (read.values == scene[0]).all()
    assert "opacity" in read.note
    rgb.convert("P").save(tmp_path / "palette.png")
    assert read_picture(tmp_path / "palette.png").values.shape == scene[0].shape
    rgb.convert("L").save(tmp_path / "grey.png")
    assert read_picture(tmp_path / "grey.png").values.shape == scene[0].shape[:2]
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    rgb.save(tmp_path / "upright.jpg", exif=exif)
    assert read_picture(tmp_path / "upright.jpg").values.shape == (320, 240, 3)


def test_the_command(tmp_path):
    out = {name: str(tmp_path / name) for name in ("labels.png", "over.png", "summary.json")}
    done = call(
        *("segment", str(EXAMPLES / "still-life.png"), "-o", out["labels.png"], "--overlay", out["over.png"]),
        *("--json", out["summary.json"]),
    )
    assert done[0] == 0
    assert "7 regions in 240 x 320 pixels of still-life.png" in done[1]
    with Image.open(out["labels.png"]) as picture:
        assert picture.mode == "I;16"
        labels = np.asarray(picture)
    assert (labels == segment(still_life()[0])).all()
    assert np.asarray(Image.open(out["over.png"])).shape == (240, 320, 3)
    record = json.loads(Path(out["summary.json"]).read_text())
    assert record["n_regions"] == len(record["regions"]) == 7
    assert sum(region["pixels"] for region in record["regions"]) == 240 * 320
    quiet = call("segment", str(EXAMPLES / "still-life.png"), "-q", "-o", str(tmp_path / "labels.npy"))
    assert quiet[:2] == (0, "")
    assert (np.load(tmp_path / "labels.npy") == labels).all()


def test_the_command_takes_volumes(tmp_path):
    volume = np.zeros((12, 20, 20), np.uint16)
    volume[:, 5:15, 5:15] = 900
    write_picture(tmp_path / "volume.npy", volume)
    done = call("segment", str(tmp_path / "volume.npy"), "--spacing", "2,1,1", "-o", str(tmp_path / "labels.tif"))
    assert done[0] == 0
    assert "2 regions in 12 x 20 x 20 voxels" in done[1]
    assert "read as a grey volume of 12 x 20 x 20 voxels" in done[2]
    assert read_picture(tmp_path / "labels.tif").values.shape == volume.shape


RGB = np.random.default_rng(0).integers(0, 256, (40, 50, 3)).astype(np.uint8)
HOLE = RGB / 255
HOLE[3, 4, 1] = np.nan


@pytest.mark.parametrize(
    ("image", "settings", "says"),
    [
        ("photo.jpg", {}, r"got the name 'photo.jpg': read the file first, with skimage.io.imread"),
        (RGB.astype(int), {}, r"got int64: give image.astype\(np.uint8\)"),
        (RGB.astype(float), {}, r"floats from 0 to 255.*divide by 255, or pass convert2lab=False"),
        (HOLE, {}, r"first at pixel \(3, 4, channel 1\).*mask=np.isfinite\(image\).all\(axis=channel_axis\)"),
        (HOLE[..., 1], {}, r"first at pixel \(3, 4\).*mask=np.isfinite\(image\)\."),
        (np.dstack([RGB, RGB[..., 0]]), {}, r"4 channels.*image\[..., :3\].*convert2lab=False"),
        (np.moveaxis(RGB, -1, 0), {}, r"50 channels along axis -1.*channel_axis=0 where channels come first"),
        (RGB[0, :, 0], {}, r"a picture \(rows, columns\) or a volume.*got shape \(50,\)"),
        (RGB[:0], {}, r"no pixels: its shape is \(0, 50, 3\)"),
        (RGB, {"mask": np.ones((50, 40))}, r"mask has shape \(50, 40\) where the picture has \(40, 50\)"),
        (RGB, {"mask": np.zeros((40, 50))}, r"mask leaves no pixel"),
        (RGB, {"spatial_bandwidth": 0}, r"spatial_bandwidth must be a finite number > 0; got 0"),
        (RGB, {"spacing": (1, 1, 1)}, r"one for each of the 2 axes of space; got \(1, 1, 1\)"),
        (RGB, {"channel_axis": 5}, r"channel_axis=5 is no axis of an image of shape \(40, 50, 3\)"),
        (RGB, {"start_label": 2}, r"start_label must be 0 or 1; got 2"),
        (RGB, {"out": np.zeros((40, 50), np.uint8)}, r"int32 or int64 array of shape \(40, 50\); got uint8"),
        (RGB[..., :2], {"convert2lab": True}, r"needs the 3 channels of RGB; image has 2"),
    ],
)
def test_mistakes(image, settings, says):
    with pytest.raises((TypeError, ValueError), match=says):
        segment(image, **settings)


def test_whoever_watches_is_told():
    told = []
    segment(RGB, tile=1000, watch=told.append)
    assert [(stage.name, stage.done, stage.total) for stage in told] == [
        (name, done, 40) for name in ("counting", "labelling", "numbering") for done in (20, 40)
    ]


def test_a_gap_can_be_masked():
    labels = segment(HOLE, mask=np.isfinite(HOLE).all(axis=-1))
    assert labels[3, 4] == 0
    assert (labels == 0).sum() == 1


def test_bandwidths_that_are_too_small(monkeypatch):
    monkeypatch.setattr("modeseek.images.basins.LIMIT", 150)
    with pytest.raises(ValueError, match=r"cut this picture into more than 150 cells.*take a larger bandwidth"):
        segment(RGB)
    grey = RGB[..., 0] // 8
    with pytest.warns(AdviceWarning, match="a bandwidth wide instead of half of one"):
        segment(grey, spatial_bandwidth=15.0, colour_bandwidth=20.0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gone.png"], r"there is no file '.*gone.png'. Did you mean 'good.png'?"),
        (["notes.txt"], r"no picture that can be read: known are .png, .jpg"),
        (["broken.png"], r"broken.png' cannot be read as PNG"),
        (["good.png", "-o", "labels.jpg"], r"unknown ending '.jpg'.*Known: .png, .tif, .tiff, .npy"),
        (["good.png", "-o", "good.png"], r"is the file that is read: give the result another name"),
        (["good.png", "--spacing", "1;2"], r"--spacing must be numbers with commas between"),
        (["good.png", "--channel-axis", "last"], r"--channel-axis must be a whole number or none; got 'last'"),
        (["volume.npy", "--overlay", "o.png"], r"--overlay is for pictures: .*volume.npy is a volume"),
        (["good.png", "--colour-bandwidth", "-3"], r"good.png: colour_bandwidth must be a finite number > 0"),
    ],
)
def test_mistakes_at_the_command(tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(RGB).save("good.png")
    Path("broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    Path("notes.txt").write_text("x")
    np.save("volume.npy", np.zeros((12, 20, 20), np.uint8))
    done = call("segment", *arguments)
    assert done[0] == 2
    assert done[2].splitlines()[-1].startswith("error: ")
    pattern = says.replace("?", r"\?")
    assert re.search(pattern, done[2]), done[2]


def test_without_scikit_image(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr("modeseek.images.extra.find_spec", lambda name: None if name == "skimage" else found(name))
    with pytest.raises(ImportError, match=r'pip install "modeseek\[images\]"'):
        segment(RGB)
    done = call("segment", str(EXAMPLES / "still-life.png"))
    assert done[0] == 2
    assert 'modeseek segment: pictures need scikit-image: pip install "modeseek[images]"' in done[2]


def test_nobody_imports_scikit_image_unasked():
    names = "sorted({'skimage', 'tifffile', 'PIL'} & set(sys.modules))"
    code = f"import sys, modeseek, modeseek.cli, modeseek.images; print({names})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_scores_of_the_benchmark(monkeypatch):
    """Against scikit-learn, and by hand: two halves found as one cover the larger to 6/10 and the smaller to 4/10."""
    pytest.importorskip("cv2")
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "benchmarks"))
    scores = importlib.import_module("picture_methods").scores
    rng = np.random.default_rng(0)
    found, person = rng.integers(0, 4, (8, 9)), rng.integers(0, 3, (8, 9))
    assert scores(found, [person])["ari"] == pytest.approx(adjusted_rand_score(person.ravel(), found.ravel()))
    assert scores(found, [person])["rand"] == pytest.approx(rand_score(person.ravel(), found.ravel()))
    same = scores(found, [found, found])
    assert same == pytest.approx({"ari": 1.0, "covering": 1.0, "rand": 1.0, "vi": 0.0}, abs=1e-12)
    halves = np.array([[0] * 6 + [1] * 4])
    one = scores(np.zeros((1, 10), int), [halves])
    assert one["covering"] == pytest.approx(0.6 * 0.6 + 0.4 * 0.4)
    assert one["vi"] == pytest.approx(-0.6 * np.log(0.6) - 0.4 * np.log(0.4))
    assert one["ari"] == 0.0
