"""The server of a page: on the loopback address alone, so that no other machine sees it, see also `doorkeeper`."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import webbrowser
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..shapes.mechanism import Mechanism
from ..shapes.view import View, find_level_planes
from ..value.checks import integer
from . import doorkeeper
from .bodies import bytes_of
from .rotations import to_quaternions

if TYPE_CHECKING:
    from viser import ViserServer

HOST = "127.0.0.1"
PORT = 8080
"""The first that is tried; another where it is taken."""

#: Variables of the environment that say that the user sits elsewhere.
_REMOTE = ("SSH_CONNECTION", "CODESPACES", "JUPYTERHUB_USER", "VSCODE_AGENT_FOLDER")

LENS = 0.6
"""Angle of view upward; radians."""


def start_server(title: str, port: int | None) -> ViserServer:
    """Start serving a page.

    Raises
    ------
    ImportError
        If viser is not installed.
    RuntimeError
        In Colab, whose proxy passes no websockets.
    """
    first = PORT if port is None else integer("port", port)
    if not 1 <= first <= 65535:
        raise ValueError(f"port is from 1 to 65535, not {port}")
    if "google.colab" in sys.modules:
        raise RuntimeError(
            "live pages cannot be reached from Colab, whose proxy passes no websockets; leave the trajectory or the model at "
            "the end of a cell, which shows it there, or call trajectory.save_html(path)"
        )
    try:
        from viser import ViserServer
    except ImportError as error:
        raise ImportError("a live page needs viser: pip install 'mobod[view]'") from error
    with contextlib.redirect_stdout(io.StringIO()), doorkeeper.guarded():  # it greets
        server = ViserServer(host=HOST, port=first, label=title, verbose=False)
    set_look(server)
    return server


def set_look(server: ViserServer) -> None:
    """Put the controls at the right, as wide as they need; also after they were reset."""
    _set_theme(server, False)
    server.gui.main_panel.dock_right()


def add_dark_box(server: ViserServer) -> None:
    """Add a box that makes the page dark."""
    box = server.gui.add_checkbox("dark page", False)
    box.on_update(lambda _: _set_theme(server, box.value))


def _set_theme(server: ViserServer, is_dark: bool) -> None:
    server.gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, dark_mode=is_dark)


def stop_server(server: ViserServer) -> None:
    """Stop serving."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def url_of(server: ViserServer) -> str:
    """The page's address."""
    return f"http://{HOST}:{server.get_port()}"


def open_in_browser(url: str) -> None:
    """Open a page in the user's browser; where that is on another machine, or there is none, say where the page is."""
    remote = any(os.environ.get(name) for name in _REMOTE)
    opened = False
    if os.environ.get("BROWSER") or not remote:  # VS Code sets BROWSER to what forwards the port and opens the page at home
        with contextlib.suppress(webbrowser.Error, OSError):
            opened = webbrowser.open(url)
    if opened:
        return
    port = url.rpartition(":")[2]
    forward = (
        f"; this machine is reached over a network: forward port {port} (in VS Code the tab Ports; else "
        f"ssh -L {port}:127.0.0.1:{port}), then open that address"
        if remote
        else ""
    )
    print(f"the page is at {url}{forward}", flush=True)


def set_camera(server: ViserServer, view: View) -> None:
    """Begin with a view, of which up is up."""
    up = view.R_DG.T[:, 2]
    server.scene.set_up_direction(tuple(up))
    middle, toward, far = _aim(view)
    camera: Any = server.initial_camera
    camera.up, camera.look_at, camera.position, camera.fov = tuple(up), tuple(middle), tuple(middle + far * toward), LENS
    camera.near, camera.far = 0.005 * far, 100.0 * far


def look_from_here(server: ViserServer, view: View) -> None:
    """Turn the cameras of all who look at a page to a view."""
    middle, toward, far = _aim(view)
    for client in server.get_clients().values():
        with client.atomic():
            client.camera.position, client.camera.look_at = middle + far * toward, middle


def _aim(view: View) -> tuple[Array, Array, float]:
    """The middle of what is seen, the direction to the camera, and how far away that is; in Ground."""
    far = 0.62 * float(np.linalg.norm(view.high - view.low)) / np.tan(LENS / 2.0)
    return view.R_DG.T @ ((view.low + view.high) / 2.0), view.R_DG.T @ view.toward_camera, far


def add_floor(server: ViserServer, view: View, mechanism: Mechanism, X_GB: Array) -> None:
    """Add a grid: where the mechanism has a level plane at a pose (nb, 4, 4), in its colour, or else at the view's bottom."""
    extent = float(np.max(view.high - view.low))
    cell = 10.0 ** np.floor(np.log10(extent))
    cell = cell / 2.0 if extent / cell < 3.0 else cell
    middle, height = (view.low + view.high) / 2.0, float(view.low[2])
    look: dict[str, Any] = {}
    for plane, level in find_level_planes(mechanism, X_GB, view.R_DG):
        height = level
        look = {"plane_color": bytes_of(plane.color), "plane_opacity": plane.opacity}
    server.scene.add_grid(
        "/floor",
        width=8.0 * extent,
        height=8.0 * extent,
        cell_size=cell,
        section_size=5.0 * cell,
        wxyz=tuple(to_quaternions(view.R_DG.T)),  # in D, whose z axis is up
        position=tuple(view.R_DG.T @ np.array([middle[0], middle[1], height])),
        plane="xy",
        fade_distance=10.0 * extent,
        shadow_opacity=0.25,
        **look,
    )
