/*
 * vidi version: which version this is.
 */
#include "ui/options.h"
#include "ui/output.h"

int cli_version_print(void)
{
    return cli_print_result("vidi %s\n", vidi_version());
}

static int run(const cli_command *self, cli_words words)
{
    int status = cli_options_parse(self, &words, NULL);
    return status == CLI_GO_ON ? cli_version_print() : status;
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
