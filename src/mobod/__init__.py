"""mobod: multibody dynamics in Python, compiled.

Bodies connected by mobilizers in a tree, minimal coordinates, O(n) recursive dynamics, forces, and a `State` realized stage by
stage: the concepts of Simbody, written in Python and compiled by Numba. ``import mobod as mb``; the README has a first example.
"""

import ast
import importlib
import os
import sys
from typing import Any

if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
    raise ImportError("mobod is compiled by Numba, and NUMBA_DISABLE_JIT is set in the environment; unset it")

from ._garbage import not_collected
from ._version import __version__ as __version__


def _exports() -> tuple[dict[str, str], frozenset[str]]:
    """Names of ``__init__.pyi``, by their modules, and modules: a name is imported when it is first used."""
    stub = os.path.join(os.path.dirname(__file__), "__init__.pyi")
    try:
        source = __spec__.loader.get_data(stub)
    except OSError as error:
        raise ImportError("mobod needs its file __init__.pyi: include it where an application is frozen or packed") from error
    imports = [node for node in ast.parse(source).body if isinstance(node, ast.ImportFrom)]
    homes = {name.name: one.module for one in imports if one.module is not None for name in one.names}
    return homes, frozenset(name.name for one in imports if one.module is None for name in one.names)


_MODULE_OF, _MODULES = _exports()
#: Modules that need other packages, or a device.
_IMPORTED_BY_NAME = frozenset(("casadi", "gpu", "gym", "jax", "torch"))
__all__ = sorted([*_MODULE_OF, *_MODULES, "Mobod", "__version__"])


def __getattr__(name: str) -> Any:
    if name == "Mobod":  # the short name of `MobilizedBody`
        return __getattr__("MobilizedBody")
    if name in _MODULES:
        with not_collected():
            return importlib.import_module(f".{name}", __name__)
    where = _MODULE_OF.get(name)
    if name in _IMPORTED_BY_NAME:
        raise AttributeError(f"module 'mobod' has {name!r} as a module that it does not import by itself: import mobod.{name}")
    if where is None:
        from .value.attributes import missing_name

        raise missing_name(sys.modules[__name__], name)
    with not_collected():
        value = globals()[name] = getattr(importlib.import_module(f".{where}", __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
