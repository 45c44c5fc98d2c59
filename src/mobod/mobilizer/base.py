"""MobilizedBody: a body and the mobilizer that connects it to its parent. What every kind shares.

A new kind is a file beside this one (see CONTRIBUTING.md). It provides

1. compiled functions ``transform(q)`` and ``hinge(q)``, and where the hinge columns depend on q also ``bias(q, u, H)``, with
   the equations in the file's docstring, and ``kinematics = by_address(...)`` made of them;
2. a class derived from `MobilizedBody` with its ``facts``, its friendly accessors, and `_fit_transform`, `_fit_rotation` and
   `_fit_translation` where it has something to fit (with `_fit_place` and `_fit_translation_reversed` where fitting a
   translation turns M), and `singularity` where it has one;
3. its name in ``__init__.py``.

The public methods of one body are in further files, each with a class that the next is derived from: `locking`, `coordinates`,
`fitting`, `kinematics`, `inertia`, `distances`, `loads`.

The few kinds that nearly every mechanism is made of have a number ``KIND`` and a branch in ``dispatch.py``, not a routine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..body import Body
from ..contact.surface import Surface
from ..decoration.geometry import own_copy
from ..errors import ModelError, TopologyError
from ..function.routines import Use
from ..state.of_each import Present, Rows, of_each
from ..value import MassProperties, Rotation, Transform, rows
from ..value.checks import instance, numbers, one_of
from ..value.frames import frame, frame_or_none
from ..value.stage import INSTANCE
from .facts import Direction, Facts
from .loads import Loads

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem


__all__ = ["Direction", "Facts", "MobilizedBody"]


def _frames_of_each(rotation: str, translation: str) -> Callable[[Any, State, Any, Present], Rows | None]:
    """A frame's two fields, of frames in any of the forms that a single one has."""

    def of(body: Any, template: State, values: Any, present: Present) -> Rows | None:
        array = rows.as_array(rows.array_of_frames(values))
        found = None if array is None else rows.frames(array)
        if array is None or found is None:
            return None
        place = slice(body.index, body.index + 1)
        fields = [(rotation, place, found[:, None, :9]), (translation, place, found[:, None, 9:])]
        return Rows(fields, typical=array[0])

    return of


