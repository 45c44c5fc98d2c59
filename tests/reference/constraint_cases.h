// Cases with constraints: part of generate.cpp, which includes it once.
//
// To add a kind: one entry in constraintKinds(). Its arguments are written under mobod's names; bodies are indices.

#pragma once

// ---------------------------------------------------------------------------------------------------------------------
// Constraint kinds: one table entry each
// ---------------------------------------------------------------------------------------------------------------------

using Bodies = std::vector<int>;

struct ConstraintKind {
    using Add = std::function<Constraint(Model& model, const Bodies& bodies, Rng& random, Object& arguments)>;
    using Ask = std::function<void(const Constraint& constraint, const State& state, Object& answers)>;
    Text name;
    int rows;            // equations, all levels
    Add add;
    Ask ask = nullptr;   // what its own methods say, by mobod's names; at ACCELERATION. 3.7 declares some that it lacks
    int num_bodies = 2;
    bool coordinates = false;  // speaks of coordinates of bodies whose q_dot is u
};

// Mobilities, and coordinates where q_dot is u, of the mobilizer kinds that trees with constraints are made of.
int mobilitiesOf(const Text& kind) {
    static const std::vector<std::pair<Text, int>> table = {
        {"Pin", 1},  {"Slider", 1}, {"Screw", 1},       {"Cylinder", 2}, {"Universal", 2}, {"BendStretch", 2}, {"Translation", 3},
        {"Ball", 3}, {"Gimbal", 3}, {"Planar", 3},      {"Ellipsoid", 3}, {"Free", 6},     {"Bushing", 6},     {"Weld", 0}};
    for (const auto& entry : table)
        if (entry.first == kind) return entry.second;
    throw std::runtime_error("no number of mobilities of " + kind);
}

bool ratesAreSpeeds(const Text& kind) { return kind != "Ball" && kind != "Free" && kind != "Ellipsoid"; }

