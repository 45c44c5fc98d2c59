"""Loop gain: what comes back round a control loop that is cut open at a controller's efforts."""

from __future__ import annotations

from ..control.custom import Custom
from ..state.state import State
from ..system.arguments import check_state
from ..system.system import MultibodySystem
from ..value import checks
from ._closed_loop import Laws
from .linear_system import LinearSystem
from .linearize import with_laws


def loop_gain(
    system: MultibodySystem,
    state: State,
    controller: Custom,
    effort: int | None = None,
    *,
    sampled: bool = True,
    independent: bool = False,
) -> LinearSystem:
    """Find the gain L of a control loop, cut open at the efforts of a controller: margins and Nyquist plots are of this.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At ACCELERATION, best at rest.
    controller : control.Custom
        The one whose efforts are cut; all others that are switched on stay closed.
    effort : int, optional
        The one effort that is cut, as margins of one loop at a time want it; all of the controller's unless given.
    sampled : bool
        Whether laws are sampled and efforts held in between, as in runs; otherwise as though laws acted all the time.
    independent : bool
        As in `linearize`.

    Returns
    -------
    LinearSystem
        From efforts that act in place of the controller's to what its law gives, with the sign changed: 1 + L = 0 is the closed
        loop, as python-control takes it, ``control.margin(gain.to_control())``.

    Raises
    ------
    StageError
        If the state is below ACCELERATION.
    TypeError, ValueError
        If *controller* is none, or has no such effort.
    ModelError
        If it is switched off, a sensor is late, or, with *sampled*, sample times differ.

    See Also
    --------
    linearize : the closed loop, by ``closed_loop="sampled"``.

    Notes
    -----
    L(z) = -E (z - F)^-1 G, of the plant and what laws remember from sample to sample: the hold's delay of half a sample is in
    it. Source: Franklin, Powell and Workman 1998, sections 4.3 and 7.4.

    Examples
    --------
    A double pendulum's servo at 100 Hz, at its second joint.

    >>> import mobod as mb
    >>> system, _ = mb.examples.double_pendulum.build()
    >>> servo = mb.control.PD(system.forces, kp=50.0, kd=10.0, sample_time=0.01)
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> mb.loop_gain(system, state, servo, 1)
    <LinearSystem: 4 states, 1 inputs, 1 outputs, sampled every 0.01>
    """
    check_state("loop_gain", system, state)
    checks.flags("loop_gain", sampled=sampled, independent=independent)
    checks.instance("controller", controller, Custom, "mobod.control.PD(...), say")
    laws = Laws(system, state)
    cut = laws.places_of(controller)
    if effort is not None:
        cut = [cut[checks.integer("effort", effort, 0, len(cut) - 1)]]
    return with_laws(laws, [], [], independent, sampled, cut=cut)
