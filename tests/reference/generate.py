"""Regenerate the reference cases: compile ``generate*.cpp`` against Simbody 3.7, run them, compress what they write.

    python tests/reference/generate.py [--keep FOLDER]

needs g++ and Simbody 3.7 (``libsimbody-dev`` on Debian and Ubuntu). The inputs are the same on every machine; results may
differ in their last digits between processors. ``--keep`` also leaves the uncompressed JSON in FOLDER, for reading.
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
PROGRAMS = {"generate.cpp": HERE / "cases", "generate_assembler.cpp": HERE / "assembled"}
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


def generate_alone(what: str, scratch: str, keep: Path | None) -> None:
    """What are no cases of `reader`, measures, contact and so on: ``generate_WHAT.cpp`` writes ``WHAT.json.gz``."""
    program, written = Path(scratch, f"generate_{what}"), Path(scratch, f"{what}.json")
    compile_generator(program, f"generate_{what}.cpp")
    # Simbody 3.7 says much about cables
    if subprocess.run([str(program), str(written)], check=False, stdout=subprocess.DEVNULL).returncode:
        sys.exit(f"the generator of {what} failed; {what}.json.gz is as it was")
    compress(written, HERE / f"{what}.json.gz")
    if keep:
        shutil.copy(written, keep)


def main() -> None:
    """Compile, run, replace the committed cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="also leave the uncompressed JSON in this folder")
    keep = parser.parse_args().keep
    for source, folder in PROGRAMS.items():
        regenerate(source, folder, keep)
    with tempfile.TemporaryDirectory() as scratch:
        generate_alone("measures", scratch, keep)
        generate_alone("simulations", scratch, keep)
        generate_alone("contact", scratch, keep)
        generate_alone("cables", scratch, keep)


def regenerate(source: str, folder: Path, keep: Path | None) -> None:
    """Compile and run one program, and replace what is committed in its folder."""
    with tempfile.TemporaryDirectory() as scratch:
        program, written = Path(scratch, "generate"), Path(scratch, "cases")
        written.mkdir()
        compile_generator(program, source)
        if subprocess.run([str(program), str(written)], check=False).returncode:
            sys.exit(f"{source} failed; what is committed in {folder.name}/ is as it was")
        folder.mkdir(exist_ok=True)
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
