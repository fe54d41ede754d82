/* Networks and files for tests of deployments: layers from a line of text, files in memory. */
#ifndef TESTS_SUPPORT_DEPLOY_H
#define TESTS_SUPPORT_DEPLOY_H

#include <unistd.h>

#include "planner/deploy/package.h"
#include "tests/support/onnx_model.h"

/* "Conv x,w>c1; Relu c1>r": nodes of a model with input "x", the initializer "w" and the output given. */
static inline void d_model(struct m_model *m, const char *text, const char *output)
{
    char copy[2048], *state = NULL;
    m_init(m, 13);
    m_input(m, "x", M_FLOAT, LIST(1, 4, 8, 8));
    m_weights(m, "w", LIST(4, 4, 1, 1));
    m_output(m, output);
    strcpy(copy, text);
    for (char *node = strtok_r(copy, ";", &state); node; node = strtok_r(NULL, ";", &state)) {
        char op[64], in[256], out[256];
        if (sscanf(node, " %63s %255[^>]>%255s", op, in, out) != 3) {
            in[0] = 0; /* a constant */
            assert_int_equal(sscanf(node, " %63s >%255s", op, out), 2);
        }
        m_node(m, op, in, out);
    }
    m_pack(m);
}

static inline struct ig_layers *d_layers(const char *text, const char *output)
{
    char err[512];
    struct m_model m;
    d_model(&m, text, output);
    struct ig_layers *l = ig_layers_bytes("net.onnx", m.bytes, m.n_bytes, err, sizeof err);
    if (!l) fail_msg("%s", err);
    m_free(&m);
    return l;
}

/* A file with this text; its name, good until the next call. */
static inline const char *d_file(const char *text)
{
    static char path[64];
    strcpy(path, "/tmp/ingot_deploy_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    return path;
}

static inline struct ig_mapping *d_mapping(const struct ig_layers *l, const char *text)
{
    char err[4096];
    const char *path = d_file(text);
    struct ig_mapping *m = ig_mapping_read(path, l, NULL, 0, err, sizeof err);
    unlink(path);
    if (!m) fail_msg("%s", err);
    return m;
}

static inline struct ig_site *d_site(const char *text)
{
    char err[4096];
    const char *path = d_file(text);
    struct ig_site *s = ig_site_read(path, err, sizeof err);
    unlink(path);
    if (!s) fail_msg("%s", err);
    return s;
}

/* What is written between the two, for free(). */
struct d_text {
    char *text;
    size_t bytes;
};

static inline FILE *d_open(struct d_text *t)
{
    FILE *f = open_memstream(&t->text, &t->bytes);
    assert_non_null(f);
    return f;
}

static inline char *d_close(struct d_text *t, FILE *f)
{
    fclose(f);
    return t->text;
}

#endif
