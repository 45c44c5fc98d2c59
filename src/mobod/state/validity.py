"""Validity bits of a state, in `State.valid`: one for each result that is computed on demand.

Kernels are given the sum of the bits requested and compute those that are not valid; `System.realize` and the matter's lazy
operators then set the bits, and setters of the state clear them. The table of both is in docs/explanation/life_of_a_number.md.
"""

import functools

from ..value.stage import Stage

#: Poses, hinge columns and mass properties in Ground; N.
POSITIONS = 1
#: Body velocities, total Coriolis accelerations, gyroscopic forces; q_dot.
VELOCITIES = 2
#: Composite-rigid-body inertias.
COMPOSITE = 4
#: Articulated-body inertias: gains and 1 / d of all mobilities.
ARTICULATED = 8
#: Applied forces and z_dot.
FORCES = 16
#: udot, body accelerations, multipliers; q_dot_dot.
ACCELERATIONS = 32
#: Forces of the elements that read positions only, kept for changes of u alone. Of methods that step, those request it that
#: evaluate speeds again at the same q: Verlet's iterations, columns of Jacobians by differences.
KEPT_FORCES = 512
#: P of every body is in its row of the field `articulated`; set by `SimbodyMatterSubsystem` alone, kernels do not know it.
STORED_INERTIAS = 1 << 16

KINEMATICS = POSITIONS | VELOCITIES
#: What a state at ACCELERATION has.
EVERYTHING = KINEMATICS | ARTICULATED | FORCES | ACCELERATIONS

# Options of `tree.realize.advance`, passed with the bits requested. Never valid.
#: Do not look for values that are not finite. In lanes, where a bad state must not stop the others.
UNCHECKED = 64
#: Leave out q_dot and q_dot_dot.
NO_RATES = 128
#: Keep X_FM of no body. In lanes these are an eighth of what a sweep writes to the cache.
NO_MOBILIZERS = 256

_FIRST_UNCHANGED = 20


def unchanged_bit(stage: int) -> int:
    """The bit that says that nothing has changed since the version of *stage*, POSITION or above, was last read."""
    return 1 << (_FIRST_UNCHANGED + stage)


@functools.cache
def unchanged(stage: int) -> int:
    """The bits that say that nothing has changed on which *stage* or one above depends."""
    return sum(unchanged_bit(s) for s in range(max(int(stage), Stage.POSITION), Stage.REPORT + 1))


#: Bits cleared by a change of u. One of q, of an Instance variable or of a modelling choice clears all.
CLEARED_BY_U = VELOCITIES | FORCES | ACCELERATIONS | unchanged(Stage.VELOCITY)
#: Bits cleared by a change of z, if forces read z.
CLEARED_BY_Z = FORCES | ACCELERATIONS | unchanged(Stage.DYNAMICS)
#: Bits cleared by a change of time; all, if constraints depend on time.
CLEARED_BY_TIME = FORCES | ACCELERATIONS | unchanged(Stage.POSITION)

#: Bits that each stage, by its number, requests of the kernels, without KEPT_FORCES.
NEEDED = (0, 0, 0, 0, 0, POSITIONS, KINEMATICS, KINEMATICS | FORCES, EVERYTHING, EVERYTHING)
#: The same with KEPT_FORCES: what `System.realize` requests.
WANTED = tuple(bits | KEPT_FORCES if bits & FORCES else bits for bits in NEEDED)
