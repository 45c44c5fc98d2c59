// Writes reference cases of contact: what Simbody 3.7's CompliantContactSubsystem, HuntCrossleyForce, ElasticFoundationForce
// and SmoothSphereHalfSpaceForce make of random shapes, materials, poses and velocities.
//
//     generate_contact OUTPUT_FILE [SEED]
//
// README.md beside this file describes the format; generate.py compiles and runs this program.

#include "Simbody.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace SimTK;
using Text = std::string;

namespace {

Text number(Real value) {
    if (!std::isfinite(value)) return "null";
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return buffer;
}

Text list(const std::vector<Text>& items) {
    Text text = "[";
    for (std::size_t i = 0; i < items.size(); ++i) text += (i ? "," : "") + items[i];
    return text + "]";
}

Text json(Real value) { return number(value); }
Text json(int value) { return std::to_string(value); }
Text json(const char* text) { return '"' + Text(text) + '"'; }
Text json(const Vec3& v) { return list({number(v[0]), number(v[1]), number(v[2])}); }
Text json(const Vec2& v) { return list({number(v[0]), number(v[1])}); }
Text json(const SpatialVec& v) { return list({json(v[0]), json(v[1])}); }

Text json(const Vector& v) {
    std::vector<Text> items;
    for (int i = 0; i < v.size(); ++i) items.push_back(number(v[i]));
    return list(items);
}

Text json(const Rotation& R) {
    std::vector<Text> items;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) items.push_back(number(R[i][j]));
    return list(items);
}

Text json(const Transform& X) { return "{\"R\":" + json(X.R()) + ",\"p\":" + json(X.p()) + "}"; }

// An object of JSON, key by key.
class Record {
public:
    Record& text(const Text& key, const Text& value) {
        m_text += (m_text.empty() ? "{\"" : ",\"") + key + "\":" + value;
        return *this;
    }
    template <class T>
    Record& add(const Text& key, const T& value) {
        return text(key, json(value));
    }
    Text done() const { return m_text.empty() ? "{}" : m_text + "}"; }

private:
    Text m_text;
};

// The same numbers with every library: no std::..._distribution.
class Random {
public:
    explicit Random(unsigned seed) : m_engine(seed) {}
    Real uniform(Real low, Real high) { return low + (high - low) * (m_engine() / 4294967296.0); }
    Real power(Real low, Real high) { return std::exp(uniform(std::log(low), std::log(high))); }
    Vec3 vector(Real size) {
        const Real x = uniform(-size, size), y = uniform(-size, size), z = uniform(-size, size);
        return Vec3(x, y, z);
    }
    UnitVec3 direction() {
        for (;;) {
            const Vec3 v = vector(1);
            if (v.norm() > 0.1 && v.norm() < 1) return UnitVec3(v);
        }
    }
    Rotation rotation() { return turn(1.5); }
    Rotation turn(Real size) {
        const Vec3 angles = vector(size);
        return Rotation(BodyRotationSequence, angles[0], XAxis, angles[1], YAxis, angles[2], ZAxis);
    }
    Transform frame(Real size) {
        const Rotation R = rotation();
        return Transform(R, vector(size));
    }

private:
    std::mt19937 m_engine;
};

// ------------------------------------------------------------------------------------------------ shapes

struct Shape {
    Text kind, record;
    ContactGeometry geometry;
    Real size = 1;                               // the smallest radius: what depths are measured by
    std::function<Vec3(const UnitVec3&)> support;  // the farthest point in a direction
    bool isMesh = false;
};

Shape halfSpace() {
    Shape shape;
    shape.kind = "HalfSpace";
    shape.geometry = ContactGeometry::HalfSpace();
    shape.record = Record().add("kind", "HalfSpace").add("normal", Vec3(-1, 0, 0)).done();
    return shape;
}

Shape sphere(Random& random) {
    Shape shape;
    const Real radius = random.uniform(0.2, 0.6);
    shape.kind = "Sphere";
    shape.geometry = ContactGeometry::Sphere(radius);
    shape.size = radius;
    shape.support = [radius](const UnitVec3& d) { return radius * Vec3(d); };
    shape.record = Record().add("kind", "Sphere").add("radius", radius).done();
    return shape;
}

