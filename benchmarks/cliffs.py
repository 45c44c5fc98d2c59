"""Measure what one innocent addition costs: every kind of element, event, contact, measure and law, beside the bare model.

Most of the additions never do anything: what is measured is what their mere presence costs, as a multiple of the time of the
same model without them, in turns within one run: the median of the rounds' ratios.

    step            `TimeStepper.step` of 1 ms, one fixed step, called from Python
    few rows        `simulate` with the two ends as rows
    1000 rows       `simulate` with a thousand
    Ensemble        `Ensemble.simulate` of some states with the two ends as rows
    Ensemble.step   `Ensemble.step` of 1 ms, one fixed step

An addition whose steps are shorter takes more evaluations of the accelerations: a law, at whose samples steps end, or friction
that is not smooth. How many times as many stands behind "of"; what is promised is for the time beyond these.

``--rows REGEX``, ``--columns REGEX`` and ``--models REGEX`` choose among them: ``python -m benchmarks.cliffs --rows stop``.
Beside these: what a row takes after an event, what an event takes in a run that has many, what sensitivities take beside a law,
and what setters take that are used inside loops.
"""

from __future__ import annotations

import argparse
import re
import statistics
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from .measure import QUICK, THOROUGH, time_calls
from .peers.mobod import _import
from .report import Target, print_table, run_as_script

STEP = 1e-3
#: Of what compiled additions may cost; of a setter, us, and of each of its numbers; of a row after an event, us.
LIMIT, SETTING, EACH, ROW = 1.3, 0.5, 0.01, 1.0
#: States of an ensemble, and how long each model is simulated.
STATES = 64
TIMES = {"double pendulum": 5.0, "engine": 3.0, "humanoid": 0.5, "time stepping": 0.3}
COLUMNS = ("step", "few rows", "1000 rows", "Ensemble", "Ensemble.step")
#: What takes longer is timed once, s.
PATIENCE = 0.5
ALL = tuple(TIMES)
LIGHT = ("double pendulum", "engine")
#: Where no surfaces are yet.
WITHOUT = (*LIGHT, "humanoid")


@dataclass
class Bare:
    """A model to which something is added before its topology is realized."""

    system: Any
    state: Any
    #: A body at the end of the tree with one coordinate, and one of Ground's children.
    tip: Any
    root: Any
    #: Radius within which everything stays.
    reach: float
    #: The integrator of all calls; None where each has its own.
    method: Callable[[Any], Any] | None = None

    @property
    def forces(self) -> Any:
        """The subsystem of forces."""
        return self.system.forces

    def end(self) -> Any:
        """The state to start from, after what was added."""
        state = self.system.realize_topology()
        self.system.realize_model(state)
        # what is added may have variables of its own, behind the matter's
        state.upd_q()[: len(self.state.q)] = self.state.q
        state.upd_u()[: len(self.state.u)] = self.state.u
        return state


def double_pendulum(mb: Any) -> Bare:
    """Two pins: so small that whatever is around its steps shows."""
    system, state = mb.examples.double_pendulum.build()
    bodies = system.matter.bodies
    return Bare(system, state, bodies["lower"], bodies["upper"], 3.0)


def engine(mb: Any) -> Bare:
    """A slider-crank: a closed loop."""
    system, state = mb.examples.slider_crank.build()
    bodies = system.matter.bodies
    return Bare(system, state, bodies["piston"], bodies["crank"], 2.0)


def humanoid(mb: Any) -> Bare:
    """A floating Unitree G1 whose joints are damped."""
    from pathlib import Path

    model = mb.load_urdf(Path(mb.__file__).parent / "examples" / "g1.urdf", floating_base=True)
    for name, joint in model.joints.items():
        if name in model.speeds:
            mb.force.MobilityLinearDamper(model.forces, model.bodies[joint.child], 0, 0.1)
    bodies = model.bodies
    tip = next(bodies[joint.child] for name, joint in reversed(model.joints.items()) if name in model.speeds)
    return Bare(model.system, model.default_state(), tip, model.system.matter.bodies[1], 30.0)


