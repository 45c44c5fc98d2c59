"""Small OpenSim models, each of one subject, written as text in the format of today or an old one."""

# ruff: noqa: E501

BODY = """
<Body name="{name}"><mass>{mass}</mass><mass_center>{com}</mass_center><inertia>{inertia}</inertia></Body>"""
FRAME = """<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>
<translation>{p}</translation><orientation>{r}</orientation></PhysicalOffsetFrame>"""
DOCUMENT = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000">
<Model name="{name}">
<gravity>0.3 -9.80665 0.7</gravity>
<components>{components}</components>
<BodySet><objects>{bodies}</objects></BodySet>
<JointSet><objects>{joints}</objects></JointSet>
<ConstraintSet><objects>{constraints}</objects></ConstraintSet>
<ForceSet><objects>{forces}</objects></ForceSet>
<MarkerSet><objects>{markers}</objects></MarkerSet>
<ContactGeometrySet><objects>{shapes}</objects></ContactGeometrySet>
</Model>
</OpenSimDocument>
"""


def model(name, bodies, joints, constraints="", forces="", markers="", shapes="", components=""):
    """A document."""
    return DOCUMENT.format(**locals())


def body(name, mass=1.3, com="0.1 -0.2 0.05", inertia="0.11 0.12 0.13 0.01 -0.02 0.005"):
    """A body."""
    return BODY.format(**locals())


def path(name):
    """The path of a body."""
    return "/ground" if name == "ground" else f"/bodyset/{name}"


def joint(kind, name, parent, child, coordinates=(), inside="", at="0.1 0.2 -0.3", turned="0.3 -0.2 0.5", to="-0.1 0.05 0.2"):
    """A joint between frames that are offset from both bodies, with coordinates of these names."""
    listed = "".join(c if c.startswith("<") else f'<Coordinate name="{c}"/>' for c in coordinates)
    frames = FRAME.format(name=f"{parent}_offset", parent=path(parent), p=at, r=turned)
    frames += FRAME.format(name=f"{child}_offset", parent=path(child), p=to, r="-0.4 0.6 0.1")
    return f"""
