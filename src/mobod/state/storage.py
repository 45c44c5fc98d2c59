"""The storage of a state's numbers: the record, the read-only views that are handed out, and fields of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..value.attributes import HidesInner
from ..value.stage import MODEL
from .fields import Record
from .impulses import Impulses
from .resources import Resources

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem, Tree


class View(np.ndarray[Any, np.dtype[np.float64]]):
    """A read-only view whose error on writing names the call to use; results computed from it are plain arrays.

    Made once a record. Reading costs as much as an array's, arithmetic 0.1 us more.
    """

    __slots__ = ()
    _remedy: ClassVar[str]

    if not TYPE_CHECKING:  # for type checkers it is a plain array
        __array_wrap__ = None  # results of arithmetic are no views

        def _check(self):
            if not self.flags.writeable:  # else it is an array made like a view: by np.zeros_like, say
                raise ValueError(f"what a state hands out is read-only; {self._remedy}")

        def __setitem__(self, key, value):
            self._check()
            super().__setitem__(key, value)

        def __iadd__(self, other):
            self._check()
            return super().__iadd__(other)

        def __isub__(self, other):
            self._check()
            return super().__isub__(other)

        def __imul__(self, other):
            self._check()
            return super().__imul__(other)

        def __itruediv__(self, other):
            self._check()
            return super().__itruediv__(other)

        def copy(self, order="C"):
            """A plain array."""
            return np.array(self, order=order)

        def __repr__(self):
            return repr(np.asarray(self))

        def __reduce__(self):
            return np.asarray(self).__reduce__()


class ViewOfQ(View):
    """Of q."""

    _remedy = "change state.upd_q() in place, or assign state.q = ..."


class ViewOfU(View):
    """Of u."""

    _remedy = "change state.upd_u() in place, or assign state.u = ..."


class ViewOfZ(View):
    """Of z."""

    _remedy = "change state.upd_z() in place, or assign state.z = ..."


class ViewOfY(View):
    """Of y."""

    _remedy = "change state.upd_q(), upd_u() or upd_z() in place, or assign state.y = ..."


#: States of systems with forces in Python by the address of their record's block, which is what kernels tell callbacks.
_by_block: WeakValueDictionary[int, Any] = WeakValueDictionary()

#: The state whose record's block is at an address; None where the record is nobody's.
state_at = _by_block.get


#: What copies of a state have as it is, or as a copy of it: the rest is made for each record.
KEPT = (
    "force_cache",
    "impulses",
    "instance_token",
    "own_fields",
    "pending_euler_angles",
    "preparing",
    "resources",
    "stage_number",
    "system",
    "token",
    "use_euler_angles",
    "valid",
    "version",
)


class Storage(HidesInner):
    """The part of `State` that stores."""

    # slots: setters and `realize` touch a dozen attributes a call, and a dictionary's take half as long again
    __slots__ = (
        "A_GB",
        "H",
        "H_FM",
        "R_FM",
        "R_GB",
        "V_GB",
        *KEPT,
        "__weakref__",
        "_y_view",
        "block",
        "forces",
        "q_dot_dot_view",
        "q_dot_view",
        "q_values",
        "q_view",
        "record",
        "scratch",
        "tree",
        "u_dot_view",
        "u_values",
        "u_view",
        "y_values",
        "z_dot_view",
        "z_values",
        "z_view",
    )

    def __init__(self, system: MultibodySystem, tree: Tree, record: Record | None = None) -> None:
        if not hasattr(system, "topology_version"):
            raise TypeError(f"a State is made by system.realize_topology(), or by state.copy(); got {system!r} for its system")
        self.system = system
        self.version = system.topology_version
        self.token: object = system.topology_token  # stands for both of the above in one comparison
        self.use_euler_angles = tree.use_euler_angles
        self.pending_euler_angles = tree.use_euler_angles
        self.own_fields: dict[str, npt.NDArray[Any]] = {}
        self.force_cache: dict[int, Any] = {}  # of custom forces that depend on positions alone
        self.instance_token = object()  # another one where an Instance variable or a modelling choice has changed
        self.preparing = 0  # b or -b while Python writes body b's rows of positions or of velocities
        self.impulses: Impulses | None = None  # of a state that a run is at; copies have none
        self.resources: Resources | None = None  # of subsystems; made when one of them first has any
        self.stage_number = MODEL
        self.valid = 0
        self._attach(tree, tree.new_record() if record is None else record)

    def _attach(self, tree: Tree, record: Record) -> None:
        """Take *record*, and make the views that are handed out."""
        self.tree, self.record, self.block = tree, record, record.block
        if tree.calls_with_states:
            _by_block[record.block.ctypes.data] = self
        self.scratch: tuple[Array, Array] | None = None
        self.forces: tuple[Array, Array, Array] | None = None
        own, runs = record.buffer, record.runs
        shown = read_only(own)
        # with a body's rows in the shape that getters hand out: reshaping each time takes as long as all the rest
        self.R_GB, self.R_FM = own[runs["R_GB"]].reshape(-1, 3, 3), own[runs["R_FM"]].reshape(-1, 3, 3)
        self.V_GB, self.A_GB = own[runs["V_GB"]].reshape(-1, 2, 3), own[runs["A_GB"]].reshape(-1, 2, 3)
        self.H, self.H_FM = own[runs["H"]].reshape(-1, 2, 3), own[runs["H_FM"]].reshape(-1, 2, 3)
        self.q_values, self.u_values, self.z_values = own[runs["q"]], own[runs["u"]], own[runs["z"]]
        self.y_values = own[runs["y"]]
        self.q_view, self.u_view = shown[runs["q"]].view(ViewOfQ), shown[runs["u"]].view(ViewOfU)
        self.z_view, self._y_view = shown[runs["z"]].view(ViewOfZ), shown[runs["y"]].view(ViewOfY)
        self.q_dot_view, self.u_dot_view = shown[runs["q_dot"]], shown[runs["u_dot"]]
        self.z_dot_view, self.q_dot_dot_view = shown[runs["z_dot"]], shown[runs["q_dot_dot"]]

    def attach_own(self, tree: Tree, record: Record) -> None:
        """Take *record*, with the state's own parameters."""
        for name, array in self.own_fields.items():
            record.share(name, array)
        self._attach(tree, record)

    def make_forces(self) -> tuple[Array, Array, Array]:
        """The forces applied to bodies, particles and mobilities, writable, in the shapes that users' forces in Python get."""
        record = self.record
        whole = record.body_forces.reshape(-1, 2, 3), record.particle_forces.reshape(-1, 3), record.mobility_forces[:, 0]
        self.forces = whole
        return whole

    def field(self, name: str) -> npt.NDArray[Any]:
        """An Instance field as it is in this state."""
        return self.own_fields.get(name, self.tree.fields[name])

    @property
    def is_constrained(self) -> bool:
        """True if some constraint is enabled."""
        return self.tree.counts["nc"] > 0 and bool(np.count_nonzero(self.field("constraint_enabled")))

    @property
    def slides(self) -> bool:
        """True if contacts slide in it."""
        return self.tree.counts["num_slips"] > 0 and bool((self.field("friction_rows") >= 0).any())

    @property
    def has_locks(self) -> bool:
        """True if some mobilizer may be locked; False costs no look at each of them."""
        return "lock_level" in self.own_fields or self.tree.has_default_locks

    @property
    def has_known(self) -> bool:
        """True if some motion is known beforehand."""
        return bool(np.count_nonzero(self.field("prescribed")))


def read_only(array: Array) -> Array:
    """A view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