class MobilizedBody(Loads):
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

    Notes
    -----
    Methods that take a state say which `Stage` they need. Below it they raise `StageError`, which names the call that gets
    there; a state, or another body, of another system is a `TopologyError`, and so is a state made before the system's topology
    changed. Other bodies are named by object, by index or by name; no such body is an `IndexError` or a `KeyError`. An argument
    of the wrong shape is a `ValueError`, one that is not numbers a `TypeError`; the state is then as it was.

    Stations, vectors and points are ``(3,)``, or ``(n, 3)`` for several, and what comes back has that shape. Spatial vectors
    are ``(2, 3)``: angular velocity (angle/time), acceleration (angle/time^2), momentum or torque first, then linear velocity
    (length/time), acceleration (length/time^2), momentum or force. Arrays that come back are the caller's own, but those of
    ``upd_`` methods.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> arm.parent.name, arm.get_num_q(state)
    ('upper', 1)
    >>> arm.set_q(state, 0.3)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> arm.find_station_location_in_ground(state, (0, 0.5, 0)).round(3)
    array([1.282, 0.749, 0.   ])
    """

    INNER = frozenset(
        """
        acceleration_in_ground calc_decorations default_lock_level default_q default_rotors depth driver facts
        first_function ground_spatial_inertia inboard_decorations instance_changed interpreter is_of_users_functions
        joint_name keeps_rates_of_columns location_in mobility_names motion_methods moving_in_ground name_each
        not_finite outboard_decorations own_pose pack_choices pack_parameters packed_default_q pose_in_f
        pose_in_ground q_slice realized rotation_in_ground singularity take_mass_properties title u_slice used_functions
        velocity_in_ground which_coordinate
        """.split()
    )

    #: Whether the record has the rates of the kind's hinge columns one by one, beside HDot u.
    keeps_rates_of_columns: bool = False
    #: The joint's name in an imported file, for naming its coordinates; the body's name where there is none.
    joint_name: str | None = None
    #: The names that an imported file has for the coordinates of the joint, one a mobility; empty where it has none.
    mobility_names: tuple[str, ...] = ()
    default_numbers: list[float] = []
    _X_PF: Transform
    _X_BM: Transform
    parent: MobilizedBody | None
    default_q: Array
    depth: int
    base_body: MobilizedBody

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
        instance("parent", parent, MobilizedBody, "matter.ground")
        instance("body", body, Body, "mobod.body.Rigid(mass_properties)")
        instance("direction", direction, Direction, "Direction.REVERSE")
        self._X_PF, self._X_BM = frame_or_none("X_PF", X_PF), frame_or_none("X_BM", X_BM)
        self._direction = direction
        self.body = body.copy()
        self.parent = parent
        self.default_q, self.default_rotors = self._initial_q(), np.zeros(self.facts.num_u)
        self.inboard_decorations: list[tuple[Transform, Any]] = []
        self.outboard_decorations: list[tuple[Transform, Any]] = []
        self.matter = parent.matter
        self.index, self._name = self.matter.adopt(self, name)
        self.depth = parent.depth + 1
        self.base_body = self if parent.index == 0 else parent.base_body

    def _initial_q(self) -> Array:
        q = np.zeros(self.facts.num_q)
        if self.facts.has_quaternion:
            q[0] = 1.0
        return q

    def name_each(self, count: int) -> list[str]:
        """A name for each of *count* coordinates or speeds: the file's, else the joint's or the body's with a number."""
        if count == len(self.mobility_names):  # but for quaternions, which no file names
            return list(self.mobility_names)
        name = self.joint_name or self.name
        return [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]

    def __repr__(self) -> str:
        parent = "" if self.parent is None else f" on {self.parent.name!r}"
        turned = ", reversed" if self._direction is Direction.REVERSE else ""
        return f"<{type(self).__name__} {self._name!r}, body {self.index}{parent}{turned}>"

    def __index__(self) -> int:
        """The body's index, so that a body can index an array of one row a body."""
        return self.index

    # ------------------------------------------------------------------------------------------ the tree

    @property
    def direction(self) -> Direction:
        """FORWARD if q and u are of M in F, REVERSE if they are of F in M."""
        return self._direction

    def get_mobilized_body_index(self) -> int:
        """The body's index in its matter subsystem: larger than its parent's, 0 for Ground."""
        return self.index

    def get_parent_mobilized_body(self) -> MobilizedBody:
        """The parent; `TopologyError` for Ground, which has none."""
        if self.parent is None:
            raise TopologyError("Ground has no parent; ask is_ground() first")
        return self.parent

    def get_base_mobilized_body(self) -> MobilizedBody:
        """The ancestor (or the body itself) that is connected to Ground; Ground for Ground."""
        return self.base_body

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem that the body is part of."""
        return self.matter

    def upd_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem that the body is part of; the same object as `get_matter_subsystem` gives."""
        return self.matter

    def is_in_subsystem(self) -> bool:
        """True if the body is part of a matter subsystem; every mobilized body is, from its making on."""
        return True

    def is_in_same_subsystem(self, mobod: MobilizedBody) -> bool:
        """True if *mobod* is part of the same matter subsystem; one named by its index, or its name, is."""
        return self._meant(mobod).matter is self.matter

    def is_same_mobilized_body(self, mobod: MobilizedBody) -> bool:
        """True if *mobod* is this very body, and not one like it; it may be named by its index, or its name."""
        return self._meant(mobod) is self

    def _meant(self, mobod: Any) -> MobilizedBody:
        """A body of any system, or one of this one's named by index or by name."""
        return mobod if isinstance(mobod, MobilizedBody) else self.matter.find_body(mobod)

    def is_ground(self) -> bool:
        """True if this is Ground, which is body 0 of its matter."""
        return self.index == 0

    def get_level_in_multibody_tree(self) -> int:
        """Number of mobilizers between the body and Ground; Ground is at level 0."""
        return self.depth

    def clone_for_new_parent(self, parent: MobilizedBody) -> MobilizedBody:
        """A new body of the same kind and settings on another parent, whose system it joins, under a name of its own.

        Its default q, default lock, rotor inertia and decorations are copied too; its motion is not. `TopologyError` for
        Ground.
        """
        return self._clone(parent, self._settings())

    def _clone(self, parent: MobilizedBody, settings: dict[str, Any]) -> MobilizedBody:
        other = type(self)(parent, self.body, X_PF=self._X_PF, X_BM=self._X_BM, direction=self._direction, **settings)
        other.default_q = self.default_q.copy()
        other.default_lock_level = self.default_lock_level
        other.default_rotors = self.default_rotors
        other.inboard_decorations = [(X, own_copy(geometry)) for X, geometry in self.inboard_decorations]
        other.outboard_decorations = [(X, own_copy(geometry)) for X, geometry in self.outboard_decorations]
        return other

    def _settings(self) -> dict[str, Any]:
        """Further arguments of the kind's constructor."""
        return {one.given_as: one.take(self.default_numbers) for one in self.PARAMETERS.values()}

    def pack_parameters(self) -> Sequence[float]:
        """The `num_parameters` numbers of a default state."""
        return tuple(self.default_numbers)

    #: The functions that its kernels evaluate, and the number of the first in the tree: see `function.routines`.
    used_functions: Sequence[Use] = ()
    first_function = 0

    def pack_choices(self) -> Sequence[int]:
        """Integers that the kind's routine looks up in the record."""
        return ()

    # ------------------------------------------------------------------------------------------ defaults

    def defaults_changed(self) -> None:
        self.instance_changed()

    def instance_changed(self) -> None:
        """A default changed: the system's topology has to be realized again."""
        self.matter.invalidate_topology()

    def get_body(self) -> Body:
        """The body's own mass properties and decorations."""
        return self.body

    def upd_body(self) -> Body:
        """The body's own `Body`, for changing; a topological change."""
        self.instance_changed()
        return self.body

    def set_body(self, body: Body) -> MobilizedBody:
        """Give it a copy of *body* instead of its own; a topological change. Returns the mobilized body.

        `ModelError` for Ground, whose mass is infinite.
        """
        instance("body", body, Body, "mobod.body.Rigid(mass_properties)")
        if self.index == 0:
            raise ModelError("set_body: the body of Ground cannot be another one: its mass is infinite")
        self.body = body.copy()
        self.instance_changed()
        return self

    def get_default_mass_properties(self) -> MassProperties:
        """The body's mass properties, about its origin, in its frame."""
        return self.body.get_default_rigid_body_mass_properties()

    def set_default_mass_properties(self, m: MassProperties) -> MobilizedBody:
        """Change the body's mass properties; a topological change. Returns the mobilized body."""
        self.body.set_default_rigid_body_mass_properties(m)
        self.instance_changed()
        return self

    def get_default_inboard_frame(self) -> Transform:
        """X_PF, the frame F on the parent, where no state says otherwise."""
        return self._X_PF

    def _refuse_ground(self, asked: str) -> None:
        if self.index == 0:
            raise ModelError(f"{asked}: Ground has no mobilizer, hence no frames of one; move the frames of the bodies on it")

    def set_default_inboard_frame(self, X_PF: Transform) -> MobilizedBody:
        """Change X_PF; a topological change. Returns the mobilized body. `ModelError` for Ground, which has no mobilizer."""
        self._refuse_ground("set_default_inboard_frame")
        self._X_PF = frame("X_PF", X_PF)
        self.instance_changed()
        return self

    def get_default_outboard_frame(self) -> Transform:
        """X_BM, the frame M on the body, where no state says otherwise."""
        return self._X_BM

    def set_default_outboard_frame(self, X_BM: Transform) -> MobilizedBody:
        """Change X_BM; a topological change. Returns the mobilized body. `ModelError` for Ground, which has no mobilizer."""
        self._refuse_ground("set_default_outboard_frame")
        self._X_BM = frame("X_BM", X_BM)
        self.instance_changed()
        return self

    def get_default_q(self) -> Any:
        """The coordinates of a default state: a float for kinds with one, else an ``(nq,)`` array."""
        one = self.facts.num_q == 1 and not self._always_arrays
        return float(self.default_q[0]) if one else self.default_q.copy()

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
        self.default_q = value
        self.instance_changed()
        return self

    def packed_default_q(self, use_euler_angles: bool) -> Array:
        """The default coordinates as a state keeps them: with angles in place of a quaternion where so chosen."""
        q = self.default_q
        if not (use_euler_angles and self.facts.has_quaternion):
            return q
        return np.concatenate([Rotation.from_quaternion(q[:4]).to_body_fixed_xyz(), q[4:]])

    def _vector(self, what: str, value: ArrayLike, n: int) -> Array:
        array = np.array(numbers(f"{what} of {self._name!r}", value))
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
        ordinal = int(self.body.add_decoration(geometry, frame_or_none("X_BD", X_BD)))
        self.instance_changed()
        return ordinal

    def add_contact_surface(self, surface: Surface, X_BS: Transform | None = None) -> int:
        """Fix a contact surface on the body at X_BS, identity unless given. A topological change.

        Returns its ordinal among the body's. Raises `TypeError` if it is no `mobod.contact.Surface`.
        """
        ordinal = int(self.body.add_contact_surface(surface, X_BS))
        self.instance_changed()
        return ordinal

    def add_outboard_decoration(self, geometry: Any, X_MD: Transform | None = None) -> int:
        """Fix a copy of *geometry* on the frame M at X_MD. A topological change. Returns its ordinal among those."""
        return self._decorate(self.outboard_decorations, geometry, frame_or_none("X_MD", X_MD))

    def add_inboard_decoration(self, geometry: Any, X_FD: Transform | None = None) -> int:
        """Fix a copy of *geometry* on the frame F at X_FD. A topological change. Returns its ordinal among the inboard ones."""
        return self._decorate(self.inboard_decorations, geometry, frame_or_none("X_FD", X_FD))

    def _decorate(self, decorations: list[tuple[Transform, Any]], geometry: Any, X: Transform) -> int:
        decorations.append((X, own_copy(geometry)))
        self.instance_changed()
        return len(decorations) - 1

    def get_num_outboard_decorations(self) -> int:
        """Number of decorations on the frame M, outboard."""
        return len(self.outboard_decorations)

    def get_outboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame M."""
        return one_of(self.outboard_decorations, i, self, "outboard decorations")[1]

    def upd_outboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame M, for changing."""
        return one_of(self.outboard_decorations, i, self, "outboard decorations")[1]

    def get_num_inboard_decorations(self) -> int:
        """Number of decorations on the frame F, inboard."""
        return len(self.inboard_decorations)

    def get_inboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame F."""
        return one_of(self.inboard_decorations, i, self, "inboard decorations")[1]

    def upd_inboard_decoration(self, i: int) -> Any:
        """The geometry of decoration *i* on the frame F, for changing."""
        return one_of(self.inboard_decorations, i, self, "inboard decorations")[1]

    def calc_decorations(self, state: State) -> list[Any]:
        """Decorations to draw on the body besides, placed in its frame, at a state that is at POSITION."""
        return []

    # ------------------------------------------------------------------------------------------ frames in a state

    def get_inboard_frame(self, state: State) -> Transform:
        """X_PF, the frame F on the parent, of this state. Needs INSTANCE."""
        if state.stage_number < INSTANCE or state.token is not self.matter.token:
            state.need_instance(self, "get_inboard_frame")
        if "R_PF" not in state.own_fields:
            return self._X_PF
        record, b = state.record, self.index
        return Transform.trusted(record.R_PF[b].reshape(3, 3).copy(), record.p_PF[b].copy())

    def get_outboard_frame(self, state: State) -> Transform:
        """X_BM, the frame M on the body, of this state. Needs INSTANCE."""
        if state.stage_number < INSTANCE or state.token is not self.matter.token:
            state.need_instance(self, "get_outboard_frame")
        if "R_BM" not in state.own_fields:
            return self._X_BM
        record, b = state.record, self.index
        return Transform.trusted(record.R_BM[b].reshape(3, 3).copy(), record.p_BM[b].copy())

    @of_each(_frames_of_each("R_PF", "p_PF"))
    def set_inboard_frame(self, state: State, X_PF: Transform) -> None:
        """Move the frame F on the parent in this state alone, which falls to MODEL at most; the default stays.

        Raises
        ------
        ModelError
            If X_PF is not a rigid transform, and for Ground, which has no mobilizer.
        """
        X = frame("X_PF", X_PF)
        state.tree_of(self, "set_inboard_frame")
        self._refuse_ground("set_inboard_frame")
        state.own_field("R_PF")[self.index] = np.asarray(X.R).ravel()
        state.own_field("p_PF")[self.index] = X.p

    @of_each(_frames_of_each("R_BM", "p_BM"))
    def set_outboard_frame(self, state: State, X_BM: Transform) -> None:
        """Move the frame M on the body in this state alone, which falls to MODEL at most; the default stays.

        Raises
        ------
        ModelError
            If X_BM is not a rigid transform, and for Ground, which has no mobilizer.
        """
        X = frame("X_BM", X_BM)
        state.tree_of(self, "set_outboard_frame")
        self._refuse_ground("set_outboard_frame")
        state.own_field("R_BM")[self.index] = np.asarray(X.R).ravel()
        state.own_field("p_BM")[self.index] = X.p
        state.leave_out("plain_outboard", self.index, False)
