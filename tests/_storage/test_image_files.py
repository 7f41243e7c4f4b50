"""Image files: labels survive a round trip, and common kinds of files are read."""

import numpy as np
import pytest
from PIL import Image

from modeseek._storage.errors import DataError
from modeseek._storage.image_files import read_image, write_image


@pytest.mark.parametrize("suffix", [".png", ".tif", ".npy"])
def test_labels_survive_a_round_trip(tmp_path, suffix):
    labels = np.arange(600).reshape(20, 30)
    write_image(tmp_path / f"labels{suffix}", labels)
    assert (read_image(tmp_path / f"labels{suffix}").values == labels).all()
    if suffix == ".png":
        with pytest.raises(DataError, match=r"from 0 to 65,535.*\.tif or \.npy"):
            write_image(tmp_path / "many.png", labels + 70_000)
        with pytest.raises(DataError, match=r"volume need \.tif or \.npy"):
            write_image(tmp_path / "volume.png", labels[None])


def test_few_labels_with_colours_are_a_palette_image(tmp_path):
    labels = np.arange(6).reshape(2, 3)
    colors = ["#ff0000", "#00ff00", "#0000ff", "#ffff00", "#00ffff", "#ff00ff"]
    write_image(tmp_path / "labels.png", labels, colors)
    with Image.open(tmp_path / "labels.png") as picture:
        assert picture.mode == "P"
        assert (np.asarray(picture) == labels).all()
        assert picture.convert("RGB").getpixel((1, 0)) == (0, 255, 0)
    write_image(tmp_path / "many.png", np.arange(600).reshape(20, 30), colors)
    assert (read_image(tmp_path / "many.png").values == np.arange(600).reshape(20, 30)).all()


def test_common_kinds_of_files(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (240, 320, 3)).astype(np.uint8)
    rgb = Image.fromarray(pixels)
    rgb.convert("RGBA").save(tmp_path / "opaque.png")
    read = read_image(tmp_path / "opaque.png")
    assert (read.values == pixels).all()
    assert "alpha channel" in read.note
    rgb.convert("P").save(tmp_path / "palette.png")
    assert read_image(tmp_path / "palette.png").values.shape == pixels.shape
    rgb.convert("L").save(tmp_path / "grey.png")
    assert read_image(tmp_path / "grey.png").values.shape == pixels.shape[:2]
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    rgb.save(tmp_path / "upright.jpg", exif=exif)
    assert read_image(tmp_path / "upright.jpg").values.shape == (320, 240, 3)