<{kind} name="{name}">
<socket_parent_frame>{parent}_offset</socket_parent_frame><socket_child_frame>{child}_offset</socket_child_frame>
<coordinates>{listed}</coordinates><frames>{frames}</frames>{inside}
</{kind}>"""


def axis(name, coordinates, direction, function):
    """An axis of a CustomJoint."""
    return f"""<TransformAxis name="{name}"><coordinates>{coordinates}</coordinates><axis>{direction}</axis>{function}</TransformAxis>"""


LINE = '<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>'
SPLINE = """<SimmSpline name="function"><x>-1 -0.6 -0.1 0.4 0.9</x><y>0.02 -0.03 0.05 0.01 0.04</y></SimmSpline>"""
OLD_SPLINE = """<function><NaturalCubicSpline><x>-1 -0.6 -0.1 0.4 0.9</x><y>0.02 -0.03 0.05 0.01 0.04</y></NaturalCubicSpline></function>"""


def joints():
    """Every kind of joint that the wheel knows and does right, a chain."""
    kinds = [
        ("FreeJoint", 6, ""),
        ("PinJoint", 1, ""),
        ("SliderJoint", 1, ""),
        ("UniversalJoint", 2, ""),
        ("BallJoint", 3, ""),
        ("WeldJoint", 0, ""),
        ("GimbalJoint", 3, ""),
        ("PlanarJoint", 3, ""),
        ("EllipsoidJoint", 3, "<radii_x_y_z>0.2 0.3 0.4</radii_x_y_z>"),
        (
            "ScapulothoracicJoint",
            4,
            "<thoracic_ellipsoid_radii_x_y_z>0.1 0.2 0.15</thoracic_ellipsoid_radii_x_y_z>"
            "<scapula_winging_axis_origin>0.02 -0.03</scapula_winging_axis_origin>"
            "<scapula_winging_axis_direction>0.4</scapula_winging_axis_direction>",
        ),
    ]
    bodies, made, parent = "", "", "ground"
    for kind, count, inside in kinds:
        child = kind[:4].lower()
        bodies += body(child)
        # some coordinates without a name of their own in the file
        names = [f"{child}_{k}" for k in range(count)]
        made += joint(kind, kind, parent, child, names, inside)
        parent = child
    return model("joints", bodies, made, markers=MARKER.format(name="tip", body="/bodyset/scap", at="0.1 0.2 0.3"))


MARKER = '<Marker name="{name}"><socket_parent_frame>{body}</socket_parent_frame><location>{at}</location></Marker>'


def custom():
    """Spatial transforms: oblique axes, shared coordinates, every kind of function, one reversed by the tree."""
    first = [
        axis("rotation1", "bend", "0.6 0 0.8", LINE),
        axis("rotation2", "turn", "0 1 0.1", "<function/>"),
        axis("rotation3", "", "1 0 0", ""),
        axis("translation1", "bend", "1 0 0", SPLINE),
        axis(
            "translation2",
            "slide",
            "0.1 1 0",
            f'<MultiplierFunction name="function"><function>{SPLINE}</function><scale>3</scale></MultiplierFunction>',
        ),
        axis(
            "translation3",
            "bend",
            "0 0 1",
            "<function><PolynomialFunction><coefficients>0.2 -0.1 0.05</coefficients></PolynomialFunction></function>",
        ),
    ]
    second = [
        axis(
            "rotation1",
            "b",
            "1 0 0",
            "<function><LinearFunction><coefficients>-1 0.2</coefficients></LinearFunction></function>",
        ),
        axis("rotation2", "", "0 1 0", '<Constant name="function"><value>0</value></Constant>'),
        axis("rotation3", "a", "0 0 1", LINE),
        axis(
            "translation1",
            "a",
            "1 0 0",
            '<GCVSpline name="function"><half_order>3</half_order><error_variance>0</error_variance><x>-1 -0.5 0 0.5 1 1.5 2</x><y>0 0.1 0.05 0.2 0.1 0 0.1</y></GCVSpline>',
        ),
        axis(
            "translation2",
            "a",
            "0 1 0",
            '<PiecewiseLinearFunction name="function"><x>-1 0 1</x><y>0.1 0.2 0.05</y></PiecewiseLinearFunction>',
        ),
        axis(
            "translation3",
            "b",
            "0 0 1",
            '<Sine name="function"><amplitude>0.1</amplitude><omega>2</omega><phase>0.3</phase><offset>0.05</offset></Sine>',
        ),
    ]

    def of(axes):
        return f"<SpatialTransform>{''.join(axes)}</SpatialTransform>"

    bodies = body("one") + body("two") + body("three")
    coordinates = ['<Coordinate name="slide"><default_value>0.1</default_value></Coordinate>', "turn", "bend"]
    made = joint("CustomJoint", "first", "ground", "one", coordinates, of(first))
    made += joint("CustomJoint", "second", "two", "one", ["a", "b"], of(second))  # two hangs on one: reversed
    made += joint("PinJoint", "third", "three", "two", ["c"])
    return model("custom", bodies, made)


def frames():
    """Frames on frames, frames through points, a body without mass between two joints."""
    chain = FRAME.format(name="on_b", parent="/bodyset/b", p="0.1 0 0.2", r="0.1 0.2 0.3")
    chain += FRAME.format(name="on_that", parent="/on_b", p="0 0.3 0", r="-0.3 0 0.4")
    stations = "".join(
        f'<Station name="{n}"><socket_parent_frame>{f}</socket_parent_frame><location>{p}</location></Station>'
        for n, f, p in (
            ("pa", "/on_that", "0 0 0"),
            ("pb", "/bodyset/b", "0.4 0.1 0"),
            ("pc", "/on_b", "0 0.2 0.5"),
            ("po", "/on_b", "0 0 0.1"),
        )
    )
    through = """<StationDefinedFrame name="through"><ab_axis>-z</ab_axis><ab_x_ac_axis>+x</ab_x_ac_axis>
<socket_point_a>/pa</socket_point_a><socket_point_b>/pb</socket_point_b><socket_point_c>/pc</socket_point_c>
<socket_origin_point>/po</socket_origin_point></StationDefinedFrame>"""
    bodies = body("a", 0, "0 0 0", "0 0 0 0 0 0") + body("b") + body("c")
    made = joint("UniversalJoint", "hip", "ground", "a", ["h0", "h1"]) + joint("PinJoint", "turn", "a", "b", ["t"])
    made += """<PinJoint name="last"><socket_parent_frame>/bodyset/b</socket_parent_frame>
