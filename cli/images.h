/* --image of ingot gen and ingot deploy: where the build puts what nvcc makes for a GPU. */
#ifndef CLI_IMAGES_H
#define CLI_IMAGES_H

#include "gen/emit.h"

/*
 * Adds "62,72=FILE" or "ptx62=FILE" to the *n images, of which there may be IG_EMIT_IMAGES; bare: "62,72" and "ptx62" alone,
 * too, without a path. `text` is cut, and has to stay. Fatal where it is nothing of that.
 */
void ig_image_option(struct ig_emit_image *images, int32_t *n, char *text, int bare);

#endif
