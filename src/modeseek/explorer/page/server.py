"""The server: one page on the loopback address, for this computer only."""

from __future__ import annotations

import errno
import secrets
import socket
import sys
import webbrowser
from typing import Any

import panel as pn
from panel.io.server import get_server

from modeseek.explorer.data import LARGEST_FILE, Data
from modeseek.explorer.page.theme import INSIDE
from modeseek.explorer.page.view import Explorer

__all__ = ["DEFAULT_PORT", "build", "serve"]

ADDRESS, DEFAULT_PORT = "127.0.0.1", 5808
# an upload comes as one message, in base 64; the page refuses what is a little too large by a sentence
LARGEST_MESSAGE = 2 * LARGEST_FILE
# bytes of chance in the address: other users of this computer reach the port, but do not know where the page is
TOKEN = 16
# a laptop that was closed finds its page again within this time
FORGET_AFTER_MS = 10 * 60 * 1000


def build(data: Data | None, port: int, token: str) -> Any:
    """Return a server that is not running yet, on the loopback address; it answers its page, below /token/, only."""
    pn.extension(raw_css=[INSIDE], notifications=False)

    def page() -> Any:
        explorer = Explorer(data)
        explorer.open()
        return explorer.template()

    return get_server(
        {"/": page},
        port=port,
        prefix=token,
        address=ADDRESS,
        websocket_origin=[f"{ADDRESS}:{port}", f"localhost:{port}"],
        title="modeseek explore",
        show=False,
        start=False,
        verbose=False,
        websocket_max_message_size=LARGEST_MESSAGE,
        unused_session_lifetime=FORGET_AFTER_MS,
    )


def free_port(port: int | None) -> int:
    """Return the port that was asked for, if it is free; where none was, the usual one or any."""
    for candidate in (DEFAULT_PORT, 0) if port is None else (port,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((ADDRESS, candidate))
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES) or port is None:
                    continue
                why = "in use" if error.errno == errno.EADDRINUSE else "not allowed for this user"
                raise ValueError(f"--port {port} is {why}: give another, or leave it out to have one found.") from None
            return int(probe.getsockname()[1])
    raise ValueError("no port is free on the loopback address: close some programs, or give a port with --port.")


def serve(data: Data | None = None, *, port: int | None = None, browser: bool = True) -> None:
    """Serve the page until Ctrl-C."""
    chosen = free_port(port)
    token = secrets.token_urlsafe(TOKEN)
    server = build(data, chosen, token)
    url = f"http://{ADDRESS}:{chosen}/{token}/"
    print(f"modeseek explore: {url}  (Ctrl-C ends it)", flush=True)
    if browser:
        server.io_loop.add_callback(webbrowser.open, url)
    try:
        server.start()
        server.io_loop.start()  # which Ctrl-C ends
    finally:
        server.stop()
    print("\nended.", file=sys.stderr)
