"""Level and Method: at which level a mobilizer's motion is known, and how. `mobod.Motion` has them as attributes."""

from enum import IntEnum

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
