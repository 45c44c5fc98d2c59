"""Records of the kinds of constraints, by which tests go."""

import dataclasses
from collections.abc import Callable

import numpy as np

import mobod as mb
from kinds import Records
from mobod import constraint as con, function as fn

#: For `Constraint.reference`.
SIMBODY = "cases of Simbody's"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Constraint:
    """The record of a kind of constraint.

    Parameters
    ----------
    kind : type
        The class.
    of_bodies : dict
        By a name for each way in which it can be: ``build(make, a, b, base)`` makes one between two bodies on a third, with
        random stations, axes and frames. Empty for kinds of coordinates.
    of_coordinates : list
        ``build(model, function)`` makes one in a `Tree`, a function passed through `function` where it has one. All are in one
        tree at once: take coordinates that no other has. Empty for kinds of bodies.
    parameters : dict
        Other values for what it has a ``set_<name>(state, value)`` and a ``set_default_<name>(value)`` of.
    defaults : dict
        Other values for what it has only a ``set_default_<name>(value)`` of.
    display_sizes : tuple
        What pictures show of it, ``set_<name>(size)``.
    hides : bool
        Whether it is not drawn at all where these are zero.
    force_on_second : callable or None
        ``(constraint, state, bodies)``: what it says itself of the torque and the force on its second body, in Ground, None for
        either of which it says nothing; None where it says nothing at all.
    acceleration_is_of_errors : bool
        Whether its acceleration errors are the rates of its velocity errors; False where they are those of material points.
    reachable : callable or None
        ``build(bodies)``, on Ground and a chain of three bodies on a Ball, a Pin and a Ball: one that some poses fulfil,
        which assembling has to find. None where it says nothing of positions.
    reference : str
        `SIMBODY`, or where the truth of its tests comes from instead.
    """

    kind: type
    of_bodies: dict
    of_coordinates: list
    parameters: dict
    defaults: dict
    display_sizes: tuple
    hides: bool
    force_on_second: Callable | None
    acceleration_is_of_errors: bool
    reachable: Callable | None
    reference: str


def in_ground(body, state, vector):
    return body.express_vector_in_ground_frame(state, vector)


def no_slip_force(constraint, state, bodies):
    case = bodies[constraint.get_case_mobilized_body_index()]
    direction = in_ground(case, state, constraint.get_direction(state))
    return None, constraint.get_force_at_contact_point(state) * direction


def rod_force(constraint, state, bodies):
    return None, -constraint.get_rod_tension(state) * constraint.find_rod_orientation_in_g(state)


def angle_torque(constraint, state, bodies):
    base = in_ground(bodies[2], state, constraint.get_base_axis(state))
    follower = in_ground(bodies[3], state, constraint.get_follower_axis(state))
    return constraint.get_torque_on_follower_body(state) * np.cross(follower, base), np.zeros(3)


def orientation_torque(constraint, state, bodies):
    return in_ground(bodies[3], state, constraint.get_torque_on_follower_body(state)), np.zeros(3)


def weld_wrench(constraint, state, bodies):
    return tuple(in_ground(bodies[3], state, part) for part in constraint.get_weld_reaction_on_body2(state))


def in_plane_force(constraint, state, bodies):
    normal = in_ground(bodies[2], state, constraint.get_plane_normal(state))
    return None, constraint.get_force_on_follower_point(state) * normal


def on_plane_force(constraint, state, bodies):
    force = constraint.get_plane_frame(state).R @ constraint.get_force_on_follower_point(state)
    return None, in_ground(bodies[2], state, force)


MOVED, OTHER = mb.Transform((1, 2, 3)), mb.Transform((3, 2, 1))
ORIGIN = (0, 0, 0)

