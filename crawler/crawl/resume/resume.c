/*
 * Opening the state of a crawl. Archive, database and set are written one after another, so a crash leaves them at most
 * a batch apart:
 *
 *   archive, output file    longer than the database says: cut back; what is cut off is kept beside them
 *   database                what counts
 *   set                     without the URLs of the last rows: they are added again, whatever it answers
 *
 * A set has the URLs of one visit only, whose rows begin at crawl->visit.first: visit.c.
 *
 * Anything further apart was not left by a crash, and is refused: see consistency.c. A missing set is made again from
 * all rows. With --rebuild-seen, so is any other: it is renamed to seen.old.1 first. So a kill at any moment leaves the
 * old set, or none, or part of the new one, whose note says how far it has come. URLs that only the old set knew are
 * then new again, and their pages are fetched again.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/ascii.h"
#include "crawler/crawl/resume/resume.h"
#include "crawler/crawl/counters.h"

enum {
    CHUNK = 1024, /* URLs that are added to the set together */
    DB_FAULT = 256
};

/* "FOLDER/NAME"; NULL: no memory. */
static char *path_of(const crawl *crawl, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", crawl->options.folder, name) < 0 ? NULL : path;
}

/* ---- set and database ---- */

/* VIDI_OK if they belong together; *row is then the last row that the set has. */
static int check_pair(crawl *crawl, uint64_t *row, char *why)
{
    char said[CRAWL_WHY];
    consistency_entries known;
    int error = consistency_read(crawl->db, &known);

    if (error)
        return crawl_explain_db(crawl, error, why);
    crawl->run = known.run;
    error = consistency_compare(&known, crawl->set, row, said);
    return error ? crawl_explain(why, error, "%.120s: %.380s", crawl->options.folder, said) : VIDI_OK;
}

/* ---- keys ---- */

static int read_secret(crawl *crawl, unsigned char secret[VIDI_KEY_BYTES], char *why)
{
    bytes text = {0};
    int error = db_get_text(crawl->db, "secret", &text);
    bool bad = text.len != (size_t)2 * VIDI_KEY_BYTES;

    for (size_t i = 0; i < VIDI_KEY_BYTES && error == VIDI_OK && !bad; i++) {
        int high = ascii_hex(text.ptr[2 * i]), low = ascii_hex(text.ptr[2 * i + 1]);
        bad = high < 0 || low < 0;
        secret[i] = (unsigned char)(high * 16 + low);
    }
    bytes_free(&text);
    if (error == VIDI_EABSENT)
        return getrandom(secret, VIDI_KEY_BYTES, 0) == VIDI_KEY_BYTES
                   ? VIDI_OK
                   : crawl_explain(why, VIDI_ESYSTEM, "no random numbers: %s", strerrordesc_np(errno));
    if (error)
        return crawl_explain_db(crawl, error, why);
    return bad ? crawl_explain(why, VIDI_EFORMAT, "%s/crawl.db is damaged: its secret cannot be read",
                               crawl->options.folder)
               : VIDI_OK;
}

