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
from ..report import Report
from . import older
from .document import LINE, Document, refused, sentence
from .expansion import check_expansion
from .source import Source, listed, plural

#: The ball that stands for a missing mesh.
RADIUS = 0.01


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
    report = Report()
    try:
        if Path(name).suffix.lower() == ".xml":
            spec = mujoco.MjSpec.from_file(name)
        else:  # it opens files by that ending alone
            spec = mujoco.MjSpec.from_string(Path(name).read_text(encoding="utf-8"))
            spec.modelfiledir = str(Path(name).resolve().parent)
    except Exception as error:
        spec = older.parse(mujoco, name, error, report)
        spec.modelfiledir = str(Path(name).resolve().parent)
    # every body and every geom of the file is wanted
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = False
    source = Source(name, mujoco, spec, None, report, strict=strict)
    balanced = bool(spec.compiler.balanceinertia)
    integrator = spec.option.integrator
    source.m = _compile(source, strict)
    source.m.opt.integrator = integrator
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


def _compile(source: Source, strict: bool) -> Any:
    spec, name = source.spec, source.path
    for _ in range(3 + len([*spec.meshes, *spec.textures, *spec.hfields, *spec.skins, *spec.keys])):
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                compiled = spec.compile()
            for warning in said:
                source.note(f"MuJoCo: {' '.join(str(warning.message).split())}")
            return compiled
        except Exception as error:
            if strict or not _mended(source, str(error)):
                raise _refused(source, error) from None
    raise ModelError(f"{name}: MuJoCo does not compile it")  # each pass mends something, so this is not reached


def _refused(source: Source, error: Exception) -> ModelError:
    """The compiler's message; where it has no line, as of a file with includes, that of the file as one text."""
    if not re.search(r"line 0\b", str(error)):
        return refused(source.path, error)
    document = Document(source.path)
    try:
        spec = source.mujoco.MjSpec.from_string(document.write())
        spec.modelfiledir = source.spec.modelfiledir
        spec.compile()
    except Exception as again:
        if LINE.sub("", str(again)) == LINE.sub("", str(error)):
            return refused(source.path, again, document)
    return refused(source.path, error)


def _mended(source: Source, text: str) -> bool:
    """True if what stopped the compiler could be replaced."""
    if "A + B >= C" in text and not source.spec.compiler.balanceinertia:
        source.spec.compiler.balanceinertia = True
        return True
    if "Lengthrange" in text and source.spec.compiler.LRopt.mode != source.mujoco.mjtLRMode.mjLRMODE_NONE:
        source.spec.compiler.LRopt.mode = source.mujoco.mjtLRMode.mjLRMODE_NONE
        source.depart(f"length ranges of actuators are those of the file: {' '.join(text.split())}")
        return True
    key = re.search(r"keyframe .*: invalid .*\n.*id (\d+)", text)
    if key and int(key[1]) < len(source.spec.keys):
        source.spec.delete(source.spec.keys[int(key[1])])
        source.depart(f"{sentence(text)}: the keyframe is left out")
        return True
    integrators = source.mujoco.mjtIntegrator
    wanted = integrators.mjINT_EULER if "'Euler'" in text else integrators.mjINT_DISCRETE
    if "set integrator=" in text and source.spec.option.integrator != wanted:
        source.spec.option.integrator = wanted  # none of MuJoCo's integrates what is loaded
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
    short = re.search(r"vertices required\nElement name '([^']*)'", text)  # of a file that holds something else
    for mesh in list(spec.meshes):
        if _is_missing(source, mesh, text, spec.meshdir) or (short and mesh.file and mesh.name == short[1]):
            gone.append(mesh.file)
            _replace_mesh(source, mesh)
    for field in list(spec.hfields):
        if _is_missing(source, field, text, spec.meshdir):
            gone.append(field.file)
            for geom in [geom for geom in spec.geoms if geom.hfieldname == field.name]:
                source.depart(
                    f"{_line(geom)}geom {geom.name!r} is left out: its height field's file {field.file!r} cannot be read"
                )
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
        source.note(f"{plural(len(gone), 'file')} {'not found' if 'opening' in text else 'not to be read'}: {listed(gone)}")
    return bool(gone)


def _is_missing(source: Source, asset: Any, text: str, folder: str) -> bool:
    return bool(asset.file) and _is_missing_file(source, asset.file, text, folder)


def _is_missing_file(source: Source, file: str, text: str, folder: str) -> bool:
    """True if the compiler's message names a file, or there is none of its name in the folder that it should be in.

    The message is of one that is not there, or cannot be decoded: what stands for large files in repositories, for one.
    """
    base = Path(source.spec.modelfiledir or Path(source.path).parent)
    named = re.search(r"file '([^']*)'", text) if re.search("[Ee]rror opening|decod", text) else None
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
            if takes_part and body.name != "world" and not _says_its_inertia(source, body):
                bodies[body.name] = bodies.get(body.name, 0) + 1
    for site in spec.sites:
        if getattr(site, "meshname", "") == mesh.name and mesh.name:
            site.meshname, site.type, site.size = "", kind, [RADIUS, 0.0, 0.0]
    for name, count in bodies.items():
        start = f"the inertia of body {name!r} is not what the file means: "
        source.lose(
            f"{start}of its geoms {plural(count, 'is a mesh', 'are meshes')} that cannot be read ({mesh.file!r}), for which a "
            f"ball of radius {RADIUS:g} stands",
            "bodies whose inertia is that of balls in place of meshes",
            not any(line.startswith(start) for line in source.report),
        )
    spec.delete(mesh)


def _says_its_inertia(source: Source, body: Any) -> bool:
    always = source.mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    return bool(body.explicitinertial) and source.spec.compiler.inertiafromgeom != always


def _line(element: Any) -> str:
    line = LINE.search(str(element.info))
    return f"line {line[1]}: " if line else ""
