"""The command `modeseek segment`."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from commands import run as call
from modeseek._storage.image_files import read_image, write_image
from modeseek.images import segment

PICTURE = np.asarray(Image.open(Path(__file__).parents[2] / "examples" / "still-life.png"))[::2, ::2]
RGB = np.random.default_rng(0).integers(0, 256, (40, 50, 3)).astype(np.uint8)


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "still-life.png"
    Image.fromarray(PICTURE).save(path)
    return str(path)


def test_segment_writes_labels_overlay_and_summary(picture, tmp_path):
    out = {name: str(tmp_path / name) for name in ("labels.png", "over.png", "summary.json")}
    done = call(
        *("segment", picture, "-o", out["labels.png"], "--overlay", out["over.png"]),
        *("--json", out["summary.json"]),
    )
    assert done[0] == 0
    assert "6 regions in 120 x 160 pixels of still-life.png" in done[1]
    with Image.open(out["labels.png"]) as image:
        assert image.mode == "P"
        labels = np.asarray(image)
    assert (labels == segment(PICTURE)).all()
    assert np.asarray(Image.open(out["over.png"])).shape == (120, 160, 3)
    record = json.loads(Path(out["summary.json"]).read_text())
    assert record["n_regions"] == len(record["regions"]) == 6
    assert sum(region["pixels"] for region in record["regions"]) == 120 * 160
    quiet = call("segment", picture, "-q", "-o", str(tmp_path / "labels.npy"))
    assert quiet[:2] == (0, "")
    assert (np.load(tmp_path / "labels.npy") == labels).all()


def test_segment_into_a_number_of_regions(picture, tmp_path):
    done = call("segment", picture, "--n-regions", "3", "-o", str(tmp_path / "labels.npy"))
    assert done[0] == 0
    assert "3 regions in 120 x 160 pixels" in done[1]
    assert np.load(tmp_path / "labels.npy").max() == 3
    assert done[2] == ""


def test_a_note_states_that_there_are_fewer_regions(picture):
    status, out, err = call("segment", picture, "--n-regions", "5,3000")
    found = [int(number) for number in re.findall(r"(\d+) regions in", out)]
    assert (status, found[0]) == (0, 5)
    assert found[1] < 3000
    assert f"note: no more than {found[1]} regions found; smaller bandwidths or a smaller minimum size give" in err


@pytest.mark.parametrize("ending", ["npy", "tif"])
def test_several_numbers_of_regions_write_layers(picture, tmp_path, ending):
    target, summary = tmp_path / f"layers.{ending}", tmp_path / "summary.json"
    done = call("segment", picture, "--n-regions", "3,6,12", "-o", str(target), "--json", str(summary))
    assert done[0] == 0
    assert "3 regions in 120 x 160 pixels" in done[1]
    assert "12 regions in 120 x 160 pixels" in done[1]
    layers = read_image(target).values
    assert (layers == segment(PICTURE, n_regions=(3, 6, 12))).all()
    record = json.loads(summary.read_text())
    assert record["shape"] == [3, 120, 160]
    assert [layer["n_regions"] for layer in record["layers"]] == [3, 6, 12]


def test_segment_reads_volumes(tmp_path):
    volume = np.zeros((12, 20, 20), np.uint16)
    volume[:, 5:15, 5:15] = 900
    write_image(tmp_path / "volume.npy", volume)
    done = call("segment", str(tmp_path / "volume.npy"), "--spacing", "2,1,1", "-o", str(tmp_path / "labels.tif"))
    assert done[0] == 0
    assert "2 regions in 12 x 20 x 20 voxels" in done[1]
    assert "read as a grey volume of 12 x 20 x 20 voxels" in done[2]
    assert read_image(tmp_path / "labels.tif").values.shape == volume.shape


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["goood.png"], r"there is no file '.*goood.png'. Did you mean 'good.png'?"),
        (["notes.txt"], r"not an image that can be read; supported: .png, .jpg"),
        (["broken.png"], r"broken.png' cannot be read as PNG"),
        (["good.png", "-o", "labels.jpg"], r"unknown ending '.jpg'.*Known: .png, .tif, .tiff, .npy"),
        (["good.png", "-o", "good.png"], r"-o good.png is also an input file"),
        (["good.png", "--spacing", "1;2"], r"--spacing must be numbers separated by commas"),
        (["good.png", "--n-regions", "5;20"], r"--n-regions must be an integer, or several separated by commas"),
        (["good.png", "--n-regions", "5,20", "-o", "x.png"], r"x.png can hold one label image, .* has 2 numbers: use"),
        (["good.png", "--n-regions", "5,20", "--overlay", "x.png"], r"--overlay shows one label image"),
        (["good.png", "--n-regions", "0"], r"good.png: n_regions must be a whole number >= 1"),
        (["good.png", "--channel-axis", "last"], r"--channel-axis must be an integer or none; got 'last'"),
        (["volume.npy", "--overlay", "o.png"], r"--overlay is for images: .*volume.npy is a volume"),
        (["good.png", "--colour-bandwidth", "-3"], r"good.png: color_bandwidth must be a finite number > 0"),
    ],
)
def test_invalid_arguments_are_rejected(tmp_path, monkeypatch, arguments, says):
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


def test_without_scikit_image(picture, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "modeseek.images.segmentation.find_spec", lambda name: None if name == "skimage" else found(name)
    )
    status, _, err = call("segment", picture)
    assert status == 2
    assert 'images need scikit-image: pip install "modeseek[images]"' in err