def touching(mb: Any) -> Bare:
    """A body with two links on a floor, by time stepping."""
    system = mb.MultibodySystem("touching")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    mb.CompliantContactSubsystem(system)
    wood = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.5)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), wood))

    def body(radius: float) -> Any:
        one = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(radius)))
        one.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(radius), wood))
        return one

    base = mb.mobilizer.Free(matter.ground, body(0.1))
    base.set_default_q((1, 0, 0, 0, 0, 0.101, 0))
    middle = mb.mobilizer.Pin(base, body(0.05), X_PF=mb.Transform((0.2, 0, 0)), X_BM=mb.Transform((0, 0.2, 0)))
    middle.set_default_q(1.5)
    tip = mb.mobilizer.Pin(middle, body(0.05), X_BM=mb.Transform((0, 0.2, 0)))
    return Bare(system, system.realize_topology(), tip, base, 3.0, partial(mb.integrator.TimeStepping, fixed_step_size=STEP))


BUILDERS = {"double pendulum": double_pendulum, "engine": engine, "humanoid": humanoid, "time stepping": touching}


@dataclass(frozen=True)
class Addition:
    """Something innocent: a name, what adds it to a `Bare`, and whether Python has a part in it."""

    name: str
    add: Callable[[Any, Bare], Any]
    in_python: bool = False
    models: tuple[str, ...] = ALL


def _stop(mb: Any, bare: Bare) -> None:
    bare.system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(bare.tip, 0, 1e3)))


def _stop_plane(mb: Any, bare: Bare) -> None:
    witness = mb.event.PlaneDistance(bare.tip, (0, 0, 0), normal=(0, 1, 0), height=-1e3)
    bare.system.add_event_handler(mb.event.StopWhen(witness))


def _triggered(mb: Any, bare: Bare) -> None:
    class Far(mb.event.TriggeredHandler):
        def get_value(self, state):
            return 1e3 - bare.tip.get_one_q(state, 0)

        def handle_event(self, state, accuracy):
            return True

    bare.system.add_event_handler(Far(mb.Stage.POSITION))


def _witness(mb: Any, bare: Bare) -> None:
    witness = mb.event.FunctionWitness(lambda state: 1e3 - bare.tip.get_one_q(state, 0), mb.Stage.POSITION)
    bare.system.add_event_handler(mb.event.StopWhen(witness))


def _periodic(kind: str, interval: float) -> Callable[[Any, Bare], None]:
    def add(mb: Any, bare: Bare) -> None:
        base = mb.event.PeriodicHandler if kind == "handler" else mb.event.PeriodicReporter

        class NotDue(base):
            def handle_event(self, state, accuracy=None):
                return None

            def get_next_event_time(self, state, include_current_time):
                return interval + 1e6 if interval > 1e3 else super().get_next_event_time(state, include_current_time)

        one = NotDue(interval)
        getattr(bare.system, f"add_event_{kind}")(one)

    return add


def _scheduled(kind: str) -> Callable[[Any, Bare], None]:
    def add(mb: Any, bare: Bare) -> None:
        base = mb.event.ScheduledHandler if kind == "handler" else mb.event.ScheduledReporter

        class Far(base):
            def get_next_event_time(self, state, include_current_time):
                return 1e6

            def handle_event(self, state, accuracy=None):
                return None

        getattr(bare.system, f"add_event_{kind}")(Far())

    return add


def _surface(mb: Any, bare: Bare) -> None:
    rubber = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.8)
    mb.CompliantContactSubsystem(bare.system)
    floor = mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), rubber)
    bare.system.matter.ground.add_contact_surface(floor, mb.Transform((0, -100.0 * bare.reach, 0)))
    bare.tip.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), rubber), mb.Transform())


