"""Measure inverse kinematics and inverse dynamics beside OpenSim's tools: milliseconds of a whole run, and what each reaches.

The models are gait2354's subject, with its walk of 151 frames, and Rajagopal's, scaled and marked as its pipeline has it, with
a walk of 238 frames. Both start from a loaded model, and read and write the same files. The folder of the files is a clone of
github.com/opensim-org/opensim-models, named by the environment variable MOBOD_LAB_FILES; ``pip install opensim`` is needed.
Coordinates are compared with those that OpenSim finds with an accuracy of 1e-9, its default being 1e-5. OpenSim 4.6 has the
Coriolis forces of a CustomJoint wrong whose rotations share a coordinate, Rajagopal's knees: forces are compared with its own
after those are put right, by differences of its own mass matrix, at every tenth time; the table has the difference before, too.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from .peers.mobod import Mobod
from .report import Target, print_table, run_as_script

ROUNDS = 3
ROUNDS_OF_ID = 12
IK_TARGET, ID_TARGET = 15.0, 30.0
ANGLE, FORCE = 1e-4, 1e-6


def of_gait(osim: Any, folder: Path, out: Path) -> tuple[Path, Path, Path, Path]:
    """Model, markers, coordinates, loads of gait2354's subject."""
    pipeline = folder / "Pipelines" / "Gait2354_Simbody"
    model = folder / "Models" / "Gait2354_Simbody" / "subject01_simbody.osim"
    return model, pipeline / "subject01_walk1.trc", pipeline / "subject01_walk1_ik.mot", pipeline / "subject01_walk1_grf.xml"


def of_rajagopal(osim: Any, folder: Path, out: Path) -> tuple[Path, Path, Path | None, Path]:
    """Those of Rajagopal's, scaled by OpenSim as its pipeline says; its coordinates are the ones that are found."""
    pipeline = folder / "Pipelines" / "Rajagopal"
    model = osim.Model(str(folder / "Models" / "Rajagopal" / "Rajagopal2016.osim"))
    state = model.initSystem()
    model.scale(state, osim.ScaleSet(str(pipeline / "Scale" / "scaleSet_applied_walk.xml")), True, -1.0)
    model.updateMarkerSet(osim.MarkerSet(str(pipeline / "Scale" / "subject_scaled_walk_markerset.xml")))
    model.initSystem()
    model.printToXML(str(out / "rajagopal.osim"))
    return out / "rajagopal.osim", pipeline / "ExpData" / "motion_capture_walk.trc", None, pipeline / "ID" / "grf_walk.xml"


MODELS = {"gait2354": of_gait, "Rajagopal": of_rajagopal}


def ik_of_opensim(osim: Any, model: Path, markers: Path, out: Path, accuracy: float) -> tuple[float, Path]:
    """Seconds of its tool, and the file of coordinates."""
    tool, loaded = osim.InverseKinematicsTool(), osim.Model(str(model))
    tool.setModel(loaded)
    tool.setMarkerDataFileName(str(markers))
    tool.setStartTime(-1e9)
    tool.setEndTime(1e9)
    tool.setResultsDir(str(out))
    tool.setOutputMotionFileName(str(out / "ik.mot"))
    tool.set_report_errors(False)
    tool.set_accuracy(accuracy)
    start = time.perf_counter()
    tool.run()
    return time.perf_counter() - start, out / "ik.mot"


def id_of_opensim(osim: Any, model: Path, motion: Path, loads: Path, out: Path) -> tuple[float, Path]:
    """Likewise of inverse dynamics."""
    tool, loaded, muscles = osim.InverseDynamicsTool(), osim.Model(str(model)), osim.ArrayStr()
    muscles.append("Muscles")
    tool.setModel(loaded)
    tool.setExcludedForces(muscles)
    tool.setCoordinatesFileName(str(motion))
    tool.setExternalLoadsFileName(str(loads))
    tool.setStartTime(-1e9)
    tool.setEndTime(1e9)
    tool.setResultsDir(str(out))
    tool.setOutputGenForceFileName("id.sto")
    start = time.perf_counter()
    tool.run()
    return time.perf_counter() - start, out / "id.sto"


