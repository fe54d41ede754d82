/* ONNX file -> graph: the stages in order. */
#include "graph/onnx/import.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/sha256.h"

static const int64_t default_bytes = (int64_t)1 << 32;
enum { THIN_BYTES = 1 << 20, PIECE_BYTES = 1 << 22 };

/* The C identifier that a file name gives: "a/mobile-net.onnx" -> "mobile_net". */
static void graph_name(const char *path, char *name, size_t bytes)
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
    const char *dot = strrchr(from, '.');
    size_t n = dot && dot != from ? (size_t)(dot - from) : strlen(from), used = 0;
    if (!n || (*from >= '0' && *from <= '9')) name[used++] = 'm';
    for (size_t i = 0; i < n && used + 1 < bytes && used < 120; i++) {
        char c = from[i];
        int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[used++] = letter ? c : '_';
    }
    name[used] = 0;
}

void im_parse(struct im *m, const void *bytes, size_t n)
{
    ProtobufCAllocator a = im_allocator(&m->arena);
    char why[256];
    m->model = im_unpack(&onnx__model_proto__descriptor, &a, bytes, n, why, sizeof why);
    if (m->model && m->model->graph) return;
    if (!m->model) im_fail(m, "%s", why);
    const char *kind = im_kind(bytes, n);
    im_fail(m, "not a valid ONNX file: %s", kind ? kind : "it holds no graph; a TensorFlow model is converted by tf2onnx");
}

/* Why an operator of that domain is refused that the tables do not have. */
static const char *unknown(const char *domain)
{
    if (!*domain) return "is no operator that is known";
    if (im_is_microsoft(domain)) return "is onnxruntime's own, and not supported; export without its graph optimisations";
    return "is not of ONNX's own domain; export without custom operators";
}

static void poison(struct im *m, const struct im_node *n)
{
    for (int k = 0; k < n->n_out; k++)
        if (*n->out[k]) im_find(m, &m->names, n->out[k], 0)->value = IM_POISON;
}

/* Whether the tables have the node's operator; reports it where they do not. */
static int known(struct im *m, const struct im_node *n)
{
    const struct im_op *op = im_op_find(n);
    if (op && op->run) return 1;
    im_report_node(m, n, op ? op->why : unknown(n->domain));
    poison(m, n);
    return 0;
}

/* All operators that the tables do not have, before any work is done; of branches those that are taken, when that is known. */
static void check_operators(struct im *m)
{
    for (int i = 0; i < m->n_nodes; i++)
        if (m->nodes[i].state == IM_LIVE) known(m, &m->nodes[i]);
}

static int poisoned(struct im *m, const char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (*names[i] && im_find(m, &m->names, names[i], 0)->value == IM_POISON) return 1;
    return 0;
}

/* Runs the node's handler; -1 where it refused. */
static int handle(struct im *m, const struct im_node *n)
{
    jmp_buf here, *outer = m->stop;
    m->stop = &here;
    m->node = n;
    m->emitted = 0;
    m->first_value = m->g->n_values;
    int stopped = setjmp(here);
    if (!stopped) im_op_find(n)->run(m, n);
    m->stop = outer;
    if (stopped && !m->refused) longjmp(*outer, 1);
    m->node = NULL;
    return stopped ? -1 : 0;
}

static void convert_nodes(struct im *m)
{
    const struct im_node *n;
    while ((n = im_next(m))) {
        if (poisoned(m, n->out, n->n_out) || !known(m, n)) continue;
        if (poisoned(m, n->in, n->n_in) || handle(m, n)) poison(m, n);
    }
}

static void finish(struct im *m)
{
    char why[1024];
    if (ig_graph_sort(m->g, why, sizeof why)) im_fail(m, "%s", why);
    ig_graph_sweep(m->g);
}

/* The stages; 0, or -1 with m->err or m->report filled. */
static int run(struct im *m, const void *bytes, size_t n)
{
    jmp_buf here;
    m->stop = &here;
    if (setjmp(here)) return -1;
    im_parse(m, bytes, n);
    im_flatten(m);
    im_order(m);
    check_operators(m);
    im_bind_inputs(m);
    convert_nodes(m);
    im_make_outputs(m);
    if (m->report.n) return -1;
    finish(m);
    return 0;
}

