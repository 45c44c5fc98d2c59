"""C that is exported computes what the kernels do, for every kind of mobilizer, constraint and formula force.

Compared by a compiler where there is one; `mobod` itself needs none. The kernels' numbers are those that other tests hold to
Simbody, so what is left here is rounding: 1e-11 of the largest number times the condition of the mass matrix, 1e-3 for floats.
"""

import ctypes
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import OF_BODIES, Pair, Tree
from kinds.forces import FORCES, tree
from mobod.algebra import maximum, minimum
from mobod.symbolic import c_source
from mobod.symbolic.recording import Tape

COMPILER = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-but-set-variable"]


class Library:
    """The functions of an exported file, compiled, on arrays."""

    def __init__(self, written, real="double"):
        target = written.source.with_suffix(".so")
        subprocess.run([COMPILER, *WARNINGS, "-O0", "-shared", "-fPIC", "-o", target, written.source, "-lm"], check=True)
        self.functions, self.prefix = ctypes.CDLL(str(target)), written.source.stem
        self.dtype = np.float64 if real == "double" else np.float32
        self.real = ctypes.c_double if real == "double" else ctypes.c_float

    def __call__(self, name, inputs, *shapes):
        """The results, of these shapes; numbers are passed by value, None as NULL."""
        results = [np.full(shape, np.nan, self.dtype) for shape in shapes]
        arrays = [x if x is None or isinstance(x, float) else np.ascontiguousarray(x, self.dtype) for x in (*inputs, *results)]
        given = [
            self.real(x) if isinstance(x, float) else None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in arrays
        ]
        getattr(self.functions, f"{self.prefix}_{name}")(*given)
        return arrays[len(inputs) :]

    def argument(self, x):
        return self.real(x) if isinstance(x, float) else None if x is None else x.ctypes.data_as(ctypes.c_void_p)


def forward(library, state, f=None, p=None):
    shapes = len(state.q), len(state.u), len(state.z)
    return library("forward_dynamics", (float(state.time), state.q, state.u, state.z, f, p), *shapes)


def assert_same(found, expected, tolerance=1e-11):
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * (1.0 + np.max(np.abs(expected), initial=0.0)))


@needs_compiler
def test_every_kind_of_mobilizer(make, tmp_path):
    model = make.tree(rotors=True)
    system, state = model.system, model.state
    everything = ["forward_dynamics", "inverse_dynamics", "mass_matrix", "bias"]
    body, point = model.bodies[-1], make.vector()
    written = mb.export_c(system, tmp_path / "tree.c", state=state, functions=everything, stations={"tip": (body, point)})
    library = Library(written)
    matter, nu = model.matter, len(state.u)
    for _ in range(3):
        model.randomize()
        f, u_dot = make.vector(nu), make.vector(nu)
        q_dot, found, _ = forward(library, state, f)
        assert_same(q_dot, state.q_dot)
        assert_same(found, state.u_dot + matter.multiply_by_m_inv(state, f), 1e-9)
        M = matter.calc_m(state)
        assert_same(library("mass_matrix", (state.q, None), (nu, nu))[0], M)
        bias = -matter.calc_m(state) @ state.u_dot
        assert_same(library("bias", (0.0, state.q, state.u, state.z, None), nu)[0], bias, 1e-10)
        tau = library("inverse_dynamics", (0.0, state.q, state.u, state.z, u_dot, None), nu)[0]
        assert_same(tau, M @ u_dot + bias, 1e-10)
        where, velocity, J = library("stations", (state.q, state.u, None), 3, 3, (3, nu))
        assert_same(where, body.find_station_location_in_ground(state, point))
        assert_same(velocity, body.find_station_velocity_in_ground(state, point))
        assert_same(J, matter.calc_station_jacobian(state, body, point))


@needs_compiler
def test_constraints_of_coordinates_and_functions(rng, tmp_path):
    """With gears, couplers, a prescribed motion and functions of every kind in a kernel's tables."""
    model = Tree()
    state = model.state(False, rng.uniform(-1.0, 1.0, 14), rng.uniform(-1.0, 1.0, 12))
    written = mb.export_c(model.system, tmp_path / "tied.c", state=state)
    q_dot, u_dot, _ = forward(Library(written), state)
    assert_same(q_dot, state.q_dot)
    assert_same(u_dot, state.u_dot, 1e-9)


