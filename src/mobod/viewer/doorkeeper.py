"""Who may open a live page: the browser that was sent to it, and no page of another place that is open beside it.

A browser lets any page connect to a socket of this machine. It says from where in ``Origin``, and by which name in ``Host``: a
page of another origin is refused, and so is another name than the loopback's, which an attacker's own name server could have
given this address (DNS rebinding). Source: RFC 6455, section 10.2.
"""

from __future__ import annotations

import contextlib
import os
import threading
import urllib.parse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

#: By which a browser on this machine, or at the end of a forwarded port, finds it.
LOOPBACK = ("127.0.0.1", "localhost", "::1")

_lock = threading.Lock()


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """The context in which a server is started that lets nobody else in."""
    from websockets.asyncio import server as sockets

    serve, count = sockets.serve, 0

    def serve_guarded(*args: Any, **more: Any) -> Any:
        nonlocal count
        count += 1
        return serve(*args, **{**more, "process_request": _refusing_others(more.get("process_request"))})

    module: Any = sockets
    with _lock:
        module.serve = serve_guarded
        try:
            yield
        finally:
            module.serve = serve
    if count == 0:
        warnings.warn("this version of viser lets pages of other places connect to a live page", RuntimeWarning, stacklevel=3)


def _refusing_others(process: Callable[[Any, Any], Any] | None) -> Callable[[Any, Any], Any]:
    def process_request(connection: Any, request: Any) -> Any:
        why = why_refused(request.headers.get_all("Host"), request.headers.get_all("Origin"))
        if why:
            return connection.respond(403, f"{why}\n")
        return None if process is None else process(connection, request)

    return process_request


def why_refused(hosts: list[str], origins: list[str]) -> str:
    """Why a request with these headers is refused; empty if it is not.

    ``MOBOD_VIEW_ORIGINS`` lists further places, such as ``https://hub.example.org`` where a proxy is between.
    """
    also = [urllib.parse.urlsplit(one).netloc.lower() for one in os.environ.get("MOBOD_VIEW_ORIGINS", "").split()]
    host = hosts[0].lower() if len(hosts) == 1 else ""
    if _name_of(host) not in LOOPBACK and host not in also:
        return f"this page is for this machine: {host!r} is none of its names, {', '.join(LOOPBACK)}"
    if not origins:  # no browser
        return ""
    origin = urllib.parse.urlsplit(origins[0]).netloc.lower() if len(origins) == 1 else ""
    if origin and origin in (host, *also):
        return ""
    return f"a page of {origins[0]!r} may not connect; the environment variable MOBOD_VIEW_ORIGINS can allow it"


def _name_of(host: str) -> str:
    try:
        return urllib.parse.urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
