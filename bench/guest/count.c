/*
 * A QEMU TCG plugin that counts executed guest instructions: -plugin count.so,out=FILE. Every translated block adds to
 * a counter of its own, inline; at the end FILE has the total on its first line, then one line a block: address (hex),
 * instructions, executions. The prototypes are those of QEMU's plugin API, version 1 (QEMU 4.2 to 8.2), whose header
 * Debian does not package.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
typedef uint64_t qemu_plugin_id_t;
typedef void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void ended(qemu_plugin_id_t id, void *data);
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated *function);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op, void *to,
                                              uint64_t by);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended *function, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                                                               char **argv);

struct block {
    uint64_t address, instructions, executions;
    struct block *next;
};

static struct block *blocks;
static const char *path;

static void add_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct block *b = calloc(1, sizeof *b);
    (void)id;
    if (!b) abort();
    b->address = qemu_plugin_tb_vaddr(tb);
    b->instructions = qemu_plugin_tb_n_insns(tb);
    b->next = blocks;
    blocks = b;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->executions, 1);
}

static void report(qemu_plugin_id_t id, void *data)
{
    FILE *f = fopen(path, "w");
    uint64_t total = 0;
    (void)id;
    (void)data;
    if (!f) {
        perror(path);
        return;
    }
    for (const struct block *b = blocks; b; b = b->next) total += b->instructions * b->executions;
    fprintf(f, "%" PRIu64 "\n", total);
    for (const struct block *b = blocks; b; b = b->next)
        if (b->executions)
            fprintf(f, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", b->address, b->instructions, b->executions);
    fclose(f);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++)
        if (!strncmp(argv[i], "out=", 4)) path = argv[i] + 4;
    if (!path) return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, add_block);
    qemu_plugin_register_atexit_cb(id, report, NULL);
    return 0;
}