// A quadratic function of several arguments: value + slopes . x + x . curvature x / 2.
class Quadratic : public Function {
public:
    Quadratic(Real value, const Vector& slopes, const Matrix& curvature) : m_value(value), m_slopes(slopes), m_curvature(curvature) {}
    Real calcValue(const Vector& x) const override { return m_value + dot(m_slopes, x) + dot(x, m_curvature * x) / 2; }
    Real calcDerivative(const Array_<int>& components, const Vector& x) const override {
        if (components.size() == 1) return m_slopes[components[0]] + dot(~m_curvature[components[0]], x);
        return components.size() == 2 ? m_curvature(components[0], components[1]) : 0;
    }
    int getArgumentSize() const override { return m_slopes.size(); }
    int getMaxDerivativeOrder() const override { return 3; }

private:
    static Real dot(const Vector& a, const Vector& b) {
        Real sum = 0;
        for (int i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    }
    Real m_value;
    Vector m_slopes;
    Matrix m_curvature;
};

const Function* quadratic(int n, Rng& random, Object& written) {
    const Real value = random.uniform(-0.3, 0.3);
    Vector slopes = random.vector(n, 0.4);
    for (int i = 0; i < n; ++i) slopes[i] += random.coin() ? 0.8 : -0.8;
    Matrix curvature(n, n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) curvature(i, j) = curvature(j, i) = random.uniform(-0.3, 0.3);
    written.add("kind", "Quadratic").add("value", value).add("slopes", slopes).add("curvature", curvature);
    return new Quadratic(value, slopes, curvature);
}

const Function* sinusoid(Rng& random, Object& written) {
    const Vec3 c = random.vec3();
    written.add("kind", "Sinusoid").add("amplitude", c[0]).add("frequency", 1 + c[1]).add("phase", c[2]);
    return new Function::Sinusoid(c[0], 1 + c[1], c[2]);
}

template <class Kind, class Method> void answer(Object& out, const Text& name, const Kind& kind, const State& s, Method method) {
    out.add(name, (kind.*method)(s));
}

// What several kinds have under the same names.
template <class Kind> void answerErrors(Object& out, const Kind& c, const State& s) {
    out.add("get_position_errors", c.getPositionErrors(s)).add("get_velocity_errors", c.getVelocityErrors(s));
    out.add("get_acceleration_errors", c.getAccelerationErrors(s)).add("get_multipliers", c.getMultipliers(s));
}
template <class Kind> void answerError(Object& out, const Kind& c, const State& s) {
    out.add("get_position_error", c.getPositionError(s)).add("get_velocity_error", c.getVelocityError(s));
    out.add("get_acceleration_error", c.getAccelerationError(s)).add("get_multiplier", c.getMultiplier(s));
}
template <class Kind> void answerContact(Object& out, const Kind& c, const State& s) {
    out.add("get_position_error", c.getPositionError(s)).add("get_velocity_errors", c.getVelocityErrors(s));
    out.add("get_acceleration_errors", c.getAccelerationErrors(s)).add("get_multipliers", c.getMultipliers(s));
    out.add("find_separation", c.findSeparation(s)).add("is_enforcing_rolling", c.isEnforcingRolling());
}

ConstraintKind sphereOnPlane(bool rolling) {
    return {Text("SphereOnPlaneContact") + (rolling ? "_rolling" : "_sliding"), rolling ? 3 : 1,
            [=](Model& model, const Bodies& on, Rng& random, Object& arguments) {
                const Transform X = random.transform();
                const Vec3 center = random.vec3();
                const Real radius = random.uniform(0.2, 0.8);
                arguments.add("plane_body", on[0]).addText("plane_frame", frame(X)).add("sphere_body", on[1]);
                arguments.add("sphere_center", center).add("radius", radius).add("enforce_rolling", rolling);
                return Constraint::SphereOnPlaneContact(model.updMobod(on[0]), X, model.updMobod(on[1]), center, radius, rolling);
            },
            [](const Constraint& constraint, const State& s, Object& out) {
                const auto& c = Constraint::SphereOnPlaneContact::downcast(constraint);
                answerContact(out, c, s);
                out.add("find_force_on_sphere_in_g", c.findForceOnSphereInG(s)).add("find_contact_point_in_g", c.findContactPointInG(s));
            }};
}

ConstraintKind sphereOnSphere(bool rolling) {
    return {Text("SphereOnSphereContact") + (rolling ? "_rolling" : "_sliding"), rolling ? 3 : 1,
            [=](Model& model, const Bodies& on, Rng& random, Object& arguments) {
                const Vec3 center1 = random.vec3(), center2 = random.vec3();
                const Real radius1 = random.uniform(0.2, 0.8), radius2 = random.uniform(0.2, 0.8);
                arguments.add("body1", on[0]).add("center1", center1).add("radius1", radius1);
                arguments.add("body2", on[1]).add("center2", center2).add("radius2", radius2).add("enforce_rolling", rolling);
                return Constraint::SphereOnSphereContact(model.updMobod(on[0]), center1, radius1, model.updMobod(on[1]), center2,
                                                         radius2, rolling);
            },
            [](const Constraint& constraint, const State& s, Object& out) {
                const auto& c = Constraint::SphereOnSphereContact::downcast(constraint);
                answerContact(out, c, s);
                out.add("find_force_on_sphere_b_in_g", c.findForceOnSphereBInG(s));
                out.add("find_contact_frame_in_g", c.findContactFrameInG(s));
            }};
}

ConstraintKind lineOnLine(bool rolling) {
    return {Text("LineOnLineContact") + (rolling ? "_rolling" : "_sliding"), rolling ? 3 : 1,
            [=](Model& model, const Bodies& on, Rng& random, Object& arguments) {
                const Transform X1 = random.transform(), X2 = random.transform();
                const Real half1 = random.uniform(0.2, 0.8), half2 = random.uniform(0.2, 0.8);
                arguments.add("body1", on[0]).addText("frame1", frame(X1)).add("half_length1", half1);
                arguments.add("body2", on[1]).addText("frame2", frame(X2)).add("half_length2", half2).add("enforce_rolling", rolling);
                return Constraint::LineOnLineContact(model.updMobod(on[0]), X1, half1, model.updMobod(on[1]), X2, half2, rolling);
            },
            [](const Constraint& constraint, const State& s, Object& out) {
                const auto& c = Constraint::LineOnLineContact::downcast(constraint);
                answerContact(out, c, s);
                out.add("find_force_on_body_b_in_g", c.findForceOnBodyBInG(s));
                out.add("find_contact_frame_in_g", c.findContactFrameInG(s));
                Vec3 Qf, Qb;
                bool parallel;
                c.findClosestPointsInG(s, Qf, Qb, parallel);
                out.addText("find_closest_points_in_g", list({json(Qf), json(Qb), json(parallel)}));
            }};
}

const std::vector<ConstraintKind>& constraintKinds() {
    static const std::vector<ConstraintKind> table = {
        {"Rod", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const Vec3 station1 = random.vec3(), station2 = random.vec3();
             const Real length = random.uniform(0.5, 2);
             arguments.add("body1", on[0]).add("station1", station1).add("body2", on[1]).add("station2", station2);
             arguments.add("length", length);
             return Constraint::Rod(model.updMobod(on[0]), station1, model.updMobod(on[1]), station2, length);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             const auto& c = Constraint::Rod::downcast(constraint);
             answerError(out, c, s);
             out.add("get_rod_tension", c.getRodTension(s)).add("find_rod_orientation_in_g", Vec3(c.findRodOrientationInG(s)));
             out.add("find_length_violation", c.findLengthViolation(s));
         }},
        {"Ball", 3,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const Vec3 station1 = random.vec3(), station2 = random.vec3();
             arguments.add("body1", on[0]).add("station1", station1).add("body2", on[1]).add("station2", station2);
             return Constraint::Ball(model.updMobod(on[0]), station1, model.updMobod(on[1]), station2);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             const auto& c = Constraint::Ball::downcast(constraint);
             answerErrors(out, c, s);
             out.add("get_ball_reaction_force_on_body1", c.getBallReactionForceOnBody1(s));
             out.add("get_ball_reaction_force_on_body2", c.getBallReactionForceOnBody2(s));
         }},
        {"Weld", 6,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const Transform X1 = random.transform(), X2 = random.transform();
             arguments.add("body1", on[0]).addText("frame1", frame(X1)).add("body2", on[1]).addText("frame2", frame(X2));
             return Constraint::Weld(model.updMobod(on[0]), X1, model.updMobod(on[1]), X2);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             answerErrors(out, Constraint::Weld::downcast(constraint), s);
         }},
        {"PointInPlane", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const UnitVec3 normal(random.vec3());
             const Real height = random.uniform(-1, 1);
             const Vec3 station = random.vec3();
             arguments.add("plane_body", on[0]).add("plane_normal", Vec3(normal)).add("plane_height", height);
             arguments.add("follower_body", on[1]).add("follower_station", station);
             return Constraint::PointInPlane(model.updMobod(on[0]), normal, height, model.updMobod(on[1]), station);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             const auto& c = Constraint::PointInPlane::downcast(constraint);
             answerError(out, c, s);
         }},
        {"PointOnLine", 2,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const UnitVec3 direction(random.vec3());
             const Vec3 point = random.vec3(), station = random.vec3();
             arguments.add("line_body", on[0]).add("line_direction", Vec3(direction)).add("point_on_line", point);
             arguments.add("follower_body", on[1]).add("follower_station", station);
             return Constraint::PointOnLine(model.updMobod(on[0]), direction, point, model.updMobod(on[1]), station);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             answerErrors(out, Constraint::PointOnLine::downcast(constraint), s);
         }},
        {"ConstantAngle", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const UnitVec3 base(random.vec3()), follower(random.vec3());
             const Real angle = random.uniform(0.4, 2.7);
             arguments.add("base_body", on[0]).add("base_axis", Vec3(base)).add("follower_body", on[1]);
             arguments.add("follower_axis", Vec3(follower)).add("angle", angle);
             return Constraint::ConstantAngle(model.updMobod(on[0]), base, model.updMobod(on[1]), follower, angle);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             const auto& c = Constraint::ConstantAngle::downcast(constraint);
             answerError(out, c, s);
         }},
        {"ConstantOrientation", 3,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const Rotation base = random.rotation(), follower = random.rotation();
             arguments.add("base_body", on[0]).add("base_rotation", base).add("follower_body", on[1]);
             arguments.add("follower_rotation", follower);
             return Constraint::ConstantOrientation(model.updMobod(on[0]), base, model.updMobod(on[1]), follower);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             const auto& c = Constraint::ConstantOrientation::downcast(constraint);
             answerErrors(out, c, s);
         }},
        {"NoSlip1D", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const UnitVec3 direction(random.vec3());
             const Vec3 point = random.vec3();
             arguments.add("case_body", on[2]).add("contact_point", point).add("direction", Vec3(direction));
             arguments.add("body0", on[0]).add("body1", on[1]);
             return Constraint::NoSlip1D(model.updMobod(on[2]), point, direction, model.updMobod(on[0]), model.updMobod(on[1]));
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             const auto& c = Constraint::NoSlip1D::downcast(constraint);
             out.add("get_velocity_error", c.getVelocityError(s)).add("get_acceleration_error", c.getAccelerationError(s));
             out.add("get_multiplier", c.getMultiplier(s)).add("get_force_at_contact_point", c.getForceAtContactPoint(s));
         },
         3},
        {"PointOnPlaneContact", 3,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const Transform X = random.transform();
             const Vec3 station = random.vec3();
             arguments.add("plane_body", on[0]).addText("plane_frame", frame(X)).add("follower_body", on[1]);
             arguments.add("follower_station", station);
             return Constraint::PointOnPlaneContact(model.updMobod(on[0]), X, model.updMobod(on[1]), station);
         },
         [](const Constraint& constraint, const State& s, Object& out) {
             const auto& c = Constraint::PointOnPlaneContact::downcast(constraint);
             out.add("get_position_error", c.getPositionError(s)).add("get_velocity_errors", c.getVelocityErrors(s));
             out.add("get_acceleration_errors", c.getAccelerationErrors(s)).add("get_multipliers", c.getMultipliers(s));
         }},
        sphereOnPlane(false),
        sphereOnPlane(true),
        sphereOnSphere(false),
        sphereOnSphere(true),
        lineOnLine(false),
        lineOnLine(true),
        {"ConstantCoordinate", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const int which = random.index(mobilitiesOf(model.kind_of[on[0]]->name));
             const Real value = random.uniform(-1, 1);
             arguments.add("mobod", on[0]).add("which_q", which).add("value", value);
             return Constraint::ConstantCoordinate(model.updMobod(on[0]), MobilizerQIndex(which), value);
         },
         nullptr, 1, true},
        {"ConstantSpeed", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const int which = random.index(mobilitiesOf(model.kind_of[on[0]]->name));
             const Real value = random.uniform(-1, 1);
             arguments.add("mobod", on[0]).add("which_u", which).add("value", value);
             return Constraint::ConstantSpeed(model.updMobod(on[0]), MobilizerUIndex(which), value);
         },
         nullptr, 1, true},
        {"ConstantAcceleration", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             const int which = random.index(mobilitiesOf(model.kind_of[on[0]]->name));
             const Real value = random.uniform(-1, 1);
             arguments.add("mobod", on[0]).add("which_u", which).add("value", value);
             return Constraint::ConstantAcceleration(model.updMobod(on[0]), MobilizerUIndex(which), value);
         },
         nullptr, 1, true},
        {"CoordinateCoupler", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             Object function;
             Array_<MobilizedBodyIndex> bodies;
             Array_<MobilizerQIndex> places;
             for (const int b : on) {
                 bodies.push_back(MobilizedBodyIndex(b));
                 places.push_back(MobilizerQIndex(random.index(mobilitiesOf(model.kind_of[b]->name))));
             }
             const Function* f = quadratic(int(on.size()), random, function);
             arguments.add("function", function).add("coordinate_mobods", on);
             arguments.add("coordinate_indices", std::vector<int>(places.begin(), places.end()));
             return Constraint::CoordinateCoupler(model.matter, f, bodies, places);
         },
         nullptr, 2, true},
        {"SpeedCoupler", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             Object function;
             Array_<MobilizedBodyIndex> bodies, others;
             Array_<MobilizerUIndex> places;
             Array_<MobilizerQIndex> coordinates;
             for (const int b : on) {
                 bodies.push_back(MobilizedBodyIndex(b));
                 places.push_back(MobilizerUIndex(random.index(mobilitiesOf(model.kind_of[b]->name))));
             }
             others.push_back(bodies.back());
             coordinates.push_back(MobilizerQIndex(random.index(mobilitiesOf(model.kind_of[on.back()]->name))));
             const Function* f = quadratic(int(on.size()) + 1, random, function);
             arguments.add("function", function).add("speed_mobods", on);
             arguments.add("speed_indices", std::vector<int>(places.begin(), places.end()));
             arguments.add("coordinate_mobods", std::vector<int>{on.back()});
             arguments.add("coordinate_indices", std::vector<int>{int(coordinates[0])});
             return Constraint::SpeedCoupler(model.matter, f, bodies, places, others, coordinates);
         },
         nullptr, 2, true},
        {"PrescribedMotion", 1,
         [](Model& model, const Bodies& on, Rng& random, Object& arguments) {
             Object function;
             const int which = random.index(mobilitiesOf(model.kind_of[on[0]]->name));
             const Function* f = sinusoid(random, function);
             arguments.add("function", function).add("mobod", on[0]).add("which_q", which);
             return Constraint::PrescribedMotion(model.matter, f, MobilizedBodyIndex(on[0]), MobilizerQIndex(which));
         },
         nullptr, 1, true},
    };
    return table;
}

