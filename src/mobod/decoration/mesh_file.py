"""Surfaces in files: STL, OBJ, VTP and COLLADA read here, any other format by the package trimesh.

STL: http://www.fabbers.com/tech/STL_Format; OBJ: Wavefront's, of which vertices, faces and materials' colours count; VTP: VTK's
XML PolyData, of which numbers written as text are read; COLLADA: see `collada_file`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra.arrays import Array, Indices
from .collada_file import Part, Rgba, read_collada
from .safe_xml import parse_safely

_MOST_BYTES_OF_MATERIALS = 16 << 20
#: One triangle of a binary STL file.
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


#: Larger files are refused, and packed ones that hold more: a part of a robot has some millions of triangles at most.
MOST_BYTES = 1 << 30


def check_size(path: Path) -> None:
    """Raise ValueError for a file that is larger, or would be, unpacked; nothing of it is read before."""
    size, unpacked = path.stat().st_size, ""
    if size <= MOST_BYTES and path.suffix.lower() in (".3mf", ".zip", ".zae") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            size, unpacked = sum(one.file_size for one in packed.infolist()), ", unpacked"
    if size > MOST_BYTES:
        raise ValueError(f"{path} is larger than {MOST_BYTES >> 20} MiB{unpacked}")


def read_mesh(path: Path) -> tuple[Array, Indices]:
    """Read a surface.

    Parameters
    ----------
    path : Path
        ``.stl``, ``.obj``, ``.vtp`` and ``.dae``; other formats need the package trimesh.

    Returns
    -------
    vertices : (nv, 3) array
    triangles : (nt, 3) array of int
        Faces with more corners are split into fans.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not what its name says.
    ImportError
        If trimesh is needed and not installed.
    """
    if path.is_file():
        check_size(path)
    if path.suffix.lower() == ".obj" and path.is_file():  # whole: parts of different colours share vertices
        vertices, faces, _ = _read_obj(path)
        _check(path, vertices, faces)
        return vertices, faces
    return joined(read_parts(path))


def joined(parts: list[Part]) -> tuple[Array, Indices]:
    """The vertices and triangles of several parts as those of one surface."""
    if len(parts) == 1:
        return parts[0].vertices, parts[0].triangles
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    triangles = [start + part.triangles for start, part in zip(first, parts, strict=False)]
    return np.concatenate([part.vertices for part in parts]), np.concatenate(triangles)


def read_parts(path: Path) -> list[Part]:
    """Read a surface as parts of one colour each; errors are those of `read_mesh`.

    Returns
    -------
    list of Part
        Their vertices, triangles and colour: that of COLLADA's and OBJ's materials; None in other formats.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a mesh is a file, such as part.stl")
    if path.is_file():
        check_size(path)
    if path.suffix.lower() == ".dae":
        parts = read_collada(path)
        if not parts:
            raise ValueError(f"{path} has no faces")
        for part in parts:
            _check(path, part.vertices, part.triangles)
        return parts
    if path.suffix.lower() == ".obj":
        vertices, triangles, materials = _read_obj(path)
        _check(path, vertices, triangles)
        return _by_color(vertices, triangles, materials)
    reader = {".stl": _read_stl, ".vtp": _read_vtp}.get(path.suffix.lower(), _read_with_trimesh)
    vertices, triangles = reader(path)
    _check(path, vertices, triangles)
    return [Part(vertices, triangles, None)]


def _check(path: Path, vertices: Array, triangles: Indices) -> None:
    if len(triangles) == 0:
        raise ValueError(f"{path} has no faces")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise ValueError(f"{path} has a face with a vertex that is not there")
    if not np.isfinite(vertices).all():
        raise ValueError(f"{path} has vertices that are not finite")


def triangulate(faces: Iterable[Iterable[int]]) -> Indices:
    """Split convex polygons into fans."""
    fans = []
    for face in faces:
        first, *rest = face
        fans += [(first, second, third) for second, third in pairwise(rest)]
    return np.array(fans, dtype=np.int64).reshape(-1, 3)


def _read_stl(path: Path) -> tuple[Array, Indices]:
    data = path.read_bytes()
    count = int.from_bytes(data[80:84], "little")
    # Binary files may begin with "solid" too: their length tells, for text says thousands of millions here. Some end in padding
    if len(data) >= 84 + _FACET.itemsize * count:
        corners = np.frombuffer(data, _FACET, count, 84)["corners"].astype(np.float64).reshape(-1, 3)
    else:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("ascii", errors="replace").lower()
        lines = [words for line in text.splitlines() if (words := line.split())]
        rows = [line[1:] for line in lines if line[0] == "vertex"]
        if not rows or lines[0][0] != "solid" or len(rows) % 3:
            raise ValueError(f"{path} is not an STL file: neither binary of the length it says, nor text of triangles")
        corners = _numbers(path, rows)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)  # a facet repeats its corners
    return vertices, np.asarray(index, dtype=np.int64).reshape(-1, 3)