<socket_child_frame>/bodyset/c</socket_child_frame><coordinates><Coordinate name="l"/></coordinates></PinJoint>"""
    markers = MARKER.format(name="m", body="/through", at="0.1 0.2 0.3")
    return model("frames", bodies, made, markers=markers, components=chain + stations + through)


def loop():
    """A joint that closes a loop: it moves a copy of its child."""
    bodies = body("a") + body("b")
    made = joint("PinJoint", "j1", "ground", "a", ["q1"]) + joint("BallJoint", "j2", "a", "b", ["q2", "q3", "q4"])
    made += joint("UniversalJoint", "j3", "ground", "b", ["q5", "q6"])
    return model("loop", bodies, made)


def _constrained(name, constraints, components=""):
    bodies = body("a") + body("b") + body("c")
    made = joint("FreeJoint", "ja", "ground", "a", [f"a{k}" for k in range(6)])
    made += joint("GimbalJoint", "jb", "ground", "b", ["b0", "b1", "b2"]) + joint(
        "UniversalJoint", "jc", "b", "c", ["c0", "c1"]
    )
    return model(name, bodies, made, constraints, components=components)


def constraints():
    """Every kind of constraint that has equations of its own at first, one of them switched off."""
    two = "<socket_body_1>/bodyset/a</socket_body_1><socket_body_2>/bodyset/c</socket_body_2>"
    made = f"""
<ConstantDistanceConstraint name="distance">{two}<location_body_1>0.1 0 0.2</location_body_1>
<location_body_2>0 0.1 0</location_body_2><constant_distance>0.8</constant_distance></ConstantDistanceConstraint>
<PointConstraint name="off"><isEnforced>false</isEnforced>{two}</PointConstraint>
<PointOnLineConstraint name="line"><socket_line_body>/bodyset/b</socket_line_body>
<socket_follower_body>/bodyset/a</socket_follower_body><line_direction_vec>1 2 0.5</line_direction_vec>
<point_on_line>0.1 0.2 0</point_on_line><point_on_follower>0 0.1 -0.1</point_on_follower></PointOnLineConstraint>
<CoordinateCouplerConstraint name="curve"><coupled_coordinates_function>{SPLINE.replace(' name="function"', "")}
</coupled_coordinates_function><independent_coordinate_names>b0</independent_coordinate_names>
<dependent_coordinate_name>c1</dependent_coordinate_name><scale_factor>2.5</scale_factor></CoordinateCouplerConstraint>
<CoordinateCouplerConstraint name="sum"><coupled_coordinates_function><LinearFunction>
<coefficients>0.5 -0.3 0.1</coefficients></LinearFunction></coupled_coordinates_function><independent_coordinate_names>b0 b1</independent_coordinate_names>
<dependent_coordinate_name>c0</dependent_coordinate_name></CoordinateCouplerConstraint>"""
    return _constrained("constraints", made)


def points():
    """A point and a weld as constraints."""
    frames = FRAME.format(name="on_a", parent="/bodyset/a", p="0.1 0 0.2", r="0.1 0.2 0.3")
    made = """<WeldConstraint name="weld"><socket_frame1>/bodyset/c</socket_frame1><socket_frame2>/on_a</socket_frame2></WeldConstraint>
<PointConstraint name="point"><isEnforced>false</isEnforced><socket_body_1>/bodyset/b</socket_body_1>
<socket_body_2>/bodyset/a</socket_body_2><location_body_1>0.1 0.2 0.3</location_body_1></PointConstraint>"""
    return _constrained("points", made, frames)


def _path(*stops):
    listed = "".join(
        f'<PathPoint name="p{k}"><socket_parent_frame>{path(b)}</socket_parent_frame><location>{x}</location></PathPoint>'
        for k, (b, x) in enumerate(stops)
    )
    return f'<GeometryPath name="path"><PathPointSet><objects>{listed}</objects></PathPointSet></GeometryPath>'


def forces():
    """Every kind of force but contact; actuators with the effort that the test sets."""
    frames12 = "<socket_frame1>/on_a</socket_frame1><socket_frame2>/bodyset/b</socket_frame2>"
    made = f"""
