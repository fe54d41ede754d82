/* Parameters of the kernels in traffic.cu. */
#ifndef TESTS_GPU_TRAFFIC_H
#define TESTS_GPU_TRAFFIC_H

enum { OF_BLOCK = 64 /* words of out that a block may write */ };

struct traffic_params {
    const float *in;
    float *out;
    int apart, share; /* lane i is at (i / share) * apart */
    int lanes;        /* that take part */
};

#endif
