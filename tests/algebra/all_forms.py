"""Arrays in every form in which a caller can give them, to whatever takes arrays: ``python all_forms.py SEED`` prints a digest.

The digest is of all that is computed, and of the kinds of all errors: it is the same whether compiled code looks at the objects
by their layout or not (``MOBOD_OBJECT_ACCESS=plain``).
"""

import array
import ctypes
import gc
import hashlib
import sys

import numpy as np

import mobod as mb
from mobod.algebra import object_layout


class OwnArray(np.ndarray):
    """A subclass, which NumPy hands on."""


class OwnFloat(float):
    """A number of another type."""


class Given:
    """An object that NumPy asks for an array."""

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return np.array(self.x, dtype)


def offset(x, by):
    """At an address that is no multiple of eight."""
    block = np.zeros(x.nbytes + 16, np.uint8)
    y = block[by : by + x.nbytes].view(np.float64)
    y[:] = x
    return y


def inside(x, step):
    """Every second number of a longer array, or backwards."""
    longer = np.full(2 * len(x) + 1, np.nan)
    y = longer[1:-1:2] if step > 0 else longer[-2:0:-2]
    y[:] = x
    return y


def read_only(x):
    y = x.copy()
    y.flags.writeable = False
    return y


def with_metadata(x):
    return x.astype(np.dtype(np.float64, metadata={"unit": "rad"}))


#: Whatever has the same numbers: everything that takes an array takes these, with the same result.
SAME = {
    "array": lambda x: x.copy(),
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x),
    "own floats": lambda x: [OwnFloat(one) for one in x],
    "subclass": lambda x: x.view(OwnArray),
    "memmap": lambda x: x.view(np.memmap),
    "masked": lambda x: np.ma.masked_array(x),
    "read only": read_only,
    "of two": lambda x: inside(x, 2),
    "backwards": lambda x: inside(x, -2),
    "column": lambda x: np.column_stack([x, x])[:, 1],
    "odd address": lambda x: offset(x, 1),
    "half an address": lambda x: offset(x, 4),
    "other order": lambda x: x.astype(x.dtype.newbyteorder()),
    "objects": lambda x: x.astype(object),
    "metadata": with_metadata,
    "memory view": lambda x: memoryview(x.copy()),
    "of strings' memory": lambda x: np.frombuffer(x.tobytes()),
    "array.array": lambda x: array.array("d", x),
    "ctypes": lambda x: (ctypes.c_double * len(x))(*x),
    "that gives one": Given,
}

#: What is no array of so many numbers: an error that says so, and the state is as it was.
WRONG = {
    "short": lambda x: x[:-1].copy(),
    "long": lambda x: np.append(x, 1.0),
    "no dimension": lambda x: np.array(x[0]),
    "two dimensions": lambda x: np.stack([x, x]),
    "a row": lambda x: x[None],
    "many": lambda x: np.zeros((1,) * 64),
    "complex": lambda x: x + 1j,
    "text": lambda x: np.array([str(one) for one in x]),
    "bytes": lambda x: x.tobytes(),
    "a record": lambda x: np.zeros(len(x), [("a", "f8")]),
    "dates": lambda x: np.zeros(len(x), "M8[s]"),
    "object": lambda x: object(),
    "type": lambda x: np.ndarray,
    "of nothing": lambda x: [None] * len(x),
    "deep": lambda x: [[one] for one in x],
    "ragged": lambda x: [[1.0], [1.0, 2.0]],
}


