"""Ensemble: one model, many states, realized eight at a time on each thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import prescribing
from ._numbers import numbers
from .algebra.record import LANES, aligned_zeros, layout
from .constrained import order_of_rows
from .errors import ConvergenceError, ModelError, StageError
from .projecting import share_weights
from .resources import own_copy
from .stage import Stage
from .system import _WANTED
from .tree import batch, batch_constraints, batch_operators, columns, prescribe
from .tree import project as _project
from .tree import realize as _realize
from .tree.reduced import ReducedTree
from .tree.tree import PARAMETERS, SHORTCUTS, in_each_lane

if TYPE_CHECKING:
    from .algebra.record import Record
    from .mobilizer.base import MobilizedBody
    from .state import State
    from .system import MultibodySystem
    from .value import MassProperties, Transform

Array = npt.NDArray[np.float64]
#: Constraints' errors and multipliers: where they are among the results, beside those of `batch`, and what each needs.
_ERRORS = {
    "q_err": (-2, Stage.POSITION, batch_constraints.POSITION_ERRORS),
    "u_err": (-3, Stage.VELOCITY, batch_constraints.VELOCITY_ERRORS),
    "multipliers": (-4, Stage.ACCELERATION, batch_constraints.MULTIPLIERS),
}


class Ensemble:
    """Many states of one system, all with the same modelling choices and size, and the same parameters unless these are varied.

    Parameters
    ----------
    system : MultibodySystem
        Its topology is realized if it is not yet.
    n : int
        How many states; any number, though a multiple of eight wastes nothing.
    state : State, optional
        Where the states start, and whose modelling and Instance choices (Euler angles, locks, parameters, disabled forces) all
        share (but see `set_each`); the system's default state unless given.
    threads : int
        On how many threads `realize` works.

    Attributes
    ----------
    failed : (n,) bool array
        Which states have values that are not finite, after `realize`. They do not stop the others.

    Examples
    --------
    >>> import mobod as mb, numpy as np
    >>> system, state = mb.examples.double_pendulum.build()
    >>> ensemble = mb.Ensemble(system, 100, state=state)
    >>> ensemble.q = np.linspace(0, 1, 200).reshape(100, 2)
    >>> ensemble.realize(mb.Stage.ACCELERATION)
    >>> ensemble.u_dot.shape
    (100, 2)
    """

    def __init__(self, system: MultibodySystem, n: int, *, state: State | None = None, threads: int = 1) -> None:
        if int(n) != n or n < 1:
            raise ValueError(f"an ensemble has 1 state or more, got n = {n}")
        if state is None:
            state = system.get_default_state() if system.system_topology_has_been_realized() else system.realize_topology()
        state._check_owner(system, "Ensemble")
        if state.stage < Stage.MODEL:
            raise StageError("an ensemble needs a state at Stage.MODEL; call system.realize_model(state)")
        self._system, self._n = system, int(n)
        system.get_matter_subsystem()._check_particle_masses(state)
        self._template = state.copy()
        self._version = system._topology_version
        self._threads = _count(threads)
        tree = self._template._tree
        self._groups = -(-self._n // LANES)
        padded = self._groups * LANES
        self._time = np.full((padded, 1), state.time)
        self._q, self._u, self._z = (np.repeat(part[None], padded, axis=0) for part in (state.q, state.u, state.z))
        particles = np.concatenate([state._record.particle_location, state._record.particle_velocity])[:, 0]
        self._particles = np.repeat(particles[None], padded, axis=0)
        self._particle_accelerations = np.zeros((padded, 3 * tree.num_particles))
        self._u_dot, self._failed = np.zeros((padded, len(state.u))), np.zeros((padded, 1))
        #: Parameter fields that each state has its own of, ``(groups, rows, columns, 8)``, and where kernels find them.
        self._own: dict[str, Array] = {}
        self._own_places = np.zeros((0, 3), np.int64)
        #: Values of subsystems' discrete variables, one a state, by subsystem and index.
        self._of_subsystems: dict[tuple[int, int], list[Any]] = {}
        self._reduced = ReducedTree(tree, self._template._field)
        #: One record a thread: of the reduced tree, and of the whole one.
        self._workers: list[Record] = []
        self._whole_workers: list[Record] = []
        self._stage = Stage.MODEL
        self._results: dict[int, Array] = {}

    def __repr__(self) -> str:
        return f"<Ensemble of {self._n} states of {self._system.name!r} at {self._stage.name}>"

    def __len__(self) -> int:
        return self._n

    # ------------------------------------------------------------------------------------------ variables

    @property
    def stage(self) -> Stage:
        """How far the states have been realized."""
        return self._stage

    def _assign(self, name: str, target: Array, value: npt.ArrayLike, stage: Stage) -> None:
        array = numbers(f"ensemble.{name}", value)
        shape = (self._n,) if name == "time" else (self._n, target.shape[1])
        if array.shape != shape:
            raise ValueError(f"ensemble.{name} has shape {shape}, got {array.shape}")
        target[: self._n] = array.reshape(self._n, target.shape[1])
        self._stage = min(self._stage, stage)
        self._results = {}

    @property
    def time(self) -> Array:
        """Times ``(n,)``."""
        return _read_only(self._time[: self._n, 0])

    @time.setter
    def time(self, value: npt.ArrayLike) -> None:
        self._assign("time", self._time, value, Stage.INSTANCE)

    @property
    def q(self) -> Array:
        """Coordinates ``(n, nq)``."""
        return _read_only(self._q[: self._n])

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        self._assign("q", self._q, value, Stage.TIME)

    @property
    def u(self) -> Array:
        """Speeds ``(n, nu)``."""
        return _read_only(self._u[: self._n])

    @u.setter
    def u(self, value: npt.ArrayLike) -> None:
        self._assign("u", self._u, value, Stage.POSITION)

    @property
    def z(self) -> Array:
        """Auxiliary variables ``(n, nz)``."""
        return _read_only(self._z[: self._n])

    @z.setter
    def z(self, value: npt.ArrayLike) -> None:
        self._assign("z", self._z, value, Stage.VELOCITY)

    @property
    def particle_locations(self) -> Array:
        """Locations of the particles ``(n, np, 3)``, in Ground."""
        return self._particle_part(0)

    @particle_locations.setter
    def particle_locations(self, value: npt.ArrayLike) -> None:
        self._assign_particles("particle_locations", 0, value, Stage.TIME)

    @property
    def particle_velocities(self) -> Array:
        """Velocities of the particles ``(n, np, 3)``, in Ground."""
        return self._particle_part(1)

    @particle_velocities.setter
    def particle_velocities(self, value: npt.ArrayLike) -> None:
        self._assign_particles("particle_velocities", 1, value, Stage.POSITION)

    def _particle_part(self, which: int) -> Array:
        return _read_only(self._particles[: self._n].reshape(self._n, 2, -1, 3)[:, which])

    def _assign_particles(self, name: str, which: int, value: npt.ArrayLike, stage: Stage) -> None:
        array = numbers(f"ensemble.{name}", value)
        target = self._particles[: self._n].reshape(self._n, 2, -1, 3)[:, which]
        if array.shape != target.shape:
            raise ValueError(f"ensemble.{name} has shape {target.shape}, got {array.shape}")
        target[...] = array
        self._stage = min(self._stage, stage)
        self._results = {}

    # ------------------------------------------------------------------------------------------ instance variables

    def set_each(self, setter: Callable[[State, Any], object], values: Iterable[Any]) -> None:
        """Give each state its own value of an Instance variable; the ensemble falls to MODEL at most.

        Parameters
        ----------
        setter : callable
            ``setter(state, value)``: any method that changes numbers of a state at Instance level, such as
            ``body.set_body_mass_properties``, ``body.set_inboard_frame``, ``screw.set_pitch`` or ``gravity.set_magnitude``, or
            a function of one's own that calls several. Discrete variables of users' subsystems may be set too, by
            ``upd_discrete_variable``.
        values : iterable
            One a state.

        Raises
        ------
        ValueError
            If there is not a value for each, or the setter changes what states of an ensemble share (whether a force is
            disabled, weights, what invalidates MODEL) or what is assigned instead (time, q, u, z).
        Exception
            What the setter raises, with a note that says for which state. All states are then as they were.

        Notes
        -----
        States with parameters of their own are computed with no bodies merged and gravity swept as a force: that takes up to
        half as long again, and longer where many bodies are welded to others. The setter is called once a state, in Python.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> body = system.matter.bodies[1]
        >>> ensemble = mb.Ensemble(system, 100, state=state)
        >>> ensemble.set_each(body.set_inboard_frame, [mb.Transform((0, y, 0)) for y in np.linspace(0, 1, 100)])
        """
        each = list(values)
        if len(each) != self._n:
            raise ValueError(f"each of {self._n} states needs a value; there are {len(each)}")
        template = self._template
        template._check_owner(self._system, "Ensemble.set_each")
        scratch, changed, of_subsystems = template.copy(), {}, dict(self._of_subsystems)
        copied = set()
        shortcuts = {name: np.ones(template._tree.nb, np.int64) for name in SHORTCUTS}
        for i, value in enumerate(each):
            if template._resources is not None:
                scratch = template.copy()
            self._put_own(scratch, i)
            before = _changes(scratch)
            try:
                setter(scratch, value)
                self._check_shared(scratch)
            except Exception as error:
                error.add_note(f"this is for state {i} of the ensemble, whose value is {value!r}")
                raise
            for name, array in scratch._own.items():
                if name in PARAMETERS:
                    if name not in changed:
                        changed[name] = self._own_of_each(name)
                    changed[name][i // LANES, ..., i % LANES] = array
            for key in [key for key, count in _changes(scratch).items() if count != before.get(key)]:
                assert template._resources is not None and scratch._resources is not None
                shared = template._resources.part(key[0]).variables[key[1]].value
                if key not in copied:
                    of_subsystems[key] = list(of_subsystems.get(key, [shared] * self._n))
                    copied.add(key)
                of_subsystems[key][i] = scratch._resources.part(key[0]).variables[key[1]].value
            for name, flags in shortcuts.items():
                flags &= scratch._field(name)
        for array in changed.values():  # what fills up the last group is finite at least
            last = self._n - 1
            array[-1, ..., last % LANES + 1 :] = array[-1, ..., last % LANES, None]
        for name, flags in shortcuts.items():
            if not np.array_equal(flags, template._field(name)):
                template._own_field(name)[:] = flags
        self._own.update(changed)
        self._of_subsystems = of_subsystems
        places = [(layout.places[name], a.ctypes.data, a.strides[0]) for name, a in self._own.items()]
        self._own_places = np.array(places, np.int64).reshape(-1, 3)  # as `batch.fill` takes them
        self._stage, self._results = min(self._stage, Stage.MODEL), {}
        self._workers, self._whole_workers = [], []

    def set_body_mass_properties(self, body: MobilizedBody, mass_properties: Iterable[MassProperties]) -> None:
        """Give the body other mass properties in each state; see `set_each`."""
        self.set_each(body.set_body_mass_properties, mass_properties)

    def set_inboard_frame(self, body: MobilizedBody, X_PF: Iterable[Transform]) -> None:
        """Put the frame F of the body's mobilizer elsewhere on the parent in each state; see `set_each`."""
        self.set_each(body.set_inboard_frame, X_PF)

    def set_outboard_frame(self, body: MobilizedBody, X_BM: Iterable[Transform]) -> None:
        """Put the frame M of the body's mobilizer elsewhere on the body in each state; see `set_each`."""
        self.set_each(body.set_outboard_frame, X_BM)

    def _own_of_each(self, name: str) -> Array:
        """A copy of a field as each state has it."""
        if name not in self._own:
            return in_each_lane(self._template._field(name), self._groups)
        copy = aligned_zeros(*self._own[name].shape)
        copy[...] = self._own[name]
        return copy

    def _put_own(self, state: State, i: int) -> None:
        """Let a copy of the template have the parameters of state *i*, and no others."""
        for name, array in self._template._own.items():
            state._own_field(name)[...] = array
        for name in [name for name in state._own if name not in self._template._own]:
            state._own_field(name)[...] = self._template._field(name)
        for name, lanes in self._own.items():
            state._own_field(name)[...] = lanes[i // LANES, ..., i % LANES]
        resources = state._resources
        for (subsystem, index), values in self._of_subsystems.items():
            assert resources is not None
            variable = resources.change(subsystem, index, state.time)
            variable.value = own_copy(values[i], self._system)
            state._invalidate_from(variable.invalidates)

    def _check_shared(self, state: State) -> None:
        """Refuse what a setter may not change, or not to this."""
        self._system.get_matter_subsystem()._check_particle_masses(state)
        before = self._template
        weights = [{} if one._resources is None else one._resources.weights for one in (state, before)]
        if any(not np.array_equal(w, weights[1].get(name, np.ones(len(w)))) for name, w in weights[0].items()):
            raise ValueError("states of an ensemble share weights; set them in the state that the ensemble is made from")
        for name, array in state._own.items():
            if name not in PARAMETERS and name not in SHORTCUTS and not np.array_equal(array, before._field(name)):
                raise ValueError(f"states of an ensemble share {name}; change it in the state that the ensemble is made from")
        if state.time != before.time or not np.array_equal(state.y, before.y, equal_nan=True):
            raise ValueError("set_each is for Instance variables; assign ensemble.time, q, u, z or particle_locations instead")
        if state._use_euler_angles != state._pending_euler_angles:
            raise ValueError("states of an ensemble share modelling choices; make the ensemble from a state with Euler angles")
        if state.stage < Stage.MODEL:
            raise ValueError(
                "states of an ensemble share variables that invalidate MODEL; make the ensemble from a state with another value"
            )

    # ------------------------------------------------------------------------------------------ realization

    def realize(self, stage: Stage = Stage.ACCELERATION, *, threads: int | None = None) -> None:
        """Realize all states through *stage*, ACCELERATION unless given.

        Parameters
        ----------
        stage : Stage
        threads : int, optional
            In place of the ensemble's own number.

        Raises
        ------
        TopologyError
            If the system was changed after the ensemble was made.
        """
        self._template._check_owner(self._system, "Ensemble.realize")
        if self._stage >= stage:
            return
        wanted = _WANTED.get(Stage(stage), 0)
        accelerations = stage >= Stage.ACCELERATION
        if self._system._needs_states:
            self._realize_one_by_one(Stage(stage))
        elif wanted:
            address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
            results = self._u_dot, self._particle_accelerations, self._failed
            data = self._own_places, *self._variables, *results
            if self._reduced.ground_acceleration is not None and not self._own:
                wanted &= ~_realize.FORCES

            def work(record: Record, begin: int, end: int) -> None:
                batch.realize_groups(record, address, wanted, begin, end, accelerations, *data)

            new_record = self._whole_record if self._own else self._reduced.new_record
            self._share_out(work, self._threads if threads is None else _count(threads), self._workers, new_record)
        self._stage = Stage(stage)

    @property
    def _variables(self) -> tuple[Array, ...]:
        return self._time, self._q, self._u, self._z, self._particles

    def _share_out(
        self, work: Callable[[Record, int, int], None], threads: int, records: list[Record], new_record: Callable[[], Record]
    ) -> None:
        """Give each thread a run of groups, and one of *records*, to which new ones are added as needed."""
        threads = min(threads, self._groups)
        while len(records) < threads:
            records.append(new_record())
        if threads == 1:
            work(records[0], 0, self._groups)
            return
        bounds = [self._groups * k // threads for k in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, records[:threads], bounds[:-1], bounds[1:]))

    def _whole_record(self) -> Record:
        """A record of the whole tree, for results that tell bodies apart."""
        own = bool(self._own)
        record = self._template._tree.new_record(in_lanes=True, own_parameters=own)
        for name, array in self._template._own.items():
            record.share(name, in_each_lane(array) if own and name in PARAMETERS else array)
        return record

    def _realize_one_by_one(self, stage: Stage) -> None:
        """A system with Python's own parts: each state for itself."""
        self._failed[:] = 0.0
        for i in range(self._n):
            state = self._state(i)
            try:
                self._system.realize(state, stage)
            except (ModelError, ConvergenceError):
                self._failed[i] = 1.0
                self._u_dot[i] = self._particle_accelerations[i] = np.nan
                continue
            if stage >= Stage.ACCELERATION:
                self._u_dot[i] = state.u_dot
                self._particle_accelerations[i] = state._record.particle_acceleration[:, 0]

    def _state(self, i: int) -> State:
        state = self._template.copy()
        self._put_own(state, i)
        if self._own:  # a shortcut of this state alone is worth nothing: those of all are right for it
            for b in np.flatnonzero(state._field("massless")):
                state._leave_out("massless", int(b), True)
        state.time, state.q, state.u, state.z = self._time[i, 0], self._q[i], self._u[i], self._z[i]
        state._record.particle_location[:, 0], state._record.particle_velocity[:, 0] = np.split(self._particles[i], 2)
        return state

    def get_state(self, i: int) -> State:
        """State number *i* as a `State` of its own, not realized."""
        if not -self._n <= i < self._n:
            raise IndexError(f"the ensemble has {self._n} states; there is no number {i}")
        return self._state(i % self._n)

    # ------------------------------------------------------------------------------------------ results

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Which states are not finite ``(n,)``, as of the last `realize`."""
        return self._failed[: self._n, 0] != 0.0

    def _need(self, asked: str, stage: Stage) -> None:
        if self._stage < stage:
            raise StageError(
                f"{asked} needs Stage.{stage.name}; this ensemble is at {self._stage.name}; "
                f"call ensemble.realize(Stage.{stage.name})"
            )

    def _collected(self, asked: str, stage: Stage, what: int, columns: int) -> Array:
        """A result that `realize` does not keep for every state: computed once more when it is first asked for."""
        self._need(asked, stage)
        found = self._results.get(what)
        if found is None:
            found = np.zeros((self._groups * LANES, columns))
            if self._system._needs_states:
                self._collect_one_by_one(what, stage, found)
            else:
                address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
                wanted, data = _WANTED[stage], (self._own_places, *self._variables)

                def work(record: Record, begin: int, end: int) -> None:
                    batch.collect(record, address, wanted, begin, end, what, *data, found)

                self._share_out(work, self._threads, self._whole_workers, self._whole_record)
            self._results[what] = found
        return _read_only(found[: self._n])

    def _collect_one_by_one(self, what: int, stage: Stage, out: Array) -> None:
        for i in np.flatnonzero(~self.failed):
            state = self._state(int(i))
            self._system.realize(state, stage)
            record = state._record
            if what == batch.BODY_TRANSFORMS:
                X = out[i].reshape(-1, 4, 4)
                X[:, :3, :3], X[:, :3, 3] = record.R_GB.reshape(-1, 3, 3), record.p_GB
            else:
                fields = {
                    batch.Q_DOT: record.q_dot,
                    batch.Q_DOT_DOT: record.q_dot_dot,
                    batch.Z_DOT: record.z_dot,
                    batch.BODY_VELOCITIES: record.V_GB,
                    batch.BODY_ACCELERATIONS: record.A_GB,
                }
                out[i] = fields[what].ravel()

    @property
    def u_dot(self) -> Array:
        """Accelerations ``(n, nu)``, which keep constraints; NaN or infinite where `failed`. Needs ACCELERATION."""
        self._need("u_dot", Stage.ACCELERATION)
        return _read_only(self._u_dot[: self._n])

    @property
    def particle_accelerations(self) -> Array:
        """Accelerations of the particles ``(n, np, 3)``, in Ground. Needs ACCELERATION."""
        self._need("particle_accelerations", Stage.ACCELERATION)
        return _read_only(self._particle_accelerations[: self._n].reshape(self._n, -1, 3))

    @property
    def q_dot(self) -> Array:
        """Rates of q ``(n, nq)``. Needs VELOCITY."""
        return self._collected("q_dot", Stage.VELOCITY, batch.Q_DOT, self._q.shape[1])

    @property
    def q_dot_dot(self) -> Array:
        """Second rates of q ``(n, nq)``. Needs ACCELERATION."""
        return self._collected("q_dot_dot", Stage.ACCELERATION, batch.Q_DOT_DOT, self._q.shape[1])

    @property
    def z_dot(self) -> Array:
        """Rates of z ``(n, nz)``. Needs DYNAMICS."""
        self._need("z_dot", Stage.DYNAMICS)
        if not self._z.shape[1]:
            return np.zeros((self._n, 0))
        return self._collected("z_dot", Stage.DYNAMICS, batch.Z_DOT, self._z.shape[1])

    @property
    def body_transforms(self) -> Array:
        """X_GB of every body ``(n, nb, 4, 4)``. Needs POSITION."""
        nb = self._template._tree.nb
        flat = self._collected("body_transforms", Stage.POSITION, batch.BODY_TRANSFORMS, 16 * nb)
        X = flat.reshape(self._n, nb, 4, 4).copy()
        X[:, :, 3, 3] = 1.0
        return X

    @property
    def body_velocities(self) -> Array:
        """V_GB of every body ``(n, nb, 2, 3)``. Needs VELOCITY."""
        nb = self._template._tree.nb
        flat = self._collected("body_velocities", Stage.VELOCITY, batch.BODY_VELOCITIES, 6 * nb)
        return flat.reshape(self._n, nb, 2, 3)

    @property
    def body_accelerations(self) -> Array:
        """A_GB of every body ``(n, nb, 2, 3)``. Needs ACCELERATION."""
        nb = self._template._tree.nb
        flat = self._collected("body_accelerations", Stage.ACCELERATION, batch.BODY_ACCELERATIONS, 6 * nb)
        return flat.reshape(self._n, nb, 2, 3)

    # ------------------------------------------------------------------------------------------ constraints

    @property
    def q_err(self) -> Array:
        """Position errors of the constraints, then norm - 1 of each quaternion ``(n, ...)``. Needs POSITION.

        Here and in the two below, subsystems' own follow as in `State.q_err`, with NaN in states that have failed.
        """
        if self._has_subsystems:
            return self._errors_of_subsystems("q_err")
        quaternions = [self._template._tree.first_q[b] for b in self._template._tree.quaternions]
        norms = [np.linalg.norm(self._q[: self._n, q : q + 4], axis=1) - 1.0 for q in quaternions]
        return np.concatenate([self._errors("q_err"), np.reshape(norms, (len(norms), self._n)).T], axis=1)

    @property
    def u_err(self) -> Array:
        """Velocity errors of the constraints ``(n, mp + mv)``. Needs VELOCITY."""
        return self._errors_of_subsystems("u_err") if self._has_subsystems else self._errors("u_err")

    @property
    def multipliers(self) -> Array:
        """Multipliers of the constraints ``(n, m)``, in the order of `State.multipliers`. Needs ACCELERATION."""
        return self._errors_of_subsystems("multipliers") if self._has_subsystems else self._errors("multipliers")

    @property
    def _has_subsystems(self) -> bool:
        """Whether subsystems of users' own may have errors beside those of constraints."""
        return self._system._is_interpreted and self._template._resources is not None

    def _errors_of_subsystems(self, name: str) -> Array:
        """Errors or multipliers of constraints and subsystems, each state's for itself."""
        place, stage, _ = _ERRORS[name]
        self._need(name, stage)
        found = self._results.get(place)
        if found is None:
            rows = {}
            for i in np.flatnonzero(~self.failed):
                state = self._state(int(i))
                self._system.realize(state, stage)
                rows[i] = getattr(state, name)
            lengths = {len(row) for row in rows.values()} or {0}
            if len(lengths) > 1:
                raise ModelError(f"states of an ensemble have {name} of one length, not of {sorted(lengths)}")
            found = np.full((self._groups * LANES, lengths.pop()), np.nan)
            for i, row in rows.items():
                found[i] = row
            self._results[place] = found
        return _read_only(found[: self._n])

    def _errors(self, name: str) -> Array:
        """Errors or multipliers of constraints, computed when they are first asked for."""
        place, stage, what = _ERRORS[name]
        self._need(name, stage)
        template = self._template
        tree, enabled = template._tree, template._field("constraint_enabled")
        p, v, a = (int(tree.fields[kind][enabled == 1].sum()) for kind in ("num_p", "num_v", "num_a"))
        rows = order_of_rows(tree, enabled)[: {"q_err": p, "u_err": p + v, "multipliers": p + v + a}[name]]
        found = self._results.get(place)
        if found is None:
            found = np.zeros((self._groups * LANES, tree.counts["num_rows"]))
            if self._system._is_interpreted:
                for i in np.flatnonzero(~self.failed):
                    state = self._state(int(i))
                    self._system.realize(state, stage)
                    found[i, rows] = state._matters_own(name)[: len(rows)]
            elif len(rows):
                address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
                data = self._own_places, *self._variables

                def work(record: Record, begin: int, end: int) -> None:
                    batch_constraints.collect(record, address, _WANTED[stage], begin, end, what, *data, found)

                self._share_out(work, self._threads, self._whole_workers, self._whole_record)
            self._results[place] = found
        return _read_only(found[: self._n][:, rows])

    def project(self, accuracy: float = 1e-8) -> npt.NDArray[np.bool_]:
        """Bring q and u of every state to what is prescribed and to their manifolds: constraints and quaternions.

        Each state goes its own way, as `MultibodySystem.project` would take it, eight at a time on each thread. The ensemble
        then is at INSTANCE at most.

        Parameters
        ----------
        accuracy : float
            The largest error of positions and of velocities left; quaternions are normalized to rounding.

        Returns
        -------
        (n,) bool array
            Which states reached that. The others keep their q and u.

        Raises
        ------
        ValueError
            If *accuracy* is not positive.
        TopologyError
            If the system was changed after the ensemble was made.
        ModelError
            If a motion cannot be followed.
        """
        self._template._check_owner(self._system, "Ensemble.project")
        if not accuracy > 0.0:
            raise ValueError(f"accuracy has to be positive, got {accuracy}")
        q, u, failed = self._q.copy(), self._u.copy(), np.zeros((self._groups * LANES, 1))
        if self._system._is_interpreted:
            for i in range(self._n):
                state = self._state(i)
                try:
                    self._system.project(state, accuracy)
                except (ModelError, ConvergenceError):
                    failed[i] = 1.0
                q[i], u[i] = state.q, state.u
        else:
            self._project_in_lanes(accuracy, q, u, failed)
        reached: npt.NDArray[np.bool_] = failed[:, 0] == 0.0
        self._q[reached], self._u[reached] = q[reached], u[reached]
        self._stage, self._results = min(self._stage, Stage.INSTANCE), {}
        return reached[: self._n].copy()

    def _project_in_lanes(self, accuracy: float, q: Array, u: Array, failed: Array) -> None:
        template, lanes = self._template, {"in_lanes": True, "own_parameters": bool(self._own)}
        if template._resources is not None and template._resources.weights:
            share_weights(template)
            self._whole_workers = []
        if template._has_known:
            prescribing.check(self._system, template)
        address = _realize.advance.address(**lanes)
        prescriber = prescribe.prescribe.address(**lanes) if template._has_known else 0
        projector = _project.project.address(**lanes) if template._num_matter_errors("u_err") else 0
        tolerances, data = np.full((self._groups * LANES, 1), accuracy), (self._own_places, *self._variables)

        def work(record: Record, begin: int, end: int) -> None:
            addresses = address, prescriber, projector
            batch_constraints.project(record, *addresses, begin, end, *data, tolerances, q, u, failed)

        self._share_out(work, self._threads, self._whole_workers, self._whole_record)

    # ------------------------------------------------------------------------------------------ operators

    def _operate(
        self,
        asked: str,
        stage: Stage,
        kernel: Any,
        given: dict[str, Array],
        out: tuple[int, ...],
        *,
        before: tuple[Any, ...] = (),
        scratch: tuple[tuple[int, ...], ...] = (),
        alone: Callable[[State, list[Array]], Any],
    ) -> Array:
        """An operator on every state, realized anew on the way: in lanes, or state by state where Python has parts in it.

        Parameters
        ----------
        asked : str
            The operator's name.
        stage : Stage
            What it needs.
        kernel : Kernel
            Of `batch_operators`. It takes, after the states, *before*, the arguments, fields of lanes for each of them and of
            the shapes in *scratch*, a field for the result, the result.
        given : dict of str to (n, ...) array
            One row a state.
        out : tuple of int
            The shape of one state's result.
        alone : callable
            ``alone(state, arguments)``: the operator on one state.
        """
        self._need(asked, stage)
        self._template._check_owner(self._system, asked)
        if self._system._needs_states:
            result = np.full((self._n, *out), np.nan)
            for i in range(self._n):
                state = self._state(i)
                try:
                    self._system.realize(state, stage)
                except (ModelError, ConvergenceError):
                    continue
                result[i] = alone(state, [array[i] for array in given.values()])
            return result
        padded = self._groups * LANES
        arguments = []
        for array in given.values():
            rows = np.zeros((padded, array[0].size))
            rows[: self._n] = array.reshape(self._n, -1)
            arguments.append(rows)
        shapes = [(array.shape[1], 1) if array.ndim == 2 else (len(array[0]), array[0][0].size) for array in given.values()]
        field = (out[0], 1) if len(out) == 1 else (out[0], int(np.prod(out[1:])))
        found = np.zeros((padded, field[0] * field[1]))
        address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
        states = self._own_places, *self._variables

        def work(record: Record, begin: int, end: int) -> None:
            lanes = [np.zeros((*shape, LANES)) for shape in (*shapes, *scratch, field)]
            kernel(record, address, begin, end, *states, *before, *arguments, *lanes, found)

        self._share_out(work, self._threads, self._whole_workers, self._whole_record)
        return found[: self._n].reshape(self._n, *out)

    def _rows(self, what: str, value: npt.ArrayLike | None, shape: tuple[int, ...]) -> Array:
        """An argument ``(n, ...)``: one a state, or one for all; zeros for None or an empty array."""
        if value is None:
            return np.zeros((self._n, *shape))
        array = numbers(what, value)
        if array.size == 0:
            return np.zeros((self._n, *shape))
        if array.shape not in (shape, (self._n, *shape)):
            raise ValueError(f"{what} has shape {(self._n, *shape)}, or {shape} for all states alike; got {array.shape}")
        return np.broadcast_to(array, (self._n, *shape))

    def _tasks(self, on_body_b: Any, stations: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], Array, bool]:
        """Bodies, stations in lanes that are all alike, and whether it was one task given bare."""
        bodies, points, bare = self._system.matter._tasks(on_body_b, stations)
        return bodies, np.repeat(points[:, :, None], LANES, axis=2), bare

    def calc_m(self) -> Array:
        """The mass matrix of every state's tree ``(n, nu, nu)``. Needs POSITION.

        Constraints have no part in it, nor in the other operators: `u_dot`, `multipliers` and `project` honour them. All
        operators compute positions anew, eight states at a time, and on as many threads as `realize` uses; results of states
        that are not finite are not finite either.

        Raises
        ------
        StageError
            If the ensemble is below the stage that the operator needs.
        TopologyError
            If the system was changed after the ensemble was made.

        See Also
        --------
        SimbodyMatterSubsystem.calc_m : the same of one state.
        """
        nu, matter = self._template._tree.nu, self._system.matter
        return self._operate(
            "calc_m",
            Stage.POSITION,
            batch_operators.calc_m,
            {},
            (nu, nu),
            scratch=(self._column_scratch(),),
            alone=lambda state, _: matter.calc_m(state),
        )

    def calc_m_inv(self) -> Array:
        """The inverse of the mass matrix of every state ``(n, nu, nu)``. Needs POSITION. See `calc_m`."""
        nu, matter = self._template._tree.nu, self._system.matter
        return self._operate(
            "calc_m_inv",
            Stage.POSITION,
            batch_operators.calc_m_inv,
            {},
            (nu, nu),
            scratch=(self._column_scratch(),),
            alone=lambda state, _: matter.calc_m_inv(state),
        )

    def _column_scratch(self) -> tuple[int, int]:
        tree = self._template._tree
        return columns.scratch_rows(tree.nu, tree.num_slots), max(tree.nu, 1)

    def multiply_by_m(self, a: npt.ArrayLike) -> Array:
        """M a of every state ``(n, nu)``. Needs POSITION. See `calc_m`.

        Parameters
        ----------
        a : (n, nu) array_like
            One vector a state, or ``(nu,)`` for all.

        Raises
        ------
        ValueError
            If *a* has another shape.
        """
        nu, matter = self._template._tree.nu, self._system.matter
        return self._operate(
            "multiply_by_m",
            Stage.POSITION,
            batch_operators.multiply_by_m,
            {"a": self._rows("a", a, (nu,))},
            (nu,),
            alone=lambda state, given: matter.multiply_by_m(state, *given),
        )

    def multiply_by_m_inv(self, v: npt.ArrayLike) -> Array:
        """M^-1 v of every state ``(n, nu)``, v ``(n, nu)`` or ``(nu,)`` for all. Needs POSITION. See `calc_m`."""
        nu, matter = self._template._tree.nu, self._system.matter
        return self._operate(
            "multiply_by_m_inv",
            Stage.POSITION,
            batch_operators.multiply_by_m_inv,
            {"v": self._rows("v", v, (nu,))},
            (nu,),
            alone=lambda state, given: matter.multiply_by_m_inv(state, *given),
        )

    def calc_residual_force_ignoring_constraints(
        self,
        applied_mobility_forces: npt.ArrayLike | None = None,
        applied_body_forces: npt.ArrayLike | None = None,
        known_udot: npt.ArrayLike | None = None,
    ) -> Array:
        """Inverse dynamics of every state ``(n, nu)``: the generalized forces missing for *known_udot*. Needs VELOCITY.

        Forces of constraints are among what is missing.

        Parameters
        ----------
        applied_mobility_forces : (n, nu) array_like, optional
            Of every state, or ``(nu,)`` for all; zero where None or empty, as the others.
        applied_body_forces : (n, nb, 2, 3) array_like, optional
            At the bodies' origins, in Ground; or ``(nb, 2, 3)`` for all. Ground's row is ignored.
        known_udot : (n, nu) array_like, optional
            Or ``(nu,)`` for all.

        Raises
        ------
        ValueError
            If an argument has another shape.

        See Also
        --------
        SimbodyMatterSubsystem.calc_residual_force_ignoring_constraints : the same of one state.
        calc_m : on what all operators of an ensemble share.
        """
        nu, nb, matter = self._template._tree.nu, self._template._tree.nb, self._system.matter
        given = {
            "f": self._rows("applied_mobility_forces", applied_mobility_forces, (nu,)),
            "F": self._rows("applied_body_forces", applied_body_forces, (nb, 2, 3)),
            "udot": self._rows("known_udot", known_udot, (nu,)),
        }
        return self._operate(
            "calc_residual_force_ignoring_constraints",
            Stage.VELOCITY,
            batch_operators.calc_residual_force,
            given,
            (nu,),
            alone=lambda state, given: matter.calc_residual_force_ignoring_constraints(state, *given),
        )

    def multiply_by_station_jacobian(self, on_body_b: Any, station_p_in_b: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        """Velocities of stations that speeds *u* would give, of every state ``(n, nt, 3)``. Needs POSITION.

        Parameters
        ----------
        on_body_b : body or sequence of nt bodies
            As for a single state; the same for all.
        station_p_in_b : (3,) or (nt, 3) array_like
        u : (n, nu) array_like
            Or ``(nu,)`` for all.

        Returns
        -------
        (n, nt, 3) array, or (n, 3) for one bare task
        """
        return self._times_frame_jacobian("multiply_by_station_jacobian", on_body_b, station_p_in_b, u)[..., 1, :].copy()

    def multiply_by_frame_jacobian(self, on_body_b: Any, origin_ao_in_b: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        """Velocities of frames that speeds *u* would give: ``(n, nt, 2, 3)``, or ``(n, 2, 3)`` for one bare. Needs POSITION."""
        return self._times_frame_jacobian("multiply_by_frame_jacobian", on_body_b, origin_ao_in_b, u)

    def _times_frame_jacobian(self, asked: str, on_body_b: Any, stations: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        bodies, points, bare = self._tasks(on_body_b, stations)
        nu, matter = self._template._tree.nu, self._system.matter
        V = self._operate(
            asked,
            Stage.POSITION,
            batch_operators.multiply_by_frame_jacobian,
            {"u": self._rows("u", u, (nu,))},
            (len(bodies), 2, 3),
            before=(bodies, points),
            alone=lambda state, given: matter.multiply_by_frame_jacobian(state, bodies, points[..., 0], *given),
        )
        return V[:, 0] if bare else V

    def calc_station_jacobian(self, on_body_b: Any, station_p_in_b: npt.ArrayLike) -> Array:
        """The Jacobian of stations, of every state ``(n, 3*nt, nu)``, rows task by task. Needs POSITION. See `calc_m`."""
        return self._frame_jacobian("calc_station_jacobian", on_body_b, station_p_in_b, 3)

    def calc_frame_jacobian(self, on_body_b: Any, origin_ao_in_b: npt.ArrayLike) -> Array:
        """The Jacobian of frames, of every state ``(n, 6*nt, nu)``, rows task by task, angular first. Needs POSITION."""
        return self._frame_jacobian("calc_frame_jacobian", on_body_b, origin_ao_in_b, 6)

    def _frame_jacobian(self, asked: str, on_body_b: Any, stations: npt.ArrayLike, rows: int) -> Array:
        bodies, points, _ = self._tasks(on_body_b, stations)
        matter = self._system.matter
        return self._operate(
            asked,
            Stage.POSITION,
            batch_operators.calc_frame_jacobian,
            {},
            (rows * len(bodies), self._template._tree.nu),
            before=(bodies, points, rows),
            alone=lambda state, _: matter._frame_jacobian(state, asked, bodies, points[..., 0].copy(), rows),
        )

    def calc_bias_for_station_jacobian(self, on_body_b: Any, station_p_in_b: npt.ArrayLike) -> Array:
        """Accelerations of stations if udot were zero: ``(n, nt, 3)``, or ``(n, 3)`` for one bare task. Needs VELOCITY."""
        return self._frame_bias("calc_bias_for_station_jacobian", on_body_b, station_p_in_b)[..., 1, :].copy()

    def calc_bias_for_frame_jacobian(self, on_body_b: Any, origin_ao_in_b: npt.ArrayLike) -> Array:
        """Accelerations of frames if udot were zero: ``(n, nt, 2, 3)``, or ``(n, 2, 3)`` for one bare task. Needs VELOCITY."""
        return self._frame_bias("calc_bias_for_frame_jacobian", on_body_b, origin_ao_in_b)

    def _frame_bias(self, asked: str, on_body_b: Any, stations: npt.ArrayLike) -> Array:
        bodies, points, bare = self._tasks(on_body_b, stations)
        matter = self._system.matter
        bias = self._operate(
            asked,
            Stage.VELOCITY,
            batch_operators.calc_bias_for_frame_jacobian,
            {},
            (len(bodies), 2, 3),
            before=(bodies, points),
            alone=lambda state, _: matter.calc_bias_for_frame_jacobian(state, bodies, points[..., 0]),
        )
        return bias[:, 0] if bare else bias


def _changes(state: State) -> dict[tuple[int, int], int]:
    """How often each of the subsystems' discrete variables has been changed."""
    if state._resources is None:
        return {}
    parts = state._resources.parts.items()
    return {(i, k): variable.changes for i, part in parts for k, variable in enumerate(part.variables)}


def _count(threads: int) -> int:
    if int(threads) != threads or threads < 1:
        raise ValueError(f"threads has to be 1 or more, got {threads}")
    return int(threads)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
