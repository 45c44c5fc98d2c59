"""load_osim: what it makes of files, beyond numbers that OpenSim can be asked for."""

# ruff: noqa: E501
import os
import pathlib
import pickle
import re

import numpy as np
import pytest
from osim_cases import CASES, FRAME, LINE, axis, body, joint, model

import mobod as mb
from mobod.shapes.contact_arrows import calc_contact_arrows


@pytest.fixture
def load(tmp_path):
    """Load a document from its text."""

    def loaded(text, **options):
        path = tmp_path / "case.osim"
        path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
        return mb.load_osim(path, **options)

    return loaded


def one_pin(**parts):
    return model("pin", body("b"), joint("PinJoint", "hip", "ground", "b", ["q"]), **parts)


def mentions(report, *words):
    return [line for line in report if all(word in line for word in words)]


# ---------------------------------------------------------------------------------------------- mechanics by other means


def differences(loaded, q, u, h=1e-4):
    """What is missing for no acceleration, from differences of M: for speeds that are rates of coordinates."""
    system, matter = loaded.system, loaded.matter
    state = loaded.default_state()

    def mass(at):
        state.q = at
        system.realize(state, mb.Stage.POSITION)
        return matter.calc_m(state)

    rises = [
        (8 * (mass(q + h * e) - mass(q - h * e)) - (mass(q + 2 * h * e) - mass(q - 2 * h * e))) / (12 * h)
        for e in np.eye(len(q))
    ]
    rises = np.array(rises)
    return np.einsum("kij,k,j->i", rises, u, u) - 0.5 * np.einsum("kij,i,j->k", rises, u, u)


def inertial(loaded, q, u):
    state, matter = loaded.default_state(), loaded.matter
    state.q, state.u = q, u
    loaded.system.realize(state, mb.Stage.VELOCITY)
    nothing = np.zeros((len(matter.bodies), 2, 3))
    return matter.calc_residual_force_ignoring_constraints(state, np.zeros(len(u)), nothing, np.zeros(len(u)))


def knee():
    """A knee as in many public models: two rotations and two translations of one angle, where OpenSim's Coriolis forces are wrong."""
    spline = '<SimmSpline name="function"><x>-2 -1.5 -1 -0.4 0 0.6</x><y>{}</y></SimmSpline>'
    axes = [
        axis("rotation1", "k", "0 0 1", LINE),
        axis("rotation2", "k", "0 1 0", spline.format("0.1 0.05 -0.1 0.2 0 0.1")),
        axis("rotation3", "", "1 0 0", '<Constant name="function"><value>0.3</value></Constant>'),
        axis("translation1", "k", "1 0 0", spline.format("0.02 0.01 -0.01 0.03 0 0.01")),
        axis("translation2", "s", "0 1 0", LINE),
        axis("translation3", "", "0 0 1", ""),
    ]
    made = joint("PinJoint", "hip", "ground", "thigh", ["h"])
    made += joint("CustomJoint", "knee", "thigh", "shank", ["k", "s"], f"<SpatialTransform>{''.join(axes)}</SpatialTransform>")
    return model("knee", body("thigh") + body("shank"), made)


BENDS = "<neutral_angle_x_z_y>0.2 -0.1 0.3</neutral_angle_x_z_y><length>0.6</length>"


@pytest.mark.parametrize(
    "text",
    [
        knee(),
        model("rod", body("b"), joint("ConstantCurvatureJoint", "rod", "ground", "b", ["x", "z", "y"], BENDS)),
        model(
            "beam",
            body("b"),
            joint("CantileverFreeBeamJoint", "beam", "ground", "b", ["x", "y", "z"], "<beam_length>0.7</beam_length>"),
        ),
    ],
    ids=["knee", "rod", "beam"],
)
def test_inertial_forces_are_those_of_the_kinetic_energy(load, text):
    loaded = load(text)
    seed = 7
    rng = np.random.default_rng(seed)
    for size in (0.3, 0.8):
        q, u = rng.uniform(-size, size, len(loaded.coordinates)), rng.normal(size=len(loaded.speeds))
        wanted = differences(loaded, q, u)
        assert np.abs(inertial(loaded, q, u) - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max()), f"seed {seed}"


