/* --precision=int8 of ingot graph: a float network in 8 bits. */
#ifndef CLI_QUANTISE_H
#define CLI_QUANTISE_H

#include "cli/cli.h"

/*
 * The imported graph g, of the file `path`, in 8 bits: QUANTIZE and DEQUANTIZE around its tensors, whose ranges are such that
 * the squares of the errors are least over the samples, and around its weights, a scale for each output. Fatal on error.
 */
void ig_quantise_graph(struct ig_graph *g, const char *path, const struct ig_quantise_options *o);
/* o's files, those of its folder, by name; and the function above is what it runs. Fatal where there are none. */
void ig_take_samples(struct ig_quantise_options *o);

#endif