Shape ellipsoid(Random& random) {
    Shape shape;
    const Real a = random.uniform(0.2, 0.6), b = random.uniform(0.2, 0.6), c = random.uniform(0.2, 0.6);
    const Vec3 radii(a, b, c);
    shape.kind = "Ellipsoid";
    shape.geometry = ContactGeometry::Ellipsoid(radii);
    shape.size = std::min(a, std::min(b, c));
    shape.support = [radii](const UnitVec3& d) {
        const Vec3 scaled(radii[0] * d[0], radii[1] * d[1], radii[2] * d[2]);
        return Vec3(radii[0] * scaled[0], radii[1] * scaled[1], radii[2] * scaled[2]) / scaled.norm();
    };
    shape.record = Record().add("kind", "Ellipsoid").add("radii", radii).done();
    return shape;
}

Shape brick(Random& random) {
    Shape shape;
    const Real a = random.uniform(0.2, 0.6), b = random.uniform(0.2, 0.6), c = random.uniform(0.2, 0.6);
    const Vec3 half(a, b, c);
    shape.kind = "Brick";
    shape.geometry = ContactGeometry::Brick(half);
    shape.size = std::min(a, std::min(b, c));
    shape.support = [half](const UnitVec3& d) {
        return Vec3(d[0] < 0 ? -half[0] : half[0], d[1] < 0 ? -half[1] : half[1], d[2] < 0 ? -half[2] : half[2]);
    };
    shape.record = Record().add("kind", "Brick").add("half_lengths", half).done();
    return shape;
}

Shape mesh(Random& random) {  // a sphere's, made an ellipsoid's
    Shape shape;
    const Real a = random.uniform(0.3, 0.5), b = random.uniform(0.3, 0.5), c = random.uniform(0.3, 0.5);
    const PolygonalMesh ball = PolygonalMesh::createSphereMesh(1, 2);
    Array_<Vec3> vertices;
    Array_<int> faces;
    for (int i = 0; i < ball.getNumVertices(); ++i) {
        const Vec3& v = ball.getVertexPosition(i);
        vertices.push_back(Vec3(a * v[0], b * v[1], c * v[2]));
    }
    std::vector<Text> points, corners;
    for (int i = 0; i < ball.getNumFaces(); ++i) {
        const int n = ball.getNumVerticesForFace(i);
        for (int k = 1; k + 1 < n; ++k) {  // triangles, or a fan of them
            const int one[3] = {ball.getFaceVertex(i, 0), ball.getFaceVertex(i, k), ball.getFaceVertex(i, k + 1)};
            for (int index : one) faces.push_back(index);
            corners.push_back(list({json(one[0]), json(one[1]), json(one[2])}));
        }
    }
    for (const Vec3& v : vertices) points.push_back(json(v));
    shape.kind = "TriangleMesh";
    shape.geometry = ContactGeometry::TriangleMesh(vertices, faces);
    shape.size = std::min(a, std::min(b, c));
    shape.isMesh = true;
    shape.support = [vertices](const UnitVec3& d) {
        Vec3 best = vertices[0];
        for (const Vec3& v : vertices)
            if (dot(v, d) > dot(best, d)) best = v;
        return best;
    };
    shape.record =
        Record().add("kind", "TriangleMesh").text("vertices", list(points)).text("faces", list(corners)).done();
    return shape;
}

Shape makeShape(const Text& kind, Random& random) {
    if (kind == "HalfSpace") return halfSpace();
    if (kind == "Sphere") return sphere(random);
    if (kind == "Ellipsoid") return ellipsoid(random);
    if (kind == "Brick") return brick(random);
    return mesh(random);
}

struct Material {
    Real stiffness, dissipation, staticFriction, dynamicFriction, viscousFriction;

    explicit Material(Random& random) {
        stiffness = random.power(1e4, 1e7);
        dissipation = random.uniform(0, 1) < 0.15 ? 0 : random.power(0.02, 1);
        staticFriction = random.uniform(0, 1) < 0.15 ? 0 : random.uniform(0.1, 1.2);
        dynamicFriction = staticFriction * random.uniform(0.3, 1);
        viscousFriction = random.uniform(0, 1) < 0.4 ? 0 : random.uniform(0, 0.5);
    }
    ContactMaterial simbodys() const {
        return ContactMaterial(stiffness, dissipation, staticFriction, dynamicFriction, viscousFriction);
    }
    Text record() const {
        return Record()
            .add("stiffness", stiffness)
            .add("dissipation", dissipation)
            .add("static_friction", staticFriction)
            .add("dynamic_friction", dynamicFriction)
            .add("viscous_friction", viscousFriction)
            .done();
    }
};

