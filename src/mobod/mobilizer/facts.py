"""Facts of a kind of mobilizer, by which the tree treats it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from ..compiling import Routine
from ..value.attributes import NamedMembers


class Direction(enum.Enum, metaclass=NamedMembers):
    """The frames that a mobilizer's q and u are of: M in F (``FORWARD``), or F in M (``REVERSE``).

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> slider = mb.mobilizer.Slider(matter.ground, ball, direction=mb.Direction.REVERSE)
    >>> state = system.realize_topology()
    >>> slider.set_length(state, 0.3)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> slider.get_body_origin_location(state)  # q says where the parent is, from the body
    array([-0.3,  0. ,  0. ])
    """

    FORWARD = 0
    REVERSE = 1


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts of a kind of mobilizer, by which the tree treats it.

    Parameters
    ----------
    kind : int
        Its number in `dispatch`, or ``BY_ADDRESS``; with angles in place of a quaternion all are by address.
    num_q, num_u : int
        Coordinates and speeds.
    transform : callable
        ``transform(q) -> (R_FM, p_FM)`` as tuples, q a tuple of `num_q` floats. Of a kind with parameters
        ``transform(q, p)``, p a tuple of `num_parameters` floats; likewise the others.
    transform_euler : callable, optional
        The same of the variant with angles. Where there is one, the first four coordinates are a quaternion, or three angles.
    hinge : callable
        ``hinge(q) -> columns``, each (angular, linear).
    hinge_euler : callable, optional
        The same of the variant with angles, where the columns depend on q.
    constant_hinge : bool
        Whether the columns are the same for every q and all parameters: `Tree` then writes them once.
    has_hinge_dot : bool, optional
        Whether HDot_FM u can differ from zero, or that of F in M, which are the columns where the mobilizer is reversed: it is
        True of a wheel that rolls along F's x axis, and False of a screw. Unless given, as the columns depend on q, but not
        for a line.
    num_parameters : int
        How many numbers the kind keeps beside q: a pitch, radii. A state can change them.
    has_matrix_n : bool
        Whether q_dot = N u with an N of the kind's own, which its routine keeps in the record.
    is_line : bool
        Whether the first two speeds are w_FM's components along M's x and y axes, the first two columns: see `_line`.
    slides_in_every_way : bool
        Whether the last three speeds translate M in all directions without rotation: they are then eliminated together.
    turns_in_every_way : bool
        Whether the first three speeds rotate M about its origin in all directions (but at a singular q), and three more, if
        there are any, are p_FM's rate: `tree.block_elimination` then eliminates them as a block.
    kinematics : Routine, optional
        The routine, called by address; see `routines`.
    """

    kind: int
    num_q: int
    num_u: int
    transform: Callable[..., Any]
    hinge: Callable[..., Any]
    constant_hinge: bool = True
    has_hinge_dot: bool | None = None
    transform_euler: Callable[..., Any] | None = None
    hinge_euler: Callable[..., Any] | None = None
    num_parameters: int = 0
    has_matrix_n: bool = False
    is_line: bool = False
    slides_in_every_way: bool = False
    turns_in_every_way: bool = False
    kinematics: Routine | None = None

    def __post_init__(self) -> None:
        if self.has_hinge_dot is None:
            object.__setattr__(self, "has_hinge_dot", not (self.constant_hinge or self.is_line))

    @property
    def has_quaternion(self) -> bool:
        """True if the first four coordinates are a quaternion unless angles are chosen."""
        return self.transform_euler is not None
