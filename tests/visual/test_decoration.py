"""Decorations: checked data, and closed surfaces of the right size."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import decoration
from mobod.decoration.mesh_file import read_mesh, read_parts

TETRAHEDRON = ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
ARROW = decoration.Arrow((0, 0, 0), (0, 0, 2), tip_length=0.5)
SOLIDS = [
    (decoration.Sphere(2.0), 4 / 3 * np.pi * 8),
    (decoration.Ellipsoid((1, 2, 3)), 4 / 3 * np.pi * 6),
    (decoration.Brick((1, 2, 3)), 48.0),
    (decoration.Cylinder(2.0, 3.0), np.pi * 4 * 6),
    (decoration.Cone((1, 2, 3), (1, 0, 0), height=3.0, base_radius=2.0), np.pi * 4),
    (decoration.Torus(3.0, 0.5), 2 * np.pi**2 * 3 * 0.25),
    (ARROW, np.pi * 0.15**2 * 0.5 / 3),
    (decoration.Mesh(*TETRAHEDRON), 1 / 6),
    (decoration.Brick((1, 1, 1), scale=(-1, 2, 3)), 48.0),  # a mirror leaves the outside outside
]


def calc_volume(vertices, triangles):
    """Divergence theorem: positive only if faces are counter-clockwise seen from outside."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize(("solid", "volume"), SOLIDS, ids=lambda value: type(value).__name__)
def test_a_surface_is_closed_and_encloses_its_volume(solid, volume):
    vertices, triangles = solid.calc_mesh(resolution=4)
    # polygons with 64 and more sides lie up to 1 % within their circles, the tube of a torus with 36 up to 2 %
    assert_allclose(calc_volume(vertices, triangles), volume, rtol=0.03)
    assert solid.is_closed


def test_placement_and_scale_apply_in_turn():
    X = mb.Transform(mb.Rotation.about_axis(np.pi / 2, "z"), (10, 0, 0))
    vertices, _ = decoration.Brick((1, 1, 1), X=X, scale=(1, 2, 3)).calc_mesh()
    assert_allclose(np.ptp(vertices, axis=0), (4, 2, 6), atol=1e-12)
    assert_allclose(vertices.mean(axis=0), (10, 0, 0), atol=1e-12)
    (line,) = decoration.Line((0, 0, 0), (1, 0, 0), X=X, scale=2).calc_lines()
    assert_allclose(line, [(10, 0, 0), (10, 2, 0)], atol=1e-12)


def test_a_cylinder_is_along_y_and_a_circle_in_the_xy_plane():
    vertices, _ = decoration.Cylinder(1, 5).calc_mesh()
    assert_allclose(np.ptp(vertices, axis=0), (2, 10, 2))
    (line,) = decoration.Circle(2).calc_lines()
    assert_allclose(np.linalg.norm(line[:, :2], axis=1), 2.0)
    assert_array_equal(line[:, 2], 0.0)
    assert_allclose(line[0], line[-1], atol=1e-12)


def test_resolution_changes_what_is_round():
    few, many = (len(decoration.Sphere().calc_mesh(resolution)[1]) for resolution in (0.5, 2))
    assert few < many
    assert len(decoration.Brick().calc_mesh(4)[1]) == 12


def test_a_mesh_with_a_hole_is_not_closed():
    assert not decoration.Mesh(TETRAHEDRON[0], TETRAHEDRON[1][:3]).is_closed


