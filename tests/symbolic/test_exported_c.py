"""C that is exported computes what the kernels do, for every kind of mobilizer, constraint and formula force.

Compared by a compiler where there is one; `mobod` itself needs none. The kernels' numbers are those that other tests hold to
Simbody, so what is left here is rounding: 1e-11 of the largest number times the condition of the mass matrix, 1e-3 for floats.
"""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import CONSTRAINTS
from kinds.forces import FORCES

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
        given = [self.real(x) if isinstance(x, float) else None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in arrays]
        getattr(self.functions, f"{self.prefix}_{name}")(*given)
        return arrays[len(inputs) :]


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
