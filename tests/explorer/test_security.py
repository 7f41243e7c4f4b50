"""Names that try to be paths, markup or code, large uploads, and code that would execute text."""

import ast
import logging
import stat
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import modeseek
from modeseek._storage.errors import DataError
from modeseek.explorer import ExplorerConfig, PreparedData, RunSettings, from_bytes
from modeseek.explorer.export import file_stem, run_code

SOURCE = Path(modeseek.__file__).parent
TABLE = b"mass,species\n3750,Adelie\n5000,Gentoo\n"


@pytest.mark.parametrize(
    "name",
    ["../../../../etc/up.csv", "/etc/passwd.csv", "..\\..\\up.csv", "up.csv/../../x.csv", "~/x.csv", "a\nb.csv"],
)
def test_an_upload_writes_no_file(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "open", lambda *arguments, **options: pytest.fail("a file is opened"))
    dataset = from_bytes(name, TABLE)
    assert "/" not in dataset.name
    assert list(tmp_path.iterdir()) == []
    stem = file_stem(PreparedData.select(dataset, ["mass"], standardize=False))
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz-")


@pytest.mark.parametrize("name", ["x.csv\0.npy", "x." + 300 * "a", "x.pkl", "x"])
def test_unknown_suffixes_are_rejected(name):
    with pytest.raises((ValueError, OSError)):
        from_bytes(name, b"\x80\x04")


def test_uploads_are_bounded():
    with pytest.raises(DataError, match=r"'birds\.csv' has 0 MB, but the page accepts 0 MB at most: pass the file"):
        from_bytes("birds.csv", TABLE, ExplorerConfig(max_upload_bytes=len(TABLE) - 1))
    dataset = from_bytes("birds.csv", TABLE, ExplorerConfig(max_upload_bytes=len(TABLE)))
    assert dataset.default_columns == ("mass",)


def test_the_server_is_on_the_loopback_address_below_a_token_and_bounds_messages():
    server = pytest.importorskip("modeseek.explorer.page.server")
    built = server.make_server(None, server.free_port(None), "secret-token")
    try:
        assert (built.address, built.prefix) == ("127.0.0.1", "/secret-token")
        limit = ExplorerConfig().max_upload_bytes
        assert limit * 4 / 3 < built._tornado.settings["websocket_max_message_size"] <= 2 * limit
    finally:
        built.stop()


def test_the_browser_gets_the_token_from_a_private_file(monkeypatch, capsys):
    """The address with the token was an argument of the browser, which other users see in the process list."""
    server = pytest.importorskip("modeseek.explorer.page.server")
    opened = []

    def open_browser(address):
        path = Path(urlsplit(address).path)
        mode = stat.S_IMODE(path.stat().st_mode) | stat.S_IMODE(path.parent.stat().st_mode)
        opened.append((address, path, mode & 0o077, path.read_text()))

    class Loop:
        def add_callback(self, function, *arguments):
            self.callback = lambda: function(*arguments)

        def start(self):
            self.callback()

    class Server:
        io_loop = Loop()

        def start(self): ...
        def stop(self): ...

    monkeypatch.setattr(server.webbrowser, "open", open_browser)
    monkeypatch.setattr(server, "make_server", lambda *arguments: Server())
    server.serve()
    url = capsys.readouterr().out.split()[2]
    token = url.split("/")[3]
    [(address, path, others, page)] = opened
    assert len(token) == 22
    assert token not in address
    assert others == 0
    assert f"url={url}" in page
    assert not path.parent.exists()


def test_names_cannot_add_code():
    dataset = from_bytes("""a'); import os; ("x.csv""", b"""m'],x,"y"") or 1"\n1,2,3\n4,5,6\n""")
    code = run_code(
        PreparedData.select(dataset, dataset.default_columns[:2], standardize=True),
        RunSettings("mean shift", {"bandwidth": 1.0}),
    )
    names = {alias.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import) for alias in node.names}
    assert "os" not in names


FORBIDDEN = {"eval", "exec", "compile", "__import__", "system", "popen", "Popen", "loads_pickle", "unsafe_load"}


def test_the_package_neither_executes_text_nor_unpickles():
    found = []
    for path in SOURCE.rglob("*.py"):
        if path.name == "translate.py" and "cuda" in path.parts:
            continue  # compiles the functions of formulas.py, which do not depend on input
        if path.name == "helper_processes.py":
            continue  # runs Python with statements of the package, which do not depend on input
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


def test_a_page_that_is_closed_while_it_is_drawn_prints_no_traceback(caplog):
    """Seen in a test that closes the browser: a write to the closed socket was logged as an error."""
    server = pytest.importorskip("modeseek.explorer.page.server")
    websocket = pytest.importorskip("tornado.websocket")
    server.make_server(None, server.free_port(None), "token").stop()
    asyncio, periodic = (logging.getLogger(name) for name in ("asyncio", "bokeh.util.tornado"))
    try:
        raise websocket.WebSocketClosedError
    except websocket.WebSocketClosedError:
        asyncio.exception("Task exception was never retrieved")
    periodic.error("Error thrown from periodic callback:")
    periodic.error("Traceback: tornado.websocket.WebSocketClosedError")
    periodic.error("Traceback: ValueError")
    assert [record.getMessage() for record in caplog.records] == ["Traceback: ValueError"]