static int write_secret(crawl *crawl, const unsigned char secret[VIDI_KEY_BYTES])
{
    char text[2 * VIDI_KEY_BYTES + 1];

    for (size_t i = 0; i < VIDI_KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", secret[i]);
    return db_set_text(crawl->db, "secret", (vidi_str){text, 2 * VIDI_KEY_BYTES});
}

static int open_keys(crawl *crawl, const unsigned char secret[VIDI_KEY_BYTES], const char *canon, char *why)
{
    int error = url_keys_open(&crawl->keys, secret, "none");

    if (error == VIDI_OK)
        error = url_keys_borrow(&crawl->pages, secret, vidi_canon_of(crawl->set));
    if (error == VIDI_OK && crawl->options.check)
        error = url_keys_open(&crawl->targets, secret, canon);
    if (error == VIDI_EOPTION)
        return crawl_explain(why, error, "--check cannot be used together with a --tracking list");
    return error ? crawl_explain(why, error, "%s", vidi_message()) : VIDI_OK;
}

/* ---- rows that the set does not have ---- */

/* Rows whose URLs are added to the set again. */
typedef struct again {
    crawl *crawl;
    bytes text;
    size_t ends[CHUNK];
    size_t count;
    uint64_t last;
} again;

/* Commits everything that was added, with a note that the set has the URLs of all rows up to this one. */
static int commit_all(crawl *crawl, uint64_t row)
{
    uint64_t mark;
    int error = vidi_mark(crawl->set, &mark);

    return error ? error : consistency_commit(crawl, mark, row);
}

static int flush_again(again *again)
{
    vidi_str urls[CHUNK];
    uint8_t verdicts[CHUNK];
    size_t begin = 0;

    if (again->count == 0)
        return VIDI_OK;
    for (size_t i = 0; i < again->count; i++) {
        urls[i] = (vidi_str){again->text.ptr + begin, again->ends[i] - begin};
        begin = again->ends[i];
    }
    int error = vidi_add_batch(again->crawl->set, urls, again->count, verdicts, NULL);
    again->count = 0;
    again->text.len = 0;
    return error ? error : commit_all(again->crawl, again->last);
}

static int add_one_again(void *context, uint64_t id, vidi_str url)
{
    again *again = context;

    again->last = id;
    if (bytes_append_str(&again->text, url) != VIDI_OK)
        return VIDI_EMEMORY;
    again->ends[again->count++] = again->text.len;
    return again->count == CHUNK ? flush_again(again) : VIDI_OK;
}

/* Adds the URLs of all rows after this one to the set, and syncs it. */
static int add_again(crawl *crawl, uint64_t row, char *why)
{
    again *rows = calloc(1, sizeof *rows);

    if (!rows)
        return VIDI_EMEMORY;
    rows->crawl = crawl;
    rows->last = row;
    int error = frontier_since(db_frontier(crawl->db), row, add_one_again, rows);
    if (error == VIDI_OK)
        error = flush_again(rows);
    if (error == VIDI_OK && crawl->run)
        error = commit_all(crawl, rows->last);
    if (error == VIDI_OK)
        error = vidi_sync(crawl->set);
    if (error)
        crawl_explain(why, error, "cannot bring the set and the database together: %s%s%s", vidi_strerror(error),
                      *vidi_message() ? "; " : "", vidi_message());
    crawl->found_until = crawl->committed_to = crawl->synced_to = rows->last;
    bytes_free(&rows->text);
    free(rows);
    return error;
}

static int open_archive(crawl *crawl, char *why)
{
    int64_t file = 0, length = 0, mark = 0;
    char *folder = path_of(crawl, "archive");
    int error = folder ? db_get(crawl->db, "archive_file", &file) : VIDI_EMEMORY;

    if (error == VIDI_OK)
        error = db_get(crawl->db, "archive_length", &length);
    if (error == VIDI_OK)
        error = db_get(crawl->db, "archive_mark", &mark);
    if (error == VIDI_EABSENT)
        error = VIDI_OK;
    if (error == VIDI_OK) {
        archive_options wanted = {.folder = folder,
                                  .agent = crawl->options.agent,
                                  .contact = crawl->options.contact,
                                  .max_bytes = crawl->options.archive_bytes,
                                  .end = {(uint32_t)file, (uint64_t)length},
                                  .mark = (uint64_t)mark,
                                  .date = crawl_date(crawl)};
        char said[256] = "";
        error = archive_open(&crawl->archive, &wanted, said);
        if (error)
            crawl_explain(why, error, "%s%s", said,
                          error == VIDI_EDAMAGED ? ": bring back what belongs to crawl.db, or go on with --no-store"
                                                 : "");
    }
    if (error == VIDI_OK && *archive_error(crawl->archive))
        crawl_warn(crawl, "%s", archive_error(crawl->archive));
    if (error == VIDI_OK && (error = archive_sync(crawl->archive)) != VIDI_OK)
        crawl_explain(why, error, "%s", archive_error(crawl->archive));
    free(folder);
    return error;
}

static int open_output(crawl *crawl, char *why)
{
    int error = output_open(&crawl->output, crawl->options.output, crawl->options.folder, crawl->db);

    if (error)
        return crawl_explain(why, error, "%.500s", crawl->output.file.why);
    if (*crawl->output.file.why)
        crawl_warn(crawl, "%s", crawl->output.file.why);
    return VIDI_OK;
}

/* ---- seeds ---- */

/* What planting needs. */
typedef struct planting {
    crawl *crawl;
    counters *counts;
} planting;

/* page: the first row of its page; 0: it must be looked up. */
static int add_seed(void *context, uint64_t page, vidi_str url)
{
    const planting *self = context;
    frontier_url row = {.url = url, .kind = FRONTIER_SEED, .page = page};
    int error = url_host_key(self->crawl->keys, url, &row.host);

    if (error == VIDI_OK && page == 0)
        error = visit_page_of(self->crawl, url, &row.page);
    if (error == VIDI_OK)
        error = frontier_add(db_frontier(self->crawl->db), &row);
    self->counts->urls++;
    return error;
}

/*
 * A row for each seed that this visit does not have yet, or has never got a response for, whatever the set says.
 */
static int plant(crawl *crawl, bool begins, counters *counts)
{
    planting self = {crawl, counts};
    int error = VIDI_OK;

    if (crawl->fleet) /* it decides whose they are: shared_seeds */
        error = VIDI_OK;
    else if (begins && !crawl->options.continuous) /* there, seeds have their turns as all other pages */
        error = db_seeds(crawl->db, add_seed, &self);
    else if (counts->errors)
        error = db_seeds_again(crawl->db, crawl->visit.first, add_seed, &self);
    for (size_t i = 0; i < crawl->seed_count && error == VIDI_OK; i++) {
        bytes form = {0};
        error = visit_canonical(crawl, crawl->seeds[i], &form);
        int added = error ? error : db_seed(crawl->db, bytes_str(&form), crawl->seeds[i]);
        bytes_free(&form);
        if (added > 0 && crawl->fleet)
            error = db_set(crawl->db, "seeds_sent", 0);
        else
            error = added > 0 ? add_seed(&self, 0, crawl->seeds[i]) : added;
    }
    return error;
}

/* ---- all of it ---- */

/* The transaction that begins a run. */
static int write_opening(crawl *crawl, bool begins, const unsigned char *secret, counters *counts)
{
    vidi_stats stats = {.size = sizeof stats};
    const char *options = crawl->options.remember;
    int error = vidi_stat(crawl->set, &stats);

    if (error == VIDI_OK)
        error = db_begin(crawl->db);
    if (error == VIDI_OK)
        error = seen_write_wish(crawl, &stats);
    if (error == VIDI_OK)
        error = write_secret(crawl, secret);
    if (error == VIDI_OK)
        error = db_mark(crawl->db, false);
    if (error == VIDI_OK)
        error = consistency_begin_run(crawl);
    if (error == VIDI_OK)
        error = option_changes_warn(crawl, begins, counts->outcomes);
    if (error == VIDI_OK)
        error = visit_write(crawl, begins, counts);
    if (error == VIDI_OK && crawl->fleet)
        error = join_write(crawl, begins);
    if (error == VIDI_OK)
        error = crawl_sites_begin(crawl);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "epoch", (int64_t)stats.epoch);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "exhausted", 0); /* until this run says so at its end */
    if (error == VIDI_OK)
        error = plant(crawl, begins, counts);
    if (error == VIDI_OK && options)
        error = db_set_text(crawl->db, "options", (vidi_str){options, strlen(options)});
    if (error == VIDI_OK)
        error = counters_write(crawl, counts, &stats);
    return error ? error : db_commit(crawl->db);
}

