#include "gen/launch.h"

static const char text[] =
#include "gen/launch.inc"
    ;

void ig_emit_launch(FILE *f)
{
    fputs(text, f);
}
