"""Controllers: sampled, with their efforts held in between, inside the compiled loop over steps; one a file.

`Custom` takes a law of its user's; the others are laws that are often needed. What a law can ask for beside what it gets by
name is an `Input`.
"""

from ..value.attributes import explain_names
from .computed_torque import ComputedTorque
from .coordinates import Coordinates
from .custom import Custom
from .driver import Driver
from .gravity_compensation import GravityCompensation
from .impedance import Impedance
from .input import Input
from .jacobian import Jacobian
from .jacobian_bias import JacobianBias
from .pd import PD
from .pid import PID
from .pose import Pose
from .reference import Reference
from .sensor import Sensor
from .solve import solve
from .state_feedback import StateFeedback
from .velocity import Velocity

__all__ = [
    "PD",
    "PID",
    "ComputedTorque",
    "Coordinates",
    "Custom",
    "Driver",
    "GravityCompensation",
    "Impedance",
    "Input",
    "Jacobian",
    "JacobianBias",
    "Pose",
    "Reference",
    "Sensor",
    "StateFeedback",
    "Velocity",
    "solve",
]

explain_names(__name__)
