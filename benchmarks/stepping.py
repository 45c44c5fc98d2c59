"""Measure what ten seconds of many contacts cost with `TimeStepping` at 2 ms, beside MuJoCo at its own 2 ms, in one run.

Systems: ten boxes on each other, a hundred spheres that fall into a box, a humanoid of 29 joints that falls onto the floor and
lies there, a quadruped of 12 that falls onto a height field, Unitree's G1 of `mobod.examples.g1_falls` with the dampers and
stops of its joints. The same bodies in all engines, MuJoCo's inertias; its contacts are soft and mobod's, of the materials,
stiff, so that the motions differ after the first impact and the end does not. They are timed in turns, by the processor's
time, and the least of all rounds counts. Where Drake is installed it takes part too, for the first two seconds: its SAP
solver, at the same step, with the file that MuJoCo reads. Boxes stacked on each other are compliant there (hydroelastic: by
points, one a pair, they fall). The G1 is left out, as its spheres are in no file, and the height field, which nothing touches.

Beside the times: how deep what rests has sunk in, the largest speed at the end, and of mobod the largest residual of
complementarity, as a part of the largest velocity of its step, with how many problems kept more than a millionth.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time

import numpy as np

import mobod as mb
from mobod.examples import g1_falls

from .contact import packed, spheres
from .report import Target, print_table, run_as_script

STEP, TIME, DRAKE_TIME = 0.002, 10.0, 2.0
STIFFNESS, DISSIPATION, FRICTION, DAMPING = 1e6, 1.0, 0.8, 0.05


class Part:
    """A link on a hinge: where it is on its parent, the hinge's axis, and its shape: a capsule, a box or a sphere."""

    def __init__(self, name, parent, place, axis, shape, size, middle=(0, 0, 0), mass=1.0, touches=True):
        self.name, self.parent, self.place, self.axis = name, parent, place, axis
        self.shape, self.size, self.middle, self.mass, self.touches = shape, size, middle, mass, touches


def humanoid() -> list[Part]:
    """29 hinges, 36 kg, as tall as a small person."""
    X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    joint = {"shape": "sphere", "size": (0.03,), "mass": 0.6, "touches": False}
    parts = [Part("pelvis", None, (0, 0, 0), None, "box", (0.07, 0.1, 0.06), mass=4.0)]
    for side, y in (("l", 0.09), ("r", -0.09)):
        parts += [
            Part(side + "hip1", "pelvis", (0, y, -0.05), Y, **joint),
            Part(side + "hip2", side + "hip1", (0, 0, 0), X, **joint),
            Part(side + "thigh", side + "hip2", (0, 0, 0), Z, "capsule", (0.05, 0.1), (0, 0, -0.15), 2.0),
            Part(side + "shin", side + "thigh", (0, 0, -0.3), Y, "capsule", (0.04, 0.1), (0, 0, -0.14), 1.8),
            Part(side + "ankle", side + "shin", (0, 0, -0.3), Y, **joint),
            Part(side + "foot", side + "ankle", (0, 0, 0), X, "box", (0.1, 0.035, 0.02), (0.03, 0, -0.04), 0.7),
        ]
    parts += [
        Part("waist1", "pelvis", (0, 0, 0.06), Z, **joint),
        Part("waist2", "waist1", (0, 0, 0), X, **joint),
        Part("trunk", "waist2", (0, 0, 0), Y, "box", (0.08, 0.13, 0.15), (0, 0, 0.2), 9.0),
    ]
    for side, y in (("l", 0.22), ("r", -0.22)):
        parts += [
            Part(side + "shoulder1", "trunk", (0, y, 0.3), Y, **joint),
            Part(side + "shoulder2", side + "shoulder1", (0, 0, 0), X, **joint),
            Part(side + "upper", side + "shoulder2", (0, 0, 0), Z, "capsule", (0.04, 0.06), (0, 0, -0.1), 1.0),
            Part(side + "fore", side + "upper", (0, 0, -0.2), Y, "capsule", (0.035, 0.05), (0, 0, -0.09), 0.8),
            Part(side + "wrist1", side + "fore", (0, 0, -0.18), Z, **joint),
            Part(side + "wrist2", side + "wrist1", (0, 0, 0), X, **joint),
            Part(side + "hand", side + "wrist2", (0, 0, 0), Y, "sphere", (0.045,), (0, 0, -0.05), 0.4),
        ]
    return parts


