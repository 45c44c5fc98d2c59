"""A model that came from a file: the system, and what the file says besides."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..algebra.arrays import Array
from ..value.attributes import Sealed
from ..value.checks import all_known, suggest
from ..value.html_table import html_table
from ..value.stage import Stage
from .report import Report

if TYPE_CHECKING:
    from ..constraint.base import Constraint
    from ..force import Gravity, MobilityLinearStop, TransmissionSpring
    from ..force.base import Force
    from ..force.contact.subsystem import CompliantContactSubsystem
    from ..force.subsystem import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..system.matter import SimbodyMatterSubsystem
    from ..system.system import MultibodySystem
    from ..value import Transform
    from .urdf.document import Joint, Link


@dataclass(eq=False, kw_only=True)
class Model(Sealed):
    """A multibody system built from a file, with the file's names.

    Attributes
    ----------
    name : str
        What the file calls the model.
    system : MultibodySystem
    matter : SimbodyMatterSubsystem
    forces : GeneralForceSubsystem
    gravity : force.Gravity
    bodies : dict of str to MobilizedBody
        By the file's name of the body or link; each body's origin is the origin of the file's frame of it.
    coordinates, speeds : dict of str to int
        Where in `State.q` and `State.u` each coordinate and each speed is, in that order. They have the file's names; where it
        has none they are named after the joint, `name[i]` where this has several. A name that the file uses twice is
        ``joint/coordinate``.
    report : Report
        A list of str. What was dropped or approximated, a sentence each; it prints as a line each.
    angles : set of str
        Those of `coordinates` that are angles: what motion files may hold in degrees.
    ranges : dict of str to (float, float)
        Within which the file expects coordinates to be, where it says so; what keeps them there is in `stops`, or in forces.
    markers : dict of str to (MobilizedBody, (3,) ndarray)
        Stations that a motion-capture system sees: the body, and where in its frame.
    frames : dict of str to (MobilizedBody, Transform)
        Frames that the file fixes to bodies: the body, and X_BF. Sites of MJCF files are frames.
    constraints : dict of str to Constraint
        Those that the file names, and those by which it closes loops.
    springs, dampers, frictions : dict of str to Force
        Of coordinates, by the name of the joint or coordinate.
    stops : dict of str to force.MobilityLinearStop or force.TransmissionSpring
        Likewise, where limits are simulated; those of tendons are the latter, by the tendon's name.
    actuators : dict of str to Force
        What drives the model, by the file's name.
    muscles : dict of str to Muscle
        Those that act, by the file's name, MuJoCo's too; what an OpenSim file says of them is in ``data["muscles"]``.
    keyframes : dict of str to callable
        States that the file names: ``model.keyframes[name]()`` makes one.
    contacts : CompliantContactSubsystem or None
        What finds and applies the forces of collision shapes, where they were asked for.
    data : dict of str to object
        What else the file says and is kept as it is, by the name of the element.
    links, joints : dict of str to Link, Joint
        What a URDF file says of each, as data; limits, damping and friction are simulated where that was asked for.
    root : str
        Name of the root link of a URDF file, empty for other formats.

    Examples
    --------
    >>> import mobod as mb
    >>> import pathlib
    >>> model = mb.load(pathlib.Path(mb.examples.__path__[0]) / "panda.urdf")
    >>> list(model.coordinates)[:2], model.bodies["panda_hand"].parent.name
    (['panda_joint1', 'panda_joint2'], 'panda_link8')
    >>> state = model.default_state()
    >>> len(state.q)
    7
    """

    name: str
    system: MultibodySystem
    matter: SimbodyMatterSubsystem
    forces: GeneralForceSubsystem
    gravity: Gravity
    bodies: dict[str, MobilizedBody]
    coordinates: dict[str, int]
    speeds: dict[str, int]
    report: Report
    angles: set[str] = field(default_factory=set)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    markers: dict[str, tuple[MobilizedBody, Array]] = field(default_factory=dict)
    frames: dict[str, tuple[MobilizedBody, Transform]] = field(default_factory=dict)
    constraints: dict[str, Constraint] = field(default_factory=dict)
    springs: dict[str, Force] = field(default_factory=dict)
    dampers: dict[str, Force] = field(default_factory=dict)
    stops: dict[str, MobilityLinearStop | TransmissionSpring] = field(default_factory=dict)
    frictions: dict[str, Force] = field(default_factory=dict)
    actuators: dict[str, Any] = field(default_factory=dict)
    muscles: dict[str, Any] = field(default_factory=dict)
    keyframes: dict[str, Callable[[], State]] = field(default_factory=dict)
    contacts: CompliantContactSubsystem | None = None
    data: dict[str, Any] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    root: str = ""
    #: What a new state is told that topology cannot say: Euler angles, locks, coordinates; gets the model and the state.
    prepare: Callable[[Model, State], None] | None = field(default=None, repr=False)
    #: The default state, and the topology that it is of: a copy takes a fifth of the time.
    _kept: tuple[object, State] | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}

    def default_state(self) -> State:
        """Return a new state as the file says it: coordinates and speeds, and which of them are locked or prescribed.

        Where the file says nothing, coordinates and speeds are zero (quaternions at no rotation), and coupled coordinates
        are where the coupling puts them.

        Returns
        -------
        State
            Realized through `Stage.MODEL`.
        """
        system, token = self.system, (self.system.topology_token, self.prepare)
        if self._kept is not None and self._kept[0] == token and system.system_topology_has_been_realized():
            return self._kept[1].copy()
        state = system.realize_topology()
        if self.prepare is not None:
            self.prepare(self, state)
        if not system.is_interpreted:  # hooks of users' parts are called for each new state
            self._kept = token, state.copy()
        return state

    def equilibrate_muscles(self, state: State) -> None:
        """Give the fibers of all muscles the lengths at which they balance their tendons.

        At the state's coordinates and activations, and zero fiber velocity. The state is realized to POSITION for it.

        Parameters
        ----------
        state : State
            Its fiber lengths, or tendon forces, are changed.

        Raises
        ------
        ConvergenceError
            If a muscle has no equilibrium; it names the muscle, its length and its limits. The state is then as it was.
        """
        from ..muscle import equilibrate

        self.system.realize(state, Stage.POSITION)
        equilibrate(state, self.muscles.values())

    def set_controls(self, controls: Any) -> None:
        """Drive muscles and actuators by functions of time. A topological change: states are made anew.

        Parameters
        ----------
        controls : path, Table, mapping of str to Function or float, or biomechanics.Controls
            A file of controls of OpenSim's: a table over time (``.sto``) or a ``ControlSet`` (``.xml``), whose ranges are taken
            into ``data["control ranges"]``; or functions of time, or numbers, by the actuator's name. They take the place of
            functions that drove these actuators, and are added to what states set. `write_osim` writes them.

        Raises
        ------
        ModelError
            If it names an actuator that the model does not have, or one that no function can drive; nothing is changed then.

        Examples
        --------
        >>> from importlib.resources import files
        >>> import mobod as mb
        >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
        >>> leg.set_controls({"soleus_r": mb.function.Step(0.02, 0.8, 0.1, 0.2), "rect_fem_r": 0.1})
        >>> leg.muscles["soleus_r"].calc_excitation(leg.default_state())
        0.02
        """
        from .controls import set_controls

        set_controls(self, controls)

    def calc_moment_arm(self, state: State, muscle: str, coordinate: str) -> float:
        """The moment arm of a muscle about a coordinate, with those that are coupled to it by constraints moving along.

        Parameters
        ----------
        state : State
            Realized to POSITION.
        muscle, coordinate : str
            Their names.

        Returns
        -------
        float
            As OpenSim defines it: the generalized force on the coordinate of a unit tension; zero of one that cannot move.

        Raises
        ------
        KeyError
            If there is no such muscle or coordinate.
        """
        found = self.muscles.get(muscle)
        if found is None:
            raise KeyError(f"the model has no muscle {muscle!r}; {suggest(muscle, [*self.muscles])}")
        all_known("the model has no speed of a coordinate", [coordinate], self.speeds, KeyError)
        return float(found.get_path().calc_moment_arm_of(state, self.speeds[coordinate]))

    def save_urdf(self, path: str | os.PathLike[str]) -> list[str]:
        """Write the model to a URDF file; see `importer.export.save_urdf`, which takes systems too.

        Parameters
        ----------
        path : str or path-like
            The file, ``.urdf``.

        Returns
        -------
        list of str
            What the file does not say, a sentence each.
        """
        from .export import save_urdf

        return save_urdf(self, path)

    def save_mjcf(self, path: str | os.PathLike[str]) -> list[str]:
        """Write the model to an MJCF file; see `importer.export.save_mjcf`, which takes systems too.

        Parameters
        ----------
        path : str or path-like
            The file, ``.xml``.

        Returns
        -------
        list of str
            What the file does not say, a sentence each.
        """
        from .export import save_mjcf

        return save_mjcf(self, path)

    def __repr__(self) -> str:
        """Name, and how much there is of it."""
        return (
            f"<Model {self.name!r}: {len(self.bodies)} bodies, {len(self.coordinates)} coordinates, {len(self.speeds)} speeds>"
        )

    def _repr_html_(self) -> str:
        """The page in notebooks: the model at its default state, which can be turned, and its bodies."""
        from ..viewer.notebook import show_pose

        frame = show_pose(self.system, self.default_state(), self.name)
        bodies = [
            (name, type(body).__name__, body.get_parent_mobilized_body().name)
            for name, body in self.bodies.items()
            if body.index
        ]
        return frame + html_table(repr(self), ("body", "mobilizer", "on"), bodies)
