"""Two kernels that take a tenth of a second each to compile, for fresh processes: what reaches them is the package's."""

from mobod.algebra.quaternion import normalize
from mobod.compiling import compiled


@compiled
def put_length(x):
    """The first number is made the length of the first two."""
    x[0] = (x[0] * x[0] + x[1] * x[1]) ** 0.5


@compiled
def put_normalized(q):
    """Four numbers are made a unit quaternion."""
    q[0], q[1], q[2], q[3] = normalize((q[0], q[1], q[2], q[3]))
