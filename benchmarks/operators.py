"""Measure what operators cost from Python: inverse dynamics, explicit M and M^-1 at a new q; products; getters.

At a new q: mobod has q (and u, for inverse dynamics) assigned and is realized to the stage that the operator needs, then asked;
Pinocchio's functions take q; MuJoCo gets its stages one by one, no more of them than the operator needs. All three return
dense arrays. With the kinematics there: mobod alone, at 30 pins. Ratios are the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from .engines import available_engines, load
from .measure import QUICK, THOROUGH, Effort, empty_sweep, ratio, summary, time_calls
from .models import Array, Model, find_models
from .peers.engine import Engine
from .peers.mobod import Mobod
from .peers.mujoco import MuJoCo
from .peers.pinocchio import Pinocchio
from .report import Target, cell_of_time, print_table, run_as_script

MODELS = ["pin10", "pin30", "pin100", "pin1000", "ball30", "free30", "tree255", "humanoid", "g1"]
QUICK_MODELS = ["pin30", "humanoid"]
STATES = 16
OPERATORS = ("inverse dynamics", "M", "M^-1")
PEERS = ("Pinocchio", "MuJoCo")
PARTS_MODEL = "pin30"
#: Microseconds, with the kinematics there, at 30 pins.
LIMITS = {
    "multiply_by_m": 2.5,
    "multiply_by_m_inv": 2.5,
    "calc_station_jacobian, 2 tasks": 5.0,
    "get_body_origin_location": 0.5,
    "get_body_velocity": 0.5,
    "get_body_acceleration": 0.5,
    "get_q": 0.5,
    "get_u": 0.5,
    "get_u_dot": 0.5,
    "get_body_transform": 1.0,
    "get_body_rotation": 1.0,
    "get_mobilizer_transform": 1.0,
}

Calls = dict[str, Callable]


def calls_of_mobod(engine: Mobod) -> Calls:
    """Operators of (q, u, udot), in mobod's own order."""
    state, realize, matter, Stage = engine.state, engine.system.realize, engine.system.matter, engine.mb.Stage
    position, velocity = Stage.POSITION, Stage.VELOCITY

    def inverse_dynamics(q, u, udot):
        state.q = q
        state.u = u
        realize(state, velocity)
        return matter.calc_residual_force_ignoring_constraints(state, None, None, udot)

    def mass_matrix(q, u, udot):
        state.q = q
        realize(state, position)
        return matter.calc_m(state)

    def inverse(q, u, udot):
        state.q = q
        realize(state, position)
        return matter.calc_m_inv(state)

    return dict(zip(OPERATORS, (inverse_dynamics, mass_matrix, inverse), strict=True))


def calls_of_pinocchio(engine: Pinocchio) -> Calls:
    """Operators of (q, v, v_dot), in Pinocchio's coordinates. `rnea` has gravity in it, which costs it nothing."""
    import pinocchio as pin

    model, data = engine.pin_model, engine.pin_data

    def inverse_dynamics(q, v, v_dot):
        return pin.rnea(model, data, q, v, v_dot)

    def mass_matrix(q, v, v_dot):
        return pin.crba(model, data, q)  # both halves, in this binding

    def inverse(q, v, v_dot):
        return pin.computeMinverse(model, data, q)

    return dict(zip(OPERATORS, (inverse_dynamics, mass_matrix, inverse), strict=True))


def calls_of_mujoco(engine: MuJoCo) -> Calls:
    """Operators of (qpos, qvel, qacc), stage by stage."""
    import mujoco as mj

    m, d = engine.mj_model, mj.MjData(engine.mj_model)
    qpos, qvel, qacc = d.qpos, d.qvel, d.qacc
    nv = m.nv
    force, full, identity, inverse_matrix = np.empty(nv), np.empty((nv, nv)), np.eye(nv), np.empty((nv, nv))

    def inverse_dynamics(q, v, a):
        qpos[:] = q
        qvel[:] = v
        qacc[:] = a
        mj.mj_kinematics(m, d)
        mj.mj_comPos(m, d)
        mj.mj_comVel(m, d)
        mj.mj_rne(m, d, 1, force)
        return force

    def mass_matrix(q, v, a):
        qpos[:] = q
        mj.mj_kinematics(m, d)
        mj.mj_comPos(m, d)
        mj.mj_makeM(m, d)
        _full_matrix(mj, m, d, full)
        return full

    def inverse(q, v, a):
        qpos[:] = q
        mj.mj_kinematics(m, d)
        mj.mj_comPos(m, d)
        mj.mj_makeM(m, d)
        mj.mj_factorM(m, d)
        mj.mj_solveM(m, d, inverse_matrix, identity)
        return inverse_matrix

    return dict(zip(OPERATORS, (inverse_dynamics, mass_matrix, inverse), strict=True))


