"""Parameters and discrete variables with a value of their own in each of many states."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES, aligned_zeros, in_each_lane, layout
from ..errors import MobodError
from ..mobilizer.base import MobilizedBody
from ..state.fields import PARAMETERS, SHORTCUTS
from ..state.of_each import Rows, caller_of, rows_of
from ..state.resources import own_copy
from ..state.state import State
from ..value import MassProperties, Transform
from ..value.checks import integer
from ..value.stage import Stage
from .overrides import Overrides, find_overrides, is_plain
from .resetting import Resetting
from .states import memory_of, remember, self_updating

#: What fields that are no numbers say, for messages.
_SHARED = {
    "force_enabled": "which forces are disabled",
    "force_integers": "the choices of forces, such as which bodies gravity leaves out or how many chains a thermostat has",
    "lock_level": "which mobilizers are locked",
    "motion_enabled": "which motions are disabled",
    "constraint_enabled": "which constraints are disabled",
    "constraint_integers": "the choices of constraints",
}


class OwnValues(Resetting):
    """The part of `Ensemble` that lets states differ in parameters."""

    __slots__ = ()

    def set_each(self, setter: Callable[[State, Any], object], values: Iterable[Any]) -> None:
        """Give each state its own value of an Instance variable; the ensemble falls to MODEL at most.

        Parameters
        ----------
        setter : callable
            ``setter(state, value)``: any method that changes numbers of a state at Instance level, such as
            ``body.set_body_mass_properties``, ``body.set_rotor_inertia``, ``screw.set_pitch`` or ``gravity.set_magnitude``, or
            a function of one's own that calls several. Discrete variables of users' subsystems may be set too, by
            ``upd_discrete_variable``.
        values : (n, ...) array_like, or iterable
            One a state. Arrays are fastest, of the numbers that the setter takes: ``(n,)``, vectors ``(n, 3)``, frames
            ``(n, 4, 4)``, ``(n, 3, 3)`` or ``(n, 3)``. Mass properties are ten numbers: mass, mass center, and the inertia
            about the origin, xx, yy, zz, xy, xz, yz. Where a setter takes two numbers or a material, a row has them all.

        Raises
        ------
        ValueError
            If there is not a value for each, or the setter changes what states of an ensemble share (whether a force is
            disabled, weights, what invalidates MODEL) or what is assigned instead (time, q, u, z).
        TypeError
            If it changes a default, as ``set_default_stiffness`` does.
        Exception
            Any error of the setter, with a note that names the state. All states are then as they were.

        Notes
        -----
        With parameters of their own, welded bodies are not lumped and gravity is swept as a force: computing takes up to half
        as long again, and longer with many welds. A setter of the package takes an array in one go, in less than 0.2 us a
        state; a function of one's own is called once a state. Discrete forces, such as ``actuators.set_efforts``, lower the
        ensemble to VELOCITY only.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> body = system.matter.bodies[1]
        >>> ensemble = mb.Ensemble(system, 100, state=state)
        >>> ensemble.set_each(body.set_inboard_frame, [mb.Transform((0, y, 0)) for y in np.linspace(0, 1, 100)])
        """
        if not callable(setter):
            raise TypeError(f"setter is a method such as body.set_rotor_inertia, not called, or a function; got {setter!r}")
        if not isinstance(values, Iterable) or (isinstance(values, np.ndarray) and not values.ndim):
            raise TypeError(f"values has one for each of {self._n} states, such as an array ({self._n}, ...); got {values!r}")
        each: Any = values if isinstance(values, np.ndarray) else list(values)
        if len(each) != self._n:
            raise ValueError(f"each of {self._n} states needs a value; there are {len(each)}")
        self._template.check_owner(self._system, "Ensemble.set_each")
        all_overrides = self._overrides_after(setter, each)
        given = rows_of(setter, self._template, each, self._present)
        if given is None:
            self._set_one_by_one(setter, each)
        elif given.typical is None:
            self._take_rows(given)
        else:
            scratch = self._template.copy()
            setter(scratch, given.typical)
            self._check_shared(scratch)
            shortcuts = {name: scratch.field(name) & self._template.field(name) for name in SHORTCUTS}
            self._take_rows(given)
            self._take_shortcuts(shortcuts)
        self._overrides.update(all_overrides)

    def _overrides_after(self, setter: Callable[[State, Any], object], each: Sequence[Any]) -> dict[int, Overrides]:
        """The own parameters, after the setter, of the states that have some."""
        call, found = caller_of(setter), {}
        for i, before in self._overrides.items():
            state = self._state(i)
            try:
                call(setter, state, each[i])
            except Exception as error:
                error.add_note(f"this is for state {i} of the ensemble, whose value is {each[i]!r}")
                raise
            found[i] = Overrides.of(state, bool(before.settings))
        return found

    def _present(self, field: str, places: slice) -> Array:
        """Numbers of a field of one column, as the states have them: ``(rows, n)``."""
        lanes = self._own.get(field)
        if lanes is None:
            return np.repeat(self._template.field(field)[places, :1], self._n, axis=1)
        run = lanes[:, places, 0]  # (groups, rows, 8)
        return run.transpose(1, 0, 2).reshape(run.shape[1], -1)[:, : self._n]

    def _take_rows(self, given: Rows) -> None:
        """Take numbers of some fields for each state; the ensemble falls below what they invalidate."""
        for field, places, numbers in given.fields:
            if field not in self._own:
                self._have_own({field: self._own_of_each(field)})
            padded = np.empty((self._groups * LANES, *numbers.shape[1:]))
            padded[: self._n], padded[self._n :] = numbers, numbers[-1]
            self._own[field][:, places] = padded.reshape(self._groups, LANES, *numbers.shape[1:]).transpose(0, 2, 3, 1)
        if given.variables:
            self._of_subsystems = {**self._of_subsystems, **{key: list(each) for key, each in given.variables.items()}}
        self._own_changes += 1
        self._changed(Stage(given.invalidates - 1))

    def _take_shortcuts(self, shortcuts: dict[str, npt.NDArray[Any]]) -> None:
        """Choose the short forms of sweeps that hold for all states."""
        template = self._template
        for name, flags in shortcuts.items():
            if not np.array_equal(flags, template.field(name)):
                template.own_field(name)[:] = flags
                self._workers, self._whole_workers = [], []
                self._find_own()  # a new table, so that plans of steps are made anew

    def _set_one_by_one(self, setter: Callable[[State, Any], object], each: Sequence[Any]) -> None:
        """Call the setter for a copy of each state, and see what it has changed."""
        template, call = self._template, caller_of(setter)
        scratch, changed, of_subsystems = template.copy(), {}, dict(self._of_subsystems)
        copied, memory = set(), self._memory.copy()
        shortcuts = {name: np.full(template.tree.nb, -1) for name in SHORTCUTS}
        for i, value in enumerate(each):
            if template.resources is not None:
                scratch = template.copy()
            self._put_own(scratch, i)
            remember(scratch.record, memory[i])
            before = _changes(scratch)
            try:
                call(setter, scratch, value)
                self._check_shared(scratch)
            except Exception as error:
                error.add_note(f"this is for state {i} of the ensemble, whose value is {value!r}")
                raise
            for name, array in scratch.own_fields.items():
                if name in PARAMETERS:
                    if name not in changed:
                        changed[name] = self._own_of_each(name)
                    changed[name][i // LANES, ..., i % LANES] = array
            for key in [key for key, count in _changes(scratch).items() if count != before.get(key)]:
                assert template.resources is not None and scratch.resources is not None
                shared = template.resources.part(key[0]).variables[key[1]].value
                if key not in copied:
                    of_subsystems[key] = list(of_subsystems.get(key, [shared] * self._n))
                    copied.add(key)
                of_subsystems[key][i] = scratch.resources.part(key[0]).variables[key[1]].value
            memory[i] = memory_of(scratch.record)
            for name, flags in shortcuts.items():
                flags &= scratch.field(name)
        self._memory[...] = memory
        self._take_shortcuts(shortcuts)
        self._of_subsystems = of_subsystems
        self._have_own(changed)

    def _have_own(self, changed: dict[str, Array]) -> None:
        """Take fields with a value for each state; the ensemble falls to MODEL at most."""
        for array in changed.values():  # the padding of the last group has to be finite
            last = self._n - 1
            array[-1, ..., last % LANES + 1 :] = array[-1, ..., last % LANES, None]
        self._own.update(changed)
        self._find_own()
        self._stage, self._results = min(self._stage, Stage.MODEL), {}
        self._workers, self._whole_workers = [], []

    def _find_own(self) -> None:
        """Make the table of the states' own parameters that `batch.fill` takes."""
        places = [(layout.places[name], a.ctypes.data, a.strides[0]) for name, a in self._own.items()]
        self._own_places = np.array(places, np.int64).reshape(-1, 3)

    def set_body_mass_properties(self, body: MobilizedBody, mass_properties: Iterable[MassProperties]) -> None:
        """Give the body other mass properties in each state; see `set_each`."""
        self.set_each(self._body(body).set_body_mass_properties, mass_properties)

    def set_inboard_frame(self, body: MobilizedBody, X_PF: Iterable[Transform]) -> None:
        """Put the frame F of the body's mobilizer elsewhere on the parent in each state; see `set_each`."""
        self.set_each(self._body(body).set_inboard_frame, X_PF)

    def set_outboard_frame(self, body: MobilizedBody, X_BM: Iterable[Transform]) -> None:
        """Put the frame M of the body's mobilizer elsewhere on the body in each state; see `set_each`."""
        self.set_each(self._body(body).set_outboard_frame, X_BM)

    def _body(self, body: MobilizedBody) -> MobilizedBody:
        """*body*, if it is one of the system's."""
        return self._system.get_matter_subsystem().find_body(body)

    def _restore(
        self,
        variables: Sequence[Array],
        own: Mapping[str, Array],
        of_subsystems: dict[tuple[int, int], Any],
        all_overrides: dict[int, Overrides],
    ) -> None:
        """Take what a pickle has of each state: variables, what controllers remember and `failed`; parameters, overrides."""
        for part, value in zip((*self._variables, self._failed), variables, strict=True):
            part[: self._n] = value
        for name, array in own.items():
            self._own[name] = aligned_zeros(*array.shape)
            self._own[name][...] = array
        self._find_own()
        self._of_subsystems, self._overrides = of_subsystems, all_overrides

    def _own_of_each(self, name: str) -> Array:
        """A copy of a field as each state has it."""
        if name not in self._own:
            return in_each_lane(self._template.field(name), self._groups)
        copy = aligned_zeros(*self._own[name].shape)
        copy[...] = self._own[name]
        return copy

    def _put_own(self, state: State, i: int, overridden: bool = False) -> None:
        """Set the parameters of state *i*, and no others, in a copy of the template; if *overridden*, its overrides, too."""
        for name, array in self._template.own_fields.items():
            state.own_field(name)[...] = array
        for name in [name for name in state.own_fields if name not in self._template.own_fields]:
            state.own_field(name)[...] = self._template.field(name)
        for name, lanes in self._own.items():
            state.own_field(name)[...] = lanes[i // LANES, ..., i % LANES]
        overrides = self._overrides.get(i) if overridden else None
        if overrides is not None:
            overrides.put_fields(state)
        resources = state.resources
        for (subsystem, index), values in self._of_subsystems.items():
            assert resources is not None
            variable = resources.change(subsystem, index, state.time)
            variable.value = own_copy(values[i], self._system)
            state.invalidate_from(variable.invalidates)
        if overrides is not None:
            state.take_settings(overrides.settings)

    def _keep_overrides(self, i: int, state: State) -> None:
        """Keep the overrides of *state*, where a run of state *i* has ended, of what the states share."""
        if not (self._overrides or self._own) and is_plain(state) and is_plain(self._template):
            return
        overrides = self._overrides_of(i, state)
        if overrides is not None:
            self._overrides[i] = overrides
        else:
            self._overrides.pop(i, None)

    def _overrides_of(self, i: int, state: State) -> Overrides | None:
        """The overrides of *state*, of the run of state *i*, of what the states share."""
        if self._shared is None:
            shared = self._template.copy()
            with contextlib.suppress(MobodError):  # each of the runs says so
                self._system.realize(shared, Stage.INSTANCE)
            self._shared = shared
        own = {name: lanes[i // LANES, ..., i % LANES] for name, lanes in self._own.items()}
        return find_overrides(state, self._shared, own, self._of_subsystems, self._overrides.get(i))

    def _keep_memory(self, i: int, state: State) -> None:
        """Store the discrete variables of *state* that update themselves, measures' in Python, as those of state *i*."""
        for key, variable in self_updating(state).items():
            if key not in self._of_subsystems:
                self._of_subsystems[key] = [self_updating(self._template)[key].value] * self._n
            self._of_subsystems[key][i] = own_copy(variable.value, self._system)

    def _check_shared(self, state: State) -> None:
        """Refuse changes that a setter may not make."""
        self._system.get_matter_subsystem().check_particle_masses(state)
        before = self._template
        weights = [{} if one.resources is None else one.resources.weights for one in (state, before)]
        if any(not np.array_equal(w, weights[1].get(name, np.ones(len(w)))) for name, w in weights[0].items()):
            raise ValueError("states of an ensemble share weights; set them in the state that the ensemble is made from")
        for name, array in state.own_fields.items():
            if name not in PARAMETERS and name not in SHORTCUTS and not np.array_equal(array, before.field(name)):
                what = _SHARED.get(name, name)
                raise ValueError(f"states of an ensemble share {what}; change that in the state that the ensemble is made from")
        if state.time != before.time or not np.array_equal(state.y, before.y, equal_nan=True):
            raise ValueError("set_each is for Instance variables; assign ensemble.time, q, u, z or particle_locations instead")
        if state.use_euler_angles != state.pending_euler_angles:
            raise ValueError("states of an ensemble share modelling choices; make the ensemble from a state with Euler angles")
        if state.stage < Stage.MODEL:
            raise ValueError(
                "states of an ensemble share variables that invalidate MODEL; make the ensemble from a state with another value"
            )

    def _state(self, i: int, overridden: bool = True) -> State:
        state = self._template.copy()
        self._put_own(state, i, overridden)
        if self._own and not (
            overridden and i in self._overrides
        ):  # flags of this state alone are of no use: those of all states are right for it
            for b in np.flatnonzero(state.field("massless")):
                state.leave_out("massless", int(b), True)
        self._put_variables(state, i)
        return state

    def _put_variables(self, state: State, i: int) -> None:
        state.time, state.q, state.u = self._time[i, 0], self._q[i], self._u[i]
        if self._z.shape[1]:
            state.z = self._z[i]
        if self._memory.shape[1]:
            remember(state.record, self._memory[i])
        if self.particles.shape[1]:
            state.record.particle_location[:, 0], state.record.particle_velocity[:, 0] = np.split(self.particles[i], 2)

    def _lend(self, i: int, anew: bool = True) -> State:
        """State *i*, not realized, until the next is lent: the same object again where states differ in variables alone.

        *Anew* where subsystems have resources, which those who are lent the state may change.
        """
        lent, template = self._lent, self._template
        if self._own or self._of_subsystems or i in self._overrides or (anew and template.resources is not None):
            return self._state(i)
        if lent is None or lent.own_fields.keys() != template.own_fields.keys():
            self._lent = self._state(i)
            return self._lent
        self._put_variables(lent, i)
        return lent

    def _lend_realized(self, i: int) -> State:
        """The same, realized: for handlers and reporters; of those that change more than variables the caller forgets it."""
        lent = self._lent
        if lent is None or self._has_more_than_plain(i, lent):
            lent = self._lend(i, anew=False)
            self._system.realize(lent)
        else:  # in one call
            lent.move_to(self._time.item(i, 0))
            self._system.realize(lent, q=self._q[i], u=self._u[i])
        return lent

    def _has_more_than_plain(self, i: int, lent: State) -> bool:
        """True if state *i* is more than q and u of the state that was lent last."""
        more = self._own or self._of_subsystems or self._z.shape[1] or self._memory.shape[1] or self.particles.shape[1]
        return bool(more) or i in self._overrides or lent.own_fields.keys() != self._template.own_fields.keys()

    def get_state(self, i: int) -> State:
        """State number *i* as a `State` of its own, not realized."""
        i = integer("i", i)
        if not -self._n <= i < self._n:
            raise IndexError(f"the ensemble has {self._n} states; there is no number {i}")
        return self._state(i % self._n)


def _changes(state: State) -> dict[tuple[int, int], int]:
    """Number of times that each of the subsystems' discrete variables has been changed."""
    if state.resources is None:
        return {}
    parts = state.resources.parts.items()
    return {(i, k): variable.changes for i, part in parts for k, variable in enumerate(part.variables)}
