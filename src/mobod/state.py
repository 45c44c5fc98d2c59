"""State: everything of a system that changes, and how far it has been realized."""

from __future__ import annotations

import copy as _copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._numbers import number, numbers
from .algebra.record import LANES, Record, aligned_zeros
from .errors import StageError, TopologyError
from .resources import ERRORS, VARIABLES, Resources, Settings, own_copy, subsystem_order, unchanged
from .stage import Stage
from .tree import columns as _columns
from .tree import realize as _realize
from .tree.tree import INSTANCE_FIELDS, OF_MASS, OUTSIDE_MATTER, REMEMBERED, Tree, how_known

if TYPE_CHECKING:
    from .mobilizer.coordinates import Coordinates
    from .system import MultibodySystem

Array = npt.NDArray[np.float64]
#: What stays valid when u, z or time changes.
_KEPT_BY_U = ~(_realize.DEPENDS_ON_U | unchanged(Stage.VELOCITY))
_KEPT_BY_Z = ~(_realize.FORCES | _realize.ACCELERATIONS | unchanged(Stage.DYNAMICS))
_KINEMATICS = _realize.POSITIONS | _realize.VELOCITIES
_KEPT_BY_TIME = ~(_realize.FORCES | _realize.ACCELERATIONS | unchanged(Stage.POSITION))

