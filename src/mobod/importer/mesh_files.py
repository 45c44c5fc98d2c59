"""The file that a mesh's address in a model file stands for.

ROS keeps packages in folders of a workspace, Gazebo models in folders of their own; a file names what it uses by the package or
the model, ``package://NAME/PATH`` or ``model://NAME/PATH``. Of what NAME could be, the first folder is taken that has PATH:

1. ``package_dirs``: folders that are called NAME, or hold a folder NAME, or are described as NAME by their ``package.xml``;
2. the folders above the file, likewise; in these and in ``package_dirs`` a folder ``models``, beside that of Gazebo's worlds;
3. the folders of the environment's ``ROS_PACKAGE_PATH``, ``share`` in those of ``AMENT_PREFIX_PATH``, ``GAZEBO_MODEL_PATH``,
   ``GZ_SIM_RESOURCE_PATH``, ``SDF_PATH``.
"""

from __future__ import annotations

import os
import re
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_ADDRESS = re.compile(r"(package|model)://([^/]+)/?(.*)", re.DOTALL)
_FOUND_BY_ROS = re.compile(r"\$\(find ([^)]+)\)/?(.*)", re.DOTALL)
_PACKAGE_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")


def check_package_dirs(package_dirs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Check that they are folders.

    Raises
    ------
    TypeError
        If one is no path.
    ValueError
        If one is no folder.
    """
    folders = [package_dirs] if isinstance(package_dirs, (str, os.PathLike)) else list(package_dirs)
    for folder in folders:
        if not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"package_dirs has to be folders, got {folder!r}")
        if not Path(folder).is_dir():
            raise ValueError(f"package_dirs: there is no folder {os.fspath(folder)!r}")
    return tuple(Path(folder) for folder in folders)


class MeshFinder:
    """Finds the files that one model file names, and remembers what it has looked for."""

    def __init__(self, file: str | os.PathLike[str], package_dirs: Sequence[Path] = ()) -> None:
        self._folder = Path(file).absolute().parent
        self._package_dirs = tuple(package_dirs)
        self._known: dict[str, Path | None] = {}
        self._described: dict[Path, str] = {}

    def find(self, address: str) -> Path | None:
        """Find the file; None where there is none."""
        if address not in self._known:
            self._known[address] = self._find(address)
        return self._known[address]

    def find_any(self, address: str) -> Path | None:
        """Find the file or the folder; None where there is neither."""
        found = self.find(address)
        return found if found is not None else self._find(address, _folder)

    def _find(self, address: str, kind: Callable[[Path], Path | None] | None = None) -> Path | None:
        kind = kind or _file
        if "\0" in address:
            return None
        match = _ADDRESS.fullmatch(address) or _FOUND_BY_ROS.fullmatch(address)
        if match is None:
            if address.startswith("file://"):
                address = urllib.parse.unquote(address.removeprefix("file://"))
            return kind(self._folder / address)
        package, inside = match.groups()[-2:]
        inside = inside.removeprefix("/")
        for folder in self._folders_of(package):
            found = kind(folder / inside)
            if found is not None:
                return found
        return None

    def _folders_of(self, package: str) -> Iterator[Path]:
        """Folders that the package could be in."""
        for folder in (*self._package_dirs, self._folder, *self._folder.parents):
            if folder.name == package or self._name_of(folder) == package:
                yield folder
            yield folder / package
            yield folder / "models" / package
        for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH"):
            for word in os.environ.get(variable, "").split(os.pathsep):
                if word:
                    folder = Path(word) / "share" if variable == "AMENT_PREFIX_PATH" else Path(word)
                    if folder.name == package:
                        yield folder
                    yield folder / package

    def _name_of(self, folder: Path) -> str:
        """The name in a folder's ``package.xml``; empty where there is none."""
        if folder not in self._described:
            name = ""
            try:
                with open(folder / "package.xml", "rb") as file:
                    found = _PACKAGE_NAME.search(file.read(65536))
                name = found.group(1).decode("utf-8", errors="replace") if found else ""
            except OSError:
                pass
            self._described[folder] = name
        return self._described[folder]


def _file(path: Path) -> Path | None:
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def _folder(path: Path) -> Path | None:
    try:
        return path if path.is_dir() else None
    except (OSError, ValueError):
        return None
