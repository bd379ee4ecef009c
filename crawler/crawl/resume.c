/*
 * Opening the state of a crawl. Archive, database and set are written one after another, so a crash leaves them at most
 * a batch apart:
 *
 *   archive, output file    longer than the database says: cut back
 *   database                what counts
 *   set                     without the URLs of the last rows: they are added again, whatever it answers
 *
 * A set that is missing, because somebody has deleted it or its folder was damaged, is rebuilt from all rows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "crawler/crawl/inside.h"
#include "crawler/crawl/tallies.h"

enum { CHUNK = 1024 }; /* URLs that are added to the set together */

static int ledger_told(const crawl *of, int error, char *why)
{
    return crawl_explain(why, error, "%s/crawl.db: %s", of->options.folder, ledger_error(of->ledger));
}

/* "FOLDER/NAME"; NULL: no memory. */
static char *path_of(const crawl *of, const char *name)
{
    bytes path = {0};

    if (bytes_append_format(&path, "%s/%s", of->options.folder, name) != VIDI_OK ||
        bytes_append(&path, "", 1) != VIDI_OK)
        bytes_free(&path);
    return path.ptr;
}

/* ---- the set ---- */

static vidi_access set_access(const crawl *of)
{
    vidi_access access = VIDI_ACCESS_INIT;

    access.memory_limit = of->options.set_memory;
    access.flags = VIDI_MANUAL_COMMIT;
    access.sync = VIDI_SYNC_NEVER;
    access.invalid = VIDI_DROP_INVALID;
    return access;
}

/* Opens the set, which locks the crawl. VIDI_EABSENT: there is none yet. */
static int open_set(crawl *of, const char *path, char *why)
{
    vidi_access access = set_access(of);
    int error = vidi_open_with(&of->set, path, &access);

    if (error == VIDI_EDAMAGED || error == VIDI_EFORMAT)
        return crawl_explain(why, error,
                             "%s is damaged (%s); delete that folder, and the next run rebuilds it from the database",
                             path, vidi_message());
    if (error == VIDI_EBUSY)
        return crawl_explain(why, error, "another crawl is at work in %s: %s", of->options.folder, vidi_message());
    if (error && error != VIDI_EABSENT)
        crawl_explain(why, error, "%s", vidi_message());
    return error;
}

/* A text from the database, or NULL. The caller frees it. */
static int meta_text(crawl *of, const char *name, char **text)
{
    bytes value = {0};
    int error = ledger_get_text(of->ledger, name, &value);

    *text = NULL;
    if (error == VIDI_OK)
        error = bytes_append(&value, "", 1);
    if (error)
        bytes_free(&value);
    else
        *text = value.ptr;
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* How the set was asked for when the crawl began. */
typedef struct wish {
    char *kind, *params, *canon, *error;
    int64_t capacity;
} wish;

static void wish_free(wish *of)
{
    free(of->kind);
    free(of->params);
    free(of->canon);
    free(of->error);
}

static int wish_read(crawl *of, wish *was)
{
    *was = (wish){0};
    int error = meta_text(of, "kind", &was->kind);
    if (error == VIDI_OK)
        error = meta_text(of, "asked_params", &was->params);
    if (error == VIDI_OK)
        error = meta_text(of, "canon", &was->canon);
    if (error == VIDI_OK)
        error = meta_text(of, "asked_error", &was->error);
    if (error == VIDI_OK)
        error = ledger_get(of->ledger, "asked_capacity", &was->capacity);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* All rows have to be added to the set that is about to be made, also if that is interrupted. */
static int forget_synced(crawl *of)
{
    int64_t synced_to;
    int error = ledger_get(of->ledger, "synced_to", &synced_to);

    if (error)
        return error == VIDI_EABSENT ? VIDI_OK : error;
    error = ledger_begin(of->ledger);
    if (error == VIDI_OK)
        error = ledger_set(of->ledger, "synced_to", 0);
    if (error == VIDI_OK)
        error = ledger_commit(of->ledger);
    if (error)
        ledger_rollback(of->ledger);
    return error;
}

/* Makes the set: as the user asks for it, or, if the crawl has begun already, as it was. */
static int make_set(crawl *of, const char *path, char *why)
{
    vidi_options options = of->options.set;
    vidi_access access = set_access(of);
    wish was;
    int error = wish_read(of, &was);

    options.size = sizeof options;
    options.path = path;
    options.access = &access;
    if (error == VIDI_OK && was.kind) {
        options.kind = was.kind;
        options.params = was.params;
        options.canon = was.canon;
        options.capacity = (uint64_t)was.capacity;
        options.error = was.error ? strtod(was.error, NULL) : 0;
    }
    if (error == VIDI_OK)
        error = forget_synced(of);
    if (error)
        ledger_told(of, error, why);
    else if ((error = vidi_create(&of->set, &options)) != VIDI_OK)
        crawl_explain(why, error, "%s", vidi_message());
    wish_free(&was);
    return error;
}

/* ---- is it the crawl that the user means? ---- */

static int check_canon(crawl *of, const char *canon, char *why)
{
    const vidi_options *set = &of->options.set;
    vidi_canon *wanted;

    if (!set->canon && !set->tracking)
        return VIDI_OK;
    int error = vidi_canon_create(&wanted, set->canon, set->tracking, NULL);
    if (error)
        return crawl_explain(why, error, "%s", vidi_message());
    if (strcmp(vidi_canon_name(wanted), canon) != 0)
        error =
            crawl_explain(why, VIDI_EDIFFERS,
                          "the crawl in %s uses --canon %s and cannot continue with %s; give --state another folder",
                          of->options.folder, canon, vidi_canon_name(wanted));
    vidi_canon_close(wanted);
    return error;
}

static int check_same(crawl *of, const vidi_stats *stats, char *why)
{
    const char *kind = of->options.set.kind;

    if (kind && strcmp(kind, stats->kind) != 0)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "the crawl in %s uses --kind %s and cannot continue with %s; give --state another folder",
                             of->options.folder, stats->kind, kind);
    return check_canon(of, stats->canon, why);
}

/* A folder in which the set knows URLs that the database does not: a crawl would lose them. */
static int check_pair(crawl *of, const vidi_stats *stats, char *why)
{
    int64_t rows = 0;
    int error = ledger_get(of->ledger, "urls", &rows);

    if (error && error != VIDI_EABSENT)
        return ledger_told(of, error, why);
    if (error == VIDI_EABSENT && stats->count > 0)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "%s/seen knows %" PRIu64
                             " URLs, but crawl.db beside it is empty or new: bring the database back, "
                             "or delete both to begin again",
                             of->options.folder, stats->count);
    return VIDI_OK;
}