def quadruped() -> list[Part]:
    """12 hinges, round feet."""
    X, Y = (1, 0, 0), (0, 1, 0)
    parts = [Part("trunk", None, (0, 0, 0), None, "box", (0.19, 0.06, 0.055), mass=7.0)]
    for name, x, y in (("fl", 0.19, 0.05), ("fr", 0.19, -0.05), ("hl", -0.19, 0.05), ("hr", -0.19, -0.05)):
        out = 0.09 if y > 0 else -0.09
        parts += [
            Part(name + "hip", "trunk", (x, y, 0), X, "sphere", (0.045,), mass=0.7, touches=False),
            Part(name + "thigh", name + "hip", (0, out, 0), Y, "capsule", (0.02, 0.08), (0, 0, -0.1), 1.1),
            Part(name + "shank", name + "thigh", (0, 0, -0.21), Y, "sphere", (0.023,), (0, 0, -0.21), 0.25),
        ]
    return parts


def hills() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heights on a grid, from 0 to 0.15."""
    x = np.linspace(-2.0, 2.0, 41)
    return x, x, 0.075 + 0.0375 * (np.sin(3.0 * x)[:, None] + np.cos(4.0 * x)[None, :])


def xml_of(parts: list[Part], height: float, ground: str) -> str:
    """The robot in MuJoCo's format."""

    def body(part: Part) -> str:
        place = (0, 0, height) if part.parent is None else part.place
        joint = "<freejoint/>" if part.parent is None else f'<joint axis="{_row(part.axis)}" damping="{DAMPING}"/>'
        own = "" if part.touches else ' contype="0" conaffinity="0"'
        geom = (
            f'<geom type="{part.shape}" size="{_row(part.size)}" pos="{_row(part.middle)}" mass="{part.mass}" '
            f'friction="{FRICTION} 0 0"{own}/>'
        )
        inner = "".join(body(one) for one in parts if one.parent == part.name)
        return f'<body name="{part.name}" pos="{_row(place)}">{joint}{geom}{inner}</body>'

    x, y, z = hills()
    low, high = z.min(), z.max()
    rows = " ".join(f"{h:.9g}" for h in ((z.T - low) / (high - low)).ravel())
    field = ""
    if ground == "hills":
        size = f"{x[-1]} {y[-1]} {high - low} 1"
        field = f'<asset><hfield name="hills" nrow="{len(y)}" ncol="{len(x)}" size="{size}" elevation="{rows}"/></asset>'
    floor = (
        f'<geom type="hfield" hfield="hills" pos="0 0 {low}" friction="{FRICTION} 0 0"/>'
        if ground == "hills"
        else f'<geom type="plane" size="0 0 1" friction="{FRICTION} 0 0"/>'
    )
    option = f'<option timestep="{STEP}"/>'
    return f"<mujoco>{option}{field}<worldbody>{floor}{body(parts[0])}</worldbody></mujoco>"


def _row(numbers) -> str:
    return " ".join(f"{x:.9g}" for x in numbers)


def robot(parts: list[Part], height: float, ground: str, model):
    """The same in mobod, with the inertias of MuJoCo's model."""
    import mujoco

    system = mb.MultibodySystem("robot")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    material = mb.contact.Material(STIFFNESS, DISSIPATION, FRICTION)
    floor = mb.contact.HeightField(*hills()) if ground == "hills" else mb.contact.HalfSpace()
    matter.ground.add_contact_surface(mb.contact.Surface(floor, material))
    bodies = {}
    for part in parts:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, part.name)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[number])
        turn = turn.reshape(3, 3)
        mass, com = float(model.body_mass[number]), model.body_ipos[number]
        central = turn @ np.diag(model.body_inertia[number]) @ turn.T
        about = central + mass * (com @ com * np.eye(3) - np.outer(com, com))
        moments = about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2]
        body = mb.body.Rigid(mb.MassProperties(mass, com, mb.Inertia(*moments)))
        if part.touches:
            shapes = {"box": mb.contact.Brick, "sphere": lambda size: mb.contact.Sphere(size[0])}
            shapes["capsule"] = lambda size: mb.contact.Capsule(*size)
            surface = mb.contact.Surface(shapes[part.shape](part.size), material)
            body.add_contact_surface(surface, mb.Transform(part.middle))
        if part.parent is None:
            bodies[part.name] = mb.mobilizer.Free(matter.ground, body, name=part.name)
            continue
        R = {(1, 0, 0): mb.Rotation.about_axis(np.pi / 2, "y"), (0, 1, 0): mb.Rotation.about_axis(-np.pi / 2, "x")}.get(
            part.axis, mb.Rotation()
        )
        pin = mb.mobilizer.Pin(
            bodies[part.parent], body, X_PF=mb.Transform(R, part.place), X_BM=mb.Transform(R), name=part.name
        )
        mb.force.MobilityLinearDamper(forces, pin, 0, DAMPING)
        bodies[part.name] = pin
    state = system.realize_topology()
    bodies[parts[0].name].set_q_to_fit_translation(state, (0, 0, height))
    system.realize(state)
    return system, state


