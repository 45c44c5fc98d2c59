"""Variations of a motion: how small changes of y = (q, u, z), and of numbers of the model, go on.

    delta y' = J delta y + B delta p          J = d(y')/dy, B = d(y')/dp, the rates being (N u, u_dot, z_dot)

Here q counts as it is stored, quaternions by their four numbers, so that a step is differentiated as it is taken.
On the manifold of constraints, and of quaternions, changes are projected as states are:

    q    dq += -N A P^T (P A P^T)^+ d(perr)        u    du += -W^-2 G^T (G W^-2 G^T)^+ d(verr)

with A and W as in `tree.project`. Source: Hairer, Norsett and Wanner 1993, I.14; Eich 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..motion._protocol import POSITION, VELOCITY
from ..value.checks import suggest
from ..value.stage import Stage
from . import differences, parameter_tangents, settings, tangents
from .parameter_derivatives import by_settings

if TYPE_CHECKING:
    from ..state.state import State
    from .settings import Setting

#: The parts of a matrix's largest singular value below which equations count as redundant.
_RANK = 1e-10


class Directions:
    """What a motion is differentiated by, a column each: initial values, and numbers of the model.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where the motion starts, at MODEL or above.
    wanted : sequence
        Each ``"q"``, ``"u"`` or ``"z"``: all initial displacements, speeds or auxiliary variables; ``"body.q"`` or
        ``"body.u"``: those of one mobilizer; or a parameter, as `settings.find` takes it.

    Attributes
    ----------
    names : list of str
    of_start : (nu + nu + nz, n) array
        Changes of the initial (displacements, u, z).
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
        whole, columns, scales = np.eye(2 * nu + nz), [], []
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
            letter = {**dict.fromkeys(range(nu), "q"), **dict.fromkeys(range(nu, 2 * nu), "u")}
            for i in range(at.start, at.stop):
                self.names.append(f"{u_names[i % nu]}.{letter[i]}" if i < 2 * nu else f"z[{i - 2 * nu}]")
            scales += [1.0] * (at.stop - at.start)
            of_settings += [False] * (at.stop - at.start)
        self.of_start = np.hstack(columns) if columns else np.zeros((len(whole), 0))
        self.of_settings, self.scales = np.array(of_settings, bool), np.array(scales)

    def __len__(self) -> int:
        return len(self.names)

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
                f"{one!r} is neither 'q', 'u' nor 'z', which stand for initial values, nor 'element.parameter'; "
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

    Raises
    ------
    ModelError
        If y has more than the mobilizers' q and u, and z: particles, or other subsystems' coordinates.
    """

    def __init__(self, system: Any, state: State, directions: Directions) -> None:
        tree = state.tree
        self.system, self.directions = system, directions
        self.nq, self.nu, self.nz = tree.nq, tree.nu, len(state.z_view)
        self.ny = self.nq + self.nu + self.nz
        if tree.num_particles or len(state.q_view) > tree.nq or len(state.u_view) > tree.nu:
            what = f"{tree.num_particles} particles" if tree.num_particles else "subsystems with coordinates of their own"
            raise ModelError(f"{system.name!r} has {what}, whose motion has no sensitivities; those of mobilized bodies have")

    # ------------------------------------------------------------------------------------------ rates

    def rates(self, state: State) -> tuple[Array, Array]:
        """J ``(ny, ny)`` and B ``(ny, n)`` at a state at ACCELERATION."""
        nq, nu, nz, system = self.nq, self.nu, self.nz, self.system
        J, B = np.zeros((self.ny, self.ny)), np.zeros((self.ny, len(self.directions)))
        N, back = self.changes(state)
        found = system.calc_forward_dynamics_derivatives(state)
        turns = tangents.rates_by_q(state)
        if turns is not None:
            J[:nq, :nq] = turns
        J[:nq, nq : nq + nu] = N
        J[nq : nq + nu, :nq] = found.q @ back
        J[nq : nq + nu, nq : nq + nu] = found.u
        J[nq : nq + nu, nq + nu : nq + nu + found.z.shape[1]] = found.z
        of_settings, of_z = self.directions.of_settings, None
        if of_settings.any():
            B[:nq, of_settings], B[nq : nq + nu, of_settings], of_z = by_settings(system, state, self.directions.settings)
        if nz:
            Z, B[nq + nu :] = self._rates_of_z(state, of_z)
            J[nq + nu :] = np.hstack([Z[:, :nu] @ back, Z[:, nu:]])
        return J, B

    def changes(self, state: State) -> tuple[Array, Array]:
        """N ``(nq, nu)``, and what makes displacements of changes of q ``(nu, nq)``."""
        N = tangents.displacements(state)
        if self.nq == self.nu and not tangents.has_rates(state):
            return N, N
        back: Array = np.asarray(np.linalg.solve(N.T @ N, N.T), np.float64)
        return N, back

    def _rates_of_z(self, state: State, by_settings: Array | None) -> tuple[Array, Array]:
        """Derivatives of z_dot by (displacements, u, z), and by the directions' settings.

        Those of forces' z are at hand, *by_settings* among them; what measures integrate takes differences.
        """
        nz, tree = self.nz, state.tree
        every = np.eye(2 * self.nu + nz)
        B = np.zeros((nz, len(self.directions)))
        if nz == tree.nz and not self.system.is_interpreted and not tree.has_measures:
            found = tangents.of_residual(self.system, state, state.u_dot_view[: self.nu], state.record.multiplier)
            if by_settings is not None:
                B[:, self.directions.of_settings] = by_settings
            return found.z_dot[:, :-1], B
        Z = np.array([self.along(state, column, None, _z_dot, Stage.ACCELERATION) for column in every]).T
        for k in np.flatnonzero(self.directions.of_settings):
            weights = np.zeros(len(self.directions))
            weights[k] = 1.0
            B[:, k] = self.along(state, 0.0 * every[0], weights, _z_dot, Stage.ACCELERATION)
        return Z.reshape(nz, len(every)), B

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
        """The rate of a value of a state along a change of (displacements, u, z), of settings by *weights*, and of time."""
        here = [np.array(view) for view in (state.q_view, state.u_view, state.z_view)]
        moves = self.dq(state, change[: self.nu]), change[self.nu : 2 * self.nu], change[2 * self.nu :]
        unit = 1.0 / max(1.0, *(float(np.abs(move).max(initial=0.0)) for move in moves))
        moves_model = weights is not None and bool(weights.any())
        if weights is not None and moves_model:
            some = weights != 0.0
            unit = min(unit, float(np.min(self.directions.scales[some] / np.abs(weights[some]))))

        def at(h: float) -> Array:
            h *= unit
            other = self.directions.moved(state, weights, h) if weights is not None and moves_model else state.copy()
            if time:
                other.time = state.time + h * time
            for name, values, move in zip("quz", here, moves, strict=True):
                if len(values):
                    setattr(other, name, values + h * move)
            self.system.normalize_quaternions(other)
            self.system.realize(other, stage)
            return np.array(value(other), np.float64)

        return differences.along(at, step) / unit

    def dq(self, state: State, displacements: Array) -> Array:
        """Changes of q of displacements ``(nu,)`` or ``(nu, n)``."""
        found: Array = tangents.displacements(state) @ displacements
        return found

    def tangent(self, state: State, S: Array) -> Array:
        """(Displacements, u, z) of changes of y ``(ny, n)``."""
        _, back = self.changes(state)
        return np.vstack([back @ S[: self.nq], S[self.nq :]])

    def raw(self, state: State, S: Array) -> Array:
        """Changes of y of those of (displacements, u, z)."""
        return np.vstack([self.dq(state, S[: self.nu]), S[self.nu :]])

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
        S[self.known(state)] = 0.0
        if not state.is_constrained:
            return S
        matter, nq, nu = self.system.get_matter_subsystem(), self.nq, self.nu
        mp, mv, _ = matter.num_equations(state)
        w = np.array(state.u_weights[:nu])
        level = np.repeat(np.abs(state.field("prescribed_level")), tree.num_u)
        if mp:
            P = matter.calc_p(state)
            back = np.asarray(np.linalg.pinv(tangents.displacements(state) * w), np.float64)
            A = back @ back.T
            A[level == POSITION] = A[:, level == POSITION] = 0.0
            off = self._errors(state, S, weights, "q_err", mp)
            S[:nq] -= self.dq(state, A @ P.T @ (_inverse(P @ A @ P.T) @ off))
        if mp + mv:
            G = matter.calc_g(state)[: mp + mv]
            W = np.where((level == POSITION) | (level == VELOCITY), 0.0, 1.0 / w**2)
            off = self._errors(state, S, weights, "u_err", mp + mv)
            S[nq : nq + nu] -= (W[:, None] * G.T) @ (_inverse(G @ (W[:, None] * G.T)) @ off)
        return S

    def _errors(self, state: State, S: Array, weights: Array, name: str, count: int) -> Array:
        """Rates of constraint errors along the columns of S: of *count* equations, in the order of multipliers."""
        if self.system.is_interpreted:
            return self._differences_of_errors(state, S, weights, name, count)
        matter, nu = self.system.get_matter_subsystem(), self.nu
        rows = matter.rows_in_use(state)[:count]
        changes = self.tangent(state, S)
        if name == "q_err":
            found = matter.calc_p(state)[:count] @ changes[:nu]
        else:
            found = tangents.of_velocity_errors(self.system, state)[rows] @ changes[:nu]
            found = found + matter.calc_g(state)[:count] @ changes[nu : 2 * nu]
        by_settings = weights[self.directions.of_settings]
        if by_settings.any():
            seeds = [seed for setting in self.directions.settings for seed in setting.seeds(state)]
            of_errors = parameter_tangents.of_errors(self.system, state, seeds)[name == "u_err"]
            found = found + of_errors[rows] @ by_settings
        return np.asarray(found, np.float64)

    def _differences_of_errors(self, state: State, S: Array, weights: Array, name: str, count: int) -> Array:
        """The same by differences, for systems with parts in Python."""
        stage = Stage.POSITION if name == "q_err" else Stage.VELOCITY
        changes = self.tangent(state, S)
        if name == "q_err":
            changes[self.nu :] = 0.0
        rates = [
            self.along(state, change, weight, lambda other: getattr(other, name)[:count], stage)
            for change, weight in zip(changes.T, weights.T, strict=True)
        ]
        return np.array(rates).reshape(-1, count).T

    def known(self, state: State) -> Array:
        """Which numbers of y ``(ny,)`` locks and motions prescribe."""
        found, tree = np.zeros(self.ny, bool), state.tree
        for b in range(1, tree.nb):
            level = abs(int(state.field("prescribed_level")[b]))
            if level == POSITION:
                found[tree.first_q[b] : tree.first_q[b] + tree.num_q[b]] = True
            if level in (POSITION, VELOCITY):
                first = self.nq + tree.first_u[b]
                found[first : first + tree.num_u[b]] = True
        return found


def _z_dot(state: State) -> Array:
    return np.array(state.z_dot_view)


def _inverse(square: Array) -> Array:
    return np.asarray(np.linalg.pinv(square, rcond=_RANK, hermitian=True), np.float64)


__all__ = ["Directions", "Variations"]
