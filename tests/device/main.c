/*
 * out/bench/gpu_kernels FATBIN [OP...]: every GPU kernel on GPU 0, held to what CPU kernels are (tests/support/check.h): the
 * reference's results on random shapes, and nothing written beside its output. FATBIN: kernels_gpu/module.cu as nvcc -fatbin makes
 * it. Each op (default: all) has a process of its own, as no kernel can be launched in one behind a fault on the GPU; they run side by side.
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

/* An op under check; what it says is kept until it is done. */
struct job {
    const struct op *op;
    pid_t child;
    FILE *said;
};

static void start(struct job *j, const struct op *op, const void *fatbin)
{
    *j = (struct job){op, -1, tmpfile()};
    fflush(NULL);
    if (!j->said) return;
    j->child = fork();
    if (j->child) return;
    dup2(fileno(j->said), STDOUT_FILENO);
    dup2(fileno(j->said), STDERR_FILENO);
    int status = check(op, fatbin);
    fflush(NULL);
    _exit(status);
}

/* 1 if a kernel of it is wrong. */
static int finish(struct job *j)
{
    int status = 0, c;
    int bad = j->child < 0 || waitpid(j->child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status);
    if (j->said) rewind(j->said);
    while (j->said && (c = getc(j->said)) != EOF) putchar(c);
    if (j->said) fclose(j->said);
    if (bad) printf("not ok: %s\n", j->op->name);
    fflush(stdout);
    return bad;
}

/* Checks those of ops[] that are asked for, as many at once as there are processors, and says in their order what each said. */
static int check_all(const void *fatbin, char **names, int n, int *checked)
{
    long most = sysconf(_SC_NPROCESSORS_ONLN);
    struct job jobs[N_OPS];
    int failed = 0, started = 0;
    for (int i = 0; i < N_OPS; i++) {
        if (!is_asked(&ops[i], names, n)) continue;
        if (started - *checked >= (most > 1 ? most : 1)) failed += finish(&jobs[(*checked)++]);
        start(&jobs[started++], &ops[i], fatbin);
    }
    while (*checked < started) failed += finish(&jobs[(*checked)++]);
    return failed;
}

int main(int argc, char **argv)
{
    int checked = 0;
    if (argc < 2 || argv[1][0] == '-') {
        fputs("gpu_kernels FATBIN [OP...]\nevery GPU kernel on GPU 0 against the reference, on random shapes; ops:", stderr);
        for (int i = 0; i < N_OPS; i++) fprintf(stderr, " %s", ops[i].name);
        fputs("\n", stderr);
        return 2;
    }
    char *fatbin = read_file(argv[1]);
    int failed = check_all(fatbin, argv + 2, argc - 2, &checked);
    free(fatbin);
    printf("%d ops, %d of them wrong\n", checked, failed);
    return failed || !checked;
}