static int begin_run(crawl *crawl, bool begins, const unsigned char *secret, char *why)
{
    counters counts;
    uint64_t last = frontier_last(db_frontier(crawl->db));
    int error = counters_read(crawl, &counts);

    if (error == VIDI_OK)
        error = write_opening(crawl, begins, secret, &counts);
    if (error) {
        crawl_explain_db(crawl, error, why);
        db_rollback(crawl->db);
        return error;
    }
    counters_show(crawl, &counts);
    return add_again(crawl, last, why);
}

static int open_cookies(crawl *crawl, char *why)
{
    int error = cookie_jar_open(&crawl->jar);

    if (error)
        return error;
    error = db_begin(crawl->db);
    if (error == VIDI_OK)
        error = db_cookies_open(crawl->db, crawl_date(crawl));
    if (error == VIDI_OK)
        error = db_commit(crawl->db);
    if (error == VIDI_OK)
        error = db_cookies_read(crawl->db, cookie_jar_load, crawl->jar);
    if (error) {
        crawl_explain_db(crawl, error, why);
        db_rollback(crawl->db);
    }
    return error;
}

static int open_parts(crawl *crawl, const char *seen, char *why)
{
    unsigned char secret[VIDI_KEY_BYTES];
    vidi_stats stats = {.size = sizeof stats};
    uint64_t row = 0;
    bool begins = false;
    int error = crawl->set ? VIDI_OK : seen_make(crawl, seen, why);

    if (error == VIDI_OK && (error = vidi_stat(crawl->set, &stats)) != VIDI_OK)
        crawl_explain(why, error, "%s", vidi_message());
    if (error == VIDI_OK)
        error = seen_check_same(crawl, &stats, why);
    if (error == VIDI_OK)
        error = check_pair(crawl, &row, why);
    if (error == VIDI_OK && (error = visit_load(crawl)) != VIDI_OK)
        crawl_explain_db(crawl, error, why);
    if (error == VIDI_OK)
        error = read_secret(crawl, secret, why);
    if (error == VIDI_OK)
        error = open_keys(crawl, secret, stats.canon, why);
    if (error == VIDI_OK)
        error = crawl_sites_check(crawl, why);
    if (error == VIDI_OK)
        error = add_again(crawl, row, why);
    if (error == VIDI_OK && !crawl->options.no_store)
        error = open_archive(crawl, why);
    if (error == VIDI_OK)
        error = open_output(crawl, why);
    if (error == VIDI_OK && crawl->options.cookies)
        error = open_cookies(crawl, why);
    if (error == VIDI_OK)
        error = visit_rotate_if_due(crawl, &begins, why);
    return error ? error : begin_run(crawl, begins, secret, why);
}

