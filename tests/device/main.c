/*
 * out/bench/gpu_kernels FATBIN [OP...]: every GPU kernel on GPU 0, held to what CPU kernels are (tests/support/check.h): the
 * reference's results on random shapes, and nothing written beside its output. FATBIN: kernels_gpu/module.cu as nvcc -fatbin makes
 * it. Each op (default: all) has a process of its own, as no kernel can be launched in one behind a fault on the GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/device/run.h"

#define OP(name) int ig_check_##name(int argc, char **argv);
OPS
#undef OP

static const struct op {
    const char *name;
    int (*check)(int argc, char **argv);
} ops[] = {
#define OP(name) {#name, ig_check_##name},
    OPS
#undef OP
};
enum { N_OPS = sizeof ops / sizeof *ops };

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long bytes = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    char *data = bytes > 0 ? calloc((size_t)bytes + 1, 1) : NULL;
    if (data) rewind(f);
    if (!data || fread(data, 1, (size_t)bytes, f) != (size_t)bytes) {
        fprintf(stderr, "gpu_kernels: cannot read %s\n", path);
        exit(2);
    }
    fclose(f);
    return data;
}

static int is_asked(const struct op *op, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], op->name)) return 1;
    return !n;
}

static int check(const struct op *op, const void *fatbin)
{
    static char program[] = "gpu_kernels", of_gpus[] = "__cuda";
    char *arguments[] = {program, of_gpus, NULL}, why[300];
    if (!device_open(fatbin, why, sizeof why)) return op->check(2, arguments) ? 1 : 0;
    fprintf(stderr, "gpu_kernels: %s\n", why);
    return 1;
}

/* 0 if all of its kernels are right. */
static int check_apart(const struct op *op, const void *fatbin)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return 1;
    if (!child) {
        status = check(op, fatbin);
        fflush(NULL);
        _exit(status);
    }
    return waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    int failed = 0, checked = 0;
    if (argc < 2 || argv[1][0] == '-') {
        fputs("gpu_kernels FATBIN [OP...]\nevery GPU kernel on GPU 0 against the reference, on random shapes; ops:", stderr);
        for (int i = 0; i < N_OPS; i++) fprintf(stderr, " %s", ops[i].name);
        fputs("\n", stderr);
        return 2;
    }
    char *fatbin = read_file(argv[1]);
    for (int i = 0; i < N_OPS; i++) {
        if (!is_asked(&ops[i], argv + 2, argc - 2)) continue;
        int bad = check_apart(&ops[i], fatbin);
        if (bad) printf("not ok: %s\n", ops[i].name);
        failed += bad;
        checked++;
    }
    free(fatbin);
    printf("%d ops, %d of them wrong\n", checked, failed);
    return failed || !checked;
}
