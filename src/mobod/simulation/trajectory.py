"""Trajectory: a computed motion as arrays, as states, in files and in pictures."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from ..algebra.arrays import Array
from ..shapes.coordinate_kinds import kinds_of_speeds
from ..value.attributes import Sealed
from ..value.checks import integer
from ..value.files import as_path
from ..value.html_table import html_table
from ..value.stage import Stage
from . import contact_table
from .events import Events, no_events
from .hdf5_file import DiskArray
from .labels import kind_of, labels, row_names
from .motion_files import FORMATS, LOCATIONS, VELOCITIES, columns_of, flattened, import_extra, load_motion, save_motion
from .quantities import POSES, QUANTITY
from .states_of_motion import States

if TYPE_CHECKING:
    import pandas as pd

    from ..shapes.tracks import Track
    from ..state.resources import Settings
    from ..state.state import State
    from ..system.system import MultibodySystem
    from ..viewer.motion_viewer import MotionViewer
    from ..viewer.notebook import Shown
    from ..visual.animate import Animation
    from ..visual.plot import TrajectoryFigure
    from .audit import Audit
    from .energy_accounts import Ledger
    from .error_estimate import ErrorEstimate
    from .run import IntegratorSettings
    from .sensitivities import Sensitivities


class Trajectory(Sealed):
    """The motion of a system at a sequence of times.

    `mobod.simulate` makes these. ``len(trajectory)`` is the number of times.

    Parameters
    ----------
    system : MultibodySystem, optional
        What moved. Without it there are numbers, but neither `states` nor pictures of the mechanism.
    time : array_like (nt,)
        Times, ascending; time.
    q : array_like (nt, nq)
        Generalized coordinates.
    u : array_like (nt, nu)
        Generalized speeds.
    energy : array_like (nt,)
        Kinetic and potential energy together; mass*length^2/time^2.
    coordinate_names, speed_names : sequence of str
        One a column of `q` and of `u`.
    z : array_like (nt, nz), optional
        Auxiliary variables, where the system has some.
    particle_locations, particle_velocities : array_like (nt, np, 3), optional
        Of the particles, in Ground, where the system has some; length, length/time.
    auxiliary_names : sequence of str, optional
        One a column of `z`; numbers unless given.
    quantities : mapping of str to array_like (nt, ...), optional
        What else was recorded, by name.
    contacts : array_like (n, columns), optional
        What touched, a row each, if that was recorded: the columns of `CompliantContactSubsystem.get_contacts` as numbers,
        those of the first time first.
    contact_counts : array_like (nt,), optional
        How many of these rows each time has.
    events : array_like (n, columns), optional
        What happened, a row each, as `Events.rows` has it.
    event_labels : sequence of (str, str, str, str), optional
        The words that these rows refer to: `Events.labels`.
    body_names : sequence of str, optional
        Whose poses were recorded.
    body_poses : array_like (nt, n, 3, 4), optional
        Their orientations R_GB in Ground, and as the last column the locations p_GB of their origins; length.
    surface_names : sequence of str, optional
        Of all surfaces for contact, by the numbers that *contacts* has; the system's unless given.
    row_names : mapping of str to sequence of str, optional
        Of ``body`` and ``constraint``, by which rows of recorded quantities are named where there is no system.
    state : State, optional
        The state that the motion started from. `states` are copies of it with time, q, u, z and particles replaced, which
        keep its other choices and settings.
    model_variables : mapping, optional
        Modelling choices, such as ``{"use_euler_angles": True}``; saved with the numbers.
    statistics : mapping, optional
        How it was computed: ``steps_taken``, ``evaluations``, ``wall_time``, and what else an integrator counts; where
        Python computes some of it, ``interpreted`` says of which parts, and why, a line each.

    Attributes
    ----------
    time, q, u, z, energy, particle_locations, particle_velocities, body_poses : arrays
        Read-only. Those of a recording on disk are read when they are asked for numbers, and only as far as they are:
        ``trajectory.q[1000:1010]`` reads ten rows.
    quantities : dict of str to array
        Likewise.
    events : Events
        What happened: exact times, which handler or witness, in which direction, and what was latched or struck, with the
        impulse and the energy lost. ``print(trajectory.events)``; ``trajectory.events.to_pandas()``.
    coordinate_names, speed_names, auxiliary_names, body_names : tuple of str
    system : MultibodySystem or None
    model_variables, statistics : dict
    sensitivities : Sensitivities or None
        Derivatives by initial values and parameters, of a run that was asked for them; no file holds them.

    Raises
    ------
    ValueError
        If arrays and names do not fit together.

    Examples
    --------
    >>> motion = Trajectory(time=[0.0, 0.5], q=[[1.0], [0.8]], u=[[0.0], [-0.4]], energy=[2.0, 2.0],
    ...                     coordinate_names=["swing"], speed_names=["swing"])
    >>> motion
    <Trajectory: 2 times from 0 to 0.5, 1 coordinate, 1 speed>
    """

    INNER = frozenset(
        "contact_arrays event_rows from_arrays has_contacts knows_events ledger named_rows run_settings template tracks".split()
    )

    time: Array
    q: Array
    u: Array
    z: Array
    energy: Array
    particle_locations: Array
    particle_velocities: Array
    body_poses: Array
    quantities: dict[str, Array]
    events: Events
    coordinate_names: tuple[str, ...]
    speed_names: tuple[str, ...]
    auxiliary_names: tuple[str, ...]
    body_names: tuple[str, ...]
    system: MultibodySystem | None
    model_variables: dict[str, Any]
    statistics: dict[str, Any]
    sensitivities: Sensitivities | None

    def __init__(
        self,
        *,
        system: MultibodySystem | None = None,
        time: ArrayLike,
        q: ArrayLike,
        u: ArrayLike,
        energy: ArrayLike,
        coordinate_names: Sequence[str],
        speed_names: Sequence[str],
        z: ArrayLike | None = None,
        particle_locations: ArrayLike | None = None,
        particle_velocities: ArrayLike | None = None,
        auxiliary_names: Sequence[str] | None = None,
        quantities: Mapping[str, ArrayLike] | None = None,
        body_names: Sequence[str] = (),
        body_poses: ArrayLike | None = None,
        surface_names: Sequence[str] | None = None,
        row_names: Mapping[str, Sequence[str]] | None = None,
        contacts: ArrayLike | None = None,
        contact_counts: ArrayLike | None = None,
        events: ArrayLike | None = None,
        event_labels: Sequence[Sequence[str]] | None = None,
        state: State | None = None,
        model_variables: Mapping[str, Any] | None = None,
        statistics: Mapping[str, Any] | None = None,
    ) -> None:
        self.time = _read_only(time, "time", 1)
        nt = len(self.time)
        self.q = _read_only(q, "q", 2, nt)
        self.u = _read_only(u, "u", 2, nt)
        self.z = _read_only(np.zeros((nt, 0)) if z is None else z, "z", 2, nt)
        self.energy = _read_only(energy, "energy", 1, nt)
        none = np.zeros((nt, 0, 3))
        self.particle_locations = _read_only(none if particle_locations is None else particle_locations, LOCATIONS, 3, nt)
        self.particle_velocities = _read_only(none if particle_velocities is None else particle_velocities, VELOCITIES, 3, nt)
        shape = self.particle_locations.shape
        if shape[2] != 3 or self.particle_velocities.shape != shape:
            raise ValueError(
                f"{LOCATIONS} and {VELOCITIES} both have shape (nt, np, 3); they have {shape} and "
                f"{self.particle_velocities.shape}"
            )
        self.coordinate_names = _names(coordinate_names, "coordinate_names", "q", self.q.shape[1])
        self.speed_names = _names(speed_names, "speed_names", "u", self.u.shape[1])
        numbers = [str(number) for number in range(self.z.shape[1])]
        self.auxiliary_names = _names(
            numbers if auxiliary_names is None else auxiliary_names, "auxiliary_names", "z", self.z.shape[1]
        )
        self.quantities = {
            str(name): _read_only(value, f"the quantity {name!r}", None, nt) for name, value in (quantities or {}).items()
        }
        self.body_poses = _read_only(np.zeros((nt, 0, 3, 4)) if body_poses is None else body_poses, POSES, 4, nt)
        if self.body_poses.shape[2:] != (3, 4):
            raise ValueError(f"{POSES} must have the shape (nt, n, 3, 4); it has {self.body_poses.shape}")
        self.body_names = _names(body_names, "body_names", POSES, self.body_poses.shape[1])
        self._contacts, self._contact_counts = _contact_rows(contacts, contact_counts, nt)
        self._surface_names = None if surface_names is None else tuple(str(name) for name in surface_names)
        self._row_names = {str(kind): [str(name) for name in names] for kind, names in (row_names or {}).items()}
        self.events = no_events() if events is None else Events(events, event_labels or ())
        #: Of each event the first row after it; and whether it is known what happened, as it is not from a CSV file.
        self.event_rows: npt.NDArray[np.int64]
        self.event_rows = np.searchsorted(self.time, self.events["time"]) if len(self.events) else np.zeros(0, np.int64)
        self.knows_events = event_labels is not None
        if ((time := np.asarray(self.time))[1:] < time[:-1]).any():
            raise ValueError(f"time must not go backward; it does after index {int(np.argmax(np.diff(self.time) < 0))}")
        self.system = system
        self.model_variables = dict(model_variables or {})
        self.statistics = dict(statistics or {})
        self.template = None if state is None else state.copy()
        self._audit: Audit | None = None
        #: Rows from which on states have other Instance variables, as event handlers have left them, and these.
        self.changes: list[tuple[int, dict[str, Any], Settings]] = []
        self.ledger: Ledger | None = None  # of a run that kept the accounts itself, step by step
        self.run_settings: IntegratorSettings | None = None  # of a run that can be repeated to keep them
        self.error_estimate: ErrorEstimate | None = None
        self.sensitivities: Sensitivities | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name.startswith("to_"):  # as data frames have
                said += f": save('motion{FORMATS[1]}') writes files, {', '.join(FORMATS)}, and to_pandas() makes a data frame"
            raise AttributeError(said, name=name, obj=self)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        span = f" from {self.time[0]:g} to {self.time[-1]:g}" if len(self) else ""
        counts = [(len(self), "time"), (self.q.shape[1], "coordinate"), (self.u.shape[1], "speed")]
        counts.append((self.particle_locations.shape[1], "particle"))
        times, coordinates, speeds, particles = (f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts)
        end = self.statistics.get("termination")
        rest = f"{f', {particles}' if counts[-1][0] else ''}{f'; {end}' if end else ''}"
        return f"<Trajectory: {times}{span}, {coordinates}, {speeds}{rest}>"

    def _repr_html_(self) -> str:
        """The page in notebooks, which plays the motion, and the coordinates' ranges."""
        from ..viewer.notebook import show_motion

        q = np.asarray(self.q)
        rows = (
            [(name, *values) for name, *values in zip(self.coordinate_names, q[0], q[-1], q.min(0), q.max(0), strict=True)]
            if len(q)
            else []
        )
        return (show_motion(self) or "") + html_table(repr(self), ("coordinate", "first", "last", "least", "greatest"), rows)

    def tracks(self) -> list[Track]:
        """Lines shown beside the bodies, at the motion's own times: none, unless a kind of motion has them."""
        return []

    # ------------------------------------------------------------------------------------------ how it was computed

    @property
    def steps_taken(self) -> int:
        """Number of steps that the integrator took; 0 if that is not known."""
        return int(self.statistics.get("steps_taken", 0))

    @property
    def evaluations(self) -> int:
        """The number of evaluations of accelerations; 0 if it is not known."""
        return int(self.statistics.get("evaluations", 0))

    @property
    def wall_time(self) -> float:
        """The time that computing it took, in seconds; NaN if it is not known."""
        return float(self.statistics.get("wall_time", np.nan))

    @property
    def energy_drift(self) -> float:
        """Largest departure of the energy from its first value; mass*length^2/time^2.

        It is the error of the integration if nothing dissipates or drives; otherwise it includes the work done.
        """
        return float(np.abs(self.energy - self.energy[0]).max()) if len(self) else 0.0

    def calc_kinetic_energy(self, indices: ArrayLike | None = None) -> Array:
        """Calculate the kinetic energy; the rest of `energy` is potential.

        Parameters
        ----------
        indices : array_like of int, optional
            At which times; all by default.

        Returns
        -------
        (n,) array
            mass*length^2/time^2.

        Raises
        ------
        ValueError
            If the trajectory has no system.
        """
        chosen = np.arange(len(self)) if indices is None else np.asarray(indices)
        states = self.states
        kinetic = np.empty(len(chosen))
        for row, state in enumerate(states.walk(chosen)):
            assert self.system is not None
            self.system.realize(state, Stage.VELOCITY)
            kinetic[row] = self.system.get_matter_subsystem().calc_kinetic_energy(state)
        return kinetic

    @property
    def audit(self) -> Audit:
        """The quality of the run: energy balance, residuals, momentum, warnings. ``print(trajectory.audit)``.

        Computed when it is first read, and not during the run: for the work of forces, motions and constraints the run is
        repeated step by step, if possible; see `mobod.simulation.audit.Audit`.
        """
        from .audit import make_audit

        if self._audit is None:
            self._audit = make_audit(self)
        return self._audit

    def get_body_poses(self, body: Any) -> Array:
        """The recorded poses X_GB of a body.

        Parameters
        ----------
        body : MobilizedBody or str
            Itself or its name.

        Returns
        -------
        (nt, 4, 4) array
            Homogeneous matrices; length.

        Raises
        ------
        KeyError
            If its poses were not recorded; ``simulate(..., record_bodies=[...])`` does.
        TypeError
            If it is no body.
        """
        name = body if isinstance(body, str) else getattr(body, "name", None)
        if not isinstance(name, str):
            raise TypeError(f"body is one, or its name, not {body!r}")
        if name not in self.body_names:
            there = ", ".join(self.body_names) or "none"
            raise KeyError(
                f"poses of {name!r} were not recorded, those of {there} were; simulate with record_bodies=[{name!r}]"
            )
        poses = np.zeros((len(self), 4, 4))
        poses[:, :3] = self.body_poses[:, self.body_names.index(name)]
        poses[:, 3, 3] = 1.0
        return poses

    # ------------------------------------------------------------------------------------------ contacts

    @property
    def contacts(self) -> npt.NDArray[Any]:
        """Contacts that touched: a structured array with a row a contact, those of the first time first.

        Its fields are ``report``, the index of the time; ``time``; and those of `CompliantContactSubsystem.get_contacts`.
        ``simulate(..., record=["contacts"])`` records them.

        Raises
        ------
        KeyError
            If they were not recorded.
        """
        return self._contacts_between(0, len(self))

    def contacts_at(self, i: int) -> npt.NDArray[Any]:
        """Contacts that touched at one time: the rows of `contacts` with that ``report``; of a file nothing else is read.

        Parameters
        ----------
        i : int
            Of the time; negative ones count from the end.

        Raises
        ------
        KeyError
            If contacts were not recorded.
        IndexError
            If there is no such time.
        """
        first = integer("the number of a time", i)
        first += len(self) if first < 0 else 0
        if not 0 <= first < len(self):
            raise IndexError(f"there are {len(self)} times; no number {i}")
        return self._contacts_between(first, first + 1)

    def contacts_dataframe(self) -> pd.DataFrame:
        """Make a table of `contacts`: a row a contact, three columns for each vector, such as ``force.x``.

        ``name1`` and ``name2`` are the surfaces' names, ``normal_force`` and ``friction_force`` the sizes of both parts.

        Raises
        ------
        KeyError
            If contacts were not recorded.
        ImportError
            If pandas is not installed.
        """
        pandas = import_extra("pandas", "contacts_dataframe")
        table = self.contacts
        columns: dict[str, Any] = contact_table.flattened(table)
        names = np.array(self.surface_names, dtype=object)
        columns["name1"], columns["name2"] = names[table["surface1"]], names[table["surface2"]]
        columns["normal_force"], columns["friction_force"] = contact_table.loads(table)
        return pandas.DataFrame(columns)

    @property
    def surface_names(self) -> tuple[str, ...]:
        """Names of the surfaces for contact, by the numbers that `contacts` has; none where these were not recorded.

        Where several surfaces have one name, each has its number behind it, among all of the system's surfaces: ``ball[2]``.
        """
        if self._contacts is None:
            return ()
        if not self._surface_names:
            count = int(np.asarray(self._contacts)[:, :2].max(initial=-1)) + 1  # both surfaces' numbers come first
            numbers = (f"surface{i}" for i in range(count))
            self._surface_names = tuple(contact_table.surface_names(self.system) or numbers)
        return self._surface_names

    @property
    def has_contacts(self) -> bool:
        """True if contacts were recorded."""
        return self._contacts is not None

    def contact_arrays(self) -> dict[str, Any]:
        """The rows of contacts, and how many there are at each time."""
        return {"contacts": self._contacts, "contact_counts": self._contact_counts}

    def _contacts_between(self, start: int, stop: int) -> npt.NDArray[Any]:
        """The contacts of some times."""
        if self._contacts is None:
            raise KeyError("contacts were not recorded; simulate with record=['contacts']")
        counts = self._contact_counts[start:stop].astype(np.int64)
        first = int(self._contact_counts[:start].sum())
        reports = np.repeat(np.arange(start, stop), counts)
        rows = np.asarray(self._contacts[first : first + len(reports)])
        return contact_table.structured(rows, reports, self.time[reports])

    # ------------------------------------------------------------------------------------------ states

    @property
    def states(self) -> States:
        """The states, one a time: ``states[i]``, negative indices, slices, iteration. Each is made when asked for.

        Locks, disabled forces and other Instance variables, and discrete variables of subsystems, are as event handlers have
        left them, in a trajectory returned by `simulate`; one read from a file has those of its template state. Memory of
        measures, of variables that update themselves, and of controllers, with the efforts that they hold, is the template's.

        Raises
        ------
        ValueError
            If the trajectory has no system.
        """
        return States(self, range(len(self)), self._make_template())

    def _make_template(self) -> State:
        if self.template is not None:
            return self.template
        if self.system is None:
            raise ValueError(
                "this trajectory has no system to make states of; "
                "load it with Trajectory.load(path, system=system), or set trajectory.system"
            )
        state = self.system.realize_topology()
        matter = self.system.get_matter_subsystem()
        euler = bool(matter.get_use_euler_angles(state))
        if self.model_variables.get("use_euler_angles", euler != (len(state.q) != self.q.shape[1])) != euler:
            matter.set_use_euler_angles(state, not euler)  # what fits the number of coordinates, if it was not said
            self.system.realize_model(state)
        for name, columns in (("q", self.q), ("u", self.u), ("z", self.z)):
            count = len(getattr(state, name))
            if count != columns.shape[1]:
                raise ValueError(f"{self.system!r} has {count} {name}, this trajectory {columns.shape[1]}: another system's?")
        count = self.system.get_matter_subsystem().get_num_particles()
        if count != self.particle_locations.shape[1]:
            there = self.particle_locations.shape[1]
            raise ValueError(f"{self.system!r} has {count} particles, this trajectory {there}: another system's?")
        self.template = state
        return state

    # ------------------------------------------------------------------------------------------ tables and files

    def to_pandas(self) -> pd.DataFrame:
        """Make a table: a row a time, the index; columns ``q.NAME``, ``u.NAME``, ``z.NAME``, and ``energy``.

        Particles, where there are some, have six columns each: ``location.0.x`` to ``velocity.0.z``. Recorded quantities are
        ``quantity.NAME``, ``quantity.NAME[0,1]`` where they are arrays; poses ``pose.BODY[0,0]`` to ``pose.BODY[2,3]``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = import_extra("pandas", "to_pandas")
        frame: pd.DataFrame = pandas.DataFrame(columns_of(self))
        return frame.set_index("time")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, every number exactly.

        Parameters
        ----------
        path : str or path
            ``.npz`` (NumPy's), ``.parquet`` (needs pyarrow) and ``.h5`` (HDF5, needs h5py) hold everything but the system;
            ``.csv`` holds the table of `to_pandas`, without statistics. What is in an HDF5 file need not fit in memory.
            Contacts, of which there is any number at a time, are in ``.npz`` and ``.h5`` only; for the others there is
            `contacts_dataframe`.

        Raises
        ------
        ValueError
            If the extension is another.
        ImportError
            If pyarrow or h5py is needed and not installed.
        OSError
            If the file cannot be written; one that was there is as it was. It is replaced when the new one is complete.

        Warns
        -----
        UserWarning
            If contacts were recorded and the file does not hold them.
        """
        save_motion(self, as_path("path", path))

    @classmethod
    def load(cls, path: str | os.PathLike[str], system: MultibodySystem | None = None, *, salvage: bool = False) -> Trajectory:
        """Read what `save` has written.

        Parameters
        ----------
        path : str or path
            The file.
        system : MultibodySystem, optional
            What moved, for `states` and pictures of the mechanism; it is not in the file.
        salvage : bool
            Of an HDF5 file that is damaged, take the rows before the first that is not whole; of a Parquet file, whatever can
            be read, without a look at its checksum.

        Returns
        -------
        Trajectory
            Of an HDF5 file only the times are read now, the rest as far as it is asked for. One whose writer was killed,
            or is still at work, holds the rows that were flushed.

        Raises
        ------
        ModelError
            If the file is damaged, or not a trajectory; a ValueError.
        FileNotFoundError
            If there is none.

        Notes
        -----
        All formats but ``.csv`` have checksums: a file in which a bit has changed is an error. Of a CSV file, which others may
        have written, it is seen whether all lines are complete.
        """
        return load_motion(as_path("path", path), salvage, partial(cls.from_arrays, system=system))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], about: Mapping[str, Any], **more: Any) -> Trajectory:
        """From columns as they are recorded: quantities are ``quantity.NAME``."""
        left_out, about = "event_counts", dict(about)
        plain = {name: array for name, array in arrays.items() if not name.startswith(QUANTITY) and name != left_out}
        if late := about.pop("late_events", None):
            there = plain.get("events")
            plain["events"] = np.array(late) if there is None else np.concatenate([there, late])
        quantities = {name[len(QUANTITY) :]: array for name, array in arrays.items() if name.startswith(QUANTITY)}
        made = cls(quantities=quantities, **plain, **about, **more)
        # rows at the very time of an event are before it, but for those where a run has ended
        if left_out in arrays and len(made.events):
            counts = np.asarray(arrays[left_out]).astype(np.int64)
            known = np.repeat(np.arange(len(counts)), counts)
            made.event_rows = np.concatenate([known, np.full(len(made.events) - len(known), len(counts))])
        return made

    def quantity_columns(self) -> dict[str, Array]:
        """The recorded quantities number by number, by the names that tables and graphs have: ``reactions.crank.fx``.

        Of recorded contacts the loads of each two surfaces that touched, 0 where they did not: the sum of the normal forces at
        all their points, ``contacts.floor.ball.normal``, and the size of their friction force, the sum of the vectors at all
        points, ``contacts.floor.ball.friction``.

        Returns
        -------
        dict of str to (n,) array
            Empty where none are recorded.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> motion = mb.simulate(system, state, 0.1, record=["reactions"])
        >>> [name for name in motion.quantity_columns() if name.endswith("lower.fz")]
        ['reactions.lower.fz']
        """
        named = self.named_rows()
        rows_of: dict[str, Sequence[str]] = {**named, "speed": self.speed_names}
        columns: dict[str, Array] = {}
        for name, array in self.quantities.items():
            columns.update(flattened(name, np.asarray(array), labels(name, array.shape[1:], rows_of)))
        if self._contacts is not None:
            columns.update(contact_table.loads_by_pair(self.contacts, len(self), self.surface_names))
        return columns

    def quantity_kinds(self) -> dict[str, str]:
        """The kinds of the numbers of recorded quantities, as far as these are known, by the names of `quantity_columns`.

        Returns
        -------
        dict of str to str
            Words such as ``"force"``, ``"moment"``, ``"length"``; nothing of quantities of one's own.
        """
        speeds = kinds_of_speeds(self)
        found = {name: kind_of(name, speeds) for name in self.quantity_columns()}
        return {name: kind for name, kind in found.items() if kind is not None}

    def variable_columns(self) -> dict[str, Array]:
        """The coordinates, speeds and auxiliary variables by the names that tables have: ``q.crank``, ``u.crank``."""
        named = {"q": self.coordinate_names, "u": self.speed_names, "z": self.auxiliary_names}
        return {
            f"{variable}.{name}": column
            for variable, names in named.items()
            for name, column in zip(names, np.asarray(getattr(self, variable)).T, strict=True)
        }

    def named_rows(self) -> dict[str, list[str]]:
        """The names of rows of quantities: those that were recorded, as a file may hold some of the system's alone."""
        return self._row_names or ({} if self.system is None else row_names(self.system))

    # ------------------------------------------------------------------------------------------ pictures

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        snapshots: int = 5,
        contact_forces: bool | float = False,
        units: Sequence[str] | None = None,
        quantities: Sequence[str] | Mapping[str, str] = (),
    ) -> TrajectoryFigure:
        """Draw the motion: snapshots of the mechanism, its coordinates, and its energy.

        Angles have their axis on the left, lengths theirs on the right.

        Parameters
        ----------
        path : str or path, optional
            File to write: ``.png``, ``.pdf``, ``.svg``.
        snapshots : int, default 5
            How many times the mechanism is drawn; 0 for none. There are none without a system.
        contact_forces : bool or float, default False
            Whether the forces of contacts are drawn, as arrows from where they act, on the second body of each; a number is
            their length over the force. True chooses one, and cuts what is far longer than most. Where contacts were recorded
            they are those, else those of the law in the states, without friction that sticks.
        units : sequence of three str, optional
            Of mass, length and time, written on the axes: ``("kg", "m", "s")``. The model knows none.
        quantities : sequence of str, or mapping of str to str
            Recorded quantities that are drawn in place of the change of energy: numbers as `quantity_columns` names them, such
            as ``"reactions.crank.fx"``, or all of one, ``"reactions.crank"``. The axis says what they are, with *units*, of
            those that `simulate` knows by name; of others a mapping has the units: ``{"power": "W"}``. If there are several
            kinds, the title does.

        Returns
        -------
        TrajectoryFigure
            A Matplotlib figure, which a notebook shows; pyplot does not know of it.

        Raises
        ------
        ImportError
            If Matplotlib is not installed.
        ModelError
            If contact forces are asked for of a system without contacts, or their scale is not above zero.
        ValueError
            If a quantity is not recorded.
        """
        import_extra("matplotlib", "a picture")
        from ..visual.plot import plot_trajectory

        return plot_trajectory(
            self, path, snapshots=snapshots, contact_forces=contact_forces, units=units, quantities=quantities
        )

    def animate(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        size: tuple[float, float] = (6.4, 5.6),
        contact_forces: bool | float = False,
        renderer: str = "auto",
        progress: Callable[[int, int], object] | None = None,
    ) -> Animation:
        """Draw the mechanism as it moves.

        Parameters
        ----------
        path : str or path, optional
            File to write, ``.gif`` or ``.mp4``. An MP4 needs ffmpeg, or the package imageio-ffmpeg.
        fps : float, default 25
            Pictures a second. In a GIF, 100 divided by a whole number; the nearest is taken.
        speed : float, default 1
            Time of the motion in a second of the film.
        size : (float, float)
            Width and height, in inches of 100 dots.
        contact_forces : bool or float, default False
            As of `plot`.
        renderer : str
            What draws: ``"auto"``, a graphics card where there is one and wgpu is installed, else Matplotlib; or ``"card"`` or
            ``"matplotlib"``, that and no other. The pictures are the same, but for the rounding of edges.
        progress : callable, optional
            Called with the number of pictures done, and of all.

        Returns
        -------
        Animation
            A notebook shows it; without a path it is drawn when that is asked of it.

        Raises
        ------
        ValueError
            If there is no system, or the extension or the renderer is another.
        ImportError
            If Matplotlib, Pillow (for a GIF) or ffmpeg (for an MP4) is missing.
        RuntimeError
            If the renderer is ``"card"``, and there is no graphics card, nor software that stands for one.
        """
        import_extra("matplotlib", "a picture")
        from ..visual.animate import animate_trajectory

        options: dict[str, Any] = {"fps": fps, "speed": speed, "size": size, "renderer": renderer, "progress": progress}
        return animate_trajectory(self, path, contact_forces=contact_forces, **options)

    def view(
        self,
        *others: Trajectory,
        beside: bool = False,
        contact_forces: bool | float = False,
        stations: Sequence[tuple[Any, ArrayLike]] = (),
        units: Sequence[str] | None = None,
        title: str = "mobod",
        port: int | None = None,
        open_browser: bool = True,
    ) -> MotionViewer:
        """Play the motion on a page in the browser, with a time line and graphs that follow it.

        Parameters
        ----------
        *others : Trajectory
            Motions that are shown too, at the same times: as ghosts, or beside the first. They end where it ends.
        beside : bool, default False
            Whether they are beside it.
        contact_forces : bool or float, default False
            As of `plot`.
        stations : sequence of (body, (3,) array_like)
            Points of bodies, in their frames, whose paths are drawn; without any, the page can show that of the tip, or of the
            mass center.
        units : sequence of three str, optional
            Of mass, length and time, as of `plot`: graphs say what they are of, in which.
        title : str
            Of the page.
        port : int, optional
            The first that is tried; 8080 unless given.
        open_browser : bool, default True
            Whether the page is opened.

        Returns
        -------
        MotionViewer
            It has ``wait()`` for programs that would end otherwise, ``close()``, ``play()``, ``pause()`` and ``time``.

        Raises
        ------
        ImportError
            If viser is not installed: ``pip install 'mobod[view]'``.
        ValueError
            If a trajectory has no system.
        """
        from ..viewer.motion_viewer import MotionViewer

        motions = _check_others("view", self, others)
        where: dict[str, Any] = {"title": title, "port": port, "open_browser": open_browser}
        return MotionViewer(motions, beside=beside, contact_forces=contact_forces, stations=stations, units=units, **where)

    def save_html(
        self,
        path: str | os.PathLike[str],
        *others: Trajectory,
        beside: bool = False,
        fps: float | None = None,
        contact_forces: bool | float = False,
        units: Sequence[str] | None = None,
        title: str | None = None,
    ) -> Path:
        """Write the motion as one HTML file that plays it: a page with a time line, in which the mechanism can be turned.

        It needs no network and no other file, and opens from disk in any browser of the last years (WebGL 2).

        Parameters
        ----------
        path : str or path
            File to write, ``.html``.
        *others : Trajectory
            Motions that are shown too, at the same times: as ghosts, or beside the first. They end where it ends.
        beside : bool, default False
            Whether they are beside it.
        fps : float, optional
            Poses kept a second, between which the page interpolates; 50 unless given, or fewer of motions that are so long
            that there would be more than 3,000.
        contact_forces : bool or float, default False
            As of `plot`.
        units : sequence of three str, optional
            Of mass, length and time, as of `plot`: graphs say what they are of, in which.
        title : str, optional
            Of the page; the file's name unless given.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If there is no system, or the extension is another.
        """
        from ..viewer.html_file import save_html

        motions = _check_others("save_html", self, others)
        return save_html(motions, path, beside=beside, fps=fps, contact_forces=contact_forces, units=units, title=title)

    def show(
        self,
        *others: Trajectory,
        beside: bool = False,
        quantity: str | None = None,
        contact_forces: bool | float = False,
        units: Sequence[str] | None = None,
        height: int = 480,
    ) -> Shown:
        """The motion as a notebook plays it in a cell, with others as ghosts or beside it, and a graph that runs along.

        It is a page as `save_html` writes it, within the notebook: no server, and there again when the notebook is opened.

        Parameters
        ----------
        *others : Trajectory
            Motions that are shown too, at the same times. They end where it ends.
        beside : bool, default False
            Whether they are beside it.
        quantity : str, optional
            What the graph shows first: ``"energy"``, a coordinate, ``"speed of"`` one, or a recorded quantity's number as
            `quantity_columns` names it. The page can choose another.
        contact_forces : bool or float, default False
            As of `plot`.
        units : sequence of three str, optional
            Of mass, length and time, as of `plot`: the graph says what it is of, in which.
        height : int, default 480
            Of the frame, in pixels.

        Returns
        -------
        Shown
            What a notebook shows at the end of a cell, or by ``IPython.display.display``.

        Raises
        ------
        ValueError
            If there is no system, or no such quantity.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> one, other = mb.simulate(system, state, 0.1), mb.simulate(system, state, 0.1, accuracy=1e-2)
        >>> one.show(other, quantity="lower")
        <Shown: 2 motions, 'lower' over time>
        """
        from ..viewer.notebook import Shown

        motions = _check_others("show", self, others)
        height = integer("height", height, 100)
        choices: dict[str, Any] = {"contact_forces": contact_forces, "units": units, "height": height}
        return Shown(motions, beside=beside, quantity=quantity, **choices)

    def save_gltf(self, path: str | os.PathLike[str], *, fps: float | None = None) -> Path:
        """Write the motion as a binary glTF 2.0 file, with an animation: for Blender, slides and other programs.

        Parameters
        ----------
        path : str or path
            File to write, ``.glb``.
        fps : float, optional
            As of `save_html`.

        Returns
        -------
        Path
            The file. Its y axis is up, against gravity, as the format asks; each body is a node with the body's name. Lines
            between bodies, texts, particles and planes without end are left out.

        Raises
        ------
        ValueError
            If there is no system, or the extension is another.
        """
        from ..viewer.gltf_file import save_gltf

        return save_gltf(self, path, fps=fps)


