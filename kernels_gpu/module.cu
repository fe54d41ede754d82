/* All kernels as one module, which is what a program loads. */
#include "kernels_gpu/cuda/conv.cu"
#include "kernels_gpu/cuda/depthwise.cu"
#include "kernels_gpu/cuda/fc.cu"
#include "kernels_gpu/cuda/map.cu"
#include "kernels_gpu/cuda/pool.cu"
#include "kernels_gpu/cuda/resize.cu"
#include "kernels_gpu/cuda/softmax.cu"
#include "kernels_gpu/cuda/transpose.cu"
