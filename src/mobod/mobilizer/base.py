"""MobilizedBody: a body and the mobilizer that connects it to its parent. What every kind shares.

A new kind is a file beside this one (see CONTRIBUTING.md). It provides

1. compiled functions ``transform(q)`` and ``hinge(q)``, and where the hinge columns depend on q also ``bias(q, u, H)``, with
   the equations in the file's docstring, and ``kinematics = by_address(...)`` made of them;
2. a class derived from `MobilizedBody` with its ``facts``, its friendly accessors, and `_fit_transform`, `_fit_rotation` and
   `_fit_translation` where it can do more than nothing (with `_fit_place` and `_fit_translation_reversed` where its translation
   turns it), and `_singularity` where it has one;
3. its name in ``__init__.py``.

The few kinds that nearly every mechanism is made of have a number ``KIND`` and a branch in ``_switch.py`` instead of a routine.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._jit import Routine
from ..body import Body
from ..decoration import own_copy
from ..errors import ModelError, TopologyError
from ..stage import Stage
from ..value import (
    Inertia,
    MassProperties,
    Rotation,
    SpatialInertia,
    Transform,
    UnitInertia,
)
from ._singular import middle_angle
from .locking import Locking

if TYPE_CHECKING:
    from ..matter import SimbodyMatterSubsystem
    from ..state import State
    from ._interpreted import Interpreter

Array = npt.NDArray[np.float64]
ArrayLike = npt.ArrayLike

__all__ = ["Direction", "Facts", "MobilizedBody"]

_ACCELERATION = int(Stage.ACCELERATION)


class Direction(enum.Enum):
    """Whether a mobilizer's q and u describe M in F (``FORWARD``) or F in M (``REVERSE``)."""

    FORWARD = 0
    REVERSE = 1