struct Surface {
    int body;
    Shape shape;
    Transform X_BS;
    Material material;
    Real thickness;  // zero is none

    Text record() const {
        Record written;
        written.add("body", body).text("shape", shape.record).add("X_BS", X_BS).text("material", material.record());
        if (thickness > 0) written.add("thickness", thickness);
        return written.done();
    }
};

Surface makeSurface(int body, const Text& kind, Random& random) {
    Shape shape = makeShape(kind, random);
    const Transform X_BS = random.frame(0.3);
    const Material material(random);
    const bool thick = shape.isMesh || random.uniform(0, 1) < 0.5;
    return {body, shape, X_BS, material, thick ? random.uniform(0.02, 0.2) : 0};
}

// ------------------------------------------------------------------------------------------------ models

// Bodies that float, beside Ground.
struct Model {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    std::vector<MobilizedBody::Free> bodies;
    std::vector<Text> records;

    Model(int n, Random& random) {
        for (int i = 0; i < n; ++i) {
            const Transform X_PF = random.frame(0.5), X_BM = random.frame(0.5);
            const Real mass = random.uniform(0.5, 2);
            const Vec3 com = random.vector(0.1);
            const Vec3 moment = Vec3(0.25) + random.vector(0.05);
            const Inertia inertia = Inertia(moment).shiftFromMassCenter(com, mass);
            const MassProperties properties(mass, com, inertia);
            bodies.emplace_back(matter.Ground(), X_PF, Body::Rigid(properties), X_BM);
            const Vec3 moments = inertia.getMoments(), products = inertia.getProducts();
            records.push_back(Record()
                                  .add("parent", 0)
                                  .add("kind", "Free")
                                  .add("X_PF", X_PF)
                                  .add("X_BM", X_BM)
                                  .add("mass", mass)
                                  .add("com", com)
                                  .text("inertia", list({json(moments[0]), json(moments[1]), json(moments[2]),
                                                         json(products[0]), json(products[1]), json(products[2])}))
                                  .done());
        }
    }
    MobilizedBody& body(int b) { return matter.updMobilizedBody(MobilizedBodyIndex(b)); }
};

// How a state is to be: how deep, by the shapes' size; how fast along the normal, approaching above zero; how fast across.
struct Wanted {
    const char* kind;
    Real depth, approach, slip;
};

Wanted draw(int i, Real most, Random& random, Real least = 0.05) {
    static const char* kinds[] = {"deep", "deep", "deep", "deep", "apart", "pulled", "deep", "deep", "deep"};
    const char* kind = kinds[i % 9];
    const Real depth = random.power(least, 1) * most, approach = random.uniform(-0.5, 0.5);
    const Real slip = random.power(1e-3, 1);
    if (Text(kind) == "apart") return {kind, -depth, approach, slip};
    if (Text(kind) == "pulled") return {kind, depth, -200, slip};
    return {kind, depth, approach, i % 7 == 0 ? 0 : slip};
}

