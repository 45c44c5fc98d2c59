"""Regenerate the reference cases: compile ``generate*.cpp`` against Simbody 3.7, run them, compress what they write.

    python tests/reference/generate.py [--keep FOLDER]
    python tests/reference/generate.py --seed SEED --into FOLDER

needs g++ and Simbody 3.7 (``libsimbody-dev`` on Debian and Ubuntu). The inputs are the same on every machine; results may
differ in their last digits between processors. ``--keep`` also leaves the uncompressed JSON in FOLDER, for reading.

With ``--seed`` other models are drawn, and what is committed stays; ``MOBOD_TEST_REFERENCE=FOLDER`` has tests read these.
Models of constraints that cannot be assembled are drawn again, and how often is told.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Which program writes which folder.
PROGRAMS = {"generate.cpp": "cases", "generate_assembler.cpp": "assembled"}
#: What programs draw by a seed, and what is always the same.
DRAWN_ALONE, FIXED_ALONE = ("contact",), ("measures", "simulations", "cables")
INCLUDES = ("/usr/include/simbody", "/usr/local/include/simbody")
LIBRARIES = ("SimTKsimbody", "SimTKmath", "SimTKcommon")


def find_headers() -> Path:
    """Return the folder of Simbody's headers, or leave with a message that says how to get them."""
    for folder in map(Path, INCLUDES):
        if (folder / "Simbody.h").exists():
            return folder
    sys.exit(
        f"Simbody's headers are in none of {', '.join(INCLUDES)}: install Simbody 3.7 (Debian and Ubuntu: apt install "
        "libsimbody-dev). The committed cases can be read without it."
    )


def compile_generator(program: Path, source: str = "generate.cpp") -> None:
    """Compile a source; without fused multiply-add, so that processors differ less."""
    if shutil.which("g++") is None:
        sys.exit("g++ is not installed: apt install g++")
    headers = find_headers()
    command = ["g++", "-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-isystem", str(headers)]
    command += [str(HERE / source), "-o", str(program), *(f"-l{name}" for name in LIBRARIES)]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"{source} does not compile; it is written for Simbody 3.7, see the message of g++ above")


def compress(source: Path, target: Path) -> None:
    """Write ``source`` gzipped, the same bytes every time: no name and no time in the header."""
    target.write_bytes(gzip.compress(source.read_bytes(), compresslevel=9, mtime=0))


def generate_alone(what: str, scratch: str, target: Path, keep: Path | None, seed: list[str]) -> None:
    """What are no cases of `reader`, measures, contact and so on: ``generate_WHAT.cpp`` writes ``WHAT.json.gz``."""
    program, written = Path(scratch, f"generate_{what}"), Path(scratch, f"{what}.json")
    compile_generator(program, f"generate_{what}.cpp")
    # Simbody 3.7 says much about cables
    if subprocess.run([str(program), str(written), *seed], check=False, stdout=subprocess.DEVNULL).returncode:
        sys.exit(f"the generator of {what} failed; {what}.json.gz is as it was")
    compress(written, target / f"{what}.json.gz")
    if keep:
        shutil.copy(written, keep)


def main() -> None:
    """Compile, run, replace the committed cases; or write others into another folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="also leave the uncompressed JSON in this folder")
    parser.add_argument("--seed", type=int, help="draw other models than those committed")
    parser.add_argument("--into", type=Path, help="the folder of what --seed draws")
    asked = parser.parse_args()
    if (asked.seed is None) != (asked.into is None):
        parser.error("--seed and --into go together: what is committed has no seed")
    target, seed = asked.into or HERE, [] if asked.seed is None else [str(asked.seed)]
    for source, folder in PROGRAMS.items():
        regenerate(source, target / folder, asked.keep, seed)
    with tempfile.TemporaryDirectory() as scratch:
        for what in DRAWN_ALONE if seed else DRAWN_ALONE + FIXED_ALONE:
            generate_alone(what, scratch, target, asked.keep, seed)


def regenerate(source: str, folder: Path, keep: Path | None, seed: list[str]) -> None:
    """Compile and run one program, and replace what its folder has."""
    with tempfile.TemporaryDirectory() as scratch:
        program, written = Path(scratch, "generate"), Path(scratch, "cases")
        written.mkdir()
        compile_generator(program, source)
        if subprocess.run([str(program), str(written), *seed], check=False).returncode:
            sys.exit(f"{source} failed; what {folder.name}/ has is as it was")
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.json.gz"):
            old.unlink()
        for case in sorted(written.glob("*.json")):
            compress(case, folder / f"{case.name}.gz")
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(case, keep)
    total = sum(path.stat().st_size for path in folder.glob("*.json.gz"))
    print(f"{total / 1e6:.2f} MB in {folder.name}/")


if __name__ == "__main__":
    main()
