/* Groups of layers that many networks share. */
#include "models/zoo/build.h"

struct zoo_value zoo_conv_norm(struct zoo *z, const char *path, struct zoo_names names, struct zoo_value x,
                               struct zoo_layer l, float epsilon)
{
    x = zoo_conv(z, zoo_format(z, "%s.%s", path, names.conv), x, l);
    x = zoo_batch_norm(z, zoo_format(z, "%s.%s", path, names.norm), x, epsilon);
    return names.relu ? zoo_relu(z, zoo_format(z, "%s.%s", path, names.relu), x) : x;
}

void zoo_classifier(struct zoo *z, const char *path, struct zoo_value x, int32_t classes)
{
    x = zoo_global_pool(z, "avgpool", x);
    x = zoo_flatten(z, "flatten", x);
    zoo_output(z, zoo_linear(z, path, x, classes), "output");
}