// Put body 2, or body 1 where it is that of the first surface that floats, so that the surfaces overlap by a depth.
void place(Model& model, State& state, const Surface& s1, const Surface& s2, const Wanted& wanted, Random& random) {
    for (auto& body : model.bodies) {
        const Transform X = random.frame(1);
        const Vec3 w = random.vector(1), v = random.vector(1);
        body.setQToFitTransform(state, ~body.getInboardFrame(state) * X * body.getOutboardFrame(state));
        model.system.realize(state, Stage::Position);
        body.setUToFitVelocity(state, SpatialVec(w, v));
    }
    model.system.realize(state, Stage::Velocity);
    MobilizedBody &one = model.body(s1.body), &two = model.body(s2.body);
    const Transform X_GS1 = one.getBodyTransform(state) * s1.X_BS;
    const Shape &shape1 = s1.shape, &shape2 = s2.shape;
    Transform X_GS2 = two.getBodyTransform(state) * s2.X_BS;
    UnitVec3 n;
    Vec3 p1;
    const Real size = shape1.kind == "HalfSpace" ? shape2.size : std::min(shape1.size, shape2.size);
    if (shape1.kind == "HalfSpace") {
        n = UnitVec3(-X_GS1.x());
        p1 = random.vector(1);
        p1 = X_GS1 * Vec3(0, p1[1], p1[2]);
        if (shape2.kind == "Brick" && random.uniform(0, 1) < 0.7) {  // nearly flat on one of its faces
            const int face = int(random.uniform(0, 3));
            const CoordinateAxis axis = face == 0 ? CoordinateAxis(XAxis) : face == 1 ? CoordinateAxis(YAxis) : CoordinateAxis(ZAxis);
            const Rotation flat(random.uniform(0, 1) < 0.5 ? n : -n, axis);
            const Real tilt = random.power(0.002, 0.1);
            X_GS2.updR() = random.turn(tilt) * flat;
        }
    } else {
        n = random.direction();
        p1 = X_GS1 * shape1.support(UnitVec3(~X_GS1.R() * n));
    }
    const Vec3 p2 = X_GS2.R() * shape2.support(UnitVec3(~X_GS2.R() * -n));
    const Real d = wanted.depth * size;
    X_GS2.updP() = p1 - p2 - d * n;
    const Transform X_GB = X_GS2 * ~s2.X_BS;
    auto& floats = model.bodies[s2.body - 1];
    floats.setQToFitTransform(state, ~(floats.getParentMobilizedBody().getBodyTransform(state) * floats.getInboardFrame(state)) *
                                         X_GB * floats.getOutboardFrame(state));
    model.system.realize(state, Stage::Position);
    const Vec3 where = p1 - d / 2 * n;
    const UnitVec3 across(n % UnitVec3(random.direction()));
    const Vec3 relative = -wanted.approach * n + wanted.slip * across;
    model.system.realize(state, Stage::Velocity);
    const Vec3 w = (wanted.slip == 0 ? Vec3(0) : random.vector(0.5)) + one.getBodyAngularVelocity(state);
    const Vec3 v = one.findStationVelocityInGround(state, one.findStationAtGroundPoint(state, where)) + relative +
                   w % (X_GB.p() - where);
    floats.setUToFitVelocity(state, ~floats.getInboardFrame(state).R() * SpatialVec(w, v));
    model.system.realize(state, Stage::Velocity);
}

Text bodyForces(const Model& model, const State& state) {
    const Vector_<SpatialVec>& forces = model.system.getRigidBodyForces(state, Stage::Dynamics);
    std::vector<Text> rows;
    for (int b = 0; b < forces.size(); ++b) rows.push_back(json(forces[b]));
    return list(rows);
}

Record stateRecord(const State& state, const Text& kind) {
    return Record().add("kind", kind.c_str()).add("q", state.getQ()).add("u", state.getU());
}

Record caseRecord(const Text& name, const Text& family, const Model& model, const std::vector<Surface>& surfaces) {
    std::vector<Text> written;
    for (const Surface& surface : surfaces) written.push_back(surface.record());
    Record record;
    record.add("name", name.c_str()).add("family", family.c_str()).text("bodies", list(model.records));
    return record.text("surfaces", list(written));
}

// ------------------------------------------------------------------------------------------------ CompliantContactSubsystem

// Which mesh, and which of its faces, a detail belongs to: the centroid on the line of the detail's normal.
void findFace(const Model& model, const State& state, const std::vector<Surface>& surfaces, const std::vector<int>& pair,
              const ContactDetail& detail, Record& record) {
    Real best = Infinity;
    int surface = -1, face = -1;
    for (int s : pair) {
        if (!surfaces[s].shape.isMesh) continue;
        const auto& geometry = ContactGeometry::TriangleMesh::getAs(surfaces[s].shape.geometry);
        const Transform X_GS = model.matter.getMobilizedBody(MobilizedBodyIndex(surfaces[s].body)).getBodyTransform(state) *
                               surfaces[s].X_BS;
        for (int f = 0; f < geometry.getNumFaces(); ++f) {
            const Vec3 r = X_GS * geometry.findCentroid(f) - detail.getContactPoint();
            const Real along = dot(r, detail.getContactNormal());
            const Real off = (r - along * detail.getContactNormal()).norm() +
                             std::max(Real(0), std::abs(along) - detail.getDeformation());
            if (off < best) best = off, surface = s, face = f;
        }
    }
    if (best > 1e-9) std::cerr << "a detail of no face, " << best << "\n";
    record.add("surface", surface).add("face", face);
}

