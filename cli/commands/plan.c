/*
 * vidi plan: which kind of set to use and what it costs. The library computes and orders the plans (vidi_plan); this
 * command prints them, with an asterisk at the one that `vidi` itself would use.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/plan_cluster.h"
#include "pipeline/options/set_options.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/plan_plot.h"

enum { PLANS = 64, OPTIONS_ROOM = 256 };

typedef struct plan_options {
    const char *kind, *color;
    char *params;
    uint64_t urls, memory, k;
    double error, multiplier, url_bytes;
    double lost;    /* negative: not given; 0: only kinds that lose nothing */
    uint64_t nodes; /* of a cluster; 0: not given */
    bool json, plot, no_plot;
} plan_options;

/* A request and what the library answers. */
typedef struct plan_answer {
    vidi_plan_request want;
    bool assumed; /* nothing limits the losses, so the library assumes that one page may be lost */
    vidi_plan_entry plans[PLANS];
    size_t n;
    const vidi_plan_entry *chosen; /* NULL: vidi would refuse them all */
} plan_answer;

static int make_request(const plan_options *options, plan_answer *answer)
{
    vidi_plan_request *want = &answer->want;

    if (!options->urls && !options->memory && !(options->lost > 0))
        return cli_error("give --urls or --memory; for example 'vidi plan --urls 1e9'");
    *want = (vidi_plan_request)VIDI_PLAN_REQUEST_INIT;
    want->kind = options->kind;
    want->params = options->params;
    want->urls = options->urls;
    want->memory = options->memory;
    want->error = options->error;
    want->lost = options->lost > 0 ? options->lost : 0;
    want->exact = options->lost == 0;
    want->k = (uint32_t)options->k;
    want->multiplier = options->multiplier;
    want->url_bytes = options->url_bytes;
    answer->assumed = !(want->error > 0) && options->lost < 0 && !(want->urls && want->memory) &&
                      !(want->k && want->multiplier > 0) && !want->params;
    return CLI_OK;
}

static int ask(plan_answer *answer)
{
    vidi_plan_request *want = &answer->want;

    answer->n = PLANS;
    CLI_TRY(cli_library_status(vidi_plan(want, answer->plans, &answer->n)));
    answer->chosen = cli_plan_choice(want, answer->plans, answer->n);
    return CLI_OK;
}

/* ---- for programs ---- */

static void print_json(cli_out *out, const plan_answer *answer)
{
    json_writer json = cli_json_to(out);

    json_open(&json, NULL, '[');
    for (size_t i = 0; i < answer->n; i++) {
        const vidi_plan_entry *plan = &answer->plans[i];
        cli_out_text(out, i == 0 ? "\n" : ",\n");
        json.comma = false;
        json_open(&json, NULL, '{');
        json_add_string(&json, "kind", plan->kind);
        json_add_string(&json, "params", plan->params);
        json_add_count(&json, "urls", plan->urls);
        json_add_count(&json, "bytes", plan->bytes);
        json_add_real(&json, "bytes_per_url", plan->bytes_per_url);
        json_add_real(&json, "error", plan->error);
        json_add_real(&json, "expected_lost", plan->expected_lost);
        json_add_string(&json, "expected_lost_is", cli_meaning_name(plan->fp_meaning));
        json_add_real(&json, "lines_per_url", plan->lines_per_url);
        cli_json_can(&json, "can", plan->can);
        json_add_bool(&json, "chosen", plan == answer->chosen);
        json_close(&json, '}');
    }
    cli_out_text(out, "\n");
    json_close(&json, ']');
    cli_out_text(out, "\n");
}

/* ---- for people ---- */

static const char *human_lines(cli_number *number, double lines)
{
    return lines < 999.5 ? cli_human_real(number, lines) : cli_human_short(number, lines);
}

static int print_table(cli_out *out, const plan_answer *answer)
{
    static const char *const heads[] = {"",      "kind",       "URLs",      "memory", "bytes/URL",
                                        "error", "pages lost", "lines/URL", "can",    "params"};
    cli_table table = {.layout = "llrrrrrrll"};
    cli_number number;
    char can[CLI_CAN_LETTERS];

    cli_table_heads(&table, heads);
    for (size_t i = 0; i < answer->n; i++) {
        const vidi_plan_entry *plan = &answer->plans[i];
        cli_table_cell(&table, "%s", plan == answer->chosen ? "*" : "");
        cli_table_cell(&table, "%s", plan->kind);
        cli_table_cell(&table, "%s", cli_human_count(&number, plan->urls));
        cli_table_cell(&table, "%s", cli_human_bytes(&number, plan->bytes));
        cli_table_cell(&table, "%s", cli_human_real(&number, plan->bytes_per_url));
        cli_table_cell(&table, "%s%s", cli_meaning_sign(plan->fp_meaning), cli_human_real(&number, plan->error));
        cli_table_cell(&table, "%s", cli_human_lost(&number, plan->expected_lost, plan->fp_meaning));
        cli_table_cell(&table, "%s", human_lines(&number, plan->lines_per_url));
        cli_table_cell(&table, "%s", cli_can_letters(can, plan->can));
        cli_table_cell(&table, "%s", plan->params);
    }
    return cli_table_print(&table, out);
}