def test_an_arc_is_an_arc(load):
    """From the straight rod to a quarter turn: chord and height of an arc of the length; both formulas meet where they change."""
    loaded = load(
        model("rod", body("b"), joint("ConstantCurvatureJoint", "rod", "ground", "b", ["x", "z", "y"], "<length>0.6</length>"))
    )
    state, rod = loaded.default_state(), loaded.bodies["b"]
    for angle in (1e-9, 1e-3, 0.0447, 0.0448, 0.3, 1.2):
        state.q = [angle, 0.0, 0.0]
        loaded.system.realize(state, mb.Stage.POSITION)
        p = rod.get_mobilizer_transform(state).p
        radius = 0.6 / angle
        np.testing.assert_allclose(p, [0.0, radius * np.sin(angle), 2 * radius * np.sin(angle / 2) ** 2], atol=1e-15)


def test_a_joint_that_closes_a_loop_is_a_constraint(load):
    """A ball that closes a loop moves as a point constraint does, and the body that is cut weighs what it weighed."""
    bodies = body("a") + body("b")
    ends = joint("FreeJoint", "j1", "ground", "a", [f"a{k}" for k in range(6)]) + joint(
        "UniversalJoint", "j3", "ground", "b", ["b0", "b1"]
    )
    cut = load(model("cut", bodies, ends + joint("BallJoint", "j2", "a", "b", ["q2", "q3", "q4"])))
    X_A, X_B = cut.bodies["b_slave_1"].get_default_inboard_frame(), cut.bodies["b_slave_1"].get_default_outboard_frame()
    place = "".join(
        f"<location_body_{k}>{' '.join(map(repr, np.asarray(X.p).tolist()))}</location_body_{k}>"
        for k, X in ((1, X_A), (2, X_B))
    )
    point = f"""<PointConstraint name="point"><socket_body_1>/bodyset/a</socket_body_1><socket_body_2>/bodyset/b</socket_body_2>
{place}</PointConstraint>"""
    held = load(model("held", bodies, ends, point))
    assert mentions(cut.report, "'j2' closes a loop", "'b'")
    state = held.default_state()
    state.q = np.linspace(-0.3, 0.4, 8)
    mb.Assembler(held.system).assemble(state)
    held.system.realize(state)
    other = cut.default_state()
    q = other.q.copy()
    q[[cut.coordinates[name] for name in held.coordinates]] = state.q
    other.q = q
    ball = cut.bodies["b_slave_1"]
    a, b = (held.bodies[name].get_body_transform(state) for name in "ab")
    other_X = ~(a @ X_A) @ (b @ X_B)
    ball.set_q_to_fit_transform(other, other_X)
    cut.system.realize(other)
    assert np.abs(other.q_err).max() < 1e-6
    found = other.u_dot[[cut.speeds[name] for name in held.speeds]]
    np.testing.assert_allclose(found, state.u_dot, atol=1e-5)  # the assembler's tolerance
    assert cut.bodies["b"].get_body_mass_properties(other).mass == pytest.approx(0.65)


def test_a_rolling_constraint_is_off_until_it_is_enabled(load):
    """OpenSim 4.6: off in a new state though enforced, so that a body falls through the surface; held once it is switched on."""
    rolling = """<RollingOnSurfaceConstraint name="foot"><socket_rolling_body>/bodyset/b</socket_rolling_body>
<socket_surface_body>/ground</socket_surface_body></RollingOnSurfaceConstraint>"""
    loaded = load(model("rolls", body("b"), joint("FreeJoint", "j", "ground", "b", [f"b{k}" for k in range(6)]), rolling))
    assert mentions(loaded.report, "'foot' is four constraints", "no run switches them")
    state = loaded.default_state()
    loaded.system.realize(state)
    falling = loaded.matter.calc_system_mass_center_acceleration_in_ground(state)
    assert falling[1] == pytest.approx(loaded.gravity.get_gravity_vector(state)[1]) and not len(state.multipliers)
    for one in loaded.constraints.values():
        one.enable(state)
    loaded.system.realize(state)
    assert len(state.multipliers) == 4 and abs(loaded.bodies["b"].get_body_acceleration(state)[1][1]) < 1e-12


