/*
 * vidi import: makes a state from an exported set, after the whole stream was read and verified. With --new-key its
 * URLs are merged into a new set with another key.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "ui/options.h"
#include "pipeline/state.h"
#include "vidi/transfer.h"

static int print(const vidi_set *set, const char *path)
{
    vidi_stats stats;
    cli_number urls, bytes;

    CLI_TRY(cli_state_stat(set, path, &stats));
    return cli_print_result("%s: %s in a snapshot of %s\n", path, cli_human_urls(&urls, stats.count),
                            cli_human_bytes(&bytes, stats.snapshot_bytes));
}

/* Fails early, before the whole stream is read. The library checks again, and its answer counts. */
static int check_absent(const char *path)
{
    static const vidi_access reading = {.size = sizeof reading, .flags = VIDI_READ_ONLY};
    vidi_set *set;
    int error = vidi_open(&set, path, &reading);

    vidi_close(set);
    return error == VIDI_OK ? cli_error("there is a set at %s already", path) : CLI_OK;
}

typedef struct import_options {
    bool new_key;
} import_options;

/* An empty set in memory, like another one but with a key of its own. */
static int create_with_new_key(vidi_set **set, const vidi_set *like)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi_options options = VIDI_OPTIONS_INIT;

    *set = NULL;
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
        return cli_error("cannot draw a random key: %s", strerror(errno));
    options.like = like;
    options.key = key;
    int error = vidi_create(set, &options);
    return error < 0 ? cli_state_error("import", error) : CLI_OK;
}

/* Only sets that keep their URLs can be merged under another key. Tries it with empty sets, before a folder is made. */
static int check_keeps_urls(const vidi_set *set, const char *name)
{
    vidi_set *one, *other = NULL;
    vidi_stats stats;
    int error = VIDI_OK, status = cli_state_stat(set, name, &stats);

    if (status != CLI_OK)
        return status;
    status = create_with_new_key(&one, set);
    if (status == CLI_OK)
        status = create_with_new_key(&other, set);
    if (status == CLI_OK)
        error = vidi_merge(one, other, 0);
    if (error < 0)
        status =
            cli_error("%s is of kind %s, which keeps only hashes of its URLs, so it cannot get a new key; the kinds "
                      "hashset, sorted and list can",
                      name, stats.kind);
    vidi_close(one);
    vidi_close(other);
    return status;
}

static int import_with_new_key(vidi_set **set, const char *name, const char *path)
{
    vidi_set *old;
    int status = cli_state_read(&old, name, NULL, NULL, NULL);

    *set = NULL;
    if (status == CLI_OK)
        status = check_keeps_urls(old, strcmp(name, "-") == 0 ? "the set" : name);
    if (status == CLI_OK)
        status = create_with_new_key(set, old);
    if (status == CLI_OK) {
        int error = vidi_merge(*set, old, 0);
        if (error == VIDI_OK)
            error = vidi_attach(*set, path, NULL);
        if (error < 0)
            status = cli_state_error(path, error);
    }
    vidi_close(old);
    return status;
}

static int run(void *values, cli_words words)
{
    const import_options *options = values;
    vidi_set *set;

    if (cli_is_address(words.list[0]))
        return cli_server_refuse(words.list[0], "'vidi merge' adds a set that keeps its URLs to one on a server, and "
                                                "'vidi export --redis' loads a set into a single key");
    CLI_TRY(check_absent(words.list[0]));
    const char *path = words.list[0], *name = words.count > 1 ? words.list[1] : "-";
    int status =
        options->new_key ? import_with_new_key(&set, name, path) : cli_state_read(&set, name, path, NULL, NULL);
    if (status == CLI_OK)
        status = print(set, path);
    vidi_close(set);
    return status;
}

static const cli_option options_table[] = {
    {"new-key", 0, CLI_FLAG, offsetof(import_options, new_key), NULL, "Give the new set a key of its own",
     "Whoever wrote the file knows the key in it, and can use it to choose URLs that the set finds slowly. This works "
     "for the kinds hashset, sorted and list, which keep the URLs, so that they can be hashed again. The new set has "
     "the URLs, but not the statistics and the past epochs. This takes memory for both sets.",
     0},
    CLI_OPTIONS_END,
};

const cli_command cli_import = {
    .name = "import",
    .summary = "Make a saved set from an exported file",
    .usage = "vidi import [OPTION]... STATE [FILE]",
    .about = "Creates the folder STATE from a file that 'vidi export' wrote, or from standard input.",
    .details = "Everything is verified before the folder is created, so an error in the input leaves nothing "
               "behind. A folder that already holds a set is refused; an empty folder is used.\n"
               "The new set has the key, the epoch and the history of the exported one, so the two can be merged "
               "later. Whoever wrote the file knows that key; --new-key draws a new one, for sets that keep their "
               "URLs. An epoch that was kept with 'vidi rotate --keep-previous' is not in the file.\n"
               "The pieces that a Redis server returns for VIDI.DUMP can be read too, one after the other, with "
               "the kept epoch if there is one.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi import crawl.state crawl.vidi\n"
                "  ssh other vidi export crawl.state | vidi import copy.state\n",
    .options = options_table,
    .size = sizeof(import_options),
    .operand = "STATE",
    .least = 1,
    .most = 2,
    .run = run,
};
