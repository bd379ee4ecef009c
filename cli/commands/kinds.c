/*
 * vidi kinds: the kinds of set that the library offers.
 */
#include <unistd.h>

#include "ui/options.h"
#include "ui/output.h"

typedef struct kinds_options {
    bool json;
} kinds_options;

static void print_json(cli_out *out)
{
    json_writer json = cli_json_to(out);
    vidi_kind_info info = {.size = sizeof info};

    json_open(&json, NULL, '[');
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        cli_out_text(out, i == 0 ? "\n" : ",\n");
        json.comma = false;
        json_open(&json, NULL, '{');
        json_add_string(&json, "kind", info.name);
        json_add_string(&json, "summary", info.summary);
        cli_json_can(&json, "can", info.can);
        json_add_bool(&json, "default", i == 0);
        json_close(&json, '}');
    }
    cli_out_text(out, "\n");
    json_close(&json, ']');
    cli_out_text(out, "\n");
}

static int print_table(cli_out *out)
{
    cli_table table = {.layout = "lll"};
    vidi_kind_info info = {.size = sizeof info};
    char can[64];

    cli_table_heads(&table, (const char *const[]){"kind", "can", "what it is"});
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        cli_table_cell(&table, "%s", info.name);
        cli_table_cell(&table, "%s", cli_human_can(can, info.can));
        cli_table_cell(&table, "%s%s", info.summary, i == 0 ? " (default)" : "");
    }
    return cli_table_print(&table, out);
}

static int run(void *values, cli_words words)
{
    const kinds_options *options = values;
    cli_out out;
    int status = CLI_OK;

    (void)words;
    cli_out_init(&out, STDOUT_FILENO);
    if (options->json)
        print_json(&out);
    else
        status = print_table(&out);
    return cli_out_end(&out, status);
}

static const cli_option options_table[] = {
    {"json", 0, CLI_FLAG, offsetof(kinds_options, json), NULL, "Print an array of objects instead of a table", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_kinds = {
    .name = "kinds",
    .summary = "List the kinds of set and what each can do",
    .usage = "vidi kinds [OPTION]...",
    .about = "Lists the kinds of set for --kind, the default first, with what each can do.",
    .details =
        "Capabilities: delete (URLs can be removed), count (says how often a URL was added), merge (two sets can be "
        "combined), iterate (can list what it holds), grow (needs no --capacity), concurrent (threads add in "
        "parallel).\n"
        "The exit status is 0, or 2 after an error.",
    .options = options_table,
    .size = sizeof(kinds_options),
    .run = run,
};
