/*
 * vidi lab: runs vidi-lab, a program of its own (lab/program), so that the papers' experiments are no part of the
 * program that people use every day.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define PROGRAM "vidi-lab"

/* Runs the program at `path` below the folder of this one; returns if it is not there. */
static void run_below(const char *folder, const char *path, char **words)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s/%s", folder, path) < (int)sizeof name)
        execv(name, words);
}

static int run(void *values, cli_words words)
{
    char folder[PATH_MAX] = "";
    char **all = calloc(words.count + 2, sizeof *all);
    (void)values;
    if (!all)
        return cli_error("out of memory");
    all[0] = (char *)PROGRAM;
    if (words.count)
        memcpy(all + 1, words.list, words.count * sizeof *all);
    if (readlink("/proc/self/exe", folder, sizeof folder - 1) > 0) {
        *strrchr(folder, '/') = 0;
        run_below(folder, PROGRAM, all);
        run_below(folder, VIDI_TO_LIBEXEC "/" PROGRAM, all);
    }
    execvp(PROGRAM, all);
    int error = errno;
    free(all);
    return error == ENOENT ? cli_error("vidi lab needs the program " PROGRAM ", which is not installed: it is expected "
                                       "beside vidi, in " VIDI_TO_LIBEXEC " from there, or in PATH")
                           : cli_error("cannot run " PROGRAM ": %s", strerror(error));
}

const cli_command cli_lab = {
    .name = "lab",
    .summary = "Repeat the papers' experiments and compare with theory",
    .run = run,
};