# plain integers: comparing with an enum's members costs more than all the rest of a setter
_TOPOLOGY, _MODEL, _INSTANCE, _TIME, _POSITION, _VELOCITY, _DYNAMICS, _ACCELERATION = (int(s) for s in list(Stage)[1:9])
#: All stages' setters clear this bit.
_UNCHANGED = unchanged(Stage.REPORT)
#: Mobilities above which a state does not keep the scratch of explicit matrices, which is as large as these.
_LARGE = 256


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
        "_A_GB",
        "_H",
        "_H_FM",
        "_R_FM",
        "_R_GB",
        "_V_GB",
        "__weakref__",
        "_block",
        "_discrete",
        "_force_cache",
        "_own",
        "_pending_euler_angles",
        "_preparing",
        "_q",
        "_q_dot_dot_view",
        "_q_dot_view",
        "_q_memory",
        "_q_view",
        "_record",
        "_resources",
        "_scratch",
        "_stage",
        "_system",
        "_token",
        "_tree",
        "_u",
        "_u_dot_view",
        "_u_memory",
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
        self._force_cache: dict[int, Any] = {}  # of custom forces that depend on positions alone
        self._preparing = 0  # b or -b while Python writes body b's rows of positions or of velocities
        self._resources: Resources | None = None  # of subsystems; made when one of them first has any
        self._stage = _MODEL
        self._valid = 0
        self._attach(tree, tree.new_record() if record is None else record)

    def _attach(self, tree: Tree, record: Record) -> None:
        """Take *record*, and make the views that are handed out."""
        self._tree, self._record, self._block = tree, record, record.block
        self._scratch: tuple[Array, Array] | None = None
        # with a body's rows in the shape that getters hand out: reshaping each time takes as long as all the rest
        self._R_GB, self._R_FM = record.R_GB.reshape(-1, 3, 3), record.R_FM.reshape(-1, 3, 3)
        self._V_GB, self._A_GB = record.V_GB.reshape(-1, 2, 3), record.A_GB.reshape(-1, 2, 3)
        self._H, self._H_FM = record.H.reshape(-1, 2, 3), record.H_FM.reshape(-1, 2, 3)
        self._q, self._u, self._z = record.q[:, 0], record.u[:, 0], record.z[:, 0]
        self._y = record.y[:, 0]
        self._q_memory, self._u_memory = memoryview(self._q), memoryview(self._u)
        self._q_view, self._u_view, self._z_view, self._y_view = map(_read_only, (self._q, self._u, self._z, self._y))
        self._q_dot_view, self._u_dot_view = _read_only(record.q_dot[:, 0]), _read_only(record.u_dot[:, 0])
        self._z_dot_view, self._q_dot_dot_view = _read_only(record.z_dot[:, 0]), _read_only(record.q_dot_dot[:, 0])

    def _columns(self) -> tuple[Array, Array]:
        """The scratch of the explicit matrices, flat and wide; see `mobod.tree.columns`. There has to be a mobility."""
        found = self._scratch
        if found is None:
            rows, blocks = _columns.scratch_rows(self._tree.nu, self._tree.num_slots), -(-self._tree.nu // LANES)
            flat = aligned_zeros(rows, LANES * blocks)
            flat[_columns.PLACES] = np.arange(LANES * blocks)
            found = flat, flat.reshape(rows, blocks, LANES)
            if self._tree.nu <= _LARGE:
                self._scratch = found
        return found

    def __repr__(self) -> str:
        number = self._tree.num_particles
        particles = f", {number} particles" if number else ""
        return (
            f"<State at {Stage(self._stage).name}, time {self.time:.6g}, "
            f"{self._q.size} q, {self._u.size} u, {self._z.size} z{particles}, of {self._system.name!r}>"
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
        self._record.time[0, 0] = number("state.time", value)
        if self._stage > _INSTANCE:
            self._stage = _INSTANCE
        self._valid &= 0 if self._tree.depends_on_time else _KEPT_BY_TIME
        if self._resources is not None:
            self._resources.invalidate(_TIME)

    @property
    def q(self) -> Array:
        """Coordinates ``(nq,)``, body by body, then other subsystems'. Assigning leaves the state at TIME at most."""
        return self._q_view

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        # This setter and `realize` are what a short model's time goes into. A memoryview takes float64 of its own length, and
        # nothing else, in half the time that an array needs to be asked for its shape and copied.
        try:
            self._q_memory[:] = value  # type: ignore[assignment]
        except (TypeError, ValueError, BufferError):
            self._q[:] = self._checked("q", value, self._q.shape)
        self._valid = 0
        if self._stage > _TIME:
            self._stage = _TIME

    @property
    def u(self) -> Array:
        """Speeds ``(nu,)``, body by body, then other subsystems'. Assigning leaves the state at POSITION at most."""
        return self._u_view

    @u.setter
    def u(self, value: npt.ArrayLike) -> None:
        try:
            self._u_memory[:] = value  # type: ignore[assignment]
        except (TypeError, ValueError, BufferError):
            self._u[:] = self._checked("u", value, self._u.shape)
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
        array = numbers(f"state.{name}", value)
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
        self._valid &= _KEPT_BY_U
        self._lower(_POSITION)

    def _invalidate_z(self) -> None:
        if self._tree.forces_read_z or self._system._is_interpreted:
            self._valid &= _KEPT_BY_Z
        else:  # nobody reads z: forces, rates and accelerations are as they were
            self._valid &= ~unchanged(Stage.DYNAMICS)
        self._lower(_VELOCITY)

    def _invalidate_instance(self) -> None:
        """An Instance variable changed."""
        self._valid = 0
        self._force_cache = {}
        if self._resources is not None:
            self._resources.invalidate(_INSTANCE, self._stage)
        self._lower(_MODEL)

    def _invalidate_model(self) -> None:
        """A modelling choice changed."""
        self._valid = 0
        self._force_cache = {}
        if self._resources is not None:
            self._resources.invalidate(_MODEL, self._stage)
        self._lower(_TOPOLOGY)

    def _invalidate_from(self, stage: int) -> None:
        """*stage* is invalidated, and all above it: a discrete variable of a subsystem changed."""
        if stage <= _MODEL:
            self._invalidate_model()
        elif stage == _INSTANCE:
            self._invalidate_instance()
        elif stage == _TIME:
            self._force_cache = {}
            self.time = self.time
        elif stage == _POSITION:
            self._force_cache = {}
            self._invalidate_q()
        elif stage == _VELOCITY:
            self._invalidate_u()
        elif stage == _DYNAMICS:
            self._invalidate_z()
        else:
            self._valid &= ~unchanged(stage)
            if stage == _ACCELERATION:
                self._valid &= ~_realize.ACCELERATIONS
            self._lower(stage - 1)

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
    def y_dot(self) -> Array:
        """Rates of y, in its order: of q, u, z, the particles' locations and velocities. Needs ACCELERATION."""
        if self._stage < _ACCELERATION:
            self._refuse("y_dot", Stage.ACCELERATION)
        return _read_only(self._record.y_dot[:, 0])

    @property
    def q_err(self) -> Array:
        """Position errors of the constraints, norm - 1 of each quaternion, then other subsystems'. Needs POSITION."""
        if self._stage < _POSITION:
            self._refuse("q_err", Stage.POSITION)
        return self._errors("q_err")

    def _quaternion_errors(self) -> Array:
        first_q = self._tree.first_q
        return np.array([np.linalg.norm(self._q[first_q[b] : first_q[b] + 4]) - 1.0 for b in self._tree.quaternions])

    def _matters_own(self, name: str) -> Array:
        """Errors, or multipliers, of the constraints, and of q those of quaternions after them."""
        own = np.zeros(0)
        if self._tree.counts["nc"] > 0:
            matter = self._system.get_matter_subsystem()
            rows = matter._rows(self)
            if name == "q_err":
                own = matter._position_errors(self)
            elif name == "u_err":
                own = matter._velocity_errors(self)[rows[: sum(matter._num_equations(self)[:2])]]
            elif name == "u_dot_err":
                own = matter._acceleration_errors(self)[rows]
            else:
                own = matter.get_constraint_multipliers(self)
        return np.concatenate([own, self._quaternion_errors()]) if name == "q_err" else own

    def _num_matter_errors(self, name: str) -> int:
        """How many errors of this name the constraints and quaternions have."""
        quaternions = len(self._tree.quaternions) if name == "q_err" else 0
        if self._tree.counts["nc"] == 0:
            return quaternions
        numbers = self._system.get_matter_subsystem()._num_equations(self)
        return sum(numbers[: ERRORS.index(name) + 1]) + quaternions

    def _errors(self, name: str) -> Array:
        """Errors or multipliers of all subsystems."""
        if self._resources is None:
            return self._matters_own(name)
        whole = self._slots(name).slots[name]
        self._write_matters_own(name)
        return whole.copy()

    def _write_matters_own(self, name: str) -> None:
        """Into the end of the matter's run, after what it may have allocated as any subsystem can."""
        assert self._resources is not None
        own = self._matters_own(name)
        start, n = self._resources.slot_places[name][subsystem_order(self._system)[0]]
        self._resources.slots[name][start + n - len(own) : start + n] = own

    @property
    def u_err(self) -> Array:
        """Velocity errors of the constraints. Needs VELOCITY."""
        if self._stage < _VELOCITY:
            self._refuse("u_err", Stage.VELOCITY)
        return self._errors("u_err")

    @property
    def u_dot_err(self) -> Array:
        """Acceleration errors of the constraints. Needs ACCELERATION."""
        if self._stage < _ACCELERATION:
            self._refuse("u_dot_err", Stage.ACCELERATION)
        return self._errors("u_dot_err")

    @property
    def multipliers(self) -> Array:
        """Constraint multipliers. Needs ACCELERATION."""
        if self._stage < _ACCELERATION:
            self._refuse("multipliers", Stage.ACCELERATION)
        return self._errors("multipliers")

    # ------------------------------------------------------------------------------------------ weights

    @property
    def u_weights(self) -> Array:
        """How much a change of each u counts beside the others' ``(nu,)``: one over a change that matters; 1 unless set.

        Integrators measure errors so, also those of q. Assigning leaves the state at ACCELERATION at most: no result depends
        on weights. Needs MODEL.
        """
        return _read_only(self._weights("u", "u_weights"))

    @u_weights.setter
    def u_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("u", value, int(Stage.REPORT))

    @property
    def z_weights(self) -> Array:
        """How much a change of each z counts beside the others' ``(nz,)``; as `u_weights`."""
        return _read_only(self._weights("z", "z_weights"))

    @z_weights.setter
    def z_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("z", value, int(Stage.REPORT))

    @property
    def q_err_weights(self) -> Array:
        """How much each of `q_err` counts: one over an error that matters; 1 unless set. Needs INSTANCE.

        Assigning leaves the state at TIME at most.
        """
        return _read_only(self._weights("q_err", "q_err_weights"))

    @q_err_weights.setter
    def q_err_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("q_err", value, _POSITION)

    @property
    def u_err_weights(self) -> Array:
        """How much each of `u_err` counts; as `q_err_weights`. Assigning leaves the state at POSITION at most."""
        return _read_only(self._weights("u_err", "u_err_weights"))

    @u_err_weights.setter
    def u_err_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("u_err", value, _VELOCITY)

    def upd_u_weights(self) -> Array:
        """A writable view of `u_weights`; the state falls to ACCELERATION at most, now."""
        return self._upd_weights("u", int(Stage.REPORT))

    def upd_z_weights(self) -> Array:
        """A writable view of `z_weights`; the state falls to ACCELERATION at most, now."""
        return self._upd_weights("z", int(Stage.REPORT))

    def upd_q_err_weights(self) -> Array:
        """A writable view of `q_err_weights`; the state falls to TIME at most, now."""
        return self._upd_weights("q_err", _POSITION)

    def upd_u_err_weights(self) -> Array:
        """A writable view of `u_err_weights`; the state falls to POSITION at most, now."""
        return self._upd_weights("u_err", _VELOCITY)

    def _weights(self, name: str, asked: str) -> Array:
        """The weights as they are stored, or ones where nobody has set any."""
        if name in ("u", "z"):
            if self._stage < _MODEL:
                self._refuse_model(asked)
            n = len(self._u if name == "u" else self._z)
        else:
            n = len(self._slots(asked).slots[name])
        kept = None if self._resources is None else self._resources.weights.get(name)
        return np.ones(n) if kept is None or len(kept) != n else kept

    def _upd_weights(self, name: str, invalidates: int) -> Array:
        weights = self._upd_resources().weights[name] = self._weights(name, f"upd_{name}_weights")
        self._invalidate_from(invalidates)
        return weights

    def _set_weights(self, name: str, value: npt.ArrayLike, invalidates: int) -> None:
        now = self._weights(name, f"{name}_weights")
        array = self._checked(f"{name}_weights", value, now.shape)
        if not (np.isfinite(array).all() and (array > 0.0).all()):
            raise ValueError(f"state.{name}_weights have to be positive and finite, got {array}")
        self._upd_resources().weights[name] = array.copy()
        self._invalidate_from(invalidates)

    # ------------------------------------------------------------------------------------------ subsystems' resources

    def auto_update_discrete_variables(self) -> None:
        """Give variables that update themselves their next values, where these are realized; no stage is lowered.

        Integrators do so at the beginning of each step; whoever steps otherwise calls it.
        """
        self._end_step(self.time)

    def _end_step(self, time: float) -> None:
        """A step ends here, and the next begins at *time*: what updates itself has its next value."""
        if self._resources is not None:
            self._resources.keep_updates(self)
            self._resources.apply_updates(time)
        if self._tree.counts["measure_memory_size"]:
            self._record.measure_memory[:] = self._record.measure_next

    def _upd_resources(self) -> Resources:
        """The subsystems' resources, made if there are none yet."""
        if self._resources is None:
            self._resources = Resources(len(self._system._subsystems))
            if self._stage >= _MODEL:
                self._resources.places = self._places()
        return self._resources

    def _places(self) -> dict[str, dict[int, tuple[int, int]]]:
        """Where each subsystem's q, u and z are."""
        if self._resources is not None and self._resources.places["q"]:
            return self._resources.places
        resources = self._resources or Resources(0)
        return resources.lay_out(subsystem_order(self._system), self._tree.owners)

    def _slots(self, asked: str) -> Resources:
        """The resources with slots for errors and event triggers laid out, which needs INSTANCE."""
        allocating = self._resources is not None and self._resources.step == _INSTANCE
        if self._stage < _INSTANCE or allocating:
            self._refuse(asked, Stage.INSTANCE, _MODEL if allocating else self._stage)
        resources = self._upd_resources()
        resources.lay_out_slots(self)
        return resources

    def _make_room(self, tree_before: Tree, before: Record) -> None:
        """Give subsystems' q, u and z their places in the record, after MODEL's hooks have allocated them.

        Where as many as before are allocated they keep their values, and otherwise take their initial ones.
        """
        resources, tree = self._resources, self._tree
        if resources is None:
            return
        places, old = resources.lay_out(subsystem_order(self._system), tree.owners), resources.places
        more = [sum(n for _, n in places[name].values()) - tree.sizes[name] for name in VARIABLES]
        resources.places = places
        if places == old and self._record is before:
            return
        record = tree.new_record(more=(more[0], more[1], more[2])) if any(more) else self._record
        for name in OUTSIDE_MATTER + REMEMBERED:
            getattr(record, name)[:] = getattr(self._record, name)
        for name in VARIABLES:
            target, source, now = getattr(record, name), getattr(before, name), getattr(self._record, name)
            target[: tree.sizes[name]] = now[: tree.sizes[name]]
            for subsystem, (start, n) in places[name].items():
                skip, skipped = tree.owners[name].get(subsystem, 0), tree_before.owners[name].get(subsystem, 0)
                values = resources.initial(name, subsystem)
                was, had = old[name].get(subsystem, (0, -1))
                if had - skipped == len(values):
                    values = source[was + skipped : was + had, 0].copy()
                target[start + skip : start + n, 0] = values
        self._valid = 0
        self._attach_own(tree, record)

    def _attach_own(self, tree: Tree, record: Record) -> None:
        """Take *record*, with the state's own parameters."""
        for name, array in self._own.items():
            record.share(name, array)
        self._attach(tree, record)

    # ------------------------------------------------------------------------------------------ copies

    def copy(self) -> State:
        """A state equal to this one in everything, realized as far, and independent of it.

        Made while a hook of a subsystem is at work, it is one stage below the one that is being realized.
        """
        other = object.__new__(State)
        for name in State.__slots__:
            if name != "__weakref__":
                setattr(other, name, getattr(self, name))
        other._own = {name: array.copy() for name, array in self._own.items()}
        other._discrete = _copy.deepcopy(self._discrete)
        other._force_cache = dict(self._force_cache)
        if self._resources is not None:
            other._resources, other._stage = self._resources.copy(self._system), self._finished_stage
        other._attach_own(self._tree, self._record.copy())
        return other

    @property
    def _finished_stage(self) -> int:
        """The stage that all parts of the system have done their part of: while hooks are called, the one before."""
        step = 0 if self._resources is None else self._resources.step
        return min(self._stage, step - 1) if step else self._stage

    def _keep(self) -> tuple[Any, ...]:
        """What `_revert` needs to bring all back as it is now; a fraction of a copy's time."""
        resources = None if self._resources is None else self._resources.copy(self._system)
        return (
            (self._tree, self._record, self._record.buffer.copy(), {name: array.copy() for name, array in self._own.items()}),
            (_copy.deepcopy(self._discrete), dict(self._force_cache), resources),
            (self._stage, self._valid, self._use_euler_angles, self._pending_euler_angles),
        )

    def _revert(self, kept: tuple[Any, ...]) -> None:
        """Be as when *kept* was taken by `_keep`; once."""
        (tree, record, buffer, own), (self._discrete, self._force_cache, self._resources), numbers = kept
        for name in self._own.keys() - own.keys():
            record.share(name, tree.fields[name])
        self._own = own
        record.buffer[:] = buffer
        self._attach_own(tree, record)
        self._stage, self._valid, self._use_euler_angles, self._pending_euler_angles = numbers

    def _mark_unchanged(self) -> None:
        """From now on `_is_unchanged` tells whether something was assigned."""
        if self._resources is not None:
            self._resources.version(self, int(Stage.REPORT))
        self._valid |= _UNCHANGED

    def _is_unchanged(self) -> bool:
        """Whether nothing has been assigned since `_mark_unchanged`; realizing changes nothing."""
        return bool(self._valid & _UNCHANGED)

    def __copy__(self) -> State:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        system = _copy.deepcopy(self._system, memo)
        if system is self._system:
            return self.copy()
        return _restore(system, {**self.__getstate__(), "resources": _copy.deepcopy(self._resources, memo)})

    def __getstate__(self) -> dict[str, Any]:
        return {
            "version": self._version,
            "use_euler_angles": self._use_euler_angles,
            "pending": self._pending_euler_angles,
            "own": self._own,
            "discrete": self._discrete,
            "stage": self._finished_stage,
            "valid": self._valid,
            "resources": self._resources,
            "more": (self._q.size - self._tree.nq, self._u.size - self._tree.nu, self._z.size - self._tree.nz),
            "buffer": self._record.buffer.copy(),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._system, self.__getstate__())

    # ------------------------------------------------------------------------------------------ checks

    def _refuse(self, asked: str, needed: Stage, reached: int | None = None) -> None:
        """Raise `StageError`: what was asked, what it needs, what there is, and the call that gets it there."""
        raise StageError(
            f"{asked} needs Stage.{needed.name}; this state is at {Stage(self._stage if reached is None else reached).name}; "
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

    def _tree_of(self, mobod: Coordinates, asked: str) -> Tree:
        """The state's tree, for a body of its system, at MODEL or above."""
        if self._token is not mobod._matter._token:
            self._check_owner(mobod._matter._system, f"{asked} of {mobod._name!r}")
        if self._stage < _MODEL:
            self._refuse_model(asked)
        return self._tree

    def _refuse_model(self, asked: str) -> None:
        raise StageError(
            f"{asked} needs Stage.MODEL; this state is at {Stage(self._stage).name}; call system.realize_model(state)"
        )

    def _need_instance(self, mobod: Coordinates, asked: str) -> None:
        self._tree_of(mobod, asked)
        if self._stage < _INSTANCE:
            self._refuse(asked, Stage.INSTANCE)

    def _need_positions(self, mobod: Coordinates, asked: str) -> None:
        if self._token is not mobod._matter._token:
            self._check_owner(mobod._matter._system, f"{asked} of {mobod._name!r}")
        if not self._valid & _realize.POSITIONS:
            self._refuse(asked, Stage.POSITION)

    def _need_velocities(self, mobod: Coordinates, asked: str) -> None:
        if self._token is not mobod._matter._token:
            self._check_owner(mobod._matter._system, f"{asked} of {mobod._name!r}")
        if self._valid & _KINEMATICS != _KINEMATICS:
            self._refuse(asked, Stage.VELOCITY)

    def _need_accelerations(self, mobod: Coordinates, asked: str) -> None:
        if self._token is not mobod._matter._token:
            self._check_owner(mobod._matter._system, f"{asked} of {mobod._name!r}")
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

    def _own_numbers(self) -> npt.NDArray[np.float64]:
        """The state's own copy of all forces' numbers, flat, to change some that are discrete: it falls to VELOCITY at most."""
        numbers = self._own.get("force_numbers")
        if numbers is None:
            numbers = self._own["force_numbers"] = self._tree.fields["force_numbers"].copy()
            self._record.share("force_numbers", numbers)
        self._valid &= _KEPT_BY_Z
        if self._stage > _VELOCITY:
            self._stage = _VELOCITY
        return numbers.reshape(-1)

    def _take_own(self, own: dict[str, npt.NDArray[Any]]) -> None:
        """Have these Instance fields of its own, and no others; the stage falls to MODEL."""
        for name in self._own.keys() - own.keys():
            self._record.share(name, self._tree.fields[name])
        self._own = {name: array.copy() for name, array in own.items()}
        self._attach_own(self._tree, self._record)
        self._invalidate_instance()

    def _settings(self, before: Settings | None = None) -> Settings:
        """Subsystems' discrete variables that do not update themselves; see `Resources.settings`."""
        return {} if self._resources is None else self._resources.settings(self._system, before)

    def _take_settings(self, settings: Settings) -> None:
        """Give these variables their values; the modelling choices among them first, which others may depend on."""
        resources = self._resources
        if resources is None:
            return
        for choices in (True, False):
            for (subsystem, index), (_, value) in settings.items():
                variables = resources.part(subsystem).variables
                if index < len(variables) and choices == (variables[index].invalidates <= _MODEL):
                    resources.change(subsystem, index, self.time).value = own_copy(value, self._system)
                    self._invalidate_from(variables[index].invalidates)
            if self._stage < _MODEL:
                self._system.realize_model(self)

    def _leave_out(self, flag: str, b: int, holds: bool) -> None:
        """Say whether a shortcut of the kernels holds for body b: what they then leave out has to be zero already."""
        self._own_field(flag)[b] = holds
        if holds and flag == "massless":
            for name in OF_MASS:
                getattr(self._record, name)[b] = 0.0

    def _field(self, name: str) -> npt.NDArray[Any]:
        """An Instance field as it is in this state."""
        return self._own.get(name, self._tree.fields[name])

    def _settle_motion(self, mobod: Coordinates, asked: bool = False) -> None:
        """Let the sweeps know what a body's lock and motion, as they are now, make of its mobilizer.

        A custom motion is *asked* for its level when the state reaches INSTANCE; the stage stays.
        """
        b, tree = mobod._index, self._tree
        lock, on = int(self._field("lock_level")[b]), bool(self._field("motion_enabled")[b])
        found = how_known(mobod, tree.together_if_free[b], lock, on, self if asked else None)
        for name, value in zip(("together", "known_level"), found, strict=True):
            if self._field(name)[b] != value:
                stage = self._stage
                self._own_field(name)[b] = value
                self._stage = stage

    @property
    def _is_constrained(self) -> bool:
        """Whether some constraint is enabled."""
        return bool(np.any(self._field("constraint_enabled")))

    @property
    def _has_locks(self) -> bool:
        """Whether some mobilizer may be locked; False costs no look at each of them."""
        return "lock_level" in self._own or self._tree.has_default_locks

    @property
    def _has_known(self) -> bool:
        """Whether some motion is known beforehand."""
        return bool(np.any(self._field("together") < 0))


def _restore(system: MultibodySystem, data: dict[str, Any]) -> State:
    """A state from what pickling and deep copies keep of it."""
    tree = system._tree(data["use_euler_angles"])
    state = State(system, tree, tree.new_record(more=data["more"]))
    state._version, state._pending_euler_angles = data["version"], data["pending"]
    if state._version != system._topology_version:
        state._token = None
    state._stage, state._valid = data["stage"], data["valid"]
    state._discrete, state._resources = _copy.deepcopy(data["discrete"]), data["resources"]
    if state._resources is not None:
        state._resources.be_at_rest()
    for name, array in data["own"].items():
        state._own[name] = array.copy()
        state._record.share(name, state._own[name])
    state._record.buffer[:] = data["buffer"]
    return state


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
