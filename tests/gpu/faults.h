/* Parameters of the kernels in faults.cu. */
#ifndef TESTS_GPU_FAULTS_H
#define TESTS_GPU_FAULTS_H

struct fault_params {
    const float *in; /* 128 */
    float *out;      /* 128 */
    int at;
};

#endif
