#include "cli/images.h"

#include <string.h>

#include "cli/cli.h"

static int has_ptx(const struct ig_emit_image *images, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (ig_emit_is_ptx(&images[i])) return 1;
    return 0;
}

void ig_image_option(struct ig_emit_image *images, int32_t *n, char *text, int bare)
{
    int ptx = !strncmp(text, "ptx", 3);
    const char *chips = ptx ? text + 3 : text;
    size_t length = strspn(chips, ptx ? "0123456789" : "0123456789,");
    char *sign = text + (chips - text) + length;
    if (!length || (*sign && *sign != '=') || (*sign ? !sign[1] : !bare))
        ig_fatal("--image takes chips%s such as 62,72=net.fatbin, or one of PTX such as ptx62=net.ptx, not '%s'",
                 bare ? ", or chips and a file" : " and a file", text);
    if (ptx && has_ptx(images, *n)) ig_fatal("--image takes PTX once, not '%s', too", text);
    if (*n == IG_EMIT_IMAGES) ig_fatal("more than %d of --image", IG_EMIT_IMAGES);
    images[(*n)++] = (struct ig_emit_image){text, *sign ? sign + 1 : NULL};
    *sign = 0;
}