/* ---- keys ---- */

static int read_secret(crawl *of, unsigned char secret[VIDI_KEY_BYTES], char *why)
{
    char *text;
    int error = meta_text(of, "secret", &text);

    if (error)
        return ledger_told(of, error, why);
    if (!text) {
        ssize_t n = getrandom(secret, VIDI_KEY_BYTES, 0);
        return n == VIDI_KEY_BYTES ? VIDI_OK
                                   : crawl_explain(why, VIDI_ESYSTEM, "no random numbers: %s", strerrordesc_np(errno));
    }
    if (strlen(text) != (size_t)2 * VIDI_KEY_BYTES)
        error =
            crawl_explain(why, VIDI_EFORMAT, "%s/crawl.db is damaged: its secret cannot be read", of->options.folder);
    for (int i = 0; i < VIDI_KEY_BYTES && error == VIDI_OK; i++) {
        char pair[3] = {0}, *behind;
        memcpy(pair, text + (size_t)2 * (size_t)i, 2);
        unsigned long byte = strtoul(pair, &behind, 16);
        if (behind != pair + 2)
            error = crawl_explain(why, VIDI_EFORMAT, "%s/crawl.db is damaged: its secret cannot be read",
                                  of->options.folder);
        else
            secret[i] = (unsigned char)byte;
    }
    free(text);
    return error;
}

