/* Runs a program with its output thrown away and prints, as JSON, the time from before its start to after its
 * end and the most memory it held. A small parent, so that neither figure has a trace of the caller.
 * usage: launch PROGRAM ARG... */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status, null = open("/dev/null", O_WRONLY);
    if (argc < 2 || null < 0) {
        fprintf(stderr, "usage: launch PROGRAM ARG...\n");
        return 2;
    }
    double start = now();
    pid_t child = vfork();
    if (!child) {
        dup2(null, STDOUT_FILENO);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status) {
        fprintf(stderr, "launch: %s failed\n", argv[1]);
        return 1;
    }
    printf("{\"ms\":%.3f,\"rss_kib\":%ld}\n", now() - start, usage.ru_maxrss);
    return 0;
}
