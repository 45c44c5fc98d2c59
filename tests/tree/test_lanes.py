"""Every kernel in lanes gives, lane by lane, what it gives for one state; and plain Python gives the same.

To rounding, not to the bit: where multiply and add are fused may differ. Tolerance 1e-10 of the largest entry, which is
roundings times the condition of the mass matrix; 1e-12 where nothing is divided by it.
"""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest

import mobod as mb
import mobod.tree
from mobod.compiling import Kernel
from mobod.force import dispatch as forces
from mobod.state import validity
from mobod.tree import realize as _realize

NT = 4  # tasks of Jacobians
# arguments of each kernel after the block. A name stands for random numbers of the shape below; out: what it fills
SHAPES = {
    "u": ("nu",),
    "q": ("nq",),
    "F": ("nb", 6),
    "stations": (NT, 3),
    "F_task": (NT, 6),
    "out(nu)": ("nu",),
    "out(nq)": ("nq",),
    "out(nb,6)": ("nb", 6),
    "out(nt,6)": (NT, 6),
    "out(6nt,nu)": (6 * NT, "nu"),
    "out(3nt,nu)": (3 * NT, "nu"),
    "out(1,6)": (1, 6),
    "out(2,3)": (2, 3),
    "out(10)": (10, 1),
    "out(6)": (6, 1),
    "out(2)": (2, 1),
    "out(1)": (1, 1),
}
CALLS = [
    ("articulated_inertia.store_inertias",),
    ("composite_inertia.realize_composite",),
    ("forward_dynamics.calc_acceleration", "u", "F", "out(nu)", "out(nb,6)"),
    ("inverse_dynamics.calc_residual_force", "u", "F", "u", "out(nu)"),
    ("inverse_dynamics.calc_whole_force", "u", "out(nu)"),
    ("inverse_dynamics.calc_body_acceleration_from_u_dot", "u", "out(nb,6)"),
    ("inverse_dynamics.calc_tree_equivalent_mobility_forces", "F", "out(nu)"),
    ("jacobian.multiply_by_system_jacobian", "u", "out(nb,6)"),
    ("jacobian.multiply_by_system_jacobian_transpose", "F", "out(nu)"),
    ("jacobian.multiply_by_frame_jacobian", "bodies", "stations", "u", "out(nt,6)"),
    ("jacobian.multiply_by_frame_jacobian_transpose", "bodies", "stations", "F_task", "out(nu)"),
    ("jacobian.calc_frame_jacobian", "bodies", "stations", 6, "out(6nt,nu)"),
    ("jacobian.calc_frame_jacobian", "bodies", "stations", 3, "out(3nt,nu)"),
    ("jacobian.calc_bias_for_frame_jacobian", "bodies", "stations", "out(nt,6)"),
    ("mass_matrix.multiply_by_m", "u", "out(nu)"),
    ("mobilizer_motion.find_velocity", 3, "out(2,3)"),
    ("mobilizer_motion.find_acceleration", 3, "out(2,3)"),
    ("momentum.calc_mass_properties", "out(10)"),
    ("momentum.calc_momentum", "out(6)"),
    ("momentum.calc_energy", "out(2)"),
    ("momentum.calc_kinetic_energy", "out(1)"),
    ("reaction.calc_reactions", False, "out(nb,6)"),
    ("reaction.calc_reactions_by_free_bodies", "out(nb,6)"),
    ("reaction.find_reaction", 4, 1, False, "out(1,6)"),
    ("reaction.find_reaction", 4, 2, False, "out(1,6)"),
    ("reaction.find_reaction", 4, 3, False, "out(1,6)"),
    ("rates.multiply_by_n", False, "u", "out(nq)"),
    ("rates.multiply_by_n", True, "q", "out(nu)"),
    ("rates.multiply_by_n_inv", False, "q", "out(nu)"),
    ("rates.multiply_by_n_inv", True, "u", "out(nq)"),
    ("rates.multiply_by_n_dot", False, "u", "out(nq)"),
    ("rates.multiply_by_n_dot", True, "q", "out(nu)"),
    ("rates.normalize_quaternions",),
    ("force.one_force", 0, 0),
    ("force.scalars", 1, 0),
]
EVERYTHING = validity.EVERYTHING
#: Kernels with tests of their own: here (realize), in the tests of ensembles (batch) and motions, and the benchmarks' loop.
ELSEWHERE = {
    "realize.realize",
    "realize.realize_checked",
    "realize.repeat",
    "batch.realize_groups",
    "batch.collect",
    "prescribe.call",
    # those of derivatives: their tests compare ensembles with states
    "inverse_dynamics_derivatives.calc_derivatives",
    "inertial_regressor.calc_regressor",
    "measure_tangents.calc_measures",
    # in those of contacts that slide, in states and ensembles
    "sliding.leave_out_friction",
    "sliding.add_friction_to_rows",
    "sliding.add_friction_by_multiplier",
}
#: Fields that kernels without arrays among their arguments change; the last is of energies.
CHANGED = ("q", "composite", "articulated", "body_forces", "work_e")
#: Those that work on all columns at once, whose scratch is one array by two names.
EXPLICIT = {"explicit_mass_matrix.calc_m", "inverse_mass_matrix.calc_m_inv"}


