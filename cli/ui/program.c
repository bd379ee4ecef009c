/* How a program of vidi starts and ends, and its list of commands. See cli.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ui/options.h"

static const char *command_name(const void *context, size_t index)
{
    (void)context;
    return cli_commands[index] ? cli_commands[index]->name : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

const char *cli_command_nearest(const char *name)
{
    return cli_nearest(name, command_name, NULL);
}

/*
 * If a standard stream is closed, the next file that is opened, perhaps a set, would get its number, and messages would
 * be written into it. So /dev/null is opened in its place, in the wrong direction: using it fails as it should.
 */
static void keep_places(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Ends the process with the signal, so that the parent process sees why. */
static void die_of(int number)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

/*
 * Everybody on the machine can read the words of a process. So the password of an address is overwritten there, and the
 * program works on a copy. Without memory for the copy, the word stays as it is.
 */
static void hide_password(char **word)
{
    char *begin = strstr(*word, "redis"), *at = begin ? strstr(begin, "://") : NULL,
         *end = at ? strrchr(at, '@') : NULL;
    char *colon = end ? memchr(at + 3, ':', (size_t)(end - at - 3)) : NULL;
    char *copy = colon ? strdup(*word) : NULL;

    if (!copy)
        return;
    memset(colon + 1, 'x', (size_t)(end - colon - 1));
    *word = copy;
}

int cli_program(int argc, char **argv, int (*run)(cli_words words))
{
    keep_places();
    cli_color_set(NULL);
    /* A reader that has gone shows as an error of write(2), so every command can end in good order. */
    signal(SIGPIPE, SIG_IGN);
    /* So does a file that has reached the size limit. */
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 1; i < argc; i++)
        hide_password(&argv[i]);
    int status = run((cli_words){argv + 1, argc > 0 ? (size_t)argc - 1 : 0});
    if (status > CLI_SIGNAL)
        die_of(status - CLI_SIGNAL);
    return status;
}