/* Returns true if `vidi` has an option for each number of the request, so it can make the same plan itself. */
static bool vidi_can_ask(const vidi_plan_request *want)
{
    return (want->urls || want->memory) && !want->params && !want->k && !(want->multiplier > 0) &&
           !(want->url_bytes > 0);
}

/* The options by which `vidi` comes to the chosen plan. */
static void make_options(const plan_answer *answer, char text[OPTIONS_ROOM])
{
    const vidi_plan_request *want = &answer->want;
    char kind[40] = "", urls[40] = "", memory[40] = "", error[60] = "", lost[60] = "";
    cli_number number;

    if (want->kind)
        snprintf(kind, sizeof kind, " --kind %.30s", want->kind);
    if (want->urls)
        snprintf(urls, sizeof urls, " --capacity %llu", (unsigned long long)want->urls);
    if (want->memory)
        snprintf(memory, sizeof memory, " --memory %llu", (unsigned long long)want->memory);
    if (want->error > 0)
        snprintf(error, sizeof error, " --error %s", cli_shortest_real(&number, want->error));
    if (want->lost > 0)
        snprintf(lost, sizeof lost, " --lost %s", cli_shortest_real(&number, want->lost));
    else if (want->exact || answer->assumed)
        snprintf(lost, sizeof lost, " --lost %d", want->exact ? 0 : 1);
    snprintf(text, OPTIONS_ROOM, "%s%s%s%s%s", kind, urls, memory, error, lost);
}

static void print_command(cli_out *out, const plan_answer *answer)
{
    char options[OPTIONS_ROOM];

    if (vidi_can_ask(&answer->want) && !answer->want.kind) {
        make_options(answer, options);
        cli_out_format(out, "vidi%s", options);
    } else {
        cli_out_format(out, "vidi --kind %s --param %s", answer->chosen->kind, answer->chosen->params);
    }
}

static void print_notes(cli_out *out, const plan_answer *answer)
{
    cli_out_text(out, "\n");
    if (answer->assumed)
        cli_out_text(out, "Planned for at most 1 page lost; --lost, --error or --memory set another limit.\n");
    if (answer->chosen) {
        cli_out_text(out, "* is what '");
        print_command(out, answer);
        cli_out_text(out, "' uses; for another plan give vidi its --kind and --param.\n");
    } else {
        cli_out_text(out, "vidi itself would use none of these: too many pages would be lost.\n");
    }
    cli_out_text(out, "lines/URL: cache lines that adding a URL touches; fewer is faster.\n"
                      "can: d delete, c count, m merge, l list, g grow, p add from several threads in parallel.\n");
}

/* ---- on a cluster ---- */

static int print_for_cluster(const plan_options *options, const plan_answer *answer)
{
    char command[OPTIONS_ROOM];
    cli_out out;
    cli_cluster_request request = {.want = &answer->want, .nodes = (uint32_t)options->nodes, .json = options->json};

    if (options->plot)
        return cli_error("--plot and --cluster exclude each other");
    make_options(answer, command);
    if (vidi_can_ask(&answer->want))
        request.command = command + 1;
    cli_out_init(&out, STDOUT_FILENO);
    return cli_out_end(&out, cli_cluster_print(&out, &request));
}

static int plan_run(const plan_options *options)
{
    plan_answer answer;
    cli_out out;
    bool color;

    CLI_TRY(cli_color_on(STDOUT_FILENO, options->color, &color));
    if (options->plot && (options->no_plot || options->json))
        return cli_error("--plot and --%s exclude each other", options->json ? "json" : "no-plot");
    CLI_TRY(make_request(options, &answer));
    if (options->nodes)
        return print_for_cluster(options, &answer);
    CLI_TRY(ask(&answer));

    int status = CLI_OK;
    cli_out_init(&out, STDOUT_FILENO);
    if (options->json) {
        print_json(&out, &answer);
    } else {
        status = print_table(&out, &answer);
        print_notes(&out, &answer);
    }
    if (!options->json && !options->no_plot && (options->plot || isatty(STDOUT_FILENO)))
        cli_plot(&out, &answer.want, answer.plans, answer.n, color);
    return cli_out_end(&out, status);
}

static int run(void *values, cli_words words)
{
    (void)words;
    return plan_run(values);
}

#define FIELD(name) offsetof(plan_options, name)

