/* Inside the site's files: the readers of its forms. */
#ifndef PLANNER_DEPLOY_SITE_READ_H
#define PLANNER_DEPLOY_SITE_READ_H

#include "planner/deploy/site.h"

#define IG_SITE_FORMAT "ingot-site"
enum { IG_SITE_DEVICES = 4096, IG_SITE_LINKS = 1 << 20, IG_SITE_CORES = 1024, IG_NAME_BYTES = 200 };

/* bytes: without the zero at the text's end */
struct ig_site *ig_site_parse_json(const char *text, size_t bytes, const char *path, char *err, size_t err_bytes);
struct ig_site *ig_site_parse_text(const char *text, size_t bytes, const char *path, char *err, size_t err_bytes);
/* 1 if it may name a device or a host: letters, digits, '.', '-', '_', ':' */
int ig_site_is_name(const char *s);

#endif
