"""mobod against Simbody 3.7: every quantity of every case, to 1e-10 of the largest entry of its array.

Each test takes one case and one receiver (matter, mobod, ...), asks for everything that the case records of it in all
states, and lists what differs. Results in which Simbody is known to be wrong (`suspect` in the case) are left to independent
tests, such as `tests/mobilizer/test_lines.py`; fits are judged by how close they come.
"""

from __future__ import annotations

import functools
import inspect

import numpy as np
import pytest
import reader

import mobod as mb
from kinds.mobilizers import MOBILIZERS, SIMBODY

TOLERANCE = 1e-10
# An array that should be zero holds the rounding of numbers of order one: below this size, entries are compared with it
# instead of with the largest among them.
SMALLEST_SCALE = 1e-3
# How far a fit may miss what can be reached: the iterative ones stop short of rounding.
FIT_TOLERANCE = 1e-8

# Operators without recorded results, and what their tests rest on.
OTHERWISE_TESTED = {
    "calc_acceleration": "calc_acceleration_ignoring_constraints",
    "calc_residual_force": "calc_residual_force_ignoring_constraints",
    "calc_composite_body_inertias": "get_composite_body_inertia",
    "calc_mobilizer_reaction_forces_using_freebody_method": "calc_mobilizer_reaction_forces",
    "calc_body_moving_point_velocity_in_body": "differences: Simbody has it not",
    "calc_body_moving_point_acceleration_in_body": "differences: Simbody has it not",
    "calc_moving_point_to_point_distance_time_derivative": "differences: Simbody has it not",
    "calc_moving_point_to_point_distance_2nd_time_derivative": "differences: Simbody has it not",
    "calc_inertial_parameter_regressor": "calc_inverse_dynamics at other parameters: Simbody has it not",
    "calc_station_jacobian_derivatives": "differences: Simbody has it not",
    "calc_frame_jacobian_derivatives": "differences: Simbody has it not",
    "calc_gravity_forces": "the elements' forces: Simbody has it not",
}

# Suspect results that are one number a coordinate, or a speed: only those of the lines are in doubt, the others are compared.
BY_COORDINATE = {
    "state.q_dot": "q",
    "state.q_dot_dot": "q",
    "matter.calc_q_dot": "q",
    "matter.calc_q_dot_dot": "q",
    "matter.multiply_by_n": "q",
    "matter.multiply_by_n_transpose": "u",
    "matter.multiply_by_n_inv": "u",
    "matter.multiply_by_n_inv_transpose": "q",
    "matter.multiply_by_n_dot": "q",
    "matter.multiply_by_n_dot_transpose": "u",
}
LINES = {"LineOrientation", "FreeLine"}

RECEIVERS = ("state", "system", "gravity", "mobod", "matter", "calls", "fit", "conversion")

# Arguments after the state, by the names of a state's inputs; a method that is not here takes none.
TASKS = ("tasks.bodies", "tasks.stations")
ARGUMENTS = {
    "multiply_by_m": ("u_like",),
    "multiply_by_m_inv": ("u_like",),
    "calc_q_dot": ("u_like",),
    "calc_q_dot_dot": ("known_udot",),
    "multiply_by_system_jacobian": ("u_like",),
    "multiply_by_system_jacobian_transpose": ("F_body",),
    "multiply_by_station_jacobian": (*TASKS, "u_like"),
    "multiply_by_station_jacobian_transpose": (*TASKS, "tasks.forces"),
    "calc_station_jacobian": TASKS,
    "calc_bias_for_station_jacobian": TASKS,
    "multiply_by_frame_jacobian": (*TASKS, "u_like"),
    "multiply_by_frame_jacobian_transpose": (*TASKS, "tasks.spatial_forces"),
    "calc_frame_jacobian": TASKS,
    "calc_bias_for_frame_jacobian": TASKS,
    "calc_residual_force_ignoring_constraints": ("f_mobility", "F_body", "known_udot"),
    "calc_acceleration_ignoring_constraints": ("f_mobility", "F_body"),
    "calc_body_acceleration_from_u_dot": ("known_udot",),
    "calc_tree_equivalent_mobility_forces": ("F_body",),
}
# The products with N and its kin: method, transpose, input.
PRODUCTS = {
    "multiply_by_n": ("multiply_by_n", False, "u_like"),
    "multiply_by_n_transpose": ("multiply_by_n", True, "q_like"),
    "multiply_by_n_inv": ("multiply_by_n_inv", False, "q_like"),
    "multiply_by_n_inv_transpose": ("multiply_by_n_inv", True, "u_like"),
    "multiply_by_n_dot": ("multiply_by_n_dot", False, "u_like"),
    "multiply_by_n_dot_transpose": ("multiply_by_n_dot", True, "q_like"),
}