const ConstraintKind& constraintKindNamed(const Text& name) {
    for (const ConstraintKind& kind : constraintKinds())
        if (kind.name == name) return kind;
    throw std::runtime_error("no constraint kind " + name);
}

// ---------------------------------------------------------------------------------------------------------------------
// Models
// ---------------------------------------------------------------------------------------------------------------------

struct Tie {
    Text kind;
    Bodies on;             // drawn where empty
    bool disabled = false;
    int like = -1;         // the same constraint as that with this number: arguments are drawn alike
};

struct ConstrainedPlan {
    Text name;
    std::vector<Link> links;
    std::vector<Tie> ties;
    bool use_euler_angles = false;
    bool can_be_assembled = true;
    bool can_be_singular = false;
    int num_drawn = 0;         // of `links`, where they are drawn
    bool coordinates = false;  // they are drawn for constraints on coordinates
};

// Mobilities between two bodies that no lock or motion holds.
int mobilitiesBetween(const std::vector<Link>& links, int a, int b) {
    int total = 0;
    while (a != b) {
        int& far = a > b ? a : b;
        if (links[far - 1].held.empty()) total += mobilitiesOf(links[far - 1].kind);
        far = links[far - 1].parent;
    }
    return total;
}

// Bodies for a constraint, with more mobilities between them than it takes away.
Bodies drawBodies(const std::vector<Link>& links, const ConstraintKind& kind, Rng& random) {
    const int nb = int(links.size()) + 1;
    for (int attempt = 0; attempt < 10000; ++attempt) {
        Bodies on;
        for (int i = 0; i < kind.num_bodies; ++i) on.push_back(random.index(nb));
        bool good = kind.num_bodies < 2 || on[0] != on[1];
        if (good && kind.coordinates)
            for (const int b : on) good = good && b > 0 && ratesAreSpeeds(links[b - 1].kind);
        if (good && kind.coordinates) good = links[on[0] - 1].held.empty();
        if (good && !kind.coordinates) good = mobilitiesBetween(links, on[0], on[1]) > kind.rows;
        if (good) return on;
    }
    throw std::runtime_error("no bodies for a " + kind.name);
}

