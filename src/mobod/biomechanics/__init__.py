"""What laboratories of human motion do with a model: coordinates from markers, forces from motion, models scaled to subjects.

`inverse_kinematics`, `inverse_dynamics`, `scale` and `static_optimization`, one a file; they take any `mobod.Model`.
"""

from ..importer.controls import Controls, read_controls
from ..importer.external_loads import Applied, ExternalForce, read_external_loads
from ..value.attributes import explain_names
from .activations import StaticOptimization, static_optimization
from .dynamics import InverseDynamics, inverse_dynamics
from .figure import plot_table
from .kinematics import Kinematics, inverse_kinematics
from .scaling import Measurement, scale

__all__ = [
    "Applied",
    "Controls",
    "ExternalForce",
    "InverseDynamics",
    "Kinematics",
    "Measurement",
    "StaticOptimization",
    "inverse_dynamics",
    "inverse_kinematics",
    "plot_table",
    "read_controls",
    "read_external_loads",
    "scale",
    "static_optimization",
]

explain_names(__name__)
