"""The kinds of prescribed motion, one a file. `mobod.Motion` is their base class."""

from ..value.attributes import explain_names
from ._custom_compiled import CompiledFunctions as CompiledFunctions
from .custom import Custom as Custom, CustomImplementation as CustomImplementation
from .sinusoid import Sinusoid as Sinusoid
from .steady import Steady as Steady

explain_names(__name__)
