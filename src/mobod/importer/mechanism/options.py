"""Options of every reader of links and joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ... import contact
from ...value import checks
from ..mesh_files import check_package_dirs


class Options(NamedTuple):
    """The options of `load_urdf` and `load_sdf`, which document them; None where a format's own default holds."""

    strict: bool = False
    package_dirs: Sequence[Path] = ()
    joint_damping: bool = True
    joint_limits: bool = True
    joint_friction: bool | None = None
    stop_stiffness: float | None = None
    stop_dissipation: float | None = None
    mimic: bool = True
    weld_massless: bool = True
    collision: bool | None = None
    collision_material: contact.Material | None = None
    link_materials: Mapping[str, contact.Material] | None = None
    collision_meshes: str = "hull"
    exclude_overlapping: bool = True

    @classmethod
    def among(cls, reader: str, arguments: Mapping[str, Any]) -> Options:
        """The options among all arguments of a reader.

        Raises
        ------
        TypeError
            If what should be true or false is neither, or a folder no path.
        ValueError
            If a folder is not there.
        """
        given = {name: arguments[name] for name in cls._fields if name in arguments}
        own_default = ("joint_friction", "collision")  # where they are None
        for name, default in cls._field_defaults.items():
            if isinstance(default, bool) or (name in own_default and given.get(name) is not None):
                checks.flags(reader, **{name: given.get(name, default)})
        return cls(**{**given, "package_dirs": check_package_dirs(given.get("package_dirs", ()))})