def test_colors_by_name_by_number_and_by_hexadecimal():
    sphere = decoration.Sphere(color="Grey")
    assert sphere.color == (0.5, 0.5, 0.5)
    sphere.color = "#ff0033"
    assert sphere.color == (1.0, 0.0, 0.2)
    sphere.color = np.array([0, 0.5, 1])
    assert sphere.color == (0.0, 0.5, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: decoration.Sphere(0), "Sphere.radius has to be positive, got 0"),
        (lambda: decoration.Sphere(np.nan), "Sphere.radius has to be finite"),
        (lambda: decoration.Brick((1, -1, 1)), "Brick.half_lengths has to be positive"),
        (lambda: decoration.Brick((1, 1)), "Brick.half_lengths has to have shape"),
        (lambda: decoration.Sphere(color="reddish"), "Sphere.color must be red, green and blue .* it is 'reddish'"),
        (lambda: decoration.Sphere(color="#12345g"), "Sphere.color must be"),
        (lambda: decoration.Sphere(color=(255, 0, 0)), "Sphere.color has to be from 0 to 1"),
        (lambda: decoration.Sphere(opacity=2), "Sphere.opacity has to be from 0 to 1, got 2"),
        (lambda: decoration.Sphere(scale=(1, 0, 1)), "Sphere.scale must not be zero"),
        (lambda: decoration.Sphere(representation="solid"), "Sphere.representation must be one of surface, wireframe"),
        (lambda: decoration.Arrow((1, 2, 3), (1, 2, 3)), "Arrow needs two different points"),
        (lambda: decoration.Cone(direction=(0, 0, 0)), "Cone.direction is a direction"),
        (lambda: decoration.Mesh([(0, 0, 0)], [(0, 0, 1)]), r"must index the 1 vertices; face 0 is \(0, 0, 1\)"),
        (lambda: decoration.Mesh([(0, 0, 0)], [(0, 0)]), "three vertices or more each; face 0 has 2"),
        (lambda: decoration.Sphere(representation=np.array(["surface", "hidden"])), "Sphere.representation must be one of"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_assignment_is_checked_too_and_a_failed_one_changes_nothing():
    sphere = decoration.Sphere(2.0)
    with pytest.raises(ValueError, match=r"Sphere\.radius has to be positive"):
        sphere.radius = -1.0
    assert sphere.radius == 2.0


def test_faces_and_vertices_of_a_mesh_fit_together_whichever_is_assigned():
    mesh = decoration.Mesh(*TETRAHEDRON)
    with pytest.raises(ValueError, match=r"must index the 4 vertices; face 0 is \(0, 1, 99\)"):
        mesh.faces = [(0, 1, 99)]
    with pytest.raises(ValueError, match="must index the 3 vertices"):
        mesh.vertices = np.eye(3)
    assert_allclose(calc_volume(*mesh.calc_mesh()), 1 / 6)
    for faces in ([(0, 1.7, 2)], ["012"], 3, [0, 1, 2]):
        with pytest.raises(TypeError, match=r"Mesh\.faces must be a sequence of faces, each of three or more integers"):
            mesh.faces = faces


def test_a_torus_whose_tube_is_wider_than_its_ring_has_no_holes():
    assert len(decoration.Torus(0.5, 1.0).calc_mesh()[1]) == len(decoration.Torus(1.0, 0.5).calc_mesh()[1])


def test_the_base_class_and_wrong_types_are_refused():
    with pytest.raises(TypeError, match="Decoration is not created by itself"):
        decoration.Decoration()
    with pytest.raises(TypeError, match=r"Text.text must be a string, not 3"):
        decoration.Text(3)
    with pytest.raises(TypeError):
        decoration.Mesh([(0, 0, 0)])


def test_decorations_can_be_copied_pickled_and_read():
    brick = decoration.Brick((1, 2, 3), color="red", X=mb.Transform((1, 0, 0)))
    for other in (copy.deepcopy(brick), pickle.loads(pickle.dumps(brick))):
        assert_array_equal(other.half_lengths, (1, 2, 3))
        assert other.X == brick.X
        assert other is not brick
    assert "half_lengths=array([1., 2., 3.])" in repr(brick)


def test_a_mesh_file_of_another_format_names_the_package_that_reads_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(ImportError, match="needs trimesh: pip install trimesh"):
        decoration.MeshFile(tmp_path / "arm.ply").calc_mesh()


def stl_text(vertices, triangles):
    loops = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in vertices[triangle])
        + "endloop\nendfacet\n"
        for triangle in triangles
    ]
    return ("solid part\n" + "".join(loops) + "endsolid part\n").encode()


def stl_binary(vertices, triangles):
    facets = [np.concatenate([np.zeros(3), vertices[triangle].ravel()]).astype("<f4").tobytes() for triangle in triangles]
    header = b"solid, and yet binary".ljust(80)
    return header + len(facets).to_bytes(4, "little") + b"".join(facet + b"\0\0" for facet in facets)