def test_reactions_of_a_joint_of_several_mobilizers_are_those_of_its_named_bodies(load):
    """The scapula's, with two bodies between: what it takes and what the thorax gives are one wrench."""
    loaded = load(CASES["joints"])
    given = {"pinj_0/value": 0.3, "scap_1/value": 0.2, "pinj_0/speed": 3.0, "scap_1/speed": 2.0}
    moving = mb.Table([0.0, 0.1], {label: [value, value] for label, value in given.items()})
    both = {"joints": ["ScapulothoracicJoint"] * 2, "on": ["child", "parent"]}
    found = mb.joint_reactions(loaded, moving, **both)
    heads = [f"ScapulothoracicJoint_on_{name}_in_ground_" for name in ("scap", "elli")]
    force, moment, point = ([np.array([found[f"{head}{what}{x}"][0] for x in "xyz"]) for head in heads] for what in "fmp")
    assert np.abs(force[0]).max() > 0.1 and np.abs(point[0] - point[1]).max() > 0.01
    np.testing.assert_allclose(force[0], -force[1], atol=1e-12)
    about = [m + np.cross(p, f) for f, m, p in zip(force, moment, point, strict=True)]
    np.testing.assert_allclose(about[0], -about[1], atol=1e-11)


def test_a_weld_that_closes_a_loop_is_a_constraint(load):
    made = joint("PinJoint", "j1", "ground", "a", ["q"]) + joint("WeldJoint", "j2", "ground", "b")
    loaded = load(model("loop", body("a") + body("b"), made + joint("WeldJoint", "j3", "a", "b")))
    assert isinstance(loaded.constraints["j3_Loop"], mb.constraint.Weld)
    made += joint("FreeJoint", "j3", "a", "b")
    loaded = load(model("loop", body("a") + body("b"), made))
    assert not loaded.constraints
    assert mentions(loaded.report, "'j3' closes a loop, where it holds nothing")


def test_a_body_that_nothing_holds_is_free(load):
    loaded = load(model("loose", body("a") + body("b"), joint("PinJoint", "hip", "ground", "a", ["q"])))
    assert isinstance(loaded.bodies["b"], mb.mobilizer.Free)
    assert list(loaded.coordinates)[1] == "free_b_coord_0"
    assert mentions(loaded.report, "no joint holds body 'b'")


# ---------------------------------------------------------------------------------------------- coordinates


def coordinate(name, inside):
    return f'<Coordinate name="{name}">{inside}</Coordinate>'


def test_coordinates_are_as_the_file_says(load):
    moved = "<prescribed>true</prescribed><prescribed_function><LinearFunction><coefficients>2 0.3</coefficients></LinearFunction></prescribed_function>"
    held = [
        coordinate("a", "<default_value>0.2</default_value><locked>true</locked>"),
        coordinate(
            "b",
            "<default_value>0.1</default_value><default_speed_value>0.5</default_speed_value><range>-1 1</range><clamped>true</clamped>",
        ),
    ]
    made = joint("UniversalJoint", "u", "ground", "one", held)
    made += joint("PinJoint", "p", "one", "two", [coordinate("c", "<default_value>0.4</default_value><locked>true</locked>")])
    made += joint("PinJoint", "r", "two", "three", [coordinate("d", moved)])
    made += joint("SliderJoint", "s", "three", "four", ["e"])
    coupler = f"""<CoordinateCouplerConstraint name="k"><coupled_coordinates_function>{LINE.replace(' name="function"', "").replace("1 0", "2 0.1")}
</coupled_coordinates_function><independent_coordinate_names>b</independent_coordinate_names>
<dependent_coordinate_name>e</dependent_coordinate_name></CoordinateCouplerConstraint>"""
    loaded = load(model("c", "".join(map(body, ("one", "two", "three", "four"))), made, coupler))
    state = loaded.default_state()
    assert list(loaded.coordinates) == list("abcde")
    assert loaded.angles == set("abcd")
    np.testing.assert_allclose(state.q, [0.2, 0.1, 0.4, 0.3, 0.3])
    np.testing.assert_allclose(state.u, [0.0, 0.5, 0.0, 2.0, 1.0])
    assert loaded.bodies["two"].is_locked(state) and not loaded.bodies["one"].is_locked(state)
    loaded.system.realize(state)
    assert np.abs(state.q_err).max() < 1e-15  # at time 0
    assert np.abs(state.u_err).max() < 1e-15
    np.testing.assert_allclose(state.u_dot[[0, 2, 3]], 0.0, atol=1e-12)
    about = loaded.data["coordinates"]["b"]
    assert (about.clamped, about.range, about.joint) == (True, (-1.0, 1.0), "u")
    assert set(loaded.constraints) == {"a_lock", "d_motion", "k"}


def test_a_name_that_comes_twice_has_the_joint_before_it(load):
    made = joint("PinJoint", "one", "ground", "a", ["q"]) + joint("PinJoint", "two", "a", "b", ["q"])
    assert list(load(model("m", body("a") + body("b"), made)).coordinates) == ["one/q", "two/q"]


