/*
 * vidi plan: what to use and what it costs. The mathematics are the library's (vidi_plan); this prints its answers.
 */
#include <stdlib.h>
#include <unistd.h>

#include "ui/options.h"
#include "ui/output.h"
#include "ui/plan_plot.h"

enum { PLANS = 64 };

typedef struct plan_options {
    const char *kind, *color;
    char *params;
    uint64_t urls, memory, k;
    double error, lost, multiplier, url_bytes;
    bool json, plot, no_plot;
} plan_options;

static void print_json(cli_out *out, const vidi_plan_entry *plans, size_t n)
{
    cli_json json = {out, false};

    cli_json_open(&json, NULL, '[');
    for (size_t i = 0; i < n; i++) {
        cli_out_text(out, i == 0 ? "\n" : ",\n");
        json.comma = false;
        cli_json_open(&json, NULL, '{');
        cli_json_string(&json, "kind", plans[i].kind);
        cli_json_string(&json, "params", plans[i].params);
        cli_json_count(&json, "urls", plans[i].urls);
        cli_json_count(&json, "bytes", plans[i].bytes);
        cli_json_real(&json, "bytes_per_url", plans[i].bytes_per_url);
        cli_json_real(&json, "error", plans[i].error);
        cli_json_real(&json, "expected_lost", plans[i].expected_lost);
        cli_json_string(&json, "expected_lost_is", cli_meaning_name(plans[i].fp_meaning));
        cli_json_can(&json, "can", plans[i].can);
        cli_json_close(&json, '}');
    }
    cli_out_text(out, "\n");
    cli_json_close(&json, ']');
    cli_out_text(out, "\n");
}

static int print_table(cli_out *out, const vidi_plan_entry *plans, size_t n)
{
    static const char *const heads[] = {"kind", "URLs", "memory", "bytes/URL", "error", "pages lost", "params"};
    cli_table table = {.layout = "lrrrrrl"};
    cli_number number;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        cli_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < n; i++) {
        const char *mark = cli_meaning_mark(plans[i].fp_meaning);
        cli_table_cell(&table, "%s", plans[i].kind);
        cli_table_cell(&table, "%s", cli_human_count(&number, plans[i].urls));
        cli_table_cell(&table, "%s", cli_human_bytes(&number, plans[i].bytes));
        cli_table_cell(&table, "%s", cli_human_real(&number, plans[i].bytes_per_url));
        cli_table_cell(&table, "%s%s", mark, cli_human_real(&number, plans[i].error));
        cli_table_cell(&table, "%s%s", mark, cli_human_real(&number, plans[i].expected_lost));
        cli_table_cell(&table, "%s", plans[i].params);
    }
    return cli_table_print(&table, out);
}

static int plan_run(const plan_options *options)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plans[PLANS];
    size_t n = PLANS;
    cli_out out;
    bool color;

    if (cli_color_on(STDOUT_FILENO, options->color, &color) != CLI_OK)
        return CLI_ERROR;
    if (options->plot && (options->no_plot || options->json))
        return cli_error("--plot and --%s exclude each other", options->json ? "json" : "no-plot");
    if (!options->urls && !options->memory && !(options->lost > 0))
        return cli_error("give two or three of --urls, --memory, --error, --lost, --k and --multiplier; for example "
                         "'vidi plan --urls 1e9 --lost 1'");
    want.kind = options->kind;
    want.params = options->params;
    want.urls = options->urls;
    want.memory = options->memory;
    want.error = options->error;
    want.lost = options->lost;
    want.k = (uint32_t)options->k;
    want.multiplier = options->multiplier;
    want.url_bytes = options->url_bytes;
    int error = vidi_plan(&want, plans, &n);
    if (error < 0)
        return cli_library_error(error);

    int status = CLI_OK;
    cli_out_init(&out, STDOUT_FILENO);
    if (options->json)
        print_json(&out, plans, n);
    else
        status = print_table(&out, plans, n);
    if (!options->json && !options->no_plot && (options->plot || isatty(STDOUT_FILENO)))
        cli_plot(&out, &want, plans, n, color);
    int closed = cli_out_close(&out);
    return closed != CLI_OK ? closed : status;
}

