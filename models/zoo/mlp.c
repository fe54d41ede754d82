/*
 * "Deep, big, simple neural nets for handwritten digit recognition" (Ciresan et al., Neural Computation
 * 2010), the largest of Table 1. Activation: 1.7159 tanh(0.6666 x), as in section 2.2 there.
 */
#include "models/zoo/nets.h"

void zoo_mlp(struct zoo *z, struct zoo_value x)
{
    static const int32_t units[] = {2500, 2000, 1500, 1000, 500};
    for (int i = 0; i < 5; i++) {
        x = zoo_linear(z, zoo_format(z, "layers.%d", i), x, units[i]);
        x = zoo_scale(z, zoo_format(z, "act%d.inner", i), x, 0.6666f);
        x = zoo_tanh(z, zoo_format(z, "act%d", i), x);
        x = zoo_scale(z, zoo_format(z, "act%d.outer", i), x, 1.7159f);
    }
    x = zoo_linear(z, "layers.5", x, 10);
    zoo_output(z, zoo_softmax(z, "softmax", x), "output");
}