static int write_secret(crawl *of, const unsigned char secret[VIDI_KEY_BYTES])
{
    char text[2 * VIDI_KEY_BYTES + 1];

    for (size_t i = 0; i < VIDI_KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", secret[i]);
    return ledger_set_text(of->ledger, "secret", (vidi_str){text, 2 * VIDI_KEY_BYTES});
}

static int open_keys(crawl *of, const unsigned char secret[VIDI_KEY_BYTES], const char *canon, char *why)
{
    int error = url_keys_open(&of->keys, secret, "none");

    if (error == VIDI_OK && of->options.check)
        error = url_keys_open(&of->targets, secret, canon);
    if (error == VIDI_EOPTION)
        return crawl_explain(why, error, "--check cannot be used together with a --tracking list");
    return error ? crawl_explain(why, error, "%s", vidi_message()) : VIDI_OK;
}

/* ---- rows after the last sync ---- */

/* Rows whose URLs are added to the set again. */
typedef struct again {
    crawl *crawl;
    bytes text;
    size_t ends[CHUNK];
    size_t count;
    uint64_t last;
} again;

static int flush_again(again *of)
{
    vidi_str urls[CHUNK];
    uint8_t verdicts[CHUNK];
    size_t begin = 0;

    if (of->count == 0)
        return VIDI_OK;
    for (size_t i = 0; i < of->count; i++) {
        urls[i] = (vidi_str){of->text.ptr + begin, of->ends[i] - begin};
        begin = of->ends[i];
    }
    int error = vidi_add_batch(of->crawl->set, urls, of->count, verdicts);
    of->count = 0;
    of->text.len = 0;
    return error ? error : vidi_commit(of->crawl->set);
}

static int add_one_again(void *context, uint64_t id, vidi_str url)
{
    again *of = context;

    of->last = id;
    if (bytes_append_str(&of->text, url) != VIDI_OK)
        return VIDI_EMEMORY;
    of->ends[of->count++] = of->text.len;
    return of->count == CHUNK ? flush_again(of) : VIDI_OK;
}

static int add_again(crawl *of, char *why)
{
    int64_t synced_to = 0;
    int error = ledger_get(of->ledger, "synced_to", &synced_to);
    again *rows = calloc(1, sizeof *rows);

    if (error == VIDI_EABSENT)
        error = VIDI_OK;
    if (!rows)
        return VIDI_EMEMORY;
    rows->crawl = of;
    rows->last = (uint64_t)synced_to;
    if (error == VIDI_OK)
        error = frontier_since(ledger_frontier(of->ledger), (uint64_t)synced_to, add_one_again, rows);
    if (error == VIDI_OK)
        error = flush_again(rows);
    if (error == VIDI_OK)
        error = vidi_sync(of->set);
    if (error)
        crawl_explain(why, error, "cannot bring the set and the database together: %s%s%s", vidi_strerror(error),
                      *vidi_message() ? "; " : "", vidi_message());
    of->found_until = of->committed_to = of->synced_to = rows->last;
    bytes_free(&rows->text);
    free(rows);
    return error;
}

static int open_archive(crawl *of, char *why)
{
    int64_t file = 0, length = 0;
    char *folder = path_of(of, "archive");
    int error = folder ? ledger_get(of->ledger, "archive_file", &file) : VIDI_EMEMORY;

    if (error == VIDI_OK)
        error = ledger_get(of->ledger, "archive_length", &length);
    if (error == VIDI_EABSENT)
        error = VIDI_OK;
    if (error == VIDI_OK) {
        archive_options wanted = {.folder = folder,
                                  .agent = of->options.agent,
                                  .contact = of->options.contact,
                                  .max_bytes = of->options.archive_bytes,
                                  .end = {(uint32_t)file, (uint64_t)length},
                                  .date = crawl_date(of)};
        char said[256] = "";
        error = archive_open(&of->archive, &wanted, said);
        if (error)
            crawl_explain(why, error, "%s", said);
    }
    if (error == VIDI_OK && (error = archive_sync(of->archive)) != VIDI_OK)
        crawl_explain(why, error, "%s", archive_error(of->archive));
    free(folder);
    return error;
}

/* ---- seeds ---- */

static int canonical(crawl *of, vidi_str url, bytes *to)
{
    size_t len = url.len * 3 + 64;
    int error = bytes_reserve(to, len);

    if (error)
        return error;
    error = vidi_url_canon(vidi_canon_of(of->set), url, NULL, to->ptr, &len);
    if (error == VIDI_ELIMIT && (error = bytes_reserve(to, len)) == VIDI_OK)
        error = vidi_url_canon(vidi_canon_of(of->set), url, NULL, to->ptr, &len);
    to->len = error ? 0 : len;
    return error == VIDI_INVALID ? bytes_append_str(to, url) : error;
}

/* What planting needs. */
typedef struct planting {
    crawl *of;
    tallies *counts;
} planting;

static int add_seed(void *context, uint64_t id, vidi_str url)
{
    const planting *self = context;
    frontier_url row = {.url = url, .kind = FRONTIER_SEED};
    int error = tallies_host_key(self->of->keys, url, &row.host);

    (void)id;
    if (error == VIDI_OK)
        error = frontier_add(ledger_frontier(self->of->ledger), &row);
    self->counts->urls++;
    self->of->committed_to = row.id;
    return error;
}

/* A row for each seed that this crawl does not have yet, or has never got a response for, whatever the set says. */
static int plant(crawl *of, tallies *counts)
{
    planting self = {of, counts};
    int error = counts->errors ? ledger_seeds_again(of->ledger, add_seed, &self) : VIDI_OK;

    for (size_t i = 0; i < of->seed_count && error == VIDI_OK; i++) {
        bytes form = {0};
        error = canonical(of, of->seeds[i], &form);
        int added = error ? error : ledger_seed(of->ledger, bytes_str(&form));
        bytes_free(&form);
        error = added > 0 ? add_seed(&self, 0, of->seeds[i]) : added;
    }
    return error;
}

/* ---- all of it ---- */

static int write_wish(crawl *of, const vidi_stats *stats)
{
    const vidi_options *set = &of->options.set;
    char error_rate[40];
    int64_t known;
    int error = ledger_get(of->ledger, "urls", &known);

    if (error != VIDI_EABSENT)
        return error;
    snprintf(error_rate, sizeof error_rate, "%.17g", set->error);
    error = ledger_set_text(of->ledger, "kind", (vidi_str){stats->kind, strlen(stats->kind)});
    if (error == VIDI_OK)
        error = ledger_set_text(of->ledger, "params", (vidi_str){stats->params, strlen(stats->params)});
    if (error == VIDI_OK)
        error = ledger_set_text(of->ledger, "canon", (vidi_str){stats->canon, strlen(stats->canon)});
    if (error == VIDI_OK && set->params)
        error = ledger_set_text(of->ledger, "asked_params", (vidi_str){set->params, strlen(set->params)});
    if (error == VIDI_OK)
        error = ledger_set_text(of->ledger, "asked_error", (vidi_str){error_rate, strlen(error_rate)});
    return error ? error : ledger_set(of->ledger, "asked_capacity", (int64_t)set->capacity);
}

/* The transaction that begins a run. */
static int write_opening(crawl *of, const vidi_stats *stats, const unsigned char *secret, tallies *counts)
{
    int error = ledger_begin(of->ledger);

    if (error == VIDI_OK)
        error = write_wish(of, stats);
    if (error == VIDI_OK)
        error = write_secret(of, secret);
    if (error == VIDI_OK)
        error = earlier_compare(of, counts->outcomes);
    if (error == VIDI_OK)
        error = plant(of, counts);
    if (error == VIDI_OK)
        error = tallies_write(of, counts, stats);
    return error ? error : ledger_commit(of->ledger);
}

static int begin_run(crawl *of, const vidi_stats *stats, const unsigned char *secret, char *why)
{
    tallies counts;
    uint8_t *verdicts = calloc(of->seed_count, 1);
    int error = verdicts ? vidi_add_batch(of->set, of->seeds, of->seed_count, verdicts) : VIDI_EMEMORY;

    free(verdicts);
    if (error)
        return crawl_explain(why, error, "%s", error == VIDI_EMEMORY ? vidi_strerror(error) : vidi_message());
    error = tallies_read(of, &counts);
    if (error == VIDI_OK)
        error = write_opening(of, stats, secret, &counts);
    if (error) {
        ledger_told(of, error, why);
        ledger_rollback(of->ledger);
        return error;
    }
    tallies_show(of, &counts);
    error = vidi_commit(of->set);
    return error ? crawl_explain(why, error, "%s", vidi_message()) : VIDI_OK;
}

static int open_parts(crawl *of, const char *seen, char *why)
{
    unsigned char secret[VIDI_KEY_BYTES];
    vidi_stats stats = {.size = sizeof stats};
    int error = of->set ? VIDI_OK : make_set(of, seen, why);

    if (error == VIDI_OK && (error = vidi_stat(of->set, &stats)) != VIDI_OK)
        crawl_explain(why, error, "%s", vidi_message());
    if (error == VIDI_OK)
        error = check_same(of, &stats, why);
    if (error == VIDI_OK)
        error = check_pair(of, &stats, why);
    if (error == VIDI_OK)
        error = read_secret(of, secret, why);
    if (error == VIDI_OK)
        error = open_keys(of, secret, stats.canon, why);
    if (error == VIDI_OK)
        error = add_again(of, why);
    if (error == VIDI_OK && !of->options.no_store)
        error = open_archive(of, why);
    if (error == VIDI_OK)
        error = output_open(&of->output, of->options.output, of->ledger, why);
    return error ? error : begin_run(of, &stats, secret, why);
}

int resume_open(crawl *of, char *why)
{
    char said[256] = "";

    if (mkdir(of->options.folder, 0777) != 0 && errno != EEXIST)
        return crawl_explain(why, VIDI_EIO, "cannot make the folder %s: %s", of->options.folder,
                             strerrordesc_np(errno));
    char *seen = path_of(of, "seen"), *database = path_of(of, "crawl.db");
    int error = seen && database ? open_set(of, seen, why) : VIDI_EMEMORY;
    if (error == VIDI_OK || error == VIDI_EABSENT) {
        error = ledger_open(&of->ledger, database, LEDGER_WRITE, of->options.max_depth >= 0, said);
        if (error)
            crawl_explain(why, error, "%s", said);
    }
    if (error == VIDI_OK)
        error = open_parts(of, seen, why);
    free(seen);
    free(database);
    return error;
}

void resume_close(crawl *of)
{
    output_close(&of->output);
    archive_close(of->archive);
    ledger_close(of->ledger);
    vidi_close(of->set);
    url_keys_close(of->keys);
    url_keys_close(of->targets);
}