static void write_report(const struct im *m)
{
    int used = snprintf(m->err, m->err_bytes, "%s: %d node%s cannot be compiled:", m->path, m->report.n,
                        m->report.n == 1 ? "" : "s");
    if (m->report.text && used >= 0 && (size_t)used < m->err_bytes)
        snprintf(m->err + used, m->err_bytes - (size_t)used, "%s", m->report.text);
}

/* All but the hash. file: im.file */
static struct ig_graph *import(const char *path, const void *bytes, size_t n, int file,
                               const struct ig_import_options *options, char *err, size_t err_bytes)
{
    static const struct ig_import_options none;
    char name[128];
    graph_name(path, name, sizeof name);
    struct im m = {.options = options ? options : &none, .path = path, .err = err, .err_bytes = err_bytes, .file = file};
    m.g = m.arena.g = ig_graph_new(name);
    m.bytes_left = m.options->max_bytes > 0 ? m.options->max_bytes : default_bytes;
    m.work_left = 4 * m.bytes_left;
    int failed = run(&m, bytes, n);
    if (m.report.n) write_report(&m);
    free(m.report.text);
    im_arena_free(&m.arena);
    if (failed) {
        ig_graph_free(m.g);
        return NULL;
    }
    if (err_bytes) *err = 0;
    m.g->source_sha256 = ig_graph_alloc(m.g, IG_SHA256_TEXT);
    return m.g;
}

/* Adds a mapped file. */
static void add_mapped(struct ig_sha256 *hash, char *mapped, size_t n)
{
    for (size_t at = 0; at < n; at += PIECE_BYTES) { /* pages that were read are the system's again */
        size_t bytes = n - at < PIECE_BYTES ? n - at : PIECE_BYTES;
        ig_sha256_add(hash, mapped + at, bytes);
        if (n > THIN_BYTES) madvise(mapped + at, bytes, MADV_DONTNEED);
    }
}

/* Ends what was begun with the ONNX file by those beside it: source_sha256. Of one that is gone by now there is nothing. */
static void end_hash(struct ig_graph *g, struct ig_sha256 *hash)
{
    char err[256];
    size_t n;
    for (int32_t i = 0; i < g->n_data_files; i++) {
        void *mapped = im_map_file(g->data_files[i].path, &n, err, sizeof err);
        if (!mapped) continue;
        add_mapped(hash, mapped, n);
        munmap(mapped, n);
    }
    ig_sha256_end(hash, g->source_sha256);
}

struct ig_graph *ig_import_bytes(const char *path, const void *bytes, size_t n,
                                 const struct ig_import_options *options, char *err, size_t err_bytes)
{
    struct ig_sha256 hash;
    struct ig_graph *g = import(path, bytes, n, 0, options, err, err_bytes);
    if (!g) return NULL;
    ig_sha256_begin(&hash);
    ig_sha256_add(&hash, bytes, n);
    end_hash(g, &hash);
    return g;
}

void *im_map_file(const char *path, size_t *n, char *err, size_t err_bytes)
{
    struct stat st;
    void *p = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &st)) {
        *n = (size_t)st.st_size;
        errno = S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) && !st.st_size ? ENODATA : EINVAL;
        if (S_ISREG(st.st_mode) && st.st_size) p = mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (p == MAP_FAILED)
        snprintf(err, err_bytes, "%s: %s", path,
                 errno == ENODATA ? "the file is empty" : errno == EISDIR ? "a folder: name the .onnx file in it" : strerror(errno));
    if (fd >= 0) close(fd);
    return p == MAP_FAILED ? NULL : p;
}

struct ig_digest { /* of a mapped file, by a thread; once it is made, bytes is NULL */
    pthread_t thread;
    char *bytes;
    size_t n;
    struct ig_sha256 hash;
};

static void *digest(void *arg)
{
    struct ig_digest *d = arg;
    ig_sha256_begin(&d->hash);
    add_mapped(&d->hash, d->bytes, d->n);
    return NULL;
}

static void unmap(struct ig_digest *d)
{
    if (d->bytes) munmap(d->bytes, d->n);
    d->bytes = NULL;
}