<CoordinateLimitForce name="limit"><coordinate>b0</coordinate><upper_stiffness>20</upper_stiffness><upper_limit>10</upper_limit>
<lower_stiffness>15</lower_stiffness><lower_limit>-5</lower_limit><damping>0.4</damping><transition>30</transition></CoordinateLimitForce>
<CoordinateLimitForce name="limit_tx"><coordinate>a4</coordinate><upper_stiffness>200</upper_stiffness><upper_limit>-0.1</upper_limit>
<lower_stiffness>150</lower_stiffness><lower_limit>-0.3</lower_limit><damping>4</damping><transition>0.5</transition></CoordinateLimitForce>
<BushingForce name="bushing">{frames12}<rotational_stiffness>1 2 3</rotational_stiffness><translational_stiffness>4 5 6
</translational_stiffness><rotational_damping>0.1 0.2 0.3</rotational_damping><translational_damping>0.4 0.5 0.6
</translational_damping></BushingForce>
<ExpressionBasedBushingForce name="formula">{frames12}<Mx_expression>2*theta_x+theta_y^3</Mx_expression>
<Fy_expression>3*delta_y+sin(delta_x)*theta_z</Fy_expression><rotational_damping>0.1 0.2 0.3</rotational_damping>
<translational_damping>0.4 0.5 0.6</translational_damping></ExpressionBasedBushingForce>
<PathSpring name="band"><resting_length>0.2</resting_length><stiffness>30</stiffness><dissipation>0.3</dissipation>
{_path(("ground", "0.1 0 0"), ("a", "0.1 0.2 0"), ("b", "0 0 0.3"))}</PathSpring>
<Ligament name="ligament"><resting_length>0.5</resting_length><pcsa_force>11</pcsa_force>
{_path(("b", "0.1 0 0"), ("c", "0.1 0.2 0"), ("ground", "0.5 0.5 0.3"))}</Ligament>
<PointToPointSpring name="spring"><socket_body1>/on_a</socket_body1><socket_body2>/bodyset/c</socket_body2><point1>0.1 0 0</point1>
<point2>0 0.2 0</point2><stiffness>12</stiffness><rest_length>0.3</rest_length></PointToPointSpring>
<SpringGeneralizedForce name="knob"><coordinate>c0</coordinate><stiffness>3</stiffness><rest_length>0.2</rest_length>
<viscosity>0.7</viscosity></SpringGeneralizedForce>
<ExpressionBasedCoordinateForce name="coordinate"><coordinate>c1</coordinate><expression>-2*q^3 - 0.4*qdot*exp(-q)</expression>
</ExpressionBasedCoordinateForce>
<ExpressionBasedPointToPointForce name="pair"><body1>a</body1><body2>c</body2><point1>0 0.1 0</point1><point2>0.2 0 0</point2>
<expression>2*(d-0.1) + 0.5*ddot</expression></ExpressionBasedPointToPointForce>
<PrescribedForce name="wind"><socket_frame>/on_a</socket_frame><forceIsGlobal>false</forceIsGlobal><pointIsGlobal>false</pointIsGlobal>
<FunctionSet name="forceFunctions"><objects><Constant><value>2</value></Constant><LinearFunction><coefficients>3 1</coefficients>
</LinearFunction><Constant><value>-1</value></Constant></objects></FunctionSet><FunctionSet name="pointFunctions"><objects>
<Constant><value>0.1</value></Constant><Constant><value>0.2</value></Constant><Constant><value>0.3</value></Constant></objects>
</FunctionSet><FunctionSet name="torqueFunctions"><objects><Constant><value>1</value></Constant><Constant><value>0</value>
</Constant><Sine><amplitude>1</amplitude><omega>2</omega><phase>0.1</phase><offset>0.4</offset></Sine></objects></FunctionSet>
</PrescribedForce>
<PrescribedForce name="gust"><socket_frame>/bodyset/b</socket_frame><forceIsGlobal>true</forceIsGlobal>
<pointIsGlobal>true</pointIsGlobal><FunctionSet name="forceFunctions"><objects><Constant><value>2</value></Constant><Constant>
<value>1</value></Constant><Constant><value>-1</value></Constant></objects></FunctionSet><FunctionSet name="pointFunctions"><objects>
<Constant><value>0.5</value></Constant><Constant><value>0.2</value></Constant><Constant><value>0.3</value></Constant></objects>
</FunctionSet></PrescribedForce>
<BushingForce name="idle"><appliesForce>false</appliesForce>{frames12}<rotational_stiffness>1 2 3</rotational_stiffness></BushingForce>
<CoordinateActuator name="motor"><coordinate>b1</coordinate><optimal_force>5</optimal_force></CoordinateActuator>
<PointActuator name="thrust"><body>a</body><point>0.1 0.2 0</point><direction>1 1 0</direction></PointActuator>
<PointActuator name="push"><body>c</body><point>0.4 0.2 0</point><point_is_global>true</point_is_global>
<direction>0 1 1</direction><force_is_global>true</force_is_global></PointActuator>
<TorqueActuator name="torque"><bodyA>a</bodyA><bodyB>b</bodyB><torque_is_global>false</torque_is_global><axis>1 0 2</axis>
</TorqueActuator>
<PointToPointActuator name="strut"><bodyA>a</bodyA><bodyB>c</bodyB><pointA>0.1 0 0</pointA><pointB>0 0 0.2</pointB></PointToPointActuator>"""
    frames = FRAME.format(name="on_a", parent="/bodyset/a", p="0.1 0 0.2", r="0.1 0.2 0.3")
    bodies = body("a") + body("b") + body("c")
    joints = joint("FreeJoint", "ja", "ground", "a", [f"a{k}" for k in range(6)])
    joints += joint("GimbalJoint", "jb", "ground", "b", ["b0", "b1", "b2"]) + joint(
        "UniversalJoint", "jc", "b", "c", ["c0", "c1"]
    )
    return model("forces", bodies, joints, forces=made, components=frames)


def contact():
    """Spheres on half-spaces, by two laws."""
    shapes = """<ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><location>0 -0.1 0</location>
