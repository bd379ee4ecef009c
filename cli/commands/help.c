/*
 * vidi help, and the help texts of all commands, made from their tables: a short one that fits on a screen (-h) and a
 * full one (--help).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ui/options.h"
#include "ui/output.h"

enum { LINE_WIDTH = 80, LABEL_WIDTH = 24, DETAILS_INDENT = 8, COMMANDS_INDENT = 2 };

/*
 * Prints text in lines of at most LINE_WIDTH, indented, going on at `column`; '\n' ends a paragraph. Returns the column
 * it ends in.
 */
static int wrapped(cli_out *out, const char *text, int indent, int column)
{
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (column > indent && column + 1 + (int)length > LINE_WIDTH) {
            cli_out_text(out, "\n");
            column = 0;
        }
        int spaces = column < indent ? indent - column : column > indent;
        cli_out_format(out, "%*s", spaces, "");
        cli_out_bytes(out, text, length);
        column += spaces + (int)length;
        text += length;
        if (*text == '\n') {
            cli_out_text(out, "\n\n");
            column = 0;
        }
        text += *text != 0;
    }
    return column;
}

static void option_help(cli_out *out, const cli_option *option, bool full)
{
    char label[64];
    int length = snprintf(label, sizeof label, "  %c%c%s --%s%s%s", option->letter ? '-' : ' ',
                          option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
                          option->value ? " " : "", option->value ? option->value : "");

    cli_out_text(out, label);
    if (!full) {
        int gap = length < LABEL_WIDTH + 2 ? LABEL_WIDTH + 2 - length : 2;
        cli_out_format(out, "%*s%s\n", gap, "", option->summary);
        return;
    }
    cli_out_text(out, "\n");
    int column = wrapped(out, option->summary, DETAILS_INDENT, 0);
    cli_out_text(out, ".");
    if (option->details)
        wrapped(out, option->details, DETAILS_INDENT, column + 1);
    cli_out_text(out, "\n");
}

/* Returns true if the short help shows the option. */
static bool is_common(const cli_command *command, const char *name)
{
    size_t length = strlen(name);
    const char *at = command->common;

    if (!at)
        return true;
    for (; (at = strstr(at, name)) != NULL; at++)
        if ((at == command->common || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

/* The full help has a line for each command; the short one has only their names, so that it fits on a screen. */
static void commands_help(cli_out *out, bool full)
{
    int column = 0;

    cli_out_text(out, "\nCommands:\n");
    for (size_t i = 0; cli_commands[i] && !full; i++)
        column = wrapped(out, cli_commands[i]->name, COMMANDS_INDENT, column);
    cli_out_text(out, full ? "" : "\n");
    for (size_t i = 0; cli_commands[i] && full; i++)
        cli_out_format(out, "  %-8s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
}

int cli_help_print(const cli_command *command, bool full)
{
    bool main_help = command == cli_commands[0];
    cli_out out;

    cli_out_init(&out, STDOUT_FILENO);
    cli_out_format(&out, "Usage: %s\n%s\n", command->usage, main_help ? "       vidi COMMAND [OPTION]...\n" : "");
    wrapped(&out, command->about, 0, 0);
    if (full) {
        cli_out_text(&out, "\n\n");
        wrapped(&out, command->details, 0, 0);
    }
    cli_out_text(&out, "\n\nOptions:\n");
    for (const cli_option *option = command->options; option->name; option++)
        if (option->summary && (full || is_common(command, option->name)))
            option_help(&out, option, full);
    if (main_help)
        commands_help(&out, full);
    if (full && command->examples)
        cli_out_format(&out, "\nExamples:\n%s", command->examples);
    if (!full && command->common)
        cli_out_format(&out, "\n'vidi %s%s--help' lists all options.%s", main_help ? "" : command->name,
                       main_help ? "" : " ", main_help ? "" : "\n");
    if (main_help)
        cli_out_text(&out, full ? "\n'vidi help COMMAND' describes a command.\n"
                           : command->common
                               ? " 'vidi help COMMAND' describes a command.\n"
                               : "\n'vidi help' lists all commands, 'vidi help COMMAND' describes one.\n");
    return cli_out_close(&out);
}

static int run(void *values, cli_words words)
{
    (void)values;
    const cli_command *command = words.count == 0 ? cli_commands[0] : cli_command_find(words.list[0]);
    if (command && !command->options)
        return command->run(NULL, (cli_words){(char *[]){(char *)"--help"}, 1});
    if (command)
        return cli_help_print(command, true);
    const char *nearest = cli_command_nearest(words.list[0]);
    if (nearest)
        return cli_error("there is no command '%s'; did you mean '%s'?", words.list[0], nearest);
    return cli_error("there is no command '%s'; 'vidi help' lists them", words.list[0]);
}

static const cli_option options_table[] = {CLI_OPTIONS_END};

const cli_command cli_help = {
    .name = "help",
    .summary = "Describe vidi or one of its commands",
    .usage = "vidi help [COMMAND]",
    .about = "Prints the full help of a command, or of vidi as a whole.",
    .details = "The exit status is 0, or 2 after an error.",
    .options = options_table,
    .operand = "COMMAND",
    .most = 1,
    .run = run,
};
