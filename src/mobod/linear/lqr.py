"""Linear quadratic regulators: the feedback that is best for the linear model of a system at rest.

Continuous, of least integral of x^T Q x + w^T R w + 2 x^T N w: K = R^-1 (B^T P + N^T), where P solves Riccati's algebraic
equation. Sampled, the input is held for a time T between samples, and the same integral is what is least, by the model and
the cost of a whole period (Franklin, Powell and Workman 1998, section 9.3.4; exponentials by Van Loan 1978).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..algebra.arrays import Array
from ..errors import ModelError
from ..simulation.names import auxiliary_names, speed_names
from ..state.state import State
from ..system.arguments import check_state
from ..system.system import MultibodySystem
from ..value import checks
from ..value.stage import Stage
from .inputs import Inputs
from .linear_system import LinearSystem
from .linearize import linear_model
from .regulator import Regulator

#: What counts as rest: rates that so large a displacement makes, and speeds.
_REST = 1e-6
#: Singular values below this part of the largest count as zero in tests of controllability.
_RANK = 1e-8
Weights = ArrayLike | Mapping[str, float]


def lqr(
    system: MultibodySystem,
    state: State,
    inputs: Sequence[Any] | None,
    Q: Weights,
    R: Weights,
    *,
    N: ArrayLike | None = None,
    sample_time: float | None = None,
    leave_out: Sequence[str] = (),
) -> Regulator:
    """Find the linear quadratic regulator that holds a system at a state, by its linear model there.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        An equilibrium, such as `find_equilibrium` gives; or a state that constant forces of the *inputs* hold, which are
        found, too. It is left as it is.
    inputs : sequence or None
        What acts, as `linearize` takes them: pairs ``(mobod, which_u)``, bodies with one mobility, or settings such as
        ``"motor.mobility_force"``; None for every mobility.
    Q : (n, n) or (n,) array_like, float, or mapping of str to float
        Weights of the state (displacements v of q, u, z), all of it, as ``linearize(system, state).state_names`` names it: a
        symmetric matrix that is nowhere negative, its diagonal, or ``{"pole.v": 10.0, "pole.u": 1.0}``, what is not named
        being free. Weights of coordinates that depend on others, by constraints, count with these.
    R : (m, m) or (m,) array_like, float, or mapping of str to float
        Weights of the inputs, positive definite; by ``linearize(...).input_names``.
    N : (n, m) array_like, optional
        Weights of products.
    sample_time : float, optional
        If given, the regulator is sampled: its inputs are held between multiples of this time.
    leave_out : sequence of str
        States that are neither weighed nor fed back, such as ``"wheel.v"``, the angle of a wheel at whatever speed. No other
        state may depend on them. An auxiliary state that nothing moves and nothing depends on, such as the energy that a
        bushing has dissipated, is left out by itself, unless *Q* names it.

    Returns
    -------
    Regulator
        Gains, cost to go, eigenvalues of the closed loop; it makes controllers for `simulate` and `Ensemble.simulate`.

    Raises
    ------
    StageError
        If the state is below POSITION.
    ValueError, TypeError
        If weights do not fit, or are not positive as said.
    ModelError
        If the state is no equilibrium, or no such regulator exists: what cannot be steadied, or has no weight, is named.

    See Also
    --------
    linearize : the model alone.
    control.StateFeedback : what `Regulator.add_to` adds.

    Notes
    -----
    The model is that of the independent states (`linearize(..., independent=True)`): constraints, locks and prescribed motion
    are kept, and gains of dependent states are zero. Source: Anderson and Moore 1990.

    Examples
    --------
    >>> import mobod as mb
    >>> system, motor = mb.examples.swing_up.build_cart_and_pole()
    >>> state = system.realize_topology()
    >>> regulator = mb.lqr(system, state, [(system.matter.bodies["cart"], 0)], Q=1.0, R=1.0)
    >>> regulator.K.shape, bool(regulator.eigenvalues.real.max() < 0)
    ((1, 4), True)
    """
    check_state("lqr", system, state)
    if sample_time is not None:
        sample_time = checks.positive("sample_time", sample_time, ValueError)
    here = state.copy()
    system.realize(here)
    pushed = Inputs(system, here, inputs)
    here, efforts = _held(system, here, pushed)
    model = linear_model(system, here, inputs, None, True, False)
    dropped = _left_out(model, leave_out)
    dropped += _bystanders(system, here, model, {*dropped, *(Q if isinstance(Q, Mapping) else ())})
    _check_rest(system, here, model, dropped)
    kept = [k for k, name in enumerate(model.state_names) if name not in dropped]
    n, m = len(model.C), model.B.shape[1]
    if not m or not kept:
        raise ModelError(f"{system.name!r} has {m} inputs and {len(kept)} states to hold; a regulator needs some of both")
    R_of = _weights("R", R, model.input_names, 0.0)
    weights = _weights("Q", Q, model.output_names, 0.0)
    T = model.C[:, kept]
    crossed = np.zeros((n, m)) if N is None else checks.shaped("N", N, (n, m))
    _check_definite(weights, R_of, crossed)
    A, B = model.A[np.ix_(kept, kept)], model.B[kept]
    K, P, eigenvalues = _solved(A, B, T.T @ weights @ T, R_of, T.T @ crossed, sample_time, [model.state_names[k] for k in kept])
    places = [list(model.output_names).index(model.state_names[k]) for k in kept]
    whole_K, whole_P = np.zeros((m, n)), np.zeros((n, n))
    whole_K[:, places], whole_P[np.ix_(places, places)] = K, P
    return Regulator(here, pushed, model, (whole_K, whole_P, eigenvalues), efforts, sample_time)


def _held(system: Any, state: State, inputs: Inputs) -> tuple[State, Array]:
    """The state with the constant forces of the inputs that hold it, and these; settings stay as they are."""
    efforts = np.zeros(len(inputs))
    rates = np.concatenate([state.u_dot_view[: state.tree.nu], state.z_dot_view])
    of = [k for k, _ in inputs.of_mobilities]
    if not of or np.abs(rates).max(initial=0.0) <= 1e-12:
        return state, efforts
    found = system.calc_forward_dynamics_derivatives(state)
    B = inputs.calc_rates(state, found.mobility_forces)[:, of]
    efforts[of] = np.linalg.lstsq(B, -np.array(state.u_dot_view[: state.tree.nu]), rcond=1e-10)[0]
    other = state.copy()
    other.u = state.u
    system.realize(other, Stage.DYNAMICS)
    for k, mobility in inputs.of_mobilities:
        other.record.mobility_forces[mobility, 0] += efforts[k]  # as though an element had added it
    system.realize(other)
    return other, efforts


def _check_rest(system: Any, state: State, model: LinearSystem, dropped: Sequence[str]) -> None:
    """Raise `ModelError` unless all but what is left out stays as it is."""
    nu, names = state.tree.nu, speed_names(system, state)
    allowed = _REST * max(1.0, np.abs(model.A).max(initial=0.0))
    for what, rates in (("u_dot", np.array(state.u_dot_view[:nu])), ("z_dot", np.array(state.z_dot_view))):
        worst = int(np.argmax(np.abs(rates))) if len(rates) else 0
        if len(rates) and abs(rates[worst]) > allowed:
            name = names[worst] if what == "u_dot" else auxiliary_names(system, state)[worst]
            raise ModelError(
                f"the state is no equilibrium, and constant forces of the inputs do not hold it: {what} of {name} is "
                f"{rates[worst]:.3g}; begin with mb.find_equilibrium(system, state)"
            )
    for i in np.flatnonzero(np.abs(state.u_view[:nu]) > _REST):
        if f"{names[i]}.v" not in dropped:
            raise ModelError(
                f"{names[i]} moves at u = {state.u_view[i]:.3g}, so that its coordinate is not held; set it to zero, or give "
                f"leave_out=[{names[i] + '.v'!r}]"
            )


def _left_out(model: LinearSystem, leave_out: Sequence[str]) -> list[str]:
    """The states to leave out, looked up; no other may depend on them."""
    if isinstance(leave_out, str):
        raise TypeError(f"leave_out has to be a list of names, such as [{leave_out!r}]")
    dropped = list(leave_out)
    names = list(model.state_names)
    checks.all_known("there is no independent state", dropped, names)
    rest = [k for k, name in enumerate(names) if name not in dropped]
    largest = np.abs(model.A).max(initial=0.0)
    for name in dropped:
        column = np.abs(model.A[rest, names.index(name)])
        if column.max(initial=0.0) > _RANK * largest:
            other = names[rest[int(np.argmax(column))]]
            raise ModelError(f"{name!r} cannot be left out: the rate of {other!r} depends on it")
    return dropped


def _bystanders(system: Any, state: State, model: LinearSystem, but: Collection[str]) -> list[str]:
    """Auxiliary states, beside those of *but*, that nothing moves and nothing depends on, such as the energy in a bushing's z.

    What a damper takes is of second order at rest: no input reaches it, and no weight of it changes the gains.
    """
    names, largest = list(model.state_names), np.abs(model.A).max(initial=0.0)
    moves = np.hstack([np.abs(model.A), np.abs(model.A.T), np.abs(model.B)]).max(axis=1, initial=0.0)
    of_z = {name for name in auxiliary_names(system, state) if name in names} - set(but)
    return [name for name in names if name in of_z and moves[names.index(name)] <= _RANK * largest]


def _weights(what: str, given: Weights, names: Sequence[str], rest: float) -> Array:
    """A symmetric matrix of weights."""
    n = len(names)
    if isinstance(given, Mapping):
        checks.all_known(f"{what} weighs", given, names)
        return np.diag([float(given.get(name, rest)) for name in names])
    matrix = checks.numbers(what, given)
    if matrix.ndim == 0:
        matrix = np.full(n, float(matrix))
    if matrix.shape == (n,):
        matrix = np.diag(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"{what} has to be {n} by {n}, of {', '.join(names)}; got an array of shape {matrix.shape}")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12 * np.abs(matrix).max()):
        raise ValueError(f"{what} has to be symmetric and finite, got {matrix.tolist()}")
    return matrix


def _check_definite(Q: Array, R: Array, N: Array) -> None:
    low = np.linalg.eigvalsh(R)[0]
    if low <= 0.0:
        raise ValueError(f"R has to be positive definite; its least eigenvalue is {low:.3g}")
    whole = np.block([[Q, N], [N.T, R]])
    low = np.linalg.eigvalsh(whole)[0]
    if low < -1e-10 * np.abs(whole).max():
        raise ValueError(f"the weights have to be nowhere negative; the least eigenvalue of [[Q, N], [N^T, R]] is {low:.3g}")


def _solved(
    A: Array, B: Array, Q: Array, R: Array, N: Array, sample_time: float | None, names: Sequence[str]
) -> tuple[Array, Array, Any]:
    """Gains, cost to go, and eigenvalues of the closed loop."""
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    _check_solvable(A, B, Q - N @ np.linalg.solve(R, N.T), A - B @ np.linalg.solve(R, N.T), names)
    try:
        if sample_time is None:
            P = solve_continuous_are(A, B, Q, R, s=N)
            K = np.linalg.solve(R, B.T @ P + N.T)
        else:
            A, B, Q, R, N = sampled(A, B, Q, R, N, sample_time)
            P = solve_discrete_are(A, B, Q, R, s=N)
            K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + N.T)
    except np.linalg.LinAlgError as error:
        raise ModelError(
            f"Riccati's equation of {', '.join(names)} has no solution that steadies them: {error}; weigh more states, or "
            "change the sample time"
        ) from None
    eigenvalues = np.linalg.eigvals(A - B @ K)
    if sample_time is not None:
        eigenvalues = np.log(eigenvalues.astype(complex)) / sample_time
    return K, 0.5 * (P + P.T), eigenvalues[np.lexsort((eigenvalues.imag, -eigenvalues.real))]


def sampled(A: Array, B: Array, Q: Array, R: Array, N: Array, h: float) -> tuple[Array, Array, Array, Array, Array]:
    """The model from sample to sample, and the cost of a period, of inputs that are held: by one exponential (Van Loan)."""
    from scipy.linalg import expm

    n, m = B.shape
    whole = np.block([[A, B], [np.zeros((m, n + m))]])
    cost = np.block([[Q, N], [N.T, R]])
    found = expm(np.block([[-whole.T, cost], [np.zeros((n + m, n + m)), whole]]) * h)
    flow = found[n + m :, n + m :]
    period = flow.T @ found[: n + m, n + m :]
    period = 0.5 * (period + period.T)
    return flow[:n, :n], flow[:n, n:], period[:n, :n], period[n:, n:], period[:n, n:]


def _check_solvable(A: Array, B: Array, Q: Array, undamped: Array, names: Sequence[str]) -> None:
    """Raise `ModelError` where a mode that does not decay is out of the inputs' reach, or no weight sees one that stays.

    Popov, Belevitch and Hautus: rank [A - s, B], and rank [A - s; Q], of eigenvalues s.
    """
    n, size = len(A), max(np.abs(A).max(), np.abs(B).max(), 1e-300)
    for s in np.linalg.eigvals(A):
        if s.real < -1e-9 * size:
            continue
        left, values, _ = np.linalg.svd(np.hstack([A - s * np.eye(n), B]))
        if values[n - 1] < _RANK * size:
            raise ModelError(
                f"the inputs cannot steady {names[int(np.argmax(np.abs(left[:, n - 1])))]}: the mode with the eigenvalue "
                f"{s:.3g} does not decay and is out of their reach; give other inputs, or leave that state out"
            )
    for s in np.linalg.eigvals(undamped):
        if abs(s.real) > 1e-7 * size:
            continue
        _, values, right = np.linalg.svd(np.vstack([undamped - s * np.eye(n), Q * (size / max(np.abs(Q).max(), 1e-300))]))
        if values[n - 1] < _RANK * size:
            raise ModelError(
                f"nothing in Q weighs {names[int(np.argmax(np.abs(right[n - 1])))]}, which stays as it is by itself (a mode "
                f"with the eigenvalue {s:.3g}); weigh it, or give leave_out=[...]"
            )
