"""The command `modeseek explore`."""

import socket
import sys

import pytest

from commands import refused


def test_without_panel_the_command_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "panel", None)
    monkeypatch.delitem(sys.modules, "modeseek.explorer.page.server", raising=False)
    refused("modeseek explore needs Panel and Bokeh: pip install 'modeseek[explore]'", "explore", "--no-browser")


def test_a_missing_file_and_a_used_port_are_rejected(tmp_path):
    pytest.importorskip("panel")
    refused("there is no file", "explore", tmp_path / "none.csv", "--no-browser")
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        refused(f"port {port} is in use", "explore", "--port", port, "--no-browser")
