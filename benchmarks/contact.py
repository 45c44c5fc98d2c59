"""Measure what contact costs: one of spheres with its force, a hundred spheres in a box, and their fall beside MuJoCo.

Of an evaluation of all accelerations in a compiled loop, the cost of a contact is that of spheres that touch a plane
less that of the same spheres above it; beside it stands what these cost more than bodies without surfaces. All are
measured in turns. The share of the search for what is near is measured by the same spheres far apart.

The fall: spheres dropped into a box, for some seconds. mobod controls the error, with materials that give way; MuJoCo takes
steps of 2 ms with its own soft constraints: the two do not compute the same motion, but the same heap, with as many spheres
inside.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

import mobod as mb
from mobod.state.validity import EVERYTHING
from mobod.tree.realize import advance, repeat

from .measure import summary
from .report import Target, cell_of_time, print_table, run_as_script

RADIUS, SIDE = 0.1, 1.2
ACCURACY = 1e-3
MUJOCO_STEP = 0.002
#: Of the material: a sphere of 4 kg at rest lies 0.1 mm deep.
STIFFNESS, DISSIPATION, FRICTION = 1e7, 1.0, 0.5
MASS = 4.0


def spheres(places: np.ndarray, *, surfaces: bool = True, floor: bool = True, box: bool = False):
    """A system of free spheres at places, above a floor, or in a box without a lid."""
    system = mb.MultibodySystem("spheres")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    contacts = mb.CompliantContactSubsystem(system)
    material = mb.contact.Material(STIFFNESS, DISSIPATION, FRICTION)
    if surfaces and floor:
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    if surfaces and box:
        for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
            wall = mb.contact.Surface(mb.contact.HalfSpace(normal), material)
            matter.ground.add_contact_surface(wall, mb.Transform(-0.5 * SIDE * np.array(normal)))
    body = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.sphere(RADIUS)))
    balls = [mb.mobilizer.Free(matter.ground, body) for _ in places]
    if surfaces:
        for ball in balls:
            ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(RADIUS), material))
    state = system.realize_topology()
    for ball, place in zip(balls, places, strict=True):
        ball.set_q_to_fit_translation(state, place)
    state.u = 0.01 * np.random.default_rng(0).normal(size=len(state.u))
    system.realize(state)
    return system, contacts, state


def packed(n: int, pitch: float, height: float) -> np.ndarray:
    """Places of n spheres in layers of five by five, a little disordered."""
    rng = np.random.default_rng(1)
    layers = [(pitch * (i % 5 - 2), pitch * (i // 5 % 5 - 2), height + pitch * (i // 25)) for i in range(n)]
    return np.array(layers) + rng.uniform(-0.005, 0.005, (n, 3))


def evaluations(states, rounds: int, seconds: float, in_lanes: bool = False) -> list[list[float]]:
    """Nanoseconds of an evaluation of each state, measured in turns: a list of rounds each."""
    address = advance.address(in_lanes=in_lanes)
    blocks = []
    for state in states:
        record = state.record
        if in_lanes:
            record = state.tree.new_record(in_lanes=True)
            record.q[:, 0], record.u[:, 0] = state.record.q[:, :1], state.record.u[:, :1]
        start = perf_counter()
        repeat(record.block, address, EVERYTHING, 10)
        repeats = max(1, int(10 * seconds / (perf_counter() - start)))
        blocks.append((record, repeats))
    found: list[list[float]] = [[] for _ in states]
    for _ in range(rounds):
        for times, (record, repeats) in zip(found, blocks, strict=True):
            start = perf_counter()
            repeat(record.block, address, EVERYTHING, repeats)
            times.append(1e9 * (perf_counter() - start) / repeats / (8 if in_lanes else 1))
    return found


def shapes() -> dict[str, tuple[mb.contact.Shape, mb.contact.Shape, float]]:
    """Pairs by their names: the lower shape, the upper one, and how far apart their frames are where they just touch."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(200, 3))
    hull = mb.contact.ConvexHull(0.1 * points / np.linalg.norm(points, axis=1)[:, None])
    top, bottom = hull.vertices[:, 2].max(), -hull.vertices[:, 2].min()
    box, wide, plane = mb.contact.Brick((0.1, 0.1, 0.1)), mb.contact.Brick((0.2, 0.2, 0.1)), mb.contact.HalfSpace()
    pill, disk = mb.contact.Ellipsoid((0.1, 0.15, 0.1)), mb.contact.Cylinder(0.1, 0.1)
    return {
        "box on plane": (plane, box, 0.1),
        "ellipsoid on plane": (plane, pill, 0.1),
        "cylinder on plane": (plane, disk, 0.1),
        "box on box": (wide, box, 0.2),
        "cylinder on box": (wide, disk, 0.2),
        "ellipsoid on ellipsoid": (pill, pill, 0.2),
        "hulls of 200 vertices": (hull, hull, top + bottom - 2e-3),
    }


