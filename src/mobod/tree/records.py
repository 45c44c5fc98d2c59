"""Every field that kernels know, grouped by the stage that fills it: one field a line, its shape and its meaning.

Frames: G ground, P parent, B body, F fixed on the parent, M moving on the body. Symmetric matrices are xx yy zz xy xz yz.
"""

from ..algebra.record import Field, layout

# fmt: off
COUNTS = (
    "nb", "nq", "nu", "whole_nq", "whole_nu", "nz", "ny", "nf", "ng", "nr", "kept_runs", "forces_nz", "nm", "one",
    "parameters_size", "choices_size", "n_size",
    "force_integers_size", "force_numbers_size", "motion_numbers_size", "num_particles", "particle_size",
    "nc", "num_rows", "constrained_bodies_size", "constrained_mobilizers_size", "wrenches_size", "speed_coefficients_size",
    "coordinate_coefficients_size", "constraint_integers_size", "constraint_numbers_size", "path_size", "path_forces_size",
    "effect_size", "gram_size", "most_rows", "constrained_nu", "constrained_nq", "four", "arguments_size",
    "measure_code_size", "measure_numbers_size", "measure_values_size", "measure_memory_size", "measure_calls_size",
    "num_angle_runs", "angles_size",
)
# fmt: on


def _index(name: str, rows: str, doc: str) -> Field:
    return Field(name, rows, 1, "index", doc)


def _parameter(name: str, rows: str, columns: int, doc: str) -> Field:
    return Field(name, rows, columns, "parameter", doc)


def _state(name: str, rows: str, columns: int, doc: str) -> Field:
    return Field(name, rows, columns, "state", doc)


