#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runtime/host/trailer.h"
#include "runtime/step.h"

static const char help[] =
    "ingot append program weights.bin -o out\n\n"
    "Writes the program followed by the weights, which start at a page, and a trailer by which it finds\n"
    "them.\n";

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

int ig_verb_append(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"output", 1, 0, 'o'}, {0, 0, 0, 0}};
    static const char zeros[65536];
    const char *out = NULL;
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) {
        if (c == 'o') out = optarg;
        else if (c == 'h') return fputs(help, stdout) < 0;
        else ig_usage(help);
    }
    if (!out || optind != argc - 2) ig_usage(help);
    size_t program_bytes, blob_bytes;
    const void *program = map(argv[optind], &program_bytes), *blob = map(argv[optind + 1], &blob_bytes);
    size_t page = page_bytes(program, program_bytes), offset = (program_bytes + page - 1) / page * page;
    struct ig_trailer t = {
        .magic = "", .offset = offset, .bytes = blob_bytes, .hash = ig_blob_hash(blob, blob_bytes)};
    memcpy(t.magic, IG_TRAILER_MAGIC, sizeof t.magic);
    FILE *f = ig_open_output(out);
    fwrite(program, 1, program_bytes, f);
    fwrite(zeros, 1, offset - program_bytes, f);
    fwrite(blob, 1, blob_bytes, f);
    fwrite(&t, 1, sizeof t, f);
    if (f != stdout) fchmod(fileno(f), 0755);
    ig_close_output();
    return 0;
}