def model():
    """Coordinates of several kinds, more than speeds, a rod, and actuators."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.0, -9.8, 0.0))
    one = mb.body.Rigid(mb.MassProperties(1.5, (0.1, 0.2, -0.1), mb.UnitInertia(0.4, 0.5, 0.6)))
    place = mb.Transform((0.3, -0.4, 0.1))
    base = mb.mobilizer.Free(matter.ground, one, name="base")
    arm = mb.mobilizer.Ball(base, one, X_PF=place, name="arm")
    hand = mb.mobilizer.Pin(arm, one, X_PF=place, name="hand")
    mb.mobilizer.Slider(base, one, X_PF=place, name="tail")
    mb.constraint.Rod(matter.ground, (0.0, 2.0, 0.0), hand, (0.1, 0.0, 0.0), 2.5)
    motors = mb.force.Actuators(forces, [(hand, 0), (arm, 1)])
    return system, system.realize_topology(), motors


def routes(system, state, motors):
    """Functions that take arrays: the name, a good array by random numbers, and the call."""
    matter, nq, nu = system.matter, len(state.q), len(state.u)
    derivatives = system.calc_forward_dynamics_derivatives
    inverse = system.calc_inverse_dynamics_derivatives

    def realized(**given):
        system.realize(state, **given)
        return state.q, state.u, state.u_dot

    def assigned(name, value):
        setattr(state, name, value)
        return realized()

    def driven(value):
        motors.set_efforts(state, value)
        return realized()

    def other_q():
        return 0.5 * state.q

    u_like = {
        "u": lambda x: assigned("u", x),
        "realize u": lambda x: realized(u=x),
        "realize forces": lambda x: realized(mobility_forces=x),
        "realize all": lambda x: realized(q=state.q.copy(), u=x, mobility_forces=x),
        "inverse dynamics": lambda x: system.calc_inverse_dynamics(state, x),
        "inverse dynamics at": lambda x: system.calc_inverse_dynamics(state, x, q=state.q.copy(), u=x),
        "M^-1": lambda x: matter.multiply_by_m_inv(state, x),
        "M": lambda x: matter.multiply_by_m(state, x),
        "derivatives u": lambda x: derivatives(state, u=x),
        "derivatives forces": lambda x: derivatives(state, mobility_forces=x),
        "inverse derivatives": lambda x: inverse(state, x),
        "inverse derivatives u": lambda x: inverse(state, x, u=x),
        "realize another q": lambda x: realized(q=other_q(), u=x),
        "derivatives at another q": lambda x: derivatives(state, q=other_q(), u=x),
        "derivatives elsewhere": lambda x: derivatives(state, q=other_q(), u=0.5 * state.u, mobility_forces=x),
        "inverse derivatives at another q": lambda x: inverse(state, 0.5 * state.u, q=other_q(), u=x),
        "inverse dynamics at another q": lambda x: system.calc_inverse_dynamics(state, state.u_dot, q=other_q(), u=x),
        "residual": lambda x: matter.calc_residual_force_ignoring_constraints(state, known_udot=x),
        "residual of all": lambda x: matter.calc_residual_force_ignoring_constraints(state, x, None, x),
        "acceleration": lambda x: matter.calc_acceleration(state, x),
        "without constraints": lambda x: matter.calc_acceleration_ignoring_constraints(state, x),
        "bodies' accelerations": lambda x: matter.calc_body_acceleration_from_u_dot(state, x),
        "J": lambda x: matter.multiply_by_system_jacobian(state, x),
        "G": lambda x: matter.multiply_by_g(state, x),
        "N": lambda x: matter.multiply_by_n(state, False, x),
        "q_dot": lambda x: matter.calc_q_dot(state, x),
        "q_dot_dot": lambda x: matter.calc_q_dot_dot(state, x),
    }
    q_like = {
        "q": lambda x: assigned("q", x),
        "realize q": lambda x: realized(q=x),
        "realize q and u": lambda x: realized(q=x, u=state.u.copy()),
        "realize q and another u": lambda x: realized(q=x, u=0.5 * state.u),
        "derivatives q and another u": lambda x: derivatives(state, q=x, u=0.5 * state.u),
        "inverse derivatives q": lambda x: inverse(state, state.u_dot, q=x),
        "derivatives q": lambda x: derivatives(state, q=x),
        "inverse dynamics q": lambda x: system.calc_inverse_dynamics(state, np.ones(nu), q=x),
        "N^-1": lambda x: matter.multiply_by_n_inv(state, False, x),
    }
    for name, call in u_like.items():
        yield name, nu, call
    for name, call in q_like.items():
        yield name, nq, call
    yield "efforts", 2, driven


def flat(result):
    """The bytes of what a call returned."""
    parts = result if isinstance(result, tuple) else (result,)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def snapshot(system, state):
    copy = state.copy()
    system.realize(copy)
    return flat((copy.q, copy.u, copy.u_dot))


def attack(seed):
    """All forms through all routes; returns a digest and how many calls there were."""
    rng, digest, calls = np.random.default_rng(seed), hashlib.sha256(), 0
    system, start, motors = model()
    start.q = rng.uniform(-1.0, 1.0, len(start.q))
    start.u = rng.uniform(-1.0, 1.0, len(start.u))
    motors.set_efforts(start, rng.uniform(-1.0, 1.0, 2))
    system.realize(start)
    state = start.copy()
    for name, length, call in routes(system, state, motors):
        x = rng.uniform(-1.0, 1.0, length)
        expected = None
        for form, make in SAME.items():
            state.q, state.u = start.q, start.u
            motors.set_efforts(state, motors.get_efforts(start))
            system.realize(state)
            given = make(x)
            before = bytes(given) if isinstance(given, memoryview) else None
            found = flat(call(given))
            expected = found if expected is None else expected
            assert found == expected, f"seed {seed}: {name} of {form} differs from that of a plain array"
            assert before is None or bytes(given) == before
            calls += 1
        digest.update(expected)
        for form, make in WRONG.items():
            state.q, state.u = start.q, start.u
            motors.set_efforts(state, motors.get_efforts(start))
            system.realize(state)
            before = snapshot(system, state), state.stage
            try:
                call(make(x))
                raise AssertionError(f"seed {seed}: {name} took {form}")
            except (TypeError, ValueError) as error:
                assert str(error), f"{name} of {form}"
                digest.update(f"{name} {form} {type(error).__name__}".encode())
            assert (snapshot(system, state), state.stage) == before, f"seed {seed}: {name} refused {form} and changed the state"
            calls += 1
    gc.collect()
    return digest.hexdigest(), calls


if __name__ == "__main__":
    print(*attack(int(sys.argv[1])), repr(object_layout.why_plain()))
