"""Calls everything public with what makes no sense, and writes a table of what each does: ``python public_calls.py``.

A line is a name and a letter for each of `WRONG`: ``.`` it returned, ``T`` TypeError, ``V`` ValueError (as ModelError is),
``I`` IndexError or KeyError, ``M`` another of mobod's errors, ``O`` OSError, ``N`` NotImplementedError, ``!`` any other error,
whose message may not say what was wrong: no line may have one. Names of the inner interface are left out. All required
arguments get the same value, but a state where the name says so.
"""

import inspect
import os
import sys
import tempfile
import warnings

import numpy as np

import mobod as mb
from mobod.value.attributes import inner_names

WRONG = {"None": None, "nan": np.nan, "text": "x", "shape": np.zeros((7, 5)), "-1": -1, "object": object()}
ROOMS = (
    "assembler",
    "body",
    "constraint",
    "decoration",
    "event",
    "force",
    "function",
    "integrator",
    "measure",
    "mobilizer",
    "motion",
)
#: What draws, and how integrators and time steppers talk to each other.
NOT_CALLED = ("plot", "animate", "entry_points", "kernel")


def letter(error):
    """The letter of an error in the table."""
    for kinds, one in (
        (NotImplementedError, "N"),
        (TypeError, "T"),
        (ValueError, "V"),
        ((IndexError, KeyError), "I"),
        (mb.MobodError, "M"),
        (OSError, "O"),
    ):
        if isinstance(error, kinds):
            return one
    return "!"


def required(function):
    """The names of arguments that have to be given; None where that cannot be told."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [one.name for one in parameters if one.kind in plain and one.default is inspect.Parameter.empty]
    optional = [one.name for one in parameters if one.kind in plain and one.default is not inspect.Parameter.empty]
    return names or optional[:1]


def objects():
    """One of each sort of object that users hold, fresh: by name."""
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    forces = mb.GeneralForceSubsystem(system)
    upper, lower = matter.bodies["upper"], matter.bodies["lower"]
    spring = mb.force.TwoPointLinearSpring(forces, matter.ground, (0, 0, 0), lower, (0, 0, 0), 1.0, 1.0)
    rod = mb.constraint.Rod(matter.ground, (0, 2, 0), lower, (0, 0, 0), 3.0)
    measure = mb.measure.Coordinate(matter, upper)
    state = system.realize_topology()
    rod.disable(state)
    system.realize(state)
    integrator = mb.integrator.RungeKuttaMerson(system)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    found = {
        "system": system,
        "matter": matter,
        "forces": forces,
        "body": lower,
        "spring": spring,
        "rod": rod,
        "measure": measure,
        "state": state.copy(),
        "integrator": integrator,
        "stepper": stepper,
        "ensemble": mb.Ensemble(system, 3, state=state),
        "assembler": mb.Assembler(system),
        "trajectory": mb.Trajectory(
            time=[0.0, 1.0], q=np.zeros((2, 2)), u=np.zeros((2, 2)), energy=[0.0, 0.0],
            coordinate_names=["a", "b"], speed_names=["a", "b"], system=system,
        ),
        "rotation": mb.Rotation(),
        "transform": mb.Transform(),
        "mass_properties": mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1.0, 1.0, 1.0)),
        "inertia": mb.UnitInertia(1.0, 1.0, 1.0),
        "function": mb.function.Sinusoid(1.0, 1.0, 0.0),
    }  # fmt: skip
    return found, state


def attempt(function, names, state=None):
    """A letter for each wrong value."""
    line = ""
    if state is None and "state" in names:
        state = objects()[1]
    for value in WRONG.values():
        arguments = [state.copy() if name == "state" else value for name in names]
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                function(*arguments)
            line += "."
        except Exception as error:
            line += letter(error)
    return line


def lines(tell=lambda name: None):
    """The table."""
    for room in (None, *ROOMS):
        place = mb if room is None else getattr(mb, room)
        names = getattr(place, "__all__", [name for name in dir(place) if not name.startswith("_")])
        for name in sorted(names):
            function = getattr(place, name, None)
            if not callable(function) or (room is None and name in ("load_urdf", "simulate")):
                continue
            wanted = required(function)
            if wanted:
                full = name if room is None else f"{room}.{name}"
                tell(full)
                yield f"{full} {attempt(function, wanted)}"
    asked = objects()[0]
    for owner, one in asked.items():
        kind = type(one)
        for name, _ in inspect.getmembers(kind, callable):
            if name.startswith("_") or name in NOT_CALLED or name in inner_names(kind):
                continue
            wanted = required(getattr(one, name))
            if wanted:
                tell(f"{owner}.{name}")
                found, state = objects()  # another one for each: wrong calls may leave something behind
                yield f"{owner}.{name} {attempt(getattr(found[owner], name), wanted, state)}"


if __name__ == "__main__":
    import faulthandler

    faulthandler.enable()
    where = tempfile.mkdtemp()
    os.chdir(where)

    def tell(name):
        """Say what is called now, for the case that nothing comes back."""
        faulthandler.cancel_dump_traceback_later()
        faulthandler.dump_traceback_later(120, exit=True)
        print(name, file=sys.stderr, flush=True)

    for one in lines(tell):
        print(one, flush=True)
