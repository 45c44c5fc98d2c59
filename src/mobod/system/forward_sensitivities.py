"""Variations of a motion: how small changes of y = (q, u, z, r, v, c), and of numbers of the model, go on.

    delta y' = J delta y + B delta p          J = d(y')/dy, B = d(y')/dp, the rates being (N u, u_dot, z_dot, v, v_dot, 0)

r and v are of the particles; c is what controllers hold from one sample to the next: efforts, memories, the past of sensors.
Here q counts as it is stored, quaternions by their four numbers, so that a step is differentiated as it is taken.
On the manifold of constraints, and of quaternions, changes are projected as states are:

    q    dq += -N A P^T (P A P^T)^+ d(perr)        u    du += -W^-2 G^T (G W^-2 G^T)^+ d(verr)

with A and W as in `tree.project`. Source: Hairer, Norsett and Wanner 1993, I.14; Eich 1993.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..control.custom import controllers_of
from ..derivative import coordinates, differences, equations, laws, settings
from ..derivative.measures import Differentiated
from ..derivative.motions import of_prescribed_speeds
from ..derivative.parameters import by_settings
from ..derivative.settings import Setting
from ..errors import ModelError
from ..measure.integrate import Integrate
from ..measure.memory import Memory
from ..motion.protocol import POSITION, VELOCITY
from ..state.state import State
from ..tree import sampling
from ..value.checks import suggest
from ..value.stage import Stage

#: The parts of a matrix's largest singular value below which equations count as redundant.
_RANK = 1e-10


class Directions:
    """Parameters that a motion is differentiated by, a column each: initial values, and numbers of the model.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where the motion starts, at MODEL or above.
    wanted : sequence
        Each ``"q"``, ``"u"`` or ``"z"``: all initial displacements, speeds or auxiliary variables;
        ``"particle_locations"`` or ``"particle_velocities"``; ``"body.q"`` or
        ``"body.u"``: those of one mobilizer; or a parameter, as `settings.find` takes it.

    Attributes
    ----------
    names : list of str
    of_start : (nu + nu + nz + 6 np, n) array
        Changes of the initial (displacements, u, z, r, v).
    settings : list of Setting
        They have the last columns but are in order.
    of_settings : (n,) bool array
        Which columns are numbers of settings.
    scales : (n,) array
        How large the quantities are, or 1 where they are zero.
    """

    def __init__(self, system: Any, state: State, wanted: Sequence[Any]) -> None:
        self._state = state
        nu, nz = state.tree.nu, len(state.z_view)
        u_names = [
            name for body in system.get_matter_subsystem().body_list for name in body.name_each(state.tree.num_u[body.index])
        ]
        places = {"q": slice(0, nu), "u": slice(nu, 2 * nu), "z": slice(2 * nu, 2 * nu + nz)}
        first, size = 2 * nu + nz, state.tree.counts["particle_size"]
        if size:
            places |= {"particle_locations": slice(first, first + size)}
            places |= {"particle_velocities": slice(first + size, first + 2 * size)}
        whole, columns, scales = np.eye(first + 2 * size), [], []
        of_start = [f"{name}.{letter}" for letter in "qu" for name in u_names] + [f"z[{i}]" for i in range(nz)]
        of_start += [f"{name}[{p}].{axis}" for name in list(places)[3:] for p in range(size // 3) for axis in "xyz"]
        self.names: list[str] = []
        self.settings: list[Setting] = []
        of_settings: list[bool] = []
        if isinstance(wanted, str) or not isinstance(wanted, Sequence):
            raise TypeError(f"give a list of what to differentiate by, such as ['q', 'spring.stiffness'], not {wanted!r}")
        for one in wanted:
            at = _initial(system, state, one, places)
            if at is None:
                setting = settings.find(system, one)
                self.settings.append(setting)
                self.names += setting.names
                columns.append(np.zeros((len(whole), setting.size)))
                scales += [abs(value) or 1.0 for value in setting.values(state)]
                of_settings += [True] * setting.size
                continue
            columns.append(whole[:, at])
            self.names += of_start[at]
            scales += [1.0] * (at.stop - at.start)
            of_settings += [False] * (at.stop - at.start)
        self.of_start = np.hstack(columns) if columns else np.zeros((len(whole), 0))
        self.of_settings, self.scales = np.array(of_settings, bool), np.array(scales)
        measures = [one for subsystem in system.subsystems for one in subsystem.acting_measures if isinstance(one, Integrate)]
        begun, by_z = [one for one in measures if one.begins_with_a_measure(state)], self.of_start[places["z"]].any()
        #: Integrals that begin with a measure, where this has derivatives, or z that is given has none.
        self.begun = [one for one in begun if by_z or one.get_initial_condition_measure().depends_on(0) > Stage.TOPOLOGY]

    def __len__(self) -> int:
        return len(self.names)

    def scales_at(self, state: State) -> Array:
        """The scales of the quantities in another state."""
        found = np.array(self.scales, np.float64)
        sizes = [abs(value) or 1.0 for setting in self.settings for value in setting.values(state)]
        found[self.of_settings] = sizes
        return found

    def moved(self, state: State, weights: Array, h: float) -> State:
        """A copy of the state with each setting's number larger by h times its weight ``(n,)``."""
        other, k = state.copy(), np.flatnonzero(self.of_settings)
        at = 0
        for setting in self.settings:
            for i in range(setting.size):
                if weights[k[at]]:
                    other = setting.moved(other, i, h * float(weights[k[at]]))
                at += 1
        return other