<orientation>0.1 0 -1.5707963267948966</orientation></ContactHalfSpace>
<ContactSphere name="ball"><socket_frame>/bodyset/a</socket_frame><location>0.1 0 0</location><radius>0.4</radius></ContactSphere>
<ContactSphere name="other"><socket_frame>/bodyset/a</socket_frame><location>-0.1 0 0.2</location><radius>0.5</radius></ContactSphere>"""
    made = """<HuntCrossleyForce name="old"><HuntCrossleyForce::ContactParametersSet name="contact_parameters"><objects>
<HuntCrossleyForce::ContactParameters><geometry>floor ball</geometry><stiffness>1e5</stiffness><dissipation>0.3</dissipation>
<static_friction>0.9</static_friction><dynamic_friction>0.7</dynamic_friction><viscous_friction>0.1</viscous_friction>
</HuntCrossleyForce::ContactParameters></objects></HuntCrossleyForce::ContactParametersSet>
<transition_velocity>0.2</transition_velocity></HuntCrossleyForce>
<SmoothSphereHalfSpaceForce name="smooth"><socket_sphere>/contactgeometryset/other</socket_sphere>
<socket_half_space>/contactgeometryset/floor</socket_half_space><stiffness>2e5</stiffness><dissipation>0.5</dissipation>
<static_friction>0.8</static_friction><dynamic_friction>0.6</dynamic_friction><viscous_friction>0.2</viscous_friction>
</SmoothSphereHalfSpaceForce>"""
    bodies, joints = body("a"), joint("FreeJoint", "ja", "ground", "a", [f"a{k}" for k in range(6)])
    return model("contact", bodies, joints, forces=made, shapes=shapes)


OLD_BODY = """<Body name="{name}"><mass>1.7</mass><mass_center>0.12345678901 -0.2 0.05</mass_center>
<inertia_xx>0.123456789</inertia_xx><inertia_yy>0.13</inertia_yy><inertia_zz>0.14</inertia_zz><inertia_xy>0.01</inertia_xy>
<inertia_xz>0</inertia_xz><inertia_yz>-0.01</inertia_yz><Joint>{joint}</Joint>
<VisibleObject><GeometrySet><objects><DisplayGeometry><geometry_file>nothing.vtp</geometry_file></DisplayGeometry></objects>
</GeometrySet><scale_factors>1 1 1</scale_factors></VisibleObject></Body>"""


def _old_joint(kind, name, parent, coordinates, inside="", reverse="false"):
    listed = "".join(
        f'<Coordinate name="{c}"><motion_type>rotational</motion_type><default_value>0.1</default_value><range>-1 1</range>'
        "<locked>false</locked></Coordinate>"
        for c in coordinates
    )
    return f"""<{kind} name="{name}"><parent_body>{parent}</parent_body><location_in_parent>0.1234567891 0.2 -0.3</location_in_parent>
