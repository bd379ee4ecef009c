/*
 * vidi version: which version this is.
 */
#include "ui/options.h"
#include "ui/output.h"

int cli_version_print(void)
{
    return cli_print_result("vidi %s\n", vidi_version());
}

static int run(void *values, cli_words words)
{
    (void)values;
    (void)words;
    return cli_version_print();
}

static const cli_option options_table[] = {CLI_OPTIONS_END};

const cli_command cli_version = {
    .name = "version",
    .summary = "Print the version",
    .usage = "vidi version",
    .about = "Prints the version of vidi and of its library.",
    .details = "The exit status is 0, or 2 after an error.",
    .options = options_table,
    .run = run,
};