def obj(vertices, triangles):
    lines = ["# a comment", "mtllib none.mtl", *(f"v {x} {y} {z}" for x, y, z in vertices), "vn 0 0 1"]
    n = len(vertices)
    lines += [f"f {a + 1} {b - n}/1/1 {c + 1}//1" for a, b, c in triangles.tolist()]  # b counted from the end
    return "\n".join(lines).encode()


def vtp(vertices, triangles):
    points, corners = " ".join(map(str, vertices.ravel())), " ".join(map(str, triangles.ravel()))
    ends = " ".join(str(3 * (i + 1)) for i in range(len(triangles)))
    return (
        '<VTKFile type="PolyData"><PolyData><Piece>'
        f'<Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">{points}</DataArray></Points>'
        f'<Polys><DataArray Name="connectivity" format="ascii">{corners}</DataArray>'
        f'<DataArray Name="offsets" format="ascii">{ends}</DataArray></Polys></Piece></PolyData></VTKFile>'
    ).encode()


@pytest.mark.parametrize(
    ("name", "write"), [("a.stl", stl_text), ("b.STL", stl_binary), ("c.obj", obj), ("d.vtp", vtp)], ids=lambda v: str(v)[:5]
)
def test_meshes_in_files_are_the_surfaces_that_were_written(name, write, tmp_path):
    vertices, triangles = decoration.Brick((1, 2, 3)).calc_mesh()
    path = tmp_path / name
    path.write_bytes(write(vertices, triangles))
    read = decoration.MeshFile(path, scale=2.0)
    assert_allclose(calc_volume(*read.calc_mesh()), 8 * 48.0)
    assert read.calc_mesh()[0].shape == (8, 3)
    path.unlink()
    assert_allclose(calc_volume(*read.calc_mesh()), 8 * 48.0)  # it is read once


def test_a_mesh_file_with_another_path_is_read_anew(tmp_path):
    for name, size in (("a.obj", 1), ("b.obj", 5)):
        (tmp_path / name).write_text(f"v 0 0 0\nv {size} 0 0\nv 0 1 0\nf 1 2 3\n")
    mesh = decoration.MeshFile(tmp_path / "a.obj")
    assert mesh.calc_mesh()[0].max() == 1.0
    mesh.path = tmp_path / "b.obj"
    assert mesh.calc_mesh()[0].max() == 5.0


def test_a_path_has_to_be_one_of_a_file(tmp_path):
    for path in (None, 3, ""):
        with pytest.raises(TypeError, match=r"MeshFile\.path must be the path of a file, not"):
            decoration.MeshFile(path)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        decoration.MeshFile(tmp_path).calc_mesh()


def test_what_trimesh_stumbles_over_names_the_file(tmp_path, monkeypatch):
    class Trimesh:
        @staticmethod
        def load(path, force):
            raise KeyError("vertex")

    monkeypatch.setitem(__import__("sys").modules, "trimesh", Trimesh)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*arm\.ply"):
        decoration.MeshFile(tmp_path / "arm.ply").calc_mesh()
    (tmp_path / "arm.ply").write_text("ply")
    with pytest.raises(ValueError, match=r"trimesh cannot read .*arm\.ply: KeyError"):
        decoration.MeshFile(tmp_path / "arm.ply").calc_mesh()


STL = stl_text(np.eye(3), np.array([[0, 1, 2]]))
VARIANTS = [
    ("upper.stl", STL.upper()),
    ("blank.stl", b"\n\n" + STL),
    ("mark.stl", b"\xef\xbb\xbf" + STL),
    ("padded.stl", stl_binary(np.eye(3), np.array([[0, 1, 2]])) + b"\0\0"),
    ("goes_on.obj", b"v 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 \\\n2 \\\n3\n"),
]