def _bristle(mb: Any, bare: Bare) -> None:
    rubber = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.8)
    mb.CompliantContactSubsystem(bare.system, friction="bristle")
    floor = mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), rubber)
    bare.system.matter.ground.add_contact_surface(floor, mb.Transform((0, -100.0 * bare.reach, 0)))
    bare.tip.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), rubber), mb.Transform())


def _rigid(mb: Any, bare: Bare) -> None:
    stone = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.8)
    floor = mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), stone)
    bare.system.matter.ground.add_contact_surface(floor, mb.Transform((0, -100.0 * bare.reach, 0)))
    bare.tip.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), stone), mb.Transform())
    mb.contact.rigid(bare.system, 0.5)


def _joint_friction(mb: Any, bare: Bare) -> None:
    mb.contact.JointFriction(bare.tip, 0, 1e-9, 0.1)


def _custom_constraint(mb: Any, bare: Bare) -> None:
    def far(X, q, parameters):
        ((_, p),) = X
        return (p[0] - parameters[0],)

    functions = mb.constraint.CompiledFunctions(far, bodies=[bare.tip], parameters=[1e3])
    mb.constraint.Custom(compiled=functions, disabled_by_default=True)


def _smooth_sphere(mb: Any, bare: Bare) -> None:
    rubber = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.8, dynamic_friction=0.8)
    up = mb.Transform(mb.Rotation.about_axis(-np.pi / 2, "x"), (0, -10.0 * bare.reach, 0))
    mb.force.SmoothSphereHalfSpace(bare.forces, bare.tip, (0, 0, 0), 0.05, bare.system.matter.ground, up, rubber)


def _exponential(mb: Any, bare: Bare) -> None:
    up = mb.Transform(mb.Rotation.about_axis(-np.pi / 2, "x"), (0, -10.0 * bare.reach, 0))
    mb.force.ExponentialSpring(bare.forces, up, bare.tip, (0, 0, 0))


def _hard_stop(mb: Any, bare: Bare) -> None:
    mb.contact.HardStopUpper(bare.tip, 0, 1e3)


def _rope(mb: Any, bare: Bare) -> None:
    mb.contact.Rope(bare.system.matter.ground, (0, 0, 0), bare.tip, (0, 0, 0), 1e3)


def _rough_plane(mb: Any, bare: Bare) -> None:
    mb.contact.PointPlane(bare.system.matter.ground, (0, 1, 0), -1e3, bare.tip, (0, 0, 0), static_friction=0.5)


def _edges(mb: Any, bare: Bare) -> None:
    mb.contact.EdgeEdge(bare.system.matter.ground, mb.Transform((0, -1e3, 0)), 0.1, bare.tip, mb.Transform(), 0.1)


def _cam(mb: Any, bare: Bare) -> None:
    angles = np.linspace(0.0, 2.0 * np.pi, 37)
    mb.contact.CamFollower(bare.root, bare.tip, angles, 0.005 * (1.0 - np.cos(angles)) - 1e3)


def _record(mb: Any, bare: Bare) -> None:
    bare.system.add_event_reporter(mb.event.RecordEvery(1e6, lambda state: state.time))


def _law(compiled: bool) -> Callable[[Any, Bare], None]:
    def add(mb: Any, bare: Bare) -> None:
        def law(q, u):
            return 0.0 * u

        mb.control.Custom(bare.forces, law, sample_time=0.01, compiled=compiled)

    return add


def _custom_force(compiled: bool) -> Callable[[Any, Bare], None]:
    def add(mb: Any, bare: Bare) -> None:
        if compiled:

            def force(q, u, k):
                return -k[0] * q[0]

            mb.force.Custom(bare.forces, force, [(bare.tip, 0)], parameters=[0.0])
            return

        class Nothing(mb.force.CustomImplementation):
            def calc_force(self, state, body_forces, particle_forces, mobility_forces):
                return None

        mb.force.Custom(bare.forces, Nothing())

    return add


def _measure(make: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Bare], None]:
    def add(mb: Any, bare: Bare) -> None:
        matter = bare.system.matter
        make(mb, matter, mb.measure.Coordinate(matter, bare.tip))

    return add


