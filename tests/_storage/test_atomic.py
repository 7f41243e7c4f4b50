"""Atomic writes: a file appears complete or not at all."""

import json
import os
import stat

import pytest

from inputs import put
from modeseek._storage.atomic import atomic_path, check_target, remove_parts, write_json
from modeseek._storage.errors import DataError


def test_atomic_in_another_folder(tmp_path):
    part = tmp_path / "work" / "rows.csv"
    part.parent.mkdir()
    with atomic_path(tmp_path / "a.csv", part=part) as made:
        made.write_text("new")
        assert made == part
    assert (tmp_path / "a.csv").read_text() == "new"
    assert not list(part.parent.iterdir())


def test_atomic_success_leaves_only_the_file(tmp_path):
    with atomic_path(tmp_path / "a.csv") as part:
        assert part.suffix == ".csv"
        assert part.parent == tmp_path
        part.write_text("new")
        assert not (tmp_path / "a.csv").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_atomic_failure_keeps_the_old_file(tmp_path, error):
    put(tmp_path, "a.csv", "old")
    with pytest.raises(error), atomic_path(tmp_path / "a.csv") as part:  # noqa: PT012
        part.write_text("half of the n")
        raise error
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_atomic_failure_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.csv"):
        raise RuntimeError
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
def test_atomic_keeps_permissions_and_links(tmp_path):
    real = put(tmp_path, "real.csv", "old")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(real)
    with atomic_path(tmp_path / "link.csv") as part:
        part.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_atomic_is_private_from_the_first_byte(tmp_path, monkeypatch):
    """Other users could open the temporary file before its permissions were set."""
    target = put(tmp_path, "a.csv", "old")
    target.chmod(0o600)
    seen, create = [], os.open

    def watched(path, flags, mode=0o777, **named):
        descriptor = create(path, flags, mode, **named)
        if flags & os.O_CREAT:
            seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", watched)
    with atomic_path(target) as part:
        part.write_text("new")
    assert seen == [0o600]


def test_remove_parts_keeps_files_of_the_user(tmp_path):
    """A date was taken for the random part of a temporary name."""
    put(tmp_path, ".run.20260101.ckpt", "a copy")
    with atomic_path(tmp_path / "run.ckpt") as part:
        pass
    (tmp_path / "run.ckpt").rename(part)
    remove_parts(tmp_path / "run.ckpt")
    assert [p.name for p in tmp_path.iterdir()] == [".run.20260101.ckpt"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_atomic_never_replaces_a_device():
    with pytest.raises(DataError, match="not a regular file"), atomic_path("/dev/null"):
        pass
    with pytest.raises(DataError, match="not a regular file"):
        check_target("/dev/null", [""])


def test_atomic_names_a_missing_folder(tmp_path):
    with (
        pytest.raises(DataError, match=r"cannot write .*No such file"),
        atomic_path(tmp_path / "no" / "a.csv"),
    ):
        pass


def test_check_target(tmp_path):
    check_target(tmp_path / "a.CSV", [".csv"])
    with pytest.raises(DataError, match=r"unknown ending '.cvs'. Did you mean '.csv'\?"):
        check_target(tmp_path / "a.cvs", [".csv", ".npy"])
    with pytest.raises(DataError, match="no ending"):
        check_target(tmp_path / "a", [".csv"])
    with pytest.raises(DataError, match=r"no folder .*create it first"):
        check_target(tmp_path / "no" / "a.csv", [".csv"])
    with pytest.raises(DataError, match="it is a folder"):
        check_target(tmp_path, [".csv"])


def test_write_json(tmp_path):
    write_json(tmp_path / "a.json", {"name": "Adélie", "n": 3})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"name": "Adélie", "n": 3}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "b.json", {"n": float("nan")})
    assert not (tmp_path / "b.json").exists()