// Some of whose bodies are free enough for any constraint; and, where `coordinates`, some whose q_dot is u.
std::vector<Link> drawLinks(int num_bodies, const Text& name, bool coordinates) {
    Rng random(seedOf("links of " + name));
    const Names choice = {"Pin",       "Slider", "Translation", "Ball",   "Free",    "Free",     "Planar",
                          "Universal", "Screw",  "Cylinder",    "Gimbal", "Bushing", "Ellipsoid"};
    std::vector<Link> links;
    for (int b = 1; b <= num_bodies; ++b) {
        const Text kind = b == 2 ? (coordinates ? "Planar" : "Free") : b == 3 ? "Bushing" : choice[random.index(int(choice.size()))];
        const int one = random.index(b), two = random.index(b);
        links.push_back({"b" + std::to_string(b), kind, std::max(one, two), random.coin()});
    }
    return links;
}

// What constraints are, apart from one another.
struct Ties {
    Ties(Model& model, const ConstrainedPlan& plan, Rng& random) {
        std::vector<Bodies> bodies;
        std::vector<std::uint64_t> seeds;
        for (const Tie& tie : plan.ties) {
            const ConstraintKind& kind = constraintKindNamed(tie.kind);
            const Bodies own = !tie.on.empty() ? tie.on : drawBodies(plan.links, kind, random);
            bodies.push_back(tie.like >= 0 ? bodies[tie.like] : own);
            seeds.push_back(tie.like >= 0 ? seeds[tie.like] : std::uint64_t(random.index(1 << 30)));
            Rng of_its_own(seeds.back());
            Object arguments;
            arguments.add("kind", classOf(tie.kind));
            Constraint constraint = kind.add(model, bodies.back(), of_its_own, arguments);
            if (tie.disabled) {
                constraint.setDisabledByDefault(true);
                arguments.add("disabled_by_default", true);
            }
            kinds.push_back(&kind);
            indices.push_back(constraint.getConstraintIndex());
            written.push_back(arguments.text());
        }
    }
    std::vector<const ConstraintKind*> kinds;
    std::vector<ConstraintIndex> indices;
    std::vector<Text> written;
};

