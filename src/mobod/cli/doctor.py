"""The command `mobod doctor`: what a bug report has to say of an installation, and whether it works."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import CommandError

#: q of `examples.double_pendulum` after so long, by SciPy's DOP853 at 1e-13 from Lagrange's equations.
TIME, END = 1.0, (-0.077431019073, -1.230733928366)
#: Packages that everything needs.
NEEDED = ("numba", "llvmlite", "numpy", "scipy", "platformdirs")
_WIDTH = 16


def add_doctor(commands: Any) -> None:
    """Add it."""
    doctor = commands.add_parser(
        "doctor",
        help="say what is installed, and whether it works",
        description="Print versions, processor, cache of compiled code and extras, and test that simulating works: "
        "in seconds, unless code has to be compiled first. Paste it into a bug report.",
    )
    doctor.set_defaults(run=lambda options: _doctor())


def _doctor() -> None:
    from ..compiling import get_ready, seconds_spent

    get_ready()
    for name, what in _facts():
        print(f"{name:<{_WIDTH}}{what}")
    failed = 0
    for name, test in TESTS.items():
        begin, compiling = time.perf_counter(), seconds_spent()
        try:
            said = test()
        except Exception as error:
            failed += 1
            said = f"FAILED: {type(error).__name__}: {' '.join(str(error).split())}"
        took, compiled = time.perf_counter() - begin, seconds_spent() - compiling
        print(f"{'test ' + name:<{_WIDTH}}{said}; {took:.1f} s, {compiled:.1f} of it for compiled code", flush=True)
    if failed:
        raise CommandError(f"{failed} of {len(TESTS)} tests failed; please report it, with all of this")


def _facts() -> Iterator[tuple[str, str]]:
    from .. import __file__ as file, __version__

    yield "mobod", f"{__version__} in {Path(file).parent}"
    yield "Python", f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    yield "system", platform.platform()
    yield "processor", _processor()
    for package in NEEDED:
        yield package, _version(package)
    yield from _cache()
    yield from _insides()
    for extra, packages in _extras().items():
        missing = [package for package in packages if _version(package) == ""]
        there = ", ".join(f"{package} {_version(package)}" for package in packages if package not in missing)
        lacks = f"lacks {', '.join(missing)}: pip install 'mobod[{extra}]'" if missing else ""
        yield f"extra {extra}", "; ".join(filter(None, [there, lacks]))
    settings = {name: value for name, value in sorted(os.environ.items()) if name.startswith(("MOBOD_", "NUMBA_"))}
    yield "settings", ", ".join(f"{name}={value}" for name, value in settings.items()) or "none"


def _processor() -> str:
    """Its name, what it can do that the speed depends on, and how many of it this process may use."""
    from llvmlite import binding

    name = platform.processor() or platform.machine()
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), flags=re.MULTILINE)
        name = found.group(1) if found else name
    except OSError:
        pass
    features = binding.get_host_cpu_features()
    telling = {"avx2": "AVX2", "fma": "FMA", "avx512f": "AVX-512", "neon": "NEON"}
    can = [label for feature, label in telling.items() if features.get(feature)]
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{name} ({binding.get_host_cpu_name()}{''.join(f', {one}' for one in can)}), {usable} of {os.cpu_count()} cores"


def _version(package: str) -> str:
    """The version that is installed, or nothing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _cache() -> Iterator[tuple[str, str]]:
    """The sources of compiled code: what came with the installation, and the cache."""
    from ..compiling import bundle, cache_folder

    folder = cache_folder()
    files = [file.stat().st_size for end in ("bin", "parts") for file in folder.glob(f"*.{end}")] if folder.is_dir() else []
    there = next(one for one in (folder, *folder.parents) if one.exists())
    writable = "" if os.access(there, os.W_OK) else "; not writable, so that each run compiles anew: set MOBOD_CACHE_DIR"
    yield "kernels", bundle.describe()
    yield "cache", f"{folder}: {len(files)} files, {sum(files) / 1e6:.0f} MB{writable}"


def _insides() -> Iterator[tuple[str, str]]:
    """True if undocumented parts of Numba, Python and NumPy are relied on here."""
    from ..algebra.object_layout import why_plain
    from ..compiling.numba_patches import patches, why_unpatched

    objects, numba = why_plain(), why_unpatched()
    yield (
        "objects",
        f"not read by their layout, so that calls take 30 us longer: {objects}" if objects else "read by their layout",
    )
    yield "compiling", f"Numba as it is: {numba}" if numba else f"{len(patches())} functions of Numba replaced meanwhile"


def _extras() -> dict[str, list[str]]:
    """The packages that each extra for users installs, as the installed package's metadata says."""
    found: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("mobod") or []:
        matched = re.fullmatch(r"([\w.-]+).*;.*extra == ['\"]([\w-]+)['\"].*", line)
        if matched and matched[1] != "mobod" and matched[2] not in ("all", "test", "dev", "docs", "crosscheck"):
            found.setdefault(matched[2], []).append(matched[1])
    return found


# ---------------------------------------------------------------------------------------------- tests


def _test_motion() -> str:
    """A double pendulum ends where SciPy's integration of Lagrange's equations does, and keeps its energy."""
    from .. import examples
    from ..simulation.simulate import simulate
    from .first_run import compile_for

    compile_for("double_pendulum", None)
    system, state = examples.double_pendulum.build()
    motion = simulate(system, state, TIME, accuracy=1e-9)
    off = max(abs(q - right) for q, right in zip(motion.q[-1], END, strict=True))
    drift = motion.energy_drift / float(motion.calc_kinetic_energy().max())
    if not (off < 1e-6 and drift < 1e-7):
        raise ArithmeticError(f"a double pendulum is off by {off:.2g}, its energy by {drift:.2g}")
    return f"ok, off by {off:.1g}"


def _test_speed() -> str:
    """Accelerations at new q and u, from Python: the best of some rounds."""
    from .. import examples

    system, state = examples.double_pendulum.build()
    q, u, best = state.q.copy(), state.u.copy(), float("inf")
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(500):
            state.q, state.u = q, u
            system.realize(state)
        best = min(best, (time.perf_counter() - begin) / 500)
    return f"ok, accelerations in {1e6 * best:.2f} us from Python"


def _test_files() -> str:
    """A motion that is saved and loaded is the same; a picture can be drawn, where Matplotlib is installed."""
    from .. import examples
    from ..simulation.simulate import simulate
    from ..simulation.trajectory import Trajectory

    system, state = examples.double_pendulum.build()
    motion = simulate(system, state, 0.1)
    with tempfile.TemporaryDirectory() as folder:
        motion.save(Path(folder) / "motion.npz")
        if Trajectory.load(Path(folder) / "motion.npz").q.tobytes() != motion.q.tobytes():
            raise OSError("a motion that was saved is another one when it is loaded")
        if not _version("matplotlib"):
            return "ok, no pictures without Matplotlib"
        motion.plot(Path(folder) / "motion.png", snapshots=1)
        return f"ok, a picture of {(Path(folder) / 'motion.png').stat().st_size // 1000} kB"


TESTS: dict[str, Callable[[], str]] = {"motion": _test_motion, "speed": _test_speed, "files": _test_files}