def cost_of_pairs(rounds: int, seconds: float) -> dict[str, float]:
    """Nanoseconds of a contact with its force: ten that touch less the same ten apart, found near each other in both."""
    found = {}
    for name, (lower, upper, height) in shapes().items():
        states = []
        for gap in (-1e-4, 1.0):
            system = mb.MultibodySystem(name)
            matter = mb.SimbodyMatterSubsystem(system)
            mb.GeneralForceSubsystem(system)
            mb.CompliantContactSubsystem(system)
            material = mb.contact.Material(STIFFNESS, DISSIPATION, FRICTION)
            body = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.sphere(RADIUS)))
            for k in range(10):
                if k == 0 or not lower.is_unbounded:
                    matter.ground.add_contact_surface(mb.contact.Surface(lower, material), mb.Transform((0.9 * k, 0, 0)))
                mb.mobilizer.Free(matter.ground, body).add_contact_surface(mb.contact.Surface(upper, material))
            state = system.realize_topology()
            for k, one in enumerate(matter.bodies[1:]):
                turn = mb.Rotation.about_axis(0.3 if "200" not in name else 0.0, "z")
                one.set_q_to_fit_transform(state, mb.Transform(turn, (0.9 * k, 0.001, height + gap)))
            state.u = 0.01 * np.random.default_rng(0).normal(size=len(state.u))
            system.realize(state)
            states.append(state)
        times = [min(one) for one in evaluations(states, rounds, seconds)]
        found[f"{name} with its force, ns"] = (times[0] - times[1]) / 10
    return found


def costs(options: argparse.Namespace) -> dict[str, dict]:
    """Of one contact, and of a hundred spheres."""
    rounds, seconds = (60, 0.001) if options.quick else (200, 0.003)
    line = np.array([(1.03 * i, 0.37 * i, RADIUS - 1e-4) for i in range(20)])
    plain, touching, above = spheres(line, surfaces=False)[2], spheres(line)[2], spheres(line + np.array([0, 0, 1.0]))[2]
    found = {}
    for in_lanes in (False, True):
        times = [min(one) for one in evaluations([plain, touching, above], rounds, seconds, in_lanes)]
        where = " in lanes, ns a state" if in_lanes else ", ns"
        found[f"sphere on plane with its force{where}"] = (times[1] - times[2]) / 20
        found[f"surfaces that are above the plane{where}"] = (times[2] - times[0]) / 20
    found |= cost_of_pairs(rounds, seconds)
    heap = packed(100, 0.195, 0.097)
    _, contacts, state = spheres(heap, box=True)
    # boxes as they are in the heap, of which the corners alone meet: nothing touches
    loose, bare = spheres(packed(100, 0.215, 0.5))[2], spheres(heap, surfaces=False)[2]
    apart = spheres(5.0 * heap)[2]
    times = [min(one) for one in evaluations([bare, state, loose, apart], rounds, seconds)]
    found["100 spheres in a box, contacts"] = contacts.get_num_contacts(state)
    found["100 spheres in a box, us an evaluation"] = times[1] / 1e3
    found["the same without surfaces, us"] = times[0] / 1e3
    found["the same just apart, us"] = times[2] / 1e3
    found["the same far apart, us"] = times[3] / 1e3
    return found


def xml_of_spheres(places: np.ndarray) -> str:
    """The same fall in MuJoCo's format."""
    walls = "".join(
        f'<geom type="plane" size="0 0 1" pos="{-0.5 * SIDE * x} {-0.5 * SIDE * y} 0" zaxis="{x} {y} 0" '
        f'friction="{FRICTION} 0 0"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/>'
        f'<geom type="sphere" size="{RADIUS}" mass="{MASS}" condim="3" friction="{FRICTION} 0 0"/></body>'
        for x, y, z in places
    )
    return (
        f'<mujoco><option timestep="{MUJOCO_STEP}" gravity="0 0 -9.81"/><worldbody>'
        f'<geom type="plane" size="0 0 1" friction="{FRICTION} 0 0"/>{walls}{balls}</worldbody></mujoco>'
    )


