// Simbody's Assembler tracking markers, on a model and frames written by benchmarks/tracking.py.
//
//     tracking FILE ACCURACY        microseconds a frame, and the mean goal of all frames

#include <Simbody.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace SimTK;

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::ifstream in(argv[1]);
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    int numBodies, numMarkers, numFrames;
    in >> numBodies;
    const Body::Rigid body(MassProperties(1, Vec3(0), UnitInertia(1)));
    for (int i = 0; i < numBodies; ++i) {
        int parentIndex;
        std::string kind;
        Vec3 p, c;
        in >> parentIndex >> kind >> p[0] >> p[1] >> p[2] >> c[0] >> c[1] >> c[2];
        MobilizedBody& parent = matter.updMobilizedBody(MobilizedBodyIndex(parentIndex));
        if (kind == "Free") MobilizedBody::Free(parent, p, body, c);
        else MobilizedBody::Ball(parent, p, body, c);
    }
    Markers& markers = *new Markers();
    in >> numMarkers;
    for (int i = 0; i < numMarkers; ++i) {
        int b;
        Vec3 p;
        in >> b >> p[0] >> p[1] >> p[2];
        markers.addMarker(MobilizedBodyIndex(b), p);
    }
    in >> numFrames;
    std::vector<Array_<Vec3>> frames(numFrames, Array_<Vec3>(numMarkers));
    for (auto& frame : frames)
        for (Vec3& p : frame) in >> p[0] >> p[1] >> p[2];
    State state = system.realizeTopology();
    Assembler assembler(system);
    assembler.setAccuracy(std::stod(argv[2]));
    assembler.adoptAssemblyGoal(&markers);
    assembler.initialize(state);
    markers.moveAllObservations(frames[0]);
    assembler.assemble();
    Real goal = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const auto& frame : frames) {
        markers.moveAllObservations(frame);
        goal += assembler.track();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    std::printf("%.17g %.17g\n", 1e6 * taken.count() / numFrames, goal / numFrames);
}
