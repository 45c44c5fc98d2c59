"""Regulator: a linear state feedback about a state, as gains, and as the controllers that it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.scalar import one, where
from ..control.state_feedback import StateFeedback
from ..errors import ModelError
from ..force.subsystem import GeneralForceSubsystem
from ..function.users.unrolled import listed
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from . import manifold
from .inputs import Inputs
from .linear_system import LinearSystem


class Regulator:
    """w = w_0 - K x: inputs that bring a system back to a state; x is how far it is from there. `mobod.lqr` makes it.

    Attributes
    ----------
    K : (m, n) array
        Gains: a row an input, a column a number of x = (displacements v of q, u, z). Those of dependent states are zero.
    P : (n, n) array
        The cost to go is x^T P x.
    eigenvalues : (k,) array
        Of the closed loop, those that decay slowest first, 1/time; of a sampled one the logarithm by the sample time.
    efforts : (m,) array
        w_0, what holds the system there; of settings, which are set in the state, zero.
    model : LinearSystem
        What it was found by, of independent states.
    sample_time : float or None
        Of a sampled one, the time between samples.
    state_names, input_names : sequences of n and m str

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> upright = mb.find_equilibrium(system, state)
    >>> regulator = mb.lqr(system, upright, None, Q=1.0, R=1.0, sample_time=0.01)
    >>> regulator
    <Regulator: 4 states, 2 inputs, sampled every 0.01, slowest eigenvalue -2.32+0j>
    """

    def __init__(
        self,
        reference: State,
        inputs: Inputs,
        model: LinearSystem,
        matrices: tuple[Array, Array, Any],
        efforts: Array,
        sample_time: float | None,
    ) -> None:
        self.K, self.P, self.eigenvalues = matrices
        self.model, self.efforts, self.sample_time = model, efforts, sample_time
        self.state_names, self.input_names = list(model.output_names), list(model.input_names)
        self._q, self._u = np.array(reference.q_view[: reference.tree.nq]), np.array(reference.u_view[: reference.tree.nu])
        self._z = np.array(reference.z_view)
        #: Displacements, and turns, by q as it is stored.
        self._back = np.linalg.pinv(manifold.displacements_and_turns(reference))
        self._quaternions = manifold.quaternions(reference)
        self._acted_on = [i for _, i in inputs.of_mobilities]
        self._mobilities = [_pair(reference, i) for i in self._acted_on]
        self._settings = [self.input_names[k] for k in inputs.of_settings]

    def __repr__(self) -> str:
        m, n = self.K.shape
        how = "continuous" if self.sample_time is None else f"sampled every {self.sample_time:g}"
        return f"<Regulator: {n} states, {m} inputs, {how}, slowest eigenvalue {self.eigenvalues[0]:.3g}>"

    def calc_deviation(self, state: State) -> Array:
        """Deviation of a state from the one that is held ``(n,)``: displacements, u, z. Needs MODEL."""
        self._check(state)
        return self._deviation(state.q_view[: len(self._q)], state.u_view[: len(self._u)], state.z_view)

    def calc_inputs(self, state: State) -> Array:
        """The inputs ``(m,)`` that it gives at a state. Needs MODEL."""
        return self.efforts - self.K @ self.calc_deviation(state)

    def calc_cost_to_go(self, state: State) -> float:
        """x^T P x: by the linear model, what the integral from this state on comes to. Needs MODEL."""
        x = self.calc_deviation(state)
        return float(x @ self.P @ x)

    def calc_costs_to_go(self, q: Array, u: Array, z: Array | None = None) -> Array:
        """The same of many states ``(n,)``, by rows of q, u and z."""
        x = self.calc_deviations(q, u, z)
        return np.einsum("ni,ij,nj->n", x, self.P, x)

    def calc_deviations(self, q: Array, u: Array, z: Array | None = None) -> Array:
        """`calc_deviation` of many states ``(n, ...)``, by rows of q, u and z."""
        rows = zip(q, u, np.tile(self._z, (len(q), 1)) if z is None else z, strict=True)
        return np.array([self._deviation(*row) for row in rows])

    def held(self, state: State) -> State:
        """A copy of a state at the q, u and z that are held. Needs MODEL."""
        self._check(state)
        other = state.copy()
        other.q, other.u, other.z = self._q, self._u, self._z
        state.system.realize(other, Stage.POSITION)
        return other

    def add_to(
        self,
        forces: GeneralForceSubsystem,
        *,
        sample_time: float | None = None,
        limits: tuple[Any, Any] | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> StateFeedback:
        """Add it to a system as a controller, which is sampled; topology has then to be realized again.

        Parameters
        ----------
        forces : GeneralForceSubsystem
            Of the system it was found for, or of another with the same bodies.
        sample_time : float, optional
            Between samples; has to be given where the regulator is continuous, and short beside its fastest eigenvalue.
        limits, disabled_by_default, name
            As `control.Custom` takes them.

        Raises
        ------
        ModelError
            If inputs are settings, on which no controller acts; `calc_inputs` gives their numbers.
        ValueError
            If there is no sample time; or one so long that the linear model is unstable under the gains.
        """
        self._check_mobilities("add_to")
        if sample_time is None:
            sample_time = self.sample_time
        if sample_time is None:
            raise ValueError(
                f"the regulator is continuous, and a controller is sampled: give sample_time, such as {self._short():.2g}, or "
                "let lqr have it"
            )
        self._check_sampled(checks.positive("sample_time", sample_time, ValueError))
        nu = len(self._u)
        by_q = self.K[:, self._places_of_q()] @ self._back
        return StateFeedback(
            forces,
            self._mobilities,
            gains=np.hstack([by_q, self.K[:, nu : 2 * nu + len(self._z)]]),
            q=self._q,
            u=self._u,
            z=self._z,
            efforts=self.efforts,
            sample_time=sample_time,
            limits=limits,
            disabled_by_default=disabled_by_default,
            name=name,
        )

    @property
    def controller(self) -> Callable[..., Any]:
        """A function ``(t, q, u)`` of tuples that gives the generalized forces ``(nu,)``: of `Ensemble.simulate`.

        It acts all the time, also where the regulator is sampled, and runs in lanes.

        Raises
        ------
        ModelError
            If inputs are settings, or z is fed back, which such a function does not get.
        """
        self._check_mobilities("controller")
        nu, nz, nq = len(self._u), len(self._z), len(self._q)
        if nz and np.abs(self.K[:, 2 * nu : 2 * nu + nz]).max() > 0.0:
            raise ModelError("the regulator feeds z back, which a function of (t, q, u) does not get; use add_to")
        by_q = self.K[:, self._places_of_q()] @ self._back
        by_u = self.K[:, nu : 2 * nu]
        lines, q = [], [f"q[{i}]" for i in range(nq)]
        for at in self._quaternions:
            dot = " + ".join(f"{float(self._q[at + k])!r} * q[{at + k}]" for k in range(4))
            lines += [f"nearer = where({dot} < 0.0, -one(q[{at}]), one(q[{at}]))"]
            lines += [f"q_{at + k} = nearer * q[{at + k}]" for k in range(4)]
            q[at : at + 4] = [f"q_{at + k}" for k in range(4)]
        forces = ["0.0"] * nu
        for k, (i, effort) in enumerate(zip(self._acted_on, self.efforts.tolist(), strict=True)):
            constant = effort + by_q[k] @ self._q + by_u[k] @ self._u
            terms = [f"{g!r} * {one}" for g, one in zip(by_q[k].tolist(), q, strict=True) if g]
            terms += [f"{g!r} * u[{j}]" for j, g in enumerate(by_u[k].tolist()) if g]
            forces[i] += f" + ({float(constant)!r})" + "".join(f" - ({term})" for term in terms)
        return _function("t, q, u", [*lines, f"return {listed(forces)}"])

    # ------------------------------------------------------------------------------------------ inside

    def _deviation(self, q: Any, u: Any, z: Any) -> Array:
        q = np.array(q)
        for at in self._quaternions:
            if q[at : at + 4] @ self._q[at : at + 4] < 0.0:
                q[at : at + 4] *= -1.0
        moved, nu = self._back @ (q - self._q), len(self._u)
        return np.concatenate([moved[:nu], u - self._u, z - self._z, moved[nu:]])

    def _places_of_q(self) -> list[int]:
        """Columns of K of displacements, then of turns."""
        nu, nz = len(self._u), len(self._z)
        return [*range(nu), *range(2 * nu + nz, self.K.shape[1])]

    def _check(self, state: State) -> None:
        checks.instance("state", state, State, "system.realize_topology() gives")
        sizes = len(state.q_view), len(state.u_view), len(state.z_view)
        if sizes != (len(self._q), len(self._u), len(self._z)):
            raise ModelError(
                f"the regulator is of {len(self._q)} q, {len(self._u)} u and {len(self._z)} z; the state has "
                "{}, {} and {}".format(*sizes)
            )

    def _check_mobilities(self, asked: str) -> None:
        if self._settings:
            raise ModelError(
                f"{asked}: the input {self._settings[0]!r} is a setting, and controllers act on mobilities: give lqr pairs "
                "(mobod, which_u) instead, or set what calc_inputs(state) gives in a handler"
            )

    def _short(self) -> float:
        """A sample time that is short beside the closed loop's fastest mode."""
        return 0.1 / max(float(np.abs(self.eigenvalues).max()), 1e-9)

    def _check_sampled(self, sample_time: float) -> None:
        """Raise `ValueError` where the linear model does not come to rest under gains that are sampled so rarely."""
        names = list(self.state_names)
        K = self.K[:, [names.index(name) for name in self.model.state_names]]
        model = self.model.sampled(sample_time)
        largest = float(np.abs(np.linalg.eigvals(model.A - model.B @ K)).max())
        if not largest < 1.0 + 1e-6:  # states that are left out stay as they are
            raise ValueError(
                f"with sample_time={sample_time:g} the closed loop is unstable: it grows by {largest:.3g} from sample to "
                f"sample; take at most {self._short():.2g}, or find gains by mb.lqr(..., sample_time={sample_time:g})"
            )


def _pair(state: State, mobility: int) -> tuple[int, int]:
    """The body's number, and which of its mobilities it is."""
    bodies = state.system.get_matter_subsystem().body_list
    places = ((body.index, mobility - body.u_slice(state).start, body.facts.num_u) for body in bodies)
    return next((b, which) for b, which, num_u in places if 0 <= which < num_u)


def _function(arguments: str, lines: Sequence[str]) -> Callable[..., Any]:
    """A plain function of these lines, which may ask `where` and `one`."""
    namespace: dict[str, Any] = {"where": where, "one": one}
    body = "".join(f"    {line}\n" for line in lines)
    exec(compile(f"def controller({arguments}):\n{body}", __file__, "exec"), namespace)
    return namespace["controller"]
