"""Protocol of a constraint's routine: it takes the record, the constraint's index, and one of the first two requests.

At POSITIONS it writes the position errors, the velocity offsets of position equations (their partial derivatives by time), and
the wrenches and coefficients that depend on q and time alone; at VELOCITIES the acceleration offsets, the velocity offsets of
velocity equations, and what depends on u. What is always zero need not be written.
"""

POSITIONS, VELOCITIES, ACCELERATIONS = 0, 1, 2

#: Rows of the field `constrain`: the routines of `tree` that constraints share, each compiled once for all that call it. The
#: last five are there where some constraint acts on coordinates, where a tree eliminates mobilities as a block, where q_dot is
#: not u of some mobilizer, and, for friction and what it is at given multipliers, where contacts may slide.
CONSTRAIN, SOLVE_ROWS, THROUGH_COORDINATES, EFFECTS_OF_BLOCK, AS_Q, SLIDE, SLIDE_AT = range(7)

#: What is projected.
PROJECT_Q, PROJECT_U = 0, 1
