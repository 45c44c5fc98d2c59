"""Measure inverse kinematics: microseconds a frame of 36 noisy markers, on a figure of 30 coordinates.

The same model, the same frames in memory and the same marker weights in mobod, in Simbody's Assembler (a loop in C++) and in
OpenSim's InverseKinematicsSolver (``pip install opensim``; its loop over frames in Python, all else in C++). Each is warm
started from frame to frame. What each reaches is printed too: the mean goal, half the mean squared distance, the least for the
best fit.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from .peers.build import Unavailable, build_folder, compile_program, run_program
from .peers.mobod import Mobod
from .report import Target, print_table, run_as_script

#: Each body's parent; the first is a Free body, the others are Balls.
PARENTS = (0, 1, 2, 3, 1, 5, 1, 7, 8)
FRAMES, QUICK_FRAMES, ROUNDS = 300, 60, 3
NOISE = 0.005
SIMBODY = Path(__file__).resolve().parent / "peers" / "tracking.cpp"
#: OpenSim's own default for inverse kinematics, and Simbody's.
ACCURACIES = {"Simbody, 1e-3": 1e-3, "Simbody, 1e-5": 1e-5}
TARGET = 5.0


class Figure:
    """The model in numbers, and the frames."""

    def __init__(self, np: Any, mb: Any, frames: int) -> None:
        random = np.random.default_rng(0)
        self.on_parent = random.uniform(-0.3, 0.3, (len(PARENTS), 3))
        self.on_parent[0] = 0.0
        self.on_body = np.tile((0.0, 0.3, 0.0), (len(PARENTS), 1))
        self.on_body[0] = 0.0
        self.marked = np.repeat(np.arange(1, len(PARENTS) + 1), 4)
        self.stations = random.uniform(-0.2, 0.2, (len(self.marked), 3))
        system, state, bodies = self.build(mb)
        times = 0.01 * np.arange(frames)
        self.frames = np.empty((frames, len(self.marked), 3))
        matter = system.get_matter_subsystem()
        for i, t in enumerate(times):
            state.u = np.sin(3.0 * t + np.arange(len(state.u)))
            system.realize(state, mb.Stage.VELOCITY)
            state.q = state.q + 0.01 * state.q_dot
            matter.normalize_quaternions(state)
            system.realize(state, mb.Stage.POSITION)
            for k, (b, station) in enumerate(zip(self.marked, self.stations, strict=True)):
                self.frames[i, k] = bodies[b].find_station_location_in_ground(state, station)
        self.frames += NOISE * random.normal(size=self.frames.shape)

    def build(self, mb: Any) -> tuple[Any, Any, Any]:
        """Build the figure in mobod."""
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        for parent, p, c in zip(PARENTS, self.on_parent, self.on_body, strict=True):
            kind = mb.mobilizer.Ball if parent else mb.mobilizer.Free
            body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
            kind(matter.bodies[parent], body, X_PF=mb.Transform(p), X_BM=mb.Transform(c))
        return system, system.realize_topology(), matter.bodies

    def text(self) -> str:
        """The same for Simbody's program."""
        lines = [str(len(PARENTS))]
        for parent, p, c in zip(PARENTS, self.on_parent, self.on_body, strict=True):
            lines.append(f"{parent} {'Ball' if parent else 'Free'} {_row(p)} {_row(c)}")
        lines.append(str(len(self.marked)))
        lines += [f"{b} {_row(station)}" for b, station in zip(self.marked, self.stations, strict=True)]
        lines.append(str(len(self.frames)))
        lines += [_row(p) for frame in self.frames for p in frame]
        return "\n".join(lines)


def _row(numbers: Any) -> str:
    return " ".join(f"{x:.17g}" for x in numbers)


def of_mobod(np: Any, mb: Any, figure: Figure) -> tuple[float, float]:
    """Microseconds a frame, and the mean goal."""
    system, state, _ = figure.build(mb)
    markers, assembler = mb.assembler.Markers(), mb.Assembler(system)
    for b, station in zip(figure.marked, figure.stations, strict=True):
        markers.add_marker(None, int(b), station)
    assembler.adopt_assembly_goal(markers)
    assembler.initialize(state)
    q = assembler.track_frames(figure.frames[:1])
    start = time.perf_counter()
    q = assembler.track_frames(figure.frames)
    taken = time.perf_counter() - start
    goal = 0.0
    for frame, row in zip(figure.frames, q, strict=True):
        state.q = row
        assembler.initialize(state)
        markers.move_all_observations(frame)
        goal += assembler.calc_current_goal()
    return 1e6 * taken / len(figure.frames), goal / len(figure.frames)


