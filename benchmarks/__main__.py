"""Every benchmark, or those named, in one run: ``python -m benchmarks [--quick] [--json FILE] [NAME ...]``.

Prints each one's tables, then all ratios and the promises that were met or missed. The status is 1
if two engines disagree about the accelerations, and never because a time was missed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from . import (
    biomechanics,
    cliffs,
    constraints,
    contact,
    derivatives,
    derivatives_of_elements,
    ensembles,
    environments,
    first_run,
    forces,
    forward_dynamics,
    known_motion,
    memory,
    mobilizers,
    muscles,
    operators,
    particles,
    plans,
    python_loop,
    python_overhead,
    sensitivities,
    simbenchmark,
    simulation,
    stepping,
    stiff,
    threads,
    tracking,
)
from .forward_dynamics import PEERS, time_of
from .measure import ratio
from .report import Target, environment, print_environment, print_table, print_targets, target_list

BENCHMARKS = {
    "biomechanics": biomechanics,
    "forward_dynamics": forward_dynamics,
    "operators": operators,
    "derivatives": derivatives,
    "derivatives_of_elements": derivatives_of_elements,
    "mobilizers": mobilizers,
    "known_motion": known_motion,
    "simulation": simulation,
    "cliffs": cliffs,
    "python_loop": python_loop,
    "python_overhead": python_overhead,
    "first_run": first_run,
    "forces": forces,
    "constraints": constraints,
    "contact": contact,
    "ensembles": ensembles,
    "environments": environments,
    "memory": memory,
    "muscles": muscles,
    "particles": particles,
    "plans": plans,
    "sensitivities": sensitivities,
    "simbenchmark": simbenchmark,
    "stepping": stepping,
    "stiff": stiff,
    "threads": threads,
    "tracking": tracking,
}


def ratio_rows(models: dict) -> list[list[object]]:
    """How many times as fast as each peer mobod is: from Python, in a loop, in a batch."""
    rows = []
    for name, result in models.items():
        row: list[object] = [name]
        for where in ("python", "loop", "ensemble"):
            mine = time_of(result, "mobod", where)
            for peer in PEERS:
                # Simbody has no Python of its own, and a batch is compared with single states
                compiled = where != "python" or peer == "Simbody"
                row.append(ratio(time_of(result, peer, "loop" if compiled else "python"), mine))
        rows.append(row)
    return rows


def main() -> int:
    """Run everything and write one file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)}; all unless named")
    parser.add_argument("--quick", action="store_true", help="shorter, and less exact")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the results here")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in BENCHMARKS]:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    options.models = None
    print_environment()
    document: dict[str, Any] = {"environment": environment(), "quick": options.quick}
    targets: list[Target] = []
    disagreements: list[str] = []
    for name in options.names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        print(f"## {(benchmark.__doc__ or name).splitlines()[0]}\n", flush=True)
        results = benchmark.measure(options)
        targets += benchmark.show(results)
        disagreements += results.get("disagreements", [])
        document[name] = results
    if "forward_dynamics" in document:
        columns = ["model"]
        for where in ("from Python", "loop", "Ensemble"):
            columns += [f"{where}: {peer}" for peer in PEERS]
        rows = ratio_rows(document["forward_dynamics"]["models"])
        title = "How many times as fast as each peer (its compiled loop for an Ensemble)"
        print_table(title, columns, rows)
    print_targets(targets)
    document["targets"] = target_list(targets)
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    verdicts = [target.verdict for target in targets]
    print(
        f"{verdicts.count('PASS')} targets met, {verdicts.count('FAIL')} missed,"
        f" {verdicts.count('-')} not measured; {len(disagreements)} disagreements"
    )
    return 1 if disagreements else 0


if __name__ == "__main__":
    raise SystemExit(main())