Text contactRecords(const Model& model, const CompliantContactSubsystem& contacts, const ContactTrackerSubsystem& tracker,
                    const std::vector<Surface>& surfaces, const std::vector<int>& numbers, const State& state) {
    std::vector<Text> written;
    for (int i = 0; i < contacts.getNumContactForces(state); ++i) {
        const ContactForce& force = contacts.getContactForce(state, i);
        const Contact& contact = tracker.getActiveContacts(state).getContactById(force.getContactId());
        const int s1 = numbers[contact.getSurface1()], s2 = numbers[contact.getSurface2()];
        Record record;
        record.add("surface1", s1).add("surface2", s2);
        record.add("point", force.getContactPoint()).add("moment", force.getForceOnSurface2()[0]);
        record.add("force", force.getForceOnSurface2()[1]);
        record.add("potential_energy", force.getPotentialEnergy()).add("power_dissipation", force.getPowerDissipation());
        const Transform X_GS1 = model.matter.getMobilizedBody(MobilizedBodyIndex(surfaces[s1].body)).getBodyTransform(state) *
                                surfaces[s1].X_BS;
        if (CircularPointContact::isInstance(contact)) {
            const auto& circular = CircularPointContact::getAs(contact);
            record.add("depth", circular.getDepth()).add("radius", circular.getEffectiveRadius());
            record.add("normal", Vec3(X_GS1.R() * circular.getNormal()));
        } else if (EllipticalPointContact::isInstance(contact)) {
            const auto& elliptical = EllipticalPointContact::getAs(contact);
            record.add("depth", elliptical.getDepth()).add("curvatures", elliptical.getCurvatures());
            record.add("normal", Vec3(X_GS1.R() * elliptical.getContactFrame().z()));
        }
        ContactPatch patch;
        std::vector<Text> details;
        if (contacts.calcContactPatchDetailsById(state, force.getContactId(), patch)) {
            const bool faces = surfaces[s1].shape.isMesh || surfaces[s2].shape.isMesh;
            for (int k = 0; k < patch.getNumDetails(); ++k) {
                const ContactDetail& detail = patch.getContactDetail(k);
                Record one;
                if (faces) findFace(model, state, surfaces, {s1, s2}, detail, one);
                one.add("point", detail.getContactPoint()).add("normal", Vec3(detail.getContactNormal()));
                one.add("slip", detail.getSlipVelocity()).add("force", detail.getForceOnSurface2());
                one.add("depth", detail.getDeformation()).add("depth_rate", detail.getDeformationRate());
                if (faces) one.add("area", detail.getPatchArea());
                one.add("potential_energy", detail.getPotentialEnergy()).add("power_dissipation", detail.getPowerDissipation());
                details.push_back(one.done());
            }
        }
        written.push_back(record.text("details", list(details)).done());
    }
    return list(written);
}

struct Compliant {
    ContactTrackerSubsystem tracker;
    CompliantContactSubsystem contacts;
    explicit Compliant(MultibodySystem& system) : tracker(system), contacts(system, tracker) {}
};

void addSurface(Model& model, const Surface& surface) {
    const ContactSurface made(surface.shape.geometry, surface.material.simbodys(), surface.thickness);
    model.body(surface.body).updBody().addContactSurface(surface.X_BS, made);
}

// The numbers of Simbody's surfaces in our order: by X_BS, which are all different.
std::vector<int> numbersOf(const ContactTrackerSubsystem& tracker, const std::vector<Surface>& surfaces) {
    std::vector<int> numbers;
    for (int i = 0; i < tracker.getNumSurfaces(); ++i) {
        const Transform& X = tracker.getContactSurfaceTransform(ContactSurfaceIndex(i));
        for (int s = 0; s < int(surfaces.size()); ++s)
            if ((X.p() - surfaces[s].X_BS.p()).norm() < 1e-14) numbers.push_back(s);
    }
    return numbers;
}

