"""Parts of all live pages: a server, an address, an end."""

from __future__ import annotations

import threading
import time as _clock
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np

from ..algebra.arrays import Array
from ..shapes.mechanism import Mechanism
from .server import open_in_browser, start_server, stop_server, url_of

PICTURES = 30.0
"""A second."""

_NOTHING = "nothing"


class Page:
    """A page in the browser, served to this machine until it is closed or the program ends.

    Attributes
    ----------
    url : str
        The page's address, on this machine only.
    """

    def __init__(self, title: str, port: int | None) -> None:
        self._server = start_server(title, port)
        self.url = url_of(self._server)
        self._lock, self._closed, self._warned = threading.RLock(), threading.Event(), False

    def _begin(self, open_browser: bool) -> None:
        """Open it, and run what goes on while it is open."""
        threading.Thread(target=self._run, name="mobod viewer", daemon=True).start()
        if open_browser:
            open_in_browser(self.url)

    def _run(self) -> None:
        """The page's own work; none, unless it is overridden."""

    def _keep_pace(self, go_on: Callable[[float], None]) -> None:
        """Call *go_on* for each picture with the time that has passed since the last one, until the page is closed."""
        last = _clock.perf_counter()
        while not self._closed.is_set():
            now = _clock.perf_counter()
            passed, last = now - last, now
            go_on(passed)
            self._closed.wait(max(0.001, 1.0 / PICTURES - (_clock.perf_counter() - now)))

    @property
    def is_closed(self) -> bool:
        """True if it has been closed."""
        return self._closed.is_set()

    def wait(self) -> None:
        """Wait until it is closed, or Ctrl-C."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Close the page; what uses it goes on."""
        if not self._closed.is_set():
            self._closed.set()
            try:
                with self._lock:  # nobody is writing to the page
                    stop_server(self._server)
            except Exception as error:
                self._warn(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'closed' if self.is_closed else f'at {self.url}'}>"

    def _warn(self, error: Exception) -> None:
        """Say once that something cannot be shown."""
        if not self._warned:
            self._warned = True
            warnings.warn(f"the viewer does not show this: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=3)


class FollowBox:
    """A box that names the bodies, of which the cameras of all who look follow one, or none."""

    def __init__(self, server: Any, mechanism: Mechanism) -> None:
        self._server, self._mechanism = server, mechanism
        self._places: dict[int, Array] = {}
        names = [_NOTHING, *[link.name for link in mechanism.links[1:]]]
        self._box = server.gui.add_dropdown("follow", names, initial_value=_NOTHING)
        self._box.on_update(lambda _: self.begin_anew())

    def begin_anew(self) -> None:
        """Follow from where the body is next."""
        self._places.clear()

    def move(self, X_GB: Array) -> None:
        """Move the cameras by as much as the body's mass center has moved, whose pose is among (nb, 4, 4)."""
        name = self._box.value
        if name == _NOTHING:
            return
        b = next((i for i, link in enumerate(self._mechanism.links) if link.name == name), 0)
        place = X_GB[b, :3, :3] @ self._mechanism.links[b].com + X_GB[b, :3, 3]
        for key, client in self._server.get_clients().items():
            step = place - self._places.get(key, place)
            if float(np.linalg.norm(step)) > 1e-9 * self._mechanism.size:
                position, look_at = client.camera.position + step, client.camera.look_at + step
                client.camera.position, client.camera.look_at = position, look_at
            self._places[key] = place
