"""State: everything of a system that changes, and how far it has been realized."""

from __future__ import annotations

import copy as _copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .algebra.record import Record
from .errors import StageError, TopologyError
from .stage import Stage
from .tree import realize as _realize
from .tree.tree import INSTANCE_FIELDS, OF_MASS, Tree

if TYPE_CHECKING:
    from .mobilizer.base import MobilizedBody
    from .system import MultibodySystem

Array = npt.NDArray[np.float64]
#: What stays valid when u changes.
_KEPT_BY_U = ~_realize.DEPENDS_ON_U

# plain integers: comparing with an enum's members costs more than all the rest of a setter
_MODEL, _INSTANCE, _TIME, _POSITION, _VELOCITY, _DYNAMICS, _ACCELERATION = (int(stage) for stage in list(Stage)[2:9])


class State:
    """Time, coordinates q, speeds u, auxiliary variables z, what was chosen and set, and what was computed from them.

    Made by `MultibodySystem.realize_topology`, and copied from others by `copy`. Reading an array gives a read-only view;
    assigning copies, checks the length, and lowers the stage. Everything is found in the state and nothing in the system:
    any number of states can be realized, in any thread.

    Attributes
    ----------
    time : float
    q, u, z : (nq,), (nu,), (nz,) arrays
    y : (nq + nu + nz + 6 np,) array
        The three end to end, and then the locations and the velocities of the particles, if there are any.
    """

    # slots: setters and `realize` touch a dozen attributes a call, and a dictionary's take half as long again
    __slots__ = (
        "__weakref__",
        "_block",
        "_discrete",
        "_force_cache",
        "_own",
        "_pending_euler_angles",
        "_q",
        "_q_dot_dot_view",
        "_q_dot_view",
        "_q_shape",
        "_q_view",
        "_record",
        "_stage",
        "_system",
        "_token",
        "_tree",
        "_u",
        "_u_dot_view",
        "_u_shape",
        "_u_view",
        "_use_euler_angles",
        "_valid",
        "_version",
        "_y",
        "_y_view",
        "_z",
        "_z_dot_view",
        "_z_view",
    )

    def __init__(self, system: MultibodySystem, tree: Tree, record: Record | None = None) -> None:
        self._system = system
        self._version = system._topology_version
        self._token: object = system._topology_token  # stands for both of the above in one comparison
        self._use_euler_angles = tree.use_euler_angles
        self._pending_euler_angles = tree.use_euler_angles
        self._own: dict[str, npt.NDArray[Any]] = {}
        self._discrete: dict[Any, Any] = {}
        self._force_cache: dict[int, Any] = {}  # of custom forces that depend on q alone
        self._stage = _MODEL
        self._valid = 0
        self._attach(tree, tree.new_record() if record is None else record)

    def _attach(self, tree: Tree, record: Record) -> None:
        """Take *record*, and make the views that are handed out."""
        self._tree, self._record, self._block = tree, record, record.block
        self._q, self._u, self._z = record.q[:, 0], record.u[:, 0], record.z[:, 0]
        self._y = record.y[:, 0]
        self._q_shape, self._u_shape = self._q.shape, self._u.shape
        self._q_view, self._u_view, self._z_view, self._y_view = map(_read_only, (self._q, self._u, self._z, self._y))
        self._q_dot_view, self._u_dot_view = _read_only(record.q_dot[:, 0]), _read_only(record.u_dot[:, 0])
        self._z_dot_view, self._q_dot_dot_view = _read_only(record.z_dot[:, 0]), _read_only(record.q_dot_dot[:, 0])

    def __repr__(self) -> str:
        tree = self._tree
        particles = f", {tree.num_particles} particles" if tree.num_particles else ""
        return (
            f"<State at {Stage(self._stage).name}, time {self.time:.6g}, "
            f"{tree.nq} q, {tree.nu} u, {tree.nz} z{particles}, of {self._system.name!r}>"
        )

    # ------------------------------------------------------------------------------------------ variables

    @property
    def stage(self) -> Stage:
        """How far the state has been realized."""
        return Stage(self._stage)

    @property
    def time(self) -> float:
        """Time. Assigning leaves the state at INSTANCE at most."""
        return float(self._record.time[0, 0])

    @time.setter
    def time(self, value: float) -> None:
        self._record.time[0, 0] = value
        if self._stage > _INSTANCE:
            self._stage = _INSTANCE
        self._valid &= ~(_realize.FORCES | _realize.ACCELERATIONS)

    @property
    def q(self) -> Array:
        """Coordinates ``(nq,)``, body by body. Assigning leaves the state at TIME at most."""
        return self._q_view

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        # [...] copies in a third of the time of [:]; this setter and `realize` are what a short model's time goes into
        try:
            fits = value.shape == self._q_shape  # type: ignore[union-attr]
        except AttributeError:
            fits = False
        self._q[...] = value if fits else self._checked("q", value, self._q_shape)
        self._valid = 0
        if self._stage > _TIME:
            self._stage = _TIME

    @property
    def u(self) -> Array:
        """Speeds ``(nu,)``, body by body. Assigning leaves the state at POSITION at most."""
        return self._u_view

    @u.setter
    def u(self, value: npt.ArrayLike) -> None:
        try:
            fits = value.shape == self._u_shape  # type: ignore[union-attr]
        except AttributeError:
            fits = False
        self._u[...] = value if fits else self._checked("u", value, self._u_shape)
        self._valid &= _KEPT_BY_U
        if self._stage > _POSITION:
            self._stage = _POSITION

    @property
    def z(self) -> Array:
        """Auxiliary variables ``(nz,)``. Assigning leaves the state at VELOCITY at most."""
        return self._z_view

    @z.setter
    def z(self, value: npt.ArrayLike) -> None:
        self._z[:] = self._checked("z", value, self._z.shape)
        self._invalidate_z()

    @property
    def y(self) -> Array:
        """q, u, z and the particles' locations and velocities, end to end. Assigning leaves the state at TIME at most."""
        return self._y_view

    @y.setter
    def y(self, value: npt.ArrayLike) -> None:
        self._y[:] = self._checked("y", value, self._y.shape)
        self._invalidate_q()

    @staticmethod
    def _checked(name: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
        array = np.asarray(value, dtype=np.float64)
        if array.shape != shape:
            raise ValueError(f"state.{name} has shape {shape}, got {array.shape}")
        return array

    def upd_q(self) -> Array:
        """A writable view of q; the state falls to TIME at most, now: fetch it again for each change."""
        self._invalidate_q()
        return self._q

    def upd_u(self) -> Array:
        """A writable view of u; the state falls to POSITION at most, now: fetch it again for each change."""
        self._invalidate_u()
        return self._u

    def upd_z(self) -> Array:
        """A writable view of z; the state falls to VELOCITY at most, now: fetch it again for each change."""
        self._invalidate_z()
        return self._z

    def _lower(self, stage: int) -> None:
        if self._stage > stage:
            self._stage = stage

    def _invalidate_q(self) -> None:
        self._valid = 0
        self._lower(_TIME)

    def _invalidate_u(self) -> None:
        self._valid &= ~_realize.DEPENDS_ON_U
        self._lower(_POSITION)

    def _invalidate_z(self) -> None:
        self._valid &= ~(_realize.FORCES | _realize.ACCELERATIONS)
        self._lower(_VELOCITY)

    def _invalidate_instance(self) -> None:
        """An Instance variable changed."""
        self._valid = 0
        self._force_cache = {}
        self._lower(_MODEL)

    def _invalidate_forces(self) -> None:
        """A discrete variable of a force changed."""
        self._valid &= ~(_realize.FORCES | _realize.ACCELERATIONS)
        self._lower(_VELOCITY)

    # ------------------------------------------------------------------------------------------ results

    @property
    def q_dot(self) -> Array:
        """Rates of q ``(nq,)``: N u. Needs VELOCITY."""
        if self._stage < _VELOCITY:
            self._refuse("q_dot", Stage.VELOCITY)
        return self._q_dot_view

    @property
    def u_dot(self) -> Array:
        """Accelerations ``(nu,)``. Needs ACCELERATION."""
        if self._stage < _ACCELERATION:
            self._refuse("u_dot", Stage.ACCELERATION)
        return self._u_dot_view

    @property
    def z_dot(self) -> Array:
        """Rates of z ``(nz,)``. Needs DYNAMICS."""
        if self._stage < _DYNAMICS:
            self._refuse("z_dot", Stage.DYNAMICS)
        return self._z_dot_view

    @property
    def q_dot_dot(self) -> Array:
        """Second rates of q ``(nq,)``: N udot + NDot u. Needs ACCELERATION."""
        if self._stage < _ACCELERATION:
            self._refuse("q_dot_dot", Stage.ACCELERATION)
        return self._q_dot_dot_view

    @property
    def q_err(self) -> Array:
        """Position errors: norm - 1 of each quaternion. Needs POSITION."""
        if self._stage < _POSITION:
            self._refuse("q_err", Stage.POSITION)
        first_q = self._tree.first_q
        return np.array([np.linalg.norm(self._q[first_q[b] : first_q[b] + 4]) - 1.0 for b in self._tree.quaternions])

    @property
    def u_err(self) -> Array:
        """Velocity errors of the constraints. Needs VELOCITY."""
        if self._stage < _VELOCITY:
            self._refuse("u_err", Stage.VELOCITY)
        return np.zeros(0)

    @property
    def u_dot_err(self) -> Array:
        """Acceleration errors of the constraints. Needs ACCELERATION."""
        if self._stage < _ACCELERATION:
            self._refuse("u_dot_err", Stage.ACCELERATION)
        return np.zeros(0)

    @property
    def multipliers(self) -> Array:
        """Constraint multipliers. Needs ACCELERATION."""
        if self._stage < _ACCELERATION:
            self._refuse("multipliers", Stage.ACCELERATION)
        return np.zeros(0)

    # ------------------------------------------------------------------------------------------ copies

    def copy(self) -> State:
        """A state equal to this one in everything, realized as far, and independent of it."""
        other = object.__new__(State)
        for name in State.__slots__[1:]:
            setattr(other, name, getattr(self, name))
        other._own = {name: array.copy() for name, array in self._own.items()}
        other._discrete = _copy.deepcopy(self._discrete)
        other._force_cache = dict(self._force_cache)
        record = self._record.copy()
        for name, array in other._own.items():
            record.share(name, array)
        other._attach(self._tree, record)
        return other

    def __copy__(self) -> State:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        system = _copy.deepcopy(self._system, memo)
        if system is self._system:
            return self.copy()
        return _restore(system, self.__getstate__())

    def __getstate__(self) -> dict[str, Any]:
        return {
            "version": self._version,
            "use_euler_angles": self._use_euler_angles,
            "pending": self._pending_euler_angles,
            "own": self._own,
            "discrete": self._discrete,
            "stage": self._stage,
            "valid": self._valid,
            "buffer": self._record.buffer.copy(),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._system, self.__getstate__())

    # ------------------------------------------------------------------------------------------ checks

    def _refuse(self, asked: str, needed: Stage) -> None:
        """Raise `StageError`: what was asked, what it needs, what there is, and the call that gets it there."""
        raise StageError(
            f"{asked} needs Stage.{needed.name}; this state is at {Stage(self._stage).name}; "
            f"call system.realize(state, Stage.{needed.name})"
        )

    def _check_owner(self, system: Any, asked: str) -> None:
        if self._system is not system:
            raise TopologyError(f"{asked}: this state is of another system ({self._system!r})")
        if self._version != system._topology_version:
            raise TopologyError(
                f"{asked}: the system was changed after this state was made; "
                "call state = system.realize_topology() for a new one"
            )

    def _tree_of(self, mobod: MobilizedBody, asked: str) -> Tree:
        """The state's tree, for a body of its system, at MODEL or above."""
        if self._system is not mobod._matter._system or self._version != self._system._topology_version:
            self._check_owner(mobod._matter._system, f"{asked} of {mobod._name!r}")
        if self._stage < _MODEL:
            self._refuse_model(asked)
        return self._tree

    def _refuse_model(self, asked: str) -> None:
        raise StageError(
            f"{asked} needs Stage.MODEL; this state is at {Stage(self._stage).name}; call system.realize_model(state)"
        )

    def _need_instance(self, mobod: MobilizedBody, asked: str) -> None:
        self._tree_of(mobod, asked)
        if self._stage < _INSTANCE:
            self._refuse(asked, Stage.INSTANCE)

    def _need_positions(self, mobod: MobilizedBody, asked: str) -> None:
        if self._system is not mobod._matter._system or self._version != self._system._topology_version:
            self._check_owner(mobod._matter._system, f"{asked} of {mobod._name!r}")
        if not self._valid & _realize.POSITIONS:
            self._refuse(asked, Stage.POSITION)

    def _need_velocities(self, mobod: MobilizedBody, asked: str) -> None:
        self._need_positions(mobod, asked)
        if not self._valid & _realize.VELOCITIES:
            self._refuse(asked, Stage.VELOCITY)

    def _need_accelerations(self, mobod: MobilizedBody, asked: str) -> None:
        self._need_positions(mobod, asked)
        if self._stage < _ACCELERATION:
            self._refuse(asked, Stage.ACCELERATION)

    # ------------------------------------------------------------------------------------------ instance variables

    def _own_field(self, name: str) -> npt.NDArray[Any]:
        """The state's own copy of an Instance field of the tree, made at its first change; lowers the stage to MODEL."""
        if name not in INSTANCE_FIELDS:
            raise AssertionError(f"{name} is not an instance field")
        if name not in self._own:
            self._own[name] = self._tree.fields[name].copy()
            self._record.share(name, self._own[name])
        self._invalidate_instance()
        return self._own[name]

    def _leave_out(self, flag: str, b: int, holds: bool) -> None:
        """Say whether a shortcut of the kernels holds for body b: what they then leave out has to be zero already."""
        self._own_field(flag)[b] = holds
        if holds and flag == "massless":
            for name in OF_MASS:
                getattr(self._record, name)[b] = 0.0

    def _field(self, name: str) -> npt.NDArray[Any]:
        """An Instance field as it is in this state."""
        return self._own.get(name, self._tree.fields[name])


def _restore(system: MultibodySystem, data: dict[str, Any]) -> State:
    """A state from what pickling and deep copies keep of it."""
    state = State(system, system._tree(data["use_euler_angles"]))
    state._version, state._pending_euler_angles = data["version"], data["pending"]
    if state._version != system._topology_version:
        state._token = None
    state._stage, state._valid = data["stage"], data["valid"]
    state._discrete = _copy.deepcopy(data["discrete"])
    for name, array in data["own"].items():
        state._own[name] = array.copy()
        state._record.share(name, state._own[name])
    state._record.buffer[:] = data["buffer"]
    return state


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
