// Writes reference cases for mobod: models built with Simbody 3.7, random inputs, and what Simbody computes from them.
//
//     generate OUTPUT_FOLDER [SEED]
//
// writes one JSON file a group of cases. README.md beside this file describes the format; generate.py compiles and runs
// this program and compresses what it wrote.
//
// To add a mobilizer kind: one entry in kinds(). To add a quantity: one line in the function for its receiver
// (matterResults, mobodResults, ...), under the name that mobod's method has. Both must draw from the generator in a fixed
// order: C++ leaves the order in which the arguments of a call are evaluated open, hence the many named locals below.

#include "Simbody.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace SimTK;

// ---------------------------------------------------------------------------------------------------------------------
// JSON: every value becomes text at once
// ---------------------------------------------------------------------------------------------------------------------

using Text = std::string;

Text json(bool value) { return value ? "true" : "false"; }
Text json(int value) { return std::to_string(value); }
Text json(const char* value) { return Text("\"") + value + "\""; }
Text json(const Text& value) { return "\"" + value + "\""; }

// 17 significant digits bring back the same double. What is not finite (Ground's inertia) becomes null.
Text json(Real value) {
    if (!std::isfinite(value)) return "null";
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return buffer;
}

Text list(const std::vector<Text>& items, const char* separator = ",") {
    Text text = "[";
    for (std::size_t i = 0; i < items.size(); ++i) text += (i ? separator : "") + items[i];
    return text + "]";
}

// An ordered dictionary.
class Object {
public:
    template <class T> Object& add(const Text& key, const T& value);  // T is any type with a json() below
    Object& addText(const Text& key, const Text& value) {
        m_text += (m_text.empty() ? "" : ",") + json(key) + ":" + value;
        return *this;
    }
    Text text() const { return "{" + m_text + "}"; }

private:
    Text m_text;
};

Text json(const Object& value) { return value.text(); }

template <int N, class E, int S> Text json(const Vec<N, E, S>& value) {
    std::vector<Text> items;
    for (int i = 0; i < N; ++i) items.push_back(json(value[i]));
    return list(items);
}

template <class E> Text json(const Vector_<E>& value) {
    std::vector<Text> items;
    for (int i = 0; i < value.size(); ++i) items.push_back(json(value[i]));
    return list(items);
}

template <class E> Text json(const std::vector<E>& value) {
    std::vector<Text> items;
    for (const E& item : value) items.push_back(json(item));
    return list(items);
}

Text json(const Matrix& value) {
    std::vector<Text> rows;
    for (int i = 0; i < value.nrow(); ++i) {
        std::vector<Text> row;
        for (int j = 0; j < value.ncol(); ++j) row.push_back(json(value(i, j)));
        rows.push_back(list(row));
    }
    return list(rows);
}

Text json(const Mat33& value) { return json(Matrix(value)); }
Text json(const SymMat33& value) { return json(Mat33(value)); }
Text json(const Rotation& value) { return json(value.asMat33()); }
Text json(const Transform& value) { return json(Matrix(value.toMat44())); }
Text json(const Inertia& value) { return json(value.toMat33()); }

Text json(const SpatialMat& value) {
    Matrix flat(6, 6);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) flat(i, j) = value(i / 3, j / 3)(i % 3, j % 3);
    return json(flat);
}

Text json(const MassProperties& value) {
    return Object()
        .addText("mass", json(value.getMass()))
        .addText("com", json(value.getMassCenter()))
        .addText("inertia", json(value.getInertia()))
        .text();
}

template <class T> Object& Object::add(const Text& key, const T& value) { return addText(key, json(value)); }

// A model's frames: rotation matrix row by row, and origin.
Text frame(const Transform& X) {
    std::vector<Real> R;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) R.push_back(X.R()[i][j]);
    return Object().add("R", R).add("p", X.p()).text();
}

// ---------------------------------------------------------------------------------------------------------------------
// Random inputs
// ---------------------------------------------------------------------------------------------------------------------

// The engine's output is fixed by the C++ standard; that of the standard distributions is not, so they are not used.
class Rng {
public:
    explicit Rng(std::uint64_t seed) : m_engine(seed) {}

    Real uniform(Real low, Real high) { return low + (high - low) * (Real(m_engine() >> 11) * 0x1.0p-53); }
    int index(int size) { return int(m_engine() % std::uint64_t(size)); }
    bool coin() { return (m_engine() >> 63) != 0; }

    Vec3 vec3(Real bound = 1) {
        Vec3 v;
        for (int i = 0; i < 3; ++i) v[i] = uniform(-bound, bound);
        return v;
    }
    SpatialVec spatial(Real bound = 1) {
        SpatialVec v;
        for (int i = 0; i < 2; ++i) v[i] = vec3(bound);
        return v;
    }
    Vector vector(int size, Real bound = 1) {
        Vector v(size);
        for (int i = 0; i < size; ++i) v[i] = uniform(-bound, bound);
        return v;
    }
    Vector_<SpatialVec> spatials(int size, Real bound = 1) {
        Vector_<SpatialVec> v(size);
        for (int i = 0; i < size; ++i) v[i] = spatial(bound);
        return v;
    }
    Vec4 quaternion() {  // uniform over the rotations, both signs
        for (;;) {
            Vec4 v;
            for (int i = 0; i < 4; ++i) v[i] = uniform(-1, 1);
            const Real norm = v.norm();
            if (norm > 0.1 && norm < 1) return v / norm;
        }
    }
    Rotation rotation() { return Rotation(Quaternion(quaternion(), true)); }
    Transform transform(Real bound = 1) {
        const Rotation R = rotation();
        const Vec3 p = vec3(bound);
        return Transform(R, p);
    }
    // Those of six point masses: physical, with the mass center away from the body origin.
    MassProperties massProperties() {
        const Vec3 offset = vec3(0.5);
        Real mass = 0;
        Vec3 moment(0);
        Inertia inertia(0);
        for (int i = 0; i < 6; ++i) {
            const Real m = uniform(0.1, 0.5);
            const Vec3 p = offset + vec3(0.6);
            mass += m;
            moment += m * p;
            inertia += Inertia(p, m);
        }
        return MassProperties(mass, moment / mass, inertia);
    }

private:
    std::mt19937_64 m_engine;
};

// What is drawn otherwise than in the committed cases: by a seed of the command line, or because no case could be made of the
// draws before.
Text of_seed, of_draw;

// The seed of a case comes from its name (FNV-1a), so that adding a case changes no other.
std::uint64_t seedOf(const Text& name) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const unsigned char c : name + of_seed + of_draw) hash = (hash ^ c) * 1099511628211ull;
    return hash;
}

// ---------------------------------------------------------------------------------------------------------------------
// Mobilizer kinds: one table entry each
// ---------------------------------------------------------------------------------------------------------------------

using Direction = MobilizedBody::Direction;
using Names = std::vector<Text>;

struct Kind {
    // Adds the mobilizer, drawing the parameters that it has and writing them under the names of mobod's keywords.
    using Add = std::function<MobilizedBody(MobilizedBody& parent, const Transform& X_PF, const Body& body,
                                            const Transform& X_BM, Direction direction, Rng& random, Object& parameters)>;
    Text name;
    Add add;
    bool reversible = true;
    bool quaternion = false;
    Real range = 1.2;    // coordinates that are not a quaternion are drawn from +-range
    bool in_trees = false;  // whether the files trees_* have it: the kinds of the first issue. mixed_* have all
    Names suspect = {};  // what Simbody 3.7 gets wrong (README.md, "Where Simbody is not followed"): in either direction ...
    Names suspect_reversed = {};             // ... reversed ...
    Names suspect_reversed_quaternion = {};  // ... reversed and with quaternions
    Names suspect_quaternion = {};           // ... with quaternions, in either direction
};

template <class Mobilizer> Kind::Add plain() {
    return [](MobilizedBody& parent, const Transform& X_PF, const Body& body, const Transform& X_BM, Direction direction,
              Rng&, Object&) { return Mobilizer(parent, X_PF, body, X_BM, direction); };
}

// The natural cubic spline through points, straight outside: fits stray there, and Simbody's own only takes what is within.
class NaturalSpline : public Function {
public:
    NaturalSpline(const Vector& x, const Vector& y)
        : m_spline(SplineFitter<Real>::fitForSmoothingParameter(3, x, y, 0).getSpline()), m_low(x[0]), m_high(x[x.size() - 1]) {}
    Real calcValue(const Vector& x) const override {
        const Vector end(1, clamp(m_low, x[0], m_high));
        return m_spline.calcValue(end) + (x[0] - end[0]) * m_spline.calcDerivative(Array_<int>(1, 0), end);
    }
    Real calcDerivative(const Array_<int>& components, const Vector& x) const override {
        const Vector end(1, clamp(m_low, x[0], m_high));
        return components.size() > 1 && end[0] != x[0] ? 0 : m_spline.calcDerivative(components, end);
    }
    int getArgumentSize() const override { return 1; }
    int getMaxDerivativeOrder() const override { return 2; }

private:
    Spline m_spline;
    Real m_low, m_high;
};

