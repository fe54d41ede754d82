/* --info of a rank: its parts, its memory, and what it sends to whom. */
#include "runtime/host/spec.h"
#include "runtime/mpi/figures.h"
#include "runtime/mpi/gpu.h"

struct bytes {
    int64_t weights, buffers, sent, received;
};

static struct bytes bytes_of(const struct ig_rank *r)
{
    struct bytes b = {0, 0, 0, 0};
    for (int32_t i = 0; i < r->n_parts; i++) b.weights += r->parts[i].program->model->weights_bytes;
    for (int32_t i = 0; i < r->n_buffers; i++) b.buffers += ig_flow_room(r->buffers[i].bytes, r->buffers[i].copies);
    for (int32_t i = 0; i < r->n_sends; i++) b.sent += r->buffers[r->sends[i].buffer].bytes;
    for (int32_t i = 0; i < r->n_receives; i++) b.received += r->buffers[r->receives[i].buffer].bytes;
    return b;
}

static void print_hash(const struct ig_rank *r)
{
    for (int i = 0; i < 32; i++) printf("%02x", r->plan_hash[i]);
}

static void edges_json(const char *name, const struct ig_rank *r, const struct ig_rank_edge *e, int32_t n)
{
    printf("\"%s\":[", name);
    for (int32_t i = 0; i < n; i++) {
        printf("%s{\"bytes\":%lld,\"rank\":%d,\"tensor\":", i ? "," : "", (long long)r->buffers[e[i].buffer].bytes,
               e[i].peer);
        ig_json_string(stdout, r->buffers[e[i].buffer].tensor);
        putchar('}');
    }
    fputs("],", stdout);
}

static void edges_text(const char *word, const struct ig_rank *r, const struct ig_rank_edge *e, int32_t n)
{
    char name[128];
    for (int32_t i = 0; i < n; i++)
        printf("%s rank %d '%s': %s, %lld B\n", word, e[i].peer, r->keys[e[i].peer],
               ig_name_text(r->buffers[e[i].buffer].tensor, name, sizeof name),
               (long long)r->buffers[e[i].buffer].bytes);
}

/* Does it make inputs of pictures, or answers of results? */
static int has_spec(const struct ig_rank *r)
{
    return r->whole->spec && (!r->rank || (r->outputs && r->outputs[0] >= 0));
}

/* What its parts have beside the CPU's plans. */
static void print_gpu(const struct ig_rank *r, int json)
{
    const char *ptx = r->gpu->ptx;
    long long launches = 0, arenas = 0, constants = 0;
    for (int32_t i = 0; i < r->n_parts; i++) {
        const struct ig_gpu_plan *p = r->gpu->parts[i].plan;
        launches += p->n_calls, arenas += p->arena_bytes, constants += p->constants_bytes;
    }
    if (json)
        printf("\"gpu\":{\"arena_bytes\":%lld,\"chips\":[%s],\"launches\":%lld,%s%s%s\"weights_bytes\":%lld},", arenas,
               r->gpu->chips, launches, ptx ? "\"ptx\":" : "", ptx ? ptx : "", ptx ? "," : "", constants);
    else
        printf("on a GPU, sm %s%s%s: %lld launch%s a frame; arenas %lld B, weights %lld B; else on the CPU\n",
               r->gpu->chips, ptx ? ", PTX for sm " : "", ptx ? ptx : "", launches, launches == 1 ? "" : "es", arenas, constants);
}

static void print_json(const struct ig_rank *r, const struct bytes *b)
{
    printf("{\"arena_bytes\":%lld,\"buffer_bytes\":%lld,", (long long)r->arena_bytes, (long long)b->buffers);
    if (r->gpu) print_gpu(r, 1);
    if (has_spec(r)) r->whole->spec->info(r->whole->spec, 1);
    fputs("\"key\":", stdout);
    ig_json_string(stdout, r->keys[r->rank]);
    printf(",\"model\":\"%s\",\"parts\":%d,\"plan_hash\":\"", r->network, r->n_parts);
    print_hash(r);
    printf("\",\"rank\":%d,\"ranks\":%d,\"received_bytes\":%lld,", r->rank, r->n_ranks, (long long)b->received);
    edges_json("receives", r, r->receives, r->n_receives);
    edges_json("sends", r, r->sends, r->n_sends);
    printf("\"sent_bytes\":%lld,\"threads\":%d,\"weights_bytes\":%lld}\n", (long long)b->sent, r->threads,
           (long long)b->weights);
}

void ig_print_rank(const struct ig_rank *r, int json)
{
    struct bytes b = bytes_of(r);
    if (json) {
        print_json(r, &b);
        return;
    }
    printf("%s: rank %d of %d, '%s': %d part%s on %d thread%s\n", r->network, r->rank, r->n_ranks, r->keys[r->rank],
           r->n_parts, r->n_parts == 1 ? "" : "s", r->threads, r->threads == 1 ? "" : "s");
    if (r->gpu) print_gpu(r, 0);
    if (has_spec(r)) r->whole->spec->info(r->whole->spec, 0);
    edges_text("from", r, r->receives, r->n_receives);
    edges_text("to", r, r->sends, r->n_sends);
    printf("arena %lld B, buffers %lld B, weights %lld B; a frame sends %lld B and receives %lld B\n",
           (long long)r->arena_bytes, (long long)b.buffers, (long long)b.weights, (long long)b.sent,
           (long long)b.received);
    printf("predicted %.3f ms of work a frame, a result every %.3f ms\nplan  ", r->rank_ns * 1e-6, r->period_ns * 1e-6);
    print_hash(r);
    putchar('\n');
}
