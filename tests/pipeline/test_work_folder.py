"""The folder with the resume state: files of others are never touched, and rows are private while they are written."""

import os
import stat
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from modeseek._storage import work_folder, writing
from modeseek._storage.atomic import atomic_path
from modeseek._storage.errors import DataError
from modeseek._storage.work_folder import MARKER, WorkFolder
from modeseek.pipeline import DataOptions, PipelineInterrupted
from modeseek.pipeline.resume import SKETCH
from pipelines import At, X, cluster, interrupt, names
from pipelines import points as points

posix = pytest.mark.skipif(os.name != "posix", reason="links, permissions and locks as POSIX has them")


def contents(folder):
    return {str(path): (path.lstat().st_mode, not path.is_file() or path.read_text()) for path in folder.rglob("*")}


def users_folder(path):
    path.mkdir()
    (path / "thesis.txt").write_text("years of work")


def users_empty_folder(path):
    path.mkdir(mode=0o755)


def users_folder_with_a_lock(path):
    path.mkdir()
    (path / "lock").touch()


def users_folder_with_our_names(path):
    users_folder(path)
    (path / "lock").write_text("")
    (path / "state.modeseek").write_text("{}")


def users_file(path):
    path.write_text("a model, say")


def linked_folder(path):
    users_folder(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def linked_empty_folder(path):
    path.with_name("elsewhere").mkdir()
    path.symlink_to(path.with_name("elsewhere"))


def linked_lock(path):
    users_folder(path.with_name("elsewhere"))
    path.mkdir()
    (path / "lock").symlink_to(path.with_name("elsewhere") / "thesis.txt")


def linked_rows(path):
    users_folder(path.with_name("elsewhere"))
    folder = WorkFolder(path.with_suffix(""))
    folder.open()
    folder.close()
    (path / "rows.txt").symlink_to(path.with_name("elsewhere") / "thesis.txt")


@posix
@pytest.mark.parametrize(
    "make",
    [
        users_folder,
        users_empty_folder,
        users_folder_with_a_lock,
        users_folder_with_our_names,
        users_file,
        linked_folder,
        linked_empty_folder,
        linked_lock,
        linked_rows,
    ],
)
def test_what_is_not_ours_is_refused_and_kept(points, tmp_path, make):
    """A user's folder was emptied and removed, with status 0; the target of a link named lock was truncated."""
    make(tmp_path / "o.csv.modeseek")
    before = contents(tmp_path)
    for resume in (True, False):
        with pytest.raises(DataError, match=r"o\.csv\.modeseek' exists and is not a work folder of modeseek: rename"):
            cluster(points, tmp_path / "o.csv", resume=resume)
        assert contents(tmp_path) == before


@posix
def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    folder = WorkFolder(tmp_path / "o.csv")
    folder.open()
    folder.close()
    monkeypatch.setattr(os, "geteuid", lambda: folder.path.stat().st_uid + 1)
    with pytest.raises(DataError, match="not a work folder of modeseek"):
        folder.open()


def test_killed_before_the_folder_has_its_name(points, tmp_path, monkeypatch):
    """The marker was written after the folder was made, so that an empty folder had to be taken for ours.

    The next run did not remove the folder without its name.
    """

    def killed(path, target):
        os.close(os.open(path.with_name("seen"), os.O_CREAT))
        assert (path / "lock").read_bytes() == MARKER
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        patch.setattr(work_folder, "_remove_folder", lambda path: None)
        with pytest.raises(SystemExit):
            cluster(points, tmp_path / "o.csv")
    assert not (tmp_path / "o.csv.modeseek").exists()
    alike = tmp_path / ".o.csv.0123456789abcdef.modeseek"
    users_folder_with_our_names(alike)
    cluster(points, tmp_path / "o.csv")
    assert names(tmp_path) == [alike.name, "o.csv", "points.csv", "seen"]
    assert len(list(alike.iterdir())) == 3


@pytest.mark.parametrize("resume", [True, False])
def test_other_files_in_our_folder_are_kept(points, tmp_path, resume):
    with pytest.raises(PipelineInterrupted):
        cluster(points, tmp_path / "o.csv", progress=At(SKETCH, 8, interrupt))
    folder = tmp_path / "o.csv.modeseek"
    users_folder(folder / "chapters")
    (folder / "arrays-mine.npz").write_text("not modeseek's")
    cluster(points, tmp_path / "o.csv", resume=resume)
    assert names(folder) == ["arrays-mine.npz", "chapters"]
    assert names(folder / "chapters") == ["thesis.txt"]


@posix
def test_a_refused_run_leaves_the_folder_of_the_other(points, tmp_path):
    """The run that was refused removed the folder in which the other was at work."""
    other = WorkFolder(tmp_path / "o.csv")
    other.open()
    other.save({"n": 1})
    with pytest.raises(DataError, match="another run"):
        cluster(points, tmp_path / "o.csv")
    assert other.load(dict[str, int]) == {"n": 1}
    other.remove()
    assert names(tmp_path) == ["points.csv"]


ENTERED = """
    import os, sys
    from modeseek._storage import writing
    from modeseek._storage.errors import DataError
    from modeseek._storage.work_folder import WorkFolder

    target, entries = sys.argv[1], 0
    while entries < 100:
        folder = WorkFolder(target)
        try:
            folder.open()
        except DataError as error:
            assert "another run" in str(error), error
            continue
        os.close(os.open(f"{target}.inside", os.O_CREAT | os.O_EXCL))
        folder.save({})
        os.unlink(f"{target}.inside")
        entries += 1
        # the last entry of all removes the folder
        if entries % 2:
            folder.close()
        else:
            folder.remove()
"""


@posix
def test_only_one_process_is_inside(tmp_path):
    """The lock was released before the folder was removed: two could be inside at once."""
    command = [sys.executable, "-c", textwrap.dedent(ENTERED), str(tmp_path / "o.csv")]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    errors = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 3, errors
    assert names(tmp_path) == []


@posix
@pytest.mark.parametrize("ending", ["csv", "npy", "parquet"])
def test_rows_are_private_while_they_are_made(tmp_path, monkeypatch, ending):
    np.save(tmp_path / "points.npy", X)
    private, new = tmp_path / f"private.{ending}", tmp_path / f"new.{ending}"
    private.touch(mode=0o600)
    seen = set()

    @contextmanager
    def watched(target, mode=0o666, part=None):
        with atomic_path(target, mode, part) as made:
            yield made
            assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
            # other users cannot reach the files in the folder, whatever their permissions
            own = [path for path in made.parent.iterdir() if path != part or target == str(private)]
            seen.update(stat.S_IMODE(path.stat().st_mode) for path in own)

    monkeypatch.setattr(writing, "atomic_path", watched)
    umask = os.umask(0o022)
    try:
        for target in (private, new):
            cluster(tmp_path / "points.npy", target, data=DataOptions())
    finally:
        os.umask(umask)
    assert seen == {0o600}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (private, new)] == [0o600, 0o644]


def test_ctrl_c_while_the_folder_is_unlocked(tmp_path, monkeypatch):
    """The descriptor of the lock was closed twice, and the command reported a bad file descriptor."""
    folder, close = WorkFolder(tmp_path / "o.csv"), os.close
    folder.open()

    def interrupted(descriptor):
        close(descriptor)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            folder.close()
    folder.close()