def modules():
    yield "force", forces
    for info in pkgutil.iter_modules(mobod.tree.__path__):
        yield info.name, import_module(f"mobod.tree.{info.name}")


def kernel_named(name):
    module, function = name.split(".")
    return getattr(dict(modules())[module], function)


def test_every_kernel_of_the_tree_is_compared():
    found = {
        f"{name}.{key}"
        for name, module in modules()
        for key, value in vars(module).items()
        if isinstance(value, Kernel) and value.__module__ == module.__name__
    }
    # those of many states are compared in the ensemble's tests; others in those of what they serve
    others = ("batch_operators.", "batch_constraints.", "constraint_operators.", "project.", "normal_equations.", "measures.")
    others += ("sampling.", "gravity_forces.")
    elsewhere = ELSEWHERE | {name for name in found if name.startswith(others)}
    assert found - elsewhere == {call[0] for call in CALLS} | EXPLICIT


@pytest.fixture(params=["quaternions", "euler"])
def eight(request, make):
    """Eight random states of a tree of all kinds: their records, realized, and the record in lanes, not realized."""
    model = make.tree(rotors=request.param == "euler")
    state = model.state
    if request.param == "euler":
        model.matter.set_use_euler_angles(state, True)
        model.system.realize_model(state)
    model.states = []
    lanes = state.tree.new_record(in_lanes=True)
    for lane in range(8):
        other = model.randomize(state=state.copy())
        model.matter.realize_composite_body_inertias(other)
        model.states.append(other)
        for name in ("time", "q", "u"):
            getattr(lanes, name)[..., lane] = getattr(other.record, name)
    model.lanes = lanes
    return model


def realize_lanes(lanes):
    return _realize.realize(lanes, _realize.advance.address(in_lanes=True), 0, EVERYTHING)


def state_fields():
    from mobod.algebra.record import layout

    return [field.name for field in layout.fields.values() if field.what == "state" and not field.name.startswith("work")]


def test_realization_in_lanes_is_that_of_each_state(eight, close):
    assert realize_lanes(eight.lanes) == _realize.DONE
    kernel_named("composite_inertia.realize_composite")(eight.lanes)
    for lane, state in enumerate(eight.states):
        for name in state_fields():
            if name in ("residual", "articulated", "H_MF", "HDot_MF", "sine", "cosine"):  # scratch, or not all stored
                continue
            expected = getattr(state.record, name)
            close(
                getattr(eight.lanes, name)[..., lane],
                expected,
                1e-9 if name in ("u_dot", "A_GB", "own_u_dot", "q_dot_dot", "y_dot") else 1e-11,
            )


def arguments(call, model, rng):
    """Random arguments in lanes (..., 8); numbers and indices as they are."""
    counts = model.states[0].tree.counts
    for what in call[1:]:
        if what == "bodies":
            yield rng.integers(0, counts["nb"], NT)
        elif not isinstance(what, str):
            yield what
        else:
            shape = tuple(counts.get(n, n) for n in SHAPES[what])
            yield rng.normal(size=(*shape, 8)) if "(" not in what else np.zeros((*shape, 8))


def in_lanes(argument):
    """A vector (n, 8) is a field of one column (n, 1, 8)."""
    if isinstance(argument, np.ndarray) and argument.dtype == np.float64 and argument.ndim == 2:
        return np.ascontiguousarray(argument[:, None])
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def one_lane(argument, lane):
    if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
        return np.ascontiguousarray(argument[..., lane])
    return argument


@pytest.mark.parametrize("call", CALLS, ids=lambda call: "-".join(map(str, call)))
def test_kernel_in_lanes_is_the_kernel_of_each_state(call, eight, close):
    kernel = kernel_named(call[0])
    realize_lanes(eight.lanes)
    kernel_named("composite_inertia.realize_composite")(eight.lanes)
    given = list(arguments(call, eight, eight.rng))
    lanes = [in_lanes(argument) for argument in given]
    kernel(eight.lanes, *lanes)
    for lane, state in enumerate(eight.states):
        single = [one_lane(argument, lane) for argument in given]
        kernel(state.record, *single)
        for wide, narrow in zip(lanes, single, strict=True):
            if isinstance(narrow, np.ndarray) and narrow.dtype == np.float64:
                close(wide[..., lane].reshape(narrow.shape), narrow, 1e-10)
        for name in CHANGED:
            close(getattr(eight.lanes, name)[..., lane], getattr(state.record, name), 1e-11)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: "-".join(map(str, call)))
def test_kernel_as_plain_python_is_the_kernel_compiled(call, eight, close):
    """The same source, uncompiled, on the same record."""
    kernel, record = kernel_named(call[0]), eight.states[0].record
    given = [one_lane(argument, 0) for argument in arguments(call, eight, eight.rng)]
    compiled = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in given]
    other = record.copy()
    kernel.python(other, *given)
    kernel(record, *compiled)
    for a, b in zip(given, compiled, strict=True):
        close(a, b, 1e-10)
    for name in CHANGED:
        close(getattr(other, name), getattr(record, name), 1e-11)


