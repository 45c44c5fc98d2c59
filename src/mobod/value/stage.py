"""Stages: how far a state has been realized."""

from enum import IntEnum

from .attributes import NamedMembers


class Stage(IntEnum, metaclass=NamedMembers):
    """The stage to which a `State` has been realized; each stage needs all below it.

    ``TOPOLOGY`` the system's parts are fixed; ``MODEL`` modelling choices are made and q, u, z have their sizes;
    ``INSTANCE`` masses, frames and force parameters are set; ``TIME``, ``POSITION`` and ``VELOCITY``: everything that
    depends on time, then q, then u is known; ``DYNAMICS`` applied forces; ``ACCELERATION`` udot and all that follows from it;
    ``REPORT`` quantities that nothing else needs.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> state.stage < mb.Stage.POSITION
    True
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> state.stage.name
    'VELOCITY'
    """

    EMPTY = 0
    TOPOLOGY = 1
    MODEL = 2
    INSTANCE = 3
    TIME = 4
    POSITION = 5
    VELOCITY = 6
    DYNAMICS = 7
    ACCELERATION = 8
    REPORT = 9


#: The same as plain integers, for hot paths: comparing with an enum's members costs more than all the rest of a setter.
TOPOLOGY, MODEL, INSTANCE, TIME, POSITION, VELOCITY, DYNAMICS, ACCELERATION, REPORT = range(1, 10)