def kinds_of_mobod():
    """Names of the mobilizer kinds that mobod has by now (synonyms are the same class)."""
    members = vars(mb.mobilizer).values()
    return {kind.__name__ for kind in members if inspect.isclass(kind) and issubclass(kind, mb.MobilizedBody)}


CASES = [case for case in reader.cases(kinds_of_mobod()) if not case.has_forces]  # those have tests of their own
ASKED = [
    pytest.param(case, receiver, id=f"{case.name}-{receiver}")
    for case in CASES
    for receiver in RECEIVERS
    if any(receiver in record["results"] for record in case.states)
]


@functools.lru_cache(maxsize=8)
def model_named(name):
    """Build a case's model once for all tests of the case, which run one after the other."""
    return reader.build_model(next(case for case in CASES if case.name == name))


def set_inputs(model, record):
    """Give the model's state the q and u of a recorded state, and its time if it has one, and realize it to ACCELERATION."""
    model.state.time = record.get("time", 0.0)
    model.state.q = record["q"]
    model.state.u = record["u"]
    model.system.realize(model.state, mb.Stage.ACCELERATION)


def given(record, name):
    """Look up an input of a recorded state, ``tasks.bodies`` or ``u_like``."""
    for part in name.split("."):
        record = record[part]
    return record


def plain(value):
    """Turn what mobod returns into arrays in lists and dictionaries, shaped as the files are."""
    if value is None:
        return None
    if isinstance(value, mb.MassProperties):
        return {name: plain(getattr(value, name)) for name in ("mass", "com", "inertia")}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return np.asarray(value, dtype=np.float64)