CONSTRAINTS = Records(
    "constraint",
    Constraint(
        kind=con.Rod,
        of_bodies={"": lambda make, a, b, base: con.Rod(a, make.vector(), b, make.vector(), 1.1)},
        of_coordinates=[],
        parameters={"station1": (1, 2, 3), "station2": (0.1, 0.2, 0.3), "length": 2.5},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=rod_force,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.Rod(b[1], (0.2, 0, 0), b[3], ORIGIN, 0.9),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.Ball,
        of_bodies={"": lambda make, a, b, base: con.Ball(a, make.vector(), b, make.vector())},
        of_coordinates=[],
        parameters={"station1": (1, 2, 3), "station2": (0.1, 0.2, 0.3)},
        defaults={},
        display_sizes=("default_radius",),
        hides=True,
        force_on_second=lambda c, state, bodies: (None, in_ground(bodies[3], state, c.get_ball_reaction_force_on_body2(state))),
        acceleration_is_of_errors=True,
        reachable=lambda b: con.Ball(b[0], (0.5, -1.0, 0.4), b[3], ORIGIN),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.Weld,
        of_bodies={"": lambda make, a, b, base: con.Weld(a, make.frame(), b, make.frame())},
        of_coordinates=[],
        parameters={"frame1": MOVED, "frame2": OTHER},
        defaults={},
        display_sizes=("axis_display_length",),
        hides=True,
        force_on_second=weld_wrench,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.Weld(b[0], mb.Transform((0.7, -2.0, 0.3)), b[3], mb.Transform()),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.PointInPlane,
        of_bodies={"": lambda make, a, b, base: con.PointInPlane(a, make.unit_vector(), 0.3, b, make.vector())},
        of_coordinates=[],
        parameters={"plane_normal": (0, 0.6, 0.8), "plane_height": -2.0, "follower_station": (1, 2, 3)},
        defaults={},
        display_sizes=("plane_display_half_width", "point_display_radius"),
        hides=True,
        force_on_second=in_plane_force,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.PointInPlane(b[0], (0, 1, 0), -1.2, b[3], (0, 0, 0.1)),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.PointOnLine,
        of_bodies={"": lambda make, a, b, base: con.PointOnLine(a, make.unit_vector(), make.vector(), b, make.vector())},
        of_coordinates=[],
        parameters={"line_direction": (0, 0.6, 0.8), "point_on_line": (3, 2, 1), "follower_station": (1, 2, 3)},
        defaults={},
        display_sizes=("line_display_half_length", "point_display_radius"),
        hides=True,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.PointOnLine(b[0], (1, 0, 0), (0, -1.1, 0.3), b[3], ORIGIN),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.ConstantAngle,
        of_bodies={"": lambda make, a, b, base: con.ConstantAngle(a, make.unit_vector(), b, make.unit_vector(), 1.2)},
        of_coordinates=[],
        parameters={"base_axis": (0, 0.6, 0.8), "follower_axis": (0.6, 0.8, 0), "angle": 0.5},
        defaults={},
        display_sizes=("axis_display_length", "axis_display_width"),
        hides=True,
        force_on_second=angle_torque,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.ConstantAngle(b[0], (0, 1, 0), b[3], (0, 0, 1), 0.6),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.ConstantOrientation,
        of_bodies={"": lambda make, a, b, base: con.ConstantOrientation(a, make.rotation(), b, make.rotation())},
        of_coordinates=[],
        parameters={"base_rotation": mb.Rotation.about_axis(0.3, "x"), "follower_rotation": mb.Rotation()},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=lambda c, state, bodies: (
            in_ground(bodies[3], state, c.get_torque_on_follower_body(state)),
            np.zeros(3),
        ),
        acceleration_is_of_errors=True,
        reachable=lambda b: con.ConstantOrientation(b[0], mb.Rotation.about_axis(0.3, "x"), b[3], mb.Rotation()),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.NoSlip1D,
        of_bodies={
            "": lambda make, a, b, base: con.NoSlip1D(base, make.vector(), make.unit_vector(), a, b),
            "own_case": lambda make, a, b, base: con.NoSlip1D(b, make.vector(), make.unit_vector(), a, b),
        },
        of_coordinates=[],
        parameters={"contact_point": (1, 2, 3), "direction": (0, 0.6, 0.8)},
        defaults={},
        display_sizes=("direction_display_length", "point_display_radius"),
        hides=True,
        force_on_second=no_slip_force,
        acceleration_is_of_errors=False,
        reachable=None,
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.PointOnPlaneContact,
        of_bodies={"": lambda make, a, b, base: con.PointOnPlaneContact(a, make.frame(), b, make.vector())},
        of_coordinates=[],
        parameters={"plane_frame": MOVED, "follower_station": (1, 2, 3)},
        defaults={},
        display_sizes=("plane_display_half_width", "point_display_radius"),
        hides=True,
        force_on_second=on_plane_force,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.PointOnPlaneContact(b[0], mb.Transform((0, 0, -1.2)), b[3], (0, 0, 0.1)),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.SphereOnPlaneContact,
        of_bodies={
            "": lambda make, a, b, base: con.SphereOnPlaneContact(a, make.frame(), b, make.vector(), 0.4, False),
            "rolling": lambda make, a, b, base: con.SphereOnPlaneContact(a, make.frame(), b, make.vector(), 0.4, True),
        },
        of_coordinates=[],
        parameters={"plane_frame": MOVED, "sphere_center": (1, 2, 3), "radius": 0.7},
        defaults={},
        display_sizes=("plane_display_half_width",),
        hides=False,  # the sphere is drawn in any case
        force_on_second=lambda c, state, bodies: (None, c.find_force_on_sphere_in_g(state)),
        acceleration_is_of_errors=True,
        reachable=lambda b: con.SphereOnPlaneContact(b[0], mb.Transform((0, 0, -1.2)), b[3], (0, 0, 0.1), 0.3, False),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.SphereOnSphereContact,
        of_bodies={
            "": lambda make, a, b, base: con.SphereOnSphereContact(a, make.vector(), 0.4, b, make.vector(), 0.6, False),
            "rolling": lambda make, a, b, base: con.SphereOnSphereContact(a, make.vector(), 0.4, b, make.vector(), 0.6, True),
        },
        of_coordinates=[],
        parameters={"center1": (1, 2, 3), "radius1": 0.7, "center2": (3, 2, 1), "radius2": 0.9},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=lambda c, state, bodies: (None, c.find_force_on_sphere_b_in_g(state)),
        acceleration_is_of_errors=True,
        reachable=lambda b: con.SphereOnSphereContact(b[0], (0.5, -1.0, 0.4), 0.4, b[3], ORIGIN, 0.6, False),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.LineOnLineContact,
        of_bodies={
            "": lambda make, a, b, base: con.LineOnLineContact(a, make.frame(), 0.4, b, make.frame(), 0.6, False),
            "rolling": lambda make, a, b, base: con.LineOnLineContact(a, make.frame(), 0.4, b, make.frame(), 0.6, True),
        },
        of_coordinates=[],
        parameters={"frame1": MOVED, "half_length1": 0.7, "frame2": OTHER, "half_length2": 0.9},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=lambda c, state, bodies: (None, c.find_force_on_body_b_in_g(state)),
        acceleration_is_of_errors=True,
        reachable=lambda b: con.LineOnLineContact(b[0], mb.Transform((0.5, -1.0, 0.4)), 1.0, b[3], mb.Transform(), 1.0, False),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.CoordinateCoupler,
        of_bodies={},
        of_coordinates=[
            lambda t, function: con.CoordinateCoupler(
                t.matter, function(fn.Linear([1.0, 0.7, -0.4, 0.3, 0.1])), [t.a, t.b, t.c, t.a], [0, 2, 1, 0]
            ),
            lambda t, function: con.CoordinateCoupler(t.matter, function(fn.Sinusoid(0.7, 1.1, 0.1)), [t.b], [1]),
        ],
        parameters={},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.CoordinateCoupler(b[1].matter, fn.Linear([1.0, -0.5, 0.1]), [b[2], b[3]], [0, 1]),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.PrescribedMotion,
        of_bodies={},
        of_coordinates=[lambda t, function: con.PrescribedMotion(t.matter, function(fn.Sinusoid(0.4, 1.3, 0.2)), t.d, 1)],
        parameters={},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.PrescribedMotion(b[1].matter, fn.Sinusoid(0.4, 1.3, 0.2), b[2], 0),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.ConstantCoordinate,
        of_bodies={},
        of_coordinates=[lambda t, function: con.ConstantCoordinate(t.c, 0, 0.3)],
        parameters={"position": 0.7, "value": 0.8},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=lambda b: con.ConstantCoordinate(b[2], 0, 0.4),
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.SpeedCoupler,
        of_bodies={},
        of_coordinates=[
            lambda t, function: con.SpeedCoupler(
                t.matter, function(fn.Linear([0.5, -1.0, 0.3, 0.2])), [t.b, t.d], [1, 3], [t.d], [2]
            )
        ],
        parameters={},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=None,
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.PrescribedVelocity,
        of_bodies={},
        of_coordinates=[lambda t, function: con.PrescribedVelocity(t.matter, function(fn.Sinusoid(0.4, 1.3, 0.2)), t.d, 5)],
        parameters={},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=None,
        reference="a SpeedCoupler's and differences: Simbody 3.7 has no such kind",
    ),
    Constraint(
        kind=con.ConstantSpeed,
        of_bodies={},
        of_coordinates=[lambda t, function: con.ConstantSpeed(t.d, 4, 0.2)],
        parameters={"speed": 0.7, "value": 0.8},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=None,
        reference=SIMBODY,
    ),
    Constraint(
        kind=con.ConstantAcceleration,
        of_bodies={},
        of_coordinates=[lambda t, function: con.ConstantAcceleration(t.b, 0, 0.7)],
        parameters={"acceleration": 0.9, "value": 0.8},
        defaults={},
        display_sizes=(),
        hides=False,
        force_on_second=None,
        acceleration_is_of_errors=True,
        reachable=None,
        reference=SIMBODY,
    ),
)

