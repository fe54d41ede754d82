/* What `ingot plan --deploy` found: deployments of one network over the devices of a site. */
#ifndef CLI_EXPLORE_H
#define CLI_EXPLORE_H

#include <stdio.h>

#include "graph/layers.h"
#include "planner/deploy/explore_rows.h"
#include "planner/deploy/site.h"

enum { IG_EXPLORE_RESOURCE_BYTES = 32 };

struct ig_source_options;

struct ig_exploration {
    const struct ig_graph *g;
    const struct ig_layers *layers; /* of the ONNX file; NULL: it was a graph.json, whose nodes are the layers */
    const char *model, *platform;   /* as given */
    const struct ig_source_options *source;
    const struct ig_site *site;
    const int32_t *kind_of;         /* [n_devices of the site] index into boards; -1: not used */
    struct ig_explore_net *e;
    struct ig_ranges *r;
    struct ig_explore_front front;
    int32_t chosen;                 /* of the front; -1: none keeps the limits */
    int32_t powers;                 /* 1: powers are known */
    const struct ig_explore_split *split; /* [nodes]; NULL: no stage has several devices */
};

/* The verb `ingot plan` where --deploy is among its options: exit status. */
int ig_explore_main(int argc, char **argv);

/* "3/18/0": devices, cores, GPUs; then what it takes and gives. The best ones for each number of devices, or all. */
void ig_explore_table(FILE *f, const struct ig_exploration *x, int all);
/* The stages of one point, a line each. */
void ig_explore_put_stages(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p);
/* The front as data, and as a picture: memory of the fullest device against frames a second. */
void ig_explore_json(FILE *f, const struct ig_exploration *x);
void ig_explore_svg(FILE *f, const struct ig_exploration *x);
/* mapping.json of one point. */
void ig_explore_mapping(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p);
/* The key of one of its stages, "node2_arm012345": of its group's device of that number. */
void ig_explore_key(const struct ig_exploration *x, const struct ig_explore_point *p, int32_t stage, int32_t member,
                    char key[128]);
/* horizontal.json of a point that has_groups. */
void ig_explore_horizontal(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p);
int ig_explore_has_groups(const struct ig_explore_point *p);

#endif
