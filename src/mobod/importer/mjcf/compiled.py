"""The file, compiled by MuJoCo; what it names and nobody finds is replaced, and reported.

A geom that is a missing mesh gets a ball of 1 cm in its place, of the geom's own mass where it says one: it counts in the
inertia of its body only where the file gives that none.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ModelError
from ...value import Rotation
from .expansion import check_expansion
from .source import Source, listed, plural

#: The ball that stands for a missing mesh.
RADIUS = 0.01

_LINE = re.compile(r"(?:, line |Line number=|line )(-?\d+)")


def compile_file(path: str | os.PathLike[str], strict: bool) -> Source:
    """Read and compile a file.

    Raises
    ------
    ImportError
        If MuJoCo's wheel is not installed.
    OSError
        If the file cannot be opened.
    ModelError
        If MuJoCo refuses it, or *strict* does; or if it stands for more elements than any file may have.
    """
    name = os.fspath(path)
    with open(name, "rb"):
        pass
    mujoco = _wheel(name)
    check_expansion(name)
    try:
        if Path(name).suffix.lower() == ".xml":
            spec = mujoco.MjSpec.from_file(name)
        else:  # it opens files by that ending alone
            spec = mujoco.MjSpec.from_string(Path(name).read_text(encoding="utf-8"))
            spec.modelfiledir = str(Path(name).resolve().parent)
    except Exception as error:
        raise _refused(name, error) from None
    # every body and every geom of the file is wanted
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = False
    source = Source(name, mujoco, spec, None, strict=strict)
    balanced = bool(spec.compiler.balanceinertia)
    source.m = _compile(source, strict)
    if spec.compiler.balanceinertia and not balanced:
        _restore_inertias(source)
    return source


def _wheel(name: str) -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise ImportError(
            f"{name}: MJCF is parsed by MuJoCo's own package, which is not installed; "
            "install it: pip install 'mobod[mjcf]', or pip install mujoco-core"
        ) from error
    return mujoco


def _refused(name: str, error: Exception) -> ModelError:
    """MuJoCo's message, in a sentence with file and line."""
    words = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = "; ".join(words).removeprefix("XML Error: ").removeprefix("Error: ")
    line = _LINE.search(text)
    return ModelError(f"{name}:{line[1]}: {text}" if line and int(line[1]) > 0 else f"{name}: {text}")


def _compile(source: Source, strict: bool) -> Any:
    spec, name = source.spec, source.path
    for _ in range(3 + len(spec.meshes) + len(spec.textures) + len(spec.hfields) + len(spec.skins)):
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                compiled = spec.compile()
            for warning in said:
                source.note(f"MuJoCo: {' '.join(str(warning.message).split())}")
            return compiled
        except Exception as error:
            if strict or not _mended(source, str(error)):
                raise _refused(name, error) from None
    raise ModelError(f"{name}: MuJoCo does not compile it")  # each pass mends something, so this is not reached


def _mended(source: Source, text: str) -> bool:
    """True if what stopped the compiler could be replaced."""
    if "A + B >= C" in text and not source.spec.compiler.balanceinertia:
        source.spec.compiler.balanceinertia = True
        return True
    if "Lengthrange" in text and source.spec.compiler.LRopt.mode != source.mujoco.mjtLRMode.mjLRMODE_NONE:
        source.spec.compiler.LRopt.mode = source.mujoco.mjtLRMode.mjLRMODE_NONE
        source.depart(f"length ranges of actuators are those of the file: {' '.join(text.split())}")
        return True
    return _replace_missing(source, text)


def _restore_inertias(source: Source) -> None:
    """Put back what MuJoCo balanced since it was told to: inertias are kept as the file has them."""
    m = source.m
    for body in source.spec.bodies:
        b = int(body.id)
        if b <= 0 or not body.explicitinertial:
            continue
        moments, quaternion = np.array(body.inertia, float), np.array(m.body_iquat[b])
        full = np.array(body.fullinertia, float)
        if np.isfinite(full).all() and full.any():
            xx, yy, zz, xy, xz, yz = full
            moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
            if np.linalg.det(axes) < 0.0:
                axes = -axes
            quaternion = Rotation.trusted(axes).to_quaternion()
        low, middle, high = sorted(moments.tolist())
        if low + middle < high:
            m.body_inertia[b], m.body_iquat[b] = moments, quaternion
            source.depart(
                f"{_line(body)}the inertia of body {body.name!r} is that of no body (principal moments {low:.4g}, "
                f"{middle:.4g}, {high:.4g}), and is kept as it is"
            )


