"""A motion as a binary glTF 2.0 file: a node a body with its surfaces and lines, and an animation that moves the nodes.

Format: Khronos Group, glTF 2.0 specification (2021), sections 3 (concepts) and 4 (GLB).
"""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..algebra.arrays import Array
from ..shapes.shape_maker import Segment
from ..value.checks import check_extension
from ..value.files import as_path, written
from .replay import Replay, make_replay
from .rotations import to_quaternions

if TYPE_CHECKING:
    from ..value.annotations import Trajectory

FORMATS = (".glb",)

_FLOAT, _UNSIGNED = 5126, 5125  # component types
_VERTICES, _INDICES = 34962, 34963  # targets of buffer views
_LINES, _TRIANGLES = 1, 4  # modes of primitives


def save_gltf(trajectory: Trajectory, path: str | os.PathLike[str], *, fps: float | None = None) -> Path:
    """Write a motion; see `Trajectory.save_gltf`."""
    file = as_path("path", path)
    check_extension(file, FORMATS)
    content = make_glb(make_replay(trajectory, fps=fps, detail=2.0), file.stem)
    with written(file) as beside:
        Path(beside).write_bytes(content)
    return file


def make_glb(replay: Replay, name: str) -> bytes:
    """Make the whole file."""
    document = _Document(replay, name)
    text = json.dumps(document.root, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary = bytes(document.binary)
    length = 12 + 8 + len(text) + 8 + len(binary)
    header = struct.pack("<4sII", b"glTF", 2, length)
    return header + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary


class _Document:
    """The JSON part, and the binary part that grows with each array."""

    def __init__(self, replay: Replay, name: str) -> None:
        self.binary = bytearray()
        self._materials: dict[tuple[float, ...], int] = {}
        self.root: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"mobod {__version__}"},
            "scene": 0,
            "scenes": [{"name": name, "nodes": [0]}],
            "nodes": [],
            "meshes": [],
            "materials": [],
            "accessors": [],
            "bufferViews": [],
        }
        self._add_bodies(replay)
        if len(replay.times) > 1:
            self._add_animation(replay)
        self.root["buffers"] = [{"byteLength": len(self.binary)}]
        for empty in [key for key, value in self.root.items() if value == []]:
            del self.root[empty]  # the format knows no empty lists

    def _add_bodies(self, replay: Replay) -> None:
        """The first node turns up, which is y in glTF, where it is; the bodies are its children, not each other's."""
        bodies = [link.name for link in replay.mechanism.links]
        R_DG = np.array(replay.about["R_DG"]).reshape(3, 3)
        y_up = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
        turned = to_quaternions((y_up @ R_DG)[None])[0, [1, 2, 3, 0]]
        children = list(range(1, len(bodies) + 1))
        self.root["nodes"].append({"name": "mechanism", "rotation": turned.tolist(), "children": children})
        rotations = to_quaternions(replay.X_GB[0, :, :3, :3])[:, [1, 2, 3, 0]]
        for b, name in enumerate(bodies):
            node: dict[str, Any] = {
                "name": name,
                "translation": replay.X_GB[0, b, :3, 3].tolist(),
                "rotation": rotations[b].tolist(),
            }
            primitives = [
                {
                    "attributes": {
                        "POSITION": self._add_array(points, "VEC3", True, _VERTICES),
                        "NORMAL": self._add_array(normals, "VEC3", False, _VERTICES),
                    },
                    "indices": self._add_indices(triangles),
                    "material": self._find_material((*part.color, part.opacity), part.closed),
                    "mode": _TRIANGLES,
                }
                for part, points, triangles, normals in replay.surfaces
                if part.body == b
            ]
            primitives += self._add_lines([one for one in replay.mechanism.segments if one.bodies == (b, b)])
            if primitives:
                node["mesh"] = len(self.root["meshes"])
                self.root["meshes"].append({"name": name, "primitives": primitives})
            self.root["nodes"].append(node)

    def _add_lines(self, segments: list[Segment]) -> list[dict[str, Any]]:
        colors = sorted({(*one.color, one.opacity) for one in segments})
        made = []
        for color in colors:
            points = np.concatenate([one.points for one in segments if (*one.color, one.opacity) == color])
            accessor = self._add_array(points, "VEC3", True, _VERTICES)
            made.append({"attributes": {"POSITION": accessor}, "mode": _LINES, "material": self._find_material(color, True)})
        return made

    def _find_material(self, color: tuple[float, ...], closed: bool) -> int:
        key = (*color, float(closed))
        if key not in self._materials:
            self._materials[key] = len(self.root["materials"])
            linear = [float(np.power(value, 2.2)) for value in color[:3]]  # ours are as seen, glTF's are light
            surface = {"baseColorFactor": [*linear, float(color[3])], "metallicFactor": 0.0, "roughnessFactor": 0.6}
            material: dict[str, Any] = {"pbrMetallicRoughness": surface}
            if color[3] < 1.0:
                material["alphaMode"] = "BLEND"
            if not closed:
                material["doubleSided"] = True
            self.root["materials"].append(material)
        return self._materials[key]

    def _add_animation(self, replay: Replay) -> None:
        times = self._add_array(replay.times - replay.times[0], "SCALAR", True)
        samplers: list[dict[str, Any]] = []
        channels: list[dict[str, Any]] = []
        rotations = to_quaternions(replay.X_GB[..., :3, :3])[..., [1, 2, 3, 0]]
        for b in range(1, replay.X_GB.shape[1]):
            paths = {"translation": (replay.X_GB[:, b, :3, 3], "VEC3"), "rotation": (rotations[:, b], "VEC4")}
            for path, (values, kind) in paths.items():
                if np.ptp(values, axis=0).max() == 0.0:
                    continue
                channels.append({"sampler": len(samplers), "target": {"node": b + 1, "path": path}})
                samplers.append({"input": times, "output": self._add_array(values, kind), "interpolation": "LINEAR"})
        if channels:
            self.root["animations"] = [{"name": "motion", "samplers": samplers, "channels": channels}]

    def _add_array(self, values: Array, kind: str, bounded: bool = False, target: int | None = None) -> int:
        array = np.ascontiguousarray(values, dtype="<f4")
        accessor: dict[str, Any] = {"componentType": _FLOAT, "count": len(array), "type": kind}
        if bounded:
            flat = array.reshape(len(array), -1)
            accessor |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        return self._add_accessor(accessor, array, target)

    def _add_indices(self, triangles: NDArray[np.int64]) -> int:
        array = np.ascontiguousarray(triangles, dtype="<u4").ravel()
        return self._add_accessor({"componentType": _UNSIGNED, "count": len(array), "type": "SCALAR"}, array, _INDICES)

    def _add_accessor(self, accessor: dict[str, Any], array: NDArray[Any], target: int | None) -> int:
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": array.nbytes}
        if target is not None:
            view["target"] = target
        self.root["bufferViews"].append(view)
        self.binary += array.tobytes()
        self.root["accessors"].append({"bufferView": len(self.root["bufferViews"]) - 1, **accessor})
        return len(self.root["accessors"]) - 1