# fmt: off
FIELDS = (
    # ---- the tree: topology
    _index("parent", "nb", "the parent's index, smaller than the body's own"),
    _index("kind", "nb", "KIND of the mobilizer's file"),
    _index("reversed", "nb", "1 where q and u are of F in M rather than of M in F"),
    _index("reversal", "nb", "where the routine that turns a reversed mobilizer round is; 0 for forward ones"),
    _index("kinematics", "nb", "where the routine of a kind that is called by address is, for the record's scalar; else 0"),
    _index("rates", "nb", "how q_dot follows from u: SAME, QUATERNION, EULER or MATRIX of mobilizer._rates"),
    _index("has_quaternion", "nb", "1 where the first four q are a quaternion"),
    _index("rare_rates", "nb", "where the routine of `mobilizer._rates` is, where rates is EULER or MATRIX; else 0"),
    _index("first_n", "nb", "where its N, N^-1 and NDot start, where rates is MATRIX"),
    _index("turning", "nb", "how many speeds are of the orientation, where rates is QUATERNION or EULER: 3, or 2 of a line"),
    _index("first_parameter", "nb", "its run in parameters starts here"),
    _index("first_choice", "nb", "its run in choices starts here"),
    _index("choices", "choices_size", "integers that mobilizer kinds keep"),
    _index("first_q", "nb", "place of the first q"),
    _index("first_u", "nb", "place of the first u"),
    _index("num_q", "nb", "how many q"),
    _index("num_u", "nb", "how many u"),
    _index("has_hinge_dot", "nb", "1 where bias_FM is not zero for all q and u"),
    _index("slides", "nb", "1 where the last three mobilities slide M in every way, and are eliminated at once"),
    _index("unit_column", "nu", "0, 1, 2: the column of H_FM is (x, y, z of F; 0), 3, 4, 5: (0; x, y, z); -1: any other"),
    _index("together", "nb", "ROTATIONS, FREE, TURNING or MOVING where its mobilities are met together, by blocks.py; 0 where "
           "they are met one by one; below 0 where they are known, by known.py"),
    _index("angle_run", "num_angle_runs", "the first of eight coordinates, an angle of a pin or more of them among these"),
    _index("passage", "nb", "what X_FM is made of: `position.ANY`, `TURN`, `SLIDE` or `NONE`"),
    _index("plain_outboard", "nb", "1 where X_BM is the identity: nothing to multiply by"),
    _index("massless", "nb", "1 where mass and inertia are zero: their rows in G stay at zero"),
    _index("is_last_child", "nb", "1 on the highest child of a parent: an inward sweep meets it first"),
    _index("has_children", "nb", "1 where some body hangs on this one"),
    # mobilities by place: depth first, a body's in falling order, so that what moves a mobility's body has places before it,
    # and what it moves a run of places after it
    _index("depth_first", "nb", "the bodies, each before its children and these before its siblings; Ground first"),
    _index("first_place", "nb", "the least place of the body's mobilities, or of what hangs on it where it has none"),
    _index("end_place", "nb", "the place after the last of what hangs on the body"),
    _index("end_of_base", "nb", "end_place of the body on Ground that this one hangs on"),
    _index("mobility_at", "nu", "the mobility at each place"),
    _index("in_order", "nb", "the place from which, up to end_of_base, each place is its mobility's number"),
    _index("slot", "nb", "where an outward sweep of columns keeps the body's motions; a last child takes its parent's"),
    # ---- the tree: instance parameters, which a state may own a copy of
    _parameter("R_PF", "nb", 9, "orientation of F in P"),
    _parameter("p_PF", "nb", 3, "origin of F from P's, in P"),
    _parameter("R_BM", "nb", 9, "orientation of M in B"),
    _parameter("p_BM", "nb", 3, "origin of M from B's, in B"),
    _parameter("mass", "nb", 1, "mass"),
    _parameter("com", "nb", 3, "mass center from B's origin, in B"),
    _parameter("inertia", "nb", 6, "inertia about B's origin, in B"),
    _parameter("parameters", "parameters_size", 1, "numbers that mobilizer kinds keep: a pitch, radii, splines"),
    _parameter("particle_mass", "num_particles", 1, "mass of each particle"),
    # ---- forces: each element owns a run of two pools. The ng gravities come first; then elements with one routine follow each
    # other, in nr runs, of which the first kept_runs read positions only; then those that Python computes
    _index("force_kind", "nf", "KIND of the force's file"),
    _index("run_first", "nr", "the first element of a run"),
    _index("run_end", "nr", "the element after its last"),
    _index("run_routine", "nr", "where its routine is, for the record's scalar"),
    _index("all_runs", "one", "where the routine is that calls all of them, for the record's scalar; 0 where there are none"),
    _index("force_enabled", "nf", "0 where the element is disabled"),
    _index("force_first_integer", "nf", "its run in force_integers starts here"),
    _index("force_first_number", "nf", "its run in force_numbers starts here"),
    _index("force_first_z", "nf", "place of its first z; forces' z are the first forces_nz of all"),
    _index("force_integers", "force_integers_size", "bodies, indices and choices of the elements"),
    _parameter("force_numbers", "force_numbers_size", 1, "stiffnesses, directions and so on"),
    # ---- constraints: each owns a run of bodies, of mobilizers, of equations (rows), and of two pools
    _index("constrain", "constraint_routines", "where the routines that know constraints are, for the record's scalar; else 0"),
    _index("constraint_routine", "nc", "where the routine of the constraint's kind is; 0 where Python writes its rows"),
    _index("constraint_enabled", "nc", "0 where the constraint is disabled"),
    _index("constraint_first_integer", "nc", "its run in constraint_integers starts here"),
    _index("constraint_first_number", "nc", "its run in constraint_numbers starts here"),
    _index("constraint_integers", "constraint_integers_size", "indices and choices of the constraints"),
    _parameter("constraint_numbers", "constraint_numbers_size", 1, "lengths, stations, directions and so on"),
    _index("first_constrained_body", "nc", "its run in constrained_bodies starts here"),
    _index("num_constrained_bodies", "nc", "how many bodies it applies forces to"),
    _index("constrained_bodies", "constrained_bodies_size", "the bodies, Ground among them"),
    _index("constrained_body_place", "constrained_bodies_size", "where on the constraint's path the body is; -1 for Ground"),
    _index("first_mobilizer", "nc", "its run in constrained_mobilizers starts here"),
    _index("num_mobilizers", "nc", "how many mobilizers it applies generalized forces to"),
    _index("constrained_mobilizers", "constrained_mobilizers_size", "their bodies"),
    _index("num_speeds", "nc", "how many u these mobilizers have together"),
    _index("num_coordinates", "nc", "how many q"),
    _index("first_row", "nc", "its first equation: those of positions, then of velocities, then of accelerations alone"),
    _index("num_p", "nc", "how many equations of positions"),
    _index("num_v", "nc", "how many of velocities"),
    _index("num_a", "nc", "how many of accelerations alone"),
    _index("first_wrench", "nc", "where its wrenches start: equation by equation, body by body"),
    _index("first_speed", "nc", "where its coefficients of u start: equation by equation"),
    _index("first_coordinate", "nc", "where its coefficients of q start: position equation by equation"),
    _index("first_path", "nc", "its run in path starts here"),
    _index("path_length", "nc", "how many bodies its bodies and mobilizers hang on, themselves included"),
    _index("path", "path_size", "these bodies, each before its parent"),
    _index("path_parent", "path_size", "where on the same path the parent is; -1 where that is Ground"),
    _index("path_mobilizer", "path_size", "where among the constraint's u the body's are; -1 where they are not"),
    # enabled constraints whose paths share a mobility are a group; a state in which others are enabled has its own of these
    _index("num_groups", "one", "how many groups there are"),
    _index("group_first", "nc", "its run in group_constraints starts here"),
    _index("group_end", "nc", "and ends before here"),
    _index("group_constraints", "nc", "the enabled constraints, group by group"),
    _index("group_first_row", "nc", "where its equations start in row_work and gram_inverse"),
    _index("group_num_rows", "nc", "how many equations"),
    _index("group_num_speeds", "nc", "how many mobilities are on its paths"),
    _index("group_effect", "nc", "where its effects start: equation by equation"),
    _index("group_gram", "nc", "where its Gram matrix starts"),
    _index("group_first_body", "nc", "its run in group_bodies starts here"),
    _index("group_end_body", "nc", "and ends before here"),
    _index("group_bodies", "nb", "the bodies with mobilities on its paths"),
    _index("effect_place", "constrained_nu", "which of its group's mobilities this is"),
    _index("row_place", "num_rows", "where the equation is in row_work and gram_inverse; -1 where it is disabled"),
    _index("row_effect", "num_rows", "where its effects start"),
    _index("row_stride", "num_rows", "how many effects an equation of its group has"),
    _parameter("position_weight", "num_rows", 1, "how much a position error counts in a projection"),
    _parameter("velocity_weight", "num_rows", 1, "how much a velocity error counts"),
    _parameter("speed_weight", "constrained_nu", 1, "how much a change of u counts"),
    # ---- measures that integrate or remember: a list of operations, see measures.py
    _index("measures", "one", "where the routine that operates is, for the record's scalar; 0 where there are none"),
    _index("remember", "one", "where the routine is that makes what is remembered of a step's end; 0 where there is nothing"),
    _index("measure_runs", "four", "the operation after the last of each run"),
    _index("measure_calls", "measure_calls_size", "where the routines of users' functions are"),
    _index("measure_code", "measure_code_size", "the operations, six integers each; then what users' routines look up"),
    _parameter("measure_numbers", "measure_numbers_size", 1, "factors, amplitudes, stations and so on"),
    # ---- locks and prescribed motions
    _index("lock_level", "nb", "Level at which it is locked, and 1; 0 where it is not"),
    _index("known_level", "nb", "Level at which a lock or motion prescribes, and 1; below 0 of one in Python; else 0"),
    _index("motion_enabled", "nb", "0 where its motion is disabled"),
    _index("moved", "nm", "the bodies that have a compiled motion, enabled or not"),
    _index("motion", "nb", "where the routine of its motion is, for the record's scalar; else 0"),
    _index("first_motion_number", "nb", "its run in motion_numbers starts here"),
    _parameter("motion_numbers", "motion_numbers_size", 1, "amplitudes, rates and so on"),
    _parameter("lock_q", "nq", 1, "q at which mobilizers are locked, where they are at level POSITION"),
    _parameter("lock_u", "nu", 1, "u, or udot, at which mobilizers are locked at the other levels"),
    # ---- the state's variables: y, then its rates. A leading + says that a field touches the one before,
    # a leading = that it is another name for several
    _state("time", "one", 1, "time"),
    # q, u and their rates: the matter's first, nq and nu, which is all that sweeps know; then other subsystems'
    _state("q", "whole_nq", 1, "coordinates"),
    _state("u", "whole_nu", 1, "+ speeds"),
    _state("z", "nz", 1, "+ auxiliary variables"),
    _state("particle_location", "particle_size", 1, "+ x, y, z of each particle, in G"),
    _state("particle_velocity", "particle_size", 1, "+ their rates"),
    _state("y", "ny", 1, "= q and u and z and particle_location and particle_velocity, end to end"),
    _state("q_dot", "whole_nq", 1, "N u"),
    _state("u_dot", "whole_nu", 1, "+ accelerations"),
    _state("z_dot", "nz", 1, "+ rates of the auxiliary variables"),
    _state("particle_location_dot", "particle_size", 1, "+ particle_velocity once more"),
    _state("particle_acceleration", "particle_size", 1, "+ accelerations of the particles, in G"),
    _state("y_dot", "ny", 1, "= q_dot and the rates of all else in y, end to end"),
    _state("q_dot_dot", "whole_nq", 1, "N udot + NDot u"),
    # ---- position kinematics
    _state("sine", "angles_size", 1, "of each q that is an angle, of one state; records of more leave it alone"),
    _state("cosine", "angles_size", 1, "likewise"),
    _state("R_FM", "nb", 9, "orientation of M in F"),
    _state("p_FM", "nb", 3, "origin of M from F's, in F"),
    _state("H_FM", "nu", 6, "hinge columns of M in F; those of constant kinds are written once"),
    _state("H_MF", "nu", 6, "a reversed mobilizer's own columns, of F in M"),
    _state("N", "n_size", 1, "matrices N of the kinds that keep them, row by row"),
    _state("N_inv", "n_size", 1, "their inverses, row by row"),
    _state("R_GB", "nb", 9, "orientation of B in G"),
    _state("p_GB", "nb", 3, "origin of B from G's, in G"),
    _state("p_PB_G", "nb", 3, "origin of B from P's, in G"),
    _state("p_BM_G", "nb", 3, "origin of M from B's, in G; stays at zero where plain_outboard holds"),
    _state("H", "nu", 6, "hinge columns H_PB_G: of B's origin in P, in G"),
    _state("com_G", "nb", 3, "mass center from B's origin, in G"),
    _state("inertia_G", "nb", 6, "inertia about B's origin, in G"),
    # ---- velocity kinematics
    _state("bias_FM", "nb", 6, "HDot_FM u: the hinge columns' rates, taken and expressed in F, each times its speed"),
    _state("bias_MF", "nb", 6, "the same of a reversed mobilizer's own columns"),
    _state("HDot_FM", "nu", 6, "the rates one by one, of forward mobilizers that are functions of users"),
    _state("HDot_MF", "nu", 6, "a reversed mobilizer's own rates, likewise"),
    _state("N_dot", "n_size", 1, "rates of N"),
    _state("V_GB", "nb", 6, "velocity of B in G"),
    _state("coriolis", "nb", 6, "acceleration of B in G if all udot were zero: the total Coriolis acceleration"),
    _state("centrifugal", "nb", 6, "force on B that this acceleration takes, gyroscopic part included"),
    # ---- lazy entries that depend on position only
    _state("composite", "nb", 10, "mass, first moment and inertia of B and all outboard, about B's origin, in G"),
    _state("articulated", "nb", 21, "what children handed in; or, when asked for, the articulated body inertia P of B"),
    _state("gain", "nu", 6, "P h / d of each mobility, P as it was when its turn came; of a block what blocks.py says"),
    _state("d_inverse", "nu", 1, "1 / (h^T P h); of a block 1 over a determinant"),
    # ---- forces
    _state("body_forces", "nb", 6, "applied forces on B at its origin, in G"),
    _state("mobility_forces", "nu", 1, "applied generalized forces"),
    _state("particle_forces", "particle_size", 1, "applied forces on the particles, in G"),
    _state("kept_body_forces", "nb", 6, "the body_forces of elements that read positions only"),
    _state("kept_mobility_forces", "nu", 1, "their mobility_forces"),
    _state("kept_particle_forces", "particle_size", 1, "their particle_forces"),
    # ---- accelerations
    _state("known_u_dot", "nu", 1, "udot of DRIVEN mobilities"),
    _state("residual", "nb", 6, "force left to be balanced at B, inward pass"),
    _state("epsilon", "nu", 1, "generalized force left over at a mobility, times 1 / d; of a block what blocks.py says"),
    _state("A_GB", "nb", 6, "acceleration of B in G"),
    # ---- constraints
    _state("position_error", "num_rows", 1, "of an equation of positions, first of all its constraint's rows"),
    _state("velocity_offset", "num_rows", 1, "velocity error less G u"),
    _state("acceleration_offset", "num_rows", 1, "acceleration error less G udot"),
    _state("multiplier", "num_rows", 1, "its multiplier"),
    _state("wrenches", "wrenches_size", 6, "torque and force on a body at its origin, in G, of a unit multiplier: rows of G"),
    _state("speed_coefficients", "speed_coefficients_size", 1, "generalized force on a mobility of a unit multiplier"),
    _state("coordinate_coefficients", "coordinate_coefficients_size", 1, "derivative of a position error by a q"),
    _state("effect", "effect_size", 1, "E: what a unit multiplier leaves at a mobility, equation by equation"),
    _state("own_effect", "effect_size", 1, "D^-1 E"),
    _state("gram", "gram_size", 1, "the lower half of E^T D^-1 E, then its factor"),
    _state("gram_upper", "gram_size", 1, "a second factor, where equations are redundant"),
    _state("gram_inverse", "num_rows", 1, "scales of rows, then 1 over the diagonal of the factor"),
    _state("row_work", "num_rows", 1, "right sides, then solutions, group by group"),
    _state("gram_work", "most_rows", 1, "scratch"),
    _state("arguments", "arguments_size", 1, "scratch: what a constraint's function is taken of"),
    _state("path_forces", "path_forces_size", 6, "what is left of unit multipliers on the way inward"),
    _state("path_levers", "path_size", 1, "squares of lengths on the way inward"),
    _state("projection", "four", 1, "of a projection: what it is to reach, and what it has reached"),
    _state("projection_weight", "constrained_nu", 1, "1 / weight^2 of each u, or zero"),
    _state("projection_step", "constrained_nu", 1, "du"),
    _state("projection_work", "constrained_nu", 1, "scratch"),
    _state("q_before", "constrained_nq", 1, "q before a step"),
    _state("u_before", "constrained_nu", 1, "u before a step"),
    # ---- measures
    _state("measure_values", "measure_values_size", 1, "results of the operations"),
    _state("measure_memory", "measure_memory_size", 1, "what measures remember, as of the beginning of the step"),
    _state("measure_next", "measure_memory_size", 1, "what they will remember when the next one begins"),
    # ---- scratch of the operators
    _state("work_q", "nq", 1, "numbers of a motion's routine"),
    _state("work_e", "nf", 1, "a number a force element: its potential energy, or the power that it dissipates"),
    _state("work_u", "nu", 1, "numbers of a force's routine"),
    _state("work_A", "nb", 6, "motions of an operator's outward pass"),
    _state("work_F", "nb", 6, "forces of an operator's inward pass"),
)
# fmt: on

layout.define(COUNTS, FIELDS)
