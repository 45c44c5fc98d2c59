"""Every field that kernels know, grouped by the stage that fills it: one field a line, its shape and its meaning.

Frames: G ground, P parent, B body, F fixed on the parent, M moving on the body. Symmetric matrices are xx yy zz xy xz yz.
The sweeps' own quantities (h, P, gain, epsilon, E) are defined in docs/explanation/algorithms.md. The order of the fields is
their order in memory.
"""

from __future__ import annotations

from ..algebra.record import RecordBase, constants, index, layout, parameter, state


class Record(RecordBase):
    """The record that every kernel calls ``model``: one tree's topology and parameters, and one state's variables and cache."""

    # ---- counts, which are ints
    nb: int  # bodies, Ground included
    nq: int  # coordinates of the mobilizers
    nu: int  # mobilities
    whole_nq: int  # coordinates, those of other subsystems included
    whole_nu: int
    nz: int  # auxiliary variables
    ny: int  # variables that are integrated
    nf: int  # force elements
    ng: int  # gravities, which come first of these
    nr: int  # runs of elements with one routine
    kept_runs: int  # of these, the first, which read positions only
    forces_nz: int  # auxiliary variables of forces, which come first of all z
    nm: int  # bodies with a compiled motion
    one: int
    parameters_size: int
    choices_size: int
    n_size: int
    force_integers_size: int
    force_numbers_size: int
    motion_numbers_size: int
    num_particles: int
    particle_size: int  # 3 num_particles
    nc: int  # constraints
    num_rows: int  # constraint equations, of all levels
    constrained_bodies_size: int
    constrained_mobilizers_size: int
    wrenches_size: int
    speed_coefficients_size: int
    coordinate_coefficients_size: int
    constraint_integers_size: int
    constraint_numbers_size: int
    path_size: int
    path_forces_size: int
    effect_size: int
    gram_size: int
    most_rows: int  # of a group of constraints
    num_slips: int  # nc where contacts may slide, else 0
    slip_work_size: int
    constrained_nu: int  # nu where there are constraints, else 0
    constrained_nq: int
    three: int
    four: int
    num_surfaces: int  # of bodies, for contact; an element's follow each other
    num_contact_routines: int
    contact_integers_size: int
    contact_constants_size: int
    contact_points_size: int  # the most points of a contact of two surfaces
    num_contact_elements: int  # force elements with surfaces
    bristle_rows: int  # of the tables in which friction that sticks remembers points
    contact_rows: int  # 1 where there are surfaces, else 0
    num_controllers: int
    control_size: int
    control_work_size: int
    num_functions: int
    function_places_size: int
    function_integers_size: int
    function_numbers_size: int
    arguments_size: int  # the most arguments of a function
    witness_integers_size: int
    witness_numbers_size: int
    measure_code_size: int
    measure_numbers_size: int
    measure_values_size: int
    measure_memory_size: int
    measure_history_size: int
    measure_rings_size: int
    measure_calls_size: int
    num_angle_runs: int
    angles_size: int

    # ---- the tree: topology
    parent = index("nb", "the parent's index, smaller than the body's own")
    kind = index("nb", "KIND of the mobilizer's file")
    reversed = index("nb", "1 where q and u are of F in M rather than of M in F")
    reversal = index("nb", "address of the routine that reverses the kind's kinematics; 0 for forward mobilizers")
    kinematics = index("nb", "address of the kind's routine, for the record's scalar; 0 for the kinds of `mobilizer.dispatch`")
    rates = index("nb", "how q_dot follows from u: SAME, QUATERNION, EULER or MATRIX of mobilizer.q_rates")
    has_quaternion = index("nb", "1 where the first four q are a quaternion")
    rare_rates = index("nb", "address of the routine of `mobilizer.q_rates`, where rates is EULER or MATRIX; else 0")
    first_n = index("nb", "first number of its N, N^-1 and NDot, where rates is MATRIX")
    turning = index("nb", "number of angular speeds where rates is QUATERNION or EULER: 3, or 2 of a line")
    first_parameter = index("nb", "first of its numbers in parameters")
    first_choice = index("nb", "first of its integers in choices")
    choices = index("choices_size", "integers of the mobilizers' kinds")
    first_q = index("nb", "index of its first q")
    first_u = index("nb", "index of its first u")
    num_q = index("nb", "number of its q")
    num_u = index("nb", "number of its u")
    has_hinge_dot = index("nb", "1 where HDot_FM u is not zero for all q and u")
    slides = index("nb", "1 where the last three mobilities translate M in every direction: eliminated together")
    unit_column = index("nu", "0, 1, 2: the column of H_FM is (x, y, z of F; 0), 3, 4, 5: (0; x, y, z); -1: any other")
    elimination = index("nb", "how its mobilities are eliminated, see block_elimination; NONE where udot is prescribed")
    kinematics_sweep = index("one", "address of the routine that realizes positions and velocities, for the record's scalar")
    dynamics_sweep = index("one", "address of the routine that realizes articulated inertias and accelerations, likewise")
    angle_run = index("num_angle_runs", "first of eight coordinates of which one or more are a pin's angle")
    form_of_X_FM = index("nb", "form of X_FM: `position.ANY`, `TURN`, `SLIDE` or `NONE`")
    plain_outboard = index("nb", "1 where X_BM is the identity")
    massless = index("nb", "1 where mass and inertia are zero: their rows in G stay at zero")
    rotorless = index("nb", "1 where no mobility has rotor inertia: what that makes simpler may be used")
    is_last_child = index("nb", "1 on the child of highest index of each parent: an inward sweep comes to it first")
    has_children = index("nb", "1 where some body is outboard of this one")
    # places number the mobilities depth first, a body's in falling order: the places of a body's outboard subtree are a run
    # that follows its own
    depth_first = index("nb", "bodies in depth-first order, Ground first")
    first_place = index("nb", "lowest place of its mobilities, or of its outboard subtree's where it has none")
    end_place = index("nb", "one past the highest place of its outboard subtree")
    end_of_base = index("nb", "end_place of the base body, on Ground, of its branch")
    mobility_at = index("nu", "mobility at each place")
    in_order = index("nb", "from this place up to end_of_base, places are mobility numbers")
    slot = index("nb", "slot of the scratch for its motions in an outward sweep of columns; a last child reuses its parent's")
    # ---- the tree: instance parameters, which a state may own a copy of
    R_PF = parameter("nb", 9, "orientation of F in P")
    p_PF = parameter("nb", 3, "origin of F from P's, in P")
    R_BM = parameter("nb", 9, "orientation of M in B")
    p_BM = parameter("nb", 3, "origin of M from B's, in B")
    mass = parameter("nb", 1, "mass")
    com = parameter("nb", 3, "mass center from B's origin, in B")
    inertia = parameter("nb", 6, "inertia about B's origin, in B")
    rotor_inertia = parameter("nu", 1, "what is added to the diagonal element of M")
    parameters = parameter("parameters_size", 1, "numbers of the mobilizers' kinds: a pitch, radii, axes")
    particle_mass = parameter("num_particles", 1, "mass of each particle")
    # ---- forces: each element has a run in two pools. First come ng gravities, then nr runs of elements with one routine, the
    # first kept_runs of which read positions only, then the elements that Python computes
    force_kind = index("nf", "KIND of the force's file")
    run_first = index("nr", "first element of a run")
    run_end = index("nr", "one past its last element")
    run_routine = index("nr", "address of its routine, for the record's scalar")
    all_runs = index("one", "address of the routine that calls all runs, for the record's scalar; 0 where there are none")
    force_enabled = index("nf", "0 where the element is disabled")
    force_first_integer = index("nf", "first of its integers in force_integers")
    force_first_number = index("nf", "first of its numbers in force_numbers")
    force_first_z = index("nf", "index of its first z")
    force_integers = index("force_integers_size", "bodies, indices and choices of the elements")
    force_numbers = parameter("force_numbers_size", 1, "stiffnesses, directions and so on")
    # ---- contact surfaces, see `force.contact`
    contact_elements = index("num_contact_elements", "force elements with surfaces")
    surface_body = index("num_surfaces", "body that it is fixed on")
    surface_kind = index("num_surfaces", "KIND of its shape")
    surface_first_number = index("num_surfaces", "first of its numbers in force_numbers, see `contact.access`")
    surface_first_integer = index("num_surfaces", "first of its integers in contact_integers")
    surface_first_constant = index("num_surfaces", "first of its numbers in contact_constants")
    contact_integers = index("contact_integers_size", "faces of meshes, their trees; which surfaces may touch")
    contact_constants = constants("contact_constants_size", "vertices of meshes, boxes of their trees, heights")
    contact_routines = index("num_contact_routines", "addresses of the routines of pairs and laws, for the record's scalar")
    # ---- constraints: each has a run of bodies, of mobilizers, of equations (rows), and in two pools
    constrain = index("constraint_routines", "addresses of routines that constraints share, see `constraint.protocol`; or 0")
    constraint_routine = index("nc", "address of its kind's routine; 0 where Python writes its rows")
    constraint_enabled = index("nc", "0 where the constraint is disabled")
    constraint_first_integer = index("nc", "first of its integers in constraint_integers")
    constraint_first_number = index("nc", "first of its numbers in constraint_numbers")
    constraint_integers = index("constraint_integers_size", "indices and choices of the constraints")
    constraint_numbers = parameter("constraint_numbers_size", 1, "lengths, stations, directions and so on")
    first_constrained_body = index("nc", "first of its bodies in constrained_bodies")
    num_constrained_bodies = index("nc", "number of bodies that it applies forces to")
    constrained_bodies = index("constrained_bodies_size", "these bodies, Ground included")
    constrained_body_place = index("constrained_bodies_size", "index of the body on the constraint's path; -1 for Ground")
    first_mobilizer = index("nc", "first of its mobilizers in constrained_mobilizers")
    num_mobilizers = index("nc", "number of mobilizers that it applies generalized forces to")
    constrained_mobilizers = index("constrained_mobilizers_size", "their bodies")
    num_speeds = index("nc", "number of u of these mobilizers")
    num_coordinates = index("nc", "number of q of these mobilizers")
    first_row = index("nc", "its first equation: first those of positions, then of velocities, then of accelerations alone")
    num_p = index("nc", "number of position equations")
    num_v = index("nc", "number of velocity equations")
    num_a = index("nc", "number of equations of accelerations alone")
    first_wrench = index("nc", "first of its wrenches: equation by equation, body by body")
    first_speed = index("nc", "first of its coefficients of u: equation by equation")
    first_coordinate = index("nc", "first of its coefficients of q: position equation by equation")
    first_path = index("nc", "first body of its path")
    path_length = index("nc", "number of bodies on its path")
    path = index("path_size", "bodies between Ground and those it acts on, these included; each before its parent")
    path_parent = index("path_size", "index on the same path of the parent; -1 where that is Ground")
    path_mobilizer = index("path_size", "index of its first u among the constraint's; -1 where not acted on")
    friction_rows = index("nc", "of a contact that slides: the constraint whose tangential rows friction acts along; else -1")
    # enabled constraints whose paths share a mobility are a group; a state that enables others has these fields of its own
    num_groups = index("one", "number of groups")
    group_first = index("nc", "first of its constraints in group_constraints")
    group_end = index("nc", "one past its last")
    group_constraints = index("nc", "enabled constraints, group by group")
    group_first_row = index("nc", "first of its equations in row_work and gram_inverse")
    group_num_rows = index("nc", "number of its equations")
    group_num_speeds = index("nc", "number of mobilities on its paths")
    group_effect = index("nc", "first of its effects: equation by equation")
    group_gram = index("nc", "first number of its Gram matrix")
    group_first_body = index("nc", "first of its bodies in group_bodies")
    group_end_body = index("nc", "one past its last")
    group_bodies = index("nb", "bodies with mobilities on its paths")
    effect_place = index("constrained_nu", "index of the mobility among its group's")
    row_place = index("num_rows", "index of the equation in row_work and gram_inverse; -1 where disabled")
    row_effect = index("num_rows", "first of its effects")
    row_stride = index("num_rows", "number of effects of an equation of its group")
    position_weight = parameter("num_rows", 1, "weight of a position error in projections")
    velocity_weight = parameter("num_rows", 1, "weight of a velocity error")
    speed_weight = parameter("constrained_nu", 1, "weight of a change of u")
    # ---- functions of numbers, of all elements, mobilizers and constraints, see function.routines
    function_routine = index("num_functions", "address of the routine of its kind, for the record's scalar; 0 of affine ones")
    function_num_arguments = index("num_functions", "number of its arguments")
    function_first_place = index("num_functions", "first of its places in function_places")
    function_first_integer = index("num_functions", "first of its integers in function_integers")
    function_first_number = index("num_functions", "first of its numbers in function_numbers")
    function_places = index("function_places_size", "row of each argument, from the first that the part names")
    function_integers = index("function_integers_size", "numbers of coefficients, of pieces")
    function_numbers = parameter("function_numbers_size", 1, "coefficients, amplitudes and so on")
    # ---- controllers, see tree/sampling.py
    sampler = index("one", "routines that sample, then words of nominal systems, see tree/nominal.py; 0 for lanes and Duals")
    controller = index("num_controllers", "address of its law, likewise")
    controller_element = index("num_controllers", "its place among the force elements")
    # ---- witnesses that steps look at; a simulation shares its own. Of one that holds mobility forces these are the numbers
    witness_integers = index("witness_integers_size", "bodies, coordinates and so on")
    witness_numbers = parameter("witness_numbers_size", 1, "stations, bounds and so on")
    # ---- measures that integrate or remember: a list of operations, see tree/measures.py
    measures = index("one", "address of the routine of the operations, for the record's scalar; 0 where there are none")
    measure_runs = index("three", "one past the last operation of each of three runs")
    measure_calls = index("measure_calls_size", "addresses of the routines of operations, for the record's scalar")
    measure_code = index("measure_code_size", "operations, three integers each; then the integers of their routines")
    measure_numbers = parameter("measure_numbers_size", 1, "factors, amplitudes, stations and so on")
    measure_rings = index(
        "measure_rings_size", "where rings of samples and their counts are, four integers each: `batch_memory`"
    )
    # ---- locks and prescribed motions
    lock_level = index("nb", "`Level` of its lock plus 1; 0 where it is not locked")
    prescribed = index("nb", "source of udot: SOLVED, ZERO, FROM_LOCK or FROM_MOTION of prescribed_mobilities")
    prescribed_level = index("nb", "`Level` of its lock or motion plus 1, else 0; below 0 for one in Python")
    motion_enabled = index("nb", "0 where its motion is disabled")
    moved = index("nm", "bodies that have a compiled motion, enabled or not")
    motion = index("nb", "address of its motion's routine, for the record's scalar; else 0")
    first_motion_number = index("nb", "first of its numbers in motion_numbers")
    motion_numbers = parameter("motion_numbers_size", 1, "amplitudes, rates and so on")
    lock_q = parameter("nq", 1, "q at which mobilizers are locked at level POSITION")
    lock_u = parameter("nu", 1, "u or udot at which mobilizers are locked at other levels")
    # ---- the state's variables: y, then its rates. A field that touches begins where the one before it ends; one that spans
    # others is a second name for them, end to end
    time = state("one", 1, "time")
    # of q, u and their rates the matter's nq and nu come first, which the sweeps compute; then other subsystems'
    q = state("whole_nq", 1, "coordinates")
    u = state("whole_nu", 1, "speeds", touches=True)
    z = state("nz", 1, "auxiliary variables", touches=True)
    particle_location = state("particle_size", 1, "x, y, z of each particle, in G", touches=True)
    particle_velocity = state("particle_size", 1, "their rates", touches=True)
    y = state("ny", 1, "all that is integrated", spans=("q", "u", "z", "particle_location", "particle_velocity"))
    q_dot = state("whole_nq", 1, "N u")
    u_dot = state("whole_nu", 1, "accelerations", touches=True)
    z_dot = state("nz", 1, "rates of the auxiliary variables", touches=True)
    particle_location_dot = state("particle_size", 1, "particle_velocity once more", touches=True)
    particle_acceleration = state("particle_size", 1, "accelerations of the particles, in G", touches=True)
    y_dot = state("ny", 1, "rates of y", spans=("q_dot", "u_dot", "z_dot", "particle_location_dot", "particle_acceleration"))
    q_dot_dot = state("whole_nq", 1, "N udot + NDot u")
    # ---- position kinematics
    sine = state("angles_size", 1, "sine of each q that is a pin's angle; of records of one state only")
    cosine = state("angles_size", 1, "cosine, likewise")
    R_FM = state("nb", 9, "orientation of M in F")
    p_FM = state("nb", 3, "origin of M from F's, in F")
    H_FM = state("nu", 6, "hinge columns of M in F, in F; those of constant kinds are written once")
    H_MF = state("nu", 6, "hinge columns of F in M, in M, of reversed mobilizers")
    N = state("n_size", 1, "matrices N of the kinds that keep them, by rows")
    N_inv = state("n_size", 1, "their inverses, by rows")
    R_GB = state("nb", 9, "orientation of B in G")
    p_GB = state("nb", 3, "origin of B from G's, in G")
    p_PB_G = state("nb", 3, "origin of B from P's, in G")
    p_BM_G = state("nb", 3, "origin of M from B's, in G; stays at zero where plain_outboard")
    H = state("nu", 6, "hinge columns H_PB_G: velocity of B's origin in P, in G")
    com_G = state("nb", 3, "mass center from B's origin, in G")
    inertia_G = state("nb", 6, "inertia about B's origin, in G")
    # ---- velocity kinematics
    bias_FM = state("nb", 6, "HDot_FM u, rates taken and expressed in F")
    bias_MF = state("nb", 6, "HDot_MF u of reversed mobilizers")
    HDot_FM = state("nu", 6, "HDot_FM, column by column, of forward mobilizers of users' functions")
    HDot_MF = state("nu", 6, "HDot_MF, likewise, of reversed ones")
    N_dot = state("n_size", 1, "their rates, by rows")
    V_GB = state("nb", 6, "velocity of B in G")
    coriolis = state("nb", 6, "A0: acceleration of B in G if all udot were zero, the total Coriolis acceleration")
    centrifugal = state("nb", 6, "F0: force that A0 takes, gyroscopic force included")
    # ---- inertias, which depend on positions only
    composite = state("nb", 10, "composite-rigid-body inertia: mass, first moment, inertia about B's origin, in G")
    articulated = state("nb", 21, "sum of children's phi P+ phi^T; P where prescribed > ZERO or STORED_INERTIAS holds")
    gain = state("nu", 6, "P h / d of each mobility, with P as earlier mobilities left it; of a block see block_elimination")
    d_inverse = state("nu", 1, "1 / (h^T P h + rotor inertia); of a block 1 / determinant")
    # ---- forces
    body_forces = state("nb", 6, "applied forces on B at its origin, in G")
    mobility_forces = state("nu", 1, "applied generalized forces")
    particle_forces = state("particle_size", 1, "applied forces on the particles, in G")
    kept_body_forces = state("nb", 6, "body_forces of the elements that read positions only")
    kept_mobility_forces = state("nu", 1, "their mobility_forces")
    kept_particle_forces = state("particle_size", 1, "their particle_forces")
    # ---- contact: scratch, but for surface_order
    surface_frame = state("num_surfaces", 18, "R_GS, p_GS; center of its box, and the half lengths along G's axes")
    surface_order = state("num_surfaces", 3, "for each axis and place, which surface is there, less the place")
    surface_sorted = state("num_surfaces", 8, "boxes of bounded surfaces in their order along an axis, see `broad_phase`")
    contact_point = state("contact_points_size", 32, "points of the contact of two surfaces, see `contact.access`")
    contact_sum = state("contact_rows", 32, "what these add up to, see `contact.access`")
    bristle_memory = state("bristle_rows", 16, "points as of the step's beginning, see `force.contact.bristle`")
    bristle_now = state("bristle_rows", 16, "points of the last evaluation")
    bristle_next = state("bristle_rows", 16, "points as of the step's end, when the next begins")
    # ---- accelerations
    known_u_dot = state("nu", 1, "udot of mobilizers whose prescribed is FROM_MOTION")
    residual = state("nb", 6, "sum over children of phi Z+: force left to be balanced at B")
    own_u_dot = state("nu", 1, "D^-1 e: udot if the parent's A' were zero (Jain's nu); of a block see block_elimination")
    A_GB = state("nb", 6, "acceleration of B in G")
    # ---- constraints
    position_error = state("num_rows", 1, "position error of a position equation")
    velocity_offset = state("num_rows", 1, "velocity error less G u")
    acceleration_offset = state("num_rows", 1, "acceleration error less G udot")
    multiplier = state("num_rows", 1, "its multiplier")
    wrenches = state("wrenches_size", 6, "rows of G: torque and force, at a body's origin, in G, of a unit multiplier")
    speed_coefficients = state("speed_coefficients_size", 1, "rows of G: generalized force of a unit multiplier")
    coordinate_coefficients = state("coordinate_coefficients_size", 1, "derivative of a position error by q")
    effect = state("effect_size", 1, "E: force that a unit multiplier leaves at a mobility, equation by equation")
    own_effect = state("effect_size", 1, "D^-1 E")
    gram = state("gram_size", 1, "lower half of E^T D^-1 E, then its factor")
    gram_upper = state("gram_size", 1, "second factor, where equations are redundant")
    gram_inverse = state("num_rows", 1, "scales of rows, then 1 / diagonal of the factor")
    rounding = state("num_rows", 1, "position error that rounding of axes explains; 0 where a row moves something")
    slip_memory = state("num_slips", 7, "how a contact was let slide: direction, coefficients, see `tree.sliding`")
    slip_forces = state("num_slips", 2, "friction, along its tangential rows, that body_forces have")
    slip_work = state("slip_work_size", 1, "scratch of `tree.sliding`")
    row_work = state("num_rows", 1, "right sides, then solutions, group by group")
    gram_work = state("most_rows", 1, "scratch")
    path_forces = state("path_forces_size", 6, "scratch: Z+ of unit multipliers along a path")
    path_levers = state("path_size", 1, "scratch: squares of levers along a path")
    projection = state("four", 1, "what a projection is to reach, and what it has reached, see `project`")
    projection_weight = state("constrained_nu", 1, "1 / weight^2 of each u; zero where prescribed")
    projection_step = state("constrained_nu", 1, "du of a projection")
    projection_work = state("constrained_nu", 1, "scratch")
    q_before = state("constrained_nq", 1, "q before a step")
    u_before = state("constrained_nu", 1, "u before a step")
    # ---- measures
    measure_values = state("measure_values_size", 1, "results of the operations")
    measure_memory = state("measure_memory_size", 1, "what measures remember, as of the step's beginning")
    measure_next = state("measure_memory_size", 1, "what they will remember when the next step begins")
    measure_history = state("measure_history_size", 1, "samples of the past, ring by ring, see `measure.samples`")
    control_memory = state("control_size", 1, "what controllers hold and remember from sample to sample")
    control_work = state("control_work_size", 1, "scratch: inputs and efforts of a law, or derivatives of drag")
    witness_values = state("one", 2, "scratch: value and rate of a witness")
    # ---- scratch of functions
    arguments = state("arguments_size", 1, "arguments of the function that is evaluated")
    argument_rates = state("arguments_size", 1, "their rates")
    function_value = state("arguments_size", 1, "its value, first of all")
    function_gradient = state("arguments_size", 1, "its first derivatives")
    function_gradient_rate = state("arguments_size", 1, "their rates")
    # ---- scratch of the operators
    work_q = state("nq", 1, "scratch of mobilizers and motions")
    work_e = state("nf", 1, "a number a force element: potential energy, or dissipated power")
    work_u = state("nu", 1, "scratch of forces")
    work_A = state("nb", 6, "motions of an operator's outward sweep")
    work_F = state("nb", 6, "forces of an operator's inward sweep")


