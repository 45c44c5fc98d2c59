"""The package's own errors: MobodError and its family.

A failed call leaves its state as it was. Messages name what was asked, what was found and what to do.
"""

from __future__ import annotations

from typing import Any


class MobodError(Exception):
    """Root of every error that mobod raises of its own accord.

    ``ValueError``, ``TypeError`` and ``IndexError`` are raised beside it, where Python users expect them.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> try:
    ...     system.matter.bodies["lower"].get_body_velocity(state)
    ... except mb.MobodError as error:
    ...     print(error)
    get_body_velocity needs Stage.VELOCITY; this state is at MODEL; call system.realize(state, Stage.VELOCITY)
    """


class CommandError(Exception):
    """A command cannot do what its user asked for; the message says why, in one line."""


class StageError(MobodError, RuntimeError):
    """A state has not been realized far enough for what was asked of it.

    The message says what was asked, the stage that it needs, the stage that the state has, and the call that
    gets it there.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> try:
    ...     system.matter.bodies["lower"].get_body_transform(state)
    ... except mb.StageError as error:
    ...     print(error)
    get_body_transform needs Stage.POSITION; this state is at MODEL; call system.realize(state, Stage.POSITION)
    """


class TopologyError(MobodError, RuntimeError):
    """The structure of the system has changed since, or does not allow, what was asked.

    Raised for a body or a state of another system, a state older than the last change of the topology, and for
    a system that has not been realized at all.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> try:
    ...     mb.mobilizer.Pin(system.matter.bodies["lower"], mb.body.Particle(1.0)) and system.realize(state)
    ... except mb.TopologyError as error:
    ...     print(error)
    realize: the system was changed after this state was made; call state = system.realize_topology() for a new one
    """


class FormulaError(MobodError, ValueError):
    """A part of a system cannot be written as formulas, by `mobod.equations` or `mobod.export_c`.

    What Python computes, and what takes branches on computed numbers, such as contact; the message names the part.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.rattleback.build()
    >>> try:
    ...     mb.equations(system)
    ... except mb.FormulaError as error:
    ...     print(str(error).split(":")[0])
    the force 'contact', a ContactElement, cannot be written as formulas
    """


class ModelError(MobodError, ValueError):
    """A model that cannot be: non-physical mass properties, bad frames, duplicate names, a broken file.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> try:
    ...     mb.MassProperties(-1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))
    ... except mb.ModelError as error:
    ...     print(error)
    mass must not be negative; it is -1.0; a body without mass is body.Massless()
    """


class ModelWarning(UserWarning):
    """A model's file says what moves the model and is not simulated: forces of unknown kinds, contacts.

    One warning for a file, with counts and the options that help; `Model.report` has a line for each.

    Examples
    --------
    >>> import pathlib, tempfile, warnings
    >>> import mobod as mb
    >>> leg = pathlib.Path(mb.examples.__path__[0]) / "leg6dof9musc.osim"
    >>> text, other = leg.read_text(), pathlib.Path(tempfile.mkdtemp()) / "other.osim"
    >>> _ = other.write_text(text.replace("Thelen2003Muscle", "OtherMuscle"))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", mb.ModelWarning)
    ...     model = mb.load(other)
    >>> "muscles, which do not act: 9" in str(caught[0].message)
    True
    """


class ConvergenceError(MobodError, RuntimeError):
    """Assembly, projection or integration did not reach its tolerance.

    Attributes
    ----------
    diagnosis : Diagnosis or None
        Where constraints could not be satisfied, what `MultibodySystem.diagnose_constraints` says of the state at the end.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> one = mb.constraint.Rod(system.matter.ground, (0, 0, 0), arm, (0, 0, 0), 1.0, name="one")
    >>> two = mb.constraint.Rod(system.matter.ground, (0, 0, 0), arm, (0, 0, 0), 1.5, name="two")
    >>> state = system.realize_topology()
    >>> state.q = 0.3, 0.4
    >>> try:
    ...     system.project(state)
    ... except mb.ConvergenceError as error:
    ...     print(len(error.diagnosis.conflicting))
    1
    """

    diagnosis: Any = None
