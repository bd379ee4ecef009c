/*
 * The program: finds the command and runs it.
 *
 * If the first word is the name of a command, that command runs; otherwise all words are options and files of `dedup`.
 * A file that has the name of a command is given as ./plan.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/server.h"
#include "ui/options.h"

const cli_command *const cli_commands[] = {
    &cli_dedup,  &cli_has,   &cli_remove, &cli_list,
#if VIDI_HAVE_CRAWL
    &cli_crawl,
#endif
    &cli_canon,  &cli_links, &cli_robots, &cli_sitemap, &cli_plan,    &cli_kinds,    &cli_init,
    &cli_info,   &cli_top,   &cli_check,  &cli_rotate,  &cli_merge,   &cli_snapshot, &cli_export,
    &cli_import, &cli_drop,  &cli_bench,  &cli_lab,     &cli_version, &cli_help,     NULL};

static int neither_command_nor_file(const char *word)
{
    const char *nearest = cli_command_nearest(word);

    if (!VIDI_HAVE_CRAWL && strcmp(word, "crawl") == 0)
        return cli_error("this vidi was built without the crawler; the build option is VIDI_WITH_CRAWL");
    if (nearest)
        return cli_error("there is no file '%s', and no such command; did you mean '%s'?", word, nearest);
    return cli_error("there is no file '%s', and no such command; 'vidi help' lists the commands", word);
}

/* Frees what the values of options of the types CLI_PAIRS and CLI_TEXTS took. */
static void free_values(const cli_command *command, void *values)
{
    for (const cli_option *option = command->options; option->name; option++) {
        void *field = (char *)values + option->offset;
        if (!option->summary) /* another letter of an option */
            continue;
        if (option->type == CLI_PAIRS)
            free(*(char **)field);
        else if (option->type == CLI_TEXTS)
            free(((cli_words *)field)->list);
    }
    if (command->given)
        free(((cli_words *)((char *)values + command->given))->list);
    free(values);
}

/* Reads the options, runs the command, and frees what the options took. */
static int run(const cli_command *command, cli_words words)
{
    if (!command->options)
        return command->run(NULL, words);
    void *values = calloc(1, command->size + 1);
    if (!values)
        return cli_error("out of memory");
    if (command->defaults)
        memcpy(values, command->defaults, command->size);
    int status = cli_options_parse(command, &words, values);
    if (status == CLI_GO_ON)
        status = command->run(values, words);
    free_values(command, values);
    return status;
}

static int dispatch(cli_words words)
{
    struct stat about;
    cli_shown shown;

    if (words.count > 0 && cli_is_address(words.list[0]))
        return cli_error("%s is the address of a set; to use it for URLs, write --state before it",
                         cli_shown_path(&shown, words.list[0]));
    if (words.count > 0 && words.list[0][0] != '-') {
        const cli_command *command = cli_command_find(words.list[0]);
        if (command)
            return run(command, (cli_words){words.list + 1, words.count - 1});
        if (stat(words.list[0], &about) != 0 && errno == ENOENT)
            return neither_command_nor_file(words.list[0]);
    }
    return run(cli_commands[0], words);
}

int main(int argc, char **argv)
{
    return cli_program(argc, argv, dispatch);
}
