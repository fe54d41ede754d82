/*
 * The site of a deployment: its devices and the links between them. Read from AutoDiCE's platform.txt in both forms
 * ("nodeA, arm, slots=0-5, gpu=NVIDIAVolta (CUDA)", bare names) or from JSON (docs/formats.md), which also has hosts,
 * targets and links.
 */
#ifndef PLANNER_DEPLOY_SITE_H
#define PLANNER_DEPLOY_SITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { IG_LINK_ALPHA_NS = 50000, IG_LINK_BETA_NS = 8 }; /* of a link that nobody measured: gigabit Ethernet */

struct ig_device {
    char *name;
    char *host;      /* where mpirun starts it; the name itself if nothing else is said */
    char *target;    /* of configure: host, aarch64, tx2, xavier */
    int32_t n_cores; /* 0: not told */
    char *gpu;       /* "NVIDIAVolta (CUDA)"; NULL: none */
    char *platform;  /* platforms/NAME.json or a path; NULL: the target's */
    double memory_bytes; /* 0: not told */
    char *machine;   /* whose memory it has with others of that machine; NULL: one of its own */
};

struct ig_link {     /* from one device to another, ns = alpha + beta * bytes */
    int32_t from, to; /* -1: any other device */
    double alpha_ns, beta_ns; /* beta: of a byte */
    double send_alpha_ns, send_beta_ns;       /* of those, what the sender's core loses of other work; 0: not told */
    double receive_alpha_ns, receive_beta_ns; /* ... and the receiver's */
};

struct ig_site {
    struct ig_device *devices;
    struct ig_link *links; /* a named pair goes before "any" */
    int32_t n_devices, n_links;
};

/* NULL with a line in err that names file, line or key. */
struct ig_site *ig_site_read(const char *path, char *err, size_t err_bytes);
void ig_site_free(struct ig_site *s);
int32_t ig_site_find(const struct ig_site *s, const char *device); /* -1: none */
/* Do two devices have one memory? -1: a device that the site lacks, which has its own. */
int ig_site_same_machine(const struct ig_site *s, int32_t a, int32_t b);
/* The site as JSON, whatever form it was read from. */
void ig_site_write(FILE *f, const struct ig_site *s);
/*
 * ns that so many bytes take; 0 between parts of one device unless a link says otherwise. A link of that pair goes first,
 * then the same pair's the other way round, then from that device to any, from any to that device, from any to any. Where
 * none is told - s is NULL, or has none that fits - it is IG_LINK_ALPHA_NS and IG_LINK_BETA_NS.
 */
double ig_link_ns(const struct ig_site *s, int32_t from, int32_t to, int64_t bytes);
enum ig_link_end { IG_LINK_SENDS = 0, IG_LINK_RECEIVES };
/* ns that a core at that end of the same link loses over such a message; 0 where nobody has measured. */
double ig_link_host_ns(const struct ig_site *s, int32_t from, int32_t to, int64_t bytes, enum ig_link_end end);

#endif