def test_frames_and_markers(load):
    loaded = load(CASES["frames"])
    assert set(loaded.frames) >= {"on_b", "on_that", "through"}
    base, station = loaded.markers["m"]
    body_of_frame, X = loaded.frames["through"]
    assert base is body_of_frame is loaded.bodies["b"]
    np.testing.assert_allclose(station, X @ (0.1, 0.2, 0.3))
    assert loaded.bodies["ground"] is loaded.matter.ground


# ---------------------------------------------------------------------------------------------- what is data, and reported

MUSCLE = """<Thelen2003Muscle name="m"><max_isometric_force>100</max_isometric_force><min_control>0.01</min_control>
<GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>0.1 0 0</location></PathPoint>
<ConditionalPathPoint name="p2"><socket_parent_frame>/bodyset/b</socket_parent_frame><location>0 0.1 0</location>
<socket_coordinate>/jointset/hip/q</socket_coordinate><range>-1 0.5</range></ConditionalPathPoint>
<MovingPathPoint name="p3"><socket_parent_frame>/bodyset/b</socket_parent_frame><socket_x_coordinate>/jointset/hip/q</socket_x_coordinate>
<x_location><LinearFunction><coefficients>1 0</coefficients></LinearFunction></x_location></MovingPathPoint>
</objects></PathPointSet><PathWrapSet><objects><PathWrap name="w"><wrap_object>roll</wrap_object><method>axial</method></PathWrap>
</objects></PathWrapSet></GeometryPath></Thelen2003Muscle>"""
WRAPPED = body("b").replace(
    "</Body>",
    '<WrapObjectSet><objects><WrapCylinder name="roll"><radius>0.1</radius><length>0.4</length><translation>0.1 0 0</translation>'
    "<quadrant>x</quadrant></WrapCylinder></objects></WrapObjectSet></Body>",
)


def test_muscles_are_data(load):
    text = model("m", WRAPPED, joint("PinJoint", "hip", "ground", "b", ["q"]), forces=MUSCLE)
    loaded = load(text)
    muscle = loaded.data["muscles"]["m"]
    assert (muscle.kind, muscle.parameters["max_isometric_force"]) == ("Thelen2003Muscle", 100.0)
    assert [(point.kind, point.coordinate) for point in muscle.points][1] == ("ConditionalPathPoint", "q")
    assert muscle.points[2].functions[0].calc_value(0.3) == pytest.approx(0.3)
    assert muscle.wraps[0].wrap_object == "roll"
    roll = loaded.data["wrap objects"]["roll"]
    assert (roll.kind, roll.dimensions["radius"], roll.body) == ("WrapCylinder", 0.1, loaded.bodies["b"])
    assert loaded.muscles["m"].get_default_max_isometric_force() == 100.0 and not loaded.report.departures
    unknown = text.replace("Thelen2003Muscle", "OtherMuscle")
    assert mentions(load(unknown).report, "case.osim:", "muscle 'm' (OtherMuscle) is of a kind that does not act")
    with pytest.raises(mb.ModelError, match=r"(?s)strict.*case.osim:\d+: muscle 'm'"):
        load(unknown, strict=True)


def test_a_tendon_of_no_length_is_rigid_where_a_muscle_can_have_that(load):
    """OpenSim loads both; then the force of Thelen's is infinite, and Millard's throws unless its tendon is said to be rigid."""
    none = MUSCLE.replace("<max_isometric_force>", "<tendon_slack_length>0</tendon_slack_length><max_isometric_force>", 1)
    text = model("m", WRAPPED, joint("PinJoint", "hip", "ground", "b", ["q"]), forces=none)
    loaded = load(text.replace("Thelen2003Muscle", "Millard2012EquilibriumMuscle"))
    assert loaded.muscles["m"].state_variables == ("activation",)
    assert mentions(loaded.report, "case.osim:", "'m' has a tendon of no length, which is rigid here")
    loaded = load(text)
    assert not loaded.muscles and mentions(loaded.report, "case.osim:", "muscle 'm'", "has a tendon of no length")