@needs_compiler
def test_constraints_of_bodies(make, tmp_path):
    """Two of the kinds a run, at random: poses that do not fulfil them are as good."""
    for number in make.rng.choice(len(OF_BODIES), 2, replace=False):
        pair = Pair(make, list(OF_BODIES)[number])
        state = pair.randomize()
        written = mb.export_c(pair.system, tmp_path / f"pair{number}.c", state=state)
        assert_same(forward(Library(written), state)[1], state.u_dot, 1e-9)


#: Forces that take branches on computed numbers.
BRANCHING = {"HuntCrossley", "ElasticFoundation", "Actuator"}


def _add_force_by_tables(model):
    """One of a user's own, that reads tables of one and of two arguments."""
    body = next(one for one in model.bodies if one.facts.num_u == 1)
    line = mb.function.Table([-1.0, 0.0, 1.0], [1.0, 0.0, 2.0])
    map = mb.function.Table(([-1.0, 0.0, 1.0], [-1.0, 1.0]), [[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]], "linear")

    def force(t, X, V, q, u, parameters):
        return (), ((line(q[0][0]) - map((q[0][0], u[0][0])) + minimum(q[0][0], u[0][0]),),)

    mb.force.Custom(model.forces, compiled=mb.force.CompiledFunctions(force, mobilizers=[body]))


@needs_compiler
def test_every_kind_of_force_that_is_a_formula(make, tmp_path):
    model, names = tree(make), set()
    for kind, record in FORCES.items():
        if kind is not mb.force.Gravity and kind.__name__ not in BRANCHING:
            names.add(kind.__name__)
            for element in record.elements:
                force = element(model, lambda: make.rng.uniform(-1.0, 1.0, 3))
                if record.begin:
                    names.add(force)
    _add_force_by_tables(model)
    state = model.made().state
    for force in names:
        if not isinstance(force, str):
            FORCES[type(force)].begin(force, state, make.rng)
    state.z = make.rng.uniform(-0.5, 0.5, len(state.z))
    model.randomize()
    written = mb.export_c(model.system, tmp_path / "forces.c", state=state)
    _, u_dot, z_dot = forward(Library(written), state)
    assert_same(u_dot, state.u_dot, 1e-9)
    assert_same(z_dot, state.z_dot)


MUSCLES = {
    mb.muscle.Thelen2003: {},
    mb.muscle.DeGrooteFregly2016: {"default_normalized_tendon_force": 0.3},
    mb.muscle.RigidTendon: {},
    mb.muscle.Schutte1993: {},
    mb.muscle.Millard2012Equilibrium: {},
}