// Six functions of the coordinates. `rotations` says which coordinate each of the three angles takes, as digits; "-" is none,
// a constant. Each of the displacements is of any kind, and takes any coordinates.
Kind::Add functionBased(const Text& rotations, int num_mobilities) {
    return [=](MobilizedBody& parent, const Transform& X_PF, const Body& body, const Transform& X_BM, Direction direction,
               Rng& random, Object& parameters) {
        Array_<const Function*> functions;
        Array_<Array_<int>> indices;
        std::vector<Text> written, places;
        const auto take = [&](const Function* function, const std::vector<int>& of, const Object& text) {
            functions.push_back(function);
            indices.push_back(Array_<int>(of.begin(), of.end()));
            written.push_back(text.text());
            places.push_back(json(of));
        };
        const auto constant = [&](Real value) {
            take(new Function::Constant(value, 0), {}, Object().add("kind", "Constant").add("value", value).add("argument_size", 0));
        };
        // These are steep enough everywhere for a mass matrix that is easily inverted.
        const auto linear = [&](const std::vector<int>& of) {
            Vector c = random.vector(int(of.size()) + 1, 0.4);
            for (int i = 0; i < int(of.size()); ++i) c[i] += random.coin() ? 0.8 : -0.8;
            take(new Function::Linear(c), of, Object().add("kind", "Linear").add("coefficients", c));
        };
        const auto curved = [&](int coordinate) {
            const int kind = random.index(4);
            const std::vector<int> of = {coordinate};
            if (kind == 0) {
                Vector c = random.vector(4, 0.15);
                c[2] += 1;
                take(new Function::Polynomial(c), of, Object().add("kind", "Polynomial").add("coefficients", c));
            } else if (kind == 1) {
                Vector c = random.vector(3, 0.3);
                c[0] += 1.5;
                c[1] += 0.6;
                take(new Function::Sinusoid(c[0], c[1], c[2]), of,
                     Object().add("kind", "Sinusoid").add("amplitude", c[0]).add("frequency", c[1]).add("phase", c[2]));
            } else if (kind == 2) {
                const Real low = random.uniform(-2, -1), high = random.uniform(1, 2);
                take(new Function::Step(low, high, -2.5, 2), of,
                     Object().add("kind", "Step").add("y0", low).add("y1", high).add("x0", -2.5).add("x1", 2));
            } else {
                Vector x(9);
                for (int i = 0; i < 9; ++i) x[i] = i - 4 + random.uniform(-0.3, 0.3);
                const Vector y = x + random.vector(9, 0.2);
                take(new NaturalSpline(x, y), of,
                     Object().add("kind", "Spline").add("degree", 3).add("x", x).add("y", y));
            }
        };
        for (const char c : rotations) {
            if (c == '-') constant(functions.size() < 2 ? 0 : random.uniform(-1, 1));
            else if (random.coin()) linear({c - '0'});
            else curved(c - '0');
        }
        std::vector<int> all;
        for (int i = 0; i < num_mobilities; ++i) all.push_back(i);
        linear(all);
        for (int i = 1; i < 3; ++i) {  // the last coordinates, so that none is idle
            if (i > num_mobilities) constant(random.uniform(-1, 1));
            else curved(num_mobilities - i);
        }
        Array_<Vec3> axes;
        for (int i = 0; i < 6; ++i) {
            Vec3 axis = random.vec3(0.4);
            axis[i % 3] += 1;
            axes.push_back(axis);
        }
        parameters.add("num_mobilities", num_mobilities).addText("functions", list(written));
        parameters.addText("coordinate_indices", list(places)).add("axes", std::vector<Vec3>(axes.begin(), axes.end()));
        return MobilizedBody::FunctionBased(parent, X_PF, body, X_BM, num_mobilities, functions, indices, axes, direction);
    };
}

const std::vector<Kind>& kinds() {
    using MB = MobilizedBody;
    const Names fit_q = {"fit.set_q_to_fit_transform", "fit.set_q_to_fit_translation"};
    const Names fit_u = {"fit.set_u_to_fit_velocity", "fit.set_u_to_fit_angular_velocity", "fit.set_u_to_fit_linear_velocity"};
    Names fit = fit_q;
    fit.insert(fit.end(), fit_u.begin(), fit_u.end());
    const Names fit_angular = {"fit.set_u_to_fit_velocity", "fit.set_u_to_fit_angular_velocity"};
    const Names fit_linear = {"fit.set_u_to_fit_linear_velocity"};
    const Names rates = {"state.q_dot", "state.q_dot_dot", "matter.calc_q_dot", "matter.calc_q_dot_dot",
                         "matter.multiply_by_n", "matter.multiply_by_n_transpose", "matter.multiply_by_n_inv",
                         "matter.multiply_by_n_inv_transpose", "matter.multiply_by_n_dot",
                         "matter.multiply_by_n_dot_transpose"};
    const Names n_dot = {"matter.multiply_by_n_dot", "matter.multiply_by_n_dot_transpose"};
    const bool yes = true, no = false;

    static const std::vector<Kind> table = {
        // name, add, reversible, quaternion, range, in_trees,
        // suspect, suspect_reversed, suspect_reversed_quaternion, suspect_quaternion
        {"Pin", plain<MB::Pin>(), yes, no, 3, yes},
        {"Slider", plain<MB::Slider>(), yes, no, 1.2, yes},
        {"Translation", plain<MB::Translation>(), yes, no, 1.2, yes},
        {"Ball", plain<MB::Ball>(), yes, yes, 1.2, yes},
        {"Free", plain<MB::Free>(), yes, yes, 1.2, yes, {}, fit_linear},
        {"Planar", plain<MB::Planar>(), yes, no, 3, yes, {}, fit_linear},
        {"Universal", plain<MB::Universal>(), yes, no, 1.2, yes},
        {"Weld",
         [](MB& parent, const Transform& X_PF, const Body& body, const Transform& X_BM, Direction, Rng&, Object&) {
             return MB::Weld(parent, X_PF, body, X_BM);
         },
         no, no, 1.2, yes},
        {"Screw",
         [](MB& parent, const Transform& X_PF, const Body& body, const Transform& X_BM, Direction direction, Rng& random,
            Object& parameters) {
             const Real pitch = random.uniform(-1, 1);
             parameters.add("pitch", pitch);
             return MB::Screw(parent, X_PF, body, X_BM, pitch, direction);
         },
         yes, no, 3},
        {"Cylinder", plain<MB::Cylinder>(), yes, no, 3},
        {"BendStretch", plain<MB::BendStretch>(), yes, no, 3, no, {"fit.set_q_to_fit_transform"}},  // length below zero
        {"Gimbal", plain<MB::Gimbal>(), yes, no, 1.2, no, fit_angular},
        {"Bushing", plain<MB::Bushing>(), yes, no, 1.2, no, fit_angular, fit_linear},
        {"SphericalCoords",
         [](MB& parent, const Transform& X_PF, const Body& body, const Transform& X_BM, Direction direction, Rng& random,
            Object& parameters) {
             const Real azimuth_offset = random.uniform(-1, 1), zenith_offset = random.uniform(-1, 1);
             const bool azimuth_negated = random.coin(), zenith_negated = random.coin();
             const bool along_x = random.coin(), radial_negated = random.coin();
             parameters.add("azimuth_offset", azimuth_offset).add("azimuth_negated", azimuth_negated);
             parameters.add("zenith_offset", zenith_offset).add("zenith_negated", zenith_negated);
             parameters.add("radial_axis", along_x ? "x" : "z").add("radial_negated", radial_negated);
             return MB::SphericalCoords(parent, X_PF, body, X_BM, azimuth_offset, azimuth_negated, zenith_offset,
                                        zenith_negated, along_x ? CoordinateAxis(XAxis) : CoordinateAxis(ZAxis),
                                        radial_negated, direction);
         },
         yes, no, 1.2, no, fit},
        {"Ellipsoid",
         [](MB& parent, const Transform& X_PF, const Body& body, const Transform& X_BM, Direction direction, Rng& random,
            Object& parameters) {
             Vec3 radii;
             for (int i = 0; i < 3; ++i) radii[i] = random.uniform(0.3, 1.5);
             parameters.add("radii", radii);
             return MB::Ellipsoid(parent, X_PF, body, X_BM, radii, direction);
         },
         yes, yes, 1.2, no, fit},
        {"LineOrientation", plain<MB::LineOrientation>(), yes, yes, 1.2, no, {}, {}, rates, n_dot},
        {"FreeLine", plain<MB::FreeLine>(), yes, yes, 1.2, no, {}, fit_linear, rates, n_dot},
        // The ways to share coordinates in which Simbody's HDot is right; a constant in front has to be zero too.
        {"FunctionBased_012", functionBased("012", 6), yes},
        {"FunctionBased_001", functionBased("001", 3), yes},
        {"FunctionBased_011", functionBased("011", 3), yes},
        {"FunctionBased_0c1", functionBased("0-1", 3), yes},
        {"FunctionBased_cc0", functionBased("--0", 1), yes},
    };
    return table;
}

const Kind& kindNamed(const Text& name) {
    for (const Kind& kind : kinds())
        if (kind.name == name) return kind;
    throw std::runtime_error("no mobilizer kind " + name);
}

// What mobod calls it: without what distinguishes one table entry from another of the same class.
Text classOf(const Text& name) { return name.substr(0, name.find('_')); }

// ---------------------------------------------------------------------------------------------------------------------
// Models
// ---------------------------------------------------------------------------------------------------------------------

struct Link {
    Text name, kind;
    int parent;  // index of a body, Ground is 0
    bool reversed = false;
    bool massless = false;
    Text held = "";  // what governs its motion: one of holds(); empty for none
};

// Locks, which are applied to a state, and motions, which belong to the model; each at a level.
const std::vector<Text>& holds() {
    static const std::vector<Text> all = {"lock_position", "lock_velocity", "lock_acceleration", "steady",
                                          "sinusoid_position", "sinusoid_velocity", "sinusoid_acceleration"};
    return all;
}

Motion::Level levelOf(const Text& hold) {
    const Text level = hold.substr(hold.find('_') + 1);
    return level == "position" ? Motion::Position : level == "velocity" ? Motion::Velocity : Motion::Acceleration;
}

class Model {
public:
    Model(const std::vector<Link>& links, Rng& random) : matter(system), forces(system) {
        const UnitVec3 down(random.vec3());
        const Real magnitude = random.uniform(5, 12), zero_height = random.uniform(-1, 1);
        gravity = Force::Gravity(forces, matter, down, magnitude, zero_height);
        gravity_text = Object()
                           .add("down_direction", Vec3(down))
                           .add("magnitude", magnitude)
                           .add("zero_height", zero_height)
                           .text();
        for (const Link& link : links) add(link, random);
    }

    const MobilizedBody& mobod(int b) const { return matter.getMobilizedBody(MobilizedBodyIndex(b)); }
    MobilizedBody& updMobod(int b) { return matter.updMobilizedBody(MobilizedBodyIndex(b)); }
    int nb() const { return matter.getNumBodies(); }