def of_opensim(np: Any, figure: Figure) -> tuple[float, float]:
    """The same of OpenSim; its accuracy is left at the default of its tool, 1e-5."""
    try:
        import opensim as osim
    except ImportError as error:
        raise Unavailable(f"opensim cannot be imported ({error}); pip install opensim") from None
    osim.Logger.setLevelString("Off")
    model = osim.Model()
    bodies = [model.getGround()]
    for i, (parent, p, c) in enumerate(zip(PARENTS, figure.on_parent, figure.on_body, strict=True)):
        body = osim.Body(f"body{i}", 1.0, osim.Vec3(0), osim.Inertia(1, 1, 1))
        model.addBody(body)
        joint = osim.BallJoint if parent else osim.FreeJoint
        places = osim.Vec3(*p), osim.Vec3(0), body, osim.Vec3(*c), osim.Vec3(0)
        model.addJoint(joint(f"joint{i}", bodies[parent], *places))
        bodies.append(body)
    table, labels = osim.TimeSeriesTableVec3(), osim.StdVectorString()
    for k, (b, station) in enumerate(zip(figure.marked, figure.stations, strict=True)):
        model.addMarker(osim.Marker(f"m{k}", bodies[b], osim.Vec3(*station)))
        labels.append(f"m{k}")
    for i, frame in enumerate(figure.frames):
        table.appendRow(0.01 * i, osim.RowVectorVec3([osim.Vec3(*map(float, p)) for p in frame]))
    table.setColumnLabels(labels)
    model.finalizeConnections()
    state = model.initSystem()
    reference = osim.MarkersReference(table, osim.SetMarkerWeights())
    solver = osim.InverseKinematicsSolver(model, reference, osim.SimTKArrayCoordinateReference(), float("inf"))
    solver.setAccuracy(1e-5)
    state.setTime(0.0)
    solver.assemble(state)
    start = time.perf_counter()
    for i in range(len(figure.frames)):
        state.setTime(0.01 * i)
        solver.track(state)
    taken = time.perf_counter() - start
    goal = 0.0
    for i in range(len(figure.frames)):
        state.setTime(0.01 * i)
        solver.track(state)
        goal += 0.5 * float(np.mean([solver.computeCurrentMarkerError(f"m{k}") ** 2 for k in range(len(figure.marked))]))
    return 1e6 * taken / len(figure.frames), goal / len(figure.frames)


def measure(options: argparse.Namespace) -> dict:
    """The best time of some rounds of each, and the goals."""
    if reason := Mobod.missing("Assembler"):
        return {"notes": [f"mobod left out: {reason}"], "times": {}, "goals": {}}
    import numpy as np

    import mobod as mb

    figure = Figure(np, mb, QUICK_FRAMES if options.quick else FRAMES)
    times: dict[str, float] = {}
    goals: dict[str, float] = {}
    notes: list[str] = []

    def keep(name: str, found: tuple[float, float]) -> None:
        times[name] = min(found[0], times.get(name, float("inf")))
        goals[name] = found[1]

    file = build_folder() / "tracking.txt"
    file.write_text(figure.text())
    for _ in range(1 if options.quick else ROUNDS):
        keep("mobod", of_mobod(np, mb, figure))
        try:
            headers = next(f for f in ("/usr/include/simbody", "/usr/local/include/simbody") if Path(f).exists())
            libraries = [f"-l{name}" for name in ("SimTKsimbody", "SimTKmath", "SimTKcommon")]
            program = compile_program(SIMBODY, ["-std=c++17", "-O2", "-isystem", headers], libraries)
            for name, accuracy in ACCURACIES.items():
                found = run_program(program, file, accuracy).split()
                keep(name, (float(found[0]), float(found[1])))
        except (Unavailable, StopIteration) as reason:
            notes.append(f"Simbody left out: {reason or 'no headers'}")
        try:
            keep("OpenSim, 1e-5", of_opensim(np, figure))
        except Unavailable as reason:
            notes.append(f"OpenSim left out: {reason}")
    return {"times": times, "goals": goals, "notes": list(dict.fromkeys(notes))}


def show(results: dict) -> list[Target]:
    """Print the table."""
    for note in results["notes"]:
        print(f"note: {note}")
    times, goals = results["times"], results["goals"]
    if not times:
        return []
    print_table(
        "Tracking 36 markers with 30 coordinates",
        ["", "us a frame", "frames a minute", "times mobod's", "mean goal"],
        [[name, f"{t:.0f}", f"{6e7 / t:.0f}", f"{t / times['mobod']:.1f}", f"{goals[name]:.6e}"] for name, t in times.items()],
    )
    peer = times.get("OpenSim, 1e-5")
    return [Target("markers tracked, times OpenSim's speed", peer / times["mobod"] if peer else None, TARGET)]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