// ---------------------------------------------------------------------------------------------------------------------
// Results
// ---------------------------------------------------------------------------------------------------------------------

Matrix packColumns(const Packing& packing, const Matrix& matrix) {
    Matrix packed(matrix.nrow(), packing.size());
    for (int i = 0; i < matrix.nrow(); ++i) {
        const Vector row = packing.pack(~matrix[i]);
        for (int j = 0; j < row.size(); ++j) packed(i, j) = row[j];
    }
    return packed;
}

// One entry a constraint.
Text constraintResults(const Model& model, const Ties& ties, const State& s) {
    std::vector<Text> out;
    for (std::size_t i = 0; i < ties.indices.size(); ++i) {
        const Constraint& c = model.matter.getConstraint(ties.indices[i]);
        Object one;
        int mp, mv, ma;
        c.getNumConstraintEquationsInUse(s, mp, mv, ma);
        one.add("get_num_constraint_equations_in_use", std::vector<int>{mp, mv, ma}).add("is_disabled", c.isDisabled(s));
        if (!c.isDisabled(s)) {
            one.add("get_position_errors_as_vector", c.getPositionErrorsAsVector(s));
            one.add("get_velocity_errors_as_vector", c.getVelocityErrorsAsVector(s));
            one.add("get_acceleration_errors_as_vector", c.getAccelerationErrorsAsVector(s));
            one.add("get_multipliers_as_vector", c.getMultipliersAsVector(s));
            one.add("calc_power", c.calcPower(s));
            Vector_<SpatialVec> F;
            Vector f;
            c.getConstraintForcesAsVectors(s, F, f);
            one.addText("get_constraint_forces_as_vectors", list({json(F), json(f)}));
            Object own;
            if (ties.kinds[i]->ask) ties.kinds[i]->ask(c, s, own);
            one.add("own", own);
        }
        out.push_back(one.text());
    }
    return list(out, ",\n");
}

