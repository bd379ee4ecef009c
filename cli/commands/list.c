/*
 * vidi list: prints the URLs in a state, for kinds that keep them, or what the state keeps of their hashes.
 *
 * The set is read into memory, not mapped: a mapped set lists URLs from its log separately, so one could come twice. Of
 * a set on a server, one shard after the other is read.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/state.h"
#include "ui/options.h"

typedef struct list_options {
    bool hashes, json, null;
    cli_server_options server;
} list_options;

typedef struct listing {
    const list_options *options;
    const char *path;
    bool keys; /* the canonical form is not a URL but a key, such as a host: invalid lines are set apart by a NUL */
    cli_out out;
} listing;

/* What a visitor returns to end the walk; the library passes it on. */
enum { NO_URLS = 1, NO_OUTPUT = 2 };

static void put_json(listing *list, const vidi_entry *entry, const char *hash)
{
    json_writer json = cli_json_begin(&list->out);

    if (list->options->hashes)
        json_add_string(&json, "hash", hash);
    else
        cli_json_text(&json, "url", entry->url);
    json_add_count(&json, "times", entry->times);
    json_close(&json, '}');
}

static int put_entry(void *context, const vidi_entry *entry)
{
    listing *list = context;
    char hash[33];

    if (!list->options->hashes && !entry->url.ptr)
        return NO_URLS;
    snprintf(hash, sizeof hash, "%016llx%016llx", (unsigned long long)entry->hash[1],
             (unsigned long long)entry->hash[0]);
    if (list->options->json) {
        put_json(list, entry, hash);
    } else if (list->options->hashes) {
        cli_out_text(&list->out, hash);
    } else {
        cli_out_bytes(&list->out, entry->url.ptr, entry->url.len);
    }
    cli_out_bytes(&list->out, list->options->null && !list->options->json ? "" : "\n", 1);
    return list->out.error ? NO_OUTPUT : 0;
}

static int list_set(void *context, const vidi_set *set)
{
    listing *list = context;
    vidi_stats stats;

    CLI_TRY(cli_state_stat(set, list->path, &stats));
    if (!(stats.can & VIDI_CAN_ITERATE))
        return cli_state_cannot(list->path, &stats, VIDI_CAN_ITERATE, "list what it holds");
    int result = vidi_iterate(set, put_entry, list);
    if (result == NO_URLS)
        return cli_error("%s is of kind %s, which keeps only hashes of its URLs; list them with --hashes", list->path,
                         stats.kind);
    if (result == NO_OUTPUT)
        return cli_out_flush(&list->out); /* closing it prints the message */
    return result < 0 ? cli_state_error(list->path, result) : CLI_OK;
}

static int list_here(listing *list, const char *path)
{
    vidi_set *set;

    CLI_TRY(cli_state_open(&set, path, &(cli_opening){.flags = VIDI_READ_ONLY | VIDI_NO_MAP}));
    int status = list_set(list, set);
    vidi_close(set);
    return status;
}

static int list_away(listing *list, const char *address)
{
    vidi_cluster *cluster;

    CLI_TRY(cli_server_open(&cluster, address, &list->options->server, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    int status = cli_server_each_shard(cluster, address, list_set, list);
    vidi_cluster_close(cluster);
    return status;
}

static int run(void *values, cli_words words)
{
    const char *state = words.list[0];
    cli_shown shown;
    listing list = {.options = values, .path = cli_shown_path(&shown, state)};

    CLI_TRY(cli_server_check(state, &list.options->server));
    cli_out_init(&list.out, STDOUT_FILENO);
    return cli_out_end(&list.out, cli_is_address(state) ? list_away(&list, state) : list_here(&list, state));
}

#define FIELD(name) offsetof(list_options, name)

static const cli_option options_table[] = {
    {"hashes", 0, CLI_FLAG, FIELD(hashes), NULL, "Print hashes instead of URLs, in hexadecimal",
     "The kind fingerprint keeps nothing else. The hashes depend on the state's secret key.", 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print a JSON object for each URL, with how often it was added",
     "It has url (or hash, with --hashes) and times, which is 1 unless the state counts (multiset=on).", 0},
    CLI_NULL_OPTIONS(list_options),
    CLI_SERVER_OPTIONS(offsetof(list_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_list = {
    .name = "list",
    .summary = "Print the URLs in a saved set",
    .usage = "vidi list [OPTION]... STATE",
    .about = "Prints the URLs in a saved set, in their canonical form and in no particular order.",
    .details = "STATE is a folder with a set, which may be in use, or a file that 'vidi export' wrote. The kinds "
               "hashset, sorted and list keep their URLs. The kind fingerprint, which is the default, keeps only "
               "hashes; list them with --hashes. The other kinds cannot be listed.\n"
               "This takes as much memory as the set. STATE may also be the address of a set on a server, such as "
               "redis://localhost/crawl; this takes as much memory as one of its shards.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi list crawl.vidi | sort > urls.txt\n"
                "  vidi list --json crawl.vidi | jq -r 'select(.times > 1).url'\n",
    .options = options_table,
    .size = sizeof(list_options),
    .common = "hashes json null help",
    .operand = "STATE",
    .least = 1,
    .most = 1,
    .run = run,
};
