"""Measure what a step of each of many states costs: `Ensemble.step` beside `mujoco.rollout`, `simulate` beside a loop.

Fixed steps of 2 ms with torques on all mobilities, held, 4,096 states in one call on one thread: a cart-pole, ten pins, a
Panda, a G1 without contact, each of mobod and written as MJCF for MuJoCo. Semi-implicit Euler beside MuJoCo's Euler, and
Merson's method of fourth order beside its RK4; MuJoCo's contacts and limits are off. The motions are compared at the end.

Then runs at accuracy 1e-3, each state with steps of its own, beside a loop over `mobod.simulate`, by the same reports:
without constraints, and of mechanisms with them. Last the cart-pole for five seconds in 20,000 states on two threads, from
which follows what a million takes. All is timed in turns, and the least of all rounds counts. Memory is that of the arrays
that a run makes.
"""

from __future__ import annotations

import argparse
import tempfile
import tracemalloc
from pathlib import Path
from time import perf_counter

import numpy as np

import mobod as mb
from mobod.importer import export

from .models import chain
from .peers import mobod as mobods
from .report import Target, print_table, run_as_script

STATES, STEP, STEPS = 4096, 0.002, 25
#: Of MuJoCo fewer states are run, and of the loop over `simulate`.
THEIRS, ALONE = 512, 24
METHODS = {"Euler": "SemiExplicitEuler", "RK4": "RungeKuttaMerson"}
#: Systems that run at accuracy 1e-3, and for how long.
FREE = {"double_pendulum": 5.0, "tumbling_handle": 5.0, "panda": 2.0}
CONSTRAINED = {"four_bar": 5.0, "stewart": 2.0}
MANY, LONG, REPORTS = 20_000, 5.0, 20


def cart_pole():
    """A cart on a rail, with a pole on a hinge."""
    system = mb.MultibodySystem("cart-pole")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    cart = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    pole = mb.body.Rigid(mb.MassProperties(0.1, (0, 0.5, 0), mb.Inertia(0.033, 0.001, 0.033)))
    mb.mobilizer.Pin(cart, pole, X_PF=mb.Transform(mb.Rotation.about_axis(np.pi / 2, "x"), (0, 0, 0)))
    return system, system.realize_topology()


def robot(name: str):
    """A bundled robot, as its file has it but for damping and limits."""
    path = Path(mb.__file__).parent / "examples" / f"{name}.urdf"
    model = mb.load_urdf(path, floating_base=name == "g1", joint_damping=False, joint_limits=False)
    return model.system, model.default_state()


def systems():
    """What steps are timed of, by name."""
    yield "cart-pole", cart_pole()
    ten = mobods.build(chain("pin10", "pin", 10))
    yield "ten pins", (ten, ten.realize_topology())
    yield "Panda", robot("panda")
    yield "G1", robot("g1")


