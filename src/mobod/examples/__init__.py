"""Bundled examples: `mobod simulate NAME` runs one; so does ``mobod.examples.NAME.build()``.

Each Python file defines ``build() -> (system, state)``; the first line of its docstring says what it is. Robots are
URDF files, each with a JSON file that says how it starts.
"""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import an example when it is first asked for."""
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