def _refuse_own_memory(force: Any, state: State) -> None:
    """Refuse a law in Python that gives other efforts when it is called again: differences would be of anything."""
    if force.is_compiled:
        return
    once, again = state.copy(), state.copy()
    for other in (once, again):
        force.sample(other)
    if not np.array_equal(once.record.control_memory, again.record.control_memory, equal_nan=True):
        raise ModelError(
            f"the law of {force.name!r}, which Python calls, gives other numbers when it is called again at time "
            f"{state.time:.9g} with the same: it keeps something by itself, such as a counter or a list, which sensitivities "
            "do not follow; let it keep that in its memory"
        )


def _initial(system: Any, state: State, one: Any, places: dict[str, slice]) -> slice | None:
    """The rows of (displacements, u, z) that a name of initial values stands for; None where it is none."""
    if not isinstance(one, str):
        return None
    if one in places:
        return places[one]
    name, _, letter = one.rpartition(".")
    if letter not in ("q", "u") or not name:
        if "." not in one:
            raise ValueError(
                f"{one!r} is neither 'q', 'u' nor 'z', 'particle_locations' nor 'particle_velocities' where there are "
                "particles, which stand for initial values, nor 'element.parameter'; "
                f"{suggest(one, [body.name for body in system.get_matter_subsystem().body_list[1:]])}"
            )
        return None
    body = system.get_matter_subsystem().find_body(name)
    where, first = body.u_slice(state), places[letter].start
    return slice(first + where.start, first + where.stop)


