"""Checks of arguments: what users pass, made what kernels take. One rule everywhere.

What is no real number (text, a bool, None, a complex number, any object without a float's value) is a TypeError, a wrong shape
a ValueError. A number that is not finite, or out of its range, is a ModelError (which is a ValueError too) where it describes
a model, as most do; what is an option of a run instead passes ``error=ValueError``. NumPy's scalars, and its arrays without
dimensions, are numbers. *what* is what the message speaks of: "stiffness of 'spring_1'".

The docstrings of accessors are made with those of the checks: what is accepted, in a line.
"""

from __future__ import annotations

import difflib
import math
import reprlib
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError

#: The largest finite number.
MOST = sys.float_info.max
_FLOAT64, _LEAST, _MOST = np.dtype(np.float64), -math.inf, math.inf
T = TypeVar("T")
_LETTERS = {"x": 0, "y": 1, "z": 2}

# ---------------------------------------------------------------------------------------------- one number


def shown(value: Any) -> str:
    """*value* in a message: a number of NumPy's as the plain number, ``-1.0`` and not ``np.float64(-1.0)``."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def number(what: str, value: Any) -> float:
    """A real number."""
    if type(value) is float:
        return value
    if isinstance(value, (float, int, np.floating, np.integer)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    array = numbers(what, value, "a number")
    if array.shape != ():
        raise ValueError(f"{what} has to be one number, got {reprlib.repr(value)} of shape {array.shape}")
    return float(array)


def finite(what: str, value: Any, error: type[ValueError] = ModelError) -> float:
    """A finite number."""
    x = value if type(value) is float else number(what, value)
    if not _LEAST < x < _MOST:
        raise error(f"{what} has to be finite, got {shown(value)}")
    return x


def not_negative(what: str, value: Any, error: type[ValueError] = ModelError) -> float:
    """A finite number, zero or more."""
    if type(value) is float and 0.0 <= value < _MOST:
        return value
    x = finite(what, value, error)
    if x < 0.0:
        raise error(f"{what} has to be zero or more, got {shown(value)}")
    return x


def positive(what: str, value: Any, error: type[ValueError] = ModelError) -> float:
    """A finite number above zero."""
    if type(value) is float and 0.0 < value < _MOST:
        return value
    x = finite(what, value, error)
    if x <= 0.0:
        raise error(f"{what} has to be positive, got {shown(value)}")
    return x


def hold(condition: Any) -> bool:
    """True if a condition holds, of one number or of each of an array, without NumPy's 3 us for one."""
    return condition if type(condition) is bool else bool(np.all(condition))


def one_or_more(what: str, value: Any, error: type[ValueError] = ModelError) -> float:
    """A finite number, 1 or more."""
    x = finite(what, value, error)
    if x < 1.0:
        raise error(f"{what} has to be 1 or more, got {shown(value)}")
    return x


def between(what: str, value: Any, least: float, most: float, error: type[ValueError] = ModelError) -> float:
    """A number in a range, ends included."""
    x = finite(what, value, error)
    if not least <= x <= most:
        raise error(f"{what} has to be from {least:g} to {most:g}, got {shown(value)}")
    return x