def differences(expected, actual, where=""):
    """Return the places where `actual` differs from `expected`, as text; none where they agree."""
    if expected is None:  # Ground: infinite, or trivial
        return []
    if isinstance(expected, dict):
        return [text for key in expected for text in differences(expected[key], actual[key], f"{where}.{key}")]
    if isinstance(actual, list):
        if len(actual) != len(expected):
            return [f"{where}: {len(actual)} items, not {len(expected)}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [text for i, (one, other) in pairs for text in differences(one, other, f"{where}[{i}]")]
    wanted = np.asarray(expected, dtype=np.float64)
    if wanted.size == 0 and actual.size == 0:
        return []
    if wanted.shape != actual.shape:
        return [f"{where}: shape {actual.shape}, not {wanted.shape}"]
    error = np.abs(actual - wanted)
    relative = error.max() / max(np.abs(wanted).max(), SMALLEST_SCALE)
    if relative <= TOLERANCE:  # False for NaN
        return []
    worst = np.unravel_index(np.argmax(np.nan_to_num(error, nan=np.inf)), error.shape)
    place = ", ".join(map(str, worst))
    return [f"{where}: off by {relative:.1e} of the largest entry; at [{place}] {actual[worst]!r}, not {wanted[worst]!r}"]


def ask_state(model, record, key):
    """Read an attribute of the state."""
    return getattr(model.state, key)


def ask_system(model, record, key):
    """Call a method of the system."""
    return getattr(model.system, key)(model.state)


def ask_gravity(model, record, key):
    """Call a method of the gravity force."""
    return getattr(model.gravity, key)(model.state)


def ask_mobod(model, record, key):
    """Call a method of every body but Ground; hinge columns one by one."""

    def ask(body):
        if key in ("get_h_col", "get_h_fm_col"):
            return [getattr(body, key)(model.state, i) for i in range(body.get_num_u(model.state))]
        return getattr(body, key)(model.state)

    return [None, *(ask(body) for body in model.bodies[1:])]


def ask_matter(model, record, key):
    """Call a method of the matter subsystem, with the inputs recorded for it."""
    if key in PRODUCTS:
        method, transpose, name = PRODUCTS[key]
        return getattr(model.matter, method)(model.state, transpose, given(record, name))
    method = getattr(model.matter, key)
    if key.startswith("get_") and not key.endswith(("_index", "_multipliers")):  # one a body
        return [None, *(method(model.state, body) for body in model.bodies[1:])]
    return method(model.state, *(given(record, name) for name in ARGUMENTS.get(key, ())))


ASK = {"state": ask_state, "system": ask_system, "gravity": ask_gravity, "mobod": ask_mobod, "matter": ask_matter}


def check_results(receiver, model, record, key, expected, doubtful=()):
    """Compare one quantity of a state, but for the coordinates or speeds of the bodies given."""
    actual = plain(ASK[receiver](model, record, key))
    for body in doubtful:
        what = BY_COORDINATE[f"{receiver}.{key}"]
        first = getattr(body, f"get_first_{what}_index")(model.state)
        part = slice(first, first + getattr(body, f"get_num_{what}")(model.state))
        expected = np.array(expected, dtype=np.float64)
        actual[part] = expected[part] = 0.0
    if key.startswith("find_mobilizer_reaction"):  # what a Free body transmits is rounding, of the size of the others' forces
        expected, actual = np.array(expected[1:]), np.array(actual[1:])
    return differences(expected, actual)


def doubtful_bodies(case, model, name):
    """The bodies whose part of a suspect result may be wrong: reversed lines, and in NDot the others too."""
    pairs = zip(model.bodies[1:], case.data["bodies"], strict=True)
    return [
        body
        for body, record in pairs
        if record["kind"] in LINES and (record["direction"] == "reverse" or "multiply_by_n_dot" in name)
    ]


def check_call(model, call):
    """Ask one body with arguments; bodies are given by index, frames as Transforms."""
    arguments = []
    for name, value in call["arguments"].items():
        arguments.append(mb.Transform.from_matrix(value) if name == "frame_on_b" else value)
    answer = getattr(model.bodies[call["body"]], call["method"])(model.state, *arguments)
    return differences(call["result"], plain(answer))


def misfit(method, request, achieved):
    """Distance of the X_FM or V_FM that a fit made from that asked for: (rotation, translation) parts, or the one asked for."""
    request, achieved = np.asarray(request, dtype=np.float64), np.asarray(achieved, dtype=np.float64)
    what = method.rpartition("_fit_")[2]
    rotation, translation = np.s_[:3, :3], np.s_[:3, 3]
    if what in ("transform", "velocity"):
        error = request - achieved
        parts = (error[rotation], error[translation]) if what == "transform" else error
    else:
        part = {"rotation": rotation, "translation": translation, "angular_velocity": 0, "linear_velocity": 1}[what]
        parts = (request - achieved[part],)
    return np.array([np.linalg.norm(part) for part in parts])


def check_fit(model, fit, suspect):
    """Reach what can be reached (Simbody's failures at that are `suspect`); else do no worse than Simbody in every part."""
    state = model.state.copy()
    body = model.bodies[fit["body"]]
    method, request = fit["method"], fit["request"]
    on_q = method.startswith("set_q")
    model.system.realize(state, mb.Stage.POSITION)
    typed = {"set_q_to_fit_transform": mb.Transform.from_matrix, "set_q_to_fit_rotation": mb.Rotation}
    getattr(body, method)(state, typed.get(method, np.asarray)(request))
    model.system.realize(state, mb.Stage.VELOCITY)
    achieved = np.asarray(body.get_mobilizer_transform(state) if on_q else body.get_mobilizer_velocity(state))
    ours, theirs = misfit(method, request, achieved), misfit(method, request, fit["achieved"])
    if fit["reachable"]:
        theirs = np.zeros_like(theirs) if f"fit.{method}" in suspect else theirs
        good = np.all(ours <= theirs + FIT_TOLERANCE)
    else:  # which part to favour is a matter of choice
        good = np.any(ours < theirs - FIT_TOLERANCE) or np.all(ours <= theirs + FIT_TOLERANCE)
    return [] if good else [f": misses the request by {ours}, Simbody's choice by {theirs}"]


def check_conversion(model, key, expected):
    """Compare the other representation; a quaternion and its negative are one rotation, and u stays."""
    converted = getattr(model.matter, key)(model.state)
    found = differences(model.state.u, np.asarray(converted.u), ".u")
    if key == "convert_to_euler_angles":
        found += differences(expected, np.asarray(converted.q), ".q")
    else:
        found += differences(np.abs(expected), np.abs(converted.q), ".q (magnitudes)")
    model.system.realize(converted, mb.Stage.POSITION)
    for body in model.bodies[1:]:
        X_GB = np.asarray(body.get_body_transform(model.state))
        found += differences(X_GB, np.asarray(body.get_body_transform(converted)), f" pose of {body.name}")
    return found


def checks(receiver, case, model, record):
    """Yield (name of the quantity, function that returns its differences) for one receiver in one state."""
    results = record["results"].get(receiver, {})
    if receiver == "calls":
        for call in results:
            yield f"calls.{call['method']}", functools.partial(check_call, model, call)
    elif receiver == "fit":
        for fit in results:
            yield f"fit.{fit['method']}", functools.partial(check_fit, model, fit, case.suspect)
    elif receiver == "conversion":
        for key, expected in results.items():
            yield f"conversion.{key}", functools.partial(check_conversion, model, key, expected)
    else:
        for key, expected in results.items():
            name = f"{receiver}.{key}"
            doubtful = doubtful_bodies(case, model, name) if name in case.suspect and name in BY_COORDINATE else ()
            yield name, functools.partial(check_results, receiver, model, record, key, expected, doubtful)


@pytest.mark.parametrize(("case", "receiver"), ASKED)
def test_agrees_with_simbody(case, receiver):
    """Everything recorded of this receiver is what mobod computes."""
    model = model_named(case.name)
    found = []
    # fits by functions of any kind search in Python, for a second each: those of one state
    searches = receiver == "fit" and case.name.startswith("function_based")
    for i, record in enumerate(case.states[:1] if searches else case.states):
        set_inputs(model, record)
        for name, check in checks(receiver, case, model, record):
            if name in case.suspect and receiver != "fit":
                continue
            try:
                found += [f"{case.name}, state {i}, {name}{text}" for text in check()]
            except Exception as error:  # one missing method shall not hide the rest
                found.append(f"{case.name}, state {i}, {name}: {type(error).__name__}: {error}")
    assert not found, f"{len(found)} differences\n" + "\n".join(found)


@pytest.mark.parametrize("case", [case for case in CASES if not case.is_held], ids=lambda case: case.name)
def test_default_coordinates(case):
    """The default state has Simbody's q: zeros, and quaternions of no rotation."""
    state = reader.build_model(case).state
    assert not differences(case.data["default_q"], np.asarray(state.q), f"{case.name}, default q")


@pytest.mark.parametrize("case", [case for case in CASES if case.is_held], ids=lambda case: case.name)
def test_prescribed_values(case):
    """From any q and u, prescribe makes those that Simbody prescribes; what is free stays."""
    model = reader.build_model(case)
    state, matter = model.state, model.matter
    for record in case.states:
        state.time, state.q, state.u = record["time"], record["q"], record["u"]
        model.system.realize(state, mb.Stage.INSTANCE)
        free_q, free_u = matter.get_free_q_index(state), matter.get_free_u_index(state)
        q, u = np.full(len(state.q), 0.3), np.full(len(state.u), 0.3)
        q[free_q], u[free_u] = state.q[free_q], state.u[free_u]
        state.q, state.u = q, u
        assert model.system.prescribe(state)
        assert not differences(record["q"], np.asarray(state.q)) and not differences(record["u"], np.asarray(state.u))
        assert not np.any(matter.calc_motion_errors(state, mb.Stage.POSITION))
        assert not np.any(matter.calc_motion_errors(state, mb.Stage.VELOCITY))


def test_every_kind_has_cases():
    """A new kind comes with its file of cases, or its record says what its tests rest on instead."""
    covered = {case.data["bodies"][1]["kind"] for case in CASES if case.file.startswith("kind_")}
    assert {r.kind.__name__ for r in MOBILIZERS.values() if r.reference is SIMBODY} | {"FunctionBased"} == covered


def test_every_operator_is_compared_for_every_kind():
    """A new operator comes with its reference, or is named here with what its tests rest on instead."""
    found = {}
    for case in CASES:
        if case.file.startswith("kind_"):
            kind = case.data["bodies"][1]["kind"]
            results = [record["results"] for record in case.states]
            names = {name for result in results for receiver in ("matter", "mobod") for name in result.get(receiver, {})}
            names |= {call["method"] for result in results for call in result.get("calls", [])}
            found.setdefault(kind, set()).update(names)
    prefixes = ("calc_", "find_", "multiply_by_", "express_", "get_total_c", "get_gyro", "get_composite", "get_articulated")
    # of particles, constraints and prescribed motion there are other cases
    apart = {"ParticleSubsystem", "Constrained", "Prescribed"}
    parts = [part for part in mb.SimbodyMatterSubsystem.__mro__ if part.__module__.startswith("mobod.system.")]
    parts = [part for part in (*parts, *mb.MobilizedBody.__mro__) if part.__name__ not in apart]
    operators = {name for part in parts for name in vars(part) if name.startswith(prefixes)}
    # which ask nothing of mechanics, or are called by others
    operators -= {"calc_decorations", "find_body", "find_mobility", "find_reaction"}
    assert len(operators) > 60
    for kind, names in found.items():
        assert operators - names <= set(OTHERWISE_TESTED), (kind, operators - names - set(OTHERWISE_TESTED))
