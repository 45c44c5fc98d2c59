"""Protocol of a motion's routine: it takes the record, the body's index, and one of these requests."""

#: Set the body's q, at level POSITION: a function of time.
SET_Q = 0
#: Set its u: at VELOCITY a function of time and q, at POSITION from the rates of q. Positions are known.
SET_U = 1
#: Write its udot into the field `known_u_dot`, at any level. Velocities are known, q_dot need not be.
SET_U_DOT = 2

#: Values of the field `prescribed_level`: `Level` plus 1, negative for a motion in Python.
FREE, ACCELERATION, VELOCITY, POSITION = 0, 1, 2, 3