Object constrainedMatterResults(const Model& model, const State& s, const Packing& packing, const Inputs& in, const Vector& lambda,
                                const Vector& delta_v) {
    const SimbodyMatterSubsystem& matter = model.matter;
    Object out;
    Matrix matrix;
    Vector v, f;
    Vector_<SpatialVec> F, A;
    out.add("get_constraint_multipliers", matter.getConstraintMultipliers(s));
    matter.calcG(s, matrix);
    out.add("calc_g", matrix);
    matter.calcPq(s, matrix);
    out.add("calc_pq", packColumns(packing, matrix));
    matter.calcProjectedMInv(s, matrix);
    out.add("calc_projected_m_inv", matrix);
    matter.calcBiasForMultiplyByG(s, v);
    out.add("calc_bias_for_multiply_by_g", v);
    matter.calcBiasForMultiplyByPq(s, v);
    out.add("calc_bias_for_multiply_by_pq", v);
    matter.calcBiasForAccelerationConstraints(s, v);
    out.add("calc_bias_for_acceleration_constraints", v);
    matter.calcConstraintAccelerationErrors(s, in.known_udot, v);
    out.add("calc_constraint_acceleration_errors", v);
    matter.multiplyByG(s, in.u_like, v);
    out.add("multiply_by_g", v);
    matter.multiplyByGTranspose(s, lambda, f);
    out.add("multiply_by_g_transpose", f);
    matter.solveForConstraintImpulses(s, delta_v, v);
    out.add("solve_for_constraint_impulses", v);
    matter.calcConstraintForcesFromMultipliers(s, lambda, F, f);
    out.addText("calc_constraint_forces_from_multipliers", list({json(F), json(f)}));
    matter.findConstraintForces(s, F, f);
    out.addText("find_constraint_forces", list({json(F), json(f)}));
    out.add("calc_constraint_power", matter.calcConstraintPower(s));
    matter.calcAcceleration(s, in.f_mobility, in.F_body, v, A);
    out.addText("calc_acceleration", list({json(v), json(A)}));
    matter.calcResidualForce(s, in.f_mobility, in.F_body, in.known_udot, lambda, v);
    out.add("calc_residual_force", v);
    matter.calcMobilizerReactionForces(s, A);
    out.add("calc_mobilizer_reaction_forces", A);
    if (model.isHeld()) {
        addHeldResults(model, s, packing, out);
        matter.calcMInv(s, matrix);
        out.add("calc_m_inv", matrix);
        matter.multiplyByMInv(s, in.u_like, v);
        out.add("multiply_by_m_inv", v);
    }
    return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Cases
// ---------------------------------------------------------------------------------------------------------------------

void normalizeQuaternions(const Model& model, State& s) {
    for (int b = 1; b < model.nb(); ++b) {
        if (!model.matter.isUsingQuaternion(s, MobilizedBodyIndex(b))) continue;
        const MobilizedBody& mobod = model.mobod(b);
        Vec4 e;
        for (int i = 0; i < 4; ++i) e[i] = mobod.getOneQ(s, i);
        e /= e.norm();
        for (int i = 0; i < 4; ++i) mobod.setOneQ(s, i, e[i]);
    }
}

bool isFree(const Model& model, const State& s, UIndex u) {
    const Array_<UIndex>& free = model.matter.getFreeUIndex(s);
    return std::find(free.begin(), free.end(), u) != free.end();
}

// What locks and motions exert, body by body; Ground's entry is null.
Object heldMobodResults(const Model& model, const State& s) {
    std::vector<Text> tau = {"null"}, reaction = {"null"};
    for (int b = 1; b < model.nb(); ++b) {
        const MobilizedBody& mobod = model.mobod(b);
        tau.push_back(mobod.getNumU(s) ? json(mobod.getTauAsVector(s)) : Text("[]"));
        reaction.push_back(json(mobod.findMobilizerReactionOnParentAtOriginInGround(s)));
    }
    Object out;
    out.addText("get_tau_as_vector", list(tau)).addText("find_mobilizer_reaction_on_parent_at_origin_in_ground", list(reaction));
    return out;
}

// Whether the equations are independent in what locks and motions leave free, and well so.
bool isWellPosed(const Model& model, const State& s) {
    Matrix A;
    model.matter.calcProjectedMInv(s, A);
    if (A.nrow() == 0) return true;
    Vector values;
    FactorSVD(A).getSingularValues(values);
    Matrix m_inverse;
    model.matter.calcMInv(s, m_inverse);
    return values[values.size() - 1] > 1e-3 * values[0] && m_inverse.normRMS() < 100;
}

// Bring the state to where constraints hold, from as many random ones as it takes; then a little away from there.
void drawNearAssembled(Model& model, const Packing& packing, State& s, Rng& random) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
        drawCoordinates(model, s, random);
        s.updU() = random.vector(s.getNU(), 0.3);  // where |u| > 1 Simbody's projection has weights of its own
        try {
            if (model.isHeld()) holdState(model, s, false, random);
            model.system.realize(s, Stage::Time);
            model.system.project(s, 1e-9);
        } catch (const std::exception&) {
            continue;
        }
        const Vector q = packing.pack(s.getQ()) + random.vector(packing.size(), 0.01);
        s.updQ() = packing.unpack(q);
        s.updU() += random.vector(s.getNU(), 0.1);
        normalizeQuaternions(model, s);
        if (model.isHeld()) model.system.realize(s, Stage::Instance);
        Real largest = 0;  // of those that the projection may change
        for (int i = 0; i < s.getNU(); ++i)
            if (!model.isHeld() || isFree(model, s, UIndex(i))) largest = std::max(largest, std::abs(s.getU()[i]));
        if (largest > 0.9) continue;
        return;
    }
    throw std::runtime_error("cannot be assembled");
}

