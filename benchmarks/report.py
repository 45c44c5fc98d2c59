"""What every benchmark prints: where it ran, tables, targets met or missed; and the JSON file."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """A number the project promised, and what was measured; None: not measured in this run."""

    name: str
    measured: float | None
    limit: float
    at_least: bool = True  # False: at most

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or a dash for what was not measured."""
        if self.measured is None:
            return "-"
        met = self.measured >= self.limit if self.at_least else self.measured <= self.limit
        return "PASS" if met else "FAIL"


def cpu() -> str:
    """Model name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str:
    """Commit of the working tree, marked if it has changes."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    head = git("rev-parse", "--short=12", "HEAD")
    return f"{head}{' with changes' if git('status', '--porcelain') else ''}" if head else "unknown"


def versions() -> dict[str, str]:
    """Versions of Python and of the packages a time depends on."""
    found = {"python": platform.python_version()}
    for package in ("mobod", "numpy", "numba", "llvmlite"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def environment() -> dict[str, object]:
    """Where and on what the benchmark ran."""
    return {"cpu": cpu(), "system": platform.system(), "commit": commit(), "versions": versions()}


def print_environment() -> None:
    """One line of ``environment()``."""
    here = environment()
    packages = ", ".join(f"{name} {version}" for name, version in here["versions"].items())
    print(f"{here['cpu']}; commit {here['commit']}; {packages}\n")


def cell(value: object) -> str:
    """Format a number with three digits, anything else as it is, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}" if 1e-3 <= abs(value) < 1e3 or value == 0 else f"{value:.2e}"
    return str(value)


def cell_of_time(timing: dict[str, float] | None) -> str:
    """Minimum, then median and spread."""
    if not timing:
        return ""
    return f"{timing['min']:.2f} ({timing['median']:.2f} ± {timing['spread']:.2f})"


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table in Markdown, aligned to be read as it is."""
    cells = [list(columns)] + [[cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"{title}\n")
    for number, row in enumerate(cells):
        print("| " + " | ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    print()


def print_targets(targets: Sequence[Target]) -> None:
    """Print the table of promises."""
    rows = [[t.name, t.measured, ("at least " if t.at_least else "at most ") + cell(t.limit), t.verdict] for t in targets]
    print_table("Targets", ["target", "measured", "limit", ""], rows)


def target_list(targets: Sequence[Target]) -> list[dict]:
    """Targets for the JSON file."""
    return [asdict(t) | {"verdict": t.verdict} for t in targets]


def run_as_script(
    description: str,
    measure: Callable[[argparse.Namespace], dict],
    show: Callable[[dict], list[Target]],
    add_options: Callable[[argparse.ArgumentParser], None] | None = None,
    arguments: Sequence[str] | None = None,
) -> dict:
    """Run the command line of one benchmark: measure, print, write.

    ``measure`` returns what goes into the JSON file, ``show`` prints it and returns the targets.
    The process ends with status 1 if the engines disagree, never because a target was missed: a
    time on a shared machine is a report, not a test.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes, for CI")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the results here")
    if add_options:
        add_options(parser)
    options = parser.parse_args(arguments)
    print_environment()
    results = measure(options)
    targets = show(results)
    if targets:
        print_targets(targets)
    document = {"environment": environment(), **results, "targets": target_list(targets)}
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return document
