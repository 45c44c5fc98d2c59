"""The code for a GPU: run by the processor it gives what an Ensemble and a simulation give, and NVIDIA's assembler takes it.

There is no GPU where these tests run as a rule: what needs one is skipped there, and says so.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mobod as mb
import mobod.gpu
from mobod import Stage
from mobod.gpu.cuda import DeviceError, is_available
from mobod.gpu.processor import Processor

SEED = int(os.environ.get("MOBOD_TEST_SEED", np.random.SeedSequence().entropy % 2**31))
LONG, EXHAUSTIVE = pytest.mark.long, pytest.mark.exhaustive
#: A closed loop, and larger ones.
ROBOTS = [pytest.param("four_bar", marks=LONG), *(pytest.param(name, marks=EXHAUSTIVE) for name in ("panda", "stewart"))]
needs_gpu = pytest.mark.skipif(not is_available(), reason="NO GPU HERE: what runs on one is not tested")


def some_states(system, state, n, rng):
    """An ensemble of states on the manifold, near the given one, and the number of its mobilities."""
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.q = ensemble.q + 0.05 * rng.normal(size=ensemble.q.shape)
    ensemble.u = ensemble.u + 0.5 * rng.normal(size=ensemble.u.shape)
    assert ensemble.project().all()
    ensemble.realize(Stage.ACCELERATION)
    return ensemble


def compare(name, device, n=3, duration=0.02, h=1e-3):
    rng = np.random.default_rng(SEED)
    print("seed", SEED)
    system, state = getattr(mb.examples, name).build()
    ensemble = some_states(system, state, n, rng)
    swarm = mobod.gpu.Ensemble(system, n, state=state, device=device)
    swarm.q, swarm.u = ensemble.q, ensemble.u
    swarm.realize()
    assert not swarm.failed.any()
    scale = np.abs(ensemble.u_dot).max()
    assert np.allclose(swarm.u_dot, ensemble.u_dot, rtol=0, atol=1e-11 * scale)
    torques = rng.normal(size=ensemble.u.shape)
    swarm.realize(mobility_forces=torques)
    extra = ensemble.multiply_by_m_inv(torques)
    if not ensemble.multipliers.size:
        assert np.allclose(swarm.u_dot, ensemble.u_dot + extra, rtol=0, atol=1e-11 * (scale + np.abs(extra).max()))
    swarm.realize()  # nothing is left of them
    assert np.allclose(swarm.u_dot, ensemble.u_dot, rtol=0, atol=1e-11 * scale)
    for integrator in (mb.integrator.RungeKutta3, mb.integrator.SemiExplicitEuler):
        swarm.q, swarm.u, swarm.time = ensemble.q, ensemble.u, np.full(n, state.time)
        swarm.step(duration, fixed_step_size=h, integrator=integrator)
        assert not swarm.failed.any()
        for i in range(n):
            alone = state.copy()
            alone.q, alone.u = ensemble.q[i], ensemble.u[i]
            settings = {"accuracy": 1e-9} if ensemble.multipliers.size else {}
            method = integrator(system, fixed_step_size=h, **settings)
            end = mb.simulate(system, alone, state.time + duration, integrator=method).states[-1]
            assert np.allclose(swarm.q[i], end.q, rtol=0, atol=5e-9)  # a loop is closed to 1e-10 of its rows
            assert np.allclose(swarm.u[i], end.u, rtol=0, atol=1e-7 * max(1.0, np.abs(end.u).max()))
        assert np.allclose(swarm.time, state.time + duration)


def test_a_pendulum_by_the_processor():
    compare("double_pendulum", "processor")


def test_a_prescribed_motion_is_that_of_each_stages_time():
    system, state = mb.examples.double_pendulum.build()
    mb.motion.Sinusoid(system.matter.bodies[1], mb.Motion.Level.POSITION, 0.5, 20.0, 0.3)
    state = system.realize_topology()
    swarm = mobod.gpu.Ensemble(system, 1, state=state, device="processor")
    swarm.step(0.1, fixed_step_size=0.01)
    method = mb.integrator.RungeKutta3(system, fixed_step_size=0.01)
    end = mb.simulate(system, state, 0.1, integrator=method).states[-1]
    assert np.allclose(swarm.q[0], end.q, rtol=0, atol=1e-12) and np.allclose(swarm.u[0], end.u, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_by_the_processor(name):
    """Springs, dampers and stops of a robot; a closed loop with its projections."""
    compare(name, "processor")


@needs_gpu
@pytest.mark.parametrize("name", ["double_pendulum", "panda", "stewart"])
def test_on_a_gpu(name):
    compare(name, 0, n=1000)


class Unused(Processor):
    """A device that runs nothing: of what is for it the text is asked alone."""

    def load(self, program):
        return program

    def run(self, loaded, number, block, job, threads):
        pass


@pytest.mark.parametrize("name", [pytest.param("double_pendulum", marks=LONG), pytest.param("stewart", marks=EXHAUSTIVE)])
def test_nvidias_assembler_takes_the_code(name, tmp_path):
    nvcc = pytest.importorskip("nvidia.cuda_nvcc", reason="NO ptxas HERE: install nvidia-cuda-nvcc-cu12")
    system, state = getattr(mb.examples, name).build()
    swarm = mobod.gpu.Ensemble(system, 1, state=state, device=Unused())
    ptx = swarm.program.ptx()
    assert ".visible .entry run" in ptx
    assert "mobod_thread" not in ptx, "the number of a thread is read from registers"
    (tmp_path / "code.ptx").write_text(ptx)
    ptxas = Path(nvcc.__path__[0]) / "bin/ptxas"
    call = [ptxas, "-O0", "-arch=sm_90", "-v", tmp_path / "code.ptx", "-o", tmp_path / "code.cubin"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    print(re.findall(r"Used \d+ registers", done.stderr))
    assert (tmp_path / "code.cubin").stat().st_size > 10_000


@np.errstate(all="ignore")
def test_functions_that_a_gpu_has_not():
    """Against the C library's, at numbers of all sizes."""
    from mobod.compiling import engine

    engine.numba()
    from mobod.gpu import special_functions as own

    numba = engine.numba()  # once more, which makes these known to it
    rng = np.random.default_rng(SEED)
    print("seed", SEED)
    options = engine.OPTIONS
    exp, log, sine, cosine = (
        numba.vectorize([numba.float64(numba.float64)])(numba.njit(**options)(f))
        for f in (own.natural_exponential, own.natural_logarithm, own.sine, own.cosine)
    )
    angle, power = (
        numba.vectorize([numba.float64(numba.float64, numba.float64)])(numba.njit(**options)(f))
        for f in (own.angle_of, own.real_power)
    )
    x = rng.uniform(-700, 700, 2000)
    assert np.allclose(exp(x), np.exp(x), rtol=4e-16, atol=0)
    assert exp(800.0) == np.inf and exp(-800.0) == 0.0 and np.isnan(exp(np.nan))
    assert exp(-740.0) == pytest.approx(np.exp(-740.0), rel=0.2)  # a subnormal has few digits
    x = 10.0 ** rng.uniform(-320, 308, 2000)
    assert np.allclose(log(x), np.log(x), rtol=4e-16, atol=1e-16)
    assert log(0.0) == -np.inf and np.isnan(log(-1.0)) and log(np.inf) == np.inf
    far = rng.uniform(-1e9, 1e9, 2000)
    assert np.allclose(sine(far), np.sin(far), rtol=0, atol=5e-16)
    assert np.allclose(cosine(far), np.cos(far), rtol=0, atol=5e-16)
    y, x = rng.normal(size=(2, 2000)) * 10.0 ** rng.uniform(-8, 8, (2, 2000))
    assert np.allclose(angle(y, x), np.arctan2(y, x), rtol=5e-16, atol=0)
    for pair in (
        (0.0, 1.0),
        (0.0, -1.0),
        (-0.0, -1.0),
        (-0.0, 1.0),
        (1.0, 0.0),
        (-2.0, -0.0),
        (np.inf, np.inf),
        (0.0, 0.0),
        (-0.0, -0.0),
    ):
        assert angle(*pair) == np.arctan2(*pair) and np.signbit(angle(*pair)) == np.signbit(np.arctan2(*pair))
    base, n = rng.uniform(0, 50, 2000), rng.uniform(-20, 20, 2000)
    assert np.allclose(power(base, n), base**n, rtol=1e-13, atol=0)
    assert power(-2.0, 3.0) == pytest.approx(-8.0) and np.isnan(power(-2.0, 0.5)) and power(0.0, 2.0) == 0.0


