/* ingot: one host program, one verb a step. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "graph/draft.h"
#include "graph/version.h"

static const struct verb {
    const char *name;
    ig_verb_fn *run;
    const char *what;
} verbs[] = {
    {"inspect", ig_verb_inspect, "what a network is made of, its memory, and what cannot be compiled"},
    {"graph", ig_verb_graph, "model.onnx -> graph.json"},
    {"profile", ig_verb_measure, "time every kernel variant of every layer on this machine -> profile.json"},
    {"calibrate", ig_verb_calibrate, "describe this machine for estimates: rates, caches, what kernels cost"},
    {"plan", ig_verb_plan, "choose kernels, cuts and memory -> plan.json"},
    {"pipeline", ig_verb_pipeline, "stages of a network on several processors, by every algorithm"},
    {"trial", ig_verb_trial, "one core, a team and stages at work, in turns -> plan.json of the fastest"},
    {"simulate", ig_verb_simulate, "frames through a deployment, event by event: how fast it will be"},
    {"power", ig_verb_power, "sensors and clocks of this machine; what a command costs in energy"},
    {"share", ig_verb_share, "plans of several networks that share one arena or one budget"},
    {"gen", ig_verb_gen, "plan -> C tables, header and weights"},
    {"bundle", ig_verb_bundle, "several networks -> one program and library over one arena"},
    {"deploy", ig_verb_deploy, "one network over several machines: a program for each, which pass tensors by MPI"},
    {"append", ig_verb_append, "put a weight blob behind a linked program"},
    {"verify", ig_verb_verify, "build and run ONNX backend-test folders"},
    {"report", ig_verb_report, "a plan as one page of HTML: layers, roofline, arena, measured and estimated"},
    {"zoo", ig_verb_zoo, "write a benchmark network as ONNX"},
    {"kernels", ig_verb_kernels, "list the kernel variants"},
};

static void help(FILE *f)
{
    fputs("ingot inspect net.onnx          look at a network\n"
          "./configure --model=net.onnx    cast it into a program: configure drives all verbs\n\n"
          "usage: ingot VERB [OPTION]... (ingot VERB --help for each)\n",
          f);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        fprintf(f, "  %-9s  %s\n", verbs[i].name, verbs[i].what);
}

/* Ctrl-C leaves no half-written file or folder: the drafts go, then the signal does what it would have done. */
static void interrupted(int number)
{
    ig_drafts_remove();
    signal(number, SIG_DFL);
    raise(number);
}

/* A limit on the size of files is met as a full disk is, by write(). A handler, not SIG_IGN, which a command of ingot power would inherit. */
static void too_large(int number)
{
    (void)number;
}

/* What nohup has ignored stays so. */
static void guard(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++)
        if (signal(ends[i], interrupted) == SIG_IGN) signal(ends[i], SIG_IGN);
    signal(SIGXFSZ, too_large);
}

/* What was printed and could not be written is an error, whatever the verb made of it. */
static int finish(int status)
{
    if (fflush(stdout) || ferror(stdout)) ig_fatal("stdout: cannot write: %s", strerror(errno));
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    static char name[32]; /* what getopt puts before its words */
    snprintf(name, sizeof name, "ingot %s", verb->name);
    argv[0] = name;
    return verb->run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        help(stdout);
        return finish(0);
    }
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        puts("ingot " INGOT_VERSION);
        return finish(0);
    }
    guard();
    for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(argv[1], verbs[i].name)) return finish(run(&verbs[i], argc - 1, argv + 1));
    if (argc > 1) fprintf(stderr, "ingot: no verb '%s'\n", argv[1]);
    help(stderr);
    return 2;
}
