"""Everything that MuJoCo computes of a file before constraints, beside what mobod does, at random states."""

from __future__ import annotations

import numpy as np

import mobod as mb
from mobod.importer.mjcf.compiled import compile_file


def relative(ours, theirs, scale=None):
    """The largest difference, by the largest of theirs, or by a scale."""
    theirs = np.asarray(theirs, float)
    size = np.abs(theirs).max(initial=0.0) if scale is None else scale
    return float(np.abs(np.asarray(ours, float) - theirs).max(initial=0.0) / (size if size > 1e-12 else 1.0))


def random_state(m, rng):
    """qpos and qvel: hinges, slides and quaternions anywhere."""
    qpos = np.array(m.qpos0)
    for kind, at in zip(m.jnt_type.tolist(), m.jnt_qposadr.tolist(), strict=True):
        if kind == 0:
            qpos[at : at + 3] += rng.normal(size=3)
            at += 3
        if kind < 2:
            quaternion = rng.normal(size=4)
            qpos[at : at + 4] = quaternion / np.linalg.norm(quaternion)
        else:
            qpos[at] += rng.normal() * (0.5 if kind == 3 else 0.1)
    return qpos, rng.normal(size=m.nv)


def mass_matrix(mujoco, m, d):
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    return M


class Comparison:
    """A file in both engines."""

    def __init__(self, path, seed=0, **options):
        self.model = mb.load_mjcf(path, **options)
        source = compile_file(path, False)
        self.mujoco, self.m, self.names = source.mujoco, source.m, source
        self.m.opt.disableflags |= int(self.mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.d = self.mujoco.MjData(self.m)
        self.rng = np.random.default_rng(seed)
        self.errors = {}

    def keep(self, name, ours, theirs, scale=None):
        self.errors[name] = max(self.errors.get(name, 0.0), relative(ours, theirs, scale))

    def run(self, states=2):
        """Errors by quantity."""
        for _ in range(states):
            self.one_state()
        return self.errors

    def generalized(self, state, elements):
        """The sum of elements' forces, in MuJoCo's speeds."""
        matter = self.model.matter
        body_forces, mobility_forces = np.zeros((len(matter.bodies), 2, 3)), np.zeros(len(state.u))
        for element in elements:
            on_bodies, _, on_mobilities = element.calc_force_contribution(state)
            body_forces += on_bodies
            mobility_forces += on_mobilities
        total = mobility_forces + matter.multiply_by_system_jacobian_transpose(state, body_forces)
        return self.model.data["mujoco"].to_qvel(state.q, total)

    def one_state(self):
        model, m, d, keep = self.model, self.m, self.d, self.keep
        convert = model.data["mujoco"]
        qpos, qvel = random_state(m, self.rng)
        act, ctrl = self.rng.uniform(size=m.na), self.rng.normal(size=m.nu)
        d.qpos[:], d.qvel[:], d.act[:], d.ctrl[:] = qpos, qvel, act, ctrl
        self.mujoco.mj_forward(m, d)
        state = convert.make_state(qpos, qvel, act)
        for element in [*model.frictions.values(), *model.stops.values()]:  # constraints in MuJoCo
            element.disable(state)
        for constraint in model.constraints.values():
            constraint.disable(state)
        model.data["controls"].set_controls(state, ctrl)
        model.system.realize(state)
        keep("qpos", convert.get_qpos(state), qpos)
        keep("qvel", convert.get_qvel(state), qvel)
        span = max(np.abs(d.xpos).max(), 1e-3)
        for b, name in enumerate(self.names.bodies[1:], 1):
            X = np.asarray(model.bodies[name].get_body_transform(state))
            keep("xpos", X[:3, 3], d.xpos[b], span)
            keep("xmat", X[:3, :3], d.xmat[b].reshape(3, 3))
        for s, name in enumerate(self.names.sites):
            body, X_BS = model.frames[name]
            X = np.asarray(body.get_body_transform(state) @ X_BS)
            keep("site", X[:3, 3], d.site_xpos[s], span)
            keep("site", X[:3, :3], d.site_xmat[s].reshape(3, 3))
        if m.nv:
            self.dynamics(state)
        self.transmissions(state)
        return state

    def dynamics(self, state):
        model, m, d, keep = self.model, self.m, self.d, self.keep
        convert, matter = model.data["mujoco"], model.matter
        T = convert.calc_matrix(state.q)
        keep("M", T.T @ matter.calc_m(state) @ T, mass_matrix(self.mujoco, m, d))
        bias = matter.calc_residual_force_ignoring_constraints(state, None, None, np.zeros(m.nv))
        keep("bias", convert.to_qvel(state.q, bias) - self.generalized(state, [model.gravity]), d.qfrc_bias)
        actuators = list(model.actuators.values())
        apart = {id(one) for one in [*actuators, *model.frictions.values(), *model.stops.values(), model.gravity]}
        every = [model.forces.get_force(i) for i in range(model.forces.get_num_forces())]
        size = max(np.abs(d.qfrc_bias).max(), 1.0)
        passive = [one for one in every if id(one) not in apart]
        for name, elements in (("passive", passive), ("actuator", actuators)):
            theirs = getattr(d, f"qfrc_{name}")
            keep(name, self.generalized(state, elements), theirs, max(np.abs(theirs).max(), 1e-9 * size))
        keep("qacc_smooth", convert.to_qvel(state.q, state.u_dot), d.qacc_smooth)

    def transmissions(self, state):
        model, m, d, keep, names = self.model, self.m, self.d, self.keep, self.names
        for t, name in enumerate(names.tendons):
            tendon = model.data["tendons"][name]
            keep("tendon length", tendon.calc_length(state), d.ten_length[t], max(np.abs(d.ten_length).max(), 1e-3))
            keep("tendon speed", tendon.calc_speed(state), d.ten_velocity[t], max(np.abs(d.ten_velocity).max(), 1e-3))
        for a, name in enumerate(names.actuators):
            if name not in model.actuators:
                continue
            element, o = model.actuators[name], int(m.actuator_outadr[a])
            for quantity, ours in (
                ("length", element.calc_length),
                ("velocity", element.calc_speed),
                ("force", element.calc_force),
            ):
                theirs = getattr(d, f"actuator_{quantity}")
                keep(f"actuator {quantity}", ours(state), theirs[o], max(np.abs(theirs).max(), 1e-3))
            if element.num_z:
                at = int(m.actuator_actadr[a])
                keep("act_dot", state.z_dot[element.first_z], d.act_dot[at], max(abs(d.act_dot[at]), 1e-3))
