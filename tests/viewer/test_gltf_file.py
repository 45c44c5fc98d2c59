"""A motion as glTF: read back as the specification says, and by trimesh."""

import json
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import mobod as mb
from mobod.examples import double_pendulum


@pytest.fixture(scope="module")
def motion():
    system, state = double_pendulum.build()
    return mb.simulate(system, state, 1.0, report_interval=0.02)


def read(path):
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and size % 4 == 0
    root = json.loads(data[20 : 20 + size])
    rest, kind = struct.unpack_from("<I4s", data, 20 + size)
    binary = data[28 + size :]
    assert kind == b"BIN\0" and rest == len(binary) == root["buffers"][0]["byteLength"]
    return root, binary


def array(root, binary, index):
    accessor = root["accessors"][index]
    view = root["bufferViews"][accessor["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    dtype = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
    found = np.frombuffer(binary, dtype, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
    for bound, calc in (("min", np.min), ("max", np.max)):
        if bound in accessor:
            assert_allclose(calc(found, axis=0), accessor[bound])
    return found


def test_nodes_move_as_bodies_do_with_gravity_along_minus_y(motion, tmp_path):
    root, binary = read(motion.save_gltf(tmp_path / "swing.glb"))
    assert root["asset"]["version"] == "2.0"
    names = [node["name"] for node in root["nodes"]]
    animation = root["animations"][0]
    turned = Rotation.from_quat(root["nodes"][0]["rotation"])
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        times = array(root, binary, sampler["input"])[:, 0]
        values = array(root, binary, sampler["output"])
        body = motion.system.matter.bodies[names[channel["target"]["node"]]]
        for row in (0, 25, 50):
            assert_allclose(times[row], motion.time[row], atol=1e-6)
            state = motion.states[row]
            motion.system.realize(state, mb.Stage.POSITION)
            X_GB = body.get_body_transform(state)
            if channel["target"]["path"] == "translation":
                assert_allclose(values[row], X_GB.p, atol=1e-6)
            else:
                assert_allclose(Rotation.from_quat(values[row]).as_matrix(), np.asarray(X_GB.R), atol=1e-6)
    gravity = mb.examples.double_pendulum.build()[0].all_forces()[0].get_default_gravity_vector()
    assert_allclose(turned.apply(gravity) / np.linalg.norm(gravity), (0, -1, 0), atol=1e-6)


def test_surfaces_have_unit_normals_and_indices_in_range(motion, tmp_path):
    root, binary = read(motion.save_gltf(tmp_path / "swing.glb"))
    for mesh in root["meshes"]:
        for primitive in mesh["primitives"]:
            points = array(root, binary, primitive["attributes"]["POSITION"])
            if primitive["mode"] == 4:
                assert_allclose(np.linalg.norm(array(root, binary, primitive["attributes"]["NORMAL"]), axis=1), 1.0, atol=1e-6)
                assert array(root, binary, primitive["indices"]).max() < len(points)


def test_trimesh_reads_it(motion, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.load(motion.save_gltf(tmp_path / "swing.glb"))
    assert len(scene.geometry) > 2


def test_another_extension_is_refused(motion, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.glb"):
        motion.save_gltf(tmp_path / "a.gltf")
