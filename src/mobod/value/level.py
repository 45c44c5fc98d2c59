"""Level and Method: at which level a mobilizer's motion is known, and how. `mobod.Motion` has them as attributes."""

from enum import IntEnum
from typing import Any

from .attributes import NamedMembers


class Level(IntEnum, metaclass=NamedMembers):
    """The highest level of a mobilizer's motion that is known beforehand.

    ``ACCELERATION`` udot is known, u and q are integrated; ``VELOCITY`` udot and u are known, q is integrated; ``POSITION``
    all three are known; ``NO_LEVEL`` none is.
    """

    NO_LEVEL = -1
    ACCELERATION = 0
    VELOCITY = 1
    POSITION = 2


class Method(IntEnum, metaclass=NamedMembers):
    """The way that q, u or udot of a mobilizer comes about.

    ``ZERO`` it is zero; ``DISCRETE`` it stays as it was set, and its derivatives are zero; ``PRESCRIBED`` it is a function of
    time and of lower levels; ``FREE`` it comes from forces, or is integrated; ``FAST`` it is what some relaxation makes of it;
    ``NO_METHOD`` a motion that is disabled has none.
    """

    NO_METHOD = -1
    ZERO = 0
    DISCRETE = 1
    PRESCRIBED = 2
    FREE = 3
    FAST = 4


def level_of(what: str, level: Any, *, none: bool = False, hint: str = "") -> Level:
    """The level that is meant by a member of `Level` or by its name, ``"position"``.

    Parameters
    ----------
    what : str
        What takes it, for messages.
    level : Level or str
    none : bool
        Whether it may be ``NO_LEVEL``.
    hint : str
        How a message on ``NO_LEVEL`` ends.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If there is no level of this name, or it is ``NO_LEVEL`` where that may not be.
    """
    found = Level.__members__.get(level.upper()) if isinstance(level, str) else level
    if isinstance(found, Level) and (none or found is not Level.NO_LEVEL):
        return found
    said = f"{what} takes 'position', 'velocity' or 'acceleration', or such a member of mobod.Motion.Level"
    if found is Level.NO_LEVEL:
        raise ValueError(f"{said}, not NO_LEVEL{hint}")
    raise (ValueError if isinstance(level, str) else TypeError)(f"{said}, not {level!r}")


def all_methods(level: Level, method: Method) -> tuple[Method, Method, Method]:
    """The methods of q, u and udot that follow from the method of the highest level that is known.

    Below that level everything is integrated, above it is the derivative: prescribed, or zero where the level itself stands
    still. What Simbody's documentation of Motion has as a table.
    """
    free, zero, discrete = Method.FREE, Method.ZERO, Method.DISCRETE
    if level is Level.NO_LEVEL or method in (free, Method.NO_METHOD):
        return free, free, free
    above = method if method is Method.PRESCRIBED else zero
    if level is Level.ACCELERATION:
        return (free, discrete, zero) if method is zero else (free, free, method)
    if level is Level.VELOCITY:
        return (discrete, zero, zero) if method is zero else (free, method, above)
    return method, above, above
