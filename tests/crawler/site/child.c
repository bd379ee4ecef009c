#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void child_add(child_plan *plan, ...)
{
    va_list words;
    size_t count = 0;
    while (plan->words[count])
        count++;
    va_start(words, plan);
    for (const char *word; (word = va_arg(words, const char *)) && count + 1 < CHILD_WORDS;)
        plan->words[count++] = word;
    va_end(words);
}

void child_set(child_plan *plan, const char *variable)
{
    size_t count = 0;
    while (plan->variables[count])
        count++;
    if (count + 1 < CHILD_VARIABLES)
        plan->variables[count] = variable;
}

const char *child_built(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    const char *build = getenv("VIDI_BUILD");
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", build ? build : "build", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static void redirect(int to, const char *path)
{
    int file = open(path ? path : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0)
        dup2(file, to);
}

pid_t child_start(const child_plan *plan)
{
    const char *variables[512];
    size_t count = 0;
    for (size_t i = 0; environ[i] && count < 480; i++)
        variables[count++] = environ[i];
    for (size_t i = 0; plan->variables[i]; i++)
        variables[count++] = plan->variables[i];
    variables[count] = NULL;
    pid_t pid = fork();
    if (pid == 0) {
        redirect(STDIN_FILENO, NULL);
        redirect(STDOUT_FILENO, plan->out);
        redirect(STDERR_FILENO, plan->err);
        signal(SIGINT, SIG_DFL); /* a shell that has started the test in the background ignores it */
        execve(plan->words[0], (char *const *)(uintptr_t)plan->words, (char *const *)(uintptr_t)variables);
        _exit(127);
    }
    return pid;
}

int child_run(const child_plan *plan)
{
    int status = -1;
    pid_t pid = child_start(plan);
    if (pid < 0)
        return -1;
    if (plan->signal) {
        static const struct timespec moment = {0, 1000000};
        while (plan->begun && access(plan->begun, F_OK) != 0 && waitpid(pid, &status, WNOHANG) == 0)
            nanosleep(&moment, NULL);
        struct timespec wait = {plan->after_us / 1000000, plan->after_us % 1000000 * 1000};
        nanosleep(&wait, NULL);
        kill(pid, plan->signal);
    }
    return waitpid(pid, &status, 0) == pid ? status : -1;
}