    MultibodySystem system;
    SimbodyMatterSubsystem matter;
    GeneralForceSubsystem forces;
    Force::Gravity gravity;
    std::vector<const Kind*> kind_of = {nullptr};  // Ground has none
    std::vector<Text> bodies;
    std::vector<Text> held = {""};  // by body
    Text gravity_text;

    bool isHeld() const {
        for (const Text& what : held)
            if (!what.empty()) return true;
        return false;
    }

private:
    void add(const Link& link, Rng& random) {
        const Kind& kind = kindNamed(link.kind);
        const Transform X_PF = random.transform(), X_BM = random.transform();
        const MassProperties mass = link.massless ? MassProperties(0, Vec3(0), Inertia(0)) : random.massProperties();
        Object parameters;
        const Body body = link.massless ? Body(Body::Massless()) : Body(Body::Rigid(mass));
        kind.add(matter.updMobilizedBody(MobilizedBodyIndex(link.parent)), X_PF, body, X_BM,
                 link.reversed ? MobilizedBody::Reverse : MobilizedBody::Forward, random, parameters);
        kind_of.push_back(&kind);

        const SymMat33 I = mass.getInertia().asSymMat33();
        const Vec6 inertia(I(0, 0), I(1, 1), I(2, 2), I(1, 0), I(2, 0), I(2, 1));
        bodies.push_back(Object()
                             .add("name", link.name)
                             .add("parent", link.parent)
                             .add("kind", classOf(link.kind))
                             .add("direction", link.reversed ? "reverse" : "forward")
                             .addText("X_PF", frame(X_PF))
                             .addText("X_BM", frame(X_BM))
                             .add("mass", mass.getMass())
                             .add("com", mass.getMassCenter())
                             .add("inertia", inertia)
                             .add("parameters", parameters)
                             .text());
        held.push_back(link.held);
        if (!link.held.empty()) hold(mobod(nb() - 1), random);
    }

    // Give the newest body its motion, and write it down. A lock's value is drawn with the first state.
    void hold(const MobilizedBody& mobod, Rng& random) {
        MobilizedBody& body = matter.updMobilizedBody(mobod.getMobilizedBodyIndex());
        const Text& what = held.back();
        if (what.rfind("lock", 0) == 0) return;
        Object motion;
        const Vec3 numbers = random.vec3(1.5);
        if (what == "steady") {
            motion.add("kind", "Steady").add("rates", numbers[0]);
            Motion::Steady(body, numbers[0]);
        } else {
            motion.add("kind", "Sinusoid").add("level", what.substr(what.find('_') + 1));
            motion.add("amplitude", numbers[0]).add("rate", numbers[1]).add("phase", numbers[2]);
            Motion::Sinusoid(body, levelOf(what), numbers[0], numbers[1], numbers[2]);
        }
        Text& written = bodies.back();
        written.insert(written.size() - 1, ",\"motion\":" + motion.text());
    }
};

// Simbody keeps a slot for a fourth coordinate of every quaternion mobilizer, mobod does not: these pack and unpack.
class Packing {
public:
    Packing(const Model& model, const State& state) : m_alloc(state.getNQ()) {
        for (int b = 0; b < model.nb(); ++b)
            for (int i = 0; i < model.mobod(b).getNumQ(state); ++i) m_slots.push_back(model.mobod(b).getFirstQIndex(state) + i);
    }
    int size() const { return int(m_slots.size()); }
    std::vector<int> places(const Array_<QIndex>& slots) const {  // of those that are in use
        std::vector<int> found;
        for (const QIndex slot : slots) {
            const auto at = std::find(m_slots.begin(), m_slots.end(), int(slot));
            if (at != m_slots.end()) found.push_back(int(at - m_slots.begin()));
        }
        return found;
    }
    Vector pack(const Vector& q) const {
        Vector packed(size());
        for (int i = 0; i < size(); ++i) packed[i] = q[m_slots[i]];
        return packed;
    }
    Vector unpack(const Vector& packed) const {
        Vector q(m_alloc, Real(0));
        for (int i = 0; i < size(); ++i) q[m_slots[i]] = packed[i];
        return q;
    }

private:
    std::vector<int> m_slots;
    int m_alloc;
};