void ig_graph_settle(struct ig_graph *g)
{
    if (!g->digest) return;
    pthread_join(g->digest->thread, NULL);
    end_hash(g, &g->digest->hash);
    unmap(g->digest);
    g->digest = NULL;
}

/* The graph goes, and may not have been settled. */
static void release_digest(void *p, size_t bytes)
{
    struct ig_digest *d = p;
    (void)bytes;
    if (d->bytes) pthread_join(d->thread, NULL);
    unmap(d);
    free(d);
}

/*
 * Of a large file a copy without its large tensors is parsed: these are read from the file into the graph. Mapped pages and
 * protobuf-c's copy of them would be two more. NULL: it is malformed, which the parser puts into words.
 */
static void *thin_copy(const void *bytes, size_t n, size_t *thin_bytes)
{
    char why[256];
    if (n < THIN_BYTES || im_check(&onnx__model_proto__descriptor, bytes, n, why, sizeof why)) return NULL;
    return im_thin(bytes, n, thin_bytes);
}

struct ig_graph *ig_import_file(const char *path, const struct ig_import_options *options, char *err,
                                size_t err_bytes)
{
    size_t thin_bytes = 0;
    struct ig_digest *d = calloc(1, sizeof *d);
    if (!d) abort();
    d->bytes = im_map_file(path, &d->n, err, err_bytes);
    int fd = d->bytes ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *thin = fd >= 0 ? thin_copy(d->bytes, d->n, &thin_bytes) : NULL;
    int beside = thin && !pthread_create(&d->thread, NULL, digest, d);
    struct ig_graph *g = NULL;
    if (thin) g = import(path, thin, thin_bytes, fd + 1, options, err, err_bytes);
    else if (d->bytes) g = import(path, d->bytes, d->n, 0, options, err, err_bytes);
    free(thin);
    if (fd >= 0) close(fd);
    if (g && beside) {
        g->digest = d;
        ig_graph_own(g, d, sizeof *d, release_digest);
        if (!options || !options->unsettled) ig_graph_settle(g);
        return g;
    }
    if (beside) pthread_join(d->thread, NULL);
    else if (g) digest(d);
    if (g) end_hash(g, &d->hash);
    unmap(d);
    free(d);
    return g;
}

/* Reads the tensor into m->g as value 0 or an empty one; its handle, or IM_ABSENT on failure. */
static int32_t read_tensor(struct im *m, const void *bytes, size_t n, char *name, size_t name_bytes)
{
    ProtobufCAllocator a = im_allocator(&m->arena);
    char why[256];
    jmp_buf here;
    m->stop = &here;
    if (setjmp(here)) return IM_ABSENT;
    const Onnx__TensorProto *t = im_unpack(&onnx__tensor_proto__descriptor, &a, bytes, n, why, sizeof why);
    if (!t) im_fail(m, "%s", why);
    if (name_bytes) snprintf(name, name_bytes, "%s", t->name ? t->name : "");
    return im_tensor(m, t, "tensor", "the tensor");
}

int ig_read_tensor_pb(const char *path, struct ig_shape *shape, void **data, char *name, size_t name_bytes,
                      char *err, size_t err_bytes)
{
    static const struct ig_import_options none;
    struct im m = {.options = &none, .path = path, .err = err, .err_bytes = err_bytes, .keep_half = 1};
    size_t n, size = 0;
    void *bytes = im_map_file(path, &n, err, err_bytes);
    if (!bytes) return -1;
    m.g = m.arena.g = ig_graph_new("tensor");
    m.bytes_left = default_bytes;
    int32_t v = read_tensor(&m, bytes, n, name, name_bytes);
    if (v != IM_ABSENT) {
        *shape = im_shape(&m, v);
        size = v >= 0 ? (size_t)ig_bytes(shape) : 0;
        *data = malloc(size ? size : 1);
        if (size && *data) memcpy(*data, m.g->values[v].data, size);
        if (!*data) snprintf(err, err_bytes, "%s: out of memory", path);
    }
    munmap(bytes, n);
    im_arena_free(&m.arena);
    ig_graph_free(m.g);
    return v != IM_ABSENT && *data ? 0 : -1;
}
