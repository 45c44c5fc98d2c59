"""Files made to harm: bombs of entities, of includes and of meshes, names that lead elsewhere, objects, damaged recordings.

Each ends in an error that names the file, within seconds and without its memory: in a process of its own where another library
reads it.
"""

import functools
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mobod as mb
from mobod.decoration import mesh_file
from mobod.decoration.mesh_file import MOST_BYTES, read_mesh
from mobod.motion_data.c3d_structure import find_fault

SEED = int(os.environ.get("MOBOD_TEST_SEED", "20261128"))

BOMB = '<?xml version="1.0"?>\n<!DOCTYPE {root} [\n<!ENTITY a0 "x">\n{entities}]>\n'.format(
    root="{root}", entities="".join(f'<!ENTITY a{k + 1} "{10 * f"&a{k};"}">\n' for k in range(12))
)
READER = '<?xml version="1.0"?>\n<!DOCTYPE {root} [\n<!ENTITY e SYSTEM "file:///etc/passwd">\n]>\n'
ROOTS = {
    ".urdf": '<robot name="{0}"><link name="{0}"/></robot>',
    ".sdf": '<sdf version="1.9"><model name="m"><link name="{0}"/></model></sdf>',
    ".osim": '<OpenSimDocument Version="40000"><Model name="{0}"/></OpenSimDocument>',
    ".xml": '<mujoco model="{0}"><worldbody><body name="b"><geom size="1"/><joint/></body></worldbody></mujoco>',
    ".vtp": '<VTKFile><PolyData><Piece><Points><DataArray format="ascii">{0}</DataArray></Points></Piece></PolyData></VTKFile>',
    ".dae": '<COLLADA><asset><unit name="{0}"/></asset></COLLADA>',
}


def read(path):
    return read_mesh(path) if path.suffix in (".vtp", ".dae", ".stl", ".obj", ".3mf") else mb.load(path)