def test_a_range_written_from_high_to_low_is_turned_round_for_moving_points(load):
    hip = '<Coordinate name="q"><range>0.5 -1</range></Coordinate>'
    loaded = load(model("m", WRAPPED, joint("PinJoint", "hip", "ground", "b", [hip]), forces=MUSCLE))
    assert list(loaded.muscles) == ["m"]
    assert loaded.data["muscles"]["m"].points[2].ranges[0].tolist() == [-1.0, 0.5]
    assert mentions(loaded.report, "the range of coordinate 'q' is written from high to low")


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"forces": '<FancyForce name="f"><size>2</size></FancyForce>'}, "a force of a kind that is not known, FancyForce"),
        ({"constraints": '<FancyConstraint name="c"/>'}, "a constraint of a kind that is not known, FancyConstraint"),
        ({"components": '<FancyThing name="t"><size>1</size></FancyThing>'}, "FancyThing 't' is left out"),
        (
            {"shapes": '<ContactMesh name="s"><socket_frame>/ground</socket_frame><filename>no.obj</filename></ContactMesh>'},
            "touches nothing",
        ),
        ({"components": '<FrameThing name="t"/>'}, "FrameThing 't' is left out"),
    ],
)
def test_what_is_left_out_is_reported_with_its_line(load, parts, told):
    text = one_pin(**parts)
    (line,) = mentions(load(text).report, told)
    number = int(re.match(r".*case\.osim:(\d+): ", line).group(1))
    tag = next(iter(parts.values()))[:8]
    assert tag in text.splitlines()[number - 1]
    with pytest.raises(mb.ModelError, match="strict"):
        load(text, strict=True)


def test_what_nobody_asks_for_is_reported(load):
    text = one_pin().replace("</Body>", "<smell>12</smell></Body>")
    assert mentions(load(text).report, "<smell> of Body is not taken up")


def test_controllers_and_missing_meshes_are_reported(load):
    shown = '<attached_geometry><Mesh name="g"><mesh_file>bone.vtp</mesh_file></Mesh><Sphere name="s"><radius>0.1</radius></Sphere></attached_geometry>'
    text = one_pin().replace("</Body>", f"{shown}</Body>")
    text = text.replace("</Model>", '<ControllerSet><objects><ToyReflexController name="c"/></objects></ControllerSet></Model>')
    report = load(text).report
    assert mentions(report, "1 mesh file", "bone.vtp")
    assert mentions(report, "controller 'c' (ToyReflexController) is left out")


def test_an_inertia_that_no_body_has_is_kept(load):
    text = model("m", body("b", com="0 0 0", inertia="1 1 5 0 0 0"), joint("PinJoint", "hip", "ground", "b", ["q"]))
    loaded = load(text)
    assert mentions(loaded.report, "body 'b' has an inertia that no body can have")
    state = loaded.default_state()
    loaded.system.realize(state, mb.Stage.INSTANCE)
    assert loaded.bodies["b"].get_body_mass_properties(state).inertia.moments[2] == pytest.approx(5.0)
    with pytest.raises(mb.ModelError, match=r"case.osim:\d+: body 'b'"):
        load(text, strict=True)


# ---------------------------------------------------------------------------------------------- files that cannot be