def test_bad_input():
    system, state = mb.examples.double_pendulum.build()
    with pytest.raises(ValueError, match="1 state or more, got n = 0"):
        mobod.gpu.Ensemble(system, 0, device="processor")
    with pytest.raises(ValueError, match="or \"processor\", got 'gpu'"):
        mobod.gpu.Ensemble(system, 1, device="gpu")
    if not is_available():
        with pytest.raises(DeviceError, match="device='processor'"):
            mobod.gpu.Ensemble(system, 1)
    swarm = mobod.gpu.Ensemble(system, 2, state=state, device="processor")
    before = swarm.q
    with pytest.raises(ValueError, match=r"ensemble.q has shape \(2, 2\), got \(3, 2\)"):
        swarm.q = np.zeros((3, 2))
    with pytest.raises(ValueError, match="mobility_forces has shape"):
        swarm.realize(np.zeros(2))
    with pytest.raises(ValueError, match=r"positive, got -1\.0 and 0\.1"):
        swarm.step(-1.0, fixed_step_size=0.1)
    with pytest.raises(ValueError, match="explicit Runge-Kutta methods and SemiExplicitEuler, got Verlet"):
        swarm.step(1.0, fixed_step_size=0.1, integrator=mb.integrator.Verlet)
    assert np.array_equal(swarm.q, before)
    swarm.q = [[np.nan, 0.0], [0.1, 0.2]]
    swarm.realize()
    assert swarm.failed.tolist() == [True, False]


def test_parts_in_python_are_refused():
    class Push(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[0] += 1.0

    system, _ = mb.examples.double_pendulum.build()
    mb.force.Custom(mb.GeneralForceSubsystem(system), Push())
    system.realize_topology()
    with pytest.raises(mb.ModelError, match="plain Python, which a GPU cannot call"):
        mobod.gpu.Ensemble(system, 1, device="processor")


def test_nothing_of_it_is_imported_with_mobod():
    code = "import sys, mobod; assert not any(name.startswith(('mobod.gpu', 'llvmlite')) for name in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