@pytest.mark.parametrize(("name", "content"), VARIANTS, ids=[case[0] for case in VARIANTS])
def test_files_as_other_programs_write_them_are_read(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    vertices, triangles = decoration.MeshFile(path).calc_mesh()
    assert_array_equal(vertices[triangles], [np.eye(3)])


BAD_FILES = [
    ("a.stl", b"not a mesh", "is not an STL file"),
    ("b.stl", b"solid x\nvertex 1 2 3\nendsolid", "is not an STL file"),
    ("c.stl", b"solid x\n" + 3 * b"vertex 1 two 3\n", "not numbers"),
    ("d.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "has no faces"),
    ("e.obj", b"v 0 0 0\nf 1 2 3\n", "a vertex that is not there"),
    ("f.obj", b"v 0 0 0\nf 1 x 3\n", "line 2 of .* is no face"),
    ("g.obj", b"v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not numbers, or too few"),
    ("h.vtp", b"<VTKFile>", "is not a VTP file"),
    ("i.vtp", b"<VTKFile/>", "has no points"),
    ("j.vtp", vtp(np.eye(3), np.array([[0, 1, 2]])).replace(b"ascii", b"appended"), "keeps its numbers as appended"),
    ("k.vtp", vtp(np.eye(3), np.array([[0, 1, 2]])).replace(b">3<", b">4<"), "do not fit together"),
    ("m.stl", bytes(84), "has no faces"),
    ("n.obj", b"v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", "vertices of 2, not 3"),
    ("o.stl", STL.replace(b"0.0\n", b"0.0 0.0\n").replace(b"1.0\n", b"1.0 0.0\n"), "vertices of 4, not 3"),
    ("p.obj", b"v 0 0 0\nf 1 \\\nx 3\n", "line 3 of .* is no face"),
    ("l.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES, ids=[case[0] for case in BAD_FILES])
def test_a_file_that_is_not_what_its_name_says_is_refused(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        decoration.MeshFile(path).calc_mesh()


# ------------------------------------------------------------------------------------------ on bodies


def test_each_body_keeps_copies_and_adding_is_a_topological_change():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(), name="pin")
    sphere = decoration.Sphere(0.2)
    for add in (pin.add_body_decoration, pin.add_inboard_decoration, pin.add_outboard_decoration):
        system.realize_topology()
        assert add(sphere) == 0
        assert not system.system_topology_has_been_realized()
        assert add(sphere, mb.Transform((1, 0, 0))) == 1
    sphere.color = "red"
    other = pin.clone_for_new_parent(matter.ground)
    assert pin.get_num_inboard_decorations() == pin.get_num_outboard_decorations() == pin.get_body().get_num_decorations() == 2
    assert pin.get_inboard_decoration(0).color is None and pin.get_outboard_decoration(0).color is None
    pin.upd_inboard_decoration(0).color = "blue"
    pin.upd_outboard_decoration(1).color = "blue"
    assert pin.get_inboard_decoration(0).color == (0, 0, 1) and pin.get_outboard_decoration(1).color == (0, 0, 1)
    assert other.get_inboard_decoration(0).color is None and other.get_num_outboard_decorations() == 2
    for get in (pin.get_inboard_decoration, pin.upd_outboard_decoration, pin.get_body().get_decoration):
        for number in ("a", 0.0, True):
            with pytest.raises(TypeError, match="has to be an integer, not"):
                get(number)


def test_what_is_no_decoration_is_refused_and_nothing_is_added():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(), name="pin")
    system.realize_topology()
    for add in (pin.add_body_decoration, pin.add_inboard_decoration, pin.add_outboard_decoration):
        with pytest.raises(TypeError, match="Decoration, such as"):
            add("sphere")
        with pytest.raises(ValueError, match="has to be a Transform"):
            add(decoration.Sphere(), (1, 2))
    for get in (pin.get_inboard_decoration, pin.upd_outboard_decoration):
        with pytest.raises(IndexError, match=r"'pin', .* has 0 .*board decorations"):
            get(0)
    assert system.system_topology_has_been_realized() and pin.get_body().get_num_decorations() == 0


def test_an_obj_file_has_the_colours_of_its_materials(tmp_path):
    path = tmp_path / "part.obj"
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    path.write_text(f"mtllib part.mtl\n{corners}usemtl red\nf 1 3 2\nusemtl clear glass\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "part.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl clear glass\nKd 0 0 1\nd 0.25\nKa spectral x.rfl\n")
    red, glass = read_parts(path)
    assert red.rgba == (1, 0, 0, 1) and glass.rgba == (0, 0, 1, 0.25)
    assert len(red.triangles) == 1 and len(glass.triangles) == 3
    vertices, triangles = read_mesh(path)  # as one surface, which is closed
    assert len(vertices) == 4 and len(triangles) == 4
    (tmp_path / "part.mtl").unlink()
    (plain,) = read_parts(path)
    assert plain.rgba is None and len(plain.vertices) == 4