/* Makes the folder, for its owner alone, and locks it: one crawl at a time. */
static int lock_folder(crawl *crawl, char *why)
{
    const char *folder = crawl->options.folder;

    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return crawl_explain(why, VIDI_EIO, "cannot make the folder %s: %s", folder, strerrordesc_np(errno));
    crawl->lock = (int)TEMP_FAILURE_RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (crawl->lock < 0)
        return crawl_explain(why, VIDI_EIO, "cannot open the folder %s: %s", folder, strerrordesc_np(errno));
    if (TEMP_FAILURE_RETRY(flock(crawl->lock, LOCK_EX | LOCK_NB)) == 0)
        return VIDI_OK;
    return errno == EWOULDBLOCK ? crawl_explain(why, VIDI_EBUSY, "another crawl is at work in %s", folder)
                                : crawl_explain(why, VIDI_EIO, "cannot lock %s: %s", folder, strerrordesc_np(errno));
}

bool crawl_runs(const char *folder)
{
    int handle = (int)TEMP_FAILURE_RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    bool locked = handle >= 0 && TEMP_FAILURE_RETRY(flock(handle, LOCK_SH | LOCK_NB)) != 0 && errno == EWOULDBLOCK;

    if (handle >= 0)
        close(handle);
    return locked;
}

static int keep_first(void *context, const char *sentence)
{
    snprintf(context, DB_FAULT, "%s", sentence);
    return VIDI_EDAMAGED;
}

/* Verifies a database that was not closed in good order, or that is a copy. */
static int verify(crawl *crawl, char *why)
{
    char fault[DB_FAULT] = "";
    int error = db_verify(crawl->db, false, keep_first, fault);

    if (!*fault)
        return error ? crawl_explain_db(crawl, error, why) : VIDI_OK;
    return crawl_explain(
        why, error,
        "%s/crawl.db is damaged, or was copied while a crawl was running (%s): restore a whole one, with "
        "--rebuild-seen if it is older than seen",
        crawl->options.folder, fault);
}

int resume_open(crawl *crawl, char *why)
{
    char said[256] = "";

    char *seen = path_of(crawl, "seen"), *database = path_of(crawl, "crawl.db");
    int error = seen && database ? lock_folder(crawl, why) : VIDI_EMEMORY;
    if (error == VIDI_EBUSY)
        seen_open(crawl, seen, why); /* its sentence names the process */
    if (error == VIDI_OK)
        error = seen_open_or_put_aside(crawl, seen, why);
    if (error == VIDI_OK || error == VIDI_EABSENT) {
        error = db_open(&crawl->db, database, DB_WRITE, crawl->options.max_depth >= 0, said);
        if (error)
            crawl_explain(why, error, "%s%s", said,
                          error == VIDI_EDAMAGED ? "; restore a whole one, with --rebuild-seen if it is older than seen"
                                                 : "");
    }
    if (error == VIDI_OK && db_is_doubtful(crawl->db))
        error = verify(crawl, why);
    if (error == VIDI_OK)
        error = join_fleet(crawl, why);
    if (error == VIDI_OK)
        error = open_parts(crawl, seen, why);
    free(seen);
    free(database);
    return error;
}

void resume_close(crawl *crawl)
{
    output_close(&crawl->output);
    archive_close(crawl->archive);
    db_close(crawl->db);
    vidi_close(crawl->set);
    url_keys_close(crawl->keys);
    url_keys_close(crawl->targets);
    url_keys_close(crawl->pages);
    if (crawl->lock >= 0)
        close(crawl->lock);
}