Text makeConstrainedCase(const ConstrainedPlan& plan) {
    Rng random(seedOf(plan.name));
    Model model(plan.links, random);
    const Ties ties(model, plan, random);
    State s = model.system.realizeTopology();
    model.matter.setUseEulerAngles(s, plan.use_euler_angles);
    model.system.realizeModel(s);
    const Packing packing(model, s);
    const Vector default_q = packing.pack(s.getQ());

    std::vector<Text> states;
    for (const bool assembled : {false, true}) {
        if (assembled && !plan.can_be_assembled) continue;
        s.updTime() = random.uniform(0, 3);
        Object state;
        if (assembled) {
            drawNearAssembled(model, packing, s, random);
            state.add("start", Object().add("q", packing.pack(s.getQ())).add("u", Vector(s.getU())));
            model.system.realize(s, Stage::Time);
            model.system.project(s, 1e-11);
        } else {
            drawCoordinates(model, s, random);
            s.updU() = random.vector(s.getNU());
            if (model.isHeld()) holdState(model, s, true, random);
        }
        const Inputs inputs(model, packing, s.getNU(), random, 1);
        model.system.realize(s, Stage::Acceleration);
        if (model.isHeld() && !plan.can_be_singular && !isWellPosed(model, s)) throw std::runtime_error("is not well posed");
        const int m = s.getNMultipliers();
        const Vector lambda = random.vector(m), delta_v = random.vector(m);
        Object results;
        results.add("state", stateResults(s, packing));
        results.addText("constraints", constraintResults(model, ties, s));
        results.add("matter", constrainedMatterResults(model, s, packing, inputs, lambda, delta_v));
        if (model.isHeld()) results.add("mobod", heldMobodResults(model, s));
        state.add("time", s.getTime()).add("q", packing.pack(s.getQ())).add("u", Vector(s.getU()));
        state.add("u_like", inputs.u_like).add("known_udot", inputs.known_udot).add("f_mobility", inputs.f_mobility);
        state.add("F_body", inputs.F_body).add("lambda", lambda).add("delta_v", delta_v);
        states.push_back(state.add("results", results).text());
    }
    return Object()
        .add("name", plan.name)
        .add("use_euler_angles", plan.use_euler_angles)
        .addText("gravity", model.gravity_text)
        .addText("bodies", list(model.bodies, ",\n"))
        .addText("constraints", list(ties.written, ",\n"))
        .addText("forces", "[]")
        .add("suspect", Names())
        .add("default_q", default_q)
        .addText("states", list(states, ",\n"))
        .text();
}

ConstrainedPlan tied(const Text& label, int num_bodies, const Names& kinds, bool euler) {
    ConstrainedPlan plan;
    plan.name = "constraints_" + label + (euler ? "_euler" : "");
    for (const Text& kind : kinds) plan.coordinates = plan.coordinates || constraintKindNamed(kind).coordinates;
    plan.num_drawn = num_bodies;
    plan.links = drawLinks(num_bodies, plan.name, plan.coordinates);
    for (const Text& kind : kinds) plan.ties.push_back({kind, {}});
    plan.use_euler_angles = euler;
    return plan;
}

// What `make` makes of the first draw that it can make something of; how many it could not is told.
Text drawUntilMade(const Text& name, const std::function<Text()>& make) {
    Text why;
    for (int refused = 0; refused < 50; ++refused) {
        of_draw = refused ? " drawn again " + std::to_string(refused) : "";
        try {
            const Text made = make();
            if (refused) std::cout << name << ": drawn again " << refused << " times, " << why << std::endl;
            of_draw = "";
            return made;
        } catch (const std::exception& error) {
            why = error.what();
        }
    }
    throw std::runtime_error(name + ": " + why + ", in 50 draws");
}

void writeConstrained(const Text& folder, const Text& name, const std::vector<ConstrainedPlan>& plans) {
    std::vector<Text> cases;
    for (ConstrainedPlan plan : plans)
        cases.push_back(drawUntilMade(plan.name, [&plan] {
            if (plan.num_drawn) plan.links = drawLinks(plan.num_drawn, plan.name, plan.coordinates);
            return makeConstrainedCase(plan);
        }));
    std::ofstream out(folder + "/" + name + ".json", std::ios::binary);
    out << Object().add("format", 1).add("source", "Simbody 3.7").addText("cases", list(cases, ",\n")).text() << "\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + folder + "/" + name + ".json");
    std::cout << name << ": " << plans.size() << " cases" << std::endl;
}

// Half of the mobilizers locked or driven, in all the ways there are, and constraints on what is left; drawn until these can hold.
Text heldAndTied(const Text& label, int num_bodies, const Names& kinds, bool euler, bool idle) {
    for (char variant = 'a'; variant <= 'z'; ++variant) {
        ConstrainedPlan plan = tied("held_" + label + "_" + variant, num_bodies, kinds, euler);
        plan.can_be_singular = idle;
        Rng random(seedOf("holds of " + plan.name));
        int first = random.index(int(holds().size()));  // so that a few cases have every kind of hold
        for (Link& link : plan.links) {
            const Text hold = holds()[first++ % holds().size()];
            const bool wanted = random.coin();
            const bool sensible = ratesAreSpeeds(link.kind) || euler || hold != "sinusoid_position";
            if (wanted && sensible) link.held = hold;
        }
        if (idle) {  // a constraint between bodies that nothing can move
            plan.links[0].held = plan.links[1].held = plan.links[2].held = "lock_position";
            plan.ties.push_back({"Rod", {1, 3}});
            plan.can_be_assembled = false;
        }
        try {
            return makeConstrainedCase(plan);
        } catch (const std::exception&) {
            continue;
        }
    }
    throw std::runtime_error("no held case " + label);
}