def _remembered(kind: str) -> Callable[[Any, Bare], None]:
    """Something that is remembered of a function of the state."""

    def add(mb: Any, bare: Bare) -> None:
        matter = bare.system.matter
        function = mb.measure.Function(matter, lambda state: bare.tip.get_one_q(state, 0), mb.Stage.POSITION)
        if kind == "Integrate":
            mb.measure.Integrate(matter, function, mb.measure.Constant(matter, 0.0))
        else:
            mb.measure.Maximum(matter, function)

    return add


ADDITIONS = [
    Addition("StopWhen(Coordinate)", _stop),
    Addition("StopWhen(PlaneDistance)", _stop_plane),
    Addition("Scheduled handler, not due", _scheduled("handler")),
    Addition("Scheduled reporter, not due", _scheduled("reporter")),
    Addition("Periodic handler, not due", _periodic("handler", 1e6)),
    Addition("contact surface, far", _surface, models=WITHOUT),
    Addition("contact surface with bristles, far", _bristle, models=WITHOUT),
    Addition("SmoothSphereHalfSpace, far", _smooth_sphere),
    Addition("ExponentialSpring, far", _exponential),
    Addition("HardStopUpper, far", _hard_stop),
    Addition("Rope, slack", _rope),
    Addition("PointPlane with friction, far", _rough_plane),
    Addition("EdgeEdge, far", _edges),
    Addition("CamFollower, far", _cam, models=LIGHT),
    Addition("rigid surfaces, far", _rigid, models=WITHOUT),
    Addition("JointFriction", _joint_friction),
    Addition("custom constraint, disabled", _custom_constraint),
    Addition("law at 100 Hz, compiled", _law(True)),
    Addition("Maximum", _measure(lambda mb, matter, q: mb.measure.Maximum(matter, q))),
    Addition("SampleAndHold, 10 Hz", _measure(lambda mb, matter, q: mb.measure.SampleAndHold(matter, q, 0.1))),
    Addition("Delay", _measure(lambda mb, matter, q: mb.measure.Delay(matter, q, 0.01))),
    Addition("Integrate", _measure(lambda mb, matter, q: mb.measure.Integrate(matter, q, mb.measure.Constant(matter, 0.0)))),
    Addition("Differentiate", _measure(lambda mb, matter, q: mb.measure.Differentiate(matter, q))),
    Addition("MobilityLinearSpring", lambda mb, bare: mb.force.MobilityLinearSpring(bare.forces, bare.tip, 0, 0.0, 0.0)),
    Addition(
        "MobilityLinearStop, far", lambda mb, bare: mb.force.MobilityLinearStop(bare.forces, bare.tip, 0, 1e3, 0.1, -1e3, 1e3)
    ),
    Addition(
        "MobilityDryFriction", lambda mb, bare: mb.force.MobilityDryFriction(bare.forces, bare.tip, 0, 1e-9, deflection=0.1)
    ),
    Addition("DiscreteForces", lambda mb, bare: mb.force.DiscreteForces(bare.forces, bare.system.matter)),
    Addition(
        "spring, disabled",
        lambda mb, bare: mb.force.MobilityLinearSpring(bare.forces, bare.tip, 0, 1.0, 0.0, disabled_by_default=True),
    ),
    Addition("RecordEvery, due at the start", _record, in_python=True),
    Addition("TriggeredHandler", _triggered, in_python=True),
    Addition("FunctionWitness", _witness, in_python=True),
    Addition("law at 100 Hz, compiled=False", _law(False), in_python=True),
    Addition("empty force in Python", _custom_force(False), in_python=True),
    Addition("Maximum of a function of the state", _remembered("Maximum"), in_python=True),
    Addition("Integrate of a function of the state", _remembered("Integrate"), in_python=True),
]