def _full_matrix(mj, m, d, full: Array) -> None:
    """Expand MuJoCo's sparse M, by the call that its version has."""
    try:
        mj.mj_fullM(m, full, d.qM)
    except (AttributeError, TypeError):
        mj.mj_fullM(m, d, full)


CALLS = {"mobod": calls_of_mobod, "Pinocchio": calls_of_pinocchio, "MuJoCo": calls_of_mujoco}


def arguments(engine: Engine, states: list[tuple[Array, Array]]) -> list[tuple[Array, Array, Array]]:
    """Every state and an acceleration, in the engine's own coordinates."""
    rng = np.random.default_rng(1)
    given = []
    for q, u in states:
        native = engine.coordinates.native(q, u) if isinstance(engine, Pinocchio) else engine.native(q, u)
        given.append((*native, rng.standard_normal(len(native[1]))))
    return given


def is_depth_first(model: Model) -> bool:
    """Whether all that hangs on a body has the numbers that follow it, which Pinocchio's M and M^-1 take for granted."""
    path = [0]
    for b, body in enumerate(model.bodies):
        while path and path[-1] != body.parent:
            path.pop()
        if not path:
            return False
        path.append(b + 1)
    return True


def disagreements(model: Model, engines: list[Engine]) -> list[str]:
    """What differs: u^T M u between engines, whatever their speeds; M M^-1 from 1; forces where speeds are the same."""
    found, q, u = [], *model.random_state(0)
    # in a chain everybody numbers the bodies alike
    same = all(body.kind in ("pin", "slider") and body.parent == b for b, body in enumerate(model.bodies))
    reference: dict[str, Array] = {}
    for engine in engines:
        if engine.name == "Pinocchio" and not is_depth_first(model):  # what it computes costs the same, but is not M
            continue
        calls, (given,) = CALLS[engine.name](engine), arguments(engine, [(q, u)])
        M, M_inv = np.array(calls["M"](*given)), np.array(calls["M^-1"](*given))
        if engine.name == "Pinocchio":  # computeMinverse fills one half
            M_inv = np.triu(M_inv) + np.triu(M_inv, 1).T
            M = np.triu(M) + np.triu(M, 1).T
        off = np.abs(M @ M_inv - np.eye(len(M))).max()
        if not off < 100.0 * engine.tolerance:  # absolute, of entries that are the product of large ones
            found.append(f"{model.name}: {engine.name}'s M M^-1 is {off:.1e} from 1")
        values = {"u^T M u": np.array([given[1] @ M @ given[1]])}
        if same:
            values["forces"] = np.array(calls["inverse dynamics"](*given))
            if engine.name == "mobod":  # whose inverse dynamics has no force in it that it is not given
                engine.system.realize(engine.state, engine.mb.Stage.DYNAMICS)
                gravity = engine.system.get_rigid_body_forces(engine.state)
                values["forces"] = engine.system.matter.calc_residual_force_ignoring_constraints(
                    engine.state, None, gravity, given[2]
                )
        for name, value in values.items():
            other = reference.setdefault(name, value)
            if value.shape == other.shape and not np.abs(value - other).max() <= 1e-8 * np.abs(other).max():
                found.append(f"{model.name}: {name} of {engine.name} differs")
    return found


def measure_model(model: Model, engines: list[Engine], effort: Effort) -> dict:
    """Time every operator in every engine, round by round."""
    states = model.random_states(STATES)
    calls = {engine.name: CALLS[engine.name](engine) for engine in engines}
    given = {engine.name: arguments(engine, states) for engine in engines}
    rounds: dict[tuple[str, str], list[list[float]]] = {}
    for _ in range(effort.rounds):
        for operator in OPERATORS:
            for engine in engines:
                times = time_calls(calls[engine.name][operator], given[engine.name], effort.repeats, effort.seconds)
                rounds.setdefault((operator, engine.name), []).append(times)
    result: dict[str, dict] = {operator: {} for operator in OPERATORS}
    for (operator, name), samples in rounds.items():
        result[operator][name] = summary(samples)
    return result


