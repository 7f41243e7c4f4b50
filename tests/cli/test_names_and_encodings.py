"""File names that are not UTF-8, and terminals that cannot show every character."""

import io
import json
import os
import sys

import numpy as np
import pytest

from commands import refused, run
from modeseek import MeanShift
from modeseek._common.text import printable
from modeseek._storage.atomic import write_json
from modeseek.pipeline import DataOptions, Outputs, cluster_file

TEXT = "größe,b\n" + "".join(f"{x},{y}\n" for x, y in np.random.default_rng(0).normal(size=(30, 2)).round(3))


@pytest.fixture
def odd_file(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/birds-\xff.csv")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(TEXT)
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    return path


@pytest.mark.parametrize("suffix", ["json", "png", "svg", "html"])
def test_a_file_name_that_is_not_utf8(suffix, odd_file, tmp_path):
    """`--json` and `--plot` ended with an error about surrogates, or about arguments of a font."""
    field = {"json": "json", "html": "report"}.get(suffix, "plot")
    target = tmp_path / f"o.{suffix}"
    cluster_file(odd_file, MeanShift(1.0), DataOptions(), Outputs(**{field: str(target)}))
    content = target.read_bytes()
    if suffix == "json":
        assert rb"birds-\udcff.csv" in content
        assert os.fsencode(odd_file) in [
            os.fsencode(each) for each in json.loads(content).values() if isinstance(each, str)
        ]
    elif suffix == "html":
        assert "birds-�.csv" in content.decode("utf-8")


def test_names_are_not_read_as_formulas(tmp_path):
    r"""A column named $\frac$ ended the command, after the work."""
    path = tmp_path / "$x_$.csv"
    path.write_text("a $\\frac$,b\n0.0,1.0\n0.1,1.1\n5.0,4.0\n")
    outputs = ["--plot", tmp_path / "p.png", "--report", tmp_path / "r.html"]
    status, _, err = run("cluster", path, *outputs)
    assert status == 0, err
    assert all(each.exists() for each in outputs[1::2])


class AsciiOutput(io.TextIOWrapper):
    def __init__(self):
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="ascii", newline="")

    def content(self):
        self.flush()
        return self.bytes.getvalue().decode("utf-8")


def test_data_on_standard_output_is_utf8_in_every_locale(tmp_path, monkeypatch):
    """A column `größe` ended with `UnicodeEncodeError` if the locale was ASCII."""
    (tmp_path / "p.csv").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", AsciiOutput())
    cluster_file(tmp_path / "p.csv", MeanShift(1.0), DataOptions(), Outputs("-"))
    assert sys.stdout.content().startswith("größe,b,cluster\n")
    monkeypatch.setattr(sys, "stdout", AsciiOutput())
    write_json("-", {"name": "größe-\udcff"})
    assert json.loads(sys.stdout.content()) == {"name": "größe-\udcff"}


def test_the_screen_shows_escapes_for_characters_that_it_lacks(tmp_path, monkeypatch):
    (tmp_path / "p.csv").write_text(TEXT, encoding="utf-8")
    from modeseek.cli import app

    monkeypatch.setattr(sys, "stdout", AsciiOutput())
    monkeypatch.setattr(sys, "argv", ["modeseek", "cluster", str(tmp_path / "p.csv"), "--algorithm", "ms"])
    with pytest.raises(SystemExit) as end:
        app()
    assert not end.value.code
    assert r"gr\xf6\xdfe" in sys.stdout.content()


def test_messages_name_the_file(odd_file):
    assert printable(odd_file).endswith("birds-�.csv")
    assert run("cluster", odd_file, "--columns", "c")[0] == 2


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("can't start new thread"), "the system refused to start a thread"),
        (RuntimeError("Unknown error: Failed to launch worker thread: again"), "the system refused to start a thread"),
        # a limit on memory was reached while a library was loaded, and a traceback was printed
        (ImportError("a.so: failed to map segment from shared object"), "there is not enough memory"),
        (MemoryError(), "there is not enough memory"),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_lack_of_memory_or_threads_is_reported_in_one_line(error, message, wrapped, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        if wrapped:
            raise TypeError("compilation failed") from error
        raise error

    monkeypatch.setattr("modeseek.cli.cluster.cluster_file", fail)
    (tmp_path / "p.csv").write_text("x\n1\n2\n")
    refused(message, "cluster", tmp_path / "p.csv")
