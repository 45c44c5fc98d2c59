"""Measure how long a newcomer waits: for the import, the first simulation, and those after it.

Every figure comes from fresh processes. The first simulation compiles into an empty cache folder
(``MOBOD_CACHE_DIR``); the later ones find it filled. Times of simulations are from the start of the
process to the result, Python's own start included; the import's is the import's alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

from .measure import summary
from .peers.mobod import Mobod, source_folder
from .report import Target, cell_of_time, print_table, run_as_script

IMPORT = """
from time import perf_counter
start = perf_counter()
import mobod
print(perf_counter() - start)
"""

# the double pendulum of the documentation, to its motion after two seconds
SIMULATION = """
import time
import mobod as mb
system = mb.MultibodySystem()
matter = mb.SimbodyMatterSubsystem(system)
forces = mb.GeneralForceSubsystem(system)
mb.force.Gravity(forces, matter, (0, -9.8, 0))
link = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
upper = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 1, 0)))
lower = mb.mobilizer.Pin(upper, link, X_BM=mb.Transform((0, 1, 0)))
state = system.realize_topology()
lower.set_rate(state, 5.0)
trajectory = mb.simulate(system, state, 2.0)
assert trajectory.q.shape[1] == 2
print(time.time())
"""


def run_python(code: str, cache: str) -> tuple[float, float]:
    """Run code in a fresh process: when it started, in epoch seconds, and the number it printed."""
    path = os.pathsep.join(filter(None, [str(source_folder()), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "MOBOD_CACHE_DIR": cache, "PYTHONPATH": path}
    start = time.time()
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the fresh process failed: {done.stderr.strip()[-400:]}")
    return start, float(done.stdout.split()[-1])


def wait_for_result(cache: str) -> float:
    """Seconds from the start of a process to its simulation's result."""
    start, end = run_python(SIMULATION, cache)
    return end - start


def measure(options: argparse.Namespace) -> dict:
    """Time imports, cold starts and warm starts."""
    if reason := Mobod.missing("simulate"):
        return {"notes": [f"mobod left out: {reason}"], "seconds": {}}
    warm_runs = 2 if options.quick else 10
    cold, warm = [], []
    for _ in range(1 if options.quick else 2):
        with tempfile.TemporaryDirectory() as cache:
            imports = [run_python(IMPORT, cache)[1] for _ in range(warm_runs)]
            cold.append(wait_for_result(cache))
            warm += [wait_for_result(cache) for _ in range(warm_runs)]
    seconds = {
        "import": summary([imports]),
        "first simulation, compiling": summary([cold]),
        "later first results": summary([warm]),
    }
    return {"notes": [], "seconds": seconds}


def show(results: dict) -> list[Target]:
    """Print the three waits."""
    for note in results["notes"]:
        print(f"note: {note}")
    seconds = results["seconds"]
    rows = [[name, cell_of_time(timing)] for name, timing in seconds.items()]
    print_table("Seconds: minimum (median ± spread)", ["what", "s"], rows)
    limits = {"import": 0.5, "first simulation, compiling": 20.0, "later first results": 1.0}
    return [Target(f"{name}, s", seconds.get(name, {}).get("min"), limit, at_least=False) for name, limit in limits.items()]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