def integer(what: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """An integer, and in its range."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} has to be an integer, not {shown(value)}")
    try:
        i: int = value.__index__()
    except TypeError:  # an array of more than one
        raise TypeError(f"{what} has to be an integer, not {shown(value)}") from None
    if (least is not None and i < least) or (most is not None and i > most):
        wanted = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{what} has to be {wanted}, got {shown(value)}")
    return i


def index_of(count: int, given: Any, owner: Any, what: str) -> int:
    """The number of one of what *owner* has so many of, counted from 0: *what* are these, such as ``constrained bodies``."""
    i = integer(f"the number of one of the {what} of {owner!r}", given)
    if not 0 <= i < count:
        raise IndexError(f"{owner!r} has {count} {what}; no number {i}")
    return i


def one_of(found: Sequence[T], index: Any, owner: Any, what: str) -> T:
    """One of what *owner* has, by its number."""
    return found[index_of(len(found), index, owner, what)]


def axis_index(what: str, value: object) -> int:
    """A coordinate axis: "x", "y", "z" or 0, 1, 2."""
    if isinstance(value, str) and value.lower() in _LETTERS:
        return _LETTERS[value.lower()]
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value <= 2:
        return int(value)
    raise ValueError(f'{what} has to be "x", "y" or "z", or 0, 1 or 2, got {value!r}')


def flag(what: str, value: Any) -> bool:
    """True or False, or NumPy's; text is refused, of which "no" would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} has to be True or False, not {reprlib.repr(value)}")
    return bool(value)


def among(what: str, value: T, known: Iterable[Any], error: type[Exception] = ValueError) -> T:
    """One of a few words or numbers."""
    *others, last = map(repr, known)
    if value not in known:
        raise error(f"{what} has to be {', '.join(others)} or {last}, not {value!r}")
    return value


def flags(asked: str, **values: Any) -> None:
    """Flags of a function *asked*, by their names: each True or False."""
    for name, value in values.items():
        flag(f"{name} of {asked}", value)


# ---------------------------------------------------------------------------------------------- objects


def instance(what: str, value: T, kind: type, such_as: str) -> T:
    """An object of a class of the package; the message says what to give, *such_as* ``matter.ground``."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{what} has to be {article} {kind.__name__}, such as {such_as}, not {reprlib.repr(value)}")
    return value


# ---------------------------------------------------------------------------------------------- names


def name(what: str, value: Any) -> str:
    """Text that is not empty."""
    if not isinstance(value, str):
        raise TypeError(f"the name of a {what} is a string, not {reprlib.repr(value)}")
    if not value.strip():
        raise ModelError(f"the name of a {what} is empty: no message or table could name it; leave it out for a generated one")
    return value


def name_among(taken: Collection[str], what: str, value: Any, kind: str, number: int) -> str:
    """*value* as a name that is not taken yet; where it is None, one made of the *kind* and a *number*."""
    if value is None:
        made = f"{kind.lower()}_{number}"
        while made in taken:
            made += "_"
        return made
    if name(what, value) in taken:
        raise ModelError(f"there is a {what} {value!r} already; names are unique")
    return str(value)


# ---------------------------------------------------------------------------------------------- arrays


def numbers(what: str, value: Any, kind: str = "real numbers") -> Array:
    """An array of real numbers; what is one of float64 is not copied."""
    if type(value) is np.ndarray and value.dtype is _FLOAT64:  # as nearly all come
        return value
    try:
        given = np.asarray(value)
    except ValueError as error:  # NumPy's message on ragged lists does not say whose
        raise ValueError(
            f"{what} has to be {kind}, got {reprlib.repr(value)} with rows of different lengths: {error}"
        ) from None
    if given.dtype is _FLOAT64 or given.dtype == np.float64:
        return given
    # objects may be fractions, or numbers of another library; np.asarray would take None for NaN, and drop imaginary parts
    if given.dtype.kind in "fiu" or (given.dtype.kind == "O" and not any(map(_no_number, given.ravel().tolist()))):
        try:
            return given.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass  # below says it
    raise TypeError(f"{what} has to be {kind}, got {reprlib.repr(value)}")


def _no_number(value: Any) -> bool:
    return value is None or isinstance(value, (bool, str, bytes, complex))


def shaped(what: str, value: Any, shape: tuple[int, ...]) -> Array:
    """An array of a given shape; NaN passes, and what is one of float64 is not copied."""
    array = numbers(what, value)
    if array.shape != shape:
        raise ValueError(f"{what} has to have shape {shape}, got {reprlib.repr(value)} of shape {array.shape}")
    return array


def array(what: str, value: Any, shape: tuple[int, ...], error: type[ValueError] = ModelError) -> Array:
    """An array of finite numbers of a given shape; a copy."""
    result = shaped(what, value, shape)
    if not isinstance(value, (list, tuple)):  # of these it is a new one already
        result = np.array(result)
    if not (all(map(math.isfinite, result.ravel().tolist())) if result.size < 20 else np.isfinite(result).all()):
        raise error(f"{what} has to be finite, got {reprlib.repr(value)}")
    return result


def reads_as_number(text: str) -> bool:
    """True if a text is a number, which may be infinite."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def vector(what: str, value: Any, error: type[ValueError] = ModelError) -> Array:
    """Three finite numbers."""
    return array(what, value, (3,), error)


def positive_vector(what: str, value: Any) -> Array:
    """Three finite numbers above zero."""
    v = vector(what, value)
    if (v <= 0.0).any():
        raise ModelError(f"{what} has to be three numbers above zero, got {value!r}")
    return v


def unit(what: str, value: Any) -> Array:
    """A direction: three finite numbers, not all zero."""
    v = vector(what, value)
    largest = float(np.abs(v).max())
    if largest == 0.0:
        raise ModelError(f"{what} is a direction and cannot be zero, got {value!r}")
    v = np.ldexp(v, -math.frexp(largest)[1])  # a power of two rounds nothing; the squares neither overflow nor vanish
    return np.asarray(v / math.sqrt(v @ v))


def vectors(what: str, value: Any) -> Array:
    """A vector (3,), or vectors (..., 3), about to be multiplied; NaN passes."""
    v = numbers(what, value)
    if v.ndim == 0 or v.shape[-1] != 3:
        raise ValueError(f"{what} has to be a vector (3,) or vectors (n, 3), got shape {v.shape}")
    return v


def stations(what: str, points: Any) -> Array:
    """One vector (3,), or several (n, 3), also none; NaN passes."""
    v = numbers(what, points)
    if v.shape == (0,):
        return v.reshape(0, 3)
    if v.shape[-1:] != (3,) or v.ndim > 2:
        raise ValueError(f"{what} has to be a vector (3,), or several (n, 3), got shape {v.shape}")
    return v


def writable(what: str, array: Any, shape: tuple[int, ...]) -> Array:
    """An array of float64 to be changed in place."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        got = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise TypeError(f"{what} is changed in place, so it has to be a float64 array, not {got}")
    if array.shape != shape:
        raise ValueError(f"{what} has to have shape {shape}, got {array.shape}")
    if not array.flags.writeable:
        raise ValueError(f"{what} is changed in place, and the array given is read-only; give a copy of it, and use that")
    return array


def behaved(array: Array) -> Array:
    """*array*, or a copy where it is strided, unaligned or read-only: for each such form Numba would compile a kernel anew."""
    return array if array.flags.carray else array.copy()


# ---------------------------------------------------------------------------------------------- names


def suggest(name: str, names: Sequence[str]) -> str:
    """Say what else there is: names near to the wrong one, or all of them if they are few."""
    if not names:
        return "there are none"
    near = difflib.get_close_matches(name, names, n=5, cutoff=0.5) or [other for other in names if name in other][:5]
    if near:
        return f"did you mean {' or '.join(near)}?"
    shown = ", ".join(names[:12])
    return f"there are {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def all_known(said: str, names: Iterable[str], there: Iterable[str], error: type[Exception] = ValueError) -> list[str]:
    """Names, all of which are among those that are *there*; *said* is how the message on one that is not begins."""
    found, known = list(names), [*there]
    for name in found:
        if name not in known:
            raise error(f"{said} {name!r}; {suggest(str(name), known)}")
    return found


def by_name(what: str, named: Sequence[Any], name: str) -> Any:
    """The first of *named* that is called *name*; a KeyError that says what else there is."""
    for one in named:
        if one.name == name:
            return one
    raise KeyError(f"there is no {what} {name!r}; {suggest(name, [one.name for one in named])}")


def check_extension(path: Path, known: Sequence[str]) -> str:
    """Return a file's extension, in lower case, or raise a ValueError that names the known ones."""
    extension = path.suffix.lower()
    if extension not in known:
        raise ValueError(f"{path.name!r} must end in {' or '.join(filter(None, (', '.join(known[:-1]), known[-1])))}")
    return extension