def _read_obj(path: Path) -> tuple[Array, Indices, list[Rgba | None]]:
    """Vertices, triangles, and the colour of each triangle's material."""
    rows: list[list[str]] = []
    faces: list[list[int]] = []
    known: dict[str, Rgba] = {}
    libraries: set[str] = set()
    color: Rgba | None = None
    colors: list[Rgba | None] = []
    before = ""
    for number, part in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        line, before = before + part, ""
        if line.rstrip().endswith("\\"):  # it goes on in the next
            before = line.rstrip()[:-1] + " "
            continue
        word, *rest = line.split("#")[0].split() or [""]
        if word == "v":
            rows.append(rest[:3])
        elif word == "mtllib" and (name := " ".join(rest)) not in libraries:
            libraries.add(name)
            known |= _read_materials(path.parent / name)
        elif word == "usemtl":
            color = known.get(" ".join(rest))
        elif word == "f":
            try:
                corners = [int(corner.split("/")[0]) for corner in rest]
            except ValueError:
                raise ValueError(f"line {number} of {path} is no face: {line!r}") from None
            if len(corners) < 3 or 0 in corners:
                raise ValueError(f"line {number} of {path} is no face: {line!r}")
            faces.append([c - 1 if c > 0 else len(rows) + c for c in corners])  # negative: counted from the last one so far
            colors += [color] * (len(corners) - 2)
    if not faces:
        raise ValueError(f"{path} is not an OBJ file: it has no faces")
    return _numbers(path, rows), triangulate(faces), colors


def _read_materials(path: Path) -> dict[str, Rgba]:
    """The diffuse colours and opacities of a file of materials; none of one that is not there or cannot be read."""
    found: dict[str, Rgba] = {}
    if not path.is_file() or path.stat().st_size > _MOST_BYTES_OF_MATERIALS:
        return found
    name = ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        word, *rest = line.split("#")[0].split() or [""]
        try:
            numbers = [min(max(float(one), 0.0), 1.0) for one in rest] if word in ("Kd", "d", "Tr") else []
        except ValueError:
            continue  # a spectrum's file, for example
        r, g, b, a = found.get(name, (0.8, 0.8, 0.8, 1.0))
        if word == "newmtl":
            name = " ".join(rest)
            found[name] = 0.8, 0.8, 0.8, 1.0
        elif word == "Kd" and len(numbers) == 3:
            found[name] = numbers[0], numbers[1], numbers[2], a
        elif word in ("d", "Tr") and len(numbers) == 1:
            found[name] = r, g, b, numbers[0] if word == "d" else 1.0 - numbers[0]
    return found


def _by_color(vertices: Array, triangles: Indices, colors: list[Rgba | None]) -> list[Part]:
    """A part of each colour, in the order of the file."""
    kinds = list(dict.fromkeys(colors))
    if len(kinds) == 1:
        return [Part(vertices, triangles, kinds[0])]
    which = np.array([kinds.index(one) for one in colors])
    parts = []
    for k, color in enumerate(kinds):
        used, index = np.unique(triangles[which == k], return_inverse=True)
        parts.append(Part(vertices[used], np.asarray(index, dtype=np.int64).reshape(-1, 3), color))
    return parts


def _read_vtp(path: Path) -> tuple[Array, Indices]:
    root = parse_safely(path, "VTP")
    vertices, triangles, first = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for piece in root.iterfind("PolyData/Piece"):
        points = _vtk_array(path, piece.find("Points/DataArray"))
        corners = _vtk_array(path, piece.find("Polys/DataArray[@Name='connectivity']")).astype(np.int64)
        ends = _vtk_array(path, piece.find("Polys/DataArray[@Name='offsets']")).astype(np.int64)
        if len(points) % 3 or (len(ends) and (ends[-1] != len(corners) or np.any(np.diff(ends, prepend=0) < 3))):
            raise ValueError(f"{path} is not a VTP file of polygons: its numbers do not fit together")
        vertices.append(points.reshape(-1, 3))
        triangles.append(first + triangulate(np.split(corners, ends[:-1]) if len(ends) else []))
        first += len(points) // 3
    if first == 0:
        raise ValueError(f"{path} is not a VTP file: it has no points")
    return np.concatenate(vertices), np.concatenate(triangles)


def _vtk_array(path: Path, element: object) -> Array:
    kind = None if element is None else element.get("format", "ascii")  # type: ignore[attr-defined]
    if kind != "ascii":
        raise ValueError(f"{path} keeps its numbers as {kind or 'nothing'}; write it as text (ascii), or as STL or OBJ")
    words = (element.text or "").split()  # type: ignore[attr-defined]
    return _numbers(path, [words], len(words)).ravel()


def _numbers(path: Path, rows: Sequence[Sequence[str]], width: int = 3) -> Array:
    try:
        array = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{path} has coordinates that are not numbers, or too few: {error}") from None
    if len(array) and array.shape[1] != width:
        raise ValueError(f"{path} has coordinates that are not numbers, or too few: vertices of {array.shape[1]}, not {width}")
    return array


def _read_with_trimesh(path: Path) -> tuple[Array, Indices]:
    try:
        import trimesh  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(f"reading the mesh {path} needs trimesh: pip install trimesh; STL, OBJ, VTP, DAE do not") from error
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        mesh: Any = trimesh.load(path, force="mesh")
    except Exception as error:  # its readers raise whatever they come upon
        raise ValueError(f"trimesh cannot read {path}: {error!r}") from error
    return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