<orientation_in_parent>0.1 0.2 0.3</orientation_in_parent><location>0.05 -0.1 0</location><orientation>0.3 0.1 0</orientation>
<CoordinateSet><objects>{listed}</objects></CoordinateSet><reverse>{reverse}</reverse>{inside}</{kind}>"""


def old(version):
    """A file of the formats before 3.5: joints in bodies, inertias number by number, bodies' names for frames."""
    axes = [
        axis(
            "rotation1",
            "flex",
            "0 0 1",
            "<function><LinearFunction><coefficients>1 0</coefficients></LinearFunction></function>",
        ),
        axis("rotation2", "", "1 0 0", "<function><Constant><value>0</value></Constant></function>"),
        axis("rotation3", "", "0 1 0", "<function><Constant><value>0.1</value></Constant></function>"),
        axis("translation1", "flex", "1 0 0", OLD_SPLINE),
        axis(
            "translation2",
            "flex",
            "0 1 0",
            f"<function><MultiplierFunction><scale>0.5</scale>{OLD_SPLINE}</MultiplierFunction></function>",
        ),
        axis("translation3", "", "0 0 1", "<function><Constant><value>0.2</value></Constant></function>"),
    ]
    one = OLD_BODY.format(name="the shank", joint=_old_joint("BallJoint", "hip", "ground", ["h0", "h1", "h2"]))
    spatial = f"<SpatialTransform>{''.join(axes)}</SpatialTransform>"
    two = OLD_BODY.format(name="foot", joint=_old_joint("CustomJoint", "knee", "the shank", ["flex"], spatial))
    three = OLD_BODY.format(name="toe", joint=_old_joint("PinJoint", "mtp", "foot", ["mtp"], reverse="true"))
    bodies = (one + two + three).replace("the shank", "shank")
    made = """<WeldConstraint name="weld"><isDisabled>true</isDisabled><body_1>foot</body_1><body_2>ground</body_2>
<location_body_1>0.1 0 0</location_body_1></WeldConstraint>"""
    forces = """<BushingForce name="bushing"><isDisabled>false</isDisabled><body_1>foot</body_1><body_2>toe</body_2>
<location_body_1>0.1 0 0</location_body_1><orientation_body_1>0.1 0.2 0</orientation_body_1><location_body_2>0 0 0.3</location_body_2>
<rotational_stiffness>1 2 3</rotational_stiffness><translational_stiffness>4 5 6</translational_stiffness>
<rotational_damping>0.1 0.2 0.3</rotational_damping><translational_damping>0.4 0.5 0.6</translational_damping></BushingForce>
<PointToPointSpring name="spring"><isDisabled>false</isDisabled><body1>shank</body1><body2>ground</body2><point1>0.1 0 0</point1>
<point2>0 0.2 0</point2><stiffness>12</stiffness><rest_length>0.3</rest_length></PointToPointSpring>"""
    return f"""<?xml version="1.0"?><OpenSimDocument Version="{version}"><Model name="old"><gravity>0 -9.80665 0</gravity>
<BodySet><objects><Body name="ground"><mass>0</mass></Body>{bodies}</objects></BodySet>
<ConstraintSet><objects>{made}</objects></ConstraintSet><ForceSet><objects>{forces}</objects></ForceSet>
<MarkerSet><objects><Marker name="heel"><body>foot</body><location>0.1 0.2 0.3</location></Marker></objects></MarkerSet>
</Model></OpenSimDocument>"""


CASES = {
    "joints": joints(),
    "custom": custom(),
    "frames": frames(),
    "loop": loop(),
    "constraints": constraints(),
    "points": points(),
    "forces": forces(),
    "contact": contact(),
    "old_20303": old(20303),
    "old_30000": old(30000),
}
#: What actuators apply.
EFFORTS = {"motor": 3.0, "thrust": 7.0, "push": -5.0, "torque": 2.0, "strut": 4.0}
