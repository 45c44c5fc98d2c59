"""Rolling, bouncing and falling balls of SimBenchmark, and the errors that its authors published of other engines.

Kang and Hwangbo (2018), "SimBenchmark", leggedrobotics.github.io/SimBenchmark: models and measures are of its programs at
commit 3fd1764, errors and times of other engines of its files in ``data/``: those without a correction of positions (ERP = 0),
of MuJoCo by Newton's method, of DART by Dantzig's. Their times are of the authors' machine; errors alone compare.

- rolling: 150 N push a plate of 10 kg with 25 balls of 1 kg on it, for 4 s, oblique to the axes or along y; friction 0.4 below
  and 0.8 above it. The mean square of the velocities' error (plate and one ball) from the known solution, (m/s)^2.
- bouncing: 49 balls of 10 kg fall from 5 m, without losses, for 20 s. The mean square of the energy's error, J^2.
- 666: 6 x 6 x 6 balls of 10 kg, without friction and restitution, fall on each other and on the floor, for 10 s. The mean of
  the sum of squared depths, m^2. Each ball starts up to 1 mm off a grid: the authors' random numbers are not known.
- elastic 666: the same from 1 m higher with restitution 1. The mean square of the energy's error, J^2.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
from scipy.spatial import cKDTree

import mobod as mb

from .report import Target, print_table, run_as_script

G, RADIUS = 9.81, 0.1
#: Error, and seconds on the authors' machine, of each engine at a step in seconds.
PUBLISHED: dict[str, dict[float, dict[str, tuple[float, float]]]] = {
    "rolling, oblique": {
        1e-3: {
            "RaiSim": (4.13711e-07, 0.308104),
            "Bullet": (5.70654e-09, 0.561834),
            "ODE": (3.14497, 0.724026),
            "MuJoCo": (0.0027148, 4.40043),
            "DART": (3.14497, 2.67552),
        }
    },
    "rolling, along y": {
        1e-3: {
            "RaiSim": (4.1268e-07, 0.322526),
            "Bullet": (4.93482e-09, 0.547962),
            "ODE": (7.66873e-09, 0.719417),
            "MuJoCo": (0.00317043, 3.48782),
            "DART": (0.42589, 2.74954),
        }
    },
    "bouncing": {
        1e-2: {
            "RaiSim": (185.953, 0.0252509),
            "Bullet": (7.40664e06, 0.102335),
            "ODE": (18808.3, 0.188425),
            "DART": (7.37588e06, 0.338765),
        },
        1e-3: {
            "RaiSim": (0.0186204, 0.235136),
            "Bullet": (75245.4, 0.851648),
            "ODE": (185.027, 1.85601),
            "DART": (72274.4, 3.2084),
        },
    },
    "666": {
        1e-2: {
            "RaiSim": (0.0152745, 0.167983),
            "Bullet": (37.4217, 2.01153),
            "ODE": (0.0161143, 1.35536),
            "MuJoCo": (0.933766, 5.1182),
            "DART": (214.842, 3.06581),
        },
        1e-3: {
            "RaiSim": (0.00013534, 1.51045),
            "Bullet": (0.38247, 11.9778),
            "ODE": (0.000154633, 10.5776),
            "MuJoCo": (0.0950124, 43.1372),
            "DART": (0.000282356, 22.9162),
        },
    },
    "elastic 666": {
        1e-2: {
            "RaiSim": (5.18417e06, 0.0702891),
            "Bullet": (9.86396e06, 0.31976),
            "ODE": (8.55999e06, 0.601697),
            "DART": (1.28706e10, 0.842985),
        },
        1e-3: {
            "RaiSim": (8.36835, 0.655143),
            "Bullet": (41498.1, 2.31772),
            "ODE": (112.318, 5.64728),
            "DART": (346909, 8.05873),
        },
    },
}
ENGINES = "RaiSim", "Bullet", "ODE", "MuJoCo", "DART"
#: With error control, and an event at each impact.
BY_EVENTS = 0.0


def world(mu: float = 0.0):
    """A system under gravity on a floor with friction, and its matter and forces."""
    system = mb.MultibodySystem("simbenchmark")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.UniformGravity(forces, matter, (0, 0, -G))
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stone(mu)))
    return system, matter, forces


def stone(mu: float) -> mb.contact.Material:
    """A material with friction; the stiffness does not count where contact is rigid."""
    return mb.contact.Material(1e9, static_friction=mu)


def add(matter: mb.SimbodyMatterSubsystem, mass: float, inertia: mb.UnitInertia, shape: mb.contact.Shape, mu: float = 0.0):
    """A free body with a surface."""
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), inertia)))
    body.add_contact_surface(mb.contact.Surface(shape, stone(mu)))
    return body


def run(system: mb.MultibodySystem, state: mb.State, time: float, integrator: mb.integrator.Integrator, every: float):
    """The trajectory, and the seconds that the run takes without one."""
    start = perf_counter()
    mb.simulate(system, state, time, integrator=integrator)
    seconds = perf_counter() - start
    return mb.simulate(system, state, time, integrator=integrator, report_interval=every), seconds


def rolling(direction: tuple[float, float, float], step: float) -> tuple[float, float]:
    """Error and seconds of balls on a plate that is pushed."""
    # of two surfaces friction is 2 mu1 mu2 / (mu1 + mu2): 0.4 below the plate, 0.8 above it
    system, matter, forces = world(0.8 / 3.0)
    plate = add(matter, 10.0, mb.UnitInertia.brick((10.0, 10.0, 0.5)), mb.contact.Brick((10.0, 10.0, 0.5)), 0.8)
    balls = [add(matter, 1.0, mb.UnitInertia.sphere(0.5), mb.contact.Sphere(0.5), 0.8) for _ in range(25)]
    mb.force.ConstantForce(forces, plate, (0, 0, 0), 150.0 * np.array(direction))
    mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    overlap = 2e-5  # at the start, as in the benchmark
    plate.set_q_to_fit_translation(state, (0, 0, 0.5 - overlap))
    for k, ball in enumerate(balls):
        ball.set_q_to_fit_translation(state, (2.0 * (k // 5) - 4.0, 2.0 * (k % 5) - 4.0, 1.5 - 3.0 * overlap))
    trajectory, seconds = run(system, state, 4.0, mb.integrator.TimeStepping(system, fixed_step_size=step), step)
    below = 0.4 * 35.0 * G
    above = (150.0 - below) / 10.0 / (3.5 + 2.5)  # of each ball: it rolls
    known = np.outer(
        trajectory.time,
        np.concatenate([np.array(direction) * (150.0 - below - 25.0 * above) / 10.0, np.array(direction) * above]),
    )
    found = np.hstack([trajectory.u[:, 3:6], trajectory.u[:, 9:12]])
    return float(((found - known) ** 2).sum(axis=1)[:-1].mean()), seconds


def balls(places: np.ndarray, restitution: float, *, stepped: bool):
    """Balls of 10 kg at places, without friction."""
    system, matter, _ = world()
    bodies = [add(matter, 10.0, mb.UnitInertia.sphere(RADIUS), mb.contact.Sphere(RADIUS)) for _ in places]
    mb.contact.rigid(system, restitution, stepped=stepped)
    state = system.realize_topology()
    for body, place in zip(bodies, places, strict=True):
        body.set_q_to_fit_translation(state, place)
    return system, state


def energy_error(trajectory: mb.Trajectory) -> float:
    """The mean square of how far the energy is from that at the start."""
    heights, speeds = (
        trajectory.q.reshape(len(trajectory.time), -1, 7)[:, :, 6],
        trajectory.u.reshape(len(trajectory.time), -1, 6)[:, :, 3:],
    )
    energies = 10.0 * (0.5 * (speeds**2).sum(axis=2) + G * heights).sum(axis=1)
    return float(((energies - energies[0]) ** 2).mean())


def bouncing(step: float) -> tuple[float, float]:
    """Error and seconds of balls that bounce for ever."""
    grid = 2.0 * np.array([(i, j, 0.0) for i in range(7) for j in range(7)]) + (0.0, 0.0, 5.0)
    system, state = balls(grid, 1.0, stepped=step != BY_EVENTS)
    if step == BY_EVENTS:
        integrator = mb.integrator.RungeKuttaMerson(system, accuracy=1e-3)
    else:
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=step)
    trajectory, seconds = run(system, state, 20.0, integrator, 0.01)
    return energy_error(trajectory), seconds


def cube(height: float) -> np.ndarray:
    """Places of 216 balls."""
    grid = np.array([(i, j, k) for i in range(6) for j in range(6) for k in range(6)])
    return 0.21 * grid + np.random.default_rng(42).uniform(0.0, 1e-3, grid.shape) + (0.0, 0.0, height)


def heap(step: float, time: float = 10.0) -> tuple[float, float]:
    """Error and seconds of balls that fall and do not bounce."""
    system, state = balls(cube(RADIUS + 1e-3), 0.0, stepped=True)
    trajectory, seconds = run(system, state, time, mb.integrator.TimeStepping(system, fixed_step_size=step), 0.01)
    errors = []
    for q in trajectory.q:
        places = q.reshape(-1, 7)[:, 4:]
        pairs = cKDTree(places).query_pairs(2.0 * RADIUS, output_type="ndarray")
        apart = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
        errors.append(((2.0 * RADIUS - apart) ** 2).sum() + (np.maximum(RADIUS - places[:, 2], 0.0) ** 2).sum())
    return float(np.mean(errors)), seconds


def elastic_heap(step: float) -> tuple[float, float]:
    """Error and seconds of balls that fall on each other and bounce."""
    system, state = balls(cube(1.0 + RADIUS + 1e-3), 1.0, stepped=True)
    trajectory, seconds = run(system, state, 10.0, mb.integrator.TimeStepping(system, fixed_step_size=step), 0.01)
    return energy_error(trajectory), seconds


def measure(options: argparse.Namespace) -> dict:
    """All of them; quickly, those that take less than two seconds."""
    oblique = 0.5, 0.75**0.5, 0.0
    runs = [
        ("rolling, oblique", 1e-3, lambda step: rolling(oblique, step)),
        ("rolling, along y", 1e-3, lambda step: rolling((0.0, 1.0, 0.0), step)),
        ("bouncing", 1e-2, bouncing),
        ("bouncing", 1e-3, bouncing),
        ("bouncing", BY_EVENTS, bouncing),
        ("666", 1e-2, heap),
        ("666", 1e-3, heap),
        ("elastic 666", 1e-2, elastic_heap),
        ("elastic 666", 1e-3, elastic_heap),
    ]
    if options.quick:
        runs = [one for one in runs if one[0] != "666" or one[1] > 1e-3]
    return {"runs": [{"test": test, "step": step, "found": call(step)} for test, step, call in runs]}


def show(results: dict) -> list[Target]:
    """Print the tables."""
    errors, seconds = [], []
    for one in results["runs"]:
        test, step, (error, time) = one["test"], one["step"], one["found"]
        published = PUBLISHED[test].get(step, {})
        how = "events" if step == BY_EVENTS else f"{1e3 * step:g} ms"
        errors.append([test, how, error, *(published.get(engine, (None, None))[0] for engine in ENGINES)])
        seconds.append([test, how, time, *(published.get(engine, (None, None))[1] for engine in ENGINES)])
    print_table("Errors: mobod's, and those published", ["test", "step", "mobod", *ENGINES], errors)
    print_table("Seconds: mobod's here, the others' on their authors' machine", ["test", "step", "mobod", *ENGINES], seconds)
    targets = []
    for test in PUBLISHED:
        ours = [one["found"][0] for one in results["runs"] if one["test"] == test and one["step"] < 2e-3]
        best = min(error for error, _ in PUBLISHED[test][1e-3].values())
        ratio = min(ours) / best if ours else None
        targets.append(Target(f"{test}: error / the least published at 1 ms", ratio, 1.0, at_least=False))
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