def with_muscles(kind):
    """An arm with three of a kind, which act side by side where states are realized."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    for k in range(3):
        ends = (system.matter.ground, (0.2 - 0.1 * k, 0.1, 0)), (lower, (0.2, -0.5, 0.1 * k))
        path = mb.force.transmission.Path(system.forces, ends)
        kind(system.forces, path, 100.0, 0.3 + 0.01 * k, 0.6, default_excitation=0.2 + 0.1 * k, **MUSCLES[kind])
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.4), (0.5, -0.2)
    system.realize(state)
    return system, state


@needs_compiler
@pytest.mark.parametrize("kind", [kind for kind in MUSCLES if kind is not mb.muscle.Millard2012Equilibrium])
def test_muscles(kind, tmp_path):
    system, state = with_muscles(kind)
    written = mb.export_c(system, tmp_path / "arm.c", state=state)
    _, u_dot, z_dot = forward(Library(written), state)
    assert_same(u_dot, state.u_dot)
    assert_same(z_dot, state.z_dot)


def test_muscles_whose_curves_are_looked_for_have_no_formula(tmp_path):
    system, state = with_muscles(mb.muscle.Millard2012Equilibrium)
    with pytest.raises(mb.FormulaError, match=r"a Millard2012Equilibrium, .* takes a branch on a computed number"):
        mb.export_c(system, tmp_path / "arm.c", state=state)


@needs_compiler
def test_the_lesser_and_the_greater_are_numpys_where_one_is_no_number(tmp_path):
    tape = Tape()
    x, y = tape.input("x", 0), tape.input("x", 1)
    picked = c_source.Function("picked", {"x": "required"}, {"out": [minimum(x, y), maximum(x, y)]}, "")
    source = tmp_path / "two.c"
    source.write_text(f"typedef double two_real;\n{c_source.Writer('two', single=False).definition(picked)}\n")
    library = Library(SimpleNamespace(source=source))
    for pair in ((1.0, 2.0), (2.0, 1.0), (np.nan, 1.0), (1.0, np.nan), (np.inf, -np.inf), (3.0, 3.0)):
        np.testing.assert_array_equal(library("picked", (pair,), 2)[0], [np.minimum(*pair), np.maximum(*pair)])


@needs_compiler
def test_floats_and_parameters(tmp_path):
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    mb.force.MobilityLinearSpring(system.forces, lower, 0, 3.0, 0.1, name="spring")
    state = system.realize_topology()
    state.q, state.u = (0.3, -0.4), (1.0, 2.0)
    names = ["lower.mass", "lower.com", "lower.p_BM[1]", "spring.stiffness"]
    for real, tolerance in (("double", 1e-12), ("float", 1e-4)):
        written = mb.export_c(system, tmp_path / f"pendulum_{real}.c", parameters=names, real=real)
        assert written.parameter_names == ("lower.mass", "lower.com[0]", "lower.com[1]", "lower.com[2]", *names[2:])
        library = Library(written, real)
        system.realize(state)
        for p in (None, [1.0, 0.0, 0.0, 0.0, 1.0, 3.0]):
            assert_same(forward(library, state, p=p)[1], state.u_dot, tolerance)
        other = state.copy()
        changed = mb.MassProperties(2.0, (0.1, 0.2, 0.3), central(lower, state).shift_from_centroid((0.1, 0.2, 0.3), 2.0))
        lower.set_body_mass_properties(other, changed)
        lower.set_outboard_frame(other, mb.Transform((0, 1.5, 0)))
        next(one for one in system.all_forces() if one.name == "spring").set_stiffness(other, 7.0)
        system.realize(other)
        assert_same(forward(library, state, p=[2.0, 0.1, 0.2, 0.3, 1.5, 7.0])[1], other.u_dot, tolerance)


def central(body, state):
    return body.get_body_mass_properties(state).inertia.shift_to_centroid(
        body.get_body_mass_properties(state).com, body.get_body_mass_properties(state).mass
    )


@needs_compiler
def test_results_may_take_the_place_of_what_is_given(tmp_path):
    system, state = mb.examples.double_pendulum.build()
    state.q, state.u = (0.3, -0.4), (1.0, 2.0)
    system.realize(state)
    library = Library(mb.export_c(system, tmp_path / "pendulum.c"))
    q, u = np.array(state.q), np.array(state.u)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (q, u)]
    library.functions.pendulum_forward_dynamics(ctypes.c_double(0.0), *pointers, None, None, None, *pointers, None)
    assert_same(q, state.q_dot)
    assert_same(u, state.u_dot)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"path": "a.cpp"}, ValueError, "has to end in .c"),
        ({"path": "3d.c"}, ValueError, "give prefix="),
        ({"functions": ["accelerations"]}, ValueError, "forward_dynamics"),
        ({"functions": "bias"}, TypeError, "list of names"),
        ({"real": "half"}, ValueError, "'double' or 'float'"),
        ({"stations": {"tip": "lower"}}, TypeError, "has to be"),
        ({"stations": {"tip": ("lower", (1, 2))}}, ValueError, "station 'tip'"),
        ({"parameters": ["lower.weight"]}, ValueError, "no parameter 'weight'"),
    ],
)
def test_wrong_arguments_of_exports_are_named(arguments, error, says, tmp_path):
    system, _ = mb.examples.double_pendulum.build()
    path = tmp_path / arguments.get("path", "a.c")
    with pytest.raises(error, match=says):
        mb.export_c(system, path, **{name: value for name, value in arguments.items() if name != "path"})
    assert not list(tmp_path.iterdir())


def test_what_has_no_formula_is_named_and_nothing_is_written(tmp_path):
    with pytest.raises(mb.FormulaError, match="the force 'contact'"):
        mb.export_c(mb.examples.rattleback.build()[0], tmp_path / "a.c")
    with pytest.raises(mb.FormulaError, match="'brake' is a force that Python computes"):
        mb.export_c(mb.examples.drop_tower.build()[0], tmp_path / "a.c")
    assert not list(tmp_path.iterdir())