def explicit_matrix(name, run, record, tree, *, rng):
    """The matrix of kernel *name*, called as *run*, for a record whose articulated inertias are there."""
    from mobod.tree import matrix_sweep

    rows, blocks = matrix_sweep.scratch_rows(tree.nu, tree.num_slots), -(-tree.nu // 8)
    if record.in_lanes:
        flat = wide = rng.normal(size=(rows, tree.nu, 8))
        out = np.full((tree.nu, tree.nu, 8), np.nan)
    else:
        flat = rng.normal(size=(rows, 8 * blocks))  # what is left there from before is of no account
        flat[matrix_sweep.PLACES] = np.arange(8 * blocks)
        wide = flat.reshape(rows, blocks, 8)
        out = np.full((tree.nu, tree.nu), np.nan)
    before = (False,) if name.endswith("calc_m") else (0, validity.ARTICULATED)
    run(record, *before, flat, wide, out)
    return out


@pytest.mark.parametrize("name", sorted(EXPLICIT))
def test_explicit_matrices_in_lanes_and_in_plain_python_are_those_of_each_state(name, eight, close):
    kernel, tree = kernel_named(name), eight.states[0].tree
    realize_lanes(eight.lanes)
    wide = explicit_matrix(name, kernel, eight.lanes, tree, rng=eight.rng)
    for lane, state in enumerate(eight.states):
        narrow = explicit_matrix(name, kernel, state.record, tree, rng=eight.rng)
        close(wide[..., lane], narrow, 1e-10)
    plain = explicit_matrix(name, kernel.python, eight.states[7].record.copy(), tree, rng=eight.rng)
    close(plain, narrow, 1e-10)


@pytest.mark.parametrize("lanes", [False, True], ids=["state", "lanes"])
def test_realization_as_plain_python_is_the_compiled_one(lanes, eight, close):
    """The routine itself, uncompiled, on floats and on arrays of eight."""
    tree = eight.states[0].tree
    record = tree.new_record(in_lanes=lanes)
    for name in ("time", "q", "u"):
        getattr(record, name)[:] = getattr(eight.lanes if lanes else eight.states[3].record, name)
    assert _realize.advance.python(record, 0, EVERYTHING) == _realize.DONE
    for lane, state in enumerate(eight.states) if lanes else ((..., eight.states[3]),):
        for name in ("R_GB", "p_GB", "H", "V_GB", "coriolis", "centrifugal", "A_GB", "u_dot", "q_dot_dot"):
            actual = getattr(record, name)[..., lane] if lanes else getattr(record, name)
            close(actual, getattr(state.record, name), 1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_lane_is_reported_and_spoils_no_other(bad, eight, close):
    lanes = eight.lanes
    realize_lanes(lanes)
    good = lanes.u_dot.copy()
    lanes.q[1, 0, 5] = bad
    assert realize_lanes(lanes) == _realize.BAD_INPUT
    _realize.realize(lanes, _realize.advance.address(in_lanes=True), 0, EVERYTHING | validity.UNCHECKED)
    others = [lane for lane in range(8) if lane != 5]
    # to rounding, not to the bit: one angle out of range sends all lanes to the C library's sine (see test_scalars.py)
    close(lanes.u_dot[..., others], good[..., others], 1e-9)
    assert not np.all(np.isfinite(lanes.u_dot[..., 5]))


def test_repeating_a_realization_changes_no_bit(eight):
    address = _realize.advance.address()
    record = eight.states[0].record.copy()
    _realize.repeat(record, address, EVERYTHING, 3)
    assert np.array_equal(record.u_dot, eight.states[0].record.u_dot)


def test_kernels_have_one_signature_in_their_source():
    """Every kernel takes the block first: what `Kernel.__call__` turns a record into."""
    for _, module in modules():
        for value in vars(module).values():
            if isinstance(value, Kernel):
                assert next(iter(inspect.signature(value.python).parameters)) == "block"


def test_uncompiled_kernels_take_symbols_of_any_arithmetic():
    """A kernel is ordinary Python: the mass matrix of a pendulum, of SymPy symbols."""
    sympy = pytest.importorskip("sympy")
    from mobod.algebra import spatial, sym33

    m, c, q = sympy.symbols("m c q", real=True)
    R = (sympy.cos(q), -sympy.sin(q), 0, sympy.sin(q), sympy.cos(q), 0, 0, 0, 1)
    inertia = sym33.rotate(R, sym33.point_mass(m, (c, 0, 0)))
    mc = (m * c * sympy.cos(q), m * c * sympy.sin(q), 0)
    torque, _ = spatial.mul_inertia(m, mc, inertia, (0, 0, 1), (0, 0, 0))
    assert sympy.simplify(torque[2] - m * c**2) == 0


def test_lanes_of_one_record_are_eight():
    assert mb.algebra.record.LANES == 8 == mb.algebra.lanes.WIDTH
