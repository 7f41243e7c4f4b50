"""Large and parallel uploads: none affects another, and a message beyond the bound ends its own connection only."""

import asyncio
import gzip
import json
import re
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from modeseek._storage.errors import DataError
from modeseek.explorer import from_bytes
from waiting import PATIENCE


def upload(number):
    """Return the name and the content of a file, and its rows; every fourth is damaged."""
    rows = np.random.default_rng(number).normal(size=(200 + number, 2)).round(6)
    text = "x,y,name\n" + "".join(f'{x!r},{y!r},"n""{number},\n"\n' for x, y in rows.tolist())
    content = text.encode()
    match number % 4:
        case 0:
            return f"{number}.csv", content, rows
        case 1:
            return f"{number}.csv.gz", gzip.compress(content), rows
        case 2:
            return f"{number}.csv", ("\ufeff" + text.replace(",", ";")).encode("utf-16"), rows
    return f"{number}.csv.gz", gzip.compress(content)[:-30], None


def test_parallel_uploads_do_not_mix():
    files = [upload(number) for number in range(40)]

    def read(file):
        try:
            return from_bytes(*file[:2])
        except DataError as error:
            return error

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, files))
    for (name, _, rows), dataset in zip(files, found, strict=True):
        if rows is None:
            assert f"'{name}' cannot be read" in str(dataset)
            continue
        assert dataset.name == name
        np.testing.assert_array_equal(dataset.table.features(["x", "y"]).values, rows)


@pytest.fixture
def port(monkeypatch):
    """Serve the page on a thread, below /token/, with a small bound on messages."""
    server = pytest.importorskip("modeseek.explorer.page.server")
    monkeypatch.setattr(server, "MAX_MESSAGE_BYTES", 100_000)
    number, started, made = server.free_port(None), threading.Event(), []

    def serve():
        asyncio.set_event_loop(asyncio.new_event_loop())
        made.append(server.make_server(None, number, "token"))
        made[0].start()
        made[0].io_loop.add_callback(started.set)
        made[0].io_loop.start()

    thread = threading.Thread(target=serve)
    thread.start()
    assert started.wait(PATIENCE)
    yield number
    made[0].io_loop.add_callback(made[0].stop)
    made[0].io_loop.add_callback(made[0].io_loop.stop)
    thread.join(PATIENCE)


def test_a_message_beyond_the_bound_ends_its_connection_only(port):
    websocket = pytest.importorskip("tornado.websocket")
    request = pytest.importorskip("tornado.httpclient").HTTPRequest
    address = f"127.0.0.1:{port}"

    async def connect():
        with urllib.request.urlopen(f"http://{address}/token/") as page:
            session = re.search(r'"token":\s*"([^"]+)"', page.read().decode())[1]
        asked = request(f"ws://{address}/token/ws", headers={"Origin": f"http://{address}"})
        connection = await websocket.websocket_connect(asked, subprotocols=["bokeh", session], max_message_size=10**8)
        assert json.loads((await receive(connection))[0])["msgtype"] == "ACK"
        return connection

    async def receive(connection):
        """Return the three parts of a message, or what was left when the connection was closed."""
        parts = []
        while len(parts) < 3 and (part := await asyncio.wait_for(connection.read_message(), PATIENCE)) is not None:
            parts.append(part)
        return parts

    async def attack():
        large, garbage, other = [await connect() for _ in range(3)]
        large.write_message("x" * 200_000)
        for part in ("{", "{}", "{}"):
            garbage.write_message(part)
        assert await receive(large) == []
        assert await receive(garbage) == []
        for part in (json.dumps({"msgid": "1", "msgtype": "PULL-DOC-REQ"}), "{}", "{}"):
            other.write_message(part)
        header, _, document = await receive(other)
        assert json.loads(header)["msgtype"] == "PULL-DOC-REPLY"
        assert "modeseek" in document
        for connection in (large, garbage):
            connection.close()
        for connection in (other, await connect()):
            connection.close()
            while await asyncio.wait_for(connection.read_message(), PATIENCE) is not None:
                pass

    asyncio.run(attack())