#: By name: the record of a kind of bodies, and how to build it in one of its ways.
OF_BODIES = {
    record.kind.__name__ + (way and f"_{way}"): (record, build)
    for record in CONSTRAINTS.values()
    for way, build in record.of_bodies.items()
}


class Pair:
    """Two bodies on a third that moves, a constraint between these two, and something that hangs on one of them."""

    def __init__(self, make, name, copies=1):
        self.make, (self.record, self.build) = make, OF_BODIES[name]
        self.system = mb.MultibodySystem()
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.gravity = mb.force.Gravity(mb.GeneralForceSubsystem(self.system), self.matter, make.vector(size=9.0))
        self.constraints = []
        drawn = make.rng.bit_generator.state
        for _ in range(copies):
            make.rng.bit_generator.state = drawn  # every copy is alike
            base = make.mobilized_body(mb.mobilizer.Universal, self.matter.ground)
            left = make.mobilized_body(mb.mobilizer.Free, base)
            right = make.mobilized_body(mb.mobilizer.Bushing, base)
            make.mobilized_body(mb.mobilizer.Pin, left)
            self.constraints.append(self.build(make, left, right, base))
        self.constraint = self.constraints[0]
        self.state = self.system.realize_topology()

    def randomize(self, state=None):
        """Random q and u, off the manifold."""
        state = self.state if state is None else state
        q = self.make.rng.uniform(-0.8, 0.8, len(state.q))
        state.q, state.u = q, self.make.rng.uniform(-1.0, 1.0, len(state.u))
        self.system.normalize_quaternions(state)
        self.system.realize(state)
        return state

    def randomize_independent(self):
        """A random state far from where constraints depend on each other, near which differences have no digits left."""
        while True:
            state = self.randomize()
            G = self.matter.calc_g(state)
            if np.linalg.cond(G @ self.matter.calc_m_inv(state) @ G.T) < 1e3:
                return state

    def assemble(self, state=None):
        """From random q and u to where the constraint holds; another draw where that is out of reach."""
        state = self.state if state is None else state
        for _ in range(50):
            self.randomize(state)
            try:
                self.system.project(state, 1e-12)
            except mb.ConvergenceError:
                continue
            self.system.realize(state)
            return state
        raise AssertionError("cannot be assembled")