class Variations:
    """Differentiates the rates of a system's y, and what projects it.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        One of the run, at MODEL or above.
    directions : Directions

    Attributes
    ----------
    num_integrated, ny : int
        How many numbers of y steps integrate, and how many there are with those that controllers hold.
    held : array of int
        Where in `control_memory` the numbers are that controllers hold: all but the counts.
    num_changes : int
        How many a change has that counts displacements by speeds, and by turns that no speed makes.

    Raises
    ------
    ModelError
        If the motion depends on what it does not follow: other subsystems' coordinates, bristles of friction, or measures
        that remember and are integrated.
    """

    def __init__(self, system: Any, state: State, directions: Directions) -> None:
        tree = state.tree
        self.system, self.directions = system, directions
        self.nq, self.nu, self.nz = tree.nq, tree.nu, len(state.z_view)
        self.num_particle_numbers = int(tree.counts["particle_size"])
        self.num_integrated = self.nq + self.nu + self.nz + 2 * self.num_particle_numbers
        #: Of displacements by speeds, and of the parts of y that are integrated.
        self.sizes = self.nu, self.nq, self.nu, self.nz, self.num_particle_numbers, self.num_particle_numbers
        self._controllers = [(c, force) for c, force in enumerate(controllers_of(system))]
        self.held = _held_places(self._controllers, len(state.record.control_memory))
        self.ny = self.num_integrated + len(self.held)
        #: How many numbers a displacement has here: those of speeds, then `coordinates.turns` that no speed makes.
        self.nv = self.nu + sum(
            max(0, n - (b in tree.quaternions) - k) for b, (n, k) in enumerate(zip(tree.num_q, tree.num_u, strict=True))
        )
        self.num_changes = self.ny - self.nq + self.nv
        self._measures: Differentiated | None = None
        #: Controllers whose laws are differentiated by differences, which has been said.
        self._noted: set[Any] = set()
        if len(state.q_view) > tree.nq or len(state.u_view) > tree.nu:
            raise ModelError(
                f"{system.name!r} has subsystems with coordinates of their own, whose motion has no sensitivities; those of "
                "mobilized bodies and particles have"
            )
        if tree.counts["bristle_rows"]:
            raise ModelError(
                f"bristles of friction in {system.name!r} remember each step, which sensitivities do not follow; take "
                "friction='stribeck'"
            )
        for one in (one for subsystem in system.subsystems for one in subsystem.own_measures):
            if isinstance(one, Integrate) and one.reads(Memory):
                raise ModelError(
                    f"{one!r} integrates what remembers its past at ends of steps, which sensitivities do not follow"
                )

    # ------------------------------------------------------------------------------------------ rates

    def rates(self, state: State) -> tuple[Array, Array]:
        """J ``(ny, ny)`` and B ``(ny, n)`` at a state at ACCELERATION."""
        nq, nu, nv, end = self.nq, self.nu, self.nv, self.num_integrated
        J, B = np.zeros((self.ny, self.ny)), np.zeros((self.ny, len(self.directions)))
        (N, back), turns = self.changes(state), coordinates.rates_by_q(state)
        by_changes, B[:end, self.directions.of_settings] = self._rates_by_changes(state)
        if turns is not None:
            J[:nq, :nq] = turns
        J[:nq, nq : nq + nu] = N[:, :nu]
        J[nq:end, :nq], J[nq:end, nq:] = by_changes[:, :nv] @ back, by_changes[:, nv:]
        return J, B

    def _rates_by_changes(self, state: State) -> tuple[Array, Array]:
        """Derivatives of the rates of u, z, r and v by changes ``(num_changes,)``, and of those of q, too, by settings.

        In systems with parts in Python they are differences where there is more than displacements and speeds.
        """
        nq, nu, nz, nv, n = self.nq, self.nu, self.nz, self.nv, self.num_particle_numbers
        of_measures, in_python = nz != state.tree.nz or state.tree.has_measures, self.system.calls_python
        if (in_python and (n or nz or nv > nu)) or (n and of_measures):
            by_changes, by_model = self.by_differences(state, _rates_of, self.num_integrated)
            by_changes, by_model = by_changes[nq:], by_model[:, self.directions.of_settings]
        else:
            by_changes, by_model = np.zeros((self.num_integrated - nq, self.num_changes)), self._rates_by_settings(state)
            if n or nv > nu or (nz and not of_measures):
                self._put_equations(state, by_changes)
        if not n:
            by, (places, speeds) = self.system.calc_forward_dynamics_derivatives(state), self.efforts(state).T
            by_changes[:nu, :nu], by_changes[:nu, nv : nv + nu] = by.q, by.u
            by_changes[:nu, nv + nu : nv + nu + by.z.shape[1]] = by.z
            by_changes[:nu, places - nq + nv] = by.mobility_forces[:, speeds]
            if nz and of_measures and not in_python:
                of_z, of_model = slice(nu, nu + nz), slice(nq + nu, nq + nu + nz)
                by_changes[of_z], by_model[of_model] = self._by_measures(state, by_changes[:nu], by_model[nq : nq + nu])
        return by_changes, by_model

    def _rates_by_settings(self, state: State) -> Array:
        """Derivatives of the rates of all that is integrated, but by measures, by settings."""
        settings, rest = self.directions.settings, self.nz - state.tree.nz + self.num_particle_numbers
        if not settings:
            return np.zeros((self.num_integrated, 0))
        found = by_settings(self.system, state, settings)
        nothing = np.zeros((rest, found.u_dot.shape[1]))
        return np.vstack([found.q_dot, found.u_dot, found.z_dot, nothing, found.particle_forces / _masses(state)])

    def _put_equations(self, state: State, into: Array) -> None:
        """Derivatives by changes of the rates of u, of the forces' z, and of particles, by the equations of motion."""
        nu, nz, nv, n, of_forces = self.nu, self.nz, self.nv, self.num_particle_numbers, state.tree.nz
        found = equations.by_variables(state, n > 0, coordinates.turns(state) if nv > nu else None)
        names = ("q", "turn", "u", "z", "particle_location", "particle_velocity")[: 6 if n else 4]
        of, u_dot = np.concatenate([np.r_[found.places[name]] for name in names]).astype(int), equations.solved(state, found)[0]
        into[:nu, : len(of)], into[nu : nu + of_forces, : len(of)] = u_dot[:, of], found.z_dot[:, of]
        if n:
            into[nu + nz + n :, : len(of)] = found.particle_forces[:, of] / _masses(state)
            into[nu + nz : nu + nz + n, len(of) - n : len(of)] = np.eye(n)
            places, speeds = self.efforts(state).T
            into[:nu, places - self.nq + nv] = u_dot[:, found.residual.shape[1] + speeds]

    def _by_measures(self, state: State, by_changes: Array, by_model: Array) -> tuple[Array, Array]:
        """Derivatives of z_dot, that of measures among it, by changes and by settings, from those of u_dot."""
        if self._measures is None:
            self._measures = Differentiated(self.system, state.tree, [])
        nv, u_dot = self.nv, np.hstack([by_changes, by_model])
        every = np.eye(self.num_changes, u_dot.shape[1])
        of_q, of_u, of_z = np.split(every[: nv + self.nu + self.nz], [nv, nv + self.nu])
        seeds = {"q": self.dq(state, of_q), "u": of_u, "z": of_z}
        found = self._measures.along(state, seeds, u_dot, settings.seeds_of(self.directions.settings, state)).z_dot
        return found[:, : self.num_changes], found[:, self.num_changes :]

    def efforts(self, state: State) -> npt.NDArray[np.int64]:
        """Each effort that enabled controllers hold: its place in y, and the speed that it acts on."""
        found = [
            (
                self.num_integrated + int(np.searchsorted(self.held, force.first_memory + sampling.EFFORTS + k)),
                state.tree.first_u[force.pairs[2 * k]] + force.pairs[2 * k + 1],
            )
            for _, force in self._controllers
            if not force.is_disabled(state)
            for k in range(force.get_num_efforts())
        ]
        return np.array(found, np.int64).reshape(-1, 2)

    def changes(self, state: State) -> tuple[Array, Array]:
        """N and `coordinates.turns` ``(nq, nv)``, and what makes displacements of changes of q ``(nv, nq)``."""
        N = coordinates.displacements(state)
        if self.nv > self.nu:
            N = np.hstack([N, coordinates.turns(state)])
        if self.nq == self.nu and not coordinates.has_rates(state):
            return N, N
        back: Array = np.asarray(np.linalg.solve(N.T @ N, N.T), np.float64)
        return N, back

    def along(
        self,
        state: State,
        change: Array,
        weights: Array | None,
        value: Any,
        stage: Stage,
        *,
        time: float = 0.0,
        step: float = differences.STEP,
    ) -> Array:
        """The rate of a value of a state along a change ``(num_changes,)``, of settings by *weights*, and of time."""
        here, held = np.array(state.y_values), np.array(state.record.control_memory[self.held, 0])
        move = self.raw(state, change)
        unit = 1.0 / max(1.0, float(np.abs(move).max(initial=0.0)))
        moves_model = weights is not None and bool(weights.any())
        if weights is not None and moves_model:
            some = weights != 0.0
            unit = min(unit, float(np.min(self.directions.scales[some] / np.abs(weights[some]))))

        def at(h: float) -> Array:
            h *= unit
            other = self.directions.moved(state, weights, h) if weights is not None and moves_model else state.copy()
            if time:
                other.time = state.time + h * time
            other.y = here + h * move[: self.num_integrated]
            if len(held):
                other.record.control_memory[self.held, 0] = held + h * move[self.num_integrated :]
            self.system.normalize_quaternions(other)
            self.system.realize(other, stage)
            return np.array(value(other), np.float64)

        return differences.along(at, step) / unit

    def along_each(
        self,
        state: State,
        S: Array,
        weights: Array,
        value: Any,
        stage: Stage,
        times: Array | None = None,
        step: float = differences.STEP,
    ) -> Array:
        """`along` for each column of S, changes of y, and of *weights*: a column each."""
        each = zip(self.tangent(state, S).T, weights.T, np.zeros(S.shape[1]) if times is None else times, strict=True)
        found = [self.along(state, one, weight, value, stage, time=float(t), step=step) for one, weight, t in each]
        return np.array(found).T

    def by_differences(self, state: State, value: Any, size: int) -> tuple[Array, Array]:
        """Derivatives ``(size, ...)`` of a value of a state at ACCELERATION, by changes, and by directions of settings."""
        n, m, of_settings = self.num_changes, len(self.directions), self.directions.of_settings
        found, changes, weights = np.zeros((size, n + m)), np.eye(n, n + m), np.eye(m, n + m, n)
        for k in [*range(n), *(n + np.flatnonzero(of_settings))]:
            found[:, k] = self.along(state, changes[:, k], weights[:, k], value, Stage.ACCELERATION)
        return found[:, :n], found[:, n:]

    def dq(self, state: State, displacements: Array) -> Array:
        """Changes of q of displacements ``(nv,)`` or ``(nv, n)``; those of speeds alone will do."""
        return self.changes(state)[0][:, : len(displacements)] @ displacements

    def tangent(self, state: State, S: Array) -> Array:
        """(Displacements, u, z, and so on) of changes of y ``(ny, n)``."""
        _, back = self.changes(state)
        return np.vstack([back @ S[: self.nq], S[self.nq :]])

    def raw(self, state: State, S: Array) -> Array:
        """Changes of y of those of (displacements, u, z, and so on), those not given being zero."""
        rest = np.zeros((self.num_changes - len(S), *S.shape[1:]))
        return np.concatenate([self.dq(state, S[: self.nv]), S[self.nv :], rest])

    def every_change(self) -> tuple[Array, Array]:
        """Changes of y and weights of directions, a column each number of y, then each direction, of which settings count."""
        n, ny = len(self.directions), self.ny
        return np.eye(ny, ny + n), np.hstack([np.zeros((n, ny)), np.diag(self.directions.of_settings.astype(float))])

    def at_start(self, state: State) -> Array:
        """Changes of y of the directions' initial values, at the state where the motion starts."""
        of_start = np.insert(self.directions.of_start, [self.nu] * (self.nv - self.nu), 0.0, axis=0)
        S = self.raw(state, of_start)
        for k in range(len(self.directions) if self.directions.begun else 0):
            weights = self.directions.of_settings * np.eye(len(self.directions))[k]
            S[self.nq + self.nu :][: self.nz, k] = self.along(state, of_start[:, k], weights, self._z_at_start, Stage.TIME)
        return S

    def _z_at_start(self, state: State) -> Array:
        for one in self.directions.begun:
            one.initialize(state)
        return state.z

    def with_held(self, of_y: Array) -> Array:
        """Rates of y, of which those of what controllers hold are zero."""
        return np.concatenate([of_y, np.zeros(len(self.held))])

    def whole_y(self, state: State) -> Array:
        """Y, with what controllers hold."""
        return np.concatenate([state.y_values, state.record.control_memory[self.held, 0]])

    # ------------------------------------------------------------------------------------------ samples

    def has_laws_with_tangents(self, state: State) -> bool:
        """True if compiled steps can differentiate the laws of all controllers, or there are none."""
        return all(force.routine_with_tangents(state) is not None for _, force in self._controllers)

    def laws_with_tangents(self, state: State, kind: Mapping[str, bool]) -> npt.NDArray[np.int64]:
        """Addresses of the controllers' laws for records of Duals of a *kind*; none where Python differentiates one."""
        if not self.has_laws_with_tangents(state):
            return np.zeros(0, np.int64)
        made = [force.routine_with_tangents(state).address(with_tangents=True, **kind) for _, force in self._controllers]
        return np.array(made, np.int64)

    def through_sample(self, state: State, S: Array, weights: Array) -> Array:
        """Changes of y after the controllers that are due have been sampled; see `derivative.laws`."""
        due = [force for c, force in self._controllers if sampling.due_of(state.block, c) <= state.time]
        if self.system.calls_python:
            return self._differences_of_samples(state, S, weights, due)
        change = self.raw(state, self.tangent(state, S))
        of_q, of_u, of_z, _, held = np.split(
            change, np.cumsum([self.nq, self.nu, self.nz, 2 * self.num_particle_numbers]), axis=0
        )
        before = np.zeros((len(state.record.control_memory), S.shape[1]))
        before[self.held] = held
        changes, n = {"q": of_q, "u": of_u, "z": of_z, "control_memory": before}, S.shape[1]
        seeds, of_model = self._moving(state, weights)
        after, said, failed = laws.of_samples(state, due, changes, seeds)
        found = S.copy()
        found[self.num_integrated :] = (after[:, :n] + after[:, n:] @ of_model)[self.held]
        laws.note({force: why for force, why in (said | failed).items() if force not in self._noted})
        self._noted.update(said, failed)
        if failed:
            ends = [force.first_memory for _, force in self._controllers] + [len(state.record.control_memory)]
            by_differences = self._differences_of_samples(state, S, weights, list(failed))
            for c, force in self._controllers:
                if force in failed:
                    rows = (self.held >= ends[c]) & (self.held < ends[c + 1])
                    found[self.num_integrated :][rows] = by_differences[self.num_integrated :][rows]
        return found

    def _moving(self, state: State, weights: Array) -> tuple[Any, Array]:
        """Seeds of the settings, and how much of each the columns of *weights* have; none where these have none of any."""
        of_model = weights[self.directions.of_settings]
        seeds = settings.seeds_of(self.directions.settings, state) if of_model.any() else []
        return seeds, of_model[: len(seeds)]

    def _differences_of_samples(self, state: State, S: Array, weights: Array, due: list[Any]) -> Array:
        """The same by differences of laws: what they are given, and what they remember, is moved a little."""

        def held(other: State) -> Array:
            for force in due:
                force.sample(other)
            return np.array(other.record.control_memory[self.held, 0])

        for force in due:
            _refuse_own_memory(force, state)
        found, some = S.copy(), S.any(axis=0) | weights.any(axis=0)
        found[self.num_integrated :, some] = self.along_each(state, S[:, some], weights[:, some], held, Stage.VELOCITY)
        return found

    # ------------------------------------------------------------------------------------------ manifolds

    def project(self, state: State, S: Array, weights: Array) -> Array:
        """Changes of y ``(ny, n)`` on the manifolds, those of the model's numbers being *weights* ``(directions, n)``.

        The state is realized, on its manifolds.
        """
        S = S.copy()
        q, tree = state.q_view, state.tree
        for b in tree.quaternions:
            at = slice(tree.first_q[b], tree.first_q[b] + 4)
            S[at] -= np.outer(q[at], q[at] @ S[at])
        prescribed = self.prescribed(state)
        if prescribed is not None:
            S = prescribed[0] @ S + prescribed[1] @ weights
        if not state.is_constrained:
            return S
        matter, nq, nu = self.system.get_matter_subsystem(), self.nq, self.nu
        mp, mv, _ = matter.num_equations(state)
        w = np.array(state.u_weights[:nu])
        level = np.repeat(np.abs(state.field("prescribed_level")), tree.num_u)
        if mp:
            P = matter.calc_p(state)
            back = np.asarray(np.linalg.pinv(coordinates.displacements(state) * w), np.float64)
            if self.nv > nu:  # a line's angles: what projection goes through is no least inverse
                columns = [matter.multiply_by_n_inv(state, False, e)[:nu] for e in np.eye(len(state.q_view))[:nq]]
                back = np.array(columns).T / w[:, None]
            A = back @ back.T
            A[level == POSITION] = A[:, level == POSITION] = 0.0
            off = self._errors(state, S, weights, "q_err", mp)
            S[:nq] -= self.dq(state, A @ P.T @ (_inverse(P @ A @ P.T) @ off))
            if prescribed is not None:  # speeds may follow from q
                S = prescribed[0] @ S + prescribed[1] @ weights
        if mp + mv:
            G = matter.calc_g(state)[: mp + mv]
            W = np.where((level == POSITION) | (level == VELOCITY), 0.0, 1.0 / w**2)
            off = self._errors(state, S, weights, "u_err", mp + mv)
            S[nq : nq + nu] -= (W[:, None] * G.T) @ (_inverse(G @ (W[:, None] * G.T)) @ off)
        return S

    def _errors(self, state: State, S: Array, weights: Array, name: str, count: int) -> Array:
        """Rates of constraint errors along the columns of S: of *count* equations, in the order of multipliers."""
        if self.system.calls_python:
            return self._differences_of_errors(state, S, weights, name, count)
        matter, nu = self.system.get_matter_subsystem(), self.nu
        rows = matter.rows_in_use(state)[:count]
        changes, nv, (seeds, of_model) = self.tangent(state, S), self.nv, self._moving(state, weights)
        of_errors = equations.of_errors(state, self.changes(state)[0], seeds)[name == "u_err"]
        found: Array = of_errors[rows] @ np.vstack([changes[:nv], of_model])
        return found if name == "q_err" else found + matter.calc_g(state)[:count] @ changes[nv : nv + nu]

    def _differences_of_errors(self, state: State, S: Array, weights: Array, name: str, count: int) -> Array:
        """The same by differences, for systems with parts in Python."""
        stage = Stage.VELOCITY
        if name == "q_err":
            stage, S = Stage.POSITION, np.vstack([S[: self.nq], 0.0 * S[self.nq :]])
        return self.along_each(state, S, weights, lambda other: getattr(other, name)[:count], stage).reshape(count, -1)

    def known(self, state: State) -> npt.NDArray[np.bool_]:
        """Mask of the numbers of y ``(ny,)`` that locks and motions prescribe."""
        found, tree = np.zeros(self.ny, bool), state.tree
        for b in range(1, tree.nb):
            level = abs(int(state.field("prescribed_level")[b]))
            if level == POSITION:
                found[tree.first_q[b] : tree.first_q[b] + tree.num_q[b]] = True
            if level in (POSITION, VELOCITY):
                first = self.nq + tree.first_u[b]
                found[first : first + tree.num_u[b]] = True
        return found

    def prescribed(self, state: State) -> tuple[Array, Array] | None:
        """Sensitivities prescribed by locks and motions: E S + F w of changes S of y and numbers w of directions; gives (E, F).

        Prescribed numbers are functions of time, of numbers of motions, and speeds of q. None where there are none.
        """
        known: npt.NDArray[np.bool_] = self.known(state)
        n = len(self.directions)
        if not known.any():
            return None
        by_q, by_settings, first = np.zeros((self.ny, self.nq)), np.zeros((self.ny, n)), 0
        columns, still = np.flatnonzero(self.directions.of_settings), np.zeros(self.num_changes)
        for setting in self.directions.settings:
            for k in columns[first : first + setting.size]:
                if setting.is_of_motion:
                    by_settings[:, k] = self.along(state, still, np.eye(n)[k], self._prescribed, Stage.TIME)
            first += setting.size
        by_q[self.nq : self.nq + self.nu] = of_prescribed_speeds(self.system, state) @ self.changes(state)[1][: self.nu]
        by_q[~known], by_settings[~known] = 0.0, 0.0
        E = np.diag(np.where(known, 0.0, 1.0))
        E[:, : self.nq] += np.where(known[: self.nq], 0.0, by_q)
        return E, by_settings + by_q @ by_settings[: self.nq]

    def _prescribed(self, state: State) -> Array:
        self.system.prescribe(state)
        return self.whole_y(state)


def _rates_of(state: State) -> Array:
    return np.array(state.record.y_dot[:, 0])


def _masses(state: State) -> Array:
    """The particles' masses, a row a coordinate."""
    return np.repeat(state.field("particle_mass")[:, 0], 3)[:, None]


def _held_places(controllers: list[tuple[int, Any]], size: int) -> Array:
    """Mask of the numbers in `control_memory`, of so many, that are what controllers hold."""
    ends = [*(force.first_memory for _, force in controllers[1:]), size]
    runs = [np.arange(one.first_memory + sampling.EFFORTS, end) for (_, one), end in zip(controllers, ends, strict=False)]
    return np.concatenate(runs) if runs else np.zeros(0, np.int64)


def _inverse(square: Array) -> Array:
    return np.asarray(np.linalg.pinv(square, rcond=_RANK, hermitian=True), np.float64)