#: Fields of numbers: a state may own a copy, and each lane of an Ensemble a value of its own.
PARAMETERS = tuple(field.name for field in layout.fields.values() if field.what == "parameter")
#: Flags of work that kernels can leave out, and `elimination`; zero is always right, and of this one ONE_BY_ONE. Bits that the
#: values of some states have in common are right for all of them.
SHORTCUTS = ("plain_outboard", "massless", "rotorless", "elimination")
#: The fields that `grouped` gives.
GROUPED = (
    *("num_groups", "group_first", "group_end", "group_constraints", "group_first_row", "group_num_rows", "group_num_speeds"),
    *("group_effect", "group_gram", "group_first_body", "group_end_body", "group_bodies", "effect_place"),
    *("row_place", "row_effect", "row_stride"),
)
#: Fields of the tree that Instance variables change: a state may own copies of them.
INSTANCE_FIELDS = (
    *PARAMETERS,
    *("force_enabled", "force_integers", "prescribed", "lock_level", "prescribed_level", "motion_enabled"),
    *("constraint_enabled", "constraint_integers", "friction_rows", *GROUPED),
    *SHORTCUTS,
)
#: Fields of addresses of routines, which each scalar has its own of.
ADDRESSES = (
    *("kinematics_sweep", "dynamics_sweep"),
    *("kinematics", "reversal", "rare_rates", "motion", "run_routine", "all_runs"),
    *("constraint_routine", "constrain", "function_routine"),
    *("measures", "measure_calls"),
    *("sampler", "controller"),
    "contact_routines",
)
#: Of which fields kernels leave rows, or columns, at zero where a flag holds.
LEFT_AT_ZERO = {"massless": ("com_G", "inertia_G", "centrifugal"), "plain_outboard": ("p_BM_G", "H")}
#: What kernels leave at zero where a row of constraints has no entry, whose places follow from how these are grouped.
LEFT_BY_GROUPS = "effect", "own_effect", "multiplier", "slip_forces"
#: Continuous variables of a state that modelling choices do not touch.
OUTSIDE_MATTER = ("time", "particle_location", "particle_velocity")
#: Memory of measures, contacts and controllers, likewise.
REMEMBERED = (
    *("measure_memory", "measure_next", "measure_history", "bristle_memory", "bristle_next", "control_memory"),
    "slip_memory",
)