def link():
    return mb.body.Rigid(mb.MassProperties(1.2, (0.1, -0.5, 0.2), mb.UnitInertia(1.3, 1.2, 1.5)))


class Tree:
    """A branching tree with all constraints of coordinates, of built-in functions or of the same as a user's."""

    def __init__(self, users_functions=False):
        self.system = mb.MultibodySystem()
        self.matter = matter = mb.SimbodyMatterSubsystem(self.system)
        mb.force.Gravity(mb.GeneralForceSubsystem(self.system), matter, (0.0, -9.8, 0.3))
        arm = mb.Transform((0, -1, 0))
        self.a = mb.mobilizer.Pin(matter.ground, link(), name="a")
        self.b = mb.mobilizer.Ball(self.a, link(), X_PF=arm, name="b")
        self.c = mb.mobilizer.Universal(self.b, link(), X_PF=arm, name="c")
        self.d = mb.mobilizer.Free(matter.ground, link(), name="d")

        def function(f):
            if not users_functions:
                return f
            return fn.Custom(f.calc_value, f.get_argument_size(), lambda components, x: f.calc_derivative(components, x))

        made = [build(self, function) for record in CONSTRAINTS.values() for build in record.of_coordinates]
        self.num_p = sum(CONSTRAINTS[type(one)].reachable is not None for one in made)

    def state(self, euler, q, u):
        """A state at these q, the quaternions among them normalized, and u."""
        state = self.system.realize_topology()
        if euler:
            state = self.matter.convert_to_euler_angles(state)
        state.time, state.q, state.u = 0.3, q[: len(state.q)], u
        self.system.normalize_quaternions(state)
        self.system.realize(state)
        return state

    def randomize(self, make):
        """A new state, at random."""
        return self.state(False, make.vector(14), make.vector(12))
