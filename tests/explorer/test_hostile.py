"""No one is let in: names that try to be paths or code, uploads that are too large, and code that would run text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import modeseek
from modeseek._storage import DataError
from modeseek.explorer import Settings, Subject, data, from_bytes
from modeseek.explorer.export import python_code, stem

SOURCE = Path(modeseek.__file__).parent
TABLE = b"mass,species\n3750,Adelie\n5000,Gentoo\n"


@pytest.mark.parametrize(
    "name",
    ["../../../../etc/up.csv", "/etc/passwd.csv", "..\\..\\up.csv", "up.csv/../../x.csv", "~/x.csv", "a\nb.csv"],
)
def test_only_the_ending_of_an_uploads_name_is_used(name, tmp_path, monkeypatch):
    written = []
    write = Path.write_bytes
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", lambda self, content: written.append(self) or write(self, content))
    found = from_bytes(name, TABLE)
    assert [(path.name, path.parent.parent) for path in written] == [("upload.csv", tmp_path)]
    assert "/" not in found.name
    assert list(tmp_path.iterdir()) == []
    assert set(stem(Subject.of(found, ["mass"], standardise=False))) <= set("abcdefghijklmnopqrstuvwxyz-")


@pytest.mark.parametrize("name", ["x.csv\0.npy", "x." + 300 * "a", "x.pkl", "x"])
def test_odd_endings_are_refused(name):
    with pytest.raises((ValueError, OSError)):
        from_bytes(name, b"\x80\x04")


def test_uploads_are_bounded(monkeypatch):
    monkeypatch.setattr(data, "LARGEST_FILE", len(TABLE) - 1)
    with pytest.raises(DataError, match=r"'birds\.csv' has 0 MB, and the page takes 0 MB: give it to the command"):
        from_bytes("birds.csv", TABLE)
    monkeypatch.setattr(data, "LARGEST_FILE", len(TABLE))
    assert from_bytes("birds.csv", TABLE).features == ("mass",)


def test_the_server_is_on_the_loopback_address_below_a_token_and_bounds_messages():
    server = pytest.importorskip("modeseek.explorer.page.server")
    built = server.build(None, server.free_port(None), "secret-token")
    try:
        assert (built.address, built.prefix) == ("127.0.0.1", "/secret-token")
        assert (
            data.LARGEST_FILE * 4 / 3 < built._tornado.settings["websocket_max_message_size"] <= 2 * data.LARGEST_FILE
        )
    finally:
        built.stop()


def test_names_do_not_become_code():
    found = from_bytes("""a'); import os; ("x.csv""", b"""m'],x,"y"") or 1"\n1,2,3\n4,5,6\n""")
    code = python_code(Subject.of(found, found.features[:2], standardise=True), Settings("ms", bandwidth=1.0))
    names = {alias.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import) for alias in node.names}
    assert "os" not in names


FORBIDDEN = {"eval", "exec", "compile", "__import__", "system", "popen", "Popen", "loads_pickle", "unsafe_load"}


def test_nothing_in_the_package_runs_text_or_unpickles():
    found = []
    for path in SOURCE.rglob("*.py"):
        if path == SOURCE / "engines" / "cuda" / "translate.py":
            continue  # makes kernels of the functions in formulas.py, which nobody outside can give
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                found += [(path.name, name) for name in modules & {"pickle", "marshal", "shelve", "subprocess", "dill"}]
            if isinstance(node, ast.Call):
                # methods may share a name: re.compile, say
                name = getattr(node.func, "id", None)
                name = name or (node.func.attr if getattr(getattr(node.func, "value", 0), "id", "") == "os" else None)
                pickled = any(
                    each.arg == "allow_pickle" and getattr(each.value, "value", None) is not False
                    for each in node.keywords
                )
                found += [(path.name, name)] * (name in FORBIDDEN or pickled)
    assert found == []
