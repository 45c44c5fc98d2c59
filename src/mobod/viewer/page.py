"""Parts of all live pages: a server, an address, an end."""

from __future__ import annotations

import threading
import warnings
from types import TracebackType
from typing import Self

from .server import open_in_browser, start_server, stop_server, url_of


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
