/*
 * Fleets of deployments: what deploy.json says (docs/formats.md) as the ranks, parts, buffers and messages of a replay.
 *
 *   "ranks":[{"device":"nodeA","key":"nodeA_cpu0"}, ..]
 *   "parts":[{"beside_ms":22,"demand":0.8,"in":["data"],"out":["c1_r"],"rank":0,"time_ms":20}, ..]
 *   "tensors":[{"bytes":4096,"copies":2,"output":false,"rank":0,"tensor":"c1_r"}, ..]
 *   "links":[{"from":0,"tensor":"c1_r","to":1}, ..]
 *
 * A rank's tensor is made by its part that has it among "out", else it comes over the link to there, else from the user.
 */
#ifndef PLANNER_DEPLOY_FLEET_H
#define PLANNER_DEPLOY_FLEET_H

#include "planner/deploy/replay.h"
#include "planner/deploy/site.h"

#define IG_DEPLOY_FORMAT "ingot-deploy"

/* NULL with a line in err. What else is in the file is not looked at. Messages take no time yet. */
struct ig_fleet *ig_fleet_read(const char *path, char *err, size_t err_bytes);
void ig_fleet_free(struct ig_fleet *f); /* of one that was read */
/* Of one that was read: what its messages take by the site's links, which devices share a memory; those that the site
 * lacks have the links of "any" and machines of their own. */
void ig_fleet_link(struct ig_fleet *f, const struct ig_site *s);
/* ... by the same link between any two devices. */
void ig_fleet_link_all(struct ig_fleet *f, double alpha_ns, double beta_ns);
/* ... so many copies of every buffer. */
void ig_fleet_copies(struct ig_fleet *f, int32_t copies);

#endif