Text compliant(const Text& name, const Text& kind1, const Text& kind2, bool onGround, Real most, int n, unsigned seed) {
    Random random(seed);
    const bool meshes = kind2 == "TriangleMesh";
    Model model(onGround ? 1 : 2, random);
    Compliant parts(model.system);
    const Real transition = random.power(0.005, 0.1);
    parts.contacts.setTransitionVelocity(transition);
    const std::vector<Surface> surfaces = {makeSurface(onGround ? 0 : 1, kind1, random),
                                           makeSurface(onGround ? 1 : 2, kind2, random)};
    for (const Surface& surface : surfaces) addSurface(model, surface);
    const State start = model.system.realizeTopology();
    const std::vector<int> numbers = numbersOf(parts.tracker, surfaces);
    std::vector<Text> states;
    for (int i = 0; i < n; ++i) {
        State state = start;
        const Wanted wanted = draw(i, most, random, meshes ? 0.4 : 0.05);
        place(model, state, surfaces[0], surfaces[1], wanted, random);
        model.system.realize(state, Stage::Acceleration);
        Record record = stateRecord(state, wanted.kind);
        record.text("body_forces", bodyForces(model, state));
        record.add("potential_energy", model.system.calcPotentialEnergy(state));
        record.text("contacts", contactRecords(model, parts.contacts, parts.tracker, surfaces, numbers, state));
        states.push_back(record.done());
    }
    Record record = caseRecord(name, "compliant", model, surfaces);
    return record.add("transition_velocity", transition).text("states", list(states)).done();
}

// Four bodies with seven surfaces above a half-space of Ground, some of them on one body: whatever touches.
Text crowd(unsigned seed) {
    Random random(seed);
    Model model(4, random);
    Compliant parts(model.system);
    const Real transition = random.power(0.005, 0.1);
    parts.contacts.setTransitionVelocity(transition);
    std::vector<Surface> surfaces = {makeSurface(0, "HalfSpace", random), makeSurface(1, "Sphere", random),
                                     makeSurface(1, "Ellipsoid", random), makeSurface(2, "Sphere", random),
                                     makeSurface(2, "Brick", random),     makeSurface(3, "Sphere", random),
                                     makeSurface(4, "Ellipsoid", random)};
    for (const Surface& surface : surfaces) addSurface(model, surface);
    const State start = model.system.realizeTopology();
    const std::vector<int> numbers = numbersOf(parts.tracker, surfaces);
    const Transform& X_GH = surfaces[0].X_BS;
    std::vector<Text> states;
    while (states.size() < 6) {
        State state = start;
        for (auto& body : model.bodies) {
            Vec3 p = random.vector(0.6);
            p[0] = -random.uniform(0.1, 0.9);
            const Rotation R = random.rotation();
            const Vec3 w = random.vector(0.5), v = random.vector(0.5);
            const Transform X_GB(R, X_GH * p);
            body.setQToFitTransform(state, ~body.getInboardFrame(state) * X_GB * body.getOutboardFrame(state));
            model.system.realize(state, Stage::Position);
            body.setUToFitVelocity(state, SpatialVec(w, v));
        }
        try {
            model.system.realize(state, Stage::Acceleration);
        } catch (const std::exception&) {
            continue;
        }
        if (parts.contacts.getNumContactForces(state) < 4) continue;
        // bricks touch half-spaces only; deep pairs, in which the least overlap is not unique, are not wanted
        bool shallow = true;
        for (int i = 0; i < parts.tracker.getActiveContacts(state).getNumContacts(); ++i) {
            const Contact& contact = parts.tracker.getActiveContacts(state).getContact(i);
            if (EllipticalPointContact::isInstance(contact))
                shallow = shallow && EllipticalPointContact::getAs(contact).getDepth() < 0.1;
            if (CircularPointContact::isInstance(contact))
                shallow = shallow && CircularPointContact::getAs(contact).getDepth() < 0.2;
            if (BrickHalfSpaceContact::isInstance(contact))
                shallow = shallow && BrickHalfSpaceContact::getAs(contact).getDepth() < 0.2;
        }
        if (!shallow) continue;
        Record record = stateRecord(state, "crowd");
        record.text("body_forces", bodyForces(model, state));
        record.add("potential_energy", model.system.calcPotentialEnergy(state));
        record.text("contacts", contactRecords(model, parts.contacts, parts.tracker, surfaces, numbers, state));
        states.push_back(record.done());
    }
    Record record = caseRecord("crowd", "compliant", model, surfaces);
    return record.add("transition_velocity", transition).text("states", list(states)).done();
}