def in_mujoco(system):
    """The same system in MuJoCo, without contacts and limits."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        export.save_mjcf(system, path)
        model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    return model


def steps_of(system, state, rounds: int) -> dict[str, dict[str, float]]:
    """Nanoseconds a step and a state of both engines, by method."""
    import mujoco
    from mujoco import rollout

    model, rng, nu = in_mujoco(system), np.random.default_rng(0), len(state.u)
    u, forces = 0.1 * rng.normal(size=(STATES, nu)), 0.1 * rng.normal(size=(STATES, nu))
    if model.nq > nu:  # engines have other speeds of a floating base
        u[:, :6] = forces[:, :6] = 0.0
    ensemble, data = mb.Ensemble(system, STATES, state=state), mujoco.MjData(model)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((THEIRS, mujoco.mj_stateSize(model, full)))
    mujoco.mj_getState(model, data, start[0], full)
    start[:] = start[0]
    start[:, 1 + model.nq : 1 + model.nq + nu] = u[:THEIRS]
    controls = np.repeat(forces[:THEIRS, None], STEPS, axis=1)
    applied = mujoco.mjtState.mjSTATE_QFRC_APPLIED.value
    found = {}
    for theirs, ours in METHODS.items():
        model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{theirs.upper()}")
        best = [np.inf, np.inf]
        ensemble.step(STEP, integrator=ours, fixed_step_size=STEP, mobility_forces=forces)  # loads what is compiled
        for _ in range(rounds):
            clock = perf_counter()
            ends, _ = rollout.rollout(model, data, start, controls, control_spec=applied)
            best[0] = min(best[0], (perf_counter() - clock) / THEIRS)
            ensemble.reset(u=u)
            clock = perf_counter()
            ensemble.step(STEPS * STEP, integrator=ours, fixed_step_size=STEP, mobility_forces=forces)
            best[1] = min(best[1], (perf_counter() - clock) / STATES)
        q = ends[:, -1, 1 : 1 + model.nq]
        joints = slice(7, None) if model.nq > nu else slice(None)  # and other coordinates
        theirs_ns, ours_ns = (1e9 * seconds / STEPS for seconds in best)
        found[theirs] = {
            "MuJoCo, ns": theirs_ns,
            "mobod, ns": ours_ns,
            "ratio": theirs_ns / ours_ns,
            "difference": float(np.abs(q[:, joints] - ensemble.q[:THEIRS, joints]).max()),
        }
    return found


def run_of(name: str, time: float, states: int, rounds: int) -> dict[str, float]:
    """Microseconds a state of a run at accuracy 1e-3, in the ensemble and alone."""
    system, state = robot(name) if name == "panda" else getattr(mb.examples, name).build()
    rng = np.random.default_rng(0)
    ensemble = mb.Ensemble(system, states, state=state)
    ensemble.q = state.q + rng.uniform(-0.3, 0.3, (states, len(state.q)))
    ensemble.u = state.u + rng.uniform(-1.0, 1.0, (states, len(state.u)))
    ensemble.project(1e-6)
    starts = [ensemble.get_state(i) for i in range(ALONE)]
    q, u, report = ensemble.q.copy(), ensemble.u.copy(), time / REPORTS
    ensemble.simulate(time, accuracy=1e-3, report_interval=report)  # compiles
    mb.simulate(system, starts[0], time, accuracy=1e-3, report_interval=report)
    best = [np.inf, np.inf]
    for _ in range(rounds):
        ensemble.reset(q=q, u=u)
        clock = perf_counter()
        motions = ensemble.simulate(time, accuracy=1e-3, report_interval=report)
        best[0] = min(best[0], (perf_counter() - clock) / states)
        clock = perf_counter()
        alone = [mb.simulate(system, one, time, accuracy=1e-3, report_interval=report) for one in starts]
        best[1] = min(best[1], (perf_counter() - clock) / ALONE)
    steps = motions.statistics["steps_taken"][:ALONE]
    worst = max(np.abs(one.q - motions.q[i]).max() for i, one in enumerate(alone))
    assert all(one.steps_taken == n for one, n in zip(alone, steps, strict=True)), "other steps than of the state alone"
    # what the time stepper and the Trajectory take beside the steps is not what is compared
    kernel = sum(one.wall_time for one in alone) / ALONE
    return {
        "alone, us": 1e6 * best[1],
        "its steps, us": 1e6 * kernel,
        "ensemble, us": 1e6 * best[0],
        "ratio": best[1] / best[0],
        "ratio of steps": kernel / best[0],
        "steps": float(motions.statistics["steps_taken"].mean()),
        "difference": float(worst),
    }


def million(states: int) -> dict[str, float]:
    """The cart-pole for five seconds on two threads."""
    system, state = cart_pole()
    ensemble = mb.Ensemble(system, states, state=state, threads=2)
    rng = np.random.default_rng(0)
    u = rng.uniform(-1.0, 1.0, (states, 2))
    ensemble.reset(u=u)
    ensemble.simulate(0.1, report_interval=0.1)
    ensemble.reset(u=u)
    tracemalloc.start()
    clock = perf_counter()
    motions = ensemble.simulate(LONG, accuracy=1e-3, report_interval=LONG / REPORTS)
    seconds, (_, peak) = perf_counter() - clock, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "states": float(states),
        "seconds": seconds,
        "a million, minutes": seconds / states * 1e6 / 60.0,
        "bytes a state": peak / states,
        "of these reports": float(motions.q[0].nbytes + motions.u[0].nbytes),
        "failed": float(motions.failed.sum()),
    }


def measure(options: argparse.Namespace) -> dict:
    """Measure all."""
    rounds, states = (1, 64) if options.quick else (4, 1024)
    steps = {}
    try:
        import mujoco  # noqa: F401

        steps = {name: steps_of(*made, rounds) for name, made in systems()}
    except ImportError:
        print("no MuJoCo here\n")
    runs = {name: run_of(name, time, states, rounds) for name, time in {**FREE, **CONSTRAINED}.items()}
    return {"steps": steps, "runs": runs, "million": million(MANY // 20 if options.quick else MANY)}


def show(results: dict) -> list[Target]:
    """Print the tables; what was promised."""
    targets = []
    if results["steps"]:
        rows = [[name, method, *one.values()] for name, both in results["steps"].items() for method, one in both.items()]
        heads = ["system", "method", *next(iter(next(iter(results["steps"].values())).values()))]
        print_table(f"A step of {1e3 * STEP:g} ms, a state, one thread, {STATES} states", heads, rows)
        targets += [
            Target(f"{name}, {method}: times mujoco.rollout", one["ratio"], 6.0)
            for name, both in results["steps"].items()
            for method, one in both.items()
        ]
    runs = results["runs"]
    print_table(
        "A run at accuracy 1e-3, one thread",
        ["system", *next(iter(runs.values()))],
        [[n, *r.values()] for n, r in runs.items()],
    )
    for names, limit in ((FREE, 6.0), (CONSTRAINED, 5.0)):
        targets += [Target(f"{name}: times a loop over mobod.simulate", runs[name]["ratio"], limit) for name in names]
    many = results["million"]
    print_table(f"Cart-pole for {LONG:g} s, two threads", list(many), [list(many.values())])
    targets.append(Target("a million runs of the cart-pole, minutes", many["a million, minutes"], 10.0, at_least=False))
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
