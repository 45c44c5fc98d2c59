"""Bundled examples: `mobod simulate NAME` runs one; so does ``mobod.examples.NAME.build()``.

Each Python file defines ``build() -> (system, state)``; the first line of its docstring says what it is. Robots are
files of models, some with a JSON file that says how they start; ``build()`` reads them as the command does.
``dir(mobod.examples)`` lists the names.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).parent
#: Files of models, each with a JSON file beside it where it does not start as the file says.
_MODELS = (".urdf", ".osim", ".sdf", ".mjcf")


def __getattr__(name: str) -> ModuleType:
    """Import an example when it is first asked for."""
    if not name.startswith("_"):
        for file in (_FOLDER / (name + ending) for ending in _MODELS):
            if file.is_file():
                from ._robot import make_robot

                return globals().setdefault(name, make_robot(file))
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
        import difflib

        near = difflib.get_close_matches(name, __dir__(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(__dir__())}"
        raise AttributeError(f"there is no example {name!r}; {hint}", name=name, obj=None)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names of the examples."""
    files = [path for path in _FOLDER.iterdir() if path.suffix in (".py", *_MODELS)]
    return sorted(path.stem for path in files if not path.stem.startswith("_"))