// ------------------------------------------------------------------------------------------------ GeneralContactSubsystem

Text general(const Text& name, const Text& kind1, const Text& kind2, Real most, int n, unsigned seed) {
    Random random(seed);
    Model model(2, random);
    GeneralContactSubsystem general(model.system);
    const ContactSetIndex set = general.createContactSet();
    const std::vector<Surface> surfaces = {makeSurface(1, kind1, random), makeSurface(2, kind2, random)};
    const bool meshes = surfaces[0].shape.isMesh || surfaces[1].shape.isMesh;
    for (const Surface& surface : surfaces)
        general.addBody(set, model.body(surface.body), surface.shape.geometry, surface.X_BS);
    const Real transition = random.power(0.005, 0.1);
    if (meshes) {
        ElasticFoundationForce force(model.forces, general, set);
        force.setTransitionVelocity(transition);
        for (int i = 0; i < 2; ++i) {
            const Material& m = surfaces[i].material;
            if (surfaces[i].shape.isMesh)
                force.setBodyParameters(ContactSurfaceIndex(i), m.stiffness, m.dissipation, m.staticFriction,
                                        m.dynamicFriction, m.viscousFriction);
        }
    } else {
        HuntCrossleyForce force(model.forces, general, set);
        force.setTransitionVelocity(transition);
        for (int i = 0; i < 2; ++i) {
            const Material& m = surfaces[i].material;
            force.setBodyParameters(ContactSurfaceIndex(i), m.stiffness, m.dissipation, m.staticFriction, m.dynamicFriction,
                                    m.viscousFriction);
        }
    }
    const State start = model.system.realizeTopology();
    std::vector<Text> states;
    for (int i = 0; i < n; ++i) {
        State state = start;
        const Wanted wanted = draw(i, most, random, meshes ? 0.4 : 0.05);
        place(model, state, surfaces[0], surfaces[1], wanted, random);
        model.system.realize(state, Stage::Acceleration);
        Record record = stateRecord(state, wanted.kind);
        record.text("body_forces", bodyForces(model, state));
        record.add("potential_energy", model.system.calcPotentialEnergy(state));
        std::vector<Text> found;
        for (const Contact& contact : general.getContacts(state, set)) {
            Record one;
            one.add("surface1", int(contact.getSurface1())).add("surface2", int(contact.getSurface2()));
            if (PointContact::isInstance(contact)) {
                const auto& point = static_cast<const PointContact&>(contact);
                one.add("depth", point.getDepth()).add("normal", point.getNormal()).add("location", point.getLocation());
                one.add("radius", point.getEffectiveRadiusOfCurvature());
            } else if (TriangleMeshContact::isInstance(contact)) {
                const auto& faces = TriangleMeshContact::getAs(contact);
                std::vector<Text> first, second;
                for (int f : faces.getSurface1Faces()) first.push_back(json(f));
                for (int f : faces.getSurface2Faces()) second.push_back(json(f));
                one.text("faces1", list(first)).text("faces2", list(second));
            }
            found.push_back(one.done());
        }
        states.push_back(record.text("contacts", list(found)).done());
    }
    Record record = caseRecord(name, meshes ? "elastic_foundation" : "hunt_crossley", model, surfaces);
    return record.add("transition_velocity", transition).text("states", list(states)).done();
}

// ------------------------------------------------------------------------------------------------ SmoothSphereHalfSpaceForce