void writeHeldConstraints(const Text& folder) {
    std::vector<Text> cases;
    const std::vector<std::pair<Text, Names>> sets = {
        {"bodies", {"Ball", "Rod", "PointInPlane"}},
        {"turns", {"ConstantOrientation", "PointOnLine"}},
        {"weld", {"Weld", "NoSlip1D"}},
        {"contacts", {"PointOnPlaneContact", "SphereOnPlaneContact_rolling"}},
        {"rolling", {"SphereOnSphereContact_rolling", "LineOnLineContact_sliding"}},
        {"coordinates", {"CoordinateCoupler", "SpeedCoupler", "ConstantAngle"}},
        {"numbers", {"ConstantSpeed", "PrescribedMotion", "ConstantAcceleration", "Rod"}},
    };
    for (const auto& set : sets)
        for (const bool euler : {false, true})
            cases.push_back(drawUntilMade("held " + set.first, [&] { return heldAndTied(set.first, 6, set.second, euler, false); }));
    cases.push_back(drawUntilMade("held idle", [] { return heldAndTied("idle", 5, {"Rod", "Ball"}, false, true); }));
    std::ofstream out(folder + "/constraints_held.json", std::ios::binary);
    out << Object().add("format", 1).add("source", "Simbody 3.7").addText("cases", list(cases, ",\n")).text() << "\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + folder + "/constraints_held.json");
    std::cout << "constraints_held: " << cases.size() << " cases" << std::endl;
}

void writeConstraintFiles(const Text& folder) {
    std::vector<ConstrainedPlan> of_bodies, of_coordinates;
    for (const ConstraintKind& kind : constraintKinds()) {
        Text name;
        for (const char c : kind.name) name += char(std::tolower(static_cast<unsigned char>(c)));
        for (const bool euler : {false, true})
            (kind.coordinates ? of_coordinates : of_bodies).push_back(tied(name, 4, {kind.name}, euler));
    }
    // Both bodies on a third that moves, in whose frame some errors are expressed.
    for (const ConstraintKind& kind : constraintKinds()) {
        if (kind.coordinates) continue;
        Text name;
        for (const char c : kind.name) name += char(std::tolower(static_cast<unsigned char>(c)));
        ConstrainedPlan plan;
        plan.name = "constraints_" + name + "_branch";
        plan.links = {{"base", "Free", 0}, {"left", "Free", 1, true}, {"right", "Bushing", 1}, {"leaf", "Pin", 2}};
        plan.ties = {{kind.name, {2, 3, 1}}};
        of_bodies.push_back(plan);
    }
    // The case of NoSlip1D being one of its bodies, or Ground.
    ConstrainedPlan cased = tied("noslip1d_case", 4, {}, false);
    cased.ties = {{"NoSlip1D", {3, 2, 2}}, {"NoSlip1D", {1, 2, 0}}, {"NoSlip1D", {0, 2, 0}}};
    of_bodies.push_back(cased);
    writeConstrained(folder, "constraints_of_bodies", of_bodies);
    writeConstrained(folder, "constraints_of_coordinates", of_coordinates);

    std::vector<ConstrainedPlan> mixed;
    const std::vector<Names> sets = {
        {"Ball", "Rod", "PointInPlane", "ConstantAngle"},
        {"ConstantOrientation", "PointOnLine", "NoSlip1D"},
        {"Weld", "SphereOnPlaneContact_rolling", "Rod"},
        {"PointOnPlaneContact", "SphereOnSphereContact_rolling", "LineOnLineContact_sliding"},
        {"LineOnLineContact_rolling", "NoSlip1D", "SphereOnPlaneContact_sliding"},
    };
    for (std::size_t i = 0; i < sets.size(); ++i)
        for (const bool euler : {false, true}) {
            ConstrainedPlan plan = tied(Text("mixed_") + char('a' + i), 6, sets[i], euler);
            plan.ties[euler ? 0 : 1].disabled = true;
            mixed.push_back(plan);
        }
    writeConstrained(folder, "constraints_mixed", mixed);

    // The same twice.
    std::vector<ConstrainedPlan> redundant;
    for (const bool euler : {false, true}) {
        ConstrainedPlan twice = tied("twice", 4, {"Rod", "Ball", "ConstantOrientation"}, euler);
        for (int i = 0; i < 3; ++i) twice.ties.push_back({twice.ties[i].kind, {}, false, i});
        redundant.push_back(twice);
        ConstrainedPlan twins = tied("twins", 4, {"Weld", "Rod"}, euler);
        for (int i = 0; i < 2; ++i) twins.ties.push_back({twins.ties[i].kind, {}, false, i});
        redundant.push_back(twins);
    }
    writeConstrained(folder, "constraints_redundant", redundant);
    writeHeldConstraints(folder);
}