class Rig:
    """A model with or without an addition, and calls of each column."""

    def __init__(self, mb: Any, name: str, addition: Addition | None) -> None:
        self.mb, self.name, self.bare = mb, name, BUILDERS[name](mb)
        self.state = self.bare.state
        if addition is not None:
            addition.add(mb, self.bare)
            self.state = self.bare.end()
        self.system, self.time = self.bare.system, TIMES[name]

    def call(self, column: str) -> Callable[[], Any]:
        """What is timed."""
        mb, system, state, time, made = self.mb, self.system, self.state, self.time, self.bare.method
        kind = made or mb.integrator.SemiExplicitEuler
        if column == "step":
            stepper = mb.TimeStepper(system, kind(system, fixed_step_size=STEP))
            stepper.initialize(state)
            kept, left = state.copy(), [2000]

            def step() -> None:
                if left[0] == 0:
                    stepper.initialize(kept)
                    left[0] = 2000
                left[0] -= 1
                stepper.step(STEP)

            return step
        if column == "few rows":
            return lambda: mb.simulate(system, state, time, report_interval=time, integrator=made and made(system))
        if column == "1000 rows":
            return lambda: mb.simulate(system, state, time, report_interval=time / 1000, integrator=made and made(system))
        ensemble = mb.Ensemble(system, STATES, state=state)
        if column == "Ensemble":
            settings = {"accuracy": 1e-4} if made is None else {"integrator": made(system)}
            return lambda: ensemble.copy().simulate(time, report_interval=time, **settings)
        method = kind(system, fixed_step_size=STEP)
        going, calls = [ensemble.copy()], [0]

        def step_all() -> None:
            if calls[0] == 100:  # what touches is another model a while later
                going[0], calls[0] = ensemble.copy(), 0
            calls[0] += 1
            going[0].step(STEP, integrator=method)

        return step_all


def _time(call: Callable[[], Any], column: str, effort: Any) -> float:
    """Microseconds of a call: the least of some."""
    if column == "step":
        return min(time_calls(call, [()], effort.repeats, effort.seconds))
    times = []
    for _ in range(effort.repeats):
        start = perf_counter()
        call()
        times.append(1e6 * (perf_counter() - start))
        if times[-1] > 1e6 * PATIENCE:
            break
    return min(times)


def measure_additions(mb: Any, options: argparse.Namespace) -> dict:
    """Ratios, by model, addition and column; and the times of the bare models."""
    effort = QUICK if options.quick else THOROUGH
    chosen = [one for one in ADDITIONS if re.search(options.rows, one.name, re.IGNORECASE)]
    columns = [column for column in COLUMNS if re.search(options.columns, column)]
    found: dict = {}
    for name in ALL:
        if not re.search(options.models, name):
            continue
        rigs = {one.name: Rig(mb, name, one) for one in chosen if name in one.models}
        bare = Rig(mb, name, None)
        results: dict = {"bare": {}, "ratios": {one: {} for one in rigs}, "evaluations": {one: {} for one in rigs}}
        for column in columns:
            without = bare.call(column)
            evaluations = _evaluations(without())
            samples: dict[str, list[float]] = {}
            times: list[float] = []
            failed: set[str] = set()
            calls = {}
            for one, rig in rigs.items():
                try:
                    calls[one] = rig.call(column)
                    more = _evaluations(calls[one]())  # compiles
                    results["evaluations"][one][column] = max(1.0, more / evaluations)
                except Exception as error:  # a cliff of another sort
                    failed.add(one)
                    results["ratios"][one][column] = f"{type(error).__name__}"
            for round_number in range(effort.rounds):
                for one, call in calls.items():
                    if one in failed or (round_number > 0 and samples[one][-1] > 40.0):
                        continue
                    alone = _time(without, column, effort)
                    times.append(alone)
                    samples.setdefault(one, []).append(_time(call, column, effort) / alone)
            results["bare"][column] = min(times, default=0.0)
            for one, ratios in samples.items():
                results["ratios"][one][column] = statistics.median(ratios)
        found[name] = results
    return found


def _evaluations(found: Any) -> float:
    """How often a run, or each of an ensemble, has computed accelerations; 1 where that is the same for all."""
    statistics_ = getattr(found, "statistics", None)
    return 1.0 if statistics_ is None else float(np.mean(statistics_["evaluations"]))


