/* The files that others read of a deployment: who sends what to whom, on which cores each rank runs. AutoDiCE's formats. */
#ifndef PLANNER_DEPLOY_PACKAGE_H
#define PLANNER_DEPLOY_PACKAGE_H

#include <stdio.h>

#include "planner/deploy/mapping.h"
#include "planner/deploy/site.h"

/* sender.json and receiver.json of the mapping, by layer names; each is the transpose of the other. */
void ig_write_sender(FILE *f, const struct ig_layers *l, const struct ig_mapping *m);
void ig_write_receiver(FILE *f, const struct ig_layers *l, const struct ig_mapping *m);
/* "rank 0=nodeA    slots=1,2,3", one line a key; hosts of the site, or the devices' names where it is NULL. */
void ig_write_rankfile(FILE *f, const struct ig_mapping *m, const struct ig_site *s);
void ig_write_hostfile(FILE *f, const struct ig_mapping *m, const struct ig_site *s);
/* mpirun's --app file: "-np 1 ./nodeA_arm123" a line. */
void ig_write_appfile(FILE *f, const struct ig_mapping *m);

#endif