def _check_others(asked: str, first: Trajectory, others: Sequence[Any]) -> list[Trajectory]:
    """All motions that are shown; or a TypeError."""
    for other in others:
        if not isinstance(other, Trajectory):
            raise TypeError(f"{asked} takes other trajectories, not {other!r}")
    return [first, *others]


def _contact_rows(rows: ArrayLike | None, counts: ArrayLike | None, nt: int) -> tuple[Array | None, Array]:
    """Contacts, and how many of them each row of a trajectory has."""
    if (rows is None) != (counts is None):
        raise ValueError("contacts and contact_counts belong together; one is missing")
    if rows is None or counts is None:
        return None, np.zeros(nt)
    all_rows = _read_only(rows, "contacts", 2)
    of_each = np.asarray(_read_only(counts, "contact_counts", 1, nt))
    if int(of_each.sum()) != len(all_rows):
        raise ValueError(f"contact_counts are of {int(of_each.sum())} rows; contacts has {len(all_rows)}")
    return all_rows, of_each


def _read_only(value: ArrayLike, name: str, ndim: int | None, rows: int | None = None) -> Array:
    # what is on disk stays there, and what simulate has just filled need not be copied
    array: Any = value
    if not isinstance(value, DiskArray):
        array = value.view(np.ndarray) if isinstance(value, Owned) else np.array(value, dtype=np.float64)
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}; it has the shape {array.shape}")
    if rows is not None and len(array) != rows:
        raise ValueError(f"{name} must have a row for each of the {rows} times; it has {len(array)}")
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


class Owned(np.ndarray[Any, np.dtype[np.float64]]):
    """An array that nobody else will change: a trajectory takes it as it is."""


def _names(names: Sequence[str], what: str, of: str, count: int) -> tuple[str, ...]:
    result = tuple(str(name) for name in names)
    if len(result) != count:
        raise ValueError(f"{what} must name each of the {count} columns of {of}; there are {len(result)}")
    if len(set(result)) != count:
        raise ValueError(f"{what} must differ from each other; {max(result, key=result.count)!r} is there twice")
    return result
