/*
 * vidi plan --cluster: see plan_cluster.h. What does not follow from the plan of a shard was measured: the processor
 * time that a server takes for a URL. It is that of the main thread (used_cpu_user_main_thread and ..._sys_...) of Redis
 * 7.0.15 with the module on one core of a virtual machine, while `vidi --state redis://…` read a million lines of 54
 * bytes, 60 % of them new, into 1,024 shards, and read them again.
 */
#include "commands/plan_cluster.h"

#include "pipeline/options/cluster_plan.h"
#include "pipeline/options/set_options.h"

#define NEW_US 2.3  /* a URL that is new: it is claimed, and then committed */
#define SEEN_US 0.5 /* a URL that was seen: it is refused */

/* A plan for all nodes together. */
typedef struct row {
    const cli_cluster_plan *plan;
    bool chosen;
    double load;     /* of the fullest node: the average is 1 */
    uint64_t bytes;  /* of all shards, when full */
    uint64_t node;   /* of the fullest node */
    double lost;     /* pages */
    double new_rate; /* URLs a second, by the servers */
    double seen_rate;
} row;

static row row_of(const cli_cluster_plan *plan, bool chosen, uint32_t nodes)
{
    row made = {.plan = plan, .chosen = chosen, .load = cli_cluster_load(plan->shards, nodes)};

    made.bytes = plan->shard.bytes * plan->shards;
    made.node = (uint64_t)((double)made.bytes / nodes * made.load);
    made.lost = plan->shard.expected_lost * plan->shards;
    made.new_rate = 1e6 / NEW_US * nodes / made.load;
    made.seen_rate = 1e6 / SEEN_US * nodes / made.load;
    return made;
}

/* ---- for programs ---- */

static void put_object(cli_out *out, const row *row, const cli_cluster_request *request)
{
    json_writer json = cli_json_to(out);
    const vidi_plan_entry *shard = &row->plan->shard;

    json_open(&json, NULL, '{');
    json_add_string(&json, "kind", shard->kind);
    json_add_string(&json, "params", shard->params);
    json_add_count(&json, "urls", row->plan->urls);
    json_add_count(&json, "nodes", request->nodes);
    json_add_count(&json, "shards", row->plan->shards);
    json_add_count(&json, "shard_urls", shard->urls);
    json_add_count(&json, "shard_bytes", shard->bytes);
    json_add_count(&json, "bytes", row->bytes);
    json_add_count(&json, "node_bytes", row->bytes / request->nodes);
    json_add_count(&json, "fullest_node_bytes", row->node);
    json_add_real(&json, "load", row->load);
    json_add_real(&json, "bytes_per_url", (double)row->bytes / (double)row->plan->urls);
    json_add_real(&json, "error", shard->error);
    json_add_real(&json, "expected_lost", row->lost);
    json_add_string(&json, "expected_lost_is", cli_meaning_name(shard->fp_meaning));
    json_add_real(&json, "new_urls_per_second", row->new_rate);
    json_add_real(&json, "seen_urls_per_second", row->seen_rate);
    cli_json_can(&json, "can", shard->can);
    json_add_bool(&json, "chosen", row->chosen);
    json_close(&json, '}');
}

static void put_json(cli_out *out, const row *rows, size_t n, const cli_cluster_request *request)
{
    cli_out_text(out, "[");
    for (size_t i = 0; i < n; i++) {
        cli_out_text(out, i == 0 ? "\n" : ",\n");
        put_object(out, &rows[i], request);
    }
    cli_out_text(out, "\n]\n");
}

/* ---- for people ---- */

static int put_table(cli_out *out, const row *rows, size_t n)
{
    static const char *const heads[] = {
        "",          "kind",      "URLs",  "shards",     "a shard",          "fullest node",
        "all nodes", "bytes/URL", "error", "pages lost", "params of a shard"};
    cli_table table = {.layout = "llrrrrrrrrl"};
    cli_number number;

    cli_table_heads(&table, heads);
    for (const row *row = rows; row < rows + n; row++) {
        const vidi_plan_entry *shard = &row->plan->shard;
        cli_table_cell(&table, "%s", row->chosen ? "*" : "");
        cli_table_cell(&table, "%s", shard->kind);
        cli_table_cell(&table, "%s", cli_human_count(&number, row->plan->urls));
        cli_table_cell(&table, "%s", cli_human_count(&number, row->plan->shards));
        cli_table_cell(&table, "%s", cli_human_bytes(&number, shard->bytes));
        cli_table_cell(&table, "%s", cli_human_bytes(&number, row->node));
        cli_table_cell(&table, "%s", cli_human_bytes(&number, row->bytes));
        cli_table_cell(&table, "%s", cli_human_real(&number, (double)row->bytes / (double)row->plan->urls));
        cli_table_cell(&table, "%s%s", cli_meaning_sign(shard->fp_meaning), cli_human_real(&number, shard->error));
        cli_table_cell(&table, "%s", cli_human_lost(&number, row->lost, shard->fp_meaning));
        cli_table_cell(&table, "%s", shard->params);
    }
    return cli_table_print(&table, out);
}

/* What is said about the best plan. */
static void put_notes(cli_out *out, const row *row, const cli_cluster_request *request)
{
    cli_number shards, fresh, seen, nodes;

    cli_out_text(out, "\n");
    if (row->chosen && request->command)
        cli_out_format(out, "* is what 'vidi init redis://HOST/NAME %s --shards %lu' makes.\n", request->command,
                       (unsigned long)row->plan->shards);
    cli_out_format(out, "Shards: %s on %s %s; their number never changes.", cli_human_count(&shards, row->plan->shards),
                   cli_human_count(&nodes, request->nodes), request->nodes == 1 ? "node" : "nodes");
    cli_out_format(out,
                   request->nodes > 1 ? " The node with the most is expected to have %.3f times the average.\n" : "\n",
                   row->load);
    cli_out_format(out,
                   "Rate: at most some %s new URLs a second, or %s that were seen: a server takes %.1f or %.1f "
                   "microseconds of one processor for each.\n",
                   cli_human_short(&fresh, row->new_rate), cli_human_short(&seen, row->seen_rate), NEW_US, SEEN_US);
    cli_out_text(out,
                 "Memory: of the sets; a replica takes as much again, and a URL that is claimed some 180 bytes.\n");
    if (row->plan->shard.bytes > CLI_SHARD_BYTES)
        cli_out_text(out,
                     "There is one shard for each slot, and they are larger than 8 MiB: moving one to another node "
                     "holds up both for a while.\n");
}

int cli_cluster_print(cli_out *out, const cli_cluster_request *request)
{
    cli_cluster_plan plans[CLI_CLUSTER_PLANS];
    row rows[CLI_CLUSTER_PLANS];
    size_t n;

    CLI_TRY(cli_cluster_plans(request->want, 0, request->nodes, plans, &n));
    bool chooses = cli_plan_choice(request->want, &plans[0].shard, 1) != NULL;
    for (size_t i = 0; i < n; i++)
        rows[i] = row_of(&plans[i], chooses && i == 0, request->nodes);
    if (request->json) {
        put_json(out, rows, n, request);
        return CLI_OK;
    }
    int status = put_table(out, rows, n);
    put_notes(out, &rows[0], request);
    return status;
}
