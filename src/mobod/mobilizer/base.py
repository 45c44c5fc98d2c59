"""MobilizedBody: a body and the mobilizer that connects it to its parent. What every kind shares.

A new kind is a file beside this one (see CONTRIBUTING.md). It provides

1. compiled functions ``transform(q)`` and ``hinge(q)``, and where the hinge columns depend on q also ``bias(q, u, H)``, with
   the equations in the file's docstring, and ``kinematics = by_address(...)`` made of them;
2. a class derived from `MobilizedBody` with its ``facts``, its friendly accessors, and `_fit_transform`, `_fit_rotation` and
   `_fit_translation` where it can do more than nothing (with `_fit_place` and `_fit_translation_reversed` where its translation
   turns it), and `_singularity` where it has one;
3. its name in ``__init__.py``.

What users ask of one body is in files of its own, each a class that the next is derived from: `locking`, `coordinates`,
`fitting`, `kinematics`, `inertia`, `distances`, `loads`.

The few kinds that nearly every mechanism is made of have a number ``KIND`` and a branch in ``_switch.py`` instead of a routine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..body import Body
from ..decoration import own_copy
from ..errors import ModelError, TopologyError
from ..stage import Stage
from ..value import MassProperties, Rotation, Transform
from ._checked import frame, frame_or_none
from .facts import Direction, Facts
from .loads import Loads

if TYPE_CHECKING:
    from ..matter import SimbodyMatterSubsystem
    from ..state import State

Array = npt.NDArray[np.float64]
ArrayLike = npt.ArrayLike

__all__ = ["Direction", "Facts", "MobilizedBody"]

_INSTANCE = int(Stage.INSTANCE)


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
    """

    #: Whether the record has the rates of the kind's hinge columns one by one, beside HDot u.
    _keeps_rates_of_columns: bool = False
    #: What a file called the joint, for naming its coordinates; the body's own name serves where there is none.
    _joint_name: str | None = None
    _X_PF: Transform
    _X_BM: Transform
    _parent: MobilizedBody | None
    _default_q: Array
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
        self._X_PF, self._X_BM = frame_or_none("X_PF", X_PF), frame_or_none("X_BM", X_BM)
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
        """Whether *mobod* is part of the same matter subsystem; one named by its index, or its name, is."""
        return self._meant(mobod)._matter is self._matter

    def is_same_mobilized_body(self, mobod: MobilizedBody) -> bool:
        """Whether *mobod* is this very body, and not one like it; it may be named by its index, or its name."""
        return self._meant(mobod) is self

    def _meant(self, mobod: Any) -> MobilizedBody:
        """A body of any system, or one of this one's named by index or by name."""
        return mobod if isinstance(mobod, MobilizedBody) else self._matter._body(mobod)

    def is_ground(self) -> bool:
        """Whether this is Ground, which is body 0 of its matter."""
        return self._index == 0

    def get_level_in_multibody_tree(self) -> int:
        """How many mobilizers there are between the body and Ground; Ground is at level 0."""
        return self._level

    def clone_for_new_parent(self, parent: MobilizedBody) -> MobilizedBody:
        """A new body of the same kind and settings on another parent, whose system it joins, under a name of its own.

        Its default q, default lock and decorations are copied too; its motion is not. `TopologyError` for Ground.
        """
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
        """Give it a copy of *body* instead of its own; a topological change. Returns the mobilized body.

        `ModelError` for Ground, whose mass is infinite.
        """
        if not isinstance(body, Body):
            raise TypeError(f"body has to be a Body such as mobod.body.Rigid(mass_properties), not {body!r}")
        if self._index == 0:
            raise ModelError("set_body: the body of Ground cannot be another one: its mass is infinite")
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

    def _refuse_ground(self, asked: str) -> None:
        if self._index == 0:
            raise ModelError(f"{asked}: Ground has no mobilizer, hence no frames of one; move the frames of the bodies on it")

    def set_default_inboard_frame(self, X_PF: Transform) -> MobilizedBody:
        """Change X_PF; a topological change. Returns the mobilized body. `ModelError` for Ground, which has no mobilizer."""
        self._refuse_ground("set_default_inboard_frame")
        self._X_PF = frame("X_PF", X_PF)
        self._changed()
        return self

    def get_default_outboard_frame(self) -> Transform:
        """X_BM, the frame M on the body, where no state says otherwise."""
        return self._X_BM

    def set_default_outboard_frame(self, X_BM: Transform) -> MobilizedBody:
        """Change X_BM; a topological change. Returns the mobilized body. `ModelError` for Ground, which has no mobilizer."""
        self._refuse_ground("set_default_outboard_frame")
        self._X_BM = frame("X_BM", X_BM)
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
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{what} of {self._name!r} takes {n} numbers, got {value!r}") from None
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
        ordinal = int(self._body.add_decoration(geometry, frame_or_none("X_BD", X_BD)))
        self._changed()
        return ordinal

    def add_outboard_decoration(self, geometry: Any, X_MD: Transform | None = None) -> int:
        """Fix a copy of *geometry* on the frame M at X_MD. A topological change. Returns its ordinal among those."""
        return self._decorate(self._outboard_decorations, geometry, frame_or_none("X_MD", X_MD))

    def add_inboard_decoration(self, geometry: Any, X_FD: Transform | None = None) -> int:
        """Fix a copy of *geometry* on the frame F at X_FD. A topological change. Returns its ordinal among the inboard ones."""
        return self._decorate(self._inboard_decorations, geometry, frame_or_none("X_FD", X_FD))

    def _decorate(self, decorations: list[tuple[Transform, Any]], geometry: Any, X: Transform) -> int:
        decorations.append((X, own_copy(geometry)))
        self._changed()
        return len(decorations) - 1

    def _decoration(self, decorations: list[tuple[Transform, Any]], i: int, where: str) -> Any:
        if isinstance(i, bool) or not hasattr(i, "__index__"):
            raise TypeError(f"a decoration of {self._name!r} goes by its ordinal, an integer, not by {i!r}")
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

    # ------------------------------------------------------------------------------------------ frames in a state

    def get_inboard_frame(self, state: State) -> Transform:
        """X_PF, the frame F on the parent, of this state. Needs INSTANCE."""
        if state._stage < _INSTANCE or state._token is not self._matter._token:
            state._need_instance(self, "get_inboard_frame")
        if "R_PF" not in state._own:
            return self._X_PF
        record, b = state._record, self._index
        return Transform._trusted(record.R_PF[b].reshape(3, 3).copy(), record.p_PF[b].copy())

    def get_outboard_frame(self, state: State) -> Transform:
        """X_BM, the frame M on the body, of this state. Needs INSTANCE."""
        if state._stage < _INSTANCE or state._token is not self._matter._token:
            state._need_instance(self, "get_outboard_frame")
        if "R_BM" not in state._own:
            return self._X_BM
        record, b = state._record, self._index
        return Transform._trusted(record.R_BM[b].reshape(3, 3).copy(), record.p_BM[b].copy())

    def set_inboard_frame(self, state: State, X_PF: Transform) -> None:
        """Move the frame F on the parent in this state alone, which falls to MODEL at most; the default stays.

        Raises
        ------
        ModelError
            If X_PF is not a rigid transform, and for Ground, which has no mobilizer.
        """
        X = frame("X_PF", X_PF)
        state._tree_of(self, "set_inboard_frame")
        self._refuse_ground("set_inboard_frame")
        state._own_field("R_PF")[self._index] = np.asarray(X.R).ravel()
        state._own_field("p_PF")[self._index] = X.p

    def set_outboard_frame(self, state: State, X_BM: Transform) -> None:
        """Move the frame M on the body in this state alone, which falls to MODEL at most; the default stays.

        Raises
        ------
        ModelError
            If X_BM is not a rigid transform, and for Ground, which has no mobilizer.
        """
        X = frame("X_BM", X_BM)
        state._tree_of(self, "set_outboard_frame")
        self._refuse_ground("set_outboard_frame")
        state._own_field("R_BM")[self._index] = np.asarray(X.R).ravel()
        state._own_field("p_BM")[self._index] = X.p
        state._leave_out("plain_outboard", self._index, False)
