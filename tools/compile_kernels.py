"""Compile the kernels that come with a wheel for a platform: `python tools/compile_kernels.py build/bundles`.

For each level of processors a process runs what users run first: the doctor, the bundled examples, the README, the first pages,
the tutorials and the how-to pages, with code made for that level. What it has used becomes a bundle, a file of the folder. With
the folder in ``MOBOD_BUNDLES_FROM``, `python -m build --wheel` makes a wheel for this platform and this Python that has them
(`hatch_build.py`).

The processor has to be of the level: what is compiled is run. By default these are all levels that this one can run.
"""

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Rooms of the documentation whose pages are run.
ROOMS = ("start", "tutorials", "how-to")
#: What the examples of the README load.
ROBOT = """<robot name="robot"><link name="trunk"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def main() -> None:
    """Make a bundle for each level."""
    from mobod.compiling import bundle

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the bundles are put")
    parser.add_argument("--level", action="append", choices=bundle.LEVELS, help="for this level alone")
    parser.add_argument("--examples-only", action="store_true", help="only what bundled examples begin with, as CI tries them")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for level in options.level or bundle.supported_levels():
        begin, file = time.perf_counter(), options.folder.resolve() / f"{level}.zip"
        with tempfile.TemporaryDirectory() as scratch:
            settings = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "MPLBACKEND": "agg", "MOBOD_QUIET": "1"}
            command = [sys.executable, __file__, "--work", str(file), *(["--examples-only"] if options.examples_only else [])]
            subprocess.run(command, cwd=scratch, env={**os.environ, **settings}, check=True)
        took = time.perf_counter() - begin
        print(
            f"{file}: {len(bundle.zipfile.ZipFile(file).namelist())} kernels, {file.stat().st_size / 1e6:.1f} MB, {took:.0f} s"
        )


def work(file: Path, examples_only: bool) -> None:
    """Run what newcomers run, and pack what that has used; the process makes code for one level."""
    import warnings

    from mobod.compiling import bundle, store

    warnings.simplefilter("ignore")
    run_examples(to_the_end=not examples_only)
    of_examples = set(store.used)
    if not examples_only:
        for name, code in pages():
            with contextlib.redirect_stdout(io.StringIO()):
                run_page(name, code)
    # what pages compile of functions of their own is of no use to others
    bundle.pack({name for name in store.used if name in of_examples or not name.startswith("users.")}, file)


def run_examples(to_the_end: bool) -> None:
    """The doctor, and every bundled example with a replay: to its end, with a plot and a table too, or for a moment."""
    from mobod.cli.main import main as mobod
    from mobod.importer.named_models import find_examples

    with contextlib.redirect_stdout(io.StringIO()):
        assert mobod(["doctor"]) == 0
    for name in sorted(find_examples()):
        print(name, flush=True)
        more = ["--plot", f"{name}.png", "--output", f"{name}.csv"] if to_the_end else ["--time", "0.1"]
        assert mobod(["simulate", name, "--quiet", "--replay", f"{name}.html", *more]) == 0, name


def pages() -> Iterator[tuple[str, list[str]]]:
    """The Python blocks of the README and of the first pages."""
    yield "README.md", re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    sys.path.insert(0, str(ROOT / "tests"))
    from pages import DOCS, examples

    for room in ROOMS:
        for page in sorted((DOCS / room).glob("*.md")):
            yield page.name, [code for code, _ in examples(page.name)] if page.name != "index.md" else []


def run_page(name: str, blocks: list[str]) -> None:
    """Run a page's blocks one after the other."""
    print(name, file=sys.stderr, flush=True)
    Path("robot.urdf").write_text(ROBOT, encoding="utf-8")
    names = {"__name__": "__main__"}
    for code in blocks:
        exec(compile(code, name, "exec"), names)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), "--examples-only" in sys.argv)
    else:
        main()