def mujoco_spheres(places: np.ndarray):
    """The same fall in MuJoCo; None where it is not installed."""
    try:
        import mujoco
    except ImportError:
        return None
    model = mujoco.MjModel.from_xml_string(xml_of_spheres(places))
    return mujoco, model, mujoco.MjData(model)


def inside(heights_and_places: np.ndarray) -> int:
    """How many spheres are in the box, on its floor or on others."""
    x, y, z = heights_and_places.T
    room = 0.5 * SIDE - 0.9 * RADIUS
    return int(((np.abs(x) < room) & (np.abs(y) < room) & (z > 0.9 * RADIUS)).sum())


def fall(n: int, time: float, rounds: int) -> dict:
    """Both engines drop n spheres into a box."""
    places = packed(n, 0.21, 0.3)
    found: dict[str, dict] = {"mobod": {}, "MuJoCo": {}}
    seconds: dict[str, list[float]] = {"mobod": [], "MuJoCo": []}
    for _ in range(rounds):
        system, _contacts, state = spheres(places, box=True)
        integrator = mb.integrator.RungeKuttaMerson(system, accuracy=ACCURACY)
        stepper = mb.TimeStepper(system, integrator)
        stepper.initialize(state)
        start = perf_counter()
        stepper.step_to(time)
        seconds["mobod"].append(perf_counter() - start)
        at = integrator.get_state().q.reshape(n, 7)[:, 4:]
        found["mobod"] = {"steps": integrator.get_num_steps_taken(), "attempts": integrator.get_num_steps_attempted()}
        found["mobod"] |= {"inside": inside(at), "height": float(at[:, 2].mean())}
        if peer := mujoco_spheres(places):
            mujoco, model, data = peer
            steps = round(time / MUJOCO_STEP)
            mujoco.mj_forward(model, data)
            start = perf_counter()
            mujoco.mj_step(model, data, steps)
            seconds["MuJoCo"].append(perf_counter() - start)
            at = data.qpos.reshape(n, 7)[:, :3]
            found["MuJoCo"] = {"steps": steps, "attempts": steps, "inside": inside(at), "height": float(at[:, 2].mean())}
    for name, one in found.items():
        if one:
            one["seconds"] = summary([seconds[name]])
    return {name: one for name, one in found.items() if one}


def measure(options: argparse.Namespace) -> dict:
    """Time everything in one run."""
    falls = {"27 spheres in a box, 1 s": fall(27, 1.0, 2)}
    if not options.quick:
        falls["100 spheres in a box, 10 s"] = fall(100, 10.0, 1)
    notes = [] if any("MuJoCo" in one for one in falls.values()) else ["MuJoCo left out: pip install mujoco"]
    return {"notes": notes, "costs": costs(options), "falls": falls}


def show(results: dict) -> list[Target]:
    """Print the tables."""
    for note in results["notes"]:
        print(f"note: {note}")
    found = results["costs"]
    print_table("Contact in a compiled loop", ["what", "cost"], [[name, float(value)] for name, value in found.items()])
    rows, targets = [], []
    for name, engines in results["falls"].items():
        for engine, one in engines.items():
            counts = one["steps"], one["attempts"], one["inside"], one["height"]
            rows.append([name, engine, cell_of_time(one["seconds"]), *counts])
        times = [engines.get(engine, {}).get("seconds", {}).get("min") for engine in ("mobod", "MuJoCo")]
        ratio = times[0] / times[1] if all(times) else None
        targets.append(Target(f"{name}: wall time at {ACCURACY:g} / MuJoCo's at 2 ms", ratio, 3.0, at_least=False))
    columns = ["what", "engine", "seconds: minimum (median ± spread)", "steps", "attempts", "inside at the end", "mean height"]
    print_table("Spheres dropped into a box", columns, rows)
    contact, lanes = found["sphere on plane with its force, ns"], found["sphere on plane with its force in lanes, ns a state"]
    targets.append(Target("sphere on plane with its force, ns", contact, 40.0, at_least=False))
    targets.append(Target("the same in lanes, ns a state", lanes, 8.0, at_least=False))
    for name, wanted in (("box on plane", 120.0), ("box on box", 700.0), ("hulls of 200 vertices", 2000.0)):
        targets.append(Target(f"{name} with its force, ns", found[f"{name} with its force, ns"], wanted, at_least=False))
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