# ------------------------------------------------------------------------------------------ rows and events


def measure_events(mb: Any, options: argparse.Namespace) -> dict:
    """Microseconds of a row before and after an event, and of an event, in a run of a double pendulum."""
    effort = QUICK if options.quick else THOROUGH

    def run(rows: int, threshold: float | None) -> Callable[[], Any]:
        system, state = mb.examples.double_pendulum.build()
        lower = system.matter.bodies["lower"]
        if threshold is not None:

            class Damp(mb.event.When):
                calls = 0

                def handle_event(self, state, accuracy):
                    if self.calls == 0:
                        state.u = 0.99 * state.u
                    self.calls += 1

            system.add_event_handler(Damp(mb.event.Coordinate(lower, 0, threshold), falling=True, rising=False))
        return lambda: mb.simulate(system, state, 10.0, report_interval=10.0 / rows)

    def crossings(n: int, sets: bool, states: int) -> Callable[[], Any]:
        """A pendulum that crosses n angles, at which Python is asked and sets nothing or u."""
        system, state = mb.examples.double_pendulum.build()
        upper = system.matter.bodies["upper"]

        class Ask(mb.event.When):
            def handle_event(self, state, accuracy):
                if sets:
                    state.u = state.u

        for k in range(n):
            system.add_event_handler(Ask(mb.event.Coordinate(upper, 0, 0.2 * (k - n / 2))))
        if states == 1:
            return lambda: mb.simulate(system, state, 10.0, report_interval=10.0)
        ensemble = mb.Ensemble(system, states, state=state)
        ensemble.q = ensemble.q + np.linspace(0.0, 0.01, states)[:, None]  # so that each has its events at its own times
        return lambda: ensemble.copy().simulate(10.0, report_interval=10.0)

    calls = {"bare, 1 row": run(1, None), "bare": run(1000, None), "event, 1 row": run(1, 0.3), "event": run(1000, 0.3)}
    numbers: dict[str, tuple[str, int]] = {}
    for states, where in ((1, ""), (STATES, ", in an Ensemble")):
        calls[f"no event{where}"] = crossings(0, False, states)
        for name, sets in (("an event", False), ("an event that sets u", True)):
            calls[f"{name}{where}"] = call = crossings(8, sets, states)
            numbers[f"{name}{where}"] = f"no event{where}", len(call().events)
    samples: dict[str, list[float]] = {key: [] for key in calls}
    for call in calls.values():
        call()
    for _ in range(effort.rounds):
        for key, call in calls.items():
            samples[key].append(_time(call, key, effort))
    least = {key: min(values) for key, values in samples.items()}
    return {
        "a row": (least["bare"] - least["bare, 1 row"]) / 1000,
        "a row after an event": (least["event"] - least["event, 1 row"]) / 1000,
        **{key: (least[key] - least[without]) / n for key, (without, n) in numbers.items()},
    }


# ------------------------------------------------------------------------------------------ sensitivities


def measure_sensitivities(mb: Any, options: argparse.Namespace) -> dict:
    """Sensitivities of a double pendulum by its initial values beside a law at 100 Hz, times those without, and evaluations."""
    effort = QUICK if options.quick else THOROUGH
    settings = {"report_interval": 1.0, "accuracy": 1e-4, "sensitivities": ["q", "u"]}

    def call(column: str, law: Addition | None) -> Callable[[], Any]:
        rig = Rig(mb, "double pendulum", law)
        if column != "Ensemble":
            return lambda: mb.simulate(rig.system, rig.state, 1.0, **settings)
        ensemble = mb.Ensemble(rig.system, 8, state=rig.state)
        return lambda: ensemble.copy().simulate(1.0, **settings)

    found: dict[str, tuple[float, float]] = {}
    for column in ("few rows", "Ensemble"):
        calls = [call(column, law) for law in (None, Addition("law", _law(True)))]
        runs = [_evaluations(one()) for one in calls]
        ratios = []
        for _ in range(effort.rounds):
            alone = _time(calls[0], column, effort)
            ratios.append(_time(calls[1], column, effort) / alone)
        found[column] = statistics.median(ratios), runs[1] / runs[0]
    return found


