/* The script that starts the programs of a deployment: gen/launch.sh, as text. */
#ifndef GEN_LAUNCH_H
#define GEN_LAUNCH_H

#include <stdio.h>

/* The file is to be executable. */
void ig_emit_launch(FILE *f);

#endif
