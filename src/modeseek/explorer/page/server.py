"""The server: one page on the loopback address, for this computer only."""

import errno
import logging
import secrets
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import panel as pn
from panel.io.server import get_server

from modeseek._storage.atomic import PRIVATE, create, temporary_folder
from modeseek.explorer.config import DEFAULT
from modeseek.explorer.dataset import Dataset
from modeseek.explorer.page.explorer_page import ExplorerPage
from modeseek.explorer.page.style import read_asset

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 5808
# an upload is one message in base64, a third larger than the file; the limit leaves room for files that are slightly
# too large, which `from_bytes` rejects with a message
MAX_MESSAGE_BYTES = 2 * DEFAULT.max_upload_bytes
# random bytes in the address: other users of the computer can reach the port, but not guess the address of the page
TOKEN_BYTES = 16
# the session of a page is kept for this time after its connection is lost, for example while the computer sleeps
SESSION_MILLISECONDS = 10 * 60 * 1000


class PortError(ValueError):
    """A port that cannot be used.

    Attributes
    ----------
    port : int or None
        The requested port; None if no port is free.
    reason : str
    """

    def __init__(self, port: int | None, reason: str):
        self.port, self.reason = port, reason
        super().__init__("no port is free on the loopback address" if port is None else f"port {port} is {reason}")


def reports_more_than_a_closed_page(record: logging.LogRecord) -> bool:
    """Return False for the log records that a page was closed while it was drawn, which is not an error."""
    text = record.getMessage() + repr(record.exc_info)
    return "WebSocketClosedError" not in text and text != "Error thrown from periodic callback:None"


def make_server(dataset: Dataset | None, port: int, token: str) -> Any:
    """Return a server on the loopback address that serves the page below /token/ and nothing else; not started."""
    for name in ("bokeh.util.tornado", "asyncio"):
        logging.getLogger(name).addFilter(reports_more_than_a_closed_page)
    pn.extension(raw_css=[read_asset("widgets.css")], notifications=False)

    def page() -> Any:
        explorer = ExplorerPage(dataset)
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
        websocket_max_message_size=MAX_MESSAGE_BYTES,
        unused_session_lifetime=SESSION_MILLISECONDS,
    )


def free_port(port: int | None) -> int:
    """Return the requested port if it is free; without a request, the default port or any free one."""
    for candidate in (DEFAULT_PORT, 0) if port is None else (port,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((ADDRESS, candidate))
            except OSError as error:
                if port is None:
                    continue
                reasons = {errno.EADDRINUSE: "in use", errno.EACCES: "not allowed for this user"}
                raise PortError(port, reasons.get(error.errno or 0, str(error))) from None
            return int(probe.getsockname()[1])
    raise PortError(None, "in use")


@contextmanager
def redirect_file(url: str) -> Iterator[str]:
    """Yield the address of a page, readable by its owner only, that sends a browser to `url`; remove it at the end.

    The arguments of a browser are in the process list, which every user of the computer can read. The address of this
    page does not contain the token.
    """
    with temporary_folder() as folder:
        page = folder / "explorer.html"
        create(page, PRIVATE)
        link = escape(url)
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={link}">'
            f'<title>modeseek explore</title><a href="{link}">Open the explorer</a>\n',
            encoding="utf-8",
        )
        yield page.as_uri()


def serve(dataset: Dataset | None = None, *, port: int | None = None, browser: bool = True) -> None:
    """Serve the page until Ctrl-C."""
    chosen = free_port(port)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    server = make_server(dataset, chosen, token)
    url = f"http://{ADDRESS}:{chosen}/{token}/"
    print(f"modeseek explore: {url}  (stop with Ctrl-C)", flush=True)
    with redirect_file(url) as address:
        if browser:
            server.io_loop.add_callback(webbrowser.open, address)
        try:
            server.start()
            server.io_loop.start()  # runs until Ctrl-C
        finally:
            server.stop()
    print("\nended.", file=sys.stderr)