def boxes(n: int = 10):
    """A stack in both engines: (system, state), MuJoCo's XML."""
    system = mb.MultibodySystem("boxes")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    material = mb.contact.Material(STIFFNESS, DISSIPATION, FRICTION)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    half = (0.1, 0.1, 0.1)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick(half)))
    stack = [mb.mobilizer.Free(matter.ground, body) for _ in range(n)]
    for box in stack:
        box.add_contact_surface(mb.contact.Surface(mb.contact.Brick(half), material))
    state = system.realize_topology()
    places = [(0.002 * (k % 3 - 1), 0.0, 0.1 + 0.201 * k) for k in range(n)]
    for box, place in zip(stack, places, strict=True):
        box.set_q_to_fit_translation(state, place)
    system.realize(state)
    geom = f'<geom type="box" size="{_row(half)}" mass="1" friction="{FRICTION} 0 0"/>'
    text = "".join(f'<body pos="{_row(place)}"><freejoint/>{geom}</body>' for place in places)
    floor = f'<geom type="plane" size="0 0 1" friction="{FRICTION} 0 0"/>'
    return (system, state), f'<mujoco><option timestep="{STEP}"/><worldbody>{floor}{text}</worldbody></mujoco>'


def g1():
    """The example in both engines: (system, state), MuJoCo's model of the same file, with the example's spheres and dampers."""
    import mujoco

    system, state = g1_falls.build()
    text = (Path(g1_falls.__file__).parent / "g1.urdf").read_text()
    start = text.index(">", text.index("<robot")) + 1
    option = '<mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco>'
    spec = mujoco.MjSpec.from_string(text[:start] + option + text[start:])
    spec.option.timestep = STEP
    for joint in spec.joints:
        joint.damping = [g1_falls.DAMPING, 0.0, 0.0] if np.ndim(joint.damping) else g1_falls.DAMPING
    spec.body("pelvis").add_freejoint()
    matter = system.get_matter_subsystem()
    kinds = {"friction": [FRICTION, 0, 0], "mass": 0}
    for body in matter.body_list[1:]:
        for surface, place in body.body.contact_surfaces:
            size = [surface.geometry.radius, 0, 0]
            own = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": size, "pos": place.p, "contype": 1, "conaffinity": 0}
            spec.body(body.name).add_geom(**own, **kinds)
    ((_, floor),) = matter.ground.body.contact_surfaces
    own = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [0, 0, 1], "pos": floor.p, "contype": 0, "conaffinity": 1}
    spec.worldbody.add_geom(**own, **kinds)
    model = spec.compile()
    q, u = model.qpos0.copy(), np.zeros(model.nv)
    for part, angle in g1_falls.POSE.items():
        for side in ("left", "right"):
            q[model.joint(f"{side}_{part}_joint").qposadr] = angle
    u[0] = g1_falls.PUSH
    spec.add_key(qpos=q, qvel=u)
    return (system, state), spec.compile()


def systems(names: list[str]):
    """Name, (system, state), MuJoCo's model, and the text that Drake reads, None where it cannot."""
    import mujoco

    from .contact import xml_of_spheres

    for name in names:
        text = None
        if name == "10 boxes stacked":
            ours, text = boxes()
            model = mujoco.MjModel.from_xml_string(text)
        elif name == "100 spheres in a box":
            places = packed(100, 0.21, 0.3)
            system, _, state = spheres(places, box=True)
            state.u = np.zeros(len(state.u))
            text = xml_of_spheres(places)
            ours, model = (system, state), mujoco.MjModel.from_xml_string(text)
        elif name == "humanoid onto the floor":
            text = xml_of(humanoid(), 0.8, "floor")
            model = mujoco.MjModel.from_xml_string(text)
            ours = robot(humanoid(), 0.8, "floor", model)
        elif name == "G1 falls over":
            ours, model = g1()
        else:
            model = mujoco.MjModel.from_xml_string(xml_of(quadruped(), 0.65, "hills"))
            ours = robot(quadruped(), 0.65, "hills", model)
        yield name, ours, model, text


