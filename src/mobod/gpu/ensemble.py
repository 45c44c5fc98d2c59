"""Ensemble: many states of one system on a GPU, one a thread."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import layout
from ..ensemble.states import first_state
from ..errors import ModelError
from ..integrator import RungeKutta3, SemiExplicitEuler
from ..integrator.base import Integrator, Integrator as Base
from ..state.fields import ADDRESSES
from ..state.state import State
from ..state.validity import EVERYTHING, FORCES, UNCHECKED
from ..stepping import record as rk
from ..system import prescription
from ..system.projection import share_weights
from ..system.system import MultibodySystem
from ..tree import prescribe as _prescribe, project as _project, realize as _realize
from ..tree.lumped_welds import ReducedTree
from ..value.checks import number, numbers
from . import kernels
from .code import Program
from .cuda import Device
from .processor import Processor


class Ensemble:
    """Many states of one system on a GPU of NVIDIA's: realized, and advanced by fixed steps.

    All states share the parameters and choices of the state that they are made from. Forces, motions, constraints and
    functions are those that compile; users' compiled ones are included. Arithmetic is float64 throughout. Results equal those
    of `mobod.Ensemble` to rounding, not bit by bit: a GPU fuses multiplications and additions where a processor does not.

    Parameters
    ----------
    system : MultibodySystem
    n : int
        How many states.
    state : State, optional
        The states start as copies of it; the system's default state unless given.
    device : Device or int or str
        The GPU, or its number as the driver counts them; ``"processor"`` runs the same code thread after thread without one,
        which is slow and meant for tests.

    Attributes
    ----------
    program : Program
        Its kernels; `program.ptx()` is the code that the driver is given.

    Raises
    ------
    ModelError
        If the system has parts in Python, which a GPU cannot call.
    DeviceError
        If there is no GPU.

    Examples
    --------
    >>> import mobod as mb, numpy as np
    >>> import mobod.gpu
    >>> system, state = mb.examples.double_pendulum.build()
    >>> swarm = mobod.gpu.Ensemble(system, 3, state=state, device="processor")
    >>> swarm.q = [[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]]
    >>> swarm.step(0.5, fixed_step_size=1e-2)
    >>> swarm.q.shape
    (3, 2)
    """

    def __init__(
        self, system: MultibodySystem, n: int, *, state: State | None = None, device: Device | Processor | int | str = 0
    ) -> None:
        if isinstance(n, bool) or int(n) != n or n < 1:
            raise ValueError(f"an ensemble has 1 state or more, got n = {n}")
        state = first_state(system, state, "gpu.Ensemble")
        if system.needs_states:
            raise ModelError("the system has parts in plain Python, which a GPU cannot call; write them as compiled functions")
        if state.tree.counts["num_controllers"]:
            raise ModelError("the system has controllers, which a GPU does not sample; an mb.Ensemble does")
        self.device = _device(device)
        self._n, template = int(n), state.copy()
        if template.resources is not None and template.resources.weights:
            share_weights(template)
        if template.has_known:
            prescription.check(system, template)
        reduced = ReducedTree(template.tree, template.field)
        record = reduced.new_record(in_lanes=False)
        record.time[:], record.q[:, 0], record.u[:, 0] = state.time, state.q_values, state.u_values
        record.z[:, 0] = state.z_values
        for name in ("particle_location", "particle_velocity"):
            getattr(record, name)[:] = getattr(state.record, name)
        self._sizes = {"time": 1, "q": len(state.q_values), "u": len(state.u_values), "z": len(state.z_values)}
        self._num_variables = len(record.y)
        self._forces_too = reduced.ground_acceleration is None
        constrained = bool(template.num_matter_errors("u_err"))

        by_field = reduced.tree.routines_by_field(True, True)
        own: list[Any] = [kernels.spread, kernels.realize, kernels.fixed_steps, _realize.advance]
        own += [_prescribe.prescribe] * template.has_known + [_project.project] * constrained
        self.program = Program([*own, *(routine for routines in by_field.values() for _, routine in routines)])
        self._numbers = self.program.numbers
        self._loaded = self.device.load(self.program)

        self._job = np.zeros(kernels.JOB_SIZE, np.int64)
        self._job[rk.ROUTINE] = self._numbers[_realize.advance]
        self._job[rk.PRESCRIBER] = self._numbers.get(_prescribe.prescribe, 0)
        self._job[rk.PROJECTOR] = self._numbers.get(_project.project, 0)
        self._job[rk.WANTED] = (EVERYTHING if self._forces_too else EVERYTHING & ~FORCES) | UNCHECKED
        self._job[rk.QUATERNIONS] = bool(reduced.tree.fields["has_quaternion"].any())
        addresses: list[int] = []
        weakref.finalize(self, _free, self.device, addresses)
        self._addresses = addresses
        self._place(record, {name: by_field.get(name, []) for name in ADDRESSES})

    def _allocate(self, numbers: int) -> int:
        address = self.device.allocate(numbers)
        self._addresses.append(address)
        return address

    def _put(self, array: npt.NDArray[Any]) -> int:
        address = self._allocate(array.size)
        self.device.write(address, array)
        return address

    def _place(self, record: Any, by_field: dict[str, list[tuple[int, Any]]]) -> None:
        """Lay the record of one state out for all threads: each state field n wide, and one block of addresses."""
        size = record.buffer.size
        buffer = self._allocate(size * self._n)
        block = record.block.reshape(-1).copy()
        self._fields: dict[str, int] = {}
        for name, field in layout.fields.items():
            if field.what == "state":
                start = (record.block[layout.places[name]] - record.buffer.ctypes.data) // 8
                self._fields[name] = buffer + 8 * int(start) * self._n
                block[layout.places[name]] = self._fields[name]
            elif hasattr(record, name):  # those of simulations, such as witnesses, there are none of
                array = np.ascontiguousarray(getattr(record, name))
                if name in by_field:
                    array = np.zeros_like(array)
                    for row, routine in by_field[name]:
                        array[row] = self._numbers[routine]
                block[layout.places[name]] = self._put(array)
        self._block, self._job_at = self._put(block), self._allocate(kernels.JOB_SIZE)
        self._failed_at, self._torques_at = self._allocate(self._n), 0
        self._work_at, self._work_size = 0, 0
        self._job[kernels.FAILED] = self._failed_at
        template = self._put(record.buffer)
        self._call(kernels.spread, {kernels.TEMPLATE: template, kernels.BUFFER: buffer, kernels.SIZE: size})

    def _call(self, routine: Any, job: dict[int, int]) -> None:
        for place, value in job.items():
            self._job[place] = value
        self.device.write(self._job_at, self._job)
        self.device.run(self._loaded, self._numbers[routine], self._block, self._job_at, self._n)

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        return f"<gpu.Ensemble of {self._n} states on {self.device.name}>"

    def _read(self, address: int, columns: int) -> Array:
        array = np.empty((columns, self._n))
        self.device.read(address, array)
        return np.ascontiguousarray(array.T)

    def _assign(self, name: str, value: npt.ArrayLike) -> None:
        shape = (self._n,) if name == "time" else (self._n, self._sizes[name])
        array = numbers(f"ensemble.{name}", value)
        if array.shape != shape:
            raise ValueError(f"ensemble.{name} has shape {shape}, got {array.shape}")
        self.device.write(self._fields[name], np.ascontiguousarray(array.reshape(self._n, -1).T))
        self.device.write(self._failed_at, np.zeros(self._n))

    @property
    def time(self) -> Array:
        """Times ``(n,)``."""
        return self._read(self._fields["time"], 1)[:, 0]

    @time.setter
    def time(self, value: npt.ArrayLike) -> None:
        self._assign("time", value)

    @property
    def q(self) -> Array:
        """Coordinates ``(n, nq)``, copied from the GPU."""
        return self._read(self._fields["q"], self._sizes["q"])

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        self._assign("q", value)

    @property
    def u(self) -> Array:
        """Speeds ``(n, nu)``."""
        return self._read(self._fields["u"], self._sizes["u"])

    @u.setter
    def u(self, value: npt.ArrayLike) -> None:
        self._assign("u", value)

    @property
    def z(self) -> Array:
        """Auxiliary variables ``(n, nz)``."""
        return self._read(self._fields["z"], self._sizes["z"])

    @z.setter
    def z(self, value: npt.ArrayLike) -> None:
        self._assign("z", value)

    @property
    def u_dot(self) -> Array:
        """Accelerations ``(n, nu)`` of the last `realize`."""
        return self._read(self._fields["u_dot"], self._sizes["u"])

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """A mask of the states that have failed since they were last assigned ``(n,)``."""
        failed: npt.NDArray[np.bool_] = self._read(self._failed_at, 1)[:, 0] != 0.0
        return failed

    def realize(self, mobility_forces: npt.ArrayLike | None = None) -> None:
        """Realize all states to ACCELERATION.

        Parameters
        ----------
        mobility_forces : (n, nu) array, optional
            Generalized forces beside those of the elements.
        """
        self._call(kernels.realize, self._torques(mobility_forces))

    def step(
        self,
        duration: float,
        *,
        fixed_step_size: float,
        integrator: type[Integrator] = RungeKutta3,
        mobility_forces: npt.ArrayLike | None = None,
    ) -> None:
        """Advance all states by *duration* in equal steps, on the GPU from the first to the last.

        Parameters
        ----------
        duration : float
        fixed_step_size : float
            The longest step; the steps are as many as that takes, and equal.
        integrator : class of `mobod.integrator`
            An explicit Runge-Kutta method, or SemiExplicitEuler.
        mobility_forces : (n, nu) array, optional
            Generalized forces beside those of the elements, held for the duration.

        Raises
        ------
        ValueError
            For a duration or a step size that is not positive, or another method.
        """
        duration, h = number("duration", duration), number("fixed_step_size", fixed_step_size)
        if duration <= 0.0 or h <= 0.0:
            raise ValueError(f"duration and fixed_step_size are positive, got {duration} and {h}")
        steps = max(1, int(np.ceil(duration / h * (1.0 - 1e-12))))
        stages, table = _method(integrator)
        if (1 + stages) * self._num_variables > self._work_size:
            self._work_size = (1 + stages) * self._num_variables
            self._work_at = self._allocate(self._work_size * self._n)
        constants = np.concatenate([[duration / steps, 1e-9], table])
        at = self.device.allocate(constants.size)
        try:
            self.device.write(at, constants)
            job = {kernels.STAGES: stages, kernels.STEPS: steps, kernels.CONSTANTS: at, kernels.WORK: self._work_at}
            self._call(kernels.fixed_steps, {**job, **self._torques(mobility_forces)})
        finally:
            self.device.free(at)

    def _torques(self, forces: npt.ArrayLike | None) -> dict[int, int]:
        """The places of a job that tell of forces beside those of the elements: True if there are some, and their address."""
        if forces is None and self._forces_too:
            return {rk.HOLDS: 0, kernels.TORQUES: 0}
        if forces is None:  # what an earlier call has left has no force of an element's in its place
            forces = np.zeros((self._n, self._sizes["u"]))
        array = numbers("mobility_forces", forces)
        if array.shape != (self._n, self._sizes["u"]):
            raise ValueError(f"mobility_forces has shape {(self._n, self._sizes['u'])}, got {array.shape}")
        if self._torques_at == 0:
            self._torques_at = self._allocate(array.size)
        self.device.write(self._torques_at, np.ascontiguousarray(array.T))
        return {rk.HOLDS: 1, kernels.TORQUES: self._torques_at}


def _method(integrator: type[Integrator]) -> tuple[int, Array]:
    """Of a method: its stages, and the rows of its table with those of the step; 0 and none for semi-explicit Euler."""
    if integrator is SemiExplicitEuler:
        return 0, np.zeros(0)
    table = next((vars(kind)["table"] for kind in getattr(integrator, "__mro__", ()) if "table" in vars(kind)), None)
    if table is None or table is Base.table:
        name = getattr(integrator, "__name__", repr(integrator))
        raise ValueError(f"a GPU takes explicit Runge-Kutta methods and SemiExplicitEuler, got {name}")
    stages = table.shape[1] - 1
    return stages, table[: stages + 1].ravel()


def _device(device: Any) -> Any:
    if isinstance(device, (Device, Processor)):
        return device
    if device == "processor":
        return Processor()
    if isinstance(device, bool) or not isinstance(device, int):
        raise ValueError(f'device is a Device, the number of a GPU or "processor", got {device!r}')
    return Device(device)


def _free(device: Any, addresses: list[int]) -> None:
    for address in addresses:
        device.free(address)
