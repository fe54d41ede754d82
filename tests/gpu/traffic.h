/* Parameters of the kernels in traffic.cu. */
#ifndef TESTS_GPU_TRAFFIC_H
#define TESTS_GPU_TRAFFIC_H

struct traffic_params {
    const float *in;
    float *out;
    int apart, share; /* lane i is at (i / share) * apart */
    int lanes;        /* that take part */
};

#endif
