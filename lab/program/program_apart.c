/*
 * Timed runs in processes of their own. Where the loader and the kernel put a program in memory changes its times by a
 * tenth, so the times of one process, however many, are one sample. The program starts itself for each run:
 *
 *   vidi-lab one-run ID --run R --urls N --seed S …        prints a line for each number, or '!', a code and a message
 *
 * The child gets its URLs from the seed, or reads the corpus again. It is started by exec, because a fork alone keeps
 * the layout. It ends with this process: the kernel kills it if this process dies, and this process kills it when it is
 * interrupted. SIGINT and SIGTERM are blocked in the child, so that a key on the terminal reaches only this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/program/program.h"

#define THIS_PROGRAM "/proc/self/exe"

enum {
    LOOK_EACH = 20,   /* milliseconds between looks at settings->stop */
    NUMBER_ROOM = 40, /* of a number, as %a prints it */
    WORDS_OWN = 16,   /* of the command line, without the corpus */
    TEXT_ROOM = 24    /* of a number in it */
};

/* ---- in the child ---- */

static void print_numbers(cli_out *out, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_out_format(out, "%a\n", numbers[i]);
}

int lab_one_run(lab_options *options, cli_words ids)
{
    const lab_study *study = ids.count == 1 ? lab_study_find(ids.list[0]) : NULL;
    cli_out out;
    if (!study || study->streams || !lab_study_built(study))
        return cli_error("'vidi lab one-run' takes one study, not of streams, that this build can measure");
    CLI_TRY(lab_options_begin(options));
    lab_settings settings = lab_settings_of(options);
    settings.study = study;
    size_t count = lab_study_rows(study) * lab_study_columns(study);
    double *numbers = calloc(count, sizeof *numbers);
    if (!numbers)
        return cli_error("out of memory");
    int code = study->measure(&settings, options->run - 1, numbers);
    cli_out_init(&out, STDOUT_FILENO);
    if (code < 0)
        cli_out_format(&out, "!%d %s\n", code, vidi_message());
    else
        print_numbers(&out, numbers, count);
    free(numbers);
    return cli_out_close(&out);
}

/* ---- in this process ---- */

/* The command line of the child, which points into itself and into the options. */
typedef struct command_line {
    char texts[5][TEXT_ROOM];
    char **words; /* NULL after the last */
} command_line;

static int make_command(command_line *command, const lab_options *options, const lab_study *study,
                        const lab_settings *settings, uint64_t run)
{
    static const char *const names[] = {"--run", "--urls", "--seed", "--runs", "--threads"};
    const uint64_t values[] = {run + 1, settings->urls, settings->seed, settings->runs, settings->threads};
    size_t count = 0;
    char **words = command->words = calloc(WORDS_OWN + 2 * options->files.count, sizeof *words);
    if (!words)
        return lab_fail(VIDI_EMEMORY, "no memory for a process");
    words[count++] = (char *)"vidi-lab";
    words[count++] = (char *)"one-run";
    words[count++] = (char *)study->id;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(command->texts[i], TEXT_ROOM, "%llu", (unsigned long long)values[i]);
        words[count++] = (char *)names[i];
        words[count++] = command->texts[i];
    }
    for (size_t i = 0; i < options->files.count; i++) {
        words[count++] = (char *)"--corpus";
        words[count++] = options->files.list[i];
    }
    return VIDI_OK;
}

/* Becomes the program again. Only calls that are safe between fork and exec. */
static void become(const command_line *command, int to, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(to, STDOUT_FILENO) >= 0)
        execv(THIS_PROGRAM, command->words);
    _exit(127);
}

/* Starts the child: its number, with the end of the pipe to read its numbers from. */
static int start(const command_line *command, pid_t *child, int *from)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lab_fail(VIDI_EIO, "cannot make a pipe: %s", strerror(errno));
    *child = fork();
    if (*child == 0)
        become(command, ends[1], parent);
    close(ends[1]);
    *from = ends[0];
    if (*child > 0)
        return VIDI_OK;
    close(ends[0]);
    return lab_fail(VIDI_EIO, "cannot start a process: %s", strerror(errno));
}

/* Reads until the child closes its end. LAB_STOPPED if measuring was stopped meanwhile. */
static int read_all(int from, char *text, size_t room, const lab_settings *settings)
{
    struct pollfd fd = {.fd = from, .events = POLLIN};
    size_t used = 0;
    ssize_t more = 1;
    while (more > 0) {
        if (lab_stopped(settings))
            return LAB_STOPPED;
        if (poll(&fd, 1, LOOK_EACH) <= 0)
            continue;
        char beyond[64]; /* excess output makes the text invalid and is not kept */
        bool full = used + 1 >= room;
        more = read(from, full ? beyond : text + used, full ? sizeof beyond : room - 1 - used);
        if (more < 0 && errno == EINTR)
            more = 1;
        else if (more > 0)
            used = full ? room : used + (size_t)more;
    }
    text[used < room ? used : 0] = 0;
    return VIDI_OK;
}

/* How the child ended; `code` is what reading gave. */
static int end(pid_t child, int code)
{
    int status;
    if (code < 0)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return lab_fail(VIDI_EIO, "cannot wait for a process: %s", strerror(errno));
    if (code < 0)
        return code;
    if (WIFSIGNALED(status))
        return lab_fail(VIDI_EIO, "the process that measured it was killed by signal %d (%s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return lab_fail(VIDI_EIO, "the process that measured it ended with status %d", WEXITSTATUS(status));
    return VIDI_OK;
}

/* What the child has printed becomes numbers, or its error. */
static int parse(char *text, double *numbers, size_t count)
{
    char *at = text, *next;
    if (*at == '!') {
        long code = strtol(at + 1, &next, 10);
        next[strcspn(next, "\n")] = 0;
        return lab_fail(code < 0 && code > LAB_STOPPED ? (int)code : VIDI_EIO, "%s", next + strspn(next, " "));
    }
    for (size_t i = 0; i < count; i++, at = next + 1) {
        numbers[i] = strtod(at, &next);
        if (next == at || *next != '\n')
            return lab_fail(VIDI_EIO, "the process that measured it printed something else than %zu numbers", count);
    }
    return *at == 0 ? VIDI_OK : lab_fail(VIDI_EIO, "the process that measured it printed more than %zu numbers", count);
}

int lab_run_apart(void *context, const lab_study *study, const lab_settings *settings, uint64_t run, double *numbers)
{
    size_t count = lab_study_rows(study) * lab_study_columns(study), room = count * NUMBER_ROOM + 1024;
    command_line command;
    pid_t child = -1;
    int from = -1, code = make_command(&command, context, study, settings, run);
    char *text = code == VIDI_OK ? malloc(room) : NULL;
    if (code == VIDI_OK && !text)
        code = lab_fail(VIDI_EMEMORY, "no memory for a process");
    if (code == VIDI_OK)
        code = start(&command, &child, &from);
    if (code == VIDI_OK) {
        code = end(child, read_all(from, text, room, settings));
        close(from);
    }
    if (code == VIDI_OK)
        code = parse(text, numbers, count);
    free(text);
    free(command.words);
    return code;
}

bool lab_can_run_apart(const lab_options *options)
{
    struct stat about;
    for (size_t i = 0; i < options->files.count; i++)
        if (strcmp(options->files.list[i], "-") == 0 || stat(options->files.list[i], &about) != 0 ||
            !S_ISREG(about.st_mode))
            return false;
    return access(THIS_PROGRAM, X_OK) == 0;
}