@dataclasses.dataclass(frozen=True)
class Facts:
    """What the tree has to know of a kind of mobilizer.

    Parameters
    ----------
    kind : int
        The number by which the switch knows it, or ``BY_ADDRESS``; with angles in place of a quaternion all are by address.
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
        Whether HDot_FM u can differ from zero. Unless given, as the columns depend on q, but not for a line.
    num_parameters : int
        How many numbers the kind keeps beside q: a pitch, radii. A state can change them.
    has_matrix_n : bool
        Whether q_dot = N u with an N of the kind's own, which its routine keeps in the record.
    is_line : bool
        Whether the first two speeds are w_FM's components along M's x and y axes, the first two columns: see `_line`.
    slides_in_every_way : bool
        Whether the last three speeds move M in every way without turning it: they are then eliminated at once.
    turns_in_every_way : bool
        Whether the first three speeds turn M about its origin in every way (but at a singular q), and three more, if there are
        any, are p_FM's rate: `tree.blocks` then meets them together.
    kinematics : Routine, optional
        What the switch calls by address; see `_by_address`.
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
        """Whether the first four coordinates are a quaternion unless angles are chosen."""
        return self.transform_euler is not None


class MobilizedBody(Locking):
    """A body and the mobilizer that connects it to its parent. Base class of every kind in `mobod.mobilizer`.

    Parameters
    ----------
    parent : MobilizedBody
        The body it is connected to; it joins the parent's matter subsystem at once.
    body : Body
        Mass properties and decorations; copied, so one `Body` can serve many mobilized bodies.
    X_PF : Transform, optional
        The inboard frame F on the parent. Identity unless given.
    X_BM : Transform, optional
        The outboard frame M on the body. Identity unless given.
    direction : Direction, optional
        ``REVERSE`` defines q and u as though the tree had been built the other way: of F in M.
    name : str, optional
        Unique in the matter subsystem; one is made where none is given.

    Raises
    ------
    ModelError
        If the name is taken, or a frame is not a rigid transform.
    """

    facts: Facts

    #: Whether one coordinate is handed out as an array too, and never as a float: of kinds whose number of coordinates varies.
    _always_arrays: bool = False
    #: Whether the record has the rates of the kind's hinge columns one by one, beside HDot u.
    _keeps_rates_of_columns: bool = False
    #: What computes the kinematics where Python does; see `_interpreted`.
    _interpreter: Interpreter | None = None
    #: Whether users' functions, which can give anything, are compiled into its kinematics.
    _is_of_users_functions: bool = False
    #: What a file called the joint, for naming its coordinates; the body's own name serves where there is none.
    _joint_name: str | None = None
    _X_PF: Transform
    _X_BM: Transform
    _direction: Direction
    _body: Body
    _parent: MobilizedBody | None
    _default_q: Array
    _matter: SimbodyMatterSubsystem
    _index: int
    _name: str
    _level: int
    _base: MobilizedBody

    def __init__(
        self,
        parent: MobilizedBody,
        body: Body,
        *,
        X_PF: Transform | None = None,
        X_BM: Transform | None = None,
        direction: Direction = Direction.FORWARD,
        name: str | None = None,
    ) -> None:
        if type(self) is MobilizedBody:
            raise TypeError("MobilizedBody is the base class; make one of the kinds in mobod.mobilizer")
        if not isinstance(parent, MobilizedBody):
            raise TypeError(f"the parent has to be a mobilized body (matter.ground, or another one), not {parent!r}")
        if not isinstance(body, Body):
            raise TypeError(f"body has to be a Body such as mobod.body.Rigid(mass_properties), not {body!r}")
        if not isinstance(direction, Direction):
            raise TypeError(f"direction has to be Direction.FORWARD or Direction.REVERSE, not {direction!r}")
        self._X_PF, self._X_BM = _frame("X_PF", X_PF), _frame("X_BM", X_BM)
        self._direction = direction
        self._body = body.copy()
        self._parent = parent
        self._default_q = self._initial_q()
        self._inboard_decorations: list[tuple[Transform, Any]] = []
        self._outboard_decorations: list[tuple[Transform, Any]] = []
        self._matter = parent._matter
        self._index, self._name = self._matter._adopt(self, name)
        self._level = parent._level + 1
        self._base = self if parent._index == 0 else parent._base

    def _initial_q(self) -> Array:
        q = np.zeros(self.facts.num_q)
        if self.facts.has_quaternion:
            q[0] = 1.0
        return q

    def __repr__(self) -> str:
        parent = "" if self._parent is None else f" on {self._parent.name!r}"
        turned = ", reversed" if self._direction is Direction.REVERSE else ""
        return f"<{type(self).__name__} {self._name!r}, body {self._index}{parent}{turned}>"

    @property
    def _title(self) -> str:
        """What messages call it where its kind matters."""
        return f"{self._name!r} ({type(self).__name__})"

    def __index__(self) -> int:
        """The body's index, so that a body can index an array of one row a body."""
        return self._index

    # ------------------------------------------------------------------------------------------ the tree

    @property
    def name(self) -> str:
        """Its name, unique in the matter subsystem."""
        return self._name

    @property
    def direction(self) -> Direction:
        """Whether q and u are of M in F, or of F in M."""
        return self._direction

    def get_mobilized_body_index(self) -> int:
        """The body's index in its matter subsystem: larger than its parent's, 0 for Ground."""
        return self._index

    def get_parent_mobilized_body(self) -> MobilizedBody:
        """The parent; `TopologyError` for Ground, which has none."""
        if self._parent is None:
            raise TopologyError("Ground has no parent; ask is_ground() first")
        return self._parent

    def get_base_mobilized_body(self) -> MobilizedBody:
        """The ancestor (or the body itself) that is connected to Ground; Ground for Ground."""
        return self._base

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem that the body is part of."""
        return self._matter

    def upd_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem that the body is part of; the same object as `get_matter_subsystem` gives."""
        return self._matter

    def is_in_subsystem(self) -> bool:
        """Whether the body is part of a matter subsystem; every mobilized body is, from its making on."""
        return True

    def is_in_same_subsystem(self, mobod: MobilizedBody) -> bool:
        """Whether *mobod* is part of the same matter subsystem."""
        return mobod._matter is self._matter

    def is_same_mobilized_body(self, mobod: MobilizedBody) -> bool:
        """Whether *mobod* is this very body, and not one like it."""
        return mobod is self

    def is_ground(self) -> bool:
        """Whether this is Ground, which is body 0 of its matter."""
        return self._index == 0

    def get_level_in_multibody_tree(self) -> int:
        """How many mobilizers there are between the body and Ground; Ground is at level 0."""
        return self._level

    def clone_for_new_parent(self, parent: MobilizedBody) -> MobilizedBody:
        """A new body of the same kind and settings on another parent, whose system it joins, under a name of its own."""
        return self._clone(parent, self._settings())

    def _clone(self, parent: MobilizedBody, settings: dict[str, Any]) -> MobilizedBody:
        other = type(self)(parent, self._body, X_PF=self._X_PF, X_BM=self._X_BM, direction=self._direction, **settings)
        other._default_q = self._default_q.copy()
        other._default_lock_level = self._default_lock_level
        other._inboard_decorations = [(X, own_copy(geometry)) for X, geometry in self._inboard_decorations]
        other._outboard_decorations = [(X, own_copy(geometry)) for X, geometry in self._outboard_decorations]
        return other

    def _settings(self) -> dict[str, Any]:
        """What the kind's constructor takes besides."""
        return {}

    def _parameters(self) -> Sequence[float]:
        """The `num_parameters` numbers of a default state."""
        return ()

    def _choices(self) -> Sequence[int]:
        """Integers that the kind's routine looks up in the record."""
        return ()

    # ------------------------------------------------------------------------------------------ defaults

    def _changed(self) -> None:
        """A default changed: the system's topology has to be realized again."""
        self._matter._invalidate_topology()

    def get_body(self) -> Body:
        """The body's own mass properties and decorations."""
        return self._body

    def upd_body(self) -> Body:
        """The body's own `Body`, for changing; a topological change."""
        self._changed()
        return self._body

    def set_body(self, body: Body) -> MobilizedBody:
        """Give it a copy of *body* instead of its own; a topological change. Returns the mobilized body."""
        if not isinstance(body, Body):
            raise TypeError(f"body has to be a Body such as mobod.body.Rigid(mass_properties), not {body!r}")
        self._body = body.copy()
        self._changed()
        return self

    def get_default_mass_properties(self) -> MassProperties:
        """The body's mass properties, about its origin, in its frame."""
        return self._body.get_default_rigid_body_mass_properties()

    def set_default_mass_properties(self, m: MassProperties) -> MobilizedBody:
        """Change the body's mass properties; a topological change. Returns the mobilized body."""
        self._body.set_default_rigid_body_mass_properties(m)
        self._changed()
        return self

    def get_default_inboard_frame(self) -> Transform:
        """X_PF, the frame F on the parent, where no state says otherwise."""
        return self._X_PF

    def set_default_inboard_frame(self, X_PF: Transform) -> MobilizedBody:
        """Change X_PF; a topological change. Returns the mobilized body."""
        self._X_PF = _frame("X_PF", X_PF)
        self._changed()
        return self

    def get_default_outboard_frame(self) -> Transform:
        """X_BM, the frame M on the body, where no state says otherwise."""
        return self._X_BM

    def set_default_outboard_frame(self, X_BM: Transform) -> MobilizedBody:
        """Change X_BM; a topological change. Returns the mobilized body."""
        self._X_BM = _frame("X_BM", X_BM)
        self._changed()
        return self

    def get_default_q(self) -> Any:
        """The coordinates of a default state: a float for kinds with one, else an ``(nq,)`` array."""
        one = self.facts.num_q == 1 and not self._always_arrays
        return float(self._default_q[0]) if one else self._default_q.copy()

    def set_default_q(self, q: ArrayLike) -> MobilizedBody:
        """Change the coordinates of a default state; a topological change. Returns the mobilized body.

        Raises
        ------
        ValueError
            If there are not `nq` finite numbers, or a quaternion among them is zero.
        """
        value = self._vector("default q", q, self.facts.num_q)
        if self.facts.has_quaternion:
            norm = np.linalg.norm(value[:4])
            if norm == 0.0:
                raise ValueError(f"the default quaternion of {self._name!r} is zero; the identity is (1, 0, 0, 0)")
            value[:4] /= norm
        self._default_q = value
        self._changed()
        return self

    def _packed_default_q(self, use_euler_angles: bool) -> Array:
        """The default coordinates as a state keeps them: with angles in place of a quaternion where so chosen."""
        q = self._default_q
        if not (use_euler_angles and self.facts.has_quaternion):
            return q
        return np.concatenate([Rotation.from_quaternion(q[:4]).to_body_fixed_xyz(), q[4:]])

    def _vector(self, what: str, value: ArrayLike, n: int) -> Array:
        array = np.array(value, dtype=np.float64)
        if array.shape == () and n == 1:
            array = array.reshape(1)
        if array.shape != (n,):
            raise ValueError(f"{what} of {self._name!r} takes {n} numbers, got shape {array.shape}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{what} of {self._name!r} has to be finite, got {array}")
        return array

    # ------------------------------------------------------------------------------------------ decorations

    def add_body_decoration(self, geometry: Any, X_BD: Transform | None = None) -> int:
        """Fix a copy of *geometry* on the body at X_BD, identity unless given. A topological change.

        Returns its ordinal among the body's. Raises `TypeError` if it is not one of the kinds in `mobod.decoration`, as do
        `add_outboard_decoration` and `add_inboard_decoration`.
        """
        ordinal = int(self._body.add_decoration(geometry, _frame("X_BD", X_BD)))
        self._changed()
        return ordinal

    def add_outboard_decoration(self, geometry: Any, X_MD: Transform | None = None) -> int:
        """Fix a copy of *geometry* on the frame M at X_MD. A topological change. Returns its ordinal among those."""
        return self._decorate(self._outboard_decorations, geometry, _frame("X_MD", X_MD))

    def add_inboard_decoration(self, geometry: Any, X_FD: Transform | None = None) -> int:
        """Fix a copy of *geometry* on the frame F at X_FD. A topological change. Returns its ordinal among the inboard ones."""
        return self._decorate(self._inboard_decorations, geometry, _frame("X_FD", X_FD))

    def _decorate(self, decorations: list[tuple[Transform, Any]], geometry: Any, X: Transform) -> int:
        decorations.append((X, own_copy(geometry)))
        self._changed()
        return len(decorations) - 1

    def _decoration(self, decorations: list[tuple[Transform, Any]], i: int, where: str) -> Any:
        if not 0 <= i < len(decorations):
            raise IndexError(f"{self._name!r} has {len(decorations)} {where} decorations, counted from 0; no number {i}")
        return decorations[i][1]

    def get_num_outboard_decorations(self) -> int:
        """How many decorations there are on the frame M."""
        return len(self._outboard_decorations)

    def get_outboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame M."""
        return self._decoration(self._outboard_decorations, i, "outboard")

    def upd_outboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame M, for changing."""
        return self._decoration(self._outboard_decorations, i, "outboard")

    def get_num_inboard_decorations(self) -> int:
        """How many decorations there are on the frame F."""
        return len(self._inboard_decorations)

    def get_inboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame F."""
        return self._decoration(self._inboard_decorations, i, "inboard")

    def upd_inboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame F, for changing."""
        return self._decoration(self._inboard_decorations, i, "inboard")

    def _calc_decorations(self, state: State) -> list[Any]:
        """What to draw on the body besides, placed in its frame, at a state that is at POSITION."""
        return []

    # ------------------------------------------------------------------------------------------ q and u

    def get_num_q(self, state: State) -> int:
        """How many coordinates it has in this state; angles in place of a quaternion make one less. Needs MODEL."""
        return state._tree_of(self, "get_num_q").num_q[self._index]

    def get_num_u(self, state: State) -> int:
        """How many speeds it has: its mobilities. Needs MODEL."""
        return state._tree_of(self, "get_num_u").num_u[self._index]

    def get_first_q_index(self, state: State) -> int:
        """Place of its first coordinate in the state's q. Needs MODEL."""
        return state._tree_of(self, "get_first_q_index").first_q[self._index]

    def get_first_u_index(self, state: State) -> int:
        """Place of its first speed in the state's u. Needs MODEL."""
        return state._tree_of(self, "get_first_u_index").first_u[self._index]

    def _q_slice(self, state: State, asked: str = "q") -> slice:
        return state._tree_of(self, asked).q_slices[self._index]

    def _u_slice(self, state: State, asked: str = "u") -> slice:
        return state._tree_of(self, asked).u_slices[self._index]

    def _one_or_all(self, values: Array) -> Any:
        one = self.facts.num_u == 1 and len(values) == 1 and not self._always_arrays
        return float(values[0]) if one else values.copy()

    def get_q(self, state: State) -> Any:
        """Its coordinates: a float for kinds with one, else an ``(nq,)`` array. Needs MODEL."""
        return self._one_or_all(state._q[self._q_slice(state, "get_q")])

    def set_q(self, state: State, q: ArrayLike) -> None:
        """Set its coordinates; the state falls to TIME at most.

        Raises
        ------
        ValueError
            If there are not `nq` numbers. NaN is found when the state is realized.
        ModelError
            If q is locked.
        """
        part = self._q_slice(state, "set_q")
        if state._has_locks:
            self._refuse_locked(state, "q")
        self._put(state._q, part, q, "q")
        state._invalidate_q()

    def get_u(self, state: State) -> Any:
        """Its speeds: a float for kinds with one, else an ``(nu,)`` array. Needs MODEL."""
        return self._one_or_all(state._u[self._u_slice(state, "get_u")])

    def set_u(self, state: State, u: ArrayLike) -> None:
        """Set its speeds; the state falls to POSITION at most.

        Raises
        ------
        ValueError
            If there are not `nu` numbers.
        ModelError
            If u is locked.
        """
        part = self._u_slice(state, "set_u")
        if state._has_locks:
            self._refuse_locked(state, "u")
        self._put(state._u, part, u, "u")
        state._invalidate_u()

    def _put(self, target: Array, part: slice, value: ArrayLike, what: str) -> None:
        n = part.stop - part.start
        array = np.asarray(value, dtype=np.float64)
        if array.shape != (n,) and not (n == 1 and array.shape == ()):
            raise ValueError(f"{self._name!r} has {n} {what}, got shape {array.shape}")
        target[part] = array

    def get_q_dot(self, state: State) -> Any:
        """Rates of its coordinates. Needs VELOCITY."""
        return self._one_or_all(state.q_dot[self._q_slice(state)])

    def get_u_dot(self, state: State) -> Any:
        """Rates of its speeds: its accelerations. Needs ACCELERATION."""
        u_dot = state._u_dot_view if state._stage >= _ACCELERATION else state.u_dot  # which refuses; a property is a call more
        return self._one_or_all(u_dot[state._tree_of(self, "u").u_slices[self._index]])

    def get_q_dot_dot(self, state: State) -> Any:
        """Second rates of its coordinates. Needs ACCELERATION."""
        return self._one_or_all(state.q_dot_dot[self._q_slice(state)])

    def get_q_as_vector(self, state: State) -> Array:
        """Its coordinates, ``(nq,)``. Needs MODEL."""
        return state._q[self._q_slice(state, "get_q_as_vector")].copy()

    def get_u_as_vector(self, state: State) -> Array:
        """Its speeds as an array, ``(nu,)``. Needs MODEL."""
        return state._u[self._u_slice(state, "get_u_as_vector")].copy()

    def get_q_dot_as_vector(self, state: State) -> Array:
        """Rates of its coordinates, ``(nq,)``. Needs VELOCITY."""
        return state.q_dot[self._q_slice(state)].copy()

    def get_u_dot_as_vector(self, state: State) -> Array:
        """Its accelerations, ``(nu,)``. Needs ACCELERATION."""
        return state.u_dot[self._u_slice(state)].copy()

    def get_q_dot_dot_as_vector(self, state: State) -> Array:
        """Second rates of its coordinates, ``(nq,)``. Needs ACCELERATION."""
        return state.q_dot_dot[self._q_slice(state)].copy()

    def set_q_from_vector(self, state: State, v: ArrayLike) -> None:
        """Set its coordinates from an ``(nq,)`` array."""
        self.set_q(state, v)

    def set_u_from_vector(self, state: State, v: ArrayLike) -> None:
        """Set its speeds from an ``(nu,)`` array; see `set_u`."""
        self.set_u(state, v)

    def _which(self, part: slice, which: int, what: str) -> int:
        n = part.stop - part.start
        if not 0 <= int(which) < n:
            raise IndexError(f"{self._name!r} has {n} {what}; there is no number {which}")
        return part.start + int(which)

    def get_one_q(self, state: State, which: int) -> float:
        """One of its coordinates, by its place among them. Needs MODEL."""
        return float(state._q[self._which(self._q_slice(state, "get_one_q"), which, "q")])

    def get_one_u(self, state: State, which: int) -> float:
        """One of its speeds, by its place among them. Needs MODEL."""
        return float(state._u[self._which(self._u_slice(state, "get_one_u"), which, "u")])

    def set_one_q(self, state: State, which: int, v: float) -> None:
        """Set one coordinate; the state falls to TIME at most. `ModelError` where it is locked."""
        at = self._which(self._q_slice(state, "set_one_q"), which, "q")
        if state._has_locks:
            self._refuse_locked(state, "q")
        state._q[at] = v
        state._invalidate_q()

    def set_one_u(self, state: State, which: int, v: float) -> None:
        """Set one speed; the state falls to POSITION at most. `ModelError` where it is locked."""
        at = self._which(self._u_slice(state, "set_one_u"), which, "u")
        if state._has_locks:
            self._refuse_locked(state, "u")
        state._u[at] = v
        state._invalidate_u()

    def get_one_q_dot(self, state: State, which: int) -> float:
        """Rate of one of its coordinates. Needs VELOCITY."""
        return float(state.q_dot[self._which(self._q_slice(state), which, "q")])

    def get_one_u_dot(self, state: State, which: int) -> float:
        """One of its accelerations, by its place. Needs ACCELERATION."""
        return float(state.u_dot[self._which(self._u_slice(state), which, "u")])

    def get_one_q_dot_dot(self, state: State, which: int) -> float:
        """Second rate of one coordinate. Needs ACCELERATION."""
        return float(state.q_dot_dot[self._which(self._q_slice(state), which, "q")])

    def get_my_part_q(self, state: State, qlike: ArrayLike) -> Any:
        """Its part of an ``(nq,)`` array of the whole system: a float for kinds with one coordinate."""
        return self._one_or_all(_like(qlike, _size(qlike, state.q.shape, state._tree.nq), "qlike")[self._q_slice(state)])

    def get_my_part_u(self, state: State, ulike: ArrayLike) -> Any:
        """Its part of an ``(nu,)`` array of the whole system: a float for kinds with one speed."""
        return self._one_or_all(_like(ulike, _size(ulike, state.u.shape, state._tree.nu), "ulike")[self._u_slice(state)])

    def upd_my_part_q(self, state: State, qlike: Array) -> Array:
        """Its part of an ``(nq,)`` float64 array of the whole system, as a writable view ``(n,)``."""
        return _writable(qlike, _size(qlike, state.q.shape, state._tree.nq), "qlike")[self._q_slice(state)]

    def upd_my_part_u(self, state: State, ulike: Array) -> Array:
        """Its part of an ``(nu,)`` float64 array of the whole system, as a writable view ``(n,)``."""
        return _writable(ulike, _size(ulike, state.u.shape, state._tree.nu), "ulike")[self._u_slice(state)]

    def get_one_from_q_partition(self, state: State, which: int, qlike: ArrayLike) -> float:
        """One entry of its part of an ``(nq,)`` array."""
        return float(
            _like(qlike, _size(qlike, state.q.shape, state._tree.nq), "qlike")[self._which(self._q_slice(state), which, "q")]
        )

    def get_one_from_u_partition(self, state: State, which: int, ulike: ArrayLike) -> float:
        """One entry of its part of an ``(nu,)`` array."""
        return float(
            _like(ulike, _size(ulike, state.u.shape, state._tree.nu), "ulike")[self._which(self._u_slice(state), which, "u")]
        )

    def upd_one_from_q_partition(self, state: State, which: int, qlike: Array) -> Array:
        """One entry of its part of an ``(nq,)`` float64 array, as a 0-d view: assign with ``view[...] = x``."""
        at = self._which(self._q_slice(state), which, "q")
        return _writable(qlike, _size(qlike, state.q.shape, state._tree.nq), "qlike")[at : at + 1].reshape(())

    def upd_one_from_u_partition(self, state: State, which: int, ulike: Array) -> Array:
        """One entry of its part of an ``(nu,)`` float64 array, as a 0-d view: assign with ``view[...] = x``."""
        at = self._which(self._u_slice(state), which, "u")
        return _writable(ulike, _size(ulike, state.u.shape, state._tree.nu), "ulike")[at : at + 1].reshape(())

    # ------------------------------------------------------------------------------------------ fitting q and u

    def _is_euler(self, state: State) -> bool:
        return self.facts.has_quaternion and bool(state._use_euler_angles)

    def set_q_to_fit_transform(self, state: State, X_FM: Transform) -> None:
        """Set q so that M is in F as near to X_FM as the kind allows: its orientation first, then its place.

        Never an error for a request out of reach: read back with `get_mobilizer_transform` what was achieved.
        """
        X = _frame("X_FM", X_FM)
        if self._direction is Direction.REVERSE:
            # p_MF = -R_MF p_FM with the orientation reached, which may not be the one asked for
            self.set_q_to_fit_rotation(state, X.R)
            self._fit(state, self._fit_place, -(self._own_transform(state).R @ X.p))
        else:
            self._fit(state, self._fit_transform, X)

    def set_q_to_fit_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q so that the orientation of M in F is as near to R_FM as the kind allows."""
        R = R_FM if isinstance(R_FM, Rotation) else Rotation(R_FM)
        self._fit(state, self._fit_rotation, ~R if self._direction is Direction.REVERSE else R)

    def set_q_to_fit_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set q so that the origin of M is in F as near to p_FM as the kind allows, without turning M if it can."""
        p = _vec3("p_FM", p_FM)
        reverse = self._direction is Direction.REVERSE
        self._fit(state, self._fit_translation_reversed if reverse else self._fit_translation, p)

    def _fit(self, state: State, method: Callable[..., None], target: Any) -> None:
        """Let *method* change a copy of q, a quaternion in place of angles, and set that.

        It gets the target, q, and of a kind with parameters also these.
        """
        q = self.get_q_as_vector(state)
        euler = self._is_euler(state)
        if euler:
            q = np.concatenate([Rotation.from_body_fixed_xyz(q[:3]).to_quaternion(), q[3:]])
        if self.facts.num_parameters:
            method(target, q, self._state_parameters(state))
        else:
            method(target, q)
        if euler:
            q = np.concatenate([Rotation.from_quaternion(q[:4]).to_body_fixed_xyz(), q[4:]])
        self.set_q(state, q)

    # What kinds override takes (target, q), of a kind with parameters (target, q, parameters).

    def _fit_transform(self, X: Transform, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a pose: rotation, then translation, unless a kind knows better."""
        self._fit_rotation(X.R, q, *args)
        self._fit_place(np.asarray(X.p), q, *args)

    def _fit_rotation(self, R: Rotation, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a rotation; a kind without one leaves it."""

    def _fit_translation(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a translation; a kind without one leaves it."""

    def _fit_place(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a translation without turning M: of a pose whose orientation is there.

        For kinds whose `_fit_translation` turns M to get nearer this is another thing.
        """
        self._fit_translation(p, q, *args)

    def _fit_translation_reversed(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q, of F in M, to fit p_FM: that is p_MF = -R_MF p_FM, for kinds that need not turn to reach it."""
        parameters = [tuple(run.tolist()) for run in args]
        R_MF = np.reshape(self.facts.transform(tuple(q.tolist()) or (0.0,), *parameters)[0], (3, 3))
        self._fit_translation(-(R_MF @ p), q, *args)

    def set_u_to_fit_velocity(self, state: State, V_FM: ArrayLike) -> None:
        """Set u so that the velocity of M in F is as near to V_FM ``(2, 3)`` as the kind allows at the present q."""
        V = np.asarray(V_FM, dtype=np.float64)
        if V.shape != (2, 3):
            raise ValueError(f"V_FM is a spatial vector (2, 3), got shape {V.shape}")
        H = self._hinge_matrix(state)
        if H.shape[1]:
            self.set_u(state, np.linalg.lstsq(H, V.ravel(), rcond=None)[0])

    def set_u_to_fit_angular_velocity(self, state: State, w_FM: ArrayLike) -> None:
        """Set u so that the angular velocity of M in F is as near to w_FM as the kind allows; other speeds stay."""
        w = _vec3("w_FM", w_FM)
        H = self._hinge_matrix(state)
        turning = np.any(H[:3] != 0.0, axis=0)
        if np.any(turning):
            u = self.get_u_as_vector(state)
            u[turning] = np.linalg.lstsq(H[:3, turning], w, rcond=None)[0]
            self.set_u(state, u)

    def set_u_to_fit_linear_velocity(self, state: State, v_FM: ArrayLike) -> None:
        """Set u so that the velocity of M's origin in F is as near to v_FM as the kind allows.

        Speeds that turn M are changed only where those that do not cannot reach v_FM.
        """
        v = _vec3("v_FM", v_FM)
        H = self._hinge_matrix(state)
        sliding = np.any(H[3:] != 0.0, axis=0) & ~np.any(H[:3] != 0.0, axis=0)
        u = self.get_u_as_vector(state)
        if np.any(sliding):
            rest = v - H[3:, ~sliding] @ u[~sliding]
            u[sliding] = np.linalg.lstsq(H[3:, sliding], rest, rcond=None)[0]
        missing = v - H[3:] @ u if len(u) else v
        if len(u) and np.linalg.norm(missing) > 1e-12 * (1.0 + np.linalg.norm(v)):
            u += np.linalg.lstsq(H[3:], missing, rcond=1e-12)[0]
        self.set_u(state, u)

    def _own_transform(self, state: State) -> Transform:
        """X_FM at the state's q, or X_MF of a reversed mobilizer; the state need not be realized."""
        R, p = self._own_pose(state)(self.get_q_as_vector(state))
        return Transform._trusted(R.copy(), p.copy())

    def _own_pose(self, state: State) -> Callable[[Array], tuple[Array, Array]]:
        """R ``(3, 3)`` and p ``(3,)`` of M in F as a function of q, or of F in M for a reversed mobilizer."""
        if self._interpreter is not None:
            interpreter, at_instance = self._interpreter, self._realized(state, Stage.INSTANCE)
            return lambda q: interpreter.transform(at_instance, q)

        def pose(q: Array) -> tuple[Array, Array]:
            R, p = self._function_of_q(state, self.facts.transform, self.facts.transform_euler, q)
            return np.array(R).reshape(3, 3), np.array(p)

        return pose

    def _pose_in_f(self, state: State) -> Callable[[Array], tuple[Array, Array]]:
        """R and p of M in F as a function of q, in either direction."""
        own = self._own_pose(state)
        if self._direction is Direction.FORWARD:
            return own

        def pose(q: Array) -> tuple[Array, Array]:
            R, p = own(q)
            return R.T, -(R.T @ p)

        return pose

    def _realized(self, state: State, stage: Stage) -> State:
        """The state if it is at *stage* or above, else a copy of it that is."""
        state._tree_of(self, "its kinematics")
        if state._stage >= stage:
            return state
        other = state.copy()
        self._matter.get_system().realize(other, stage)
        return other

    def _function_of_q(
        self, state: State, function: Callable[..., Any], euler: Callable[..., Any] | None, at: Array | None = None
    ) -> Any:
        """One of the kind's functions at the state's q (or *at* another) and parameters; *euler* where angles are chosen."""
        chosen = euler if euler is not None and self._is_euler(state) else function
        q = tuple((self.get_q_as_vector(state) if at is None else at).tolist()) or (0.0,)
        return chosen(q, tuple(self._state_parameters(state).tolist())) if self.facts.num_parameters else chosen(q)

    def _state_parameters(self, state: State) -> Array:
        """The kind's parameters in this state, a view."""
        first = state._tree_of(self, "parameters").fields["first_parameter"][self._index]
        return state._field("parameters")[first : first + self.facts.num_parameters, 0]

    def _set_state_parameters(self, state: State, values: Sequence[float]) -> None:
        """Change the kind's parameters in this state alone, which falls to MODEL at most; the defaults stay."""
        first = state._tree_of(self, "parameters").fields["first_parameter"][self._index]
        state._own_field("parameters")[first : first + self.facts.num_parameters, 0] = values

    def _hinge_matrix(self, state: State) -> Array:
        """H_FM ``(6, nu)`` at the state's q; the state need not be realized."""
        if self._interpreter is not None or self._is_of_users_functions:
            written: Array = self._realized(state, Stage.POSITION)._record.H_FM[self._u_slice(state)]
            return written.T.copy()
        columns = self._function_of_q(state, self.facts.hinge, self.facts.hinge_euler)
        H = np.array(columns, dtype=np.float64).reshape(-1, 6).T
        if self._direction is Direction.FORWARD or not H.shape[1]:
            return H
        X_MF = self._own_transform(state)
        R_FM = np.asarray(X_MF.R).T
        w, v = H[:3], H[3:]
        return np.vstack([-R_FM @ w, R_FM @ (np.cross(w, np.asarray(X_MF.p)[:, None], axis=0) - v)])

    def _not_finite(self, state: State) -> str | None:
        """What to say of a user's function that gave what is not finite at q and u; None unless one did."""
        return None

    def _singularity(self, state: State) -> str | None:
        """What to say of a singular configuration that q is near; None elsewhere. Asked when something has gone wrong.

        Of the kinds with an orientation these are the angles that can replace their quaternion; other kinds say their own.
        """
        if not self._is_euler(state):
            return None
        remedy = "Quaternions have no such place: see matter.set_use_euler_angles"
        return middle_angle(self._title, 1, float(self.get_q_as_vector(state)[1]), remedy)

    # ------------------------------------------------------------------------------------------ state access

    # These are called once a body and step by those who draw or control: what is common is checked here, the rest in State.

    def _rotation_array(self, state: State, asked: str) -> Array:
        if not state._valid & 1 or state._token is not self._matter._topology_token:
            state._need_positions(self, asked)
        R: Array = state._R_GB[self._index]
        return R

    def get_body_transform(self, state: State) -> Transform:
        """X_GB, the pose of the body's frame in Ground. Needs POSITION."""
        if not state._valid & 1 or state._token is not self._matter._topology_token:
            state._need_positions(self, "get_body_transform")
        b = self._index
        return Transform._trusted(state._R_GB[b].copy(), state._record.p_GB[b].copy())

    def get_body_rotation(self, state: State) -> Rotation:
        """R_GB, the orientation of the body in Ground. Needs POSITION."""
        return Rotation._trusted(self._rotation_array(state, "get_body_rotation").copy())

    def get_body_origin_location(self, state: State) -> Array:
        """p_GB, the body's origin from Ground's, in Ground. Needs POSITION."""
        state._need_positions(self, "get_body_origin_location")
        p: Array = state._record.p_GB[self._index].copy()
        return p

    def get_mobilizer_transform(self, state: State) -> Transform:
        """X_FM, the pose of M in F. Needs POSITION."""
        if not state._valid & 1 or state._token is not self._matter._topology_token:
            state._need_positions(self, "get_mobilizer_transform")
        b = self._index
        return Transform._trusted(state._R_FM[b].copy(), state._record.p_FM[b].copy())

    def get_body_velocity(self, state: State) -> Array:
        """V_GB ``(2, 3)``: angular velocity, and velocity of the body's origin, in Ground. Needs VELOCITY."""
        if state._valid & 3 != 3 or state._token is not self._matter._topology_token:
            state._need_velocities(self, "get_body_velocity")
        V: Array = state._V_GB[self._index].copy()
        return V

    def get_body_angular_velocity(self, state: State) -> Array:
        """w_GB, the angular velocity of the body in Ground. Needs VELOCITY."""
        return self.get_body_velocity(state)[0]

    def get_body_origin_velocity(self, state: State) -> Array:
        """v_GB, of the body's origin, in Ground. Needs VELOCITY."""
        return self.get_body_velocity(state)[1]

    def get_mobilizer_velocity(self, state: State) -> Array:
        """V_FM ``(2, 3)``: velocity of M in F, expressed in F. Needs VELOCITY."""
        state._need_velocities(self, "get_mobilizer_velocity")
        return self._matter._mobilizer_velocity(state, self._index)

    def get_body_acceleration(self, state: State) -> Array:
        """A_GB ``(2, 3)``: angular acceleration, and acceleration of the body's origin, in Ground. Needs ACCELERATION."""
        if state._stage < 8 or state._token is not self._matter._topology_token:
            state._need_accelerations(self, "get_body_acceleration")
        A: Array = state._A_GB[self._index].copy()
        return A

    def get_body_angular_acceleration(self, state: State) -> Array:
        """Angular acceleration of the body, in Ground. Needs ACCELERATION."""
        return self.get_body_acceleration(state)[0]

    def get_body_origin_acceleration(self, state: State) -> Array:
        """Acceleration of the body's origin, in Ground. Needs ACCELERATION."""
        return self.get_body_acceleration(state)[1]

    def get_mobilizer_acceleration(self, state: State) -> Array:
        """A_FM ``(2, 3)``: the derivative of V_FM, taken and expressed in F: H_FM udot + HDot_FM u. Needs ACCELERATION."""
        state._need_accelerations(self, "get_mobilizer_acceleration")
        return self._matter._mobilizer_acceleration(state, self._index)

    def get_h_fm_col(self, state: State, ux: int) -> Array:
        """Column *ux* of H_FM ``(2, 3)``: velocity of M in F a unit of that speed, in F. Needs POSITION."""
        state._need_positions(self, "get_h_fm_col")
        H: Array = state._record.H_FM[self._which(self._u_slice(state), ux, "u")].reshape(2, 3).copy()
        return H

    def get_h_col(self, state: State, ux: int) -> Array:
        """Column *ux* of H_PB_G ``(2, 3)``: velocity of B in P a unit of that speed, in Ground. Needs POSITION."""
        state._need_positions(self, "get_h_col")
        H: Array = state._record.H[self._which(self._u_slice(state), ux, "u")].reshape(2, 3).copy()
        return H

    def get_body_mass_properties(self, state: State) -> MassProperties:
        """Mass, mass center and inertia about the body's origin, in the body's frame. Needs INSTANCE."""
        state._need_instance(self, "get_body_mass_properties")
        record, b = state._record, self._index
        return MassProperties._trusted(float(record.mass[b, 0]), record.com[b].copy(), _full(record.inertia[b]))

    def get_body_mass(self, state: State) -> float:
        """The body's mass; infinite for Ground. Needs INSTANCE."""
        state._need_instance(self, "get_body_mass")
        return float(state._record.mass[self._index, 0])

    def get_body_mass_center_station(self, state: State) -> Array:
        """The mass center from the body's origin, in the body's frame. Needs INSTANCE."""
        state._need_instance(self, "get_body_mass_center_station")
        c: Array = state._record.com[self._index].copy()
        return c

    def get_body_unit_inertia_about_body_origin(self, state: State) -> UnitInertia:
        """Inertia about the body's origin over its mass, in the body's frame. Needs INSTANCE."""
        return self.get_body_mass_properties(state).unit_inertia

    def get_inboard_frame(self, state: State) -> Transform:
        """X_PF, the frame F on the parent, of this state. Needs INSTANCE."""
        state._need_instance(self, "get_inboard_frame")
        record, b = state._record, self._index
        return Transform._trusted(record.R_PF[b].reshape(3, 3).copy(), record.p_PF[b].copy())

    def get_outboard_frame(self, state: State) -> Transform:
        """X_BM, the frame M on the body, of this state. Needs INSTANCE."""
        state._need_instance(self, "get_outboard_frame")
        record, b = state._record, self._index
        return Transform._trusted(record.R_BM[b].reshape(3, 3).copy(), record.p_BM[b].copy())

    def set_inboard_frame(self, state: State, X_PF: Transform) -> None:
        """Move the frame F on the parent in this state alone, which falls to MODEL at most; the default stays."""
        X = _frame("X_PF", X_PF)
        state._tree_of(self, "set_inboard_frame")
        state._own_field("R_PF")[self._index] = np.asarray(X.R).ravel()
        state._own_field("p_PF")[self._index] = X.p

    def set_outboard_frame(self, state: State, X_BM: Transform) -> None:
        """Move the frame M on the body in this state alone, which falls to MODEL at most; the default stays."""
        X = _frame("X_BM", X_BM)
        state._tree_of(self, "set_outboard_frame")
        state._own_field("R_BM")[self._index] = np.asarray(X.R).ravel()
        state._own_field("p_BM")[self._index] = X.p
        state._leave_out("plain_outboard", self._index, False)

    def set_body_mass_properties(self, state: State, mass_properties: MassProperties) -> None:
        """Change the body's mass properties in this state alone, which falls to MODEL at most; the default stays.

        Parameters
        ----------
        state : State
            At MODEL or above.
        mass_properties : MassProperties
            About the body's origin, in its frame, and such as its kind of `Body` can have. A mass of zero is allowed where the
            mobilizer, or what hangs on the body, gives every mobility something to move.

        Raises
        ------
        ModelError
            If a body of this kind cannot have them, and for Ground.
        TypeError
            If they are not `MassProperties`.
        """
        state._tree_of(self, "set_body_mass_properties")
        if self._index == 0:
            raise ModelError("the mass properties of Ground cannot be set: its mass is infinite")
        m, b = self._body._checked(mass_properties), self._index
        if not np.isfinite(m.mass):
            raise ModelError(f"the mass of {self._name!r} has to be finite, got {m.mass}; weld it to Ground to hold it still")
        state._own_field("mass")[b] = m.mass
        state._own_field("com")[b] = m.com
        state._own_field("inertia")[b] = np.asarray(m.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        state._leave_out("massless", b, m.mass == 0.0)

    def get_body_spatial_inertia_in_ground(self, state: State) -> SpatialInertia:
        """Spatial inertia about the body's origin, expressed in Ground. Needs POSITION."""
        state._need_positions(self, "get_body_spatial_inertia_in_ground")
        record, b = state._record, self._index
        mass = float(record.mass[b, 0])
        unit = np.zeros((3, 3)) if mass == 0.0 else _full(record.inertia_G[b]) / mass
        if self._index == 0:
            return self._ground_spatial_inertia()
        return SpatialInertia._trusted(mass, record.com_G[b].copy(), unit)

    @staticmethod
    def _ground_spatial_inertia() -> SpatialInertia:
        return SpatialInertia._trusted(np.inf, np.zeros(3), np.diag([np.inf] * 3))

    def calc_body_spatial_inertia_matrix_in_ground(self, state: State) -> Array:
        """Spatial inertia about the body's origin in Ground as a ``(6, 6)`` array, angular first. Needs POSITION.

        Ground's has infinity on the diagonal and zero elsewhere.
        """
        if self._index == 0:
            state._need_positions(self, "calc_body_spatial_inertia_matrix_in_ground")
            return np.diag([np.inf] * 6)
        return np.asarray(self.get_body_spatial_inertia_in_ground(state))

    def calc_body_central_inertia(self, state: State) -> Inertia:
        """Inertia about the mass center, in the body's frame. Needs INSTANCE."""
        return self.get_body_mass_properties(state).central_inertia

    def express_mass_properties_in_ground_frame(self, state: State) -> MassProperties:
        """The mass properties turned into Ground's axes, still about the body's origin. Needs POSITION."""
        return self.get_body_mass_properties(state).reexpress(~self.get_body_rotation(state))

    def express_mass_properties_in_another_body_frame(self, state: State, in_body_a: Any) -> MassProperties:
        """The mass properties turned into A's axes, still about the body's origin. Needs POSITION."""
        R_AB = self.find_body_rotation_in_another_body(state, in_body_a)
        return self.get_body_mass_properties(state).reexpress(~R_AB)

    # ------------------------------------------------------------------------------------------ relative to another body

    def _other(self, mobod: Any) -> MobilizedBody:
        return self._matter._body(mobod)

    def find_body_transform_in_another_body(self, state: State, in_body_a: Any) -> Transform:
        """X_AB, the pose of this body in A. Needs POSITION."""
        return ~self._other(in_body_a).get_body_transform(state) @ self.get_body_transform(state)

    def find_body_rotation_in_another_body(self, state: State, in_body_a: Any) -> Rotation:
        """R_AB, the orientation of this body in A. Needs POSITION."""
        R_GA = self._other(in_body_a)._rotation_array(state, "find_body_rotation_in_another_body")
        return Rotation._trusted(R_GA.T @ self._rotation_array(state, "find_body_rotation_in_another_body"))

    def find_body_origin_location_in_another_body(self, state: State, to_body_a: Any) -> Array:
        """p_AB, this body's origin from A's, in A. Needs POSITION."""
        return self.find_station_location_in_another_body(state, (0.0, 0.0, 0.0), to_body_a)

    def find_body_velocity_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """V_AB ``(2, 3)``, velocity of this body in A, expressed in A. Needs VELOCITY."""
        A = self._other(in_body_a)
        R_GA = A._rotation_array(state, "find_body_velocity_in_another_body")
        V_GB, V_GA = self.get_body_velocity(state), A.get_body_velocity(state)
        p_AB_G = self.get_body_origin_location(state) - A.get_body_origin_location(state)
        w = V_GB[0] - V_GA[0]
        v = V_GB[1] - V_GA[1] - np.cross(V_GA[0], p_AB_G)
        return np.array([w, v]) @ R_GA

    def find_body_angular_velocity_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """w_AB, the angular velocity of this body in A, expressed in A. Needs VELOCITY."""
        return self.find_body_velocity_in_another_body(state, in_body_a)[0]

    def find_body_origin_velocity_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """v_AB, of this body's origin in A, expressed in A. Needs VELOCITY."""
        return self.find_body_velocity_in_another_body(state, in_body_a)[1]

    def find_body_acceleration_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """A_AB ``(2, 3)``, the derivative of V_AB in A, expressed in A. Needs ACCELERATION."""
        A = self._other(in_body_a)
        R_GA = A._rotation_array(state, "find_body_acceleration_in_another_body")
        A_GB, A_GA = self.get_body_acceleration(state), A.get_body_acceleration(state)
        V_GB, V_GA = self.get_body_velocity(state), A.get_body_velocity(state)
        p = self.get_body_origin_location(state) - A.get_body_origin_location(state)
        w_GA, b_GA = V_GA[0], A_GA[0]
        p_dot = V_GB[1] - V_GA[1]
        w = A_GB[0] - b_GA - np.cross(w_GA, V_GB[0] - w_GA)
        # derivative in A of (v_B - v_A - w_A x p): that in Ground, less w_A x it
        v = A_GB[1] - A_GA[1] - np.cross(b_GA, p) - np.cross(w_GA, p_dot)
        v -= np.cross(w_GA, p_dot - np.cross(w_GA, p))
        return np.array([w, v]) @ R_GA

    def find_body_angular_acceleration_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """Angular acceleration of this body in A, expressed in A. Needs ACCELERATION."""
        return self.find_body_acceleration_in_another_body(state, in_body_a)[0]

    def find_body_origin_acceleration_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """Acceleration of this body's origin in A, expressed in A. Needs ACCELERATION."""
        return self.find_body_acceleration_in_another_body(state, in_body_a)[1]

    # ------------------------------------------------------------------------------------------ stations and frames

    def find_station_location_in_ground(self, state: State, station_on_b: ArrayLike) -> Array:
        """Where a station ``(3,)`` (or several, ``(n, 3)``) fixed on the body is, in Ground. Needs POSITION."""
        R_GB = self._rotation_array(state, "find_station_location_in_ground")
        result: Array = state._record.p_GB[self._index] + _stations(station_on_b) @ R_GB.T
        return result

    def find_station_location_in_another_body(self, state: State, station_on_b: ArrayLike, to_body_a: Any) -> Array:
        """Where a station of this body is, from A's origin, in A. Needs POSITION."""
        A = self._other(to_body_a)
        return A.find_station_at_ground_point(state, self.find_station_location_in_ground(state, station_on_b))

    def find_station_velocity_in_ground(self, state: State, station_on_b: ArrayLike) -> Array:
        """Velocity of a station fixed on the body, in Ground. Needs VELOCITY."""
        V = self.get_body_velocity(state)
        r = _stations(station_on_b) @ self._rotation_array(state, "find_station_velocity_in_ground").T
        result: Array = V[1] + np.cross(V[0], r)
        return result

    def find_station_velocity_in_another_body(self, state: State, station_on_b: ArrayLike, in_body_a: Any) -> Array:
        """Velocity in A of a station fixed on this body, expressed in A. Needs VELOCITY."""
        V_AB = self.find_body_velocity_in_another_body(state, in_body_a)
        R_AB = np.asarray(self.find_body_rotation_in_another_body(state, in_body_a))
        result: Array = V_AB[1] + np.cross(V_AB[0], _stations(station_on_b) @ R_AB.T)
        return result

    def find_station_acceleration_in_ground(self, state: State, station_on_b: ArrayLike) -> Array:
        """Acceleration of a station fixed on the body, in Ground. Needs ACCELERATION."""
        A = self.get_body_acceleration(state)
        w = self.get_body_velocity(state)[0]
        r = _stations(station_on_b) @ self._rotation_array(state, "find_station_acceleration_in_ground").T
        result: Array = A[1] + np.cross(A[0], r) + np.cross(w, np.cross(w, r))
        return result

    def find_station_acceleration_in_another_body(self, state: State, station_on_b: ArrayLike, in_body_a: Any) -> Array:
        """Acceleration in A of a station fixed on this body, expressed in A. Needs ACCELERATION."""
        A_AB = self.find_body_acceleration_in_another_body(state, in_body_a)
        w = self.find_body_velocity_in_another_body(state, in_body_a)[0]
        R_AB = np.asarray(self.find_body_rotation_in_another_body(state, in_body_a))
        r = _stations(station_on_b) @ R_AB.T
        result: Array = A_AB[1] + np.cross(A_AB[0], r) + np.cross(w, np.cross(w, r))
        return result

    def find_station_location_and_velocity_in_ground(self, state: State, location_on_b: ArrayLike) -> tuple[Array, Array]:
        """Location and velocity of a station, in Ground. Needs VELOCITY."""
        return (
            self.find_station_location_in_ground(state, location_on_b),
            self.find_station_velocity_in_ground(state, location_on_b),
        )

    def find_station_location_velocity_and_acceleration_in_ground(
        self, state: State, location_on_b: ArrayLike
    ) -> tuple[Array, Array, Array]:
        """Location, velocity and acceleration of a station, in Ground. Needs ACCELERATION."""
        return (
            *self.find_station_location_and_velocity_in_ground(state, location_on_b),
            self.find_station_acceleration_in_ground(state, location_on_b),
        )

    def find_mass_center_location_in_ground(self, state: State) -> Array:
        """Where the body's mass center is, in Ground. Needs POSITION."""
        return self.find_station_location_in_ground(state, state._record.com[self._index])

    def find_mass_center_location_in_another_body(self, state: State, to_body_a: Any) -> Array:
        """Where the body's mass center is, from A's origin, in A. Needs POSITION."""
        return self.find_station_location_in_another_body(state, state._record.com[self._index], to_body_a)

    def find_station_at_ground_point(self, state: State, location_in_g: ArrayLike) -> Array:
        """The station of this body that is at a point given in Ground, in the body's frame. Needs POSITION."""
        R_GB = self._rotation_array(state, "find_station_at_ground_point")
        result: Array = (_stations(location_in_g) - state._record.p_GB[self._index]) @ R_GB
        return result

    def find_station_at_another_body_station(self, state: State, from_body_a: Any, station_on_a: ArrayLike) -> Array:
        """The station of this body where a station of A is. Needs POSITION."""
        point = self._other(from_body_a).find_station_location_in_ground(state, station_on_a)
        return self.find_station_at_ground_point(state, point)

    def find_station_at_another_body_origin(self, state: State, from_body_a: Any) -> Array:
        """The station of this body where A's origin is. Needs POSITION."""
        return self.find_station_at_another_body_station(state, from_body_a, (0.0, 0.0, 0.0))

    def find_station_at_another_body_mass_center(self, state: State, from_body_a: Any) -> Array:
        """The station of this body where A's mass center is. Needs POSITION."""
        A = self._other(from_body_a)
        return self.find_station_at_another_body_station(state, A, state._record.com[A._index])

    def find_frame_transform_in_ground(self, state: State, frame_on_b: Transform) -> Transform:
        """Pose in Ground of a frame fixed on the body. Needs POSITION."""
        return self.get_body_transform(state) @ _frame("frame_on_b", frame_on_b)

    def find_frame_velocity_in_ground(self, state: State, frame_on_b: Transform) -> Array:
        """Velocity ``(2, 3)`` in Ground of a frame fixed on the body. Needs VELOCITY."""
        origin = np.asarray(_frame("frame_on_b", frame_on_b).p)
        return np.array([self.get_body_angular_velocity(state), self.find_station_velocity_in_ground(state, origin)])

    def find_frame_acceleration_in_ground(self, state: State, frame_on_b: Transform) -> Array:
        """Acceleration ``(2, 3)`` in Ground of a frame fixed on the body. Needs ACCELERATION."""
        origin = np.asarray(_frame("frame_on_b", frame_on_b).p)
        return np.array([self.get_body_angular_acceleration(state), self.find_station_acceleration_in_ground(state, origin)])

    def express_vector_in_ground_frame(self, state: State, vector_in_b: ArrayLike) -> Array:
        """A vector given in the body's axes, in Ground's. Needs POSITION."""
        result: Array = _stations(vector_in_b) @ self._rotation_array(state, "express_vector_in_ground_frame").T
        return result

    def express_ground_vector_in_body_frame(self, state: State, vector_in_g: ArrayLike) -> Array:
        """A vector given in Ground's axes, in the body's. Needs POSITION."""
        result: Array = _stations(vector_in_g) @ self._rotation_array(state, "express_ground_vector_in_body_frame")
        return result

    def express_vector_in_another_body_frame(self, state: State, vector_in_b: ArrayLike, in_body_a: Any) -> Array:
        """A vector given in this body's axes, in A's. Needs POSITION."""
        A = self._other(in_body_a)
        return A.express_ground_vector_in_body_frame(state, self.express_vector_in_ground_frame(state, vector_in_b))

    # ------------------------------------------------------------------------------------------ momentum, distance

    def calc_body_momentum_about_body_origin_in_ground(self, state: State) -> Array:
        """Angular momentum about the body's origin, and linear momentum ``(2, 3)``, in Ground. Needs VELOCITY."""
        w, v = self.get_body_velocity(state)
        record, b = state._record, self._index
        mc = record.mass[b, 0] * record.com_G[b]
        return np.array([_full(record.inertia_G[b]) @ w + np.cross(mc, v), record.mass[b, 0] * v + np.cross(w, mc)])

    def calc_body_momentum_about_body_mass_center_in_ground(self, state: State) -> Array:
        """Angular momentum about the mass center, and linear momentum ``(2, 3)``, in Ground. Needs VELOCITY."""
        about_origin = self.calc_body_momentum_about_body_origin_in_ground(state)
        about_origin[0] -= np.cross(state._record.com_G[self._index], about_origin[1])
        return about_origin

    def calc_body_inertia_about_another_body_station(
        self, state: State, in_body_a: Any, about_location_on_body_a: ArrayLike
    ) -> Inertia:
        """This body's inertia about a station of A, expressed in A. Needs POSITION."""
        A = self._other(in_body_a)
        mass = self.get_body_mass(state)
        R_AB = self.find_body_rotation_in_another_body(state, A)
        c = self.find_mass_center_location_in_another_body(state, A)
        central = self.calc_body_central_inertia(state).reexpress(~R_AB)
        return central.shift_from_centroid(_vec3("about_location_on_body_a", about_location_on_body_a) - c, mass)

    def calc_station_to_station_distance(
        self, state: State, location_on_body_b: ArrayLike, body_a: Any, location_on_body_a: ArrayLike
    ) -> Any:
        """Distance between a station of this body and one of A. Needs POSITION.

        Parameters
        ----------
        state : State
        location_on_body_b : (3,) or (n, 3) array_like
            One station or several, in this body's frame.
        body_a : MobilizedBody or int
        location_on_body_a : (3,) or (n, 3) array_like
            In A's frame; one for all of the others, or as many as these.

        Returns
        -------
        float, or (n,) array where one of the locations is (n, 3)
        """
        r = self.find_station_location_in_ground(state, location_on_body_b)
        return _length(r - self._other(body_a).find_station_location_in_ground(state, location_on_body_a))

    def calc_station_to_station_distance_time_derivative(
        self, state: State, location_on_body_b: ArrayLike, body_a: Any, location_on_body_a: ArrayLike
    ) -> Any:
        """Rate of that distance, a float or ``(n,)``; the relative speed where the points coincide. Needs VELOCITY."""
        r, v = self.find_station_location_and_velocity_in_ground(state, location_on_body_b)
        r_A, v_A = self._other(body_a).find_station_location_and_velocity_in_ground(state, location_on_body_a)
        return _distance_rate(r - r_A, v - v_A)

    def calc_station_to_station_distance_2nd_time_derivative(
        self, state: State, location_on_body_b: ArrayLike, body_a: Any, location_on_body_a: ArrayLike
    ) -> Any:
        """Second rate of that distance, a float or ``(n,)``. Needs ACCELERATION.

        Where the points coincide: the relative acceleration along the relative velocity, or its size where that is zero.
        """
        r, v, a = self.find_station_location_velocity_and_acceleration_in_ground(state, location_on_body_b)
        A = self._other(body_a)
        r_A, v_A, a_A = A.find_station_location_velocity_and_acceleration_in_ground(state, location_on_body_a)
        return _distance_second_rate(r - r_A, v - v_A, a - a_A)

    # ------------------------------------------------------------------------------------------ points that move on bodies

    def calc_body_moving_point_velocity_in_body(
        self, state: State, location_on_body_b: ArrayLike, velocity_on_body_b: ArrayLike, in_body_a: Any
    ) -> Array:
        """Velocity in A of a point that moves on this body, expressed in A. Needs VELOCITY.

        Parameters
        ----------
        state : State
        location_on_body_b : (3,) or (n, 3) array_like
            Where the point is now, or several are, in this body's frame.
        velocity_on_body_b : (3,) or (n, 3) array_like
            Its velocity in this body's frame: the derivative of its location there.
        in_body_a : MobilizedBody or int

        Returns
        -------
        (3,) or (n, 3) array
            length/time: that of the station where the point is, and its own, turned into A.

        Raises
        ------
        StageError
            If the state is below VELOCITY.
        ValueError
            If the shapes are not those, or differ.
        """
        p, v = _alike(location_on_body_b=location_on_body_b, velocity_on_body_b=velocity_on_body_b)
        of_station = self.find_station_velocity_in_another_body(state, p, in_body_a)
        result: Array = of_station + self.express_vector_in_another_body_frame(state, v, in_body_a)
        return result

    def calc_body_moving_point_acceleration_in_body(
        self,
        state: State,
        location_on_body_b: ArrayLike,
        velocity_on_body_b: ArrayLike,
        acceleration_on_body_b: ArrayLike,
        in_body_a: Any,
    ) -> Array:
        """Acceleration in A of a point that moves on this body, expressed in A. Needs ACCELERATION.

        Parameters
        ----------
        state : State
        location_on_body_b, velocity_on_body_b, acceleration_on_body_b : (3,) or (n, 3) array_like
            The point's location in this body's frame, and its first and second derivatives there.
        in_body_a : MobilizedBody or int

        Returns
        -------
        (3,) or (n, 3) array
            length/time^2: that of the station where the point is, its own, and between them Coriolis' 2 w_AB x v.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.
        ValueError
            If the shapes are not those, or differ.
        """
        p, v, a = _alike(
            location_on_body_b=location_on_body_b,
            velocity_on_body_b=velocity_on_body_b,
            acceleration_on_body_b=acceleration_on_body_b,
        )
        of_station = self.find_station_acceleration_in_another_body(state, p, in_body_a)
        w_AB = self.find_body_angular_velocity_in_another_body(state, in_body_a)
        v_A = self.express_vector_in_another_body_frame(state, v, in_body_a)
        a_A = self.express_vector_in_another_body_frame(state, a, in_body_a)
        result: Array = of_station + 2.0 * np.cross(w_AB, v_A) + a_A
        return result

    def calc_moving_point_to_point_distance_time_derivative(
        self,
        state: State,
        location_on_body_b: ArrayLike,
        velocity_on_body_b: ArrayLike,
        body_a: Any,
        location_on_body_a: ArrayLike,
        velocity_on_body_a: ArrayLike,
    ) -> Any:
        """Rate of the distance between a point that moves on this body and one that moves on A. Needs VELOCITY.

        Parameters
        ----------
        state : State
        location_on_body_b, velocity_on_body_b : (3,) or (n, 3) array_like
            Of the point on this body, in this body's frame, as in `calc_body_moving_point_velocity_in_body`.
        body_a : MobilizedBody or int
        location_on_body_a, velocity_on_body_a : (3,) or (n, 3) array_like
            Of the point on A, in A's frame.

        Returns
        -------
        float, or (n,) array
            length/time; the relative speed where the points coincide.

        Raises
        ------
        StageError
            If the state is below VELOCITY.
        ValueError
            If the shapes are not those.
        """
        r, v = self._moving_point(state, location_on_body_b, velocity_on_body_b)
        r_A, v_A = self._other(body_a)._moving_point(state, location_on_body_a, velocity_on_body_a)
        return _distance_rate(r - r_A, v - v_A)

    def calc_moving_point_to_point_distance_2nd_time_derivative(
        self,
        state: State,
        location_on_body_b: ArrayLike,
        velocity_on_body_b: ArrayLike,
        acceleration_on_body_b: ArrayLike,
        body_a: Any,
        location_on_body_a: ArrayLike,
        velocity_on_body_a: ArrayLike,
        acceleration_on_body_a: ArrayLike,
    ) -> Any:
        """Second rate of the distance between a point that moves on this body and one that moves on A. Needs ACCELERATION.

        Parameters
        ----------
        state : State
        location_on_body_b, velocity_on_body_b, acceleration_on_body_b : (3,) or (n, 3) array_like
            Of the point on this body, in this body's frame, as in `calc_body_moving_point_acceleration_in_body`.
        body_a : MobilizedBody or int
        location_on_body_a, velocity_on_body_a, acceleration_on_body_a : (3,) or (n, 3) array_like
            Of the point on A, in A's frame.

        Returns
        -------
        float, or (n,) array
            length/time^2. Where the points coincide: the relative acceleration along the relative velocity, or its size where
            that is zero.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.
        ValueError
            If the shapes are not those.
        """
        A, ground = self._other(body_a), self._matter.ground
        a = self.calc_body_moving_point_acceleration_in_body(
            state, location_on_body_b, velocity_on_body_b, acceleration_on_body_b, ground
        )
        a_A = A.calc_body_moving_point_acceleration_in_body(
            state, location_on_body_a, velocity_on_body_a, acceleration_on_body_a, ground
        )
        r, v = self._moving_point(state, location_on_body_b, velocity_on_body_b)
        r_A, v_A = A._moving_point(state, location_on_body_a, velocity_on_body_a)
        return _distance_second_rate(r - r_A, v - v_A, a - a_A)

    def _moving_point(self, state: State, location: ArrayLike, velocity: ArrayLike) -> tuple[Array, Array]:
        """Location and velocity, in Ground, of a point that moves on this body."""
        v = self.calc_body_moving_point_velocity_in_body(state, location, velocity, self._matter.ground)
        return self.find_station_location_in_ground(state, location), v

    # ------------------------------------------------------------------------------------------ reactions

    def find_mobilizer_reaction_on_body_at_m_in_ground(self, state: State) -> Array:
        """What the mobilizer does to this body ``(2, 3)``: torque and force at M, in Ground. Needs ACCELERATION.

        All that the parent exerts on the body through the mobilizer: the forces of constraint, the applied mobility forces, and
        those that prescribe its motion. The cost is that of one body, however many there are. For Ground it is what
        holds Ground, at its origin.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.

        See Also
        --------
        SimbodyMatterSubsystem.calc_mobilizer_reaction_forces : the same for all bodies.
        """
        asked = "find_mobilizer_reaction_on_body_at_m_in_ground"
        return self._matter._find_reaction(state, asked, self._index, "on body at M")

    def find_mobilizer_reaction_on_body_at_origin_in_ground(self, state: State) -> Array:
        """What the mobilizer does to this body ``(2, 3)``, taken at the body's origin, in Ground. Needs ACCELERATION."""
        asked = "find_mobilizer_reaction_on_body_at_origin_in_ground"
        return self._matter._find_reaction(state, asked, self._index, "on body at its origin")

    def find_mobilizer_reaction_on_parent_at_f_in_ground(self, state: State) -> Array:
        """What the mobilizer does to the parent ``(2, 3)``: torque and force at F, in Ground. Needs ACCELERATION.

        Equal and opposite to what it does to the body, taken at F. `TopologyError` for Ground, which has no parent.
        """
        return self._reaction_on_parent(state, "find_mobilizer_reaction_on_parent_at_f_in_ground", "on parent at F")

    def find_mobilizer_reaction_on_parent_at_origin_in_ground(self, state: State) -> Array:
        """What the mobilizer does to the parent ``(2, 3)``, taken at the parent's origin, in Ground. Needs ACCELERATION.

        `TopologyError` for Ground, which has no parent.
        """
        asked = "find_mobilizer_reaction_on_parent_at_origin_in_ground"
        return self._reaction_on_parent(state, asked, "on parent at its origin")

    def _reaction_on_parent(self, state: State, asked: str, place: str) -> Array:
        self.get_parent_mobilized_body()  # or say that Ground has none
        return self._matter._find_reaction(state, asked, self._index, place)

    # ------------------------------------------------------------------------------------------ applying forces

    def apply_one_mobility_force(self, state: State, which: int, f: float, mobility_forces: Array) -> Array:
        """Add *f* to one mobility's entry of ``(nu,)`` *mobility_forces*, in place; returns the array."""
        _writable(mobility_forces, (state._tree.nu,), "mobility_forces")
        mobility_forces[self._which(self._u_slice(state), which, "u")] += f
        return mobility_forces

    def apply_body_force(self, state: State, spatial_force_in_g: ArrayLike, body_forces_in_g: Array) -> Array:
        """Add a spatial force ``(2, 3)`` at the body's origin to ``(nb, 2, 3)`` *body_forces_in_g*; returns the array."""
        F = np.asarray(spatial_force_in_g, dtype=np.float64)
        if F.shape != (2, 3):
            raise ValueError(f"a spatial force has shape (2, 3), got {F.shape}")
        self._row(state, body_forces_in_g)[...] += F
        return body_forces_in_g

    def apply_body_torque(self, state: State, torque_in_g: ArrayLike, body_forces_in_g: Array) -> Array:
        """Add a torque, in Ground, to the body's row of *body_forces_in_g*; returns the array."""
        self._row(state, body_forces_in_g)[0] += _vec3("torque_in_g", torque_in_g)
        return body_forces_in_g

    def apply_force_to_body_point(
        self, state: State, point_in_b: ArrayLike, force_in_g: ArrayLike, body_forces_in_g: Array
    ) -> Array:
        """Add a force, in Ground, at a station of the body, to its row of *body_forces_in_g*. Needs POSITION."""
        row = self._row(state, body_forces_in_g)
        f = _vec3("force_in_g", force_in_g)
        r = self.express_vector_in_ground_frame(state, _vec3("point_in_b", point_in_b))
        row[0] += np.cross(r, f)
        row[1] += f
        return body_forces_in_g

    def _row(self, state: State, body_forces: Array) -> Array:
        nb = state._tree_of(self, "apply a force").nb
        row: Array = _writable(body_forces, (nb, 2, 3), "body_forces")[self._index]
        return row

    def convert_q_force_to_u_force(self, state: State, fq: ArrayLike) -> Array:
        """Generalized forces on the coordinates ``(nq,)`` as forces on the speeds: N^T fq. Needs POSITION."""
        state._need_positions(self, "convert_q_force_to_u_force")
        part = self._q_slice(state)
        whole = np.zeros(state._tree.nq)
        self._put(whole, part, fq, "q")
        result: Array = self._matter.multiply_by_n(state, True, whole)[self._u_slice(state)]
        return result


def _frame(what: str, X: Any) -> Transform:
    if X is None:
        return Transform()
    if isinstance(X, Transform):
        return X
    if isinstance(X, Rotation):
        return Transform(X)
    try:
        array = np.asarray(X, dtype=np.float64)
        return Transform.from_matrix(array) if array.shape == (4, 4) else Transform(array)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} has to be a Transform, got {X!r}: {error}") from None


def _vec3(what: str, v: ArrayLike) -> Array:
    array = np.asarray(v, dtype=np.float64)
    if array.shape != (3,):
        raise ValueError(f"{what} is a vector (3,), got shape {array.shape}")
    return array


def _stations(points: ArrayLike) -> Array:
    array = np.asarray(points, dtype=np.float64)
    if array.shape[-1:] != (3,) or array.ndim > 2:
        raise ValueError(f"a station is a vector (3,), or several are (n, 3); got shape {array.shape}")
    return array


def _alike(**given: ArrayLike) -> list[Array]:
    """Vectors ``(3,)`` or ``(n, 3)``, all of one shape."""
    arrays = {what: _stations(value) for what, value in given.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1:
        found = ", ".join(f"{what} {array.shape}" for what, array in arrays.items())
        raise ValueError(f"what is given of moving points has to have one shape, (3,) or (n, 3); got {found}")
    return list(arrays.values())


def _length(r: Array) -> Any:
    """The length of a vector, or of each of several."""
    d = np.sqrt(np.sum(r * r, axis=-1))
    return float(d) if r.ndim == 1 else d


def _distance_rate(r: Array, v: Array) -> Any:
    """The rate of |r|: r.v / |r|, or |v| where r is zero."""
    d = np.asarray(_length(r))
    apart = d > 0.0
    rate = np.where(apart, np.sum(r * v, axis=-1) / np.where(apart, d, 1.0), _length(v))
    return float(rate) if r.ndim == 1 else rate


def _distance_second_rate(r: Array, v: Array, a: Array) -> Any:
    """The second rate of |r|; where r is zero a.v / |v|, or |a| where that is zero too."""
    d, speed = np.asarray(_length(r)), np.asarray(_length(v))
    apart, moving = d > 0.0, speed > 0.0
    d_dot = _distance_rate(r, v)
    far = (speed * speed + np.sum(r * a, axis=-1) - np.square(d_dot)) / np.where(apart, d, 1.0)
    near = np.where(moving, np.sum(a * v, axis=-1) / np.where(moving, speed, 1.0), _length(a))
    rate = np.where(apart, far, near)
    return float(rate) if r.ndim == 1 else rate


def _like(array: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    value = np.asarray(array, dtype=np.float64)
    if value.shape != shape:
        raise ValueError(f"{what} has to have shape {shape}, got {value.shape}")
    return value


def _size(array: Any, whole: tuple[int, ...], matter: int) -> tuple[int, ...]:
    """The shape an array of all q or u has to have: the whole system's, or the matter's alone."""
    return whole if np.shape(array) == whole else (matter,)


def _writable(array: Any, shape: tuple[int, ...], what: str) -> Array:
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        raise TypeError(f"{what} is changed in place, so it has to be a float64 array, not {type(array).__name__}")
    if array.shape != shape:
        raise ValueError(f"{what} has to have shape {shape}, got {array.shape}")
    return array


#: Which of xx yy zz xy xz yz is where in a symmetric 3 x 3 matrix.
_PLACES_OF_SIX = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])


def _full(six: Sequence[float] | Array) -> Array:
    """3 x 3 from xx yy zz xy xz yz."""
    return np.asarray(six).take(_PLACES_OF_SIX)
