"""Live pages under attack: other machines, pages of other places, other names for this one, files outside the page's."""

import http.client
import os
import socket

import numpy as np
import pytest

import mobod as mb
from mobod.viewer.doorkeeper import why_refused

pytest.importorskip("viser", reason="live pages are not tested: no viser here")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def port():
    viewer = mb.view(*mb.examples.double_pendulum.build(), open_browser=False)
    yield int(viewer.url.rpartition(":")[2])
    viewer.close()


def answer(port, path="/", **headers):
    """Status and content that the page's server sends."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest("GET", path, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def test_it_listens_to_this_machine_alone(port):
    outside = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)} - {"127.0.0.1"}
    outside |= {"127.0.0.2"} if os.name == "posix" and os.uname().sysname == "Linux" else set()
    for address in outside:
        with pytest.raises(OSError), socket.create_connection((address, port), timeout=2.0):
            pass
    assert answer(port)[0] == 200


@pytest.mark.parametrize("origin", [None, "http://127.0.0.1:{port}", "http://LOCALHOST:{port}"])
def test_its_own_page_connects(port, origin):
    assert connects(port, origin and origin.format(port=port)), origin


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        "http://localhost:{port}.evil.example",
        "http://127.0.0.1:{port}@evil.example",
        "http://localhost.evil.example:{port}",
        "null",
        "file://",
        "",
    ],
)
def test_a_page_of_another_place_does_not_connect(port, origin):
    assert not connects(port, origin.format(port=port)), origin


def connects(port, origin):
    """True if a browser that shows a page of *origin* can open the socket, by the protocol that viser's own page speaks."""
    import viser
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    name = "localhost" if origin and "LOCALHOST" in origin else "127.0.0.1"
    headers = {} if origin is None else {"Origin": origin}
    try:
        with connect(
            f"ws://{name}:{port}", additional_headers=headers, subprotocols=[f"viser-v{viser.__version__}"], open_timeout=10
        ) as socket_:
            return len(socket_.recv(timeout=10)) > 0
    except InvalidStatus as error:
        assert error.response.status_code == 403
        return False


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "", "127.0.0.1@evil.example", "::1", "0.0.0.0"]
)
def test_another_name_for_this_machine_is_refused(port, host):
    """As one that an attacker's name server gives it."""
    status, said = answer(port, Host=host.format(port=port))
    assert status == 403 and b"this page is for this machine" in said


def test_a_proxy_can_be_allowed(monkeypatch):
    own, hub = ["hub.example.org"], ["https://hub.example.org"]
    assert why_refused(own, hub) and why_refused(["localhost:8080"], hub)
    monkeypatch.setenv("MOBOD_VIEW_ORIGINS", "https://hub.example.org https://other.example")
    assert why_refused(own, hub) == why_refused(["localhost:8080"], hub) == ""
    assert why_refused(["localhost:8080"], ["https://hub.example.org.evil.example"])
    assert why_refused(["localhost", "localhost"], []) and why_refused(["localhost"], ["http://localhost"] * 2)


def test_no_file_outside_the_page_is_served(port, tmp_path):
    secret = b"this is outside the page's folder"
    (file := tmp_path / "secret.txt").write_bytes(secret)
    path = str(file)
    up, rng = "../" * 12, np.random.default_rng(20261128)
    attempts = [path, path[1:], f"//{path}", f"/{up}{path}", f"/{up}etc/passwd", f"file://{path}", "/etc/passwd"]
    for dots in ("..", "%2e%2e", "%252e%252e", "..%c0%af", "....", "..;", "..\\", ".%00."):
        for slash in ("/", "%2f", "%5c", "\\", "%252f"):
            attempts.append("/" + (dots + slash) * 12 + path[1:])
            attempts.append("/assets/" + (dots + slash) * 12 + path[1:])
    attempts += ["/" + bytes(rng.integers(33, 127, 30, np.uint8)).decode() for _ in range(50)]
    for attempt in attempts:
        try:
            status, content = answer(port, attempt)
        except (http.client.HTTPException, OSError):  # refused without an answer
            continue
        assert secret not in content and b"root:" not in content, attempt
        assert status in (200, 400, 403, 404, 500), attempt
    assert answer(port)[0] == 200
