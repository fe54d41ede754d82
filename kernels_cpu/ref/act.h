/* Activations in double: the epilogue of the reference kernels and the fusable part of IG_UNARY. */
#ifndef KERNELS_CPU_REF_ACT_H
#define KERNELS_CPU_REF_ACT_H

#include <math.h>

#include "graph/op.h"

/* min(max(x, lo), hi), as ONNX's Clip: hi wins where lo > hi; NaN stays. */
static inline double ig_ref_clamp(double x, double lo, double hi)
{
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

static inline double ig_ref_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* ln(1 + e^x) without overflow. */
static inline double ig_ref_softplus(double x)
{
    return x > 0 ? x + log(1 + exp(-x)) : log(1 + exp(x));
}

static inline double ig_ref_gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286535588 /* sqrt(2/pi) */ * (x + 0.044715 * x * x * x)));
}

/* Kinds below IG_FUSABLE; others return x. */
static inline double ig_ref_act(const struct ig_act *act, double x)
{
    double a = act->alpha, b = act->beta;
    switch (act->kind) {
    case IG_RELU: return x < 0 ? 0 : x;
    case IG_CLIP: return ig_ref_clamp(x, a, b);
    case IG_LEAKY_RELU: return x < 0 ? a * x : x;
    case IG_SIGMOID: return ig_ref_sigmoid(x);
    case IG_TANH: return tanh(x);
    case IG_HARD_SIGMOID: return ig_ref_clamp(a * x + b, 0, 1);
    case IG_HARD_SWISH: return x * ig_ref_clamp(x / 6 + 0.5, 0, 1);
    case IG_SWISH: return x * ig_ref_sigmoid(a * x);
    case IG_ELU: return x < 0 ? a * (exp(x) - 1) : x;
    case IG_MISH: return x * tanh(ig_ref_softplus(x));
    case IG_SOFTPLUS: return ig_ref_softplus(x);
    case IG_GELU: return 0.5 * x * (1 + erf(x * 0.70710678118654752440 /* 1/sqrt(2) */));
    case IG_GELU_TANH: return ig_ref_gelu_tanh(x);
    default: return x;
    }
}

#endif
