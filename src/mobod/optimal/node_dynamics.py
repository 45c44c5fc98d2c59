"""The rates of the states at all nodes at once, and their derivatives, by one `Ensemble` for each number of nodes.

F = (q_dot, u_dot, z_dot) of y = (x, w), x = (q, u, z) as they are stored and w forces on mobilities, of the time t and of
parameters p. u_dot has exact derivatives, but by frames, directions and turns of lines, and so has q_dot of quaternions; all
others, and those of z_dot, take differences of fourth order. Second derivatives are exact where one sweep finds the first ones
and there is nothing but q, u and forces; elsewhere central differences of the first ones, to about 1e-8 of the largest of both.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.coordinates import has_rates
from ..derivative.differences import along
from ..derivative.results import ForwardDynamicsDerivatives
from ..derivative.settings import Setting
from ..ensemble.array_dynamics import ForwardDynamics
from ..ensemble.ensemble import Ensemble
from ..ensemble.second_differences import STEP, differences, gradients, steps
from ..linear.inputs import Inputs
from ..state.state import State
from ..value.stage import Stage

#: Steps of differences of fourth order of rates, along all but z, and along z: tendons straighten over a millimeter, where 5e-4
#: makes errors of a third. And so much smaller are steps along z in second derivatives.
_STEP, _STEP_OF_Z, _OF_Z = 5e-4, 1e-5, 0.3
#: Ensembles that are kept.
_KEPT = 12


class NodeDynamics:
    """Rates of states of a system under forces on mobilities.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Whose modelling choices and parameters all nodes share.
    controls : linear.inputs.Inputs
        w: forces on mobilities, and numbers of settings.
    control_limits : (2, m) array
        Between which w stays, as *limits*.
    settings : sequence of (Setting, int)
        The parameters p: numbers of settings, counted from where they are in *state*.
    limits : sequence of (float, float)
        Between which p stay: a stiffness below zero is refused by its setter, and no difference goes there.
    """

    def __init__(
        self,
        system: Any,
        state: State,
        controls: Inputs,
        control_limits: Array,
        settings: list[tuple[Setting, int]],
        limits: list[tuple[float, float]],
    ) -> None:
        self._system, self._state, self._settings = system, state, settings
        self._limits = np.reshape(limits, (-1, 2)).T
        tree = state.tree
        self.nq, self.nu, self.nz = tree.nq, tree.nu, len(state.z_view)
        self.nx, self.m = self.nq + self.nu + self.nz, len(controls)
        pairs = np.reshape(controls.of_mobilities, (-1, 2)).astype(int)
        self._pushing, self._acted_on = self.nx + pairs[:, 0], pairs[:, 1]
        self._set, self._control_limits = controls.settings, control_limits
        #: Controls that are numbers of settings, by their place in y.
        self._setting = self.nx + np.array(controls.of_settings, int)
        #: Which of p have exact derivatives; their settings, and where they are among derivatives by these behind controls.
        self._exact = [k for k, (setting, _) in enumerate(settings) if setting.adds]
        self._sought = list(dict.fromkeys(settings[k][0] for k in self._exact))
        ends = np.cumsum([len(self._setting), *(setting.size for setting in self._sought)])
        self._places = [int(ends[self._sought.index(settings[k][0])]) + settings[k][1] for k in self._exact]
        self._turns, self._core = bool(has_rates(state)), ForwardDynamics(system, state)
        self._ensembles: OrderedDict[Any, Ensemble] = OrderedDict()
        self._written: dict[int, ForwardDynamicsDerivatives] = {}

    def pattern(self) -> Any:
        """Mask ``(nx, nx + m)`` of derivatives by (x, w) that can be other than zero."""
        nq, nu = self.nq, self.nu
        found = np.ones((self.nx, self.nx + self.m), bool)
        found[:nq] = False
        found[:nq, nq : nq + nu] = True if self._turns else np.eye(nu, dtype=bool)
        if self._turns:
            found[:nq, :nq] = True
        found[nq + nu :, self._pushing] = False
        return found

    def ensemble(self, n: int, p: Array) -> Ensemble:
        """The ensemble of *n* states with these parameters."""
        key = n, np.asarray(p).tobytes()
        found = self._ensembles.pop(key, None)
        if found is None:
            found = Ensemble(self._system, n, state=self.moved(p))
        self._ensembles[key] = found
        if len(self._ensembles) > _KEPT:
            self._ensembles.popitem(last=False)
        return found

    def moved(self, p: Array) -> State:
        """The state with these parameters."""
        state = self._state
        if len(self._settings):
            state, p = state.copy(), np.clip(p, *self._limits)
            for (setting, i), change in zip(self._settings, p, strict=True):
                setting.move(state, i, float(change))
            self._system.realize(state, Stage.INSTANCE)
        return state

    def rates(self, y: Array, t: Array, p: Array) -> Array:
        """F ``(n, nx)`` of n nodes: y ``(n, nx + m)``, t ``(n,)``, p ``(np,)``."""
        ensemble = self._at(y, t, p)
        ensemble.realize(mobility_forces=self._forces(y))
        nq, nu, u_dot = self.nq, self.nu, np.asarray(ensemble.u_dot)
        found = np.empty((len(y), self.nx))
        found[:, :nq] = ensemble.q_dot if self._turns else y[:, nq : nq + nu]
        found[:, nq : nq + nu] = u_dot
        if self.nz:
            found[:, nq + nu :] = ensemble.z_dot
        return found

    def derivatives(self, y: Array, t: Array, p: Array) -> tuple[Array, Array, Array]:
        """Derivatives of F by y ``(n, nx, nx + m)``, by t ``(n, nx)`` and by p ``(n, nx, np)``."""
        nq, nu, nx, n = self.nq, self.nu, self.nx, len(y)
        out = self._of_u_dot(y, t, p)
        J, by_t = np.zeros((n, nx, nx + self.m)), np.zeros((n, nx))
        of_u = slice(nq, nq + nu)
        J[:, of_u, of_u], J[:, of_u, self._pushing] = out.u, out.mobility_forces[:, :, self._acted_on]
        J[:, of_u, nq + nu : nx], by_t[:, of_u] = out.z, out.time
        if self._turns:
            J[:, of_u, :nq] = self.by_numbers(out.q, y, lambda y: self.rates(y, t, p)[:, of_u])
            J[:, :nq, of_u] = self.matrices_n(y)
            for first, i, units in self._core.quaternions:
                J[:, first : first + 4, first : first + 4] = 0.25 * np.einsum("kja,nj->nak", units, y[:, nq + i : nq + i + 3])
            if not self._core.quaternions:
                J[:, :nq, :nq] = self._along(y, t, p, range(nq), slice(0, nq))
        else:
            J[:, of_u, :nq] = out.q
            J[:, :nq, of_u] = np.eye(nu)
        by_p = np.zeros((n, nx, len(p)))
        for k in range(len(p)):
            if self._turns or self.nz or k not in self._exact:
                by_p[:, :, k] = self.by_parameter(lambda other: self.rates(y, t, other), p, k)
        if len(self._setting) or self._exact:
            ensemble = self._at(y, t, p)
            ensemble.realize(mobility_forces=self._forces(y))
            found = ensemble.calc_parameter_derivatives([*self._set, *self._sought])
            J[:, of_u, self._setting] = found[:, :, : len(self._setting)]
            by_p[:, of_u, self._exact] = found[:, :, self._places]
        if self.nz:
            of = [*range(nx), *self._setting]
            J[:, nq + nu :, of] = self._along(self._inward(y, 2.0 * _STEP), t, p, of, slice(nq + nu, nx))
            by_t[:, nq + nu :] = along(lambda h: self.rates(y, t + h, p)[:, nq + nu :])
        return J, by_t, by_p

    def second(self, y: Array, t: Array, p: Array, weights: Array, with_time: bool) -> Array:
        """Second derivatives of *weights* ``(n, nx)`` times F, by (y, t, p): ``(n, nx + m + 1 + np, ...)``, symmetric."""
        n, ny, nx = len(y), self.nx + self.m, self.nx
        size = ny + 1 + len(p)
        H = np.zeros((n, size, size))
        if self._has_no_more(p):  # then nothing depends on time where there is one kernel
            nq, at = self.nq, np.concatenate([np.arange(nx), self._pushing])
            found = self._core.exact_second(y[:, :nq], y[:, nq:nx], self._forces(y), weights[:, None, nq:])
            if found is not None:
                by = np.concatenate([np.arange(nx), nx + self._acted_on])
                H[:, at[:, None], at] = found[:, 0, by[:, None], by]
                for first, i, units in self._core.quaternions if self._turns else ():
                    of_q, of_u = slice(first, first + 4), slice(nq + i, nq + i + 3)
                    bend = 0.25 * np.einsum("na,kja->nkj", weights[:, of_q], units)
                    H[:, of_q, of_u] += bend
                    H[:, of_u, of_q] += np.swapaxes(bend, 1, 2)
                return H
        y, of = self._inward(y, STEP), [*range(nx), *self._setting, *([ny] if with_time else [])]
        x, h = np.column_stack([y, t]), np.column_stack([steps(y, self.nq), np.full(n, STEP)])
        h[:, self.nq + self.nu : nx] *= _OF_Z
        found = differences(lambda x: self._gradients(x[:, :ny], x[:, ny], p, weights), x, h, of, nx * size)
        H[:, :, of] = np.moveaxis(found, 0, 2)
        for k in range(len(p)):
            H[:, :, ny + 1 + k] = self.by_parameter(lambda other: self._gradients(y, t, other, weights), p, k)
        rest = np.ones(size, bool)  # forces, in which F is linear: their columns are these rows
        rest[of], rest[ny + 1 :] = False, False
        H[:, :, rest] = np.swapaxes(H[:, rest], 1, 2)
        H[:, np.outer(rest, rest)] = 0.0
        return 0.5 * (H + np.swapaxes(H, 1, 2))

    def _has_no_more(self, p: Array) -> bool:
        """True if there is nothing but q, u and forces."""
        return not (self.nz or len(p) or self._set)

    def missed(self, y: Array, t: Array, p: Array) -> tuple[Array, Array]:
        """Errors of constraints: of positions, with those of quaternions after them, and of velocities ``(n, ...)``."""
        ensemble = self._at(y, t, p)
        ensemble.realize(Stage.VELOCITY)
        return np.asarray(ensemble.q_err), np.asarray(ensemble.u_err)

    def matrices_n(self, y: Array) -> Array:
        """N of all nodes ``(n, nq, nu)``, a column a speed."""
        return self._core.matrices_n(y[:, : self.nq])

    def within(self, y: Array) -> Array:
        """[N T] [N T]^+ of all nodes ``(n, nq, nq)``, which takes changes of quaternions' lengths out of those of q."""
        q = y[:, : self.nq]
        found: Array = self._core.displacements_and_turns(q) @ self._core.back(q)
        return found

    def by_numbers(self, by_displacements: Array, y: Array, value: Callable[[Array], Array]) -> Array:
        """Derivatives ``(n, k, nq)`` of a *value* ``(n, k)`` of y by q as it is stored, from those by displacements."""
        rest = y[:, self.nq :]
        return self._core.by_numbers(by_displacements, y[:, : self.nq], lambda q: value(np.hstack([q, rest])))

    def step(self, k: int) -> float:
        """A step for differences by parameter k."""
        setting, i = self._settings[k]
        return setting.step(self._state, i)

    def by_parameter(self, f: Callable[[Array], Array], p: Array, k: int) -> Array:
        """The derivative of a function of p by number k, by differences of fourth order between its limits."""
        h, (low, high), one = self.step(k), self._limits[:, k], np.eye(len(p))[k]
        if low <= p[k] - 2.0 * h and p[k] + 2.0 * h <= high:
            terms = ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0))
        else:
            s = 1.0 if p[k] - low < high - p[k] else -1.0
            terms = ((0.0, -25.0 * s), (s, 48.0 * s), (2.0 * s, -36.0 * s), (3.0 * s, 16.0 * s), (4.0 * s, -3.0 * s))  # type: ignore[assignment]
        p = np.clip(p, *self._limits)
        return sum(c * f(p + x * h * one) for x, c in terms) / (12.0 * h)  # type: ignore[return-value]

    # ------------------------------------------------------------------------------------------ inside

    def _of_u_dot(self, y: Array, t: Array, p: Array) -> ForwardDynamicsDerivatives:
        """Derivatives of u_dot, in arrays that are written anew where there are as many nodes."""
        n = len(y)
        found = self._at(y, t, p).calc_forward_dynamics_derivatives(mobility_forces=self._forces(y), out=self._written.get(n))
        if len(self._written) >= _KEPT:
            self._written.clear()
        self._written[n] = found
        return found

    def _gradients(self, y: Array, t: Array, p: Array, weights: Array) -> Array:
        """Derivatives by (y, t, p) of *weights* ``(n, nx)`` times F, of n nodes or of several times as many, a row each."""
        nq, nx = self.nq, self.nx
        if self._has_no_more(p) and not self._turns:
            columns = np.concatenate([np.arange(2 * self.nu), 2 * self.nu + self._acted_on, [3 * self.nu]])
            found = gradients(self._of_u_dot(y, t, p), weights[:, None, nq:], columns)[:, 0]
            found.reshape(-1, *weights.shape[:1], len(columns))[..., nq:nx] += weights[:, :nq]
            return found
        weights = np.tile(weights, (len(y) // len(weights), 1))
        by_y, by_t, by_p = self.derivatives(y, t, p)
        return np.concatenate(
            [
                np.einsum("na,nab->nb", weights, by_y),
                np.einsum("na,na->n", weights, by_t)[:, None],
                np.einsum("na,nap->np", weights, by_p),
            ],
            axis=1,
        )

    def _at(self, y: Array, t: Array, p: Array) -> Ensemble:
        ensemble = self.ensemble(len(y), p)
        for setting, values in self._settings_of(y):
            ensemble.set_each(*setting.of_each(values))
        nq, nu = self.nq, self.nu
        ensemble.time = t
        ensemble.q, ensemble.u = y[:, :nq], y[:, nq : nq + nu]
        if self.nz:
            ensemble.z = y[:, nq + nu : self.nx]
        return ensemble

    def put(self, state: State, time: float, y: Array) -> None:
        """Give a state what a node has, but for forces."""
        nq, nu = self.nq, self.nu
        for setting, values in self._settings_of(y[None]):
            setting.put(state, values[0])
        state.time, state.q, state.u, state.z = time, y[:nq], y[nq : nq + nu], y[nq + nu : self.nx]

    def _settings_of(self, y: Array) -> Iterator[tuple[Setting, Array]]:
        """Settings among the controls, with their numbers at each node ``(n, size)``, within their limits."""
        first = 0
        for setting in self._set:
            places = self._setting[first : first + setting.size]
            first += setting.size
            yield setting, np.clip(y[:, places], *self._control_limits[:, places - self.nx])

    def _forces(self, y: Array) -> Array:
        forces = np.zeros((len(y), self.nu))
        for k, i in zip(self._pushing, self._acted_on, strict=True):
            forces[:, i] += y[:, k]
        return forces

    def _inward(self, y: Array, h: float) -> Array:
        """The same with settings as far from their limits as differences by steps of h go: no difference goes beyond."""
        if not len(self._setting):
            return y
        low, high = self._control_limits[:, self._setting - self.nx]
        y, middle = y.copy(), 0.5 * (np.maximum(low, -1e300) + np.minimum(high, 1e300))
        values = y[:, self._setting]
        reach = h * np.maximum(1.0, np.abs(values))
        y[:, self._setting] = np.clip(values, np.minimum(low + reach, middle), np.maximum(high - reach, middle))
        return y

    def _along(self, y: Array, t: Array, p: Array, of: Any, rows: slice) -> Array:
        """Derivatives of some of F by some of y, by differences of fourth order ``(n, rows, of)``."""
        n, ny, k = len(y), y.shape[1], len(of)
        moves = np.zeros((k, 4, n, ny))
        h = _STEP * np.maximum(1.0, np.abs(y))
        h[:, self.nq + self.nu : self.nx] *= _STEP_OF_Z / _STEP
        for i, column in enumerate(of):
            for j, factor in enumerate((1.0, -1.0, 2.0, -2.0)):
                moves[i, j, :, column] = factor * h[:, column]
        found = self.rates((y + moves).reshape(-1, ny), np.tile(t, 4 * k), p).reshape(k, 4, n, -1)[..., rows]
        slopes = (8.0 * (found[:, 0] - found[:, 1]) - (found[:, 2] - found[:, 3])) / (12.0 * h.T[list(of), :, None])
        return np.moveaxis(slopes, 0, 2)