# ------------------------------------------------------------------------------------------ setters


def setters(mb: Any) -> dict[str, tuple[int, Callable[[], Any]]]:
    """Setters that are used inside loops, of a Panda-like arm of seven: how many numbers each takes, and a call."""
    system = mb.MultibodySystem("arm")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    body, bodies = matter.ground, []
    for _ in range(7):
        link = mb.body.Rigid(mb.MassProperties(1.0, (0, 0.1, 0), mb.UnitInertia.sphere(0.3)))
        body = mb.mobilizer.Pin(body, link, X_PF=mb.Transform((0, 0.3, 0)))
        bodies.append(body)
    discrete = mb.force.DiscreteForces(forces, matter)
    motors = mb.force.Actuators(forces, [(one, 0) for one in bodies])
    single = mb.force.MobilityDiscreteForce(forces, body, 0)
    spring = mb.force.MobilityLinearSpring(forces, body, 0, 1.0, 0.0)
    push = mb.force.ConstantForce(forces, body, (0, 0, 0), (0, 0, 0))
    gravity = mb.force.Gravity(forces, matter, (0, -9.81, 0))
    stop = mb.force.MobilityLinearStop(forces, body, 0, 1.0, 0.1, -3.0, 3.0)
    measured, _ = mb.examples.double_pendulum.build()
    target = mb.measure.Variable(measured.matter, mb.Stage.DYNAMICS, 0.5)
    mb.measure.Integrate(measured.matter, target)
    of_target = measured.realize_topology()

    def law(q, u, parameters):
        return -parameters[0] * q

    control = mb.control.Custom(forces, law, sample_time=0.01, parameters=np.zeros(7))
    bodies[2].set_default_rotor_inertia(0.1)
    state = system.realize_topology()
    system.realize(state)
    seven, six = np.full(7, 0.1), np.zeros((2, 3))
    of_bodies, point = np.zeros((8, 2, 3)), np.array((0.0, -9.8, 0.0))

    def assign_q():
        state.q = seven

    def assign_u():
        state.u = seven

    found: dict[str, tuple[int, Callable[[], Any]]] = {
        "state.q = q": (7, assign_q),
        "state.u = u": (7, assign_u),
        "body.set_angle": (1, lambda: body.set_angle(state, 0.1)),
        "body.set_rate": (1, lambda: body.set_rate(state, 0.1)),
        "body.set_one_q": (1, lambda: body.set_one_q(state, 0, 0.1)),
        "body.set_one_u": (1, lambda: body.set_one_u(state, 0, 0.1)),
        "Actuators.set_efforts": (7, lambda: motors.set_efforts(state, seven)),
        "DiscreteForces.set_all_mobility_forces": (7, lambda: discrete.set_all_mobility_forces(state, seven)),
        "DiscreteForces.set_one_mobility_force": (1, lambda: discrete.set_one_mobility_force(state, body, 0, 0.1)),
        "DiscreteForces.set_all_body_forces": (48, lambda: discrete.set_all_body_forces(state, of_bodies)),
        "DiscreteForces.set_one_body_force": (6, lambda: discrete.set_one_body_force(state, body, six)),
        "DiscreteForces.clear_all_forces": (55, lambda: discrete.clear_all_forces(state)),
        "MobilityDiscreteForce.set_mobility_force": (1, lambda: single.set_mobility_force(state, 0.1)),
        "MobilityLinearSpring.set_stiffness": (1, lambda: spring.set_stiffness(state, 2.0)),
        "ConstantForce.set_force": (3, lambda: push.set_force(state, point)),
        "Gravity.set_gravity_vector": (3, lambda: gravity.set_gravity_vector(state, point)),
        "MobilityLinearStop.set_bounds": (2, lambda: stop.set_bounds(state, -2.0, 2.0)),
        "body.set_rotor_inertia": (1, lambda: bodies[2].set_rotor_inertia(state, 0.2)),
        "Variable.set_value": (1, lambda: target.set_value(of_target, 0.7)),
        "control.Custom.set_parameters": (7, lambda: control.set_parameters(state, seven)),
    }
    return found


