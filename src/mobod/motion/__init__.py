"""The kinds of prescribed motion, one a file. `mobod.Motion` is their base class."""

from .compiled_functions import CompiledFunctions
from .custom import Custom, CustomImplementation
from .sinusoid import Sinusoid
from .steady import Steady

__all__ = ["CompiledFunctions", "Custom", "CustomImplementation", "Sinusoid", "Steady"]
