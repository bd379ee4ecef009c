/*
 * The program: finds the command and runs it.
 *
 * If the first word is the name of a command, that command runs; otherwise all words are options and files of `dedup`.
 * A file that has the name of a command is given as ./plan.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "ui/options.h"

const cli_command *const cli_commands[] = {&cli_dedup, &cli_has,      &cli_remove, &cli_list,
#if VIDI_HAVE_CRAWL
                                           &cli_crawl,
#endif
                                           &cli_canon, &cli_links,    &cli_robots, &cli_sitemap, &cli_plan,
                                           &cli_kinds, &cli_info,     &cli_top,    &cli_check,   &cli_rotate,
                                           &cli_merge, &cli_snapshot, &cli_export, &cli_import,  &cli_bench,
                                           &cli_lab,   &cli_version,  &cli_help,   NULL};

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

static int neither_command_nor_file(const char *word)
{
    const char *nearest = cli_command_nearest(word);

    if (!VIDI_HAVE_CRAWL && strcmp(word, "crawl") == 0)
        return cli_error("this vidi was built without the crawler; the build option is VIDI_WITH_CRAWL");
    if (nearest)
        return cli_error("there is no file '%s', and no such command; did you mean '%s'?", word, nearest);
    return cli_error("there is no file '%s', and no such command; 'vidi help' lists the commands", word);
}

static int dispatch(cli_words words)
{
    struct stat about;

    if (words.count > 0 && words.list[0][0] != '-') {
        const cli_command *command = cli_command_find(words.list[0]);
        if (command)
            return command->run(command, (cli_words){words.list + 1, words.count - 1});
        if (stat(words.list[0], &about) != 0 && errno == ENOENT)
            return neither_command_nor_file(words.list[0]);
    }
    return cli_commands[0]->run(cli_commands[0], words);
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

int main(int argc, char **argv)
{
    keep_places();
    cli_color_set(NULL);
    /* A reader that has gone shows as an error of write(2), so every command can end in good order. */
    signal(SIGPIPE, SIG_IGN);
    /* So does a file that has reached the size limit. */
    signal(SIGXFSZ, SIG_IGN);
    int status = dispatch((cli_words){argv + 1, argc > 0 ? (size_t)argc - 1 : 0});
    if (status > CLI_SIGNAL)
        die_of(status - CLI_SIGNAL);
    return status;
}
