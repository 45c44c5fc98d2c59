"""Numbers that are none, for everything that takes a state: an error of the documented kinds, and the state is as it was."""

import inspect
import warnings

import numpy as np
import pytest

import mobod as mb
from mobod.value.attributes import inner_names

ALLOWED = TypeError, ValueError, IndexError, KeyError, NotImplementedError, mb.MobodError
REFUSED = {
    "huge": 10**400,
    "huge numbers": [10**400] * 3,
    "huge array": np.array([10**400] * 3, object),
    "inf": np.inf,
    "text": "x",
}


def parts(system):
    """Objects that have methods of states."""
    yield system
    yield system.matter
    yield from system.matter.bodies[1:2]
    yield from system.matter.constraints[:1]
    for subsystem in system.subsystems:
        yield subsystem
        yield from getattr(subsystem, "forces", ())


def arguments(method):
    """Of a method: the names that have to be given, and the others."""
    parameters = [p for p in inspect.signature(method).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [p.name for p in parameters if p.default is p.empty], [p.name for p in parameters if p.default is not p.empty]


def calls(owner, state):
    """One method after the other, with one refused value for all that has to be given, or for one that may be."""
    for name, _ in inspect.getmembers(type(owner), callable):
        if name.startswith("_") or name in inner_names(type(owner)) or name in ("plot", "animate", "view"):
            continue
        required, optional = arguments(method := getattr(owner, name))
        if "state" not in required:
            continue
        others = [one for one in required if one != "state"]
        for what, value in REFUSED.items():
            for given in [others] if others else [[one] for one in optional]:
                if given:
                    yield f"{name}({', '.join(given)}) of {what}", method, {"state": state, **dict.fromkeys(given, value)}


def snapshot(state):
    own = [(name, array.tobytes()) for name, array in sorted(state.own_fields.items())]
    return state.time, state.q.tobytes(), state.u.tobytes(), state.z.tobytes(), state.stage, own


@pytest.mark.parametrize("example", ["gear_train", "double_pendulum"])
def test_what_is_no_number_is_refused_and_changes_nothing(example):
    system, start = getattr(mb.examples, example).build()
    system.realize(start)
    state, failed, count = start.copy(), [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for owner in parts(system):
            for what, method, given in calls(owner, state):
                before, count = snapshot(state), count + 1
                try:
                    method(**given)
                except ALLOWED:
                    if snapshot(state) != before:
                        failed.append(f"{what} of {type(owner).__name__} changed the state")
                except Exception as error:
                    failed.append(f"{what} of {type(owner).__name__}: {error!r}")
    assert count > 300 and not failed, "\n".join(failed)


def test_numbers_beyond_a_float_are_named():
    system, state = mb.examples.gear_train.build()
    for project in (system.project, system.project_q, system.project_u):
        with pytest.raises(ValueError, match="accuracy has to be"):
            project(state, 10**400)
        with pytest.raises(ValueError, match="accuracy has to be"):
            project(state, np.inf)
    mesh = system.matter.constraints[0]
    for place in (mesh.get_q_index_of_constrained_q, mesh.get_u_index_of_constrained_u):
        with pytest.raises(TypeError, match=r"the number of a constrained . of .* has to be an integer, not inf"):
            place(state, np.inf)
    with pytest.raises(TypeError, match="the number of a time has to be an integer"):
        mb.simulate(system, state, 0.01).contacts_at(np.inf)