def measure_parts(effort: Effort) -> dict:
    """Operators and getters of mobod alone, at a state where everything they need is there."""
    engine = Mobod(find_models([PARTS_MODEL])[0][0])
    state, matter = engine.state, engine.system.matter
    state.q, state.u = engine.native(*engine.model.random_state(0))
    engine.system.realize(state, engine.mb.Stage.ACCELERATION)
    v = np.random.default_rng(2).standard_normal(engine.model.nu)
    body, last = matter.bodies[engine.model.nu // 2], matter.bodies[-1]
    two, stations = [body, last], np.ones((2, 3))
    many, points = [1 + t % engine.model.nu for t in range(100)], np.ones((100, 3))
    calls: dict[str, tuple[Callable, tuple]] = {
        "multiply_by_m": (matter.multiply_by_m, (state, v)),
        "multiply_by_m_inv": (matter.multiply_by_m_inv, (state, v)),
        "calc_station_jacobian, 2 tasks": (matter.calc_station_jacobian, (state, two, stations)),
        "multiply_by_station_jacobian, 1 task": (matter.multiply_by_station_jacobian, (state, [last], stations[:1], v)),
        "multiply_by_station_jacobian, 100 tasks": (matter.multiply_by_station_jacobian, (state, many, points, v)),
        "calc_mobilizer_reaction_forces": (matter.calc_mobilizer_reaction_forces, (state,)),
    }
    calls |= {name: (getattr(body, name), (state,)) for name in LIMITS if name.startswith("get_")}
    rounds: dict[str, list[list[float]]] = {}
    for _ in range(effort.rounds):
        for name, (call, given) in calls.items():
            rounds.setdefault(name, []).append(time_calls(call, [given], effort.repeats, effort.seconds))
    return {name: summary(samples) for name, samples in rounds.items()}


def measure(options: argparse.Namespace) -> dict:
    """Every model in every engine that has operators for Python."""
    effort = QUICK if options.quick else THOROUGH
    models, notes = find_models(getattr(options, "models", None) or (QUICK_MODELS if options.quick else MODELS))
    engines, missing = available_engines()
    engines = [engine for engine in engines if engine.name in CALLS]
    results: dict[str, dict] = {}
    failures: list[str] = []
    for model in models:
        loaded, left_out = load(model, engines)
        failures += disagreements(model, loaded)
        notes += left_out
        if not is_depth_first(model):
            notes.append(f"{model.name} is not numbered depth first: Pinocchio's M and M^-1 are timed there, but wrong")
        results[model.name] = {"bodies": len(model.bodies), "times": measure_model(model, loaded, effort)}
    return {
        "engines": {engine.name: engine.version() for engine in engines},
        "notes": list(dict.fromkeys(notes + missing)),
        "disagreements": failures,
        "empty_call": summary([empty_sweep([()], effort.repeats, effort.seconds)]),
        "models": results,
        "parts": {} if Mobod.missing() else measure_parts(effort),
    }


def show(results: dict) -> list[Target]:
    """Print the tables; the targets."""
    for note in results["notes"]:
        print(f"note: {note}")
    for line in results["disagreements"]:
        print(f"DISAGREEMENT: {line}")
    versions = ", ".join(f"{name} {version}" for name, version in results["engines"].items())
    print(f"\n{versions}; an empty call from Python {cell_of_time(results['empty_call'])} us\n")
    targets = []
    for operator in OPERATORS:
        rows = []
        for name, result in results["models"].items():
            times = result["times"][operator]
            ratios = [ratio(times.get(peer), times.get("mobod")) for peer in PEERS]
            rows.append([name, *(cell_of_time(times.get(engine)) for engine in CALLS), *ratios])
            if result["bodies"] >= 29:  # the humanoid's too
                best = min((value for value in ratios if value is not None), default=None)
                targets.append(Target(f"{name}: {operator} at a new q, best peer / mobod", best, 1.0))
        columns = ["model", *CALLS, *(f"{peer} / mobod" for peer in PEERS)]
        print_table(f"{operator} at a new q from Python, us: minimum (median ± spread)", columns, rows)
    parts = results["parts"]
    rows = [[name, cell_of_time(timing), LIMITS.get(name)] for name, timing in parts.items()]
    print_table("30 pins, the kinematics there, us: minimum (median ± spread)", ["what", "us", "limit"], rows)
    for name, limit in LIMITS.items():
        measured = parts[name]["min"] if name in parts else None
        targets.append(Target(f"30 pins: {name}, us", measured, limit, at_least=False))
    return targets


def add_options(parser: argparse.ArgumentParser) -> None:
    """Models by name."""
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these models")


def main(given: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, add_options, given)


if __name__ == "__main__":
    raise SystemExit(1 if main()["disagreements"] else 0)