def measure_setters(mb: Any, options: argparse.Namespace) -> dict:
    """Microseconds of each setter."""
    effort = QUICK if options.quick else THOROUGH
    calls = setters(mb)
    least: dict[str, float] = {}
    for _ in range(effort.rounds):
        for name, (_, call) in calls.items():
            least[name] = min(least.get(name, np.inf), *time_calls(call, [()], effort.repeats, effort.seconds))
    return {name: (calls[name][0], time) for name, time in least.items()}


# ------------------------------------------------------------------------------------------ all of it


def measure(options: argparse.Namespace) -> dict:
    """Time what was asked for."""
    for name in ("rows", "columns", "models"):
        setattr(options, name, getattr(options, name, None) or "")
    mb, _ = _import()
    results: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results["additions"] = measure_additions(mb, options)
        if not (options.rows or options.columns or options.models):
            results["events"] = measure_events(mb, options)
            results["sensitivities"] = measure_sensitivities(mb, options)
            results["setters"] = measure_setters(mb, options)
    return results


def show(results: dict) -> list[Target]:
    """Print the tables; what was promised of them."""
    targets = []
    in_python = {one.name for one in ADDITIONS if one.in_python}
    additions = results.get("additions", {})
    columns = [column for column in COLUMNS if any(column in one["bare"] for one in additions.values())]
    for model, result in additions.items():
        rows = [["the bare model, us", *(f"{result['bare'].get(column, 0.0):.1f}" for column in columns)]]
        for name, ratios in result["ratios"].items():
            more = result["evaluations"][name]
            rows.append([name, *(_cell(ratios.get(column), more.get(column, 1.0)) for column in columns)])
            found = [(one, one / more.get(column, 1.0)) for column, one in ratios.items() if isinstance(one, float)]
            if found and name not in in_python:
                most, beyond = max(one for one, _ in found), max(one for _, one in found)
                said = f"{model}, {name}, at most" + (f", beyond evaluations ({most:.2f} with them)" if most > beyond else "")
                targets.append(Target(said, beyond, LIMIT, at_least=False))
        print_table(f"{model}: times the bare model", ["addition", *columns], rows)
    if "events" in results:
        events = results["events"]
        print_table("in a run, us", ["what", "us"], [[name, f"{time:.2f}"] for name, time in events.items()])
        extra = events["a row after an event"] - events["a row"]
        targets.append(Target("a row after an event, beyond one before, us", extra, ROW, at_least=False))
    if "sensitivities" in results:
        rows = [[column, _cell(ratio, more)] for column, (ratio, more) in results["sensitivities"].items()]
        print_table("sensitivities beside a law at 100 Hz", ["call", "times those without"], rows)
    if "setters" in results:
        rows = []
        for name, (n, time) in results["setters"].items():
            rows.append([name, n, f"{time:.2f}"])
            targets.append(Target(f"{name}, us", time, SETTING + EACH * n, at_least=False))
        print_table("setters", ["setter", "numbers", "us"], rows)
    return targets


def _cell(value: Any, evaluations: float = 1.0) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return (f"{value:.2f}" if value < 10.0 else f"{value:.0f}") + (f" of {evaluations:.2f}" if evaluations > 1.05 else "")


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""

    def more(parser: argparse.ArgumentParser) -> None:
        for name, what in (("rows", "additions"), ("columns", "columns"), ("models", "models")):
            parser.add_argument(f"--{name}", default="", help=f"regular expression of {what} to measure")

    return run_as_script(__doc__, measure, show, more, arguments=arguments)


if __name__ == "__main__":
    main()
