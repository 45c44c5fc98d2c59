"""Every kind of constraint between bodies, on random stations, axes and frames of two bodies."""

import mobod as mb
from mobod import constraint as con

#: By name: makes the constraint between two bodies; the third is a case for those that have one.
KINDS = {
    "Rod": lambda make, a, b, case: con.Rod(a, make.vector(), b, make.vector(), 1.1),
    "Ball": lambda make, a, b, case: con.Ball(a, make.vector(), b, make.vector()),
    "Weld": lambda make, a, b, case: con.Weld(a, make.frame(), b, make.frame()),
    "PointInPlane": lambda make, a, b, case: con.PointInPlane(a, make.unit_vector(), 0.3, b, make.vector()),
    "PointOnLine": lambda make, a, b, case: con.PointOnLine(a, make.unit_vector(), make.vector(), b, make.vector()),
    "ConstantAngle": lambda make, a, b, case: con.ConstantAngle(a, make.unit_vector(), b, make.unit_vector(), 1.2),
    "ConstantOrientation": lambda make, a, b, case: con.ConstantOrientation(a, make.rotation(), b, make.rotation()),
    "NoSlip1D": lambda make, a, b, case: con.NoSlip1D(case, make.vector(), make.unit_vector(), a, b),
    "NoSlip1D_own_case": lambda make, a, b, case: con.NoSlip1D(b, make.vector(), make.unit_vector(), a, b),
    "PointOnPlaneContact": lambda make, a, b, case: con.PointOnPlaneContact(a, make.frame(), b, make.vector()),
    "SphereOnPlaneContact": lambda make, a, b, case: con.SphereOnPlaneContact(a, make.frame(), b, make.vector(), 0.4, False),
    "SphereOnPlaneContact_rolling": lambda make, a, b, case: con.SphereOnPlaneContact(
        a, make.frame(), b, make.vector(), 0.4, True
    ),
    "SphereOnSphereContact": lambda make, a, b, case: con.SphereOnSphereContact(
        a, make.vector(), 0.4, b, make.vector(), 0.6, False
    ),
    "SphereOnSphereContact_rolling": lambda make, a, b, case: con.SphereOnSphereContact(
        a, make.vector(), 0.4, b, make.vector(), 0.6, True
    ),
    "LineOnLineContact": lambda make, a, b, case: con.LineOnLineContact(a, make.frame(), 0.4, b, make.frame(), 0.6, False),
    "LineOnLineContact_rolling": lambda make, a, b, case: con.LineOnLineContact(
        a, make.frame(), 0.4, b, make.frame(), 0.6, True
    ),
}


class Pair:
    """Two bodies on a third that moves, a constraint between these two, and something that hangs on one of them."""

    def __init__(self, make, kind, copies=1):
        self.make = make
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
            self.constraints.append(KINDS[kind](make, left, right, base))
        self.constraint = self.constraints[0]
        self.state = self.system.realize_topology()

    def randomize(self, state=None):
        """Random q and u, off the manifold."""
        state = self.state if state is None else state
        q = self.make.rng.uniform(-0.8, 0.8, len(state.q))
        state.q, state.u = q, self.make.rng.uniform(-1.0, 1.0, len(state.u))
        self.system._normalize_quaternions(state)
        self.system.realize(state)
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
