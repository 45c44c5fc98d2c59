"""Measure how long a newcomer waits: for the import, the first simulation, and those after it.

Every figure comes from fresh processes, whole ones: from the start of the command to its end, and the processor time of all
that it starts. The first simulation compiles into an empty cache folder (``MOBOD_CACHE_DIR``); the later ones find it filled.
The import's is what it takes beyond NumPy's. At the end it says where a first run's processor time goes, in one process.
"""

from __future__ import annotations

import argparse
import json
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
import numpy
start = perf_counter()
import mobod
print(perf_counter() - start)
"""

#: What is simulated: a plain mechanism, one with constraints, one with joint limits.
MODELS = ("double_pendulum", "four_bar", "panda")
#: A first run of a double pendulum in one process, which prints seconds by kernel and by what Numba was doing.
BREAKDOWN = """
import functools, json, time
clock = time.process_time
start = clock()
import numba
from llvmlite.binding import newpassmanagers
from numba.core import codegen, event
from mobod.cli.main import main
from mobod.compiling.disk_cache import DiskCache
kernels, parts, open_ones = {}, {"imports": clock() - start}, []

def timed(table, name, call):
    @functools.wraps(call)
    def of_it(*args):
        open_ones.append(0.0)
        begin = clock()
        try:
            return call(*args)
        finally:
            took, inner = clock() - begin, open_ones.pop()
            table[name] = table.get(name, 0.0) + took - (inner if table is parts else 0.0)
            if open_ones and table is parts:
                open_ones[-1] += took
    return of_it

class Passes(event.Listener):
    def on_start(self, event):
        open_ones.append(0.0)
        event.data["begin"] = clock()
    def on_end(self, event):
        took, inner = clock() - event.data["begin"], open_ones.pop()
        name = event.data["name"].split(" ")[0]
        name = {"nopython_type_inference": "typing", "native_lowering": "lowering"}.get(name, "other passes of Numba's")
        parts[name] = parts.get(name, 0.0) + took - inner
        if open_ones:
            open_ones[-1] += took

serve = DiskCache.serve
def serve_timed(cache, compiler):
    serve(cache, compiler)
    compiler.compile = timed(kernels, cache._stem, compiler.compile)
DiskCache.serve = serve_timed
engine, passes = codegen.JitEngine, newpassmanagers.ModulePassManager
engine.finalize_object = timed(parts, "LLVM: machine code", engine.finalize_object)
passes.run = timed(parts, "LLVM: optimization", passes.run)
event.register("numba:run_pass", Passes())
main(["simulate", "double_pendulum", "--quiet"])
parts["all else"] = clock() - start - sum(parts.values())
print(json.dumps([{name: took for name, took in kernels.items() if took > 0.05}, parts]))
"""


def run_python(arguments: list[str], cache: str, **settings: str) -> tuple[float, float, str]:
    """Run Python in a fresh process: seconds that passed, seconds of processors, and what it printed."""
    path = os.pathsep.join(filter(None, [str(source_folder()), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "MOBOD_CACHE_DIR": cache, "PYTHONPATH": path, **settings}
    start, before = time.perf_counter(), os.times()
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode:
        raise RuntimeError(f"the fresh process failed: {done.stderr.strip()[-400:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used, done.stdout


def wait_for_result(model: str, cache: str) -> tuple[float, float]:
    """Seconds from the start of `mobod simulate` to its end, and of processors."""
    return run_python(["-m", "mobod", "simulate", model, "--quiet"], cache)[:2]


def measure(options: argparse.Namespace) -> dict:
    """Time imports, cold starts and warm starts."""
    if reason := Mobod.missing("simulate"):
        return {"notes": [f"mobod left out: {reason}"], "seconds": {}}
    warm_runs, seconds, used = 2 if options.quick else 10, {}, {}
    with tempfile.TemporaryDirectory() as cache:
        imports = [float(run_python(["-c", IMPORT], cache)[2]) for _ in range(warm_runs)]
    seconds["import, beyond NumPy's"] = summary([imports])
    for model in MODELS[:1] if options.quick else MODELS:
        with tempfile.TemporaryDirectory() as cache:
            cold = wait_for_result(model, cache)
            warm = [wait_for_result(model, cache) for _ in range(warm_runs)]
        for name, found in (("first", [cold]), ("later", warm)):
            seconds[f"{model}, {name} run"] = summary([[wall for wall, _ in found]])
            used[f"{model}, {name} run"] = min(processors for _, processors in found)
    with tempfile.TemporaryDirectory() as cache:
        kernels, parts = json.loads(run_python(["-c", BREAKDOWN], cache, MOBOD_WORKERS="0")[2].splitlines()[-1])
    return {"notes": [], "seconds": seconds, "processors": used, "kernels": kernels, "parts": parts}


def show(results: dict) -> list[Target]:
    """Print the waits, and where the first one goes."""
    for note in results["notes"]:
        print(f"note: {note}")
    seconds, used = results["seconds"], results.get("processors", {})
    rows = [[name, cell_of_time(timing), f"{used[name]:.2f}" if name in used else ""] for name, timing in seconds.items()]
    print_table("Seconds: minimum (median ± spread); of all processors", ["what", "s", "processors, s"], rows)
    for title, table in (("kernel", results.get("kernels", {})), ("part", results.get("parts", {}))):
        rows = [[name, f"{took:.2f}"] for name, took in sorted(table.items(), key=lambda item: -item[1])]
        print_table(f"First run of a double pendulum, one process, by {title}", [title, "s"], rows)
    limits = {"import, beyond NumPy's": 0.15, "double_pendulum, first run": 9.0, "four_bar, first run": 12.0}
    limits |= {"panda, first run": 12.0, "double_pendulum, later run": 1.0}
    return [Target(f"{name}, s", seconds.get(name, {}).get("min"), limit, at_least=False) for name, limit in limits.items()]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