RING = FRAME.format(name="f1", parent="/f2", p="0 0 0", r="0 0 0") + FRAME.format(name="f2", parent="/f1", p="0 0 0", r="0 0 0")
ON_RING = (
    '<PointConstraint name="c"><socket_body_1>/f1</socket_body_1><socket_body_2>/bodyset/b</socket_body_2></PointConstraint>'
)
BOMB = '<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;">]><OpenSimDocument Version="40000"><Model/></OpenSimDocument>'
WRONG = {
    "empty": ("", "empty"),
    "no XML": ("<OpenSimDocument", "not well-formed"),
    "a bomb": (BOMB, "document type declaration"),
    "no version": ("<OpenSimDocument><Model/></OpenSimDocument>", "needs a Version"),
    "too new": ('<OpenSimDocument Version="90000"><Model/></OpenSimDocument>', "40600 is the newest"),
    "no model": ('<OpenSimDocument Version="40000"><Tool/></OpenSimDocument>', "not a <Model>"),
    "frames in a ring": (one_pin(components=RING, constraints=ON_RING), "in a ring: f1 -> f2 -> f1"),
    "an unknown frame": (one_pin().replace("/bodyset/b<", "/bodyset/nobody<"), "'/bodyset/nobody', and there is none"),
    "an unknown joint": (one_pin().replace("PinJoint", "FinJoint"), "a joint of a kind that is not known, FinJoint"),
    "no number": (one_pin().replace("<mass>1.3", "<mass>heavy"), "'heavy', which is no number"),
    "too few numbers": (one_pin().replace("<mass_center>0.1 -0.2", "<mass_center>0.1"), "takes 3 numbers; it has 2"),
    "no mass": (one_pin().replace("<mass>1.3", "<mass>-1"), "needs a <mass>"),
    "a joint to itself": (one_pin().replace("/ground<", "/bodyset/b<"), "connects body 'b' to itself"),
    "a massless end": (
        model("m", body("b", 0, "0 0 0", "0 0 0 0 0 0"), joint("PinJoint", "hip", "ground", "b", ["q"])),
        "has no mass and ends a branch",
    ),
    "an unknown coordinate": (
        one_pin(forces='<CoordinateActuator name="a"><coordinate>p</coordinate></CoordinateActuator>'),
        "the coordinate 'p'",
    ),
    "an unknown function": (
        one_pin().replace('<Coordinate name="q"/>', coordinate("q", "<prescribed_function><Fancy/></prescribed_function>")),
        "a function of a kind",
    ),
    "a crooked spline": (
        one_pin().replace(
            '<Coordinate name="q"/>',
            coordinate("q", "<prescribed_function><SimmSpline><x>0 1</x><y>0</y></SimmSpline></prescribed_function>"),
        ),
        "as many x as y",
    ),
    "a formula that is none": (
        one_pin(
            forces='<ExpressionBasedCoordinateForce name="f"><coordinate>q</coordinate><expression>q +* 2</expression></ExpressionBasedCoordinateForce>'
        ),
        "f",
    ),
    "a missing part": (one_pin().replace("<JointSet>", '<JointSet file="joints.xml">'), "'joints.xml', which is not there"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_that_cannot_be_is_an_error_with_its_line(load, what):
    text, told = WRONG[what]
    with pytest.raises(mb.ModelError) as caught:
        load(text)
    assert told in str(caught.value)
    assert re.search(r"case\.osim(:\d+)?: ", str(caught.value))


def test_a_missing_file_is_an_oserror():
    with pytest.raises(OSError, match="nowhere"):
        mb.load_osim("nowhere.osim")


def test_bytes_that_are_not_utf8_are_read(load):
    text = one_pin().replace("<gravity>", "<credits>Müller – a hip</credits><gravity>").encode("cp1252")
    assert load(text).data["credits"] == "Müller – a hip"


def test_parts_in_other_files_and_defaults(load, tmp_path):
    text = one_pin()
    start, end = text.index("<JointSet>"), text.index("</JointSet>") + len("</JointSet>")
    (tmp_path / "joints.xml").write_text(f'<OpenSimDocument Version="40000">{text[start:end]}</OpenSimDocument>')
    text = text[:start] + '<JointSet file="joints.xml"/>' + text[end:]
    text = text.replace(
        "</Model>", '<defaults><Coordinate name="default"><default_value>0.25</default_value></Coordinate></defaults></Model>'
    )
    assert load(text).default_state().q[0] == 0.25


def test_of_two_defaults_of_a_kind_the_first_counts(load):
    """As in OpenSim 4.6, whatever their names; those within a set count for nothing."""
    usual = "<Coordinate name='{}'><default_value>{}</default_value></Coordinate>"
    two = "<defaults>" + usual.format("other", 0.25) + usual.format("default", 0.5) + "</defaults>"
    within = "<JointSet><defaults>" + usual.format("default", 0.75) + "</defaults>"
    assert load(one_pin().replace("</Model>", two + "</Model>").replace("<JointSet>", within)).default_state().q[0] == 0.25
    assert load(one_pin().replace("<JointSet>", within)).default_state().q[0] == 0.0


LOADS = """<?xml version="1.0"?><OpenSimDocument Version="40000"><ExternalLoads name="loads"><objects>
<ExternalForce name="plate"><applied_to_body>{body}</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>
<point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f_v</force_identifier>
<point_identifier>f_p</point_identifier></ExternalForce></objects><datafile>plate.sto</datafile></ExternalLoads></OpenSimDocument>"""


def test_external_loads_act(load, tmp_path):
    rows = "".join(f"{t}\t{3 * t}\t2\t0\t0.5\t0\t0.1\n" for t in (0.0, 0.25, 0.5, 0.75, 1.0))
    head = "plate\nversion=1\nnRows=5\nnColumns=7\ninDegrees=no\nendheader\ntime\tf_vx\tf_vy\tf_vz\tf_px\tf_py\tf_pz\n"
    (tmp_path / "plate.sto").write_text(head + rows)
    (tmp_path / "loads.xml").write_text(LOADS.format(body="b"))
    loaded = load(one_pin(), external_loads=tmp_path / "loads.xml")
    (plate,) = loaded.data["external loads"]
    state = loaded.default_state()
    state.time = 0.6
    loaded.system.realize(state, mb.Stage.VELOCITY)
    body_forces = plate.calc_force_contribution(state)[0]
    force, arm = (
        np.array([1.8, 2.0, 0.0]),
        np.array([0.5, 0.0, 0.1]) - np.asarray(loaded.bodies["b"].get_body_transform(state).p),
    )
    np.testing.assert_allclose(body_forces[1], [np.cross(arm, force), force], atol=1e-12)
    np.testing.assert_allclose(plate.calc_push(state), [(0.5, 0.0, 0.1), force], atol=1e-12)  # what pictures show
    motion = mb.simulate(loaded.system, state, 0.7)
    (arrow,) = calc_contact_arrows(motion, np.array([0.6]), 1.0, 0.1)
    np.testing.assert_allclose(arrow, [[(0.5, 0.0, 0.1), np.add((0.5, 0.0, 0.1), 0.1 * force)]], atol=1e-9)
    (tmp_path / "loads.xml").write_text(LOADS.format(body="nobody"))
    with pytest.raises(mb.ModelError, match=r"loads.xml.*'plate' names the body 'nobody'"):
        load(one_pin(), external_loads=tmp_path / "loads.xml")


def test_external_loads_among_the_components_act(load, tmp_path):
    """Where OpenSim simulates them; in a ForceSet it refuses them."""
    loads = LOADS.format(body="b").split('"40000">')[1].removesuffix("</OpenSimDocument>")
    text = one_pin().replace("</Model>", f"<components>{loads}</components></Model>")
    lost = load(text)
    assert not lost.data.get("external loads")
    assert any("ExternalLoads 'loads' is left out: its file of data" in line and "plate.sto" in line for line in lost.report)
    rows = "".join(f"{t}\t{3 * t}\t2\t0\t0.5\t0\t0.1\n" for t in (0.0, 0.25, 0.5, 0.75, 1.0))
    head = "plate\nversion=1\nnRows=5\nnColumns=7\ninDegrees=no\nendheader\ntime\tf_vx\tf_vy\tf_vz\tf_px\tf_py\tf_pz\n"
    (tmp_path / "plate.sto").write_text(head + rows)
    loaded = load(text)
    assert not any("ExternalLoads" in line or "components" in line for line in loaded.report)
    (plate,) = loaded.data["external loads"]
    state = loaded.default_state()
    state.time = 0.6
    loaded.system.realize(state, mb.Stage.VELOCITY)
    np.testing.assert_allclose(plate.calc_force_contribution(state)[0][1, 1], [1.8, 2.0, 0.0], atol=1e-12)


# ---------------------------------------------------------------------------------------------- old formats


def test_axes_of_the_oldest_format(load):
    """Before 1.9.1 a CustomJoint had a set of axes, which need not be all."""
    old = """<?xml version="1.0"?><OpenSimDocument Version="10900"><Model name="m"><BodySet><objects>
<Body name="ground"><mass>0</mass></Body><Body name="b"><mass>1</mass><inertia_xx>0.1</inertia_xx><inertia_yy>0.1</inertia_yy>
<inertia_zz>0.1</inertia_zz><Joint><CustomJoint name="j"><parent_body>ground</parent_body><TransformAxisSet><objects>
<TransformAxis name="r"><is_rotation>true</is_rotation><coordinate>turn</coordinate><axis>0 1 0</axis>
<function><LinearFunction><coefficients>1 0</coefficients></LinearFunction></function></TransformAxis>
<TransformAxis name="t"><is_rotation>false</is_rotation><coordinate>slide</coordinate><axis>0 0 1</axis>
<function><LinearFunction><coefficients>1 0</coefficients></LinearFunction></function></TransformAxis>
</objects></TransformAxisSet><CoordinateSet><objects><Coordinate name="slide"/><Coordinate name="turn"/></objects></CoordinateSet>
</CustomJoint></Joint></Body></objects></BodySet></Model></OpenSimDocument>"""
    loaded = load(old)
    assert list(loaded.coordinates) == ["turn", "slide"]
    state = loaded.default_state()
    state.q = [0.5 * np.pi, 0.7]
    loaded.system.realize(state, mb.Stage.POSITION)
    X = loaded.bodies["b"].get_body_transform(state)
    np.testing.assert_allclose(X.p, [0, 0, 0.7], atol=1e-15)
    np.testing.assert_allclose(X.R @ (1, 0, 0), [0, 0, -1], atol=1e-15)


# ---------------------------------------------------------------------------------------------- as a whole


def test_the_bundled_leg_keeps_its_energy():
    leg = mb.load(pathlib.Path(mb.__file__).parent / "examples" / "leg6dof9musc.osim", muscles="data")
    assert len(leg.data["muscles"]) == 9 and not leg.actuators and not leg.muscles
    state = leg.default_state()
    u = state.u.copy()
    u[leg.speeds["knee_angle_r"]] = 2.0
    state.u = u
    run = mb.simulate(leg.system, state, 0.2, accuracy=1e-8)
    assert np.ptp(run.energy) < 1e-5 * abs(run.energy[0])


def test_systems_are_pickled(load):
    loaded = load(CASES["forces"])
    again = pickle.loads(pickle.dumps(loaded.system))
    assert again.matter.bodies["c"].name == "c"


def test_limits_store_what_pushes_back(load):
    """Within the transition and beyond it, at both ends: the force is minus the slope of the energy."""
    loaded = load(CASES["forces"])
    state = loaded.default_state()
    for name, coordinate, places in (
        ("limit", "b0", (-1.2, -0.3, 0.1, 0.5, 0.9)),
        ("limit_tx", "a4", (-1.5, -0.6, -0.2, 0.1, 0.9)),
    ):
        limit, k = loaded.data["forces"][name], loaded.coordinates[coordinate]

        def energy(x, limit=limit, k=k):
            q = np.array(state.q)
            q[k] = x
            state.q = q
            loaded.system.realize(state)
            return limit.calc_potential_energy_contribution(state)

        for x in places:
            slope = (8.0 * (energy(x + 1e-3) - energy(x - 1e-3)) - energy(x + 2e-3) + energy(x - 2e-3)) / 12e-3
            stored = energy(x)
            force = limit.calc_force_contribution(state)[2][loaded.speeds[coordinate]]
            assert force == pytest.approx(-slope, rel=1e-9, abs=1e-9)
            assert (stored > 0.0) == (force != 0.0)


@pytest.mark.long
def test_forces_of_ensembles(load):
    """The lanes of every force are compiled for this: many seconds."""
    loaded = load(CASES["forces"])
    state = loaded.default_state()
    state.q = np.linspace(-0.4, 0.5, len(state.q))
    loaded.system.realize(state)
    many = mb.Ensemble(loaded.system, 8, state=state)
    many.realize()
    np.testing.assert_allclose(many.u_dot, np.tile(state.u_dot, (8, 1)), rtol=1e-9, atol=1e-9)


FILES = os.environ.get("MOBOD_TEST_MODELS")


@pytest.mark.skipif(not FILES, reason="MOBOD_TEST_MODELS names no folder of models")
def test_public_models_load_and_move():
    files = sorted(pathlib.Path(FILES, "osim").rglob("*.osim"))
    assert files
    for path in files:
        loaded = mb.load_osim(path)
        state = loaded.default_state()
        loaded.system.realize(state, mb.Stage.VELOCITY)
        assert np.isfinite(loaded.matter.calc_m(state)).all(), path


def test_an_activation_follows_its_control(load):
    text = (
        "<ActivationCoordinateActuator name='motor'><coordinate>q</coordinate><optimal_force>30</optimal_force>"
        "<activation_time_constant>0.02</activation_time_constant><default_activation>0.25</default_activation>"
        "</ActivationCoordinateActuator>"
    )
    loaded = load(one_pin(forces=text), strict=True)
    state, motor = loaded.default_state(), loaded.actuators["motor"]
    loaded.system.realize(state)
    assert motor.calc_force(state) == pytest.approx(0.25 * 30)
    motor.set_control(state, 1.0)
    loaded.system.realize(state)
    assert state.z_dot == pytest.approx([(1.0 - 0.25) / 0.02])


def test_a_trajectory_has_the_files_names(load):
    text = model("ball", body("b"), joint("BallJoint", "hip", "ground", "b", ["flexion", "adduction", "rotation"]))
    loaded = load(text)
    run = mb.simulate(loaded.system, loaded.default_state(), 0.01)
    assert run.coordinate_names == run.speed_names == ("flexion", "adduction", "rotation")
    quaternions = loaded.system.realize_topology()
    assert mb.simulate(loaded.system, quaternions, 0.01).coordinate_names == tuple(f"hip[{k}]" for k in range(4))
