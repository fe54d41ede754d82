/* --input-spec of the verbs. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

void ig_input_spec(const char *argument, const struct ig_graph *g, struct ig_host_ops *o)
{
    char text[4096], err[512];
    const struct ig_shape *in = g->n_inputs ? &g->values[g->inputs[0]].shape : NULL,
                          *out = g->n_outputs ? &g->values[g->outputs[0]].shape : NULL;
    FILE *f = fopen(argument, "r");
    if (f) {
        size_t n = fread(text, 1, sizeof text - 1, f);
        if (ferror(f)) ig_fatal("%s: %s", argument, strerror(errno));
        if (n == sizeof text - 1) ig_fatal("%s: too long for an input spec", argument);
        text[n] = 0;
        fclose(f);
        argument = text;
    } else if (!strpbrk(argument, "={")) {
        ig_fatal("--input-spec=%s: %s; a file, or text such as resize=256,crop=224,scale=1/255", argument,
                 strerror(errno));
    }
    const struct ig_shape *outputs[2];
    int32_t n = 0;
    for (; n < g->n_outputs && n < 2; n++) outputs[n] = &g->values[g->outputs[n]].shape;
    if (ig_host_ops_parse(argument, o, err, sizeof err) || ig_host_ops_fit(o, in, out, err, sizeof err) ||
        ig_host_ops_fit_boxes(o, outputs, n, err, sizeof err))
        ig_fatal("%s", err);
}
