"""Random parts of models, and models, of which tests draw one after the other."""

import numpy as np

import mobod as mb
from kinds.mobilizers import MOBILIZERS


class Model:
    """A system with its parts at hand, and a state that `randomize` fills."""

    def __init__(self, system, matter, rng):
        self.system, self.matter, self.rng = system, matter, rng

    @property
    def bodies(self):
        return self.matter.bodies

    def made(self):
        self.state = self.system.realize_topology()
        return self

    def randomize(self, stage=mb.Stage.ACCELERATION, *, state=None):
        """Random q (unit quaternions; angles away from the singularity of Euler's) and u, realized to *stage*."""
        state = self.state if state is None else state
        for body in self.bodies[1:]:
            q = self.rng.uniform(-1.3, 1.3, body.get_num_q(state))
            if self.matter.is_using_quaternion(state, body):
                q[:4] = self.rng.normal(size=4)
                q[:4] /= np.linalg.norm(q[:4])
            body.set_q_from_vector(state, q)
        state.u = self.rng.uniform(-2.0, 2.0, len(state.u))
        self.system.realize(state, stage)
        return state

    def moved(self, h, state=None, *, u_dot=None, stage=mb.Stage.VELOCITY):
        """The state a time h later, to first order: q + h q_dot, u + h u_dot (the state's own unless given), z + h z_dot."""
        state = self.state if state is None else state
        other = state.copy()
        other.q = state.q + h * state.q_dot
        other.u = state.u + h * (state.u_dot if u_dot is None else u_dot)
        if len(state.z):
            other.z = state.z + h * state.z_dot
        self.system.realize(other, stage)
        return other


class Make:
    """Makes random frames, bodies and trees, all of them physical and of sizes around one."""

    def __init__(self, rng):
        self.rng = rng

    def vector(self, n=3, size=1.0):
        return size * self.rng.uniform(-1.0, 1.0, n)

    def unit_vector(self):
        v = self.rng.normal(size=3)
        return v / np.linalg.norm(v)

    def quaternion(self):
        q = self.rng.normal(size=4)
        return q / np.linalg.norm(q)

    def rotation(self):
        return mb.Rotation.from_quaternion(self.quaternion())

    def frame(self, size=0.5):
        return mb.Transform(self.rotation(), self.vector(size=size))

    def mass_properties(self):
        """Those of a cloud of points whose center is off the origin: physical by construction."""
        points = self.rng.uniform(-0.5, 0.5, (6, 3)) + self.vector(size=0.5)
        masses = self.rng.uniform(0.1, 0.4, 6)
        inertia = np.einsum("n,nij->ij", masses, [p @ p * np.eye(3) - np.outer(p, p) for p in points])
        mass = masses.sum()
        return mb.MassProperties(mass, masses @ points / mass, mb.Inertia(inertia))

    def direction(self):
        return mb.Direction.REVERSE if self.rng.random() < 0.4 else mb.Direction.FORWARD

    def body(self):
        return mb.body.Rigid(self.mass_properties())

    def settings(self, kind):
        """Random values of what the kind's constructor takes besides."""
        return MOBILIZERS[kind].settings(self.rng) if kind in mb.mobilizer.KINDS else {}

    def mobilized_body(self, kind, parent, *, body=None, direction=None):
        """A body of the given kind at random frames, with random settings."""
        return kind(
            parent,
            self.body() if body is None else body,
            X_PF=self.frame(),
            X_BM=self.frame(),
            direction=self.direction() if direction is None else direction,
            **self.settings(kind),
        )

    def rotors(self, bodies):
        """Random rotor inertias for these, of a body's size, one in three of them zero."""
        for body in bodies:
            n = body.facts.num_u
            body.set_default_rotor_inertia(self.rng.uniform(0.0, 2.0, n) * (self.rng.random(n) < 0.67))

    def tree(
        self, n=None, kinds=mb.mobilizer.KINDS, *, gravity=True, chain=False, massless=False, direction=None, rotors=False
    ):
        """A random tree of *n* bodies of the first *n* kinds; unless n is given, of one body of every kind.

        *rotors*: half of the bodies have rotor inertia.
        """
        n = len(kinds) if n is None else n
        system = mb.MultibodySystem("random tree")
        model = Model(system, mb.SimbodyMatterSubsystem(system), self.rng)
        forces = mb.GeneralForceSubsystem(system)
        model.forces = forces
        model.gravity = mb.force.Gravity(forces, model.matter, self.vector(size=9.0) if gravity else (0, 0, 0))
        order = [kinds[i % len(kinds)] for i in range(n)]
        self.rng.shuffle(order)
        if massless:
            order[:2] = [mb.mobilizer.Pin, mb.mobilizer.Universal]
        parents = [
            b if chain or (massless and b < 2) or self.rng.random() < 0.5 else int(self.rng.integers(0, b + 1))
            for b in range(n)
        ]
        # body 0 is Ground. A massless body needs a child with mass that does not free the very motion it has itself
        light, sturdy = (
            {mb.mobilizer.Pin, mb.mobilizer.Slider},
            {mb.mobilizer.Universal, mb.mobilizer.Weld, mb.mobilizer.Planar},
        )
        for b, (kind, parent) in enumerate(zip(order, parents, strict=True)):
            children = [order[c] for c in range(n) if parents[c] == b + 1]
            body = mb.body.Massless() if massless and kind in light and sturdy & set(children) else None
            self.mobilized_body(kind, model.bodies[parent], body=body, direction=direction)
        if rotors:
            self.rotors(model.bodies[1::2])
        return model.made()