def goal(np: Any, mb: Any, model: Any, markers: Any, coordinates: Any) -> float:
    """The mean square of the distances, of coordinates in a table."""
    names = [name for name in model.markers if name in markers]
    state, total, count = model.default_state(), 0.0, 0
    places = [model.coordinates[name] for name in model.coordinates if name in coordinates]
    columns = np.stack([coordinates[name] for name in model.coordinates if name in coordinates], axis=1)
    for i, row in enumerate(columns):
        q = state.q.copy()
        q[places] = row
        state.q = q
        model.system.realize(state, mb.Stage.POSITION)
        for name in names:
            body, station = model.markers[name]
            seen = markers[name][i]
            if np.isfinite(seen).all():
                total += float(((body.find_station_location_in_ground(state, station) - seen) ** 2).sum())
                count += 1
    return total / count


def coriolis_fault(np: Any, osim: Any, path: Path, model: Any, dynamics: Any, rows: Any) -> dict[str, Any]:
    """What OpenSim's generalized forces have too much, by coordinate, at some rows of a motion.

    Its own forces of inertia at u_dot = 0, less d(M u)/dt - d(u.M u/2)/dq by central differences of its mass matrix.
    """
    theirs = osim.Model(str(path))
    state = theirs.initSystem()
    matter, coordinates = theirs.getMatterSubsystem(), theirs.getCoordinateSet()
    n = state.getNU()
    names = [coordinates.get(k).getName() for k in range(coordinates.getSize())]
    place = {}
    for name in names:
        one = coordinates.get(name)
        one.setLocked(state, False)
        state.setU(osim.Vector(n, 0.0))
        one.setSpeedValue(state, 1.0)
        place[name] = int(np.argmax(state.getU().to_numpy()))
    columns = {place[name]: name for name in names}
    nothing, none, out = osim.Vector(n, 0.0), osim.VectorOfSpatialVec(), osim.Vector(n, 0.0)

    def mass_times(q: Any, u: Any) -> Any:
        state.setQ(osim.Vector.createFromMat(q))
        theirs.realizePosition(state)
        matter.multiplyByM(state, osim.Vector.createFromMat(u), out)
        return out.to_numpy().copy()

    found = {name: [] for name in names}
    h = 1e-4
    for i in rows:
        q, u = np.zeros(n), np.zeros(n)
        for k, name in columns.items():
            q[k], u[k] = dynamics.q[i, model.coordinates[name]], dynamics.u[i, model.speeds[name]]
        right = (mass_times(q + h * u, u) - mass_times(q - h * u, u)) / (2 * h)
        for k in range(n):
            e = np.zeros(n)
            e[k] = h
            right[k] -= (u @ mass_times(q + e, u) - u @ mass_times(q - e, u)) / (4 * h)
        state.setQ(osim.Vector.createFromMat(q))
        state.setU(osim.Vector.createFromMat(u))
        theirs.realizeVelocity(state)
        matter.calcResidualForceIgnoringConstraints(state, nothing, none, nothing, out)
        wrong = out.to_numpy().copy() - right
        for k, name in columns.items():
            found[name].append(wrong[k])
    return found


def of_one(np: Any, mb: Any, osim: Any, name: str, folder: Path, rounds: int) -> dict[str, float]:
    """All numbers of one model."""
    found = {"ik": np.inf, "ik_opensim": np.inf, "id": np.inf, "id_opensim": np.inf}
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        path, marked, motion, loads = MODELS[name](osim, folder, out)
        model = mb.load(path)
        markers = mb.read_trc(marked)
        mb.inverse_kinematics(model, markers.between(markers.time[0], markers.time[3]))  # compiles
        for _ in range(rounds):
            (out / "mobod.mot").unlink(missing_ok=True)  # to replace a file, some file systems wait for the disk
            start = time.perf_counter()
            kinematics = mb.inverse_kinematics(model, marked)
            mb.write_sto(out / "mobod.mot", kinematics.to_table(), degrees=True, model=model)
            found["ik"] = min(found["ik"], time.perf_counter() - start)
            taken, theirs = ik_of_opensim(osim, path, marked, out, 1e-5)
            found["ik_opensim"] = min(found["ik_opensim"], taken)
        found["frames"] = len(markers)
        coordinates = mb.read_sto(theirs, model=model)
        found["goal"] = goal(np, mb, model, markers, kinematics.to_table())
        found["goal_opensim"] = goal(np, mb, model, markers, coordinates)
        exact = mb.read_sto(ik_of_opensim(osim, path, marked, out, 1e-9)[1], model=model)
        ours = kinematics.to_table()
        found["angle"] = max(float(np.abs(ours[one] - exact[one]).max()) for one in model.angles if one in exact)
        found["angle_1e-5"] = max(float(np.abs(coordinates[one] - exact[one]).max()) for one in model.angles if one in exact)
        motion = motion or out / "mobod.mot"
        mb.inverse_dynamics(model, motion, loads)
        for _ in range(ROUNDS_OF_ID if rounds > 1 else 1):
            (out / "mobod.sto").unlink(missing_ok=True)
            start = time.perf_counter()
            dynamics = mb.inverse_dynamics(model, motion, loads)
            mb.write_sto(out / "mobod.sto", dynamics.forces)
            found["id"] = min(found["id"], time.perf_counter() - start)
            taken, theirs = id_of_opensim(osim, path, motion, loads, out)
            found["id_opensim"] = min(found["id_opensim"], taken)
        forces = mb.read_sto(theirs)
        largest = max(float(np.abs(forces[label]).max()) for label in forces)
        shared = [label for label in forces if label in dynamics.forces]
        found["times"] = len(forces)
        found["force_as_it_is"] = max(float(np.abs(forces[one] - dynamics.forces[one]).max()) for one in shared) / largest
        rows = np.arange(5, len(forces), 10)
        fault = coriolis_fault(np, osim, path, model, dynamics, rows)
        off = [np.abs(forces[one][rows] - fault[one.rpartition("_")[0]] - dynamics.forces[one][rows]).max() for one in shared]
        found["force"] = float(max(off)) / largest
        found["unmatched"] = len(forces.labels) - len(shared)
    return found


