"""mobod, through its public interface; the one place that knows its compiled kernels is marked."""

from __future__ import annotations

import functools
from pathlib import Path
from time import perf_counter

import numpy as np

from ..models import Bushing, Damper, Model, Pose, Spring
from .build import Unavailable
from .engine import Array, Engine


@functools.cache
def _import():
    """Import mobod and why it cannot be imported."""
    try:
        import mobod

        mobod.MultibodySystem  # noqa: B018  (a folder without __init__ imports too)
    except (ImportError, AttributeError) as error:
        return None, f"mobod does not import: {error}"
    return mobod, None


def mobod_compiled_loop(system, state, n: int) -> float:
    """Seconds that ``n`` forward dynamics take in one compiled loop.

    The only place that knows the engine's kernels. Each pass realizes the state's record through
    ACCELERATION with nothing of it valid beforehand; the peers' loops also move q[0] and u[0] by
    1e-7 so that their caches notice, which costs them two additions.
    """
    from mobod.state import validity
    from mobod.tree import realize

    repeat, block, address = realize.repeat.dispatcher, state.block, realize.advance.address()
    wanted = validity.WANTED[_import()[0].Stage.ACCELERATION]
    repeat(block, address, wanted, 1)
    start = perf_counter()
    status = repeat(block, address, wanted, n)
    spent = perf_counter() - start
    if status:
        raise RuntimeError(f"mobod's loop could not realize the state: status {status}")
    return spent


def transform(mb, X: Pose):
    """Make a mobod Transform."""
    return mb.Transform(mb.Rotation(X.R), X.p)


def build(model: Model):
    """System of a neutral description."""
    mb, _ = _import()
    kinds = {
        "pin": mb.mobilizer.Pin,
        "slider": mb.mobilizer.Slider,
        "ball": mb.mobilizer.Ball,
        "free": mb.mobilizer.Free,
        "weld": mb.mobilizer.Weld,
    }
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, model.gravity)
    made = [matter.ground]
    for b in model.bodies:
        body = mb.body.Rigid(mb.MassProperties(b.mass, b.com, mb.Inertia(b.inertia)))
        X_PF, X_BM = transform(mb, b.X_PF), transform(mb, b.X_BM)
        made.append(kinds[b.kind](made[b.parent], body, X_PF=X_PF, X_BM=X_BM))
    for tie in model.ties:
        mb.constraint.Ball(made[tie.body1], tie.point1, made[tie.body2], tie.point2)
    add_forces(model, forces, made)
    return system


def add_forces(model: Model, forces, bodies: list) -> None:
    """Add the model's forces; *bodies* are its bodies in its order, Ground first."""
    mb, _ = _import()
    for force in model.forces:
        match force:
            case Damper(body, which, damping):
                mb.force.MobilityLinearDamper(forces, bodies[body], which, damping)
            case Spring(one, station1, two, station2, stiffness, length):
                mb.force.TwoPointLinearSpring(forces, bodies[one], station1, bodies[two], station2, stiffness, length)
            case Bushing(one, frame1, two, frame2, stiffness, damping):
                F, M = transform(mb, frame1), transform(mb, frame2)
                mb.force.LinearBushing(forces, bodies[one], F, bodies[two], M, stiffness, damping)


