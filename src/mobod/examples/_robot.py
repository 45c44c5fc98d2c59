"""A bundled model file as a module: what a Python file is to its example."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ..state.state import State
from ..system.system import MultibodySystem


def make_robot(path: Path) -> ModuleType:
    """A module with ``build() -> (system, state)`` and TIME, of a file and of the JSON file beside it, if there is one."""
    from ..importer.named_models import describe_example, read_settings

    def build() -> tuple[MultibodySystem, State]:
        """The robot with the damping and the limits of its file, and the pose it starts from."""
        from ..importer.named_models import Choices, load_model

        loaded = load_model(str(path), Choices())
        return loaded.system, loaded.state

    module = ModuleType(f"{__package__}.{path.stem}", describe_example(path))
    module.__dict__.update(build=build, __file__=str(path))
    if (time := read_settings(path).get("time")) is not None:
        module.__dict__["TIME"] = float(time)
    return module
