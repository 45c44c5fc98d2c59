"""Measure inverse kinematics and inverse dynamics beside OpenSim's tools: milliseconds of a whole run, and what each reaches.

The models are gait2354's subject, with its walk of 151 frames, and Rajagopal's, scaled and marked as its pipeline has it, with
a walk of 238 frames. Both start from a loaded model, and read and write the same files. The folder of the files is a clone of
github.com/opensim-org/opensim-models, named by the environment variable MOBOD_LAB_FILES; ``pip install opensim`` is needed.
Coordinates are compared with those that OpenSim finds with an accuracy of 1e-9, its default being 1e-5.
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
        for _ in range(rounds):
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
        found["force"] = max(float(np.abs(forces[one] - dynamics.forces[one]).max()) for one in shared) / largest
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
        ["", "times", "mobod ms", "OpenSim ms", "times as fast", "largest difference, of the largest force"],
        [
            [
                name,
                f"{one['times']:.0f}",
                f"{1e3 * one['id']:.1f}",
                f"{1e3 * one['id_opensim']:.0f}",
                f"{one['id_opensim'] / one['id']:.1f}",
                f"{one['force']:.1e}",
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
