"""Controllers: sampled, with their efforts held in between, inside the compiled loop over steps; one a file.

`Custom` takes a law of its user's; the others are laws that are often needed. What a law can ask for beside what it gets by
name is an `Input`.
"""

from ..value.attributes import explain_names
from .computed_torque import ComputedTorque as ComputedTorque
from .coordinates import Coordinates as Coordinates
from .custom import Custom as Custom
from .driver import Driver as Driver
from .gravity_compensation import GravityCompensation as GravityCompensation
from .impedance import Impedance as Impedance
from .input import Input as Input
from .jacobian import Jacobian as Jacobian
from .jacobian_bias import JacobianBias as JacobianBias
from .pd import PD as PD
from .pid import PID as PID
from .pose import Pose as Pose
from .reference import Reference as Reference
from .sensor import Sensor as Sensor
from .solve import solve as solve
from .state_feedback import StateFeedback as StateFeedback
from .velocity import Velocity as Velocity

explain_names(__name__)
