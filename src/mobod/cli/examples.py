"""The command `mobod examples`: lists the bundled examples, simulates one, or copies one to be changed."""

from __future__ import annotations

import argparse
import ast
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import CommandError
from ..importer.named_models import EXAMPLES, find_examples, list_examples, read_settings
from ..value.checks import all_known
from .toml import toml


def add_examples(commands: Any, add_options: Callable[[argparse.ArgumentParser], None], simulate: Any) -> None:
    """Add it; *add_options* adds what `mobod simulate` takes, and *simulate* does it."""
    examples = commands.add_parser(
        "examples",
        help="list the bundled examples, simulate one, or copy one",
        description="List the bundled examples, simulate one, or copy one to be read and changed.",
        epilog="Example: mobod examples copy four_bar && mobod simulate four_bar.py --plot four_bar.png",
    )
    examples.set_defaults(run=lambda options: list_examples())
    doing = examples.add_subparsers(title="what to do", metavar="ACTION")
    doing.add_parser("list", help="list them, a line each").set_defaults(run=lambda options: list_examples())
    run = doing.add_parser("run", help="simulate one, as mobod simulate does", description="Simulate an example.")
    run.add_argument("model", metavar="NAME", help="its name")
    add_options(run)
    run.set_defaults(run=lambda options: simulate(_known(options)))
    copy = doing.add_parser(
        "copy",
        help="copy one to a folder",
        description="Copy the files of an example to a folder of yours, to be read, changed and simulated there.",
    )
    copy.add_argument("model", metavar="NAME", help="its name")
    copy.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="where to (default: here)")
    copy.add_argument("--overwrite", action="store_true", help="write over files that are there")
    copy.set_defaults(run=_copy)


def _known(options: argparse.Namespace) -> argparse.Namespace:
    examples = find_examples()
    all_known("there is no example", [options.model], sorted(examples), CommandError)
    return options


def _copy(options: argparse.Namespace) -> None:
    """Copy the file of an example, those that it reads, and of a model file how it starts, as a run file."""
    path, folder = find_examples()[_known(options).model], options.folder
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file; FOLDER is one to copy to")
    settings = read_settings(path)
    run_file = f"{path.stem}.toml" if settings else None
    files = [path, *_read_by(path)]
    for name in [*(file.name for file in files), *filter(None, [run_file])]:
        if (folder / name).exists() and not options.overwrite:
            raise CommandError(f"{folder / name} is there already; --overwrite writes over it")
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, folder / file.name)
        print(folder / file.name)
    if run_file is not None:
        (folder / run_file).write_text(_run_file(path, settings), encoding="utf-8")
        print(folder / run_file)
    print(f"simulate it with: mobod simulate {folder / (run_file or path.name)}")


def _read_by(path: Path) -> list[Path]:
    """The bundled files that a Python file names."""
    if path.suffix != ".py":
        return []
    texts = {
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return sorted(file for file in EXAMPLES.iterdir() if file.name in texts)


def _run_file(path: Path, settings: dict[str, Any]) -> str:
    """Settings by which a bundled model file starts, as `mobod simulate` reads them."""
    lines = [f"# {settings.get('title', path.stem)}", f"model = {toml(path.name)}"]
    if "time" in settings:
        lines.append(f"time = {toml(settings['time'])}")
    if "floating_base" in settings:
        lines += ["", "[options]", f"floating_base = {toml(settings['floating_base'])}"]
    for section in ("q", "u"):
        lines += ["", f"[{section}]", *(f"{toml(name)} = {toml(value)}" for name, value in settings.get(section, {}).items())]
    return "\n".join(lines) + "\n"