def measure(options: argparse.Namespace) -> dict:
    """All models."""
    folder = os.environ.get("MOBOD_LAB_FILES")
    if not folder:
        return {"notes": ["left out: MOBOD_LAB_FILES names no clone of opensim-org/opensim-models"], "models": {}}
    if reason := Mobod.missing("Assembler"):
        return {"notes": [f"left out: {reason}"], "models": {}}
    try:
        import opensim as osim
    except ImportError as error:
        return {"notes": [f"left out: opensim cannot be imported ({error}); pip install opensim"], "models": {}}
    import numpy as np

    import mobod as mb

    osim.Logger.setLevelString("Off")
    rounds = 1 if options.quick else ROUNDS
    return {"notes": [], "models": {name: of_one(np, mb, osim, name, Path(folder), rounds) for name in MODELS}}


def show(results: dict) -> list[Target]:
    """Print both tables."""
    for note in results["notes"]:
        print(f"note: {note}")
    targets = [
        Target("inverse kinematics, times OpenSim's speed", None, IK_TARGET),
        Target("inverse dynamics, times OpenSim's speed", None, ID_TARGET),
    ]
    models = results["models"]
    if not models:
        return targets
    print_table(
        "Inverse kinematics of a recording",
        ["", "frames", "mobod ms", "OpenSim ms", "times", "goal", "OpenSim's goal", "off its limit", "OpenSim off it"],
        [
            [
                name,
                f"{one['frames']:.0f}",
                f"{1e3 * one['ik']:.1f}",
                f"{1e3 * one['ik_opensim']:.0f}",
                f"{one['ik_opensim'] / one['ik']:.1f}",
                f"{one['goal']:.8e}",
                f"{one['goal_opensim']:.8e}",
                f"{one['angle']:.1e} rad",
                f"{one['angle_1e-5']:.1e} rad",
            ]
            for name, one in models.items()
        ],
    )
    print_table(
        "Inverse dynamics",
        [
            "",
            "times",
            "mobod ms",
            "OpenSim ms",
            "times as fast",
            "largest difference, of the largest force",
            "before its faults",
        ],
        [
            [
                name,
                f"{one['times']:.0f}",
                f"{1e3 * one['id']:.1f}",
                f"{1e3 * one['id_opensim']:.0f}",
                f"{one['id_opensim'] / one['id']:.1f}",
                f"{one['force']:.1e}",
                f"{one['force_as_it_is']:.1e}",
            ]
            for name, one in models.items()
        ],
    )
    return [
        Target("inverse kinematics, times OpenSim's speed", min(o["ik_opensim"] / o["ik"] for o in models.values()), IK_TARGET),
        Target("inverse dynamics, times OpenSim's speed", min(o["id_opensim"] / o["id"] for o in models.values()), ID_TARGET),
        Target("coordinates, off OpenSim's limit", max(o["angle"] for o in models.values()), ANGLE, at_least=False),
        Target("forces, off OpenSim's", max(o["force"] for o in models.values()), FORCE, at_least=False),
    ]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
