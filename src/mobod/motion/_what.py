"""What a motion's routine is asked: it gets the record, the body's index, and one of these numbers."""

#: Set the body's q, at level POSITION: a function of time.
SET_Q = 0
#: Set its u: at VELOCITY a function of time and q, at POSITION from the rates of q. Positions are there.
SET_U = 1
#: Write its udot into the field `known_u_dot`, at any level. Velocities are there, q_dot need not be.
SET_U_DOT = 2

#: Values of the field `known_level`, `Level` and 1; of a motion in Python they are negative.
FREE, ACCELERATION, VELOCITY, POSITION = 0, 1, 2, 3
