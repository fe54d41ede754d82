#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/host/program.h"
#include "runtime/host/trailer.h"

/* The program's own file: without /proc under the name that it was started by. */
static int open_self(void)
{
    const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 && name) fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) ig_die("cannot open its own file, where its weights are: %s", strerror(errno));
    return fd;
}

/* The blob whose trailer is that many before the last. One copy in a program: those of the CPU have only one caller. */
static inline __attribute__((always_inline)) const void *map_blob(int before, uint64_t bytes, uint64_t hash)
{
    struct ig_trailer t;
    struct stat st;
    int fd = open_self();
    if (fstat(fd, &st) || st.st_size < (off_t)sizeof t * (before + 1) ||
        pread(fd, &t, sizeof t, st.st_size - (off_t)sizeof t * (before + 1)) != (ssize_t)sizeof t ||
        memcmp(t.magic, IG_TRAILER_MAGIC, sizeof t.magic))
        ig_die("this program has lost the weights appended to it (was it stripped?): link it again");
    if (t.bytes != bytes || t.hash != hash || t.offset % 4096 ||
        t.offset + t.bytes + sizeof t > (uint64_t)st.st_size)
        ig_die("the weights appended to this program are not of its model: link it again");
    void *p = mmap(NULL, t.bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)t.offset);
    if (p == MAP_FAILED) ig_die("cannot map %llu bytes of weights", (unsigned long long)t.bytes);
    close(fd);
    return p;
}

const void *ig_map_weights(const struct ig_model *m)
{
    return map_blob(0, (uint64_t)m->weights_bytes, m->weights_hash);
}

const void *ig_map_bundled_weights(const struct ig_model *m, int i)
{
    return map_blob(i, (uint64_t)m->weights_bytes, m->weights_hash);
}

const void *ig_map_gpu_weights(int64_t bytes, uint64_t hash)
{
    return map_blob(1, (uint64_t)bytes, hash);
}