static const cli_option options_table[] = {
    {"urls", 0, CLI_COUNT, FIELD(urls), "N", "Number of different URLs, like 1e9 or 100M", NULL, 0},
    {"memory", 0, CLI_BYTES, FIELD(memory), "SIZE", "Maximum memory, like 500M, 2GiB or 2GB",
     "M and MiB are 2^20 bytes, MB is 10^6; K, G and T likewise.", 0},
    {"error", 0, CLI_PROBABILITY, FIELD(error), "E", "Highest probability of mistaking a new URL for seen",
     "This is the rate when the set is full.", 0},
    {"lost", 0, CLI_AMOUNT, FIELD(lost), "L", "Most pages lost, from empty to full [1]",
     "May be a fraction: 0.01 is one page in a hundred crawls. With 0, only exact kinds such as hashset are planned. "
     "The default applies if nothing else limits the losses.",
     0},
    {"k", 0, CLI_COUNT, FIELD(k), "K", "Positions per URL, for kinds that have them", NULL, UINT32_MAX},
    {"multiplier", 0, CLI_REAL, FIELD(multiplier), "M", "Bit-size multiplier: bits = URLs * K * M", NULL, 0},
    {"kind", 0, CLI_TEXT, FIELD(kind), "NAME", "This kind only; 'vidi kinds' lists them", NULL, 0},
    {"param", 0, CLI_PAIRS, FIELD(params), "NAME=VALUE", "Parameter of that kind; may be given several times", NULL, 0},
    {"url-bytes", 0, CLI_REAL, FIELD(url_bytes), "N", "Average length of a URL, for kinds storing URLs [80]", NULL, 0},
    {"cluster", 0, CLI_COUNT, FIELD(nodes), "NODES", "Plan for this many nodes of a Redis or Valkey Cluster",
     "Chooses the number of shards, and tells the memory of each node and how many URLs a second to expect.", 1000},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print an array of objects instead of a table", NULL, 0},
    {"plot", 0, CLI_FLAG, FIELD(plot), NULL, "Draw pages lost against memory below the table",
     "This is the default on a terminal.", 0},
    {"no-plot", 0, CLI_FLAG, FIELD(no_plot), NULL, "Do not draw the plot", NULL, 0},
    {"color", 0, CLI_TEXT, FIELD(color), "WHEN", "Colours of the plot: auto, always, never [auto]",
     "'auto' uses colours on a terminal, unless NO_COLOR is set.", 0},
    CLI_OPTIONS_END,
};

const cli_command cli_plan = {
    .name = "plan",
    .summary = "Compare kinds of set by memory and pages lost",
    .usage = "vidi plan [OPTION]...",
    .about = "Computes what each kind of set would cost you: memory, pages lost, speed. The best plan comes first.",
    .details =
        "Give --urls or --memory, and a limit for the losses: --lost, --error, or both --urls and --memory. Without a "
        "limit, plans lose at most one page. --k and --multiplier fix the shape of Bloom filters.\n"
        "The best plan has the smallest product of memory per URL (a set below 1 MiB counts as 1 MiB), whole cache "
        "lines per URL and, if neither errors nor losses are limited, 1 + pages lost; among equal products, the plan "
        "whose kind can do more comes first. The plan that 'vidi' itself uses has an asterisk, and a line below the "
        "table says with which options.\n"
        "The column lines/URL is a measure of speed: the cache lines that adding a URL touches, on average. The column "
        "'can' has a letter for each thing that a set of that kind can do: delete, count, merge, list, grow, and add "
        "from "
        "several threads in parallel (p). The last column has the values to give as --param.\n"
        "'<=' stands before upper bounds, for kinds that lose more or less depending on how alike the URLs are. '~' "
        "stands before figures that hold for most URLs while a few URLs are lost for certain.\n"
        "With --cluster, the set is divided among shards of at most 8 MiB each, so that moving one to another node "
        "never "
        "holds up a server for long, and among at least 16 for each node. The fullest node is the one that is expected "
        "to have the most shards: nodes have equal ranges of slots, and a shard's slot is at random in a range of its "
        "own. Rates follow from the processor time that a server was measured to take for a URL.\n"
        "On a terminal, a plot shows what more or less memory would change: each kind has a curve of its pages lost "
        "for the number of URLs in the first plan. Where curves meet, their symbols alternate. Kinds that lose nothing "
        "have a symbol in the lowest row, at the memory that they need.\n"
        "The exit status is 0, or 2 after an error.",
    .examples = "  vidi plan --urls 1e9                     at most one page lost\n"
                "  vidi plan --urls 1e9 --lost 0            no page lost\n"
                "  vidi plan --urls 1e8 --memory 512M       what fits?\n"
                "  vidi plan --kind classic --memory 1G --error 1e-6\n"
                "  vidi plan --urls 1e9 --lost 1 --cluster 3\n"
                "  vidi plan --urls 1e9 --json | jq '.[] | select(.chosen)'\n",
    .options = options_table,
    .size = sizeof(plan_options),
    .defaults = &(const plan_options){.lost = -1},
    .run = run,
};