def _replace_missing(source: Source, text: str) -> bool:
    spec = source.spec
    gone: list[str] = []
    for mesh in list(spec.meshes):
        if _is_missing(source, mesh, text, spec.meshdir):
            gone.append(mesh.file)
            _replace_mesh(source, mesh)
    for field in list(spec.hfields):
        if _is_missing(source, field, text, spec.meshdir):
            gone.append(field.file)
            for geom in [geom for geom in spec.geoms if geom.hfieldname == field.name]:
                source.depart(f"{_line(geom)}geom {geom.name!r} is left out: its height field's file {field.file!r} is missing")
                spec.delete(geom)
            spec.delete(field)
    for texture in list(spec.textures):
        files = [texture.file, *texture.cubefiles]
        if any(_is_missing_file(source, file, text, spec.texturedir) for file in files if file):
            gone.append(next(file for file in files if file))
            for material in spec.materials:
                material.textures = ["" if one == texture.name else one for one in material.textures]
            spec.delete(texture)
    for skin in list(spec.skins):
        if skin.file and _is_missing(source, skin, text, spec.meshdir):
            gone.append(skin.file)
            spec.delete(skin)
    if gone:
        source.note(f"{plural(len(gone), 'file')} not found: {listed(gone)}")
    return bool(gone)


def _is_missing(source: Source, asset: Any, text: str, folder: str) -> bool:
    return bool(asset.file) and _is_missing_file(source, asset.file, text, folder)


def _is_missing_file(source: Source, file: str, text: str, folder: str) -> bool:
    """True if the compiler's message names a file, or there is none of its name in the folder that it should be in."""
    base = Path(source.spec.modelfiledir or Path(source.path).parent)
    named = re.search(r"[Ee]rror opening file '([^']*)'", text)
    if named and (named[1] == file or named[1].endswith(("/" + file, "\\" + file))):
        return True
    places = [base / folder / file, base / file]
    return named is not None and not any(place.is_file() for place in places)


def _replace_mesh(source: Source, mesh: Any) -> None:
    spec, kind = source.spec, source.mujoco.mjtGeom.mjGEOM_SPHERE
    bodies: dict[str, int] = {}
    for geom in spec.geoms:
        if geom.meshname == mesh.name or (not mesh.name and geom.meshname == Path(mesh.file).stem):
            geom.meshname = ""
            geom.type = kind
            geom.size = [RADIUS, 0.0, 0.0]
            geom.name = geom.name or f"missing mesh {len(source.stand_ins)}"
            source.stand_ins.add(geom.name)
            body = geom.parent
            takes_part = spec.compiler.inertiafromgeom != source.mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
            if takes_part and not _says_its_inertia(source, body):
                bodies[body.name] = bodies.get(body.name, 0) + 1
    for site in spec.sites:
        if getattr(site, "meshname", "") == mesh.name and mesh.name:
            site.meshname, site.type, site.size = "", kind, [RADIUS, 0.0, 0.0]
    for name, count in bodies.items():
        source.lose(
            f"the inertia of body {name!r} is not what the file means: of its geoms {plural(count, 'is a mesh', 'are meshes')} "
            f"that cannot be found ({mesh.file!r}), for which a ball of radius {RADIUS:g} stands",
            "bodies whose inertia is that of balls in place of meshes",
        )
    spec.delete(mesh)


def _says_its_inertia(source: Source, body: Any) -> bool:
    always = source.mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    return bool(body.explicitinertial) and source.spec.compiler.inertiafromgeom != always


def _line(element: Any) -> str:
    line = _LINE.search(str(element.info))
    return f"line {line[1]}: " if line else ""