class Mobod(Engine):
    """Setting q and u of a State, then realizing it to ACCELERATION; and the same in one call."""

    name = "mobod"

    @classmethod
    def missing(cls, *parts: str) -> str | None:
        """Say why mobod does not import, or which of the parts that are needed it lacks."""
        mb, reason = _import()
        lacking = [part for part in parts if mb and not hasattr(mb, part)]
        return reason or (f"it has no {', '.join(lacking)}" if lacking else None)

    @classmethod
    def version(cls) -> str:
        """Version of the package."""
        return getattr(_import()[0], "__version__", "unknown")

    def __init__(self, model: Model):
        super().__init__(model)
        self.mb, _ = _import()
        if model.urdf and not self.missing("load_urdf"):  # as a user gets it, by its own parser
            bare = {"joint_damping": False, "joint_limits": False}  # the peers have neither
            loaded = self.mb.load_urdf(model.urdf, floating_base=model.floating_base, gravity=model.gravity, **bare)
            self.system = loaded.system
            add_forces(model, loaded.forces, [loaded.matter.ground, *self._bodies_of_robot(loaded)])
            self.state = self.system.realize_topology()
            self._q, self._u = self._order_of_robot(loaded)
        else:
            self.system = build(model)
            self.state = self.system.realize_topology()
            self._q, self._u = np.arange(model.nq), np.arange(model.nu)
        self.calls = {"realize": self._realize_call(), "realize, with q and u": self._realize_in_one_call()}

    def _bodies_of_robot(self, loaded) -> list:
        """The robot's bodies that move, in the model's order, by the joints' names."""
        state, mobods, found = loaded.system.realize_topology(), {}, []
        for body in loaded.matter.bodies:
            if body.get_num_q(state):
                mobods[body.get_first_q_index(state)] = body
        for body in self.model.bodies:
            if body.kind == "free":  # the base: the only mobilizer with seven coordinates
                found.append(next(b for b in mobods.values() if b.get_num_q(state) == 7))
            else:
                found.append(mobods[loaded.coordinates[body.name]])
        return found

    def _order_of_robot(self, loaded) -> tuple[Array, Array]:
        """Where each neutral coordinate and speed is in the robot's state."""
        order_q, order_u = [], []
        for mobod in self._bodies_of_robot(loaded):
            q0, u0 = mobod.get_first_q_index(self.state), mobod.get_first_u_index(self.state)
            order_q += range(q0, q0 + mobod.get_num_q(self.state))
            order_u += range(u0, u0 + mobod.get_num_u(self.state))
        return np.array(order_q, dtype=int), np.array(order_u, dtype=int)

    def _realize_call(self):
        state, realize = self.state, self.system.realize
        acceleration = self.mb.Stage.ACCELERATION

        def call(q, u):
            state.q = q
            state.u = u
            realize(state, acceleration)

        return call

    def _realize_in_one_call(self):
        state, realize = self.state, self.system.realize

        def call(q, u):
            realize(state, q=q, u=u)

        return call

    def arguments(self, name: str, q: Array, u: Array) -> tuple:
        """Put the state in mobod's order, which is the neutral one except for robots."""
        return self.native(q, u)

    def native(self, q: Array, u: Array) -> tuple[Array, Array]:
        """One state, or one a row, in mobod's order."""
        qs, us = np.empty_like(q), np.empty_like(u)
        qs[..., self._q], us[..., self._u] = q, u
        return qs, us

    def u_dots(self, q: Array, u: Array) -> dict[str, Array]:
        """Realize a State, and every lane of an Ensemble."""
        qs, us = self.native(q, u)
        self.calls["realize"](qs, us)
        results = {"realize": np.array(self.state.u_dot)[self._u]}
        if self.missing("Ensemble"):
            return results
        ensemble = self.ensemble(8, qs, us)
        ensemble.realize(self.mb.Stage.ACCELERATION)
        lanes = np.array(ensemble.u_dot)[:, self._u]
        results["Ensemble"] = lanes[np.argmax(np.abs(lanes - results["realize"]).max(axis=1))]
        return results

    def compiled_loop(self, repeats: int, seconds: float) -> list[float]:
        """Microseconds, from ``mobod_compiled_loop``."""
        self.calls["realize"](*self.native(*self.model.random_state(0)))
        n = 1
        while (spent := mobod_compiled_loop(self.system, self.state, n)) < 0.1 * seconds:
            n *= 2
        n = max(1, round(n * seconds / spent))
        return [1e6 * mobod_compiled_loop(self.system, self.state, n) / n for _ in range(repeats)]

    def ensemble(self, n: int, q: Array, u: Array):
        """Make an Ensemble of ``n`` states on one thread, with these (native) q and u."""
        ensemble = self.mb.Ensemble(self.system, n, threads=1)
        ensemble.q = np.broadcast_to(q, (n, q.shape[-1]))
        ensemble.u = np.broadcast_to(u, (n, u.shape[-1]))
        return ensemble

    @functools.cache  # noqa: B019  (lives as long as the benchmark)
    def _batch(self, n: int):
        """Make an Ensemble of ``n`` random states, realized once, and their q and u."""
        states = self.model.random_states(n)
        q, u = self.native(*(np.array(part) for part in zip(*states, strict=True)))
        ensemble = self.ensemble(n, q, u)
        ensemble.realize(self.mb.Stage.ACCELERATION)
        return ensemble, q, u

    def ensemble_times(self, n: int, repeats: int) -> list[float]:
        """Microseconds a state of setting q and u of ``n`` random states and realizing them."""
        if reason := self.missing("Ensemble"):
            raise Unavailable(reason)
        ensemble, q, u = self._batch(n)
        acceleration = self.mb.Stage.ACCELERATION
        samples = []
        for _ in range(repeats):
            start = perf_counter()
            ensemble.q = q
            ensemble.u = u
            ensemble.realize(acceleration)
            samples.append(1e6 * (perf_counter() - start) / n)
        return samples

    def simulate(self, q: Array, u: Array, time: float, accuracy: float, samples: int = 1, repeats: int = 1) -> dict:
        """Run Runge-Kutta-Merson: wall ``seconds``, counts of steps, and ``q`` sampled evenly."""
        mb, result = self.mb, {"seconds": []}
        self.state.q, self.state.u = self.native(q, u)
        for _ in range(repeats):
            start = perf_counter()
            integrator = mb.integrator.RungeKuttaMerson(self.system, accuracy=accuracy, final_time=time)
            stepper = mb.TimeStepper(self.system, integrator)
            stepper.initialize(self.state)
            rows = []
            for s in range(1, samples + 1):
                stepper.step_to(time if s == samples else time * s / samples)
                rows.append(np.array(stepper.state.q)[self._q])
            result["seconds"].append(perf_counter() - start)
            result["q"] = np.array(rows)
        result["steps"] = integrator.get_num_steps_taken()
        result["attempts"] = integrator.get_num_steps_attempted()
        result["evaluations"] = integrator.get_num_realizations()
        return result

    def drift(self, q: Array, u: Array, time: float, accuracy: float, method: str, samples: int, repeats: int) -> dict:
        """Run an integrator by name: wall ``seconds``, and ``drift``, the largest change of energy at so many even times."""
        mb, seconds = self.mb, []
        self.state.q, self.state.u = self.native(q, u)

        def stepper():
            integrator = getattr(mb.integrator, method)(self.system, accuracy=accuracy, final_time=time)
            made = mb.TimeStepper(self.system, integrator)
            made.initialize(self.state)
            return made

        for _ in range(repeats):
            start = perf_counter()
            run = stepper()
            run.step_to(time)
            seconds.append(perf_counter() - start)
        steps, run, energies = run.integrator.get_num_steps_taken(), stepper(), []
        for s in range(samples + 1):
            run.step_to(time * s / samples)
            energies.append(self.system.calc_energy(run.state))
        change = np.abs(np.array(energies) - energies[0]).max()
        return {"seconds": seconds, "steps": steps, "drift": float(change)}


def source_folder() -> Path | None:
    """Find the folder to put on PYTHONPATH for a fresh process to import the same mobod."""
    mb, _ = _import()
    return Path(mb.__file__).resolve().parent.parent if mb else None
