/* MuJoCo on a compiled model: qacc, and what it costs; and simulations.

       mujoco MODEL.mjb STATE REPEATS SECONDS FULL
       mujoco MODEL.mjb STATE REPEATS TIME STEPS SAMPLES

   STATE is a text file, "nq q... nv v...". FULL 1 calls mj_forward; 0 calls only the stages that
   qacc needs without actuators, contacts, constraints, passive forces and sensors. The second form
   takes STEPS steps of RK4, and tells the energy at the beginning and at SAMPLES even times of a
   run that is not timed; SAMPLES divides STEPS. */

#include <mujoco/mujoco.h>
#include <stdlib.h>

#include "loop.h"

typedef struct {
    mjModel* m;
    mjData* d;
    int full;
} Problem;

static void forward_dynamics(Problem* p) {
    const mjModel* m = p->m;
    mjData* d = p->d;
    if (p->full) {
        mj_forward(m, d);
        return;
    }
    mj_kinematics(m, d);
    mj_comPos(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    mj_comVel(m, d);
    mj_rne(m, d, 0, d->qfrc_bias);
    for (int i = 0; i < (int)m->nv; ++i) d->qfrc_smooth[i] = -d->qfrc_bias[i];
    mj_solveM(m, d, d->qacc, d->qfrc_smooth, 1);
}

static void step(void* context, int i) {
    Problem* p = (Problem*)context;
    const double change = i % 2 ? 1e-7 : -1e-7; /* a new q and a new v every time */
    p->d->qpos[0] += change;
    p->d->qvel[0] += change;
    forward_dynamics(p);
}

static int read_numbers(FILE* file, double* values, int expected) {
    int n = 0;
    if (fscanf(file, "%d", &n) != 1 || n != expected) return 0;
    for (int i = 0; i < n; ++i)
        if (fscanf(file, "%lf", values + i) != 1) return 0;
    return 1;
}

static double energy(const mjModel* m, mjData* d) {
    mj_forward(m, d);
    mj_energyPos(m, d);
    mj_energyVel(m, d);
    return d->energy[0] + d->energy[1];
}

static int simulate(Problem* p, int repeats, double time, int steps, int samples) {
    const mjModel* m = p->m;
    mjData* first = mj_copyData(NULL, m, p->d);
    double* seconds = (double*)malloc(repeats * sizeof(double));
    double* energies = (double*)malloc((samples + 1) * sizeof(double));
    p->m->opt.integrator = mjINT_RK4;
    p->m->opt.timestep = time / steps;
    for (int r = 0; r < repeats; ++r) {
        mj_copyData(p->d, m, first);
        const double start = now();
        for (int i = 0; i < steps; ++i) mj_step(m, p->d);
        seconds[r] = 1e-6 * (now() - start);
    }
    mj_copyData(p->d, m, first);
    energies[0] = energy(m, p->d);
    for (int s = 1; s <= samples; ++s) {
        for (int i = 0; i < steps / samples; ++i) mj_step(m, p->d);
        energies[s] = energy(m, p->d);
    }
    printf("{");
    print_list("seconds", seconds, repeats, ", ");
    print_list("energies", energies, samples + 1, "}\n");
    return 0;
}

int main(int argc, char** argv) {
    Problem p;
    if (argc != 6 && argc != 7) return fprintf(stderr, "see the head of the source for the arguments\n"), 1;
    p.m = mj_loadModel(argv[1], NULL);
    p.d = p.m ? mj_makeData(p.m) : NULL;
    FILE* file = fopen(argv[2], "r");
    if (!p.d || !file || !read_numbers(file, p.d->qpos, (int)p.m->nq) ||
        !read_numbers(file, p.d->qvel, (int)p.m->nv))
        return fprintf(stderr, "cannot read %s and %s\n", argv[1], argv[2]), 1;
    const int repeats = atoi(argv[3]);
    if (argc == 7) return simulate(&p, repeats, atof(argv[4]), atoi(argv[5]), atoi(argv[6]));
    p.full = atoi(argv[5]);
    forward_dynamics(&p);
    printf("{");
    print_list("qacc", p.d->qacc, (int)p.m->nv, ", ");
    double* microseconds = (double*)malloc(repeats * sizeof(double));
    time_loop(step, &p, repeats, atof(argv[4]), microseconds);
    print_list("microseconds", microseconds, repeats, "}\n");
    return 0;
}
