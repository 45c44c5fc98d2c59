"""Linearize: the linear model of a system at a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..algebra.arrays import Array
from ..derivative import coordinates, equations
from ..derivative.differences import columns
from ..derivative.parameters import by_settings
from ..errors import ModelError
from ..measure.base import Measure
from ..simulation.names import auxiliary_names, speed_names
from ..simulation.quantities import places_of_variable, quantity_by_name
from ..state.state import State
from ..system.arguments import check_state
from ..system.forward_sensitivities import Directions, Variations
from ..system.system import MultibodySystem
from ..value import checks
from ..value.stage import Stage
from . import manifold
from ._closed_loop import Laws
from ._exact_outputs import NAMED as EXACT, ExactMeasures, ExactOutputs, station
from .inputs import Inputs, every_mobility, listed
from .linear_system import LinearSystem

#: The condition from which independent states of one state of an ensemble count as dependent ones in another.
_LEAST_APART = 1e8
Output = Measure | Callable[[State], Any] | str | tuple[Any, Any]


def linearize(
    system: MultibodySystem,
    state: State,
    inputs: Sequence[Any] | None = None,
    outputs: Sequence[Output] | Mapping[str, Output] | None = None,
    *,
    independent: bool = False,
    closed_loop: bool | Literal["sampled"] = False,
) -> LinearSystem:
    """Linearize a system about a state: small changes of displacements, speeds and z, under small changes of inputs.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At ACCELERATION; it need not be in equilibrium.
    inputs : sequence, optional
        Each a pair ``(mobod, which_u)``, a body with one mobility, or a mobility's name, as in tables: a generalized force
        beside those of the elements; or a
        parameter, or discrete forces such as ``"motors.efforts"``, by ``"element.parameter"`` or by their setter, as
        `calc_parameter_derivatives` takes. Every mobility unless given.
    outputs : sequence, or mapping by name, optional
        Measures; callables of a state at ACCELERATION that return a number or an array; names of recorded quantities, such as
        ``"kinetic_energy"`` or ``"q.crank"``; stations ``(body, station)``, whose locations in Ground they are. The state
        itself unless given.
    independent : bool
        Whether states are reduced to those that constraints, locks and motions leave independent. Dependent states then
        follow inputs such as a rod's length, too.
    closed_loop : bool or "sampled"
        Whether controllers of `mobod.control` act all the time, as their laws would if their sample times were short: what
        they remember are further states. ``"sampled"`` is the loop as it runs, from sample to sample, with efforts and inputs
        held in between: states are those before samples, outputs those right after. Otherwise efforts are held as they are in
        *state*.

    Returns
    -------
    LinearSystem
        Its state is (displacements v of q ``(nu,)``, u ``(nu,)``, z ``(nz,)``), or some of them if *independent*. v counts in
        the tangent of q: dq = N v. Last come turns of lines about themselves, of `LineOrientation` and `FreeLine`,
        ``"body.turn"``, an angle each: no speed is along them, but motion leads to them, and u counts along axes that turn.

    Raises
    ------
    StageError
        If the state is below ACCELERATION.
    ValueError, TypeError, IndexError
        If an input or an output is none.
    ModelError
        For a closed loop in which a sensor is late; for a sampled one, if there is no controller, or their sample times differ.

    See Also
    --------
    loop_gain : the loop cut open at a controller's efforts, for margins.
    MultibodySystem.calc_forward_dynamics_derivatives : what A and B are made of.
    find_equilibrium : where to linearize.

    Notes
    -----
    A is the derivative of the flow, with dq = N v taken along the motion: its first rows are (N^-1 (d(N u)/dq N - NDot), 1,
    0), which is (0, 1, 0) but for quaternions and angles at u other than 0. Constraints, locks and motions are in A and B
    either way; with *independent*, dependent states are eliminated, so that A has no eigenvalues of directions off the
    manifold. All is exact, measures among it that can be compiled, and what they integrate, and laws of controllers that are
    made of NumPy's arithmetic, elementary functions, sums, products and linear algebra; callables, other measures and laws,
    reactions, and what motions exert take differences of fourth order, to about 1e-10: `LinearSystem.by_differences` names
    them. In systems with parts in Python all does. A sampled loop is the plant's `LinearSystem.sampled` with the law's
    derivatives (Franklin, Powell and Workman 1998, section 4.3); no linear model is exact where the law is cut at its limits,
    and, with *independent*, a sampled one only where the state is at rest: the manifold's tangent moves with it otherwise.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> state.u = (0, 0)
    >>> system.realize(state)
    >>> model = mb.linearize(system, state)
    >>> model.A.shape, model.B.shape
    ((4, 4), (4, 2))
    """
    check_state("linearize", system, state)
    check_loops(independent, closed_loop)
    return linear_model(system, state, inputs, outputs, independent, closed_loop)


def check_loops(independent: Any, closed_loop: Any) -> None:
    """Raise `TypeError` unless these are what `linearize` takes."""
    checks.flags("linearize", independent=independent)
    if isinstance(closed_loop, str) and closed_loop != "sampled":
        raise TypeError(f"linearize: closed_loop has to be True, False or 'sampled', not {closed_loop!r}")
    if not isinstance(closed_loop, str):
        checks.flags("linearize", closed_loop=closed_loop)


def linear_model(
    system: Any,
    state: State,
    inputs: Sequence[Any] | None,
    outputs: Sequence[Output] | Mapping[str, Output] | None,
    independent: bool,
    closed_loop: bool | Literal["sampled"],
    kept: Sequence[str] | None = None,
) -> LinearSystem:
    """The result of `linearize`, of checked arguments; with *independent* of the states *kept*, if given."""
    if closed_loop:
        inputs = every_mobility(system, state) if inputs is None else inputs
        return with_laws(Laws(system, state), inputs, outputs, independent, closed_loop == "sampled", kept)
    called = list(outputs) if isinstance(outputs, Mapping) else None
    if isinstance(outputs, Mapping):
        outputs = list(outputs.values())
        if unnamed := [one for one in called or () if not isinstance(one, str)]:
            raise TypeError(f"names of outputs are strings, not {unnamed[0]!r}")
    elif outputs is not None:
        outputs = listed("outputs", outputs)
    if state.stage < Stage.ACCELERATION:
        state.refuse("linearize", Stage.ACCELERATION)
    found = system.calc_forward_dynamics_derivatives(state)
    nu, nz, turned = state.tree.nu, len(state.z_view), coordinates.turns(state)
    pushed = Inputs(system, state, inputs)
    m = 2 * nu + nz
    n = m + turned.shape[1]
    A, B = np.zeros((n, n)), np.zeros((n, len(pushed)))
    A[:nu, nu : 2 * nu] = np.eye(nu)
    A[nu : 2 * nu, : 2 * nu + found.z.shape[1]] = np.hstack([found.q, found.u, found.z])
    of_q = np.r_[:nu, m:n]
    A[np.ix_(of_q, of_q)] = coordinates.turning(state)
    B[nu : 2 * nu] = pushed.calc_rates(state, found.mobility_forces)
    is_exact, measures = not system.calls_back, None
    of_measures = is_exact and state.tree.has_measures
    if n > m or (nz and not of_measures):
        by_states, by_inputs = _rates(system, state, pushed, turned)
        A[nu : 2 * nu, m:], A[2 * nu : m], B[2 * nu : m] = by_states[:nu, m:], by_states[nu:], by_inputs[nu:]
    asked = [one for one in outputs or () if isinstance(one, Measure)]
    if of_measures or (is_exact and asked):
        measures = ExactMeasures(system, state, pushed, asked, A[nu : 2 * nu], B[nu : 2 * nu])
    if measures is not None and of_measures:
        A[2 * nu : m], B[2 * nu : m] = measures.z_by_state, measures.z_by_inputs
    by_differences = ["the system"] if system.calls_back else []
    names = [*speed_names(system, state)[:nu]]
    state_names = [*(f"{name}.v" for name in names), *(f"{name}.u" for name in names), *auxiliary_names(system, state)]
    bodies = system.get_matter_subsystem().body_list
    state_names += [f"{bodies[b].name}.turn" for b in coordinates.lines(state)]
    if outputs is None:
        C, D, output_names = np.eye(n), np.zeros((n, len(pushed))), state_names
    else:
        C, D, output_names, some = _of_outputs(system, state, pushed, outputs, called, A, B, is_exact, measures)
        by_differences += some
    if independent:
        like = None if kept is None else [state_names.index(name) for name in kept]
        A, B, C, D, keep = _reduced(system, state, pushed, (A, B, C, D), like=like)
        state_names = [state_names[i] for i in keep]
    return LinearSystem(A, B, C, D, state_names, pushed.names, output_names, by_differences)


def _rates(system: Any, state: State, inputs: Inputs, turned: Array) -> tuple[Array, Array]:
    """Derivatives of u_dot, then of z_dot, by states, and by inputs but for those of u_dot; z of measures are left out."""
    nu, nz, of_forces = state.tree.nu, len(state.z_view), state.tree.nz

    def rates(other: State) -> Array:
        return np.concatenate([other.u_dot_view[:nu], other.z_dot_view])

    if system.calls_back or (nz > of_forces and not state.tree.has_measures):
        return _outputs_by_all(system, state, inputs, rates)
    found, m = equations.by_variables(state, turned=turned), 2 * nu + nz
    n, of = m + turned.shape[1], np.r_[: 2 * nu + of_forces, found.places["turn"]]
    C, D = np.zeros((nu + nz, n)), np.zeros((nu + nz, len(inputs)))
    which, own = np.r_[: 2 * nu + of_forces, m:n], slice(nu, nu + of_forces)
    C[:nu, which], C[own, which] = equations.solved(state, found)[0][:, of], found.z_dot[:, of]
    D[own, inputs.of_settings] = by_settings(system, state, inputs.settings).z_dot
    return C, D


def with_laws(
    laws: Laws,
    inputs: Any,
    outputs: Any,
    independent: bool,
    sampled: bool,
    kept: Sequence[str] | None = None,
    cut: Sequence[int] = (),
) -> LinearSystem:
    """The same with controllers whose laws act all the time, or are sampled.

    Where some efforts are *cut*, the inputs act in their stead and the outputs are what their laws give, with the sign changed.
    """
    system, e, k = laws.system, len(laws.pairs), len(laws.memory_names)
    plant = linear_model(system, laws.state, [*inputs, *laws.pairs], outputs, False, False)
    pushed = Inputs(system, laws.state, inputs)
    n, m = len(plant.A), len(pushed)
    by_state, by_memory, by_inputs = laws.differentiate(pushed, n)
    if sampled:
        T = laws.find_sample_time()
        plant = plant.sampled(T)
        for rates in (by_state, by_memory, by_inputs):
            rates[e:] *= T
        by_memory[e:] += np.eye(k)
    closed = np.ones(e)
    closed[list(cut)] = 0.0
    B_e, D_e = plant.B[:, m:] * closed, plant.D[:, m:] * closed
    A = np.block([[plant.A + B_e @ by_state[:e], B_e @ by_memory[:e]], [by_state[e:], by_memory[e:]]])
    B = np.vstack([plant.B[:, :m] + B_e @ by_inputs[:e], by_inputs[e:]])
    state_names, input_names = [*plant.state_names, *laws.memory_names], list(plant.input_names[:m])
    if cut:
        B = np.vstack([plant.B[:, m:], np.zeros((k, e))])[:, cut]
        C, D = -np.hstack([by_state, by_memory])[cut], np.zeros((len(cut), len(cut)))
        input_names, output_names = ([names[i] for i in cut] for names in (plant.input_names[m:], laws.effort_names))
        pushed = Inputs(system, laws.state, [laws.pairs[i] for i in cut])
    elif outputs is None:
        C, D, output_names = np.eye(n + k), np.zeros((n + k, m)), state_names
    else:
        C = np.hstack([plant.C + D_e @ by_state[:e], D_e @ by_memory[:e]])
        D, output_names = plant.D[:, :m] + D_e @ by_inputs[:e], list(plant.output_names)
    if independent:
        like = None if kept is None else [state_names.index(name) for name in kept]
        A, B, C, D, keep = _reduced(system, laws.state, pushed, (A, B, C, D), k, like)
        state_names = [state_names[i] for i in keep]
    by_differences = [*plant.by_differences, *laws.by_differences]
    return LinearSystem(A, B, C, D, state_names, input_names, output_names, by_differences, plant.sample_time)


def _reduced(
    system: Any,
    state: State,
    pushed: Inputs,
    matrices: tuple[Array, Array, Array, Array],
    more: int = 0,
    like: Sequence[int] | None = None,
) -> tuple[Array, Array, Array, Array, Any]:
    """A, B, C and D of independent states, and which they are, *like* if given; *more* states come last, and are independent.

    All states are T times these, and K times inputs that move the manifold, such as a rod's length, each held where it is.
    """
    A, B, C, D = matrices
    keep, T = _independent(state, len(state.z_view))
    n = len(T)
    T = np.block([[T, np.zeros((n, more))], [np.zeros((more, T.shape[1])), np.eye(more)]])
    keep, K = np.concatenate([keep, n + np.arange(more)]), np.zeros((n + more, B.shape[1]))
    if like is not None:
        if len(like) != len(keep) or np.linalg.cond(T[like]) > _LEAST_APART:
            raise ModelError(
                f"states of {system.name!r} differ in which of their coordinates are independent: linearize them one by one, "
                "by mb.linearize(system, ensemble.get_state(i), independent=True)"
            )
        keep, T = np.array(like, int), T @ np.linalg.inv(T[like])
    if pushed.settings and (state.is_constrained or state.has_known):
        directions = Directions(system, state, pushed.settings)
        of = Variations(system, state, directions)
        along = of.project(state, np.zeros((of.ny, len(directions))), np.eye(len(directions)))
        changes = of.tangent(state, along)
        order = np.r_[: of.nu, of.nv : of.nv + of.nu + of.nz, of.nu : of.nv]  # turns of lines come last
        K[:n, pushed.of_settings] = changes[order]
    K = K - T @ K[keep]
    return A[keep] @ T, B[keep] + A[keep] @ K, C @ T, D + C @ K, keep


def _independent(state: State, nz: int) -> tuple[Any, Array]:
    """The independent states, and T, with which they give all."""
    nu, turned = state.tree.nu, len(coordinates.lines(state))
    n = 2 * nu + nz + turned
    places_of_q, places_of_u, places_of_z = np.r_[:nu, 2 * nu + nz : n], np.r_[nu : 2 * nu], np.r_[2 * nu : 2 * nu + nz]
    of_q, Tq = manifold.split(manifold.of_positions(state))
    by_q, rows = manifold.of_speeds(state)
    of_u, Tu = manifold.split(rows)
    # rows u = -by_q v: a particular solution beside those that T_u gives
    own = -np.linalg.pinv(rows) @ (by_q @ Tq) if len(rows) else np.zeros((nu, len(of_q)))
    own = own - Tu @ own[of_u]  # with the independent speeds at zero
    T = np.zeros((n, len(of_q) + len(of_u) + nz))
    T[places_of_q, : len(of_q)] = Tq
    T[places_of_u, : len(of_q)] = own
    T[places_of_u, len(of_q) : len(of_q) + len(of_u)] = Tu
    T[places_of_z, len(of_q) + len(of_u) :] = np.eye(nz)
    keep = np.concatenate([places_of_q[of_q], places_of_u[of_u], places_of_z]).astype(int)
    order = np.argsort(keep)
    return keep[order], T[:, order]


def _of_outputs(
    system: Any,
    state: State,
    inputs: Inputs,
    outputs: Sequence[Output],
    called: Sequence[str] | None,
    A: Array,
    B: Array,
    is_exact: bool,
    measures: ExactMeasures | None,
) -> tuple[Array, Array, list[str], list[str]]:
    """C, D and names of outputs, exactly where that is possible; and the names of others."""
    n, nu, parts, exact = len(A), state.tree.nu, [], None
    names: list[str] = []
    others: list[str] = []
    for i, output in enumerate(listed("outputs", outputs)):
        values, own = _values_of(system, [output], state, f"output {i}" if called is None else f"output {called[i]!r}")
        own = [one.replace("output_0", f"output_{i}") for one in own]
        if called is not None:
            own = [called[i]] if len(own) == 1 else [f"{called[i]}[{k}]" for k in range(len(own))]
        names += own
        formula = _formula(system, output) if is_exact else None
        of_measure = None if measures is None else measures.of(output)
        variable = _variable(system, state, output, n)
        if is_exact and isinstance(output, str) and output == "u_dot":
            parts.append((A[nu : 2 * nu], B[nu : 2 * nu]))
        elif is_exact and variable is not None:
            parts.append((variable, np.zeros((len(variable), len(inputs)))))
        elif of_measure is not None:
            parts.append(of_measure)
        elif formula is None:
            parts.append(_outputs_by_all(system, state, inputs, values))
            others += own
        else:
            exact = exact or ExactOutputs(state, inputs.settings)
            C = exact.differentiate(formula, exact.by_state)
            D = np.zeros((len(C), len(inputs)))
            D[:, inputs.of_settings] = exact.differentiate(formula, exact.by_settings)
            if output == "mobility_forces":
                for k, i in inputs.of_mobilities:
                    D[i, k] = 1.0
            parts.append((C, D))
    if not parts:
        return np.zeros((0, n)), np.zeros((0, len(inputs))), [], []
    return np.vstack([C for C, _ in parts]), np.vstack([D for _, D in parts]), names, others


def _variable(system: Any, state: State, output: Output, n: int) -> Array | None:
    """The rows of C of a coordinate, speed or z that is asked for by name; None of others, and where lines turn."""
    where = places_of_variable(system, state, output) if isinstance(output, str) else None
    nq, nu, nz = (len(view) for view in (state.q_view, state.u_view, state.z_view))
    if where is None or n != 2 * nu + nz or (nq, nu) != (state.tree.nq, state.tree.nu):
        return None
    by = np.eye(n)
    if str(output).startswith("q"):
        matter = system.get_matter_subsystem()
        by = np.zeros((nq, n))
        by[:, :nu] = np.array([matter.multiply_by_n(state, False, one) for one in np.eye(nu)]).reshape(nu, nq).T
    return by[{"q": 0, "u": nu, "z": 2 * nu}[str(output)[0]] + np.atleast_1d(where)]


def _formula(system: Any, output: Output) -> Any:
    """An output as a function of fields of the record; None where it is another."""
    if isinstance(output, str):
        return EXACT.get(output)
    if not isinstance(output, tuple):
        return None
    return station(system.get_matter_subsystem().find_body(output[0]).index, checks.vector("station", output[1], ValueError))


def _values_of(system: Any, outputs: Sequence[Output], state: State, what: str) -> tuple[Callable[[State], Array], list[str]]:
    """One vector of all outputs of a state, and a name for each number; errors call them *what*."""
    functions: list[Callable[[State], Any]] = []
    names: list[str] = []
    for i, output in enumerate(outputs):
        one: Any = output
        if isinstance(one, str):
            one = _named(system, state, one)
        elif isinstance(one, tuple):
            one = _station(system, one)
        if not callable(one) and not hasattr(one, "get_value"):
            raise TypeError(
                f"{what} has to be a measure, a callable of a state, a recorded quantity's name, or (body, station), "
                f"not {one!r}"
            )
        function: Callable[[State], Any] = one.get_value if isinstance(one, Measure) else one
        functions.append(function)
        given = (getattr(one, "given_name", None) or type(one).__name__) if isinstance(one, Measure) else None
        name = given or getattr(one, "__name__", f"output_{i}").replace("<lambda>", f"output_{i}")
        value = function(state)
        try:
            size = np.asarray(value, np.float64).size
        except (TypeError, ValueError):
            raise TypeError(f"{what} has to be a number or an array of such, not {checks.shown(value)}") from None
        names += [name] if size == 1 else [f"{name}[{k}]" for k in range(size)]

    def values(other: State) -> Array:
        return np.concatenate([np.ravel(np.asarray(function(other), np.float64)) for function in functions])

    return values, names


def _named(system: Any, state: State, name: str) -> Callable[[State], Any]:
    """A recorded quantity."""
    value = quantity_by_name(system, state, name)
    value.__name__ = name
    return value


def _station(system: Any, pair: tuple[Any, ...]) -> Callable[[State], Any]:
    """The location of a station in Ground."""
    if len(pair) != 2:
        raise ValueError(f"a station is (body, station), got {pair!r}")
    body, station = system.get_matter_subsystem().find_body(pair[0]), checks.vector("station", pair[1], ValueError)

    def location(state: State) -> Any:
        return body.find_station_location_in_ground(state, station)

    location.__name__ = f"{body.name}.station"
    return location


def _outputs_by_all(system: Any, state: State, inputs: Inputs, values: Callable[[State], Array]) -> tuple[Array, Array]:
    """Derivatives of values of a state, at ACCELERATION, by displacements, u and z, and by inputs."""
    nu, nz, turned = state.tree.nu, len(state.z_view), len(coordinates.lines(state))

    def at(k: int, h: float) -> Array:
        other = manifold.displaced(state, k, h, nu + turned)
        system.realize(other, Stage.ACCELERATION)
        return values(other)

    size = len(values(state))
    return columns(at, 2 * nu + nz + turned, size), inputs.differences(state, range(len(inputs)), values, size)
