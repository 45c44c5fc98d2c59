"""The command `mobod view`: a model, or its motion, on a page in the browser."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CommandError, MobodError
from ..importer.formats import FILES
from ..importer.named_models import UNITS_OF_FILES, Loaded, find_examples
from .starting import load_and_start

if TYPE_CHECKING:
    from ..viewer.model_viewer import Viewer

_MOTIONS = (".npz", ".csv", ".parquet", ".h5", ".hdf5")
_LOOK = 0.5  # between two looks at a file; s


def add_view(commands: Any, add_model: Callable[[Any], None], add_start: Callable[[Any], None]) -> None:
    """Add `mobod view` to the commands."""
    parser = commands.add_parser(
        "view",
        help="look at a model in the browser",
        description="Show a model on a page in the browser: turn it, pose it by sliders or by the mouse, simulate it. The page "
        "is served to this machine only; Ctrl-C ends it. The model is read again when its file changes.",
        epilog="Example: mobod view panda",
    )
    parser.set_defaults(run=run_view)
    what = f"{FILES}, Python file with build() -> (system, state), or example; or a motion, with --of MODEL"
    parser.add_argument("model", metavar="MODEL", help=what)
    parser.add_argument("--motion", type=Path, metavar="FILE", help="play this motion of it, as simulate --output has saved it")
    parser.add_argument("--of", metavar="MODEL", help="the model of which the motion is, where MODEL is the motion's file")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")
    parser.add_argument("--port", type=int, metavar="P", help="the first that is tried (default 8080)")
    add_model(parser)
    add_start(parser)


def run_view(options: argparse.Namespace) -> None:
    """Show what was asked for, until Ctrl-C."""
    motion, model = options.motion, options.model
    if Path(model).suffix.lower() in _MOTIONS:
        if options.of is None:
            raise CommandError(f"{model} is a motion, which does not say of what: mobod view {model} --of MODEL")
        motion, model = Path(model), options.of
    elif options.of is not None:
        raise CommandError(f"--of is for a motion's file, {', '.join(_MOTIONS)}; {model} is none")
    loaded = load_and_start(model, options)
    units = None if loaded.model is None else UNITS_OF_FILES
    where = {"port": options.port, "open_browser": not options.no_browser, "title": loaded.name, "units": units}
    if motion is not None:
        from ..simulation.trajectory import Trajectory

        shown = Trajectory.load(motion, system=loaded.system).view(**where)
        print(f"{motion} of {loaded.name}: {shown.url} (Ctrl-C ends it)", flush=True)
        shown.wait()
        return
    from ..simulation.view import view

    viewer = view(loaded.model or loaded.system, loaded.state, ranges=loaded.ranges, **where)
    print(f"{loaded.name}: {viewer.url} (Ctrl-C ends it)", flush=True)
    path = find_examples().get(model, Path(model))
    try:
        _watch(viewer, path, lambda: load_and_start(model, options))
    except KeyboardInterrupt:
        viewer.close()


def _watch(viewer: Viewer, path: Path, load: Callable[[], Loaded]) -> None:
    """Read the model again whenever its file has changed; one that cannot be read is said, and the page stays as it is."""
    seen = _stamp(path)
    while not viewer.is_closed:
        time.sleep(_LOOK)
        now = _stamp(path)
        if now is None or now == seen:
            continue
        seen = now
        try:
            loaded = load()
            viewer.replace(loaded.system, loaded.state, loaded.ranges, loaded.model)
            print(f"{path} has changed: read again", flush=True)
        except (CommandError, MobodError, OSError, ValueError, ImportError) as error:
            print(f"mobod: {path} has changed, and cannot be read: {error}", flush=True)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:  # while an editor replaces it
        return None
    return found.st_mtime_ns, found.st_size
