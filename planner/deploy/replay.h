/*
 * A fleet: ranks on devices, the parts that they run, the buffers between them and the messages that fill those of other
 * ranks. The replay runs frames through it as the ranks' protocol does (runtime/mpi), event after event, in whole
 * nanoseconds:
 * - a buffer has some copies, taken in turn. One is taken when what fills it starts, and free again when all that read
 *   it have ended;
 * - a rank runs one part at a time, of those whose inputs are there and whose outputs have a free copy the one with the
 *   oldest frame;
 * - a device sends one message at a time and is sent one at a time, those of older frames first; a message starts when
 *   its tensor is made and the other side has a free copy. Messages within a device hold nobody up;
 * - while a message is under way, its two ranks compute slower by what moving its bytes takes of their cores;
 * - while other ranks of its machine compute, a rank does so slower by what they want of the memory;
 * - a frame enters as soon as it has come and the buffers of the network's inputs have free copies.
 */
#ifndef PLANNER_DEPLOY_REPLAY_H
#define PLANNER_DEPLOY_REPLAY_H

#include <stddef.h>
#include <stdint.h>

enum { IG_FLEET_MESSAGE = -1, IG_FLEET_USER = -2 }; /* what fills a buffer that no part does */
enum { IG_FLEET_DEMAND = 1000 * 1000 };              /* most of a part, and of all beside it */

struct ig_fleet_buffer {
    int32_t rank;
    int32_t copies;    /* >= 1 */
    int32_t writer;    /* part, IG_FLEET_MESSAGE or IG_FLEET_USER */
    int32_t is_output; /* 1: of the network: the user reads it at once */
    int64_t bytes;     /* of a copy, and of the messages from it */
    const char *tensor;
};

struct ig_fleet_part { /* each behind those that it reads from */
    int32_t rank;
    int64_t ns;        /* of a frame, alone on its machine, >= 0 */
    int64_t beside_ns; /* while another rank of the machine runs the whole network; 0: the same */
    int32_t demand;    /* of 1000: bytes of the memory that it wants a ns, over those of the whole network; or 0 */
    int32_t n_in, n_out;
    const int32_t *in, *out; /* buffers */
};

struct ig_fleet_message { /* one a frame */
    int32_t from, to; /* buffers of two ranks */
    int64_t ns;       /* >= 0 */
    int64_t send_ns, receive_ns; /* 0 to ns: of it, what the core on which either rank computes is taken */
};

struct ig_fleet {
    int32_t n_ranks, n_devices, n_parts, n_buffers, n_messages;
    const int32_t *device; /* [n_ranks] */
    const int32_t *machine; /* [n_ranks], 0 to n_devices - 1: those of one share its memory; NULL: each has its own */
    const char *const *keys, *const *devices; /* names, [n_ranks] and [n_devices] */
    const struct ig_fleet_part *parts;
    const struct ig_fleet_buffer *buffers;
    const struct ig_fleet_message *messages;
};

struct ig_fleet_run {
    int32_t frames;
    int64_t *in_ns, *out_ns; /* [frames] when it entered, when its last output was there */
    int64_t *part_ns;        /* [frames][n_parts] when each started */
    int64_t *busy_ns;        /* [n_ranks] computing, however slowly */
    int64_t *sends_ns, *receives_ns; /* [n_devices] on its link, all frames */
    int64_t events;          /* ends of parts and of messages */
};

/* 0, or -1 with a line in err: a number out of range, or a buffer that is not filled by what it says. */
int ig_fleet_check(const struct ig_fleet *f, char *err, size_t err_bytes);
/*
 * Runs so many frames, of which one comes every interval_ns (0: always). 0, or -1 with a line in err: the fleet is
 * wrong, or it stands still. Release with ig_fleet_run_free either way.
 */
int ig_fleet_replay(const struct ig_fleet *f, int32_t frames, int64_t interval_ns, struct ig_fleet_run *run, char *err,
                    size_t err_bytes);
void ig_fleet_run_free(struct ig_fleet_run *run);
/* ns from one result to the next, over the last half of the frames. */
double ig_fleet_period(const struct ig_fleet_run *run);
/*
 * No replay is faster: the largest load of a rank, messages' share left out, of a device's sending or of its receiving,
 * ns a frame.
 */
int64_t ig_fleet_bound(const struct ig_fleet *f);

#endif
