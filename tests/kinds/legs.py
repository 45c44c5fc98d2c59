"""An OpenSim leg of two bodies, and muscles of it over surfaces of all kinds."""

import numpy as np

AXES = "".join(
    f'<TransformAxis name="{kind}{k + 1}"><coordinates>{coordinate}</coordinates><axis>{axis}</axis>{function}</TransformAxis>'
    for kind, k, coordinate, axis, function in [
        ("rotation", 0, "knee", "0 0 1", '<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>'),
        ("rotation", 1, "", "0 1 0", '<Constant name="function"><value>0</value></Constant>'),
        ("rotation", 2, "", "1 0 0", '<Constant name="function"><value>0</value></Constant>'),
        ("translation", 0, "knee", "1 0 0", '<SimmSpline name="function"><x>-2 -1 0 1</x><y>0.01 0.02 0 0.01</y></SimmSpline>'),
        ("translation", 1, "", "0 1 0", '<Constant name="function"><value>-0.4</value></Constant>'),
        ("translation", 2, "", "0 0 1", '<Constant name="function"><value>0</value></Constant>'),
    ]
)
BODY = (
    '<Body name="{name}"><mass>{mass}</mass><mass_center>0.01 -0.2 0.02</mass_center>'
    "<inertia>0.1 0.02 0.11 0.001 -0.002 0.003</inertia></Body>"
)
JOINT = (
    "<socket_parent_frame>a{k}</socket_parent_frame><socket_child_frame>b{k}</socket_child_frame><coordinates>"
    '<Coordinate name="{q}"><default_value>{value}</default_value><range>-2 2</range></Coordinate></coordinates><frames>'
    '<PhysicalOffsetFrame name="a{k}"><socket_parent>{parent}</socket_parent><translation>{at}</translation>'
    "</PhysicalOffsetFrame>"
    '<PhysicalOffsetFrame name="b{k}"><socket_parent>{child}</socket_parent><translation>0.01 0 0.02</translation>'
    "</PhysicalOffsetFrame></frames>"
)
MARKERS = "".join(
    f'<Marker name="{body[0]}{k}"><socket_parent_frame>/bodyset/{body}</socket_parent_frame><location>{place}</location>'
    f"<fixed>{'true' if k == 3 else 'false'}</fixed></Marker>"
    for body in ("thigh", "shank")
    for k, place in enumerate(["0.05 -0.05 0", "-0.05 -0.35 0.05", "0.02 -0.2 -0.06", "0.03 -0.1 0.02"])
)
OSIM = (
    '<?xml version="1.0"?><OpenSimDocument Version="40600"><Model name="leg"><gravity>0 -9.81 0</gravity>'
    f"<BodySet><objects>{BODY.format(name='thigh', mass=8)}{BODY.format(name='shank', mass=4)}</objects></BodySet>"
    '<JointSet><objects><PinJoint name="hip">'
    + JOINT.format(k=1, q="hip", value=0.2, parent="/ground", child="/bodyset/thigh", at="0 1 0")
    + '</PinJoint><CustomJoint name="knee_joint">'
    + JOINT.format(k=2, q="knee", value=-0.3, parent="/bodyset/thigh", child="/bodyset/shank", at="0.02 -0.01 0.03")
    + f'<SpatialTransform name="x">{AXES}</SpatialTransform></CustomJoint></objects></JointSet>'
    f"<MarkerSet><objects>{MARKERS}</objects></MarkerSet></Model></OpenSimDocument>"
)

SURFACES = {
    "WrapCylinder": "<radius>0.06</radius><length>0.4</length>",
    "WrapSphere": "<radius>0.07</radius>",
    "WrapEllipsoid": "<dimensions>0.05 0.08 0.06</dimensions>",
    "WrapTorus": "<inner_radius>0.02</inner_radius><outer_radius>0.07</outer_radius>",
}
#: Which surfaces a path takes, their quadrants, and by what method.
WAYS = {
    "cylinder": [("WrapCylinder", "all", "hybrid")],
    "half_cylinder": [("WrapCylinder", "-y", "hybrid")],
    "other_half": [("WrapCylinder", "x", "hybrid")],
    **{f"side{k}": [("WrapCylinder", side, "hybrid")] for k, side in enumerate(("+x", "-x", "+y", "-x", "+x"))},
    "sphere": [("WrapSphere", "all", "hybrid")],
    "half_sphere": [("WrapSphere", "y", "hybrid")],
    "ellipsoid": [("WrapEllipsoid", "all", "hybrid")],
    "half_ellipsoid": [("WrapEllipsoid", "-x", "hybrid")],
    "axial": [("WrapEllipsoid", "all", "axial")],
    "midpoint": [("WrapEllipsoid", "all", "midpoint")],
    "torus": [("WrapTorus", "all", "hybrid")],
    "half_torus": [("WrapTorus", "y", "hybrid")],
    "two": [("WrapCylinder", "-y", "hybrid"), ("WrapSphere", "all", "hybrid")],
    "three": [("WrapSphere", "all", "hybrid"), ("WrapCylinder", "all", "hybrid"), ("WrapEllipsoid", "all", "hybrid")],
}


#: Of points with which each path wraps in some pose.
SEED = 2


def wrapped(rng, ways=WAYS):
    """The leg with muscles from its thigh to its shank, over surfaces between."""
    muscles, on = "", {"thigh": "", "shank": ""}
    for name, own in ways.items():
        taken = ""
        for k, (kind, quadrant, method) in enumerate(own):
            at = rng.normal(scale=0.01, size=3) + ([0.0, -0.2, 0.0] if k else [0.02, -0.35, 0.02])
            on["shank" if k else "thigh"] += (
                f'<{kind} name="{name}{k}"><translation>{" ".join(map(repr, at.tolist()))}</translation><xyz_body_rotation>'
                f"0.2 {0.3 + 0.1 * k} -0.4</xyz_body_rotation><quadrant>{quadrant}</quadrant>{SURFACES[kind]}</{kind}>"
            )
            taken += f'<PathWrap name="w{k}"><wrap_object>{name}{k}</wrap_object><method>{method}</method></PathWrap>'
        points = "".join(
            f'<PathPoint name="{name}_{body}"><socket_parent_frame>/bodyset/{body}</socket_parent_frame><location>'
            f"{' '.join(map(repr, (place + rng.normal(scale=0.01, size=3)).tolist()))}</location></PathPoint>"
            for body, place in (("thigh", np.array([-0.1, -0.1, 0.03])), ("shank", np.array([0.1, -0.3, 0.05])))
        )
        muscles += (
            f'<Thelen2003Muscle name="{name}"><path><GeometryPath><PathPointSet><objects>{points}</objects></PathPointSet>'
            f"<PathWrapSet><objects>{taken}</objects></PathWrapSet></GeometryPath></path>"
            "<optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.2</tendon_slack_length></Thelen2003Muscle>"
        )
    text = OSIM.replace("</Model>", f"<ForceSet><objects>{muscles}</objects></ForceSet></Model>")
    for body, surfaces in on.items():
        start = f'<Body name="{body}">'
        text = text.replace(start, f"{start}<WrapObjectSet><objects>{surfaces}</objects></WrapObjectSet>")
    return text