void drawCoordinates(const Model& model, State& state, Rng& random, int only_body = -1) {
    for (int b = 1; b < model.nb(); ++b) {
        if (only_body >= 0 && b != only_body) continue;
        const MobilizedBody& mobod = model.mobod(b);
        int i = 0;
        if (model.matter.isUsingQuaternion(state, MobilizedBodyIndex(b))) {
            const Vec4 quaternion = random.quaternion();
            for (; i < 4; ++i) mobod.setOneQ(state, i, quaternion[i]);
        }
        for (const Real range = model.kind_of[b]->range; i < mobod.getNumQ(state); ++i)
            mobod.setOneQ(state, i, random.uniform(-range, range));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What is drawn for one state, besides q and u
// ---------------------------------------------------------------------------------------------------------------------

struct Inputs {
    Inputs(const Model& model, const Packing& packing, int nu, Rng& random, int num_tasks) {
        const int nb = model.nb();
        u_like = random.vector(nu);
        q_like = random.vector(packing.size());
        known_udot = random.vector(nu, 3);
        f_mobility = random.vector(nu, 5);
        F_body = random.spatials(nb, 5);
        for (int i = 0; i < num_tasks; ++i) {
            task_bodies.push_back(MobilizedBodyIndex(i == 0 ? nb - 1 : random.index(nb)));
            task_stations.push_back(random.vec3());
        }
        f_tasks.resize(num_tasks);
        for (int i = 0; i < num_tasks; ++i) f_tasks[i] = random.vec3();
        F_tasks = random.spatials(num_tasks);
    }

    void addTo(Object& state) const {
        std::vector<int> bodies(task_bodies.begin(), task_bodies.end());
        state.add("u_like", u_like).add("q_like", q_like).add("known_udot", known_udot).add("f_mobility", f_mobility);
        state.add("F_body", F_body);
        state.add("tasks", Object()
                               .add("bodies", bodies)
                               .add("stations", std::vector<Vec3>(task_stations.begin(), task_stations.end()))
                               .add("forces", f_tasks)
                               .add("spatial_forces", F_tasks));
    }

    Vector u_like, q_like, known_udot, f_mobility;
    Vector_<SpatialVec> F_body;
    Array_<MobilizedBodyIndex> task_bodies;
    Array_<Vec3> task_stations;
    Vector_<Vec3> f_tasks;
    Vector_<SpatialVec> F_tasks;
};

// ---------------------------------------------------------------------------------------------------------------------
// Results, by who is asked; keys are mobod's names
// ---------------------------------------------------------------------------------------------------------------------

Object stateResults(const State& s, const Packing& packing) {
    return Object()
        .add("q_dot", packing.pack(s.getQDot()))
        .add("u_dot", Vector(s.getUDot()))
        .add("q_dot_dot", packing.pack(s.getQDotDot()));
}

Object systemResults(const Model& model, const State& s) {
    return Object()
        .add("calc_kinetic_energy", model.system.calcKineticEnergy(s))
        .add("calc_potential_energy", model.system.calcPotentialEnergy(s))
        .add("calc_energy", model.system.calcEnergy(s));
}

Object gravityResults(const Model& model, const State& s) {
    Vector_<SpatialVec> body_forces;
    Vector_<Vec3> particle_forces;
    Vector mobility_forces;
    model.gravity.calcForceContribution(s, body_forces, particle_forces, mobility_forces);
    return Object()
        .addText("calc_force_contribution", list({json(body_forces), json(particle_forces), json(mobility_forces)}))
        .add("get_body_forces", model.gravity.getBodyForces(s))
        .add("calc_potential_energy_contribution", model.gravity.calcPotentialEnergyContribution(s));
}

// What locks and motions do.
void addHeldResults(const Model& model, const State& s, const Packing& packing, Object& out) {
    const SimbodyMatterSubsystem& matter = model.matter;
    const auto places = [](const Array_<UIndex>& indices) { return std::vector<int>(indices.begin(), indices.end()); };
    out.add("get_free_q_index", packing.places(matter.getFreeQIndex(s)));
    out.add("get_free_u_index", places(matter.getFreeUIndex(s)));
    out.add("get_free_u_dot_index", places(matter.getFreeUDotIndex(s)));
    out.add("get_known_u_dot_index", places(matter.getKnownUDotIndex(s)));
    out.add("get_motion_multipliers", matter.getMotionMultipliers(s));
    Vector f;
    matter.findMotionForces(s, f);
    out.add("find_motion_forces", f);
    out.add("calc_motion_power", matter.calcMotionPower(s));
}

Object matterResults(const Model& model, const State& s, const Packing& packing, const Inputs& in, bool with_matrices) {
    const SimbodyMatterSubsystem& matter = model.matter;
    Object out;

    // The whole system's mass and motion.
    out.add("calc_system_mass", matter.calcSystemMass(s));
    out.add("calc_system_mass_center_location_in_ground", matter.calcSystemMassCenterLocationInGround(s));
    out.add("calc_system_mass_center_velocity_in_ground", matter.calcSystemMassCenterVelocityInGround(s));
    out.add("calc_system_mass_center_acceleration_in_ground", matter.calcSystemMassCenterAccelerationInGround(s));
    out.add("calc_system_mass_properties_in_ground", matter.calcSystemMassPropertiesInGround(s));
    out.add("calc_system_central_inertia_in_ground", matter.calcSystemCentralInertiaInGround(s));
    out.add("calc_system_momentum_about_ground_origin", matter.calcSystemMomentumAboutGroundOrigin(s));
    out.add("calc_system_central_momentum", matter.calcSystemCentralMomentum(s));
    out.add("calc_kinetic_energy", matter.calcKineticEnergy(s));

    // Mass matrix.
    Vector f;
    matter.multiplyByM(s, in.u_like, f);
    out.add("multiply_by_m", f);
    matter.multiplyByMInv(s, in.u_like, f);
    out.add("multiply_by_m_inv", f);
    if (with_matrices) {
        Matrix matrix;
        matter.calcM(s, matrix);
        out.add("calc_m", matrix);
        matter.calcMInv(s, matrix);
        out.add("calc_m_inv", matrix);
        matter.calcSystemJacobian(s, matrix);
        out.add("calc_system_jacobian", matrix);
        matter.calcStationJacobian(s, in.task_bodies, in.task_stations, matrix);
        out.add("calc_station_jacobian", matrix);
        matter.calcFrameJacobian(s, in.task_bodies, in.task_stations, matrix);
        out.add("calc_frame_jacobian", matrix);
    }

    // Coordinates and speeds. "_transpose" is mobod's transpose=True.
    const Vector q_like = packing.unpack(in.q_like);
    Vector q(s.getNQ(), Real(0)), u(s.getNU());
    matter.calcQDot(s, in.u_like, q);
    out.add("calc_q_dot", packing.pack(q));
    matter.calcQDotDot(s, in.known_udot, q);
    out.add("calc_q_dot_dot", packing.pack(q));
    matter.multiplyByN(s, false, in.u_like, q);
    out.add("multiply_by_n", packing.pack(q));
    matter.multiplyByN(s, true, q_like, u);
    out.add("multiply_by_n_transpose", u);
    matter.multiplyByNInv(s, false, q_like, u);
    out.add("multiply_by_n_inv", u);
    matter.multiplyByNInv(s, true, in.u_like, q);
    out.add("multiply_by_n_inv_transpose", packing.pack(q));
    matter.multiplyByNDot(s, false, in.u_like, q);
    out.add("multiply_by_n_dot", packing.pack(q));
    matter.multiplyByNDot(s, true, q_like, u);
    out.add("multiply_by_n_dot_transpose", u);

    // Jacobians.
    Vector_<SpatialVec> V;
    matter.multiplyBySystemJacobian(s, in.u_like, V);
    out.add("multiply_by_system_jacobian", V);
    matter.multiplyBySystemJacobianTranspose(s, in.F_body, f);
    out.add("multiply_by_system_jacobian_transpose", f);
    matter.calcBiasForSystemJacobian(s, V);
    out.add("calc_bias_for_system_jacobian", V);
    Vector_<Vec3> v;
    matter.multiplyByStationJacobian(s, in.task_bodies, in.task_stations, in.u_like, v);
    out.add("multiply_by_station_jacobian", v);
    matter.multiplyByStationJacobianTranspose(s, in.task_bodies, in.task_stations, in.f_tasks, f);
    out.add("multiply_by_station_jacobian_transpose", f);
    matter.calcBiasForStationJacobian(s, in.task_bodies, in.task_stations, v);
    out.add("calc_bias_for_station_jacobian", v);
    matter.multiplyByFrameJacobian(s, in.task_bodies, in.task_stations, in.u_like, V);
    out.add("multiply_by_frame_jacobian", V);
    matter.multiplyByFrameJacobianTranspose(s, in.task_bodies, in.task_stations, in.F_tasks, f);
    out.add("multiply_by_frame_jacobian_transpose", f);
    matter.calcBiasForFrameJacobian(s, in.task_bodies, in.task_stations, V);
    out.add("calc_bias_for_frame_jacobian", V);

    // Dynamics with the forces given (gravity plays no part in these).
    matter.calcResidualForceIgnoringConstraints(s, in.f_mobility, in.F_body, in.known_udot, f);
    out.add("calc_residual_force_ignoring_constraints", f);
    Vector udot;
    Vector_<SpatialVec> A_GB;
    matter.calcAccelerationIgnoringConstraints(s, in.f_mobility, in.F_body, udot, A_GB);
    out.addText("calc_acceleration_ignoring_constraints", list({json(udot), json(A_GB)}));
    matter.calcBodyAccelerationFromUDot(s, in.known_udot, A_GB);
    out.add("calc_body_acceleration_from_u_dot", A_GB);
    matter.calcTreeEquivalentMobilityForces(s, in.F_body, f);
    out.add("calc_tree_equivalent_mobility_forces", f);

    if (model.isHeld()) addHeldResults(model, s, packing, out);

    // Reactions to the motion under gravity.
    matter.calcMobilizerReactionForces(s, A_GB);
    out.add("calc_mobilizer_reaction_forces", A_GB);

    // One a body. Ground's inertias are infinite and left out.
    std::vector<Text> composite = {"null"}, articulated = {"null"};
    std::vector<Text> gyroscopic = {"null"}, mobilizer_coriolis = {"null"}, coriolis = {"null"}, centrifugal = {"null"};
    for (MobilizedBodyIndex b(1); b < matter.getNumBodies(); ++b) {
        composite.push_back(json(matter.getCompositeBodyInertia(s, b).toSpatialMat()));
        articulated.push_back(json(matter.getArticulatedBodyInertia(s, b).toSpatialMat()));
        gyroscopic.push_back(json(matter.getGyroscopicForce(s, b)));
        mobilizer_coriolis.push_back(json(matter.getMobilizerCoriolisAcceleration(s, b)));
        coriolis.push_back(json(matter.getTotalCoriolisAcceleration(s, b)));
        centrifugal.push_back(json(matter.getTotalCentrifugalForces(s, b)));
    }
    out.addText("get_composite_body_inertia", list(composite));
    out.addText("get_articulated_body_inertia", list(articulated));
    out.addText("get_gyroscopic_force", list(gyroscopic));
    out.addText("get_mobilizer_coriolis_acceleration", list(mobilizer_coriolis));
    out.addText("get_total_coriolis_acceleration", list(coriolis));
    out.addText("get_total_centrifugal_forces", list(centrifugal));
    return out;
}

// One list a method, with one entry a body. Ground's entry is null.
Object mobodResults(const Model& model, const State& s, bool with_reactions) {
    using Ask = std::function<Text(const MobilizedBody&)>;
    std::vector<std::pair<Text, Ask>> questions = {
        {"get_body_transform", [&](const MobilizedBody& b) { return json(b.getBodyTransform(s)); }},
        {"get_body_velocity", [&](const MobilizedBody& b) { return json(b.getBodyVelocity(s)); }},
        {"get_body_acceleration", [&](const MobilizedBody& b) { return json(b.getBodyAcceleration(s)); }},
        {"get_mobilizer_transform", [&](const MobilizedBody& b) { return json(b.getMobilizerTransform(s)); }},
        {"get_mobilizer_velocity", [&](const MobilizedBody& b) { return json(b.getMobilizerVelocity(s)); }},
        {"get_h_fm_col",
         [&](const MobilizedBody& b) {
             std::vector<SpatialVec> columns;
             for (MobilizerUIndex i(0); i < b.getNumU(s); ++i) columns.push_back(b.getH_FMCol(s, i));
             return json(columns);
         }},
        {"get_h_col",
         [&](const MobilizedBody& b) {
             std::vector<SpatialVec> columns;
             for (MobilizerUIndex i(0); i < b.getNumU(s); ++i) columns.push_back(b.getHCol(s, i));
             return json(columns);
         }},
    };
    if (with_reactions) {
        const std::vector<std::pair<Text, Ask>> more = {
            {"get_body_spatial_inertia_in_ground",
             [&](const MobilizedBody& b) { return json(b.getBodySpatialInertiaInGround(s).toSpatialMat()); }},
            {"get_q_dot_as_vector", [&](const MobilizedBody& b) { return json(b.getQDotAsVector(s)); }},
            {"get_u_dot_as_vector", [&](const MobilizedBody& b) { return json(b.getUDotAsVector(s)); }},
            {"get_q_dot_dot_as_vector", [&](const MobilizedBody& b) { return json(b.getQDotDotAsVector(s)); }},
            {"find_mobilizer_reaction_on_body_at_m_in_ground",
             [&](const MobilizedBody& b) { return json(b.findMobilizerReactionOnBodyAtMInGround(s)); }},
            {"find_mobilizer_reaction_on_body_at_origin_in_ground",
             [&](const MobilizedBody& b) { return json(b.findMobilizerReactionOnBodyAtOriginInGround(s)); }},
            {"find_mobilizer_reaction_on_parent_at_f_in_ground",
             [&](const MobilizedBody& b) { return json(b.findMobilizerReactionOnParentAtFInGround(s)); }},
            {"find_mobilizer_reaction_on_parent_at_origin_in_ground",
             [&](const MobilizedBody& b) { return json(b.findMobilizerReactionOnParentAtOriginInGround(s)); }},
        };
        questions.insert(questions.end(), more.begin(), more.end());
    }
    if (model.isHeld()) {
        const std::vector<std::pair<Text, Ask>> more = {
            {"get_q_motion_method", [&](const MobilizedBody& b) { return json(int(b.getQMotionMethod(s))); }},
            {"get_u_motion_method", [&](const MobilizedBody& b) { return json(int(b.getUMotionMethod(s))); }},
            {"get_u_dot_motion_method",
             [&](const MobilizedBody& b) { return json(int(b.getUDotMotionMethod(s))); }},
            {"get_lock_value_as_vector", [&](const MobilizedBody& b) { return json(b.getLockValueAsVector(s)); }},
            {"get_tau_as_vector",  // 3.7 fails for a mobilizer without mobilities
             [&](const MobilizedBody& b) { return b.getNumU(s) ? json(b.getTauAsVector(s)) : Text("[]"); }},
        };
        questions.insert(questions.end(), more.begin(), more.end());
    }
    Object out;
    for (const auto& question : questions) {
        std::vector<Text> answers = {"null"};
        for (int b = 1; b < model.nb(); ++b) answers.push_back(question.second(model.mobod(b)));
        out.addText(question.first, list(answers));
    }
    return out;
}

// Questions with arguments to one body, each written as a call: method, body, arguments in order, result.
class Calls {
public:
    explicit Calls(int body) : m_body(body) {}
    template <class T> void add(const Text& method, const Object& arguments, const T& result) {
        addText(method, arguments, json(result));
    }
    void addText(const Text& method, const Object& arguments, const Text& result) {
        Object call;
        call.add("method", method).add("body", m_body).add("arguments", arguments).addText("result", result);
        m_calls.push_back(call.text());
    }
    const std::vector<Text>& calls() const { return m_calls; }

private:
    int m_body;
    std::vector<Text> m_calls;
};

std::vector<Text> callResults(const Model& model, const State& s, int b, int a, Rng& random) {
    const MobilizedBody& B = model.mobod(b);
    const MobilizedBody& A = model.mobod(a);
    const Vec3 p_B = random.vec3(), p_A = random.vec3(), p_G = random.vec3();
    const Transform X_BS = random.transform();
    const Object none, in_a = Object().add("in_body_a", a), to_a = Object().add("to_body_a", a),
                       from_a = Object().add("from_body_a", a);
    Calls out(b);

    out.add("find_body_transform_in_another_body", in_a, B.findBodyTransformInAnotherBody(s, A));
    out.add("find_body_rotation_in_another_body", in_a, B.findBodyRotationInAnotherBody(s, A));
    out.add("find_body_origin_location_in_another_body", to_a, B.findBodyOriginLocationInAnotherBody(s, A));
    out.add("find_body_velocity_in_another_body", in_a, B.findBodyVelocityInAnotherBody(s, A));
    out.add("find_body_angular_velocity_in_another_body", in_a, B.findBodyAngularVelocityInAnotherBody(s, A));
    out.add("find_body_origin_velocity_in_another_body", in_a, B.findBodyOriginVelocityInAnotherBody(s, A));
    out.add("find_body_acceleration_in_another_body", in_a, B.findBodyAccelerationInAnotherBody(s, A));
    out.add("find_body_angular_acceleration_in_another_body", in_a, B.findBodyAngularAccelerationInAnotherBody(s, A));
    out.add("find_body_origin_acceleration_in_another_body", in_a, B.findBodyOriginAccelerationInAnotherBody(s, A));

    const Object at_b = Object().add("station_on_b", p_B), location_b = Object().add("location_on_b", p_B);
    const Object at_b_to_a = Object().add("station_on_b", p_B).add("to_body_a", a);
    const Object at_b_in_a = Object().add("station_on_b", p_B).add("in_body_a", a);
    out.add("find_station_location_in_ground", at_b, B.findStationLocationInGround(s, p_B));
    out.add("find_station_location_in_another_body", at_b_to_a, B.findStationLocationInAnotherBody(s, p_B, A));
    out.add("find_station_velocity_in_ground", at_b, B.findStationVelocityInGround(s, p_B));
    out.add("find_station_velocity_in_another_body", at_b_in_a, B.findStationVelocityInAnotherBody(s, p_B, A));
    out.add("find_station_acceleration_in_ground", at_b, B.findStationAccelerationInGround(s, p_B));
    out.add("find_station_acceleration_in_another_body", at_b_in_a, B.findStationAccelerationInAnotherBody(s, p_B, A));
    Vec3 p, v, acceleration;
    B.findStationLocationAndVelocityInGround(s, p_B, p, v);
    out.addText("find_station_location_and_velocity_in_ground", location_b, list({json(p), json(v)}));
    B.findStationLocationVelocityAndAccelerationInGround(s, p_B, p, v, acceleration);
    out.addText("find_station_location_velocity_and_acceleration_in_ground", location_b,
                list({json(p), json(v), json(acceleration)}));

    out.add("find_mass_center_location_in_ground", none, B.findMassCenterLocationInGround(s));
    out.add("find_mass_center_location_in_another_body", to_a, B.findMassCenterLocationInAnotherBody(s, A));
    out.add("find_station_at_ground_point", Object().add("location_in_g", p_G), B.findStationAtGroundPoint(s, p_G));
    out.add("find_station_at_another_body_station", Object().add("from_body_a", a).add("station_on_a", p_A),
            B.findStationAtAnotherBodyStation(s, A, p_A));
    out.add("find_station_at_another_body_origin", from_a, B.findStationAtAnotherBodyOrigin(s, A));
    out.add("find_station_at_another_body_mass_center", from_a, B.findStationAtAnotherBodyMassCenter(s, A));

    const Object frame_b = Object().add("frame_on_b", X_BS);
    out.add("find_frame_transform_in_ground", frame_b, B.findFrameTransformInGround(s, X_BS));
    out.add("find_frame_velocity_in_ground", frame_b, B.findFrameVelocityInGround(s, X_BS));
    out.add("find_frame_acceleration_in_ground", frame_b, B.findFrameAccelerationInGround(s, X_BS));

    const Object vector_b = Object().add("vector_in_b", p_B);
    out.add("express_vector_in_ground_frame", vector_b, B.expressVectorInGroundFrame(s, p_B));
    out.add("express_ground_vector_in_body_frame", Object().add("vector_in_g", p_G), B.expressGroundVectorInBodyFrame(s, p_G));
    out.add("express_vector_in_another_body_frame", Object().add("vector_in_b", p_B).add("in_body_a", a),
            B.expressVectorInAnotherBodyFrame(s, p_B, A));
    out.add("express_mass_properties_in_ground_frame", none, B.expressMassPropertiesInGroundFrame(s));
    out.add("express_mass_properties_in_another_body_frame", in_a, B.expressMassPropertiesInAnotherBodyFrame(s, A));
    out.add("calc_body_spatial_inertia_matrix_in_ground", none, B.calcBodySpatialInertiaMatrixInGround(s));
    out.add("calc_body_central_inertia", none, B.calcBodyCentralInertia(s, MobilizedBodyIndex(b)));
    out.add("calc_body_inertia_about_another_body_station",
            Object().add("in_body_a", a).add("about_location_on_body_a", p_A),
            B.calcBodyInertiaAboutAnotherBodyStation(s, A, p_A));
    MobilizedBody momentum_of = B;  // these two are not const in 3.7
    out.add("calc_body_momentum_about_body_origin_in_ground", none, momentum_of.calcBodyMomentumAboutBodyOriginInGround(s));
    out.add("calc_body_momentum_about_body_mass_center_in_ground", none,
            momentum_of.calcBodyMomentumAboutBodyMassCenterInGround(s));

    const Object distance = Object().add("location_on_body_b", p_B).add("body_a", a).add("location_on_body_a", p_A);
    out.add("calc_station_to_station_distance", distance, B.calcStationToStationDistance(s, p_B, A, p_A));
    out.add("calc_station_to_station_distance_time_derivative", distance,
            B.calcStationToStationDistanceTimeDerivative(s, p_B, A, p_A));
    out.add("calc_station_to_station_distance_2nd_time_derivative", distance,
            B.calcStationToStationDistance2ndTimeDerivative(s, p_B, A, p_A));
    return out.calls();
}

// Requests for a pose or velocity across one mobilizer, starting from the state given: `request` is what was asked for,
// `q` or `u` what Simbody chose, `achieved` the X_FM or V_FM that it makes. A reachable request is the X_FM or V_FM (or its
// part) of other random coordinates or speeds.
std::vector<Text> fitResults(const Model& model, const State& start, int body, Rng& random) {
    const MobilizedBody& mobod = model.mobod(body);
    std::vector<Text> fits;

    const auto fit_q = [&](const char* method, bool reachable, const Text& request, const std::function<void(State&)>& fit) {
        State s = start;
        model.system.realize(s, Stage::Instance);
        try {
            fit(s);
        } catch (const std::exception&) {  // the optimizer that fits a FunctionBased gives up now and then
            return;
        }
        model.system.realize(s, Stage::Position);
        fits.push_back(Object().add("method", method).add("body", body).add("reachable", reachable).addText("request", request)
                           .add("q", mobod.getQAsVector(s)).add("achieved", mobod.getMobilizerTransform(s)).text());
    };
    const auto fit_u = [&](const char* method, bool reachable, const Text& request, const std::function<void(State&)>& fit) {
        State s = start;
        model.system.realize(s, Stage::Position);
        try {
            fit(s);
        } catch (const std::exception&) {
            return;
        }
        model.system.realize(s, Stage::Velocity);
        fits.push_back(Object().add("method", method).add("body", body).add("reachable", reachable).addText("request", request)
                           .add("u", mobod.getUAsVector(s)).add("achieved", mobod.getMobilizerVelocity(s)).text());
    };

    for (const bool reachable : {true, false}) {
        Transform X = random.transform();
        SpatialVec V = random.spatial();
        if (reachable) {
            State other = start;
            model.system.realize(other, Stage::Model);
            for (int i = 0; i < mobod.getNumU(other); ++i) mobod.setOneU(other, i, random.uniform(-1, 1));
            model.system.realize(other, Stage::Velocity);
            V = mobod.getMobilizerVelocity(other);
            drawCoordinates(model, other, random, body);
            model.system.realize(other, Stage::Position);
            X = mobod.getMobilizerTransform(other);
        }
        fit_q("set_q_to_fit_transform", reachable, json(X), [&](State& s) { mobod.setQToFitTransform(s, X); });
        fit_q("set_q_to_fit_rotation", reachable, json(X.R()), [&](State& s) { mobod.setQToFitRotation(s, X.R()); });
        fit_q("set_q_to_fit_translation", reachable, json(X.p()), [&](State& s) { mobod.setQToFitTranslation(s, X.p()); });
        fit_u("set_u_to_fit_velocity", reachable, json(V), [&](State& s) { mobod.setUToFitVelocity(s, V); });
        fit_u("set_u_to_fit_angular_velocity", reachable, json(V[0]),
              [&](State& s) { mobod.setUToFitAngularVelocity(s, V[0]); });
        fit_u("set_u_to_fit_linear_velocity", reachable, json(V[1]), [&](State& s) { mobod.setUToFitLinearVelocity(s, V[1]); });
    }
    return fits;
}

// q of the same configuration in the other representation. (Simbody's conversion loses u; it ought to stay.)
Object conversionResults(const Model& model, const State& s, bool use_euler_angles) {
    State converted;
    if (use_euler_angles) model.matter.convertToQuaternions(s, converted);
    else model.matter.convertToEulerAngles(s, converted);
    const Packing packing(model, converted);
    return Object().add(use_euler_angles ? "convert_to_quaternions" : "convert_to_euler_angles",
                        packing.pack(converted.getQ()));
}

// ---------------------------------------------------------------------------------------------------------------------
// Cases
// ---------------------------------------------------------------------------------------------------------------------

struct Plan {
    Text name;
    std::vector<Link> links;
    bool use_euler_angles = false;
    int num_states = 2;
    int num_tasks = 3;
    int examined_body = 0;      // the body whose fits, calls and reactions are wanted too; 0 for none
    int states_with_matrices = 1;  // M, its inverse and the Jacobians are large: only the first states have them
};

// The keys of results in which Simbody 3.7 is known to be wrong (README.md, "Where Simbody is not followed").
Names suspects(const Plan& plan) {
    Names names;
    const auto add = [&](const Names& more) {
        for (const Text& name : more)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    int b = 0;
    for (const Link& link : plan.links) {
        const Kind& kind = kindNamed(link.kind);
        const bool quaternion = kind.quaternion && !plan.use_euler_angles;
        if (quaternion) add(kind.suspect_quaternion);
        if (quaternion && link.reversed) {
            add(kind.suspect_reversed_quaternion);
            if (!kind.suspect_reversed_quaternion.empty()) add({"mobod.get_q_dot_as_vector", "mobod.get_q_dot_dot_as_vector"});
        }
        if (++b == plan.examined_body) {
            add(kind.suspect);
            if (link.reversed) add(kind.suspect_reversed);
        }
    }
    if (plan.examined_body) add({"calls.find_station_at_another_body_mass_center"});
    return names;
}

// Draw a time; lock what is to be locked, in the first state, at the values just drawn; and bring q and u to what is held.
void holdState(Model& model, State& s, bool first, Rng& random) {
    s.updTime() = random.uniform(0, 3);
    for (int b = 1; first && b < model.nb(); ++b) {
        const Text& what = model.held[b];
        if (what.rfind("lock", 0) != 0) continue;
        const MobilizedBody& mobod = model.mobod(b);
        const Motion::Level level = levelOf(what);
        const Vector value = level == Motion::Position ? mobod.getQAsVector(s) : random.vector(mobod.getNumU(s));
        mobod.lockAt(s, value, level);
        Text& written = model.bodies[b - 1];
        const Object lock = Object().add("level", what.substr(what.find('_') + 1)).add("value", value);
        written.insert(written.size() - 1, ",\"lock\":" + lock.text());
    }
    model.system.realize(s, Stage::Time);
    model.system.prescribeQ(s);
    model.system.realize(s, Stage::Position);
    model.system.prescribeU(s);
}

Text makeCase(const Plan& plan) {
    Rng random(seedOf(plan.name));
    Model model(plan.links, random);
    State s = model.system.realizeTopology();
    model.matter.setUseEulerAngles(s, plan.use_euler_angles);
    model.system.realizeModel(s);
    const Packing packing(model, s);
    const Vector default_q = packing.pack(s.getQ());

    std::vector<Text> states;
    for (int i = 0; i < plan.num_states; ++i) {
        drawCoordinates(model, s, random);
        s.updU() = random.vector(s.getNU());
        const Inputs inputs(model, packing, s.getNU(), random, plan.num_tasks);
        if (model.isHeld()) holdState(model, s, i == 0, random);
        model.system.realize(s, Stage::Acceleration);

        Object results;
        results.add("state", stateResults(s, packing));
        results.add("system", systemResults(model, s));
        results.add("gravity", gravityResults(model, s));
        results.add("mobod", mobodResults(model, s, plan.examined_body > 0));
        results.add("matter", matterResults(model, s, packing, inputs, i < plan.states_with_matrices));
        if (plan.examined_body) {
            const int other = plan.examined_body == model.nb() - 1 ? 1 : model.nb() - 1;
            const int relative_to = i == 0 ? other : random.index(model.nb());
            results.addText("calls", list(callResults(model, s, plan.examined_body, relative_to, random)));
            results.addText("fit", list(fitResults(model, s, plan.examined_body, random)));
            results.add("conversion", conversionResults(model, s, plan.use_euler_angles));
        }
        Object state;
        state.add("q", packing.pack(s.getQ())).add("u", Vector(s.getU()));
        if (model.isHeld()) state.add("time", s.getTime());
        inputs.addTo(state);
        states.push_back(state.add("results", results).text());
    }

    return Object()
        .add("name", plan.name)
        .add("use_euler_angles", plan.use_euler_angles)
        .addText("gravity", model.gravity_text)
        .addText("bodies", list(model.bodies, ",\n"))
        .addText("constraints", "[]")
        .addText("forces", "[]")
        .add("suspect", suspects(plan))
        .add("default_q", default_q)
        .addText("states", list(states, ",\n"))
        .text();
}

// One kind on a moving parent, and a child on it so that its articulated inertia is not that of one rigid body.
Plan singleKind(const Kind& kind, bool reversed, bool euler, Text name) {
    Plan plan;
    plan.name = name + (reversed ? "_reverse" : "_forward") + (euler ? "_euler" : "");
    plan.links = {{"base", "Free", 0}, {"body", kind.name, 1, reversed}, {"child", "Pin", 2}};
    plan.use_euler_angles = euler;
    plan.num_states = plan.states_with_matrices = 3;
    plan.examined_body = 2;
    return plan;
}

// Mixed kinds and directions; every body hangs on any body before it, more often on a late one. Weld only here and there.
Plan randomTree(int num_bodies, const Text& label, bool euler) {
    Plan plan;
    plan.name = "tree_" + std::to_string(num_bodies) + "_" + label + (euler ? "_euler" : "");
    Rng random(seedOf("links of " + plan.name));
    std::vector<const Kind*> choice;
    for (const Kind& kind : kinds())
        if (kind.in_trees) choice.push_back(&kind);
    for (int b = 1; b <= num_bodies; ++b) {
        const Kind& kind = *choice[random.index(int(choice.size()))];
        const int one = random.index(b), two = random.index(b);
        const bool reversed = random.coin() && kind.reversible;
        plan.links.push_back({"b" + std::to_string(b), kind.name, std::max(one, two), reversed});
    }
    plan.use_euler_angles = euler;
    plan.states_with_matrices = num_bodies < 20 ? 2 : 1;
    plan.num_tasks = num_bodies < 20 ? 4 : 6;
    return plan;
}

// The same of all kinds, dealt like cards: tree number i of a size takes up where number i - 1 left the deck, so that a few
// small trees have every kind, and a large one has them all.
Plan mixedTree(int num_bodies, int number, bool euler) {
    Plan plan;
    const Text size = std::to_string(num_bodies);
    plan.name = "mixed_" + size + "_" + char('a' + number) + (euler ? "_euler" : "");
    Rng dealer(seedOf("deck of mixed_" + size + (euler ? "_euler" : ""))), random(seedOf("links of " + plan.name));
    std::vector<const Kind*> deck, fresh;
    for (const Kind& kind : kinds())
        if (classOf(kind.name) == kind.name) fresh.push_back(&kind);  // a FunctionBased is not one kind but many
    while (int(deck.size()) < (number + 1) * num_bodies) {
        for (int i = int(fresh.size()) - 1; i > 0; --i) std::swap(fresh[i], fresh[dealer.index(i + 1)]);
        deck.insert(deck.end(), fresh.begin(), fresh.end());
    }
    for (int b = 1; b <= num_bodies; ++b) {
        const Kind& kind = *deck[number * num_bodies + b - 1];
        const int one = random.index(b), two = random.index(b);
        const bool reversed = random.coin() && kind.reversible;
        plan.links.push_back({"b" + std::to_string(b), kind.name, std::max(one, two), reversed});
    }
    plan.use_euler_angles = euler;
    plan.states_with_matrices = num_bodies < 20 ? 2 : 1;
    plan.num_tasks = num_bodies < 20 ? 4 : 6;
    return plan;
}

Plan pinChain(int num_bodies) {
    Plan plan;
    plan.name = "chain_" + std::to_string(num_bodies) + "_pins";
    for (int b = 1; b <= num_bodies; ++b) plan.links.push_back({"b" + std::to_string(b), "Pin", b - 1, b % 3 == 0});
    plan.num_tasks = 4;
    return plan;
}

// Joints built of several mobilizers with massless bodies between them.
Plan masslessBodies(bool euler) {
    Plan plan;
    plan.name = Text("massless") + (euler ? "_euler" : "");
    const bool forward = false, reversed = true, massless = true;
    plan.links = {
        {"base", "Free", 0},
        {"yaw", "Pin", 1, forward, massless},
        {"pitch", "Pin", 2, reversed, massless},
        {"roll", "Pin", 3},
        {"carriage", "Slider", 4, forward, massless},
        {"bracket", "Weld", 5, forward, massless},
        {"cross", "Universal", 6, forward, massless},
        {"tool", "Pin", 7},
        {"wrist", "Pin", 1, forward, massless},
        {"left", "Pin", 9},
        {"right", "Ball", 9},
    };
    plan.use_euler_angles = euler;
    plan.states_with_matrices = 2;
    return plan;
}

// Two bodies in three are locked or driven, in all the ways there are. A sinusoidal quaternion makes no sense, and a Weld does
// not move.
Plan heldTree(int num_bodies, const Text& label, bool euler) {
    Plan plan;
    plan.name = "held_" + std::to_string(num_bodies) + "_" + label + (euler ? "_euler" : "");
    Rng random(seedOf("links of " + plan.name));
    const Names choice = {"Pin",       "Slider", "Translation", "Ball",    "Free",      "Planar", "Universal",
                          "Ellipsoid", "Screw",  "Gimbal",      "Bushing", "BendStretch", "Weld"};
    for (int b = 1; b <= num_bodies; ++b) {
        const Kind& kind = kindNamed(choice[random.index(int(choice.size()))]);
        const int one = random.index(b), two = random.index(b);
        Link link = {"b" + std::to_string(b), kind.name, std::max(one, two), random.coin() && kind.reversible};
        const Text hold = holds()[random.index(int(holds().size()))];
        const bool quaternion = kind.quaternion && !euler;
        if (random.index(3) && kind.name != "Weld" && !(quaternion && hold == "sinusoid_position")) link.held = hold;
        plan.links.push_back(link);
    }
    plan.use_euler_angles = euler;
    plan.states_with_matrices = num_bodies < 20 ? 2 : 1;
    plan.num_tasks = 4;
    return plan;
}

// ---------------------------------------------------------------------------------------------------------------------
// Forces: elements of every kind on a random tree, and what each of them contributes
// ---------------------------------------------------------------------------------------------------------------------

// A force element, what mobod is to make it of, and what it has besides its contribution.
struct Element {
    Text kind;
    Force force;
    Object arguments;
    int z = -1, num_z = 0;  // Simbody's place of its z, and how many mobod has
    std::function<void(State&, Rng&, Object&)> set;               // discrete forces: draw them for a state
    std::function<void(const State&, Object&)> more;              // its own methods
};

class Elements {
public:
    Elements(Model& model, Rng& random) : m_model(model), m_random(random) {
        const State s = model.system.realizeTopology();
        for (int b = 0; b < model.nb(); ++b) m_num_u.push_back(model.mobod(b).getNumU(s));
        for (int b = 1; b < model.nb(); ++b)
            if (model.kind_of[b]->quaternion == false && Text(model.kind_of[b]->name) != "Weld") m_plain.push_back(b);
    }
    std::vector<Element> all;

    void twoPoints(const Text& kind) {
        Object arguments;
        const MobilizedBody& one = body(arguments, "body1", true);
        const Vec3 station1 = vector(arguments, "station1");
        const MobilizedBody& two = body(arguments, "body2", false);
        const Vec3 station2 = vector(arguments, "station2");
        if (kind == "TwoPointLinearSpring") {
            const Real k = number(arguments, "stiffness", 1, 30), x0 = number(arguments, "rest_length", 0, 1);
            put(kind, Force::TwoPointLinearSpring(m_model.forces, one, station1, two, station2, k, x0), arguments);
        } else if (kind == "TwoPointLinearDamper") {
            const Real c = number(arguments, "damping", 0.5, 5);
            put(kind, Force::TwoPointLinearDamper(m_model.forces, one, station1, two, station2, c), arguments);
        } else {
            const Real f = number(arguments, "force", -5, 5);
            put(kind, Force::TwoPointConstantForce(m_model.forces, one, station1, two, station2, f), arguments);
        }
    }
    void constantForce() {
        Object arguments;
        const MobilizedBody& one = body(arguments, "body", false);
        const Vec3 station = vector(arguments, "station"), force = vector(arguments, "force");
        put("ConstantForce", Force::ConstantForce(m_model.forces, one, station, force), arguments);
    }
    void constantTorque() {
        Object arguments;
        const MobilizedBody& one = body(arguments, "body", false);
        const Vec3 torque = vector(arguments, "torque");
        put("ConstantTorque", Force::ConstantTorque(m_model.forces, one, torque), arguments);
    }
    void uniformGravity() {  // at height zero: the potential energy is Simbody's only there
        Object arguments;
        const Vec3 g = vector(arguments, "gravity_vector");
        put("UniformGravity", Force::UniformGravity(m_model.forces, m_model.matter, g, 0), arguments);
    }
    void globalDamper() {
        Object arguments;
        const Real c = number(arguments, "damping", 0.1, 1);
        put("GlobalDamper", Force::GlobalDamper(m_model.forces, m_model.matter, c), arguments);
    }
    void mobility(const Text& kind) {
        Object arguments;
        const bool on_q = kind == "MobilityLinearSpring" || kind == "MobilityLinearStop";
        const int b = on_q ? m_plain[m_random.index(int(m_plain.size()))] : 1 + m_random.index(m_model.nb() - 1);
        const MobilizedBody& one = m_model.mobod(b);
        const int count = m_num_u[b];
        if (count == 0) return;
        const int which = m_random.index(count);
        arguments.add("mobod", b).add(on_q ? "which_q" : "which_u", which);
        GeneralForceSubsystem& forces = m_model.forces;
        if (kind == "MobilityLinearSpring") {
            const Real k = number(arguments, "stiffness", 1, 30), q0 = number(arguments, "rest_value", -1, 1);
            put(kind, Force::MobilityLinearSpring(forces, one, MobilizerQIndex(which), k, q0), arguments);
        } else if (kind == "MobilityLinearDamper") {
            const Real c = number(arguments, "damping", 0.1, 3);
            put(kind, Force::MobilityLinearDamper(forces, one, MobilizerUIndex(which), c), arguments);
        } else if (kind == "MobilityConstantForce") {
            const Real f = number(arguments, "force", -5, 5);
            put(kind, Force::MobilityConstantForce(forces, one, MobilizerUIndex(which), f), arguments);
        } else if (kind == "MobilityDiscreteForce") {
            const Real f = number(arguments, "default", -5, 5);
            const Force::MobilityDiscreteForce force(forces, one, MobilizerUIndex(which), f);
            put(kind, force, arguments);
            all.back().set = [force](State& s, Rng& random, Object& record) {
                const Real value = random.uniform(-5, 5);
                force.setMobilityForce(s, value);
                record.add("set_mobility_force", value);
            };
        } else {
            const Real k = number(arguments, "stiffness", 1, 30), d = number(arguments, "dissipation", 0.1, 3);
            const Real low = number(arguments, "q_low", -0.3, 0), high = number(arguments, "q_high", 0, 0.3);
            put(kind, Force::MobilityLinearStop(forces, one, MobilizerQIndex(which), k, d, low, high), arguments);
        }
    }
    void discreteForces() {
        const Force::DiscreteForces force(m_model.forces, m_model.matter);
        put("DiscreteForces", force, Object());
        const int nb = m_model.nb();
        all.back().set = [force, nb](State& s, Rng& random, Object& record) {
            const Vector f = random.vector(s.getNU(), 5);
            const Vector_<SpatialVec> F = random.spatials(nb, 5);
            force.setAllMobilityForces(s, f);
            force.setAllBodyForces(s, F);
            record.add("set_all_mobility_forces", f).add("set_all_body_forces", F);
        };
    }
    void linearBushing() {
        Object arguments;
        const MobilizedBody& one = body(arguments, "body1", true);
        const Transform frame1 = m_random.transform(0.5);
        arguments.addText("frame1", frame(frame1));
        const MobilizedBody& two = body(arguments, "body2", false);
        const Transform frame2 = m_random.transform(0.5);
        arguments.addText("frame2", frame(frame2));
        Vec6 k, c;
        for (int i = 0; i < 6; ++i) k[i] = m_random.uniform(1, 20);
        for (int i = 0; i < 6; ++i) c[i] = m_random.uniform(0.1, 2);
        arguments.add("stiffness", k).add("damping", c);
        const Force::LinearBushing force(m_model.forces, one, frame1, two, frame2, k, c);
        put("LinearBushing", force, arguments);
        all.back().num_z = 1;
        all.back().more = [force](const State& s, Object& results) {
            results.add("get_q", force.getQ(s)).add("get_q_dot", force.getQDot(s)).add("get_f", force.getF(s));
            results.add("get_x_gf", force.getX_GF(s)).add("get_x_gm", force.getX_GM(s)).add("get_x_fm", force.getX_FM(s));
            results.add("get_v_gf", force.getV_GF(s)).add("get_v_gm", force.getV_GM(s)).add("get_v_fm", force.getV_FM(s));
            results.add("get_f_gf", force.getF_GF(s)).add("get_f_gm", force.getF_GM(s));
            results.add("get_potential_energy", force.getPotentialEnergy(s));
            results.add("get_power_dissipation", force.getPowerDissipation(s));
            results.add("get_dissipated_energy", force.getDissipatedEnergy(s));
        };
    }
    void thermostat(int num_chains) {
        Object arguments;
        const Real k = number(arguments, "boltzmanns_constant", 0.5, 2), T = number(arguments, "bath_temperature", 0.5, 2);
        const Real t = number(arguments, "relaxation_time", 0.3, 1);
        const int excluded = m_random.index(3);
        arguments.add("num_excluded_dofs", excluded).add("num_chains", num_chains);
        Force::Thermostat force(m_model.forces, m_model.matter, k, T, t, excluded);
        force.setDefaultNumChains(num_chains);
        put("Thermostat", force, arguments);
        all.back().num_z = 2 * num_chains;
        all.back().more = [force](const State& s, Object& results) {
            results.add("get_num_thermal_dofs", force.getNumThermalDofs(s));
            results.add("get_current_temperature", force.getCurrentTemperature(s));
            results.add("get_chain_state", force.getChainState(s)).add("calc_bath_energy", force.calcBathEnergy(s));
            results.add("get_external_power", force.getExternalPower(s));
        };
    }

    // Simbody's places of z: one a bushing and one a thermostat's work, in order; then the thermostats' chains.
    void placeZ() {
        int at = 0;
        for (Element& element : all) {
            if (element.kind == "LinearBushing") element.z = at;
            if (element.num_z > 0) ++at;
        }
        for (Element& element : all)
            if (element.kind == "Thermostat") {
                element.z = at;
                at += element.num_z;
            }
    }
    Vector packedZ(const Vector& z) const {
        Vector packed;
        for (const Element& element : all)
            for (int i = 0; i < element.num_z; ++i) {
                packed.resizeKeep(packed.size() + 1);
                packed[packed.size() - 1] = z[element.z + i];
            }
        return packed;
    }

private:
    const MobilizedBody& body(Object& arguments, const Text& name, bool or_ground) {
        const int b = or_ground ? m_random.index(m_model.nb()) : 1 + m_random.index(m_model.nb() - 1);
        arguments.add(name, b);
        return m_model.mobod(b);
    }
    Vec3 vector(Object& arguments, const Text& name) {
        const Vec3 v = m_random.vec3(name == "station" || name == "station1" || name == "station2" ? 1 : 5);
        arguments.add(name, v);
        return v;
    }
    Real number(Object& arguments, const Text& name, Real low, Real high) {
        const Real x = m_random.uniform(low, high);
        arguments.add(name, x);
        return x;
    }
    void put(const Text& kind, const Force& force, const Object& arguments) {
        Element element;
        element.kind = kind;
        element.force = force;
        element.arguments = arguments;
        all.push_back(element);
    }

    Model& m_model;
    Rng& m_random;
    std::vector<int> m_num_u;  // by body
    std::vector<int> m_plain;  // bodies whose coordinates have q_dot = u
};

Text makeForceCase(const Plan& plan, const Names& only) {
    Rng random(seedOf(plan.name));
    Model model(plan.links, random);
    Elements elements(model, random);
    const Names kinds = {"TwoPointLinearSpring",  "TwoPointLinearDamper",  "TwoPointConstantForce", "ConstantForce",
                         "ConstantTorque",        "UniformGravity",        "GlobalDamper",          "MobilityLinearSpring",
                         "MobilityLinearDamper",  "MobilityConstantForce", "MobilityLinearStop",    "MobilityDiscreteForce",
                         "DiscreteForces",        "LinearBushing",         "Thermostat"};
    for (int round = 0; round < 2; ++round)
        for (const Text& kind : only.empty() ? kinds : only) {
            if (kind.rfind("TwoPoint", 0) == 0) elements.twoPoints(kind);
            else if (kind == "ConstantForce") elements.constantForce();
            else if (kind == "ConstantTorque") elements.constantTorque();
            else if (kind == "UniformGravity") elements.uniformGravity();
            else if (kind == "GlobalDamper") elements.globalDamper();
            else if (kind == "DiscreteForces") elements.discreteForces();
            else if (kind == "LinearBushing") elements.linearBushing();
            else if (kind == "Thermostat") elements.thermostat(round == 0 ? 3 : 1);
            else elements.mobility(kind);
        }
    elements.placeZ();
    State s = model.system.realizeTopology();
    model.matter.setUseEulerAngles(s, plan.use_euler_angles);
    model.system.realizeModel(s);
    const Packing packing(model, s);
    const Vector default_q = packing.pack(s.getQ());

    std::vector<Text> states, forces;
    for (int i = 0; i < plan.num_states; ++i) {
        drawCoordinates(model, s, random);
        s.updU() = random.vector(s.getNU());
        s.updZ() = random.vector(s.getNZ());
        std::vector<Text> inputs, results_of;
        for (const Element& element : elements.all) {
            Object record;
            if (element.set) element.set(s, random, record);
            inputs.push_back(record.text());
        }
        model.system.realize(s, Stage::Acceleration);
        for (const Element& element : elements.all) {
            Vector_<SpatialVec> body_forces;
            Vector_<Vec3> particle_forces;
            Vector mobility_forces;
            element.force.calcForceContribution(s, body_forces, particle_forces, mobility_forces);
            Object results;
            results.addText("calc_force_contribution",
                            list({json(body_forces), json(particle_forces), json(mobility_forces)}));
            results.add("calc_potential_energy_contribution", element.force.calcPotentialEnergyContribution(s));
            if (element.more) element.more(s, results);
            results_of.push_back(results.text());
        }
        Object results, of_state = stateResults(s, packing);
        of_state.add("z_dot", elements.packedZ(s.getZDot()));
        results.add("state", of_state).add("system", systemResults(model, s)).addText("forces", list(results_of, ",\n"));
        Object state;
        state.add("q", packing.pack(s.getQ())).add("u", Vector(s.getU())).add("z", elements.packedZ(s.getZ()));
        states.push_back(state.addText("forces", list(inputs)).add("results", results).text());
    }
    for (const Element& element : elements.all) {
        const Text rest = element.arguments.text().substr(1);
        forces.push_back("{\"kind\":" + json(element.kind) + (rest == "}" ? "" : ",") + rest);
    }
    return Object()
        .add("name", plan.name)
        .add("use_euler_angles", plan.use_euler_angles)
        .addText("gravity", model.gravity_text)
        .addText("bodies", list(model.bodies, ",\n"))
        .addText("constraints", "[]")
        .addText("forces", list(forces, ",\n"))
        .add("suspect", Names())
        .add("default_q", default_q)
        .addText("states", list(states, ",\n"))
        .text();
}

// A tree for forces; kinds whose N is in doubt are left out, and the first body is a Pin, which has a plain coordinate.
Plan forceTree(int num_bodies, const Text& label, bool euler) {
    Plan plan;
    plan.name = "forces_" + std::to_string(num_bodies) + "_" + label + (euler ? "_euler" : "");
    Rng random(seedOf("links of " + plan.name));
    const Names choice = {"Pin",    "Slider", "Translation", "Ball",        "Free",           "Planar", "Universal",  "Ellipsoid",
                          "Screw",  "Gimbal", "Bushing",     "BendStretch", "SphericalCoords", "Weld",   "Cylinder"};
    for (int b = 1; b <= num_bodies; ++b) {
        const Kind& kind = kindNamed(b == 1 ? "Pin" : choice[random.index(int(choice.size()))]);
        const int one = random.index(b), two = random.index(b);
        plan.links.push_back({"b" + std::to_string(b), kind.name, std::max(one, two), random.coin() && kind.reversible});
    }
    plan.use_euler_angles = euler;
    plan.num_states = 3;
    return plan;
}

void writeForces(const Text& folder) {
    std::vector<Text> cases;
    cases.push_back(makeForceCase(forceTree(5, "a", false), {}));
    cases.push_back(makeForceCase(forceTree(5, "b", true), {}));
    cases.push_back(makeForceCase(forceTree(12, "a", false), {}));
    cases.push_back(makeForceCase(forceTree(12, "b", true), {}));
    // one kind of thermostat or bushing alone, so that nothing hides it
    cases.push_back(makeForceCase(forceTree(6, "thermostats", false), {"Thermostat"}));
    cases.push_back(makeForceCase(forceTree(6, "bushings", false), {"LinearBushing"}));
    std::ofstream out(folder + "/forces_trees.json", std::ios::binary);
    out << Object().add("format", 1).add("source", "Simbody 3.7").addText("cases", list(cases, ",\n")).text() << "\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + folder + "/forces_trees.json");
    std::cout << "forces_trees: " << cases.size() << " cases" << std::endl;
}

Text lowerSnake(const Text& words) {
    Text name;
    for (const char c : words) {
        if (std::isupper(static_cast<unsigned char>(c)) && !name.empty()) name += '_';
        name += char(std::tolower(static_cast<unsigned char>(c)));
    }
    return name;
}

void writeFile(const Text& folder, const Text& name, const std::vector<Plan>& plans) {
    std::vector<Text> cases;
    for (const Plan& plan : plans) cases.push_back(makeCase(plan));
    std::ofstream out(folder + "/" + name + ".json", std::ios::binary);
    out << Object().add("format", 1).add("source", "Simbody 3.7").addText("cases", list(cases, ",\n")).text() << "\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + folder + "/" + name + ".json");
    std::cout << name << ": " << plans.size() << " cases" << std::endl;
}

#include "constraint_cases.h"

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::cerr << "usage: generate OUTPUT_FOLDER [SEED]" << std::endl;
        return 2;
    }
    if (argc == 3) of_seed = Text(" of seed ") + argv[2];
    try {
        const Text folder = argv[1];
        std::vector<Plan> plans;
        for (const Kind& kind : kinds()) {
            const Text name = lowerSnake(kind.name);
            for (const bool euler : {false, true})
                for (const bool reversed : {false, true})
                    if ((!reversed || kind.reversible) && (!euler || kind.quaternion))
                        plans.push_back(singleKind(kind, reversed, euler, name));
            // The parameters of SphericalCoords are choices: more draws of them.
            if (kind.name == "SphericalCoords")
                for (const char* more : {"_b", "_c", "_d"})
                    for (const bool reversed : {false, true}) plans.push_back(singleKind(kind, reversed, false, name + more));
            // Entries of one class follow each other, and share a file.
            const bool last = &kind == &kinds().back() || classOf((&kind + 1)->name) != classOf(kind.name);
            if (!last) continue;
            writeFile(folder, "kind_" + lowerSnake(classOf(kind.name)), plans);
            plans.clear();
        }
        writeFile(folder, "trees_5", {randomTree(5, "a", false), randomTree(5, "b", false), randomTree(5, "c", false),
                                      randomTree(5, "d", false), randomTree(5, "e", true)});
        writeFile(folder, "trees_12", {randomTree(12, "a", false), randomTree(12, "b", false), randomTree(12, "c", false),
                                       randomTree(12, "d", true)});
        writeFile(folder, "trees_30", {randomTree(30, "a", false), randomTree(30, "b", false), randomTree(30, "c", true)});
        std::vector<Plan> fives, twelves, thirties;
        for (const bool euler : {false, true}) {
            for (int i = 0; i < 4; ++i) fives.push_back(mixedTree(5, i, euler));
            for (int i = 0; i < 2; ++i) twelves.push_back(mixedTree(12, i, euler));
            thirties.push_back(mixedTree(30, 0, euler));
        }
        writeFile(folder, "mixed_5", fives);
        writeFile(folder, "mixed_12", twelves);
        writeFile(folder, "mixed_30", thirties);
        writeFile(folder, "held", {heldTree(6, "a", false), heldTree(6, "b", true), heldTree(12, "a", false),
                                   heldTree(12, "b", true), heldTree(30, "a", false), heldTree(30, "b", true)});
        writeFile(folder, "chain", {pinChain(40)});
        writeFile(folder, "massless", {masslessBodies(false), masslessBodies(true)});
        writeForces(folder);
        writeConstraintFiles(folder);
    } catch (const std::exception& error) {
        std::cerr << "generate: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
