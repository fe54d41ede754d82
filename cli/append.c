#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runtime/host/trailer.h"
#include "runtime/step.h"

enum { MOST = 256 }; /* blobs */

static const char help[] =
    "ingot append program weights.bin... -o out\n\n"
    "Writes the program followed by the weights, which start at a page, and a trailer by which it finds\n"
    "them: of one network, of its CPU and GPU, or of several networks. Equal files are stored once.\n";

/* The largest page of the machines that an ELF file is for: x86-64 has 4 KiB, others may have 64. */
static size_t page_bytes(const unsigned char *elf, size_t n)
{
    enum { MACHINE = 18, X86_64 = 62 };
    return n > MACHINE && elf[MACHINE] == X86_64 ? 4096 : 65536;
}

static const void *map(const char *path, size_t *n)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st)) ig_fatal("%s: %s", path, strerror(errno));
    *n = (size_t)st.st_size;
    void *p = mmap(NULL, *n ? *n : 1, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) ig_fatal("%s: %s", path, strerror(errno));
    close(fd);
    return p;
}

static int same(const char *path, const void *blob, size_t bytes)
{
    size_t n;
    const void *other = map(path, &n);
    int equal = n == bytes && !memcmp(other, blob, n);
    munmap((void *)(uintptr_t)other, n ? n : 1);
    return equal;
}

/* Blob n of paths, from the next page on; its trailer, which is another's where that has the same bytes. */
static struct ig_trailer append(FILE *f, size_t page, size_t *end, char **paths, int n, const struct ig_trailer *written)
{
    static const char zeros[65536];
    size_t bytes, offset = (*end + page - 1) / page * page;
    const void *blob = map(paths[n], &bytes);
    struct ig_trailer t = {.magic = "", .offset = offset, .bytes = bytes, .hash = ig_blob_hash(blob, bytes)};
    memcpy(t.magic, IG_TRAILER_MAGIC, sizeof t.magic);
    for (int i = 0; i < n; i++)
        if (written[i].bytes == bytes && written[i].hash == t.hash && same(paths[i], blob, bytes)) return written[i];
    fwrite(zeros, 1, offset - *end, f);
    fwrite(blob, 1, bytes, f);
    *end = offset + bytes;
    return t;
}

int ig_verb_append(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"output", 1, 0, 'o'}, {0, 0, 0, 0}};
    struct ig_trailer trailers[MOST];
    const char *out = NULL;
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) {
        if (c == 'o') out = optarg;
        else if (c == 'h') return fputs(help, stdout) < 0;
        else ig_usage(help);
    }
    int blobs = argc - optind - 1;
    if (!out || blobs < 1 || blobs > MOST) ig_usage(help);
    size_t end;
    const void *program = map(argv[optind], &end);
    size_t page = page_bytes(program, end);
    FILE *f = ig_open_output(out);
    fwrite(program, 1, end, f);
    for (int i = 0; i < blobs; i++) trailers[i] = append(f, page, &end, argv + optind + 1, i, trailers);
    for (int i = blobs; i-- > 0;) fwrite(&trailers[i], 1, sizeof *trailers, f);
    if (f != stdout) fchmod(fileno(f), 0755);
    ig_close_output();
    return 0;
}
