"""The kinds of force, one a file. `mobod.Force` is their base class."""

from .custom import Custom, CustomImplementation
from .gravity import Gravity

__all__ = ["Custom", "CustomImplementation", "Gravity"]
