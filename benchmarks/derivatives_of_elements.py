"""Measure what each kind of element adds to derivatives of forward dynamics: beside the bare model, alone and in an `Ensemble`.

A floating Unitree G1 with damped joints, and one addition: times of `calc_forward_dynamics_derivatives` at a new q and u are
multiples of the bare model's, in turns within one run, from the least of each, by the processor's time of one thread. What an
addition may cost is 1.3 times the bare model and three evaluations of it in lanes, which is what it adds to eight states that
an `Ensemble` realizes, or as many as there are speeds of what it adds to one state where it is in Python; the model that is
full of everything, 30 springs, 12 dampers, 8 contacts and 3 loops, may cost 4 times. ``--rows REGEX`` chooses.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np

from .cliffs import Bare, humanoid
from .measure import QUICK, THOROUGH, time_calls
from .peers.mobod import _import
from .report import Target, print_table, run_as_script

#: Of the bare model's time; evaluations in lanes beside, of parts in Python one a speed; and of the full model.
LIMIT, EVALUATIONS, SPEEDS, OF_EVERYTHING = 1.3, 3, 35, 4.0
STATES = 128
EVERYTHING = "everything"


def _bodies(bare: Bare) -> list[Any]:
    return list(bare.system.matter.bodies)[1:]


def _pairs(bare: Bare, n: int, seed: int) -> list[tuple[Any, Any]]:
    rng, bodies = np.random.default_rng(seed), _bodies(bare)
    return [tuple(bodies[i] for i in rng.choice(len(bodies), 2, replace=False)) for _ in range(n)]


def _springs(mb: Any, bare: Bare, n: int) -> None:
    for one, other in _pairs(bare, n, 1):
        mb.force.TwoPointLinearSpring(bare.forces, one, (0, 0, 0), other, (0, 0.1, 0), 10.0, 0.1)


def _contacts(mb: Any, bare: Bare, height: float, n: int) -> None:
    rubber = mb.contact.Material(1e5, 0.5, static_friction=0.9)
    floor = mb.Transform(mb.Rotation(), (0, 0, height))
    surfaces = [(bare.system.matter.ground, mb.contact.Surface(mb.contact.HalfSpace(), rubber), floor)]
    ball = mb.contact.Surface(mb.contact.Sphere(0.1), rubber)
    mb.force.HuntCrossley(bare.forces, [*surfaces, *((_bodies(bare)[-1 - 3 * k], ball) for k in range(n))])


def _bushings(mb: Any, bare: Bare, n: int) -> None:
    for one, other in _pairs(bare, n, 1):
        mb.force.LinearBushing(bare.forces, one, (0, 0, 0), other, (0, 0.1, 0), [1.0] * 6, [0.1] * 6)


def _along_paths(mb: Any, bare: Bare, n: int, act: Callable[[Any], Any], around: str = "nothing") -> None:
    """Paths from one body by a point of it to another, over a sphere on that where they go around something."""
    paths = mb.force.transmission
    for one, other in _pairs(bare, n, 1):
        points = [(one, (0.02, 0, 0)), (one, (0, 0.05, 0)), (other, (0, 0.15, 0))]
        if around == "mujoco":
            parts = [*points[:2], paths.Wrap(other, 0.1), points[2]]
            act(paths.WrappedPath(bare.forces, [(parts, 1.0)]))
        else:
            sphere = paths.WrapSphere(body=other, radius=0.1)
            act(paths.Path(bare.forces, points, [paths.PathWrap(sphere)] if around == "opensim" else []))


def _cables(mb: Any, bare: Bare, around: str = "nothing") -> None:
    _along_paths(mb, bare, 30, lambda path: mb.force.CableSpring(bare.forces, path, 10.0, 0.05, 0.1), around)


def _muscles(mb: Any, bare: Bare) -> None:
    _along_paths(mb, bare, 30, lambda path: mb.muscle.DeGrooteFregly2016(bare.forces, path, 10.0, 0.2, 0.2))


def _poses(mb: Any, bare: Bare) -> None:
    """Actuators between sites: of one in the frame of the other."""
    pose = mb.force.transmission.RelativePose
    for one, other in _pairs(bare, 30, 1):
        path = pose(bare.forces, one, other, translation=(1.0, 2.0, 3.0), rotation=(0.1, 0.2, 0.3))
        mb.force.Actuator(bare.forces, path, bias=(0.1, 0.2, 0.3))


def _drags(mb: Any, bare: Bare) -> None:
    for body in _bodies(bare)[-30:]:
        mb.force.BoxDrag(bare.forces, body, (0.3, 0.5, 0.7), viscosity=0.3, density=0.8)


def _tyres(mb: Any, bare: Bare) -> None:
    for body in _bodies(bare)[-8:]:
        mb.force.BrushTyre(
            bare.forces,
            body,
            1.5,
            1e4,
            damping=100.0,
            friction=0.9,
            longitudinal_stiffness=1e4,
            cornering_stiffness=1e4,
            half_length=0.1,
        )


def _custom(mb: Any, bare: Bare) -> None:
    def force(t, X, V, q, u, parameters):
        ((w, v),) = V
        k = parameters[0]
        return (((-k * w[0], -k * w[1], -k * w[2]), (-k * v[0], -k * v[1], -k * v[2])),), ()

    functions = mb.force.CompiledFunctions(force, bodies=[bare.tip], parameters=[0.5])
    mb.force.Custom(bare.forces, compiled=functions)


def _in_python(mb: Any, bare: Bare, said: Any = None) -> None:
    class Empty(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            pass

        def depends_only_on(self):
            return said

    mb.force.Custom(bare.forces, Empty())


def _spring_in_python(mb: Any, bare: Bare) -> None:
    class Spring(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            p = bare.tip.find_station_location_in_ground(state, (0, 0.1, 0))
            v = bare.tip.find_station_velocity_in_ground(state, (0, 0.1, 0))
            bare.tip.apply_force_to_body_point(state, (0, 0.1, 0), -10.0 * np.sin(p) - 0.5 * v, body_forces)

    mb.force.Custom(bare.forces, Spring())


def _rod_in_python(mb: Any, bare: Bare) -> None:
    class Rod(mb.constraint.CustomImplementation):
        def __init__(self, matter):
            super().__init__(matter, 1, 0, 0)
            self.ends = [self.add_constrained_body(body) for body in (bare.root, bare.tip)]

        def apart(self, of_body, *given):
            one, two = (of_body(*given, end) for end in self.ends)
            return two - one

        def calc_position_errors(self, state, X_AB, q):
            d = self.apart(self.get_body_origin_location, X_AB)
            return [0.5 * (d @ d - 0.25)]

        def calc_position_dot_errors(self, state, V_AB, q_dot):
            return [
                self.apart(self.get_body_origin_location_from_state, state) @ self.apart(self.get_body_origin_velocity, V_AB)
            ]

        def calc_position_dot_dot_errors(self, state, A_AB, q_dot_dot):
            v, a = (
                self.apart(self.get_body_origin_velocity_from_state, state),
                self.apart(self.get_body_origin_acceleration, A_AB),
            )
            return [v @ v + self.apart(self.get_body_origin_location_from_state, state) @ a]

        def add_in_position_constraint_forces(self, state, multipliers, body_forces_in_A, q_forces):
            force = multipliers[0] * self.apart(self.get_body_origin_location_from_state, state)
            body_forces_in_A[self.ends[0], 1] -= force
            body_forces_in_A[self.ends[1], 1] += force

    mb.constraint.Custom(Rod(bare.system.matter))


def _motion_in_python(mb: Any, bare: Bare) -> None:
    class Swing(mb.motion.CustomImplementation):
        def get_level(self, state):
            return mb.Motion.Level.POSITION

        def calc_prescribed_position(self, state, nq):
            return np.sin(state.time)

        def calc_prescribed_position_dot(self, state, nq):
            return np.cos(state.time)

        def calc_prescribed_position_dot_dot(self, state, nq):
            return -np.sin(state.time)

    mb.motion.Custom(bare.tip, Swing())


def _everything(mb: Any, bare: Bare) -> None:
    _springs(mb, bare, 30)
    for one, other in _pairs(bare, 12, 2):
        mb.force.TwoPointLinearDamper(bare.forces, one, (0, 0, 0), other, (0, 0.1, 0), 10.0)
    _contacts(mb, bare, 0.0, 8)
    for one, other in _pairs(bare, 3, 3):
        mb.constraint.Ball(one, (0, 0, 0), other, (0, 0.1, 0))


def additions(mb: Any) -> dict[str, Callable[[Bare], Any]]:
    """What is added, by name."""
    F, C, at = mb.force, mb.constraint, ((0, 0, 0), (0, 0.1, 0))
    floor = mb.Transform(mb.Rotation(), (0, 0, -10.0))
    rubber = mb.contact.Material(1e6, 0.5, static_friction=0.9)
    return {
        "Actuators": lambda b: F.Actuators(b.forces, [(b.tip, 0)]),
        "DiscreteForces": lambda b: F.DiscreteForces(b.forces, b.system.matter),
        "constant force": lambda b: F.ConstantForce(b.forces, b.tip, at[1], (1, 2, 3)),
        "dry friction": lambda b: F.MobilityDryFriction(b.forces, b.tip, 0, 0.1),
        "two-point spring": lambda b: F.TwoPointLinearSpring(b.forces, b.root, at[0], b.tip, at[1], 10.0, 0.1),
        "two-point damper": lambda b: F.TwoPointLinearDamper(b.forces, b.root, at[0], b.tip, at[1], 10.0),
        "bushing": lambda b: F.LinearBushing(b.forces, b.root, at[0], b.tip, at[1], [1.0] * 6, [0.1] * 6),
        "30 springs": lambda b: _springs(mb, b, 30),
        "thermostat": lambda b: F.Thermostat(b.forces, b.system.matter, 1e-3, 300.0, 0.1),
        "compiled Custom": lambda b: _custom(mb, b),
        "smooth sphere": lambda b: F.SmoothSphereHalfSpace(b.forces, b.tip, at[0], 0.1, b.system.matter.ground, floor, rubber),
        "far contact": lambda b: _contacts(mb, b, -50.0, 1),
        "8 contacts": lambda b: _contacts(mb, b, 0.0, 8),
        "30 bushings": lambda b: _bushings(mb, b, 30),
        "30 cables": lambda b: _cables(mb, b),
        "30 cables, OpenSim's wrapping": lambda b: _cables(mb, b, "opensim"),
        "30 cables, MuJoCo's wrapping": lambda b: _cables(mb, b, "mujoco"),
        "30 muscles": lambda b: _muscles(mb, b),
        "30 poses of sites": lambda b: _poses(mb, b),
        "30 drags": lambda b: _drags(mb, b),
        "8 tyres": lambda b: _tyres(mb, b),
        "rod": lambda b: C.Rod(b.root, at[0], b.tip, at[1], 0.5),
        "ball": lambda b: C.Ball(b.root, at[0], b.tip, at[1]),
        "plane": lambda b: C.PointInPlane(b.root, (0, 0, 1), 0.1, b.tip, at[1]),
        "coupler": lambda b: C.CoordinateCoupler(b.system.matter, mb.function.Linear([1.0, -0.5, 0.0]), _two_joints(b), [0, 0]),
        "motion": lambda b: mb.motion.Sinusoid(b.tip, mb.Motion.Level.POSITION, 0.2, 3.0, 0.1),
        "law of PD": lambda b: mb.control.PD(b.forces, [(b.tip, 0)], kp=5.0, kd=0.5, sample_time=0.01),
        "force in Python, empty": lambda b: _in_python(mb, b),
        "force in Python, empty, of one body": lambda b: _in_python(mb, b, ((b.tip,), ())),
        "force in Python, a spring": lambda b: _spring_in_python(mb, b),
        "rod in Python": lambda b: _rod_in_python(mb, b),
        "motion in Python": lambda b: _motion_in_python(mb, b),
        EVERYTHING: lambda b: _everything(mb, b),
    }


def _two_joints(bare: Bare) -> list[Any]:
    return [body for body in _bodies(bare) if body.facts.num_u == 1][:2]


def _calls(mb: Any, add: Callable[[Bare], Any] | None) -> list[Callable[[], Any]]:
    """Derivatives of one state, of an ensemble, and realizing that."""
    bare = humanoid(mb)
    if add is not None:
        add(bare)
    state, system, rng = bare.end(), bare.system, np.random.default_rng(3)
    q, u = np.array(state.q), 0.1 * rng.normal(size=len(state.u))
    q[7:] += 0.2 * rng.normal(size=len(q) - 7)
    ensemble = mb.Ensemble(system, STATES, state=state, threads=1)
    qs, us = np.tile(q, (STATES, 1)), np.tile(u, (STATES, 1))
    out = ensemble.calc_forward_dynamics_derivatives(q=qs, u=us)

    def realize():
        ensemble.q, ensemble.u = qs, us
        ensemble.realize()

    def derivatives():
        return system.calc_forward_dynamics_derivatives(state, q=q, u=u)

    return [derivatives, lambda: ensemble.calc_forward_dynamics_derivatives(q=qs, u=us, out=out), realize]


def measure(options: argparse.Namespace) -> dict:
    """Every addition beside the bare model, in turns."""
    mb, effort = _import()[0], QUICK if options.quick else THOROUGH
    wanted = re.compile(getattr(options, "rows", None) or "")
    results = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = _calls(mb, None)
        for name, add in additions(mb).items():
            if not wanted.search(name):
                continue
            own = _calls(mb, add)
            least = np.full((2, 3), np.inf)
            for _ in range(3 * effort.rounds):
                for i, calls in enumerate((bare, own)):
                    for k, call in enumerate(calls):
                        times = time_calls(call, [()], effort.repeats, effort.seconds / 3, thread_time)
                        least[i, k] = min(least[i, k], min(times))
            least[:, 1:] /= STATES
            results[name] = least.tolist()
    return {"rows": results}


def show(results: dict) -> list[Target]:
    """Print the table; the targets."""
    rows, targets = [], []
    for name, (bare, own) in results["rows"].items():
        evaluation = max(0.0, own[2] - bare[2])
        for k, where in ((0, "alone"), (1, "a state of an Ensemble")):
            lanes = 8 if k == 0 else 1
            evaluations = SPEEDS if "in Python" in name else EVALUATIONS * lanes
            limit = OF_EVERYTHING if name == EVERYTHING else LIMIT + evaluations * evaluation / bare[k]
            rows.append([name, where, f"{bare[k]:.1f}", f"{own[k]:.1f}", f"{own[k] / bare[k]:.2f}", f"{limit:.2f}"])
            targets.append(Target(f"{name}, {where} / bare", own[k] / bare[k], limit, at_least=False))
    print_table("derivatives of a humanoid, us", ["addition", "of", "bare", "with it", "ratio", "may be"], rows)
    return targets


def add_options(parser: argparse.ArgumentParser) -> None:
    """Additions by name."""
    parser.add_argument("--rows", metavar="REGEX", help="only additions whose name matches")


def main(given: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, add_options, given)


if __name__ == "__main__":
    main()
