"""One call for every format: which reader a file is for."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ModelError, ModelWarning
from ..value.checks import suggest
from .model import Model


class Format(NamedTuple):
    """A format of models: its name, where its reader is, the endings of its files, and the root elements of its XML.

    An ending may have several parts, as ``.linkage.toml``.
    """

    name: str
    module: str
    reader: str
    suffixes: tuple[str, ...]
    roots: tuple[str, ...] = ()

    def find_reader(self) -> Callable[..., Model]:
        """The function that reads it."""
        return getattr(importlib.import_module(self.module), self.reader)


#: Those that can be read; a new one is a line here.
FORMATS = (
    Format("URDF", "mobod.importer.urdf", "load_urdf", (".urdf",), ("robot",)),
    Format("OpenSim", "mobod.importer.osim", "load_osim", (".osim",), ("OpenSimDocument",)),
    Format("SDF", "mobod.importer.sdf", "load_sdf", (".sdf", ".world"), ("sdf", "gazebo")),
    Format("MJCF", "mobod.importer.mjcf", "load_mjcf", (".mjcf",), ("mujoco", "mujocoinclude")),
)
#: What they are called, in help texts.
FILES = f"{', '.join(format.name for format in FORMATS)} file"


def load(path: str | os.PathLike[str], **options: Any) -> Model:
    """Build a multibody system from a model file of any format that is known.

    Parameters
    ----------
    path : str or path-like
        The file. Its ending says which format it has; where that is ``.xml``, its root element does.
    **options
        Of the format's own reader: `load_urdf`, `load_sdf`, `load_osim`, `load_mjcf`.

    Returns
    -------
    Model
        The system with the file's names, and a report on what was dropped or approximated.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        The file's format is not known, or its reader refuses it.
    TypeError
        An option that the format's reader does not have.

    Warns
    -----
    ModelWarning
        If the file says what moves the model and is not simulated (muscles, springs of kinds that are not known, contacts that
        nobody has asked for): one warning, with counts and the option that helps.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> mb.load(files("mobod") / "examples" / "panda.urdf").name
    'panda'
    """
    return find_format(path).find_reader()(path, **options)


def load_quietly(path: str | os.PathLike[str], **options: Any) -> Model:
    """`load` without its `ModelWarning`: for what shows the report, or is about the mechanism alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(path, **options)


def as_model(given: Any) -> Model:
    """The model itself, or that of the file whose path is given; TypeError for anything else."""
    if isinstance(given, Model):
        return given
    if isinstance(given, (str, os.PathLike)):
        return load_quietly(given)  # what muscles do is what inverse methods look for
    raise TypeError(f"a model is a mobod.Model, of load_osim for example, or the path of its file; this is {given!r}")


def format_of(name: str | os.PathLike[str]) -> Format | None:
    """The format whose files end so; None where there is none, or it takes more than the name to tell."""
    known = [(ending, format) for format in FORMATS for ending in format.suffixes]
    known.sort(key=lambda one: -len(one[0]))  # the longest ending says most
    return next((format for ending, format in known if os.fspath(name).lower().endswith(ending)), None)


def find_format(path: str | os.PathLike[str]) -> Format:
    """Find the format of a file by its ending, and by its root element where that is ``.xml``."""
    by_name = format_of(path)
    if by_name is not None:
        return by_name
    name, suffix = os.fspath(path), Path(path).suffix.lower()
    if suffix == ".xml":
        from .xml_element import read_xml

        root = read_xml(path, any_bytes=True).tag
        for format in FORMATS:
            if root in format.roots:
                return format
        known = ", ".join(f"<{root}> of {format.name}" for format in FORMATS for root in format.roots)
        raise ModelError(f"{name}: the root element <{root}> is of no format that can be read: {known}")
    if suffix == ".xacro":
        raise ModelError(f"{name}: a template; make a URDF file of it: xacro {name} > {Path(path).stem}.urdf")
    endings = [ending for format in FORMATS for ending in format.suffixes] + [".xml"]
    raise ModelError(f"{name}: no format that can be read has files that end in {suffix!r}; {suggest(suffix, endings)}")
