// Pinocchio on a model written by benchmarks/peers/engine.py: udot, and what it costs.
//
//     pinocchio FILE REPEATS SECONDS CONVENTION
//
// q and v in the file are Pinocchio's own; CONVENTION is world or local, the two forms of its
// articulated-body algorithm, or closed: its constrained dynamics, for models with ties, which are
// contacts in three dimensions between two joints. As its documentation has it, memory is allocated
// beforehand, and mu is 0 unless equations may be redundant. Nothing but headers: no library is linked whose ABI the compiler's flags
// could break.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>

#include "loop.h"

namespace pin = pinocchio;

namespace {

struct Problem {
    pin::Model model;
    pin::Data data;
    Eigen::VectorXd q, v, tau;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintModel) ties;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintData) tie_data;
    pin::ProximalSettings settings{1e-12, 0, 1};
};

pin::SE3 readTransform(std::istream& in) {
    pin::SE3::Matrix3 R;
    pin::SE3::Vector3 p;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) in >> R(i, j);
    in >> p[0] >> p[1] >> p[2];
    return pin::SE3(R, p);
}

pin::JointModel joint(const std::string& kind) {
    if (kind == "pin") return pin::JointModelRZ();
    if (kind == "slider") return pin::JointModelPX();
    if (kind == "ball") return pin::JointModelSpherical();
    if (kind == "free") return pin::JointModelFreeFlyer();
    throw std::runtime_error("unknown kind " + kind);
}

// The joint that carries a body, and the body's frame in the joint's.
struct Placed {
    pin::JointIndex joint;
    pin::SE3 X_MB;
};

void readBody(std::istream& in, pin::Model& model, std::vector<Placed>& placed) {
    int parent;
    std::string kind;
    in >> parent >> kind;
    const pin::SE3 X_PF = readTransform(in), X_BM = readTransform(in);
    double mass, xx, yy, zz, xy, xz, yz;
    pin::SE3::Vector3 com;
    in >> mass >> com[0] >> com[1] >> com[2] >> xx >> yy >> zz >> xy >> xz >> yz;
    pin::SE3::Matrix3 J;
    J << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    J -= mass * (com.squaredNorm() * pin::SE3::Matrix3::Identity() - com * com.transpose());
    const pin::Inertia inertia(mass, com, J);
    const pin::SE3 X_MpF = placed[parent].X_MB * X_PF;
    Placed body{placed[parent].joint, X_MpF * X_BM.inverse()};
    if (kind != "weld") {
        const auto name = "joint" + std::to_string(model.njoints);
        body = {model.addJoint(placed[parent].joint, joint(kind), X_MpF, name), X_BM.inverse()};
    }
    model.appendBodyToJoint(body.joint, inertia, body.X_MB);
    placed.push_back(body);
}

Eigen::VectorXd readVector(std::istream& in) {
    int n;
    in >> n;
    Eigen::VectorXd values(n);
    for (int i = 0; i < n; ++i) in >> values[i];
    return values;
}

void readTie(std::istream& in, Problem& p, const std::vector<Placed>& placed) {
    pin::SE3 X[2];
    pin::JointIndex joints[2];
    for (int i = 0; i < 2; ++i) {
        int body;
        pin::SE3::Vector3 station;
        in >> body >> station[0] >> station[1] >> station[2];
        joints[i] = placed[body].joint;
        X[i] = placed[body].X_MB * pin::SE3(pin::SE3::Matrix3::Identity(), station);
    }
    p.ties.emplace_back(pin::CONTACT_3D, p.model, joints[0], X[0], joints[1], X[1], pin::LOCAL);
}

Problem read(const char* path) {
    std::ifstream in(path);
    Problem p;
    std::vector<Placed> placed{{0, pin::SE3::Identity()}};
    for (std::string word; in >> word && word != "end";) {
        if (word == "gravity") {
            pin::SE3::Vector3 g;
            in >> g[0] >> g[1] >> g[2];
            p.model.gravity.linear(g);
        } else if (word == "body") readBody(in, p.model, placed);
        else if (word == "tie") readTie(in, p, placed);
        else if (word == "redundant") p.settings = pin::ProximalSettings(1e-10, 1e-10, 10);
        else if (word == "q") p.q = readVector(in);
        else if (word == "u") p.v = readVector(in);
    }
    p.data = pin::Data(p.model);
    p.tau = Eigen::VectorXd::Zero(p.model.nv);
    for (const auto& tie : p.ties) p.tie_data.emplace_back(tie);
    if (!p.ties.empty()) pin::initConstraintDynamics(p.model, p.data, p.ties, p.tie_data);
    return p;
}

template <pin::Convention convention>
void forwardDynamics(void* context, int i) {
    Problem& p = *static_cast<Problem*>(context);
    const double change = i % 2 ? 1e-7 : -1e-7;  // a new q and a new v every time
    p.q[0] += change;
    p.v[0] += change;
    pin::aba(p.model, p.data, p.q, p.v, p.tau, convention);
}

void constrainedDynamics(void* context, int i) {
    Problem& p = *static_cast<Problem*>(context);
    const double change = i % 2 ? 1e-7 : -1e-7;
    p.q[0] += change;
    p.v[0] += change;
    pin::constraintDynamics(p.model, p.data, p.q, p.v, p.tau, p.ties, p.tie_data, p.settings);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 5) throw std::runtime_error("see the head of the source for the arguments");
        Problem p = read(argv[1]);
        const bool world = std::string(argv[4]) == "world", closed = std::string(argv[4]) == "closed";
        const int repeats = std::atoi(argv[2]);
        const auto convention = world ? pin::Convention::WORLD : pin::Convention::LOCAL;
        const Eigen::VectorXd a =
            closed ? pin::constraintDynamics(p.model, p.data, p.q, p.v, p.tau, p.ties, p.tie_data, p.settings)
                   : pin::aba(p.model, p.data, p.q, p.v, p.tau, convention);
        std::vector<double> microseconds(repeats);
        time_loop(closed  ? constrainedDynamics
                  : world ? forwardDynamics<pin::Convention::WORLD>
                          : forwardDynamics<pin::Convention::LOCAL>,
                  &p, repeats, std::atof(argv[3]), microseconds.data());
        std::printf("{");
        print_list("udot", a.data(), (int)a.size(), ", ");
        print_list("microseconds", microseconds.data(), repeats, "}\n");
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
    return 0;
}