def within_limits(script, *arguments, seconds=60):
    """Run it with 4 GiB and a watchdog; what it printed."""
    begin = f"import faulthandler, resource, sys\nfaulthandler.dump_traceback_later({seconds}, exit=True)\n"
    begin += "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
    command = [sys.executable, "-W", "ignore", "-c", begin + script, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(Path(mb.__file__).parents[1]), "MOBOD_QUIET": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize("kind", [".urdf", ".sdf", ".osim", ".vtp", ".dae"])
@pytest.mark.parametrize("attack", ["entities", "another file"])
def test_entities_are_refused(tmp_path, kind, attack):
    root = ROOTS[kind][1:].split()[0].split(">")[0]
    head = (BOMB if attack == "entities" else READER).replace("{root}", root)
    path = tmp_path / f"it{kind}"
    path.write_text(head + ROOTS[kind].replace("{0}", "&a12;" if attack == "entities" else "&e;"))
    with pytest.raises(ValueError, match=r"document type declaration") as caught:
        read(path)
    assert str(path) in str(caught.value) and "root:" not in str(caught.value)


def test_entities_in_a_file_of_mujoco(tmp_path):
    """MuJoCo's own parser knows no entities: the name is the text."""
    pytest.importorskip("mujoco", reason="MJCF is not tested: no MuJoCo here")
    path = tmp_path / "it.xml"
    path.write_text((BOMB.replace("{root}", "mujoco") + ROOTS[".xml"]).replace("{0}", "&a12;"))
    script = (
        "import mobod as mb\ntry: print(len(mb.load(sys.argv[1]).system.name))\nexcept ValueError as e: print(str(e)[:200])"
    )
    assert "root:" not in (said := within_limits(script, path)) and len(said) < 1000


def test_includes_that_multiply_are_refused(tmp_path, monkeypatch):
    """Ten models, each of which includes the next one ten times: 10^9 without the limit."""
    for k in range(10):
        folder = tmp_path / f"m{k}"
        folder.mkdir()
        (folder / "model.config").write_text('<model><sdf version="1.9">model.sdf</sdf></model>')
        inside = "".join(f"<include><name>n{i}</name><uri>model://m{k + 1}</uri></include>" for i in range(10)) if k < 9 else ""
        (folder / "model.sdf").write_text(f'<sdf version="1.9"><model name="m"><link name="l"/>{inside}</model></sdf>')
    monkeypatch.setattr("mobod.importer.sdf.reader._MOST_INCLUDES", 1000)
    with pytest.raises(ValueError, match="more than 1000 models are included"):
        mb.load(tmp_path / "m0" / "model.sdf", package_dirs=[tmp_path])


@pytest.mark.parametrize("where", ["nested", "at once", "included"])
def test_files_of_mujoco_that_stand_for_too_many_elements_are_refused(tmp_path, where):
    body = '<body><geom size="1"/></body>'
    many = {
        "at once": f'<replicate count="1000000000" offset="0 0 1">{body}</replicate>',
        "nested": f'<replicate count="30000"><replicate count="30000" offset="0 1 0">{body}</replicate></replicate>',
        "included": '<replicate count="30000" offset="0 0 1"><include file="inner.xml"/></replicate>',
    }[where]
    (tmp_path / "inner.xml").write_text(f'<mujoco><replicate count="30000" offset="0 1 0">{body}</replicate></mujoco>')
    path = tmp_path / "bomb.xml"
    path.write_text(f"<mujoco><worldbody>\n{many}</worldbody></mujoco>")
    with pytest.raises(mb.ModelError, match=r"\.xml:\d: with <replicate> the file stands for more than 1000000 elements"):
        mb.load(path)
    path.write_text(f'<mujoco><worldbody><replicate count="3" offset="0 0 1">{body}</replicate></worldbody></mujoco>')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mb.load(path).system.matter.get_num_bodies() >= 1


def test_a_mesh_without_an_end_is_refused(tmp_path):
    path = tmp_path / "large.stl"
    with open(path, "wb") as file:
        file.truncate(MOST_BYTES + 1)  # of holes
    for name in ("large.stl", "large.obj", "large.vtp", "large.dae"):
        path = path.rename(tmp_path / name)
        with pytest.raises(ValueError, match=rf"{name} is larger than 1024 MiB"):
            read_mesh(path)
    materials = tmp_path / "endless.mtl"
    os.link(path, materials)
    (tmp_path / "cube.obj").write_text("mtllib endless.mtl\n" * 1000 + "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n")
    assert len(read_mesh(tmp_path / "cube.obj")[1]) == 1


def test_a_mesh_that_unpacks_to_more_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_file, "MOST_BYTES", 1 << 26)
    path = tmp_path / "bomb.3mf"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("3D/3dmodel.model", "w", force_zip64=True) as file,
    ):
        zeros = bytes(1 << 24)
        for _ in range(5):
            file.write(zeros)
    assert path.stat().st_size < 2 << 20
    with pytest.raises(ValueError, match=r"bomb.3mf is larger than 64 MiB, unpacked"):
        read_mesh(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")
@pytest.mark.parametrize("kind", [".urdf", ".sdf"])
def test_names_that_lead_outside_are_read_as_meshes_or_not_at_all(tmp_path, kind):
    """A file of text elsewhere is no mesh; devices and pipes are never opened; no message tells what is in a file."""
    secret = "the content of another file"
    (tmp_path / "secret.stl").write_text(secret)
    (inside := tmp_path / "robot").mkdir()
    (inside / "link.stl").symlink_to(tmp_path / "secret.stl")
    (inside / "device.stl").symlink_to("/dev/zero")
    os.mkfifo(inside / "pipe.stl")
    names = [
        "../secret.stl",
        "link.stl",
        "device.stl",
        "pipe.stl",
        f"file://{tmp_path}/secret.stl",
        "../../" * 20 + "etc/passwd",
    ]
    names += [
        "/dev/zero",
        "file:///dev/zero",
        "package://../secret.stl",
        "package://robot/../secret.stl",
        "a\x7f.stl",
        "x" * 5000,
    ]
    names += [
        "http://127.0.0.1:1/mesh.stl",
        "//127.0.0.1/mesh.stl",
        "model://robot/../secret.stl",
        "~/secret.stl",
        "$HOME/x.stl",
    ]
    for name in names:
        mesh = f'<mesh filename="{name}"/>' if kind == ".urdf" else f"<mesh><uri>{name}</uri></mesh>"
        visual = f'<visual name="v"><geometry>{mesh}</geometry></visual>'
        link = f'<link name="l">{visual}</link>'
        path = inside / f"it{kind}"
        path.write_text(
            f'<robot name="r">{link}</robot>' if kind == ".urdf" else f'<sdf version="1.9"><model name="m">{link}</model></sdf>'
        )
        try:
            with warnings.catch_warnings(action="ignore"):
                said = str(mb.load(path).report)
        except ValueError as error:
            said = str(error)
        assert secret not in said and "root:" not in said, name


class Evil:
    """An object that runs a command when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_files_of_numpy_that_hold_objects_are_refused(tmp_path):
    system, state = mb.examples.double_pendulum.build()
    motion = mb.simulate(system, state, 0.1)
    motion.save(path := tmp_path / "run.npz")
    with np.load(path) as file:
        arrays = dict(file)
    for name in arrays:
        evil = {**arrays, name: np.array([Evil(tmp_path / "run")] * 2, object)}
        np.savez(tmp_path / "evil.npz", allow_pickle=True, **evil)
        try:
            mb.Trajectory.load(tmp_path / "evil.npz")
        except (ValueError, OSError) as error:
            assert "evil.npz" in str(error)
        assert not (tmp_path / "run").exists()
    (tmp_path / "evil.npz").write_bytes(pickle.dumps(Evil(tmp_path / "run")))
    with pytest.raises((ValueError, OSError), match=r"evil.npz"):
        mb.Trajectory.load(tmp_path / "evil.npz")
    assert not (tmp_path / "run").exists()


def test_files_of_hdf5_that_hold_objects_or_lead_elsewhere_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py", reason="recordings are not tested: no h5py here")
    system, state = mb.examples.double_pendulum.build()
    mb.simulate(system, state, 0.1).save(path := tmp_path / "run.h5")
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["secret"] = np.arange(3.0)
    with h5py.File(path) as file:
        names = [name for name in file if isinstance(file[name], h5py.Dataset)]
    assert names
    whole = path.read_bytes()
    kinds = {
        "objects": lambda file, name: file.create_dataset(name, data=np.void(pickle.dumps(Evil(tmp_path / "run")))),
        "texts": lambda file, name: file.create_dataset(name, data=["x"] * 3, dtype=h5py.string_dtype()),
        "a link outside": lambda file, name: file.__setitem__(name, h5py.ExternalLink(str(other), "secret")),
        "a link to itself": lambda file, name: file.__setitem__(name, h5py.SoftLink(f"/{name}")),
        "a reference": lambda file, name: file.create_dataset(name, data=file.ref, dtype=h5py.ref_dtype),
        "endless": lambda file, name: file.create_dataset(name, (1 << 50,), chunks=(1 << 20,), dtype="f8"),
    }
    for name in names:
        for what, put in kinds.items():
            hurt = tmp_path / "hurt.h5"
            hurt.write_bytes(whole)
            with h5py.File(hurt, "r+") as file:
                del file[name]
                put(file, name)
            try:
                mb.Trajectory.load(hurt)
            except (ValueError, OSError, MemoryError) as error:
                assert "hurt.h5" in str(error), (name, what)
            assert not (tmp_path / "run").exists()


C3D = """
import numpy as np, mobod as mb
whole, path, seed = open(sys.argv[1], "rb").read(), sys.argv[2], int(sys.argv[3])
rng, seen = np.random.default_rng(seed), {}
for _ in range(300):
    data = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        at = rng.integers(0, 40) if rng.random() < 0.3 else rng.integers(512, len(data))
        data[at] = rng.choice([0, 1, 127, 128, 255, rng.integers(256)])
    data = data[: rng.integers(0, len(data))] if rng.random() < 0.1 else data
    open(path, "wb").write(data)
    try:
        mb.read_c3d(path)
        found = "read"
    except ValueError as error:
        assert path in str(error)
        found = "error"
    seen[found] = seen.get(found, 0) + 1
import json
print(json.dumps(seen))
"""


WRITE_C3D = """
import sys
import ezc3d, numpy as np
file = ezc3d.c3d()
point, analog, plate = (file["parameters"][name] for name in ("POINT", "ANALOG", "FORCE_PLATFORM"))
point["RATE"]["value"], point["UNITS"]["value"], point["LABELS"]["value"] = [100], ["mm"], ("knee", "hip")
analog["RATE"]["value"], analog["LABELS"]["value"] = [200], tuple("abcdef")
analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"]
plate["USED"]["value"], plate["TYPE"]["value"], plate["CHANNEL"]["value"] = [1], [2], np.arange(1, 7).reshape(6, 1)
plate["CORNERS"]["value"] = np.array([[400.0, 300, 0], [0, 300, 0], [0, 0, 0], [400, 0, 0]]).T.reshape(3, 4, 1)
plate["ORIGIN"]["value"] = np.zeros((3, 1))
file["data"]["points"], file["data"]["analogs"] = np.full((3, 2, 5), 1000.0), np.ones((1, 6, 10))
file.write(sys.argv[1])
"""


@functools.cache
def a_c3d():
    """A file's bytes, written in a process of its own: the wrappers of ezc3d and opensim disturb each other's lists of text."""
    if find_spec("ezc3d") is None:
        pytest.skip("C3D is not tested: no ezc3d here")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walk.c3d"
        subprocess.run([sys.executable, "-W", "ignore", "-c", WRITE_C3D, str(path)], check=True)
        return path.read_bytes()


@pytest.mark.filterwarnings("ignore")  # its wrapper is made by an old SWIG
def test_damaged_files_of_c3d_do_not_end_the_process(tmp_path):
    """ezc3d takes Python down on every hundredth of them; looked at before, none."""
    whole = tmp_path / "walk.c3d"
    whole.write_bytes(a_c3d())
    assert find_fault(whole.read_bytes()) == ""
    seen = json.loads(within_limits(C3D, whole, tmp_path / "hurt.c3d", SEED, seconds=100))
    assert seen["read"] > 50 and seen["error"] > 50


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (0, 0, "begin in block 0"),
        (0, 200, "begin in block 200"),
        (1, 0, "does not begin as a C3D file"),
        (2, 9, "9 points in its header and 2 among"),
        (4, 7, "7 samples a frame are not 6 channels"),
        (515, 0, "unknown kind 0"),
        (514, 99, "99 blocks, which are not there"),
    ],
)
def test_what_is_wrong_with_a_file_of_c3d_is_said(tmp_path, at, value, said):
    path, data = tmp_path / "walk.c3d", bytearray(a_c3d())
    data[at] = value
    path.write_bytes(data)
    with pytest.raises(ValueError, match=said) as caught:
        mb.read_c3d(path)
    assert str(path) in str(caught.value)
    with pytest.raises(ValueError, match="shorter than a header"):
        path.write_bytes(data[:600])
        mb.read_c3d(path)
    assert io.BytesIO(data).read(1) == data[:1]