Text smooth(const Text& name, bool onGround, bool usual, int n, unsigned seed) {
    Random random(seed);
    Model model(onGround ? 1 : 2, random);
    const std::vector<Surface> surfaces = {makeSurface(onGround ? 0 : 1, "HalfSpace", random),
                                           makeSurface(onGround ? 1 : 2, "Sphere", random)};
    const Material material(random);
    const Real transition = usual ? 0.01 : random.power(0.005, 0.1), cf = usual ? 1e-5 : random.power(1e-7, 1e-4);
    const Real bd = usual ? 300 : random.uniform(100, 500), bv = usual ? 50 : random.uniform(20, 80);
    SmoothSphereHalfSpaceForce force(model.forces);
    force.setParameters(material.stiffness, material.dissipation, material.staticFriction, material.dynamicFriction,
                        material.viscousFriction, transition, cf, bd, bv);
    force.setContactSphereBody(model.body(surfaces[1].body));
    force.setContactSphereLocationInBody(surfaces[1].X_BS.p());
    force.setContactSphereRadius(surfaces[1].shape.size);
    force.setContactHalfSpaceBody(model.body(surfaces[0].body));
    force.setContactHalfSpaceFrame(surfaces[0].X_BS);
    const State start = model.system.realizeTopology();
    std::vector<Text> states;
    for (int i = 0; i < n; ++i) {
        State state = start;
        const Wanted wanted = draw(i, i % 2 ? 0.01 : 0.05, random);
        place(model, state, surfaces[0], surfaces[1], wanted, random);
        model.system.realize(state, Stage::Acceleration);
        Record record = stateRecord(state, wanted.kind);
        record.text("body_forces", bodyForces(model, state));
        states.push_back(record.add("potential_energy", model.system.calcPotentialEnergy(state)).done());
    }
    Record record = caseRecord(name, "smooth", model, surfaces);
    record.text("material", material.record()).add("transition_velocity", transition);
    record.add("constant_contact_force", cf).add("hertz_smoothing", bd).add("hunt_crossley_smoothing", bv);
    return record.text("states", list(states)).done();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::cerr << "usage: generate_contact OUTPUT_FILE\n";
        return 2;
    }
    std::vector<Text> cases;
    struct Pair {
        const char *name, *kind1, *kind2;
        Real most;
    };
    const Pair pairs[] = {
        {"half_space_sphere", "HalfSpace", "Sphere", 0.05},
        {"half_space_ellipsoid", "HalfSpace", "Ellipsoid", 0.05},
        {"half_space_brick", "HalfSpace", "Brick", 0.1},
        {"half_space_mesh", "HalfSpace", "TriangleMesh", 0.8},
        {"sphere_sphere", "Sphere", "Sphere", 0.05},
        {"sphere_ellipsoid", "Sphere", "Ellipsoid", 0.05},
        {"ellipsoid_ellipsoid", "Ellipsoid", "Ellipsoid", 0.05},
        {"sphere_mesh", "Sphere", "TriangleMesh", 0.8},
        {"mesh_mesh", "TriangleMesh", "TriangleMesh", 1},
    };
    unsigned seed = argc == 3 ? 1000 * unsigned(std::atoi(argv[2])) : 1;
    for (const Pair& pair : pairs) {
        const bool meshes = Text(pair.kind2) == "TriangleMesh";
        const int n = meshes ? 6 : 18;
        if (Text(pair.kind1) == "HalfSpace")
            cases.push_back(compliant(pair.name + Text("_on_ground"), pair.kind1, pair.kind2, true, pair.most, n, seed++));
        cases.push_back(compliant(pair.name, pair.kind1, pair.kind2, false, pair.most, n, seed++));
        if (!meshes) cases.push_back(compliant(pair.name + Text("_again"), pair.kind1, pair.kind2, false, pair.most, n, seed++));
    }
    cases.push_back(crowd(seed++));
    for (const Pair& pair : pairs)
        if (Text(pair.kind2) != "Brick")
            cases.push_back(general(Text("general_") + pair.name, pair.kind1, pair.kind2, pair.most,
                                    Text(pair.kind2) == "TriangleMesh" ? 6 : 18, seed++));
    cases.push_back(smooth("smooth_on_ground", true, true, 18, seed++));
    cases.push_back(smooth("smooth", false, true, 18, seed++));
    cases.push_back(smooth("smooth_of_other_numbers", false, false, 18, seed++));
    std::ofstream out(argv[1]);
    out << "{\"format\":1,\"source\":\"Simbody 3.7\",\"cases\":[\n";
    for (std::size_t i = 0; i < cases.size(); ++i) out << (i ? ",\n" : "") << cases[i];
    out << "\n]}\n";
    return out ? 0 : 1;
}