static int run(const cli_command *self, cli_words words)
{
    plan_options options = {0};
    int status = cli_options_parse(self, &words, &options);

    if (status == CLI_GO_ON)
        status = plan_run(&options);
    free(options.params);
    return status;
}

#define FIELD(name) offsetof(plan_options, name)

static const cli_option options_table[] = {
    {"urls", 0, CLI_COUNT, FIELD(urls), "N", "Number of different URLs, like 1e9 or 100M", NULL, 0},
    {"memory", 0, CLI_BYTES, FIELD(memory), "SIZE", "Memory at most, like 500M, 2GiB or 2GB",
     "M and MiB are 2^20 bytes, MB is 10^6; K, G and T likewise.", 0},
    {"error", 0, CLI_PROBABILITY, FIELD(error), "E", "Probability at most that a new URL is taken for seen",
     "When the set is full.", 0},
    {"lost", 0, CLI_REAL, FIELD(lost), "L", "Pages lost at most, from empty to full",
     "May be a fraction: 0.01 is one page in a hundred crawls. Exact kinds such as hashset lose none.", 0},
    {"k", 0, CLI_COUNT, FIELD(k), "K", "Positions a URL, for kinds that have them", NULL, UINT32_MAX},
    {"multiplier", 0, CLI_REAL, FIELD(multiplier), "M", "M in bits = URLs * K * M", NULL, 0},
    {"kind", 0, CLI_TEXT, FIELD(kind), "NAME", "This kind only; 'vidi kinds' lists them", NULL, 0},
    {"param", 0, CLI_PAIRS, FIELD(params), "NAME=VALUE", "Parameter of that kind; may be given several times", NULL, 0},
    {"url-bytes", 0, CLI_REAL, FIELD(url_bytes), "N", "Average length of a URL, for kinds storing URLs [80]", NULL, 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print an array of objects instead of a table", NULL, 0},
    {"plot", 0, CLI_FLAG, FIELD(plot), NULL, "Draw pages lost against memory below the table",
     "It is drawn without this option too if standard output is a terminal.", 0},
    {"no-plot", 0, CLI_FLAG, FIELD(no_plot), NULL, "Do not draw", NULL, 0},
    {"color", 0, CLI_TEXT, FIELD(color), "WHEN", "Colours of the plot: auto, always, never [auto]",
     "'auto' is on a terminal, unless NO_COLOR is set.", 0},
    CLI_OPTIONS_END,
};

const cli_command cli_plan = {
    .name = "plan",
    .summary = "Compute what to use and what it costs in memory and pages lost",
    .usage = "vidi plan [OPTION]...",
    .about =
        "Computes, for each kind of set that can serve, what you leave open: memory, error rate, pages lost, URLs.",
    .details =
        "Give two or three of --urls, --memory, --error, --lost, --k and --multiplier. The best answer comes "
        "first: the "
        "least memory if memory was to be found, the fewest pages lost if memory was given, the most URLs if "
        "those were to "
        "be found.\n"
        "'<=' marks upper bounds, for kinds that lose more or less depending on how alike the URLs are; '~' "
        "marks figures "
        "that hold for most URLs while some are lost for certain. The last column is what to give as --param.\n"
        "On a terminal a plot shows what more memory would buy and less of it cost: a curve for each kind, of the "
        "pages lost among as many URLs as the first answer is for. Kinds whose curves meet take turns; those that "
        "lose nothing have a mark in the lowest row, where their memory begins to suffice.\n"
        "The exit status is 0, or 2 after an error.",
    .examples = "  vidi plan --urls 1e9 --lost 1\n"
                "  vidi plan --urls 1e8 --memory 512M\n"
                "  vidi plan --kind classic --memory 1G --error 1e-6\n"
                "  vidi plan --urls 1e9 --lost 1 --json | jq '.[0]'\n",
    .options = options_table,
    .run = run,
};