NAMES = ["10 boxes stacked", "100 spheres in a box", "humanoid onto the floor", "quadruped onto hills", "G1 falls over"]


def ours(system, state, time: float):
    """Seconds, and the integrator with its state at the end."""
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=STEP)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state.copy())
    stepper.step_to(2.0 * STEP)  # compiled
    start = process_time()
    stepper.step_to(time)
    return process_time() - start, integrator, stepper.state


def theirs(model, time: float):
    """The same of MuJoCo, from the model's key frame where it has one."""
    import mujoco

    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    start = process_time()
    for _ in range(round(time / STEP)):
        mujoco.mj_step(model, data)
    return process_time() - start, data


def drakes(text: str | None, time: float, compliant: bool):
    """The same of Drake: seconds, points or patches of contact, and the largest speed; None where it is not there."""
    try:
        from pydrake.geometry import DefaultProximityProperties, SceneGraphConfig
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, DiscreteContactApproximation
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder
    except ImportError:
        return None
    if text is None:
        return None
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, STEP)
    if compliant:
        soft = DefaultProximityProperties(compliance_type="compliant", slab_thickness=0.1)
        graph.set_config(SceneGraphConfig(default_proximity_properties=soft))
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    Parser(plant).AddModelsFromString(text.replace("<mujoco>", '<mujoco model="touching">', 1), "xml")
    plant.Finalize()
    simulator = Simulator(builder.Build())
    simulator.Initialize()
    start = process_time()
    simulator.AdvanceTo(time)
    seconds = process_time() - start
    context = plant.GetMyContextFromRoot(simulator.get_context())
    found = plant.get_contact_results_output_port().Eval(context)
    number = found.num_point_pair_contacts() + found.num_hydroelastic_contacts()
    return seconds, number, float(np.abs(plant.GetVelocities(context)).max())


def measure(options: argparse.Namespace) -> dict:
    """All systems in both engines."""
    time, rounds = (2.0, 1) if options.quick else (TIME, 2)
    found: dict[str, dict] = {}
    for name, (system, state), model, text in systems(NAMES):
        times: tuple[list[float], list[float]] = [], []
        for _ in range(rounds):
            seconds, integrator, end = ours(system, state, time)
            times[0].append(seconds)
            seconds, data = theirs(model, time)
            times[1].append(seconds)
        drake = drakes(text, DRAKE_TIME, "boxes" in name)
        points = integrator.get_contact_points()
        found[name] = {
            "mobod, s": min(times[0]),
            "MuJoCo, s": min(times[1]),
            "ratio": min(times[0]) / min(times[1]),
            "contacts": f"{len(points)} / {data.ncon}",
            "depth, mm": f"{1e3 * points['depth'].max(initial=0.0):.2g} / "
            f"{1e3 * max([-contact.dist for contact in data.contact], default=0.0):.2g}",
            "largest speed at the end": f"{np.abs(end.u).max():.0e} / {np.abs(data.qvel).max():.0e}",
            "residual": f"{integrator.get_largest_relative_residual():.0e}",
            "not converged": integrator.get_num_unconverged(),
            "Drake, s for 2 s": "" if drake is None else f"{drake[0]:.3g}",
            "its contacts, largest speed": "" if drake is None else f"{drake[1]}, {drake[2]:.0e}",
        }
    return {"time": time, "systems": found}


def show(results: dict) -> list[Target]:
    """Print the results."""
    found = results["systems"]
    heads = ["system", *next(iter(found.values()))]
    rows = [[name, *one.values()] for name, one in found.items()]
    print_table(f"{results['time']:g} s at steps of {1e3 * STEP:g} ms (of both: mobod / MuJoCo)", heads, rows)
    return [Target(f"{name}: time by MuJoCo's", one["ratio"], 1.0, at_least=False) for name, one in found.items()]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
