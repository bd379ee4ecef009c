/*
 * The set of a crawl, DIR/seen: opens it, makes it as the user asks, makes it again, and puts it aside. The database
 * keeps what the user asked for, because a set that is made again must be like the one before.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/keep.h"
#include "crawler/crawl/resume/resume.h"
#include "vidi/url.h"

int crawl_explain_db(const crawl *crawl, int error, char *why)
{
    return crawl_explain(why, error, "%s/crawl.db: %s", crawl->options.folder, db_error(crawl->db));
}

static vidi_access set_access(const crawl *crawl)
{
    vidi_access access = VIDI_ACCESS_INIT;

    access.memory_limit = crawl->options.set_memory;
    access.flags = VIDI_MANUAL_COMMIT;
    access.sync = VIDI_SYNC_NEVER;
    access.invalid = VIDI_DROP_INVALID;
    access.owner = CRAWL_OWNER;
    return access;
}

int seen_open(crawl *crawl, const char *path, char *why)
{
    vidi_access access = set_access(crawl);
    int error = vidi_open(&crawl->set, path, &access);

    if (error == VIDI_EDAMAGED || error == VIDI_EFORMAT)
        return crawl_explain(why, error,
                             "%s is damaged (%s): restore it, or make it again from the database with --rebuild-seen",
                             path, vidi_message());
    if (error == VIDI_EBUSY)
        return crawl_explain(why, error, "another crawl is at work in %s: %s", crawl->options.folder, vidi_message());
    if (error == VIDI_EOWNED)
        return crawl_explain(
            why, error,
            "%s is not the set of a crawl: restore that, or make it again from the database with --rebuild-seen", path);
    if (error && error != VIDI_EABSENT)
        crawl_explain(why, error, "%s", vidi_message());
    return error;
}

/* Renames the set. VIDI_EABSENT: done, so there is no set now. */
static int put_aside(crawl *crawl, const char *path, char *why)
{
    char *series, to[PATH_MAX] = "";

    vidi_close(crawl->set);
    crawl->set = NULL;
    if (asprintf(&series, "%s.old", path) < 0)
        return VIDI_EMEMORY;
    int failed = keep_renamed(path, series, to);
    free(series);
    if (failed == 0 && TEMP_FAILURE_RETRY(fsync(crawl->lock)) != 0)
        failed = errno;
    if (failed && failed != ENOENT)
        return crawl_explain(why, VIDI_EIO, "cannot rename %s: %s", path, strerrordesc_np(failed));
    if (!failed)
        crawl_warn(crawl, "the old set is in %.400s; delete it when you no longer need it", to);
    return VIDI_EABSENT;
}

int seen_open_or_put_aside(crawl *crawl, const char *path, char *why)
{
    int error = seen_open(crawl, path, why);

    if (!crawl->options.rebuild_seen || error == VIDI_EABSENT || error == VIDI_EBUSY || error == VIDI_EMEMORY)
        return error;
    return put_aside(crawl, path, why);
}

/* A text of the database; NULL if it is not there. The caller frees it. */
static int read_text(crawl *crawl, const char *name, char **text)
{
    bytes value = {0};
    int error = db_get_text(crawl->db, name, &value);

    *text = NULL;
    if (error == VIDI_OK)
        error = bytes_append(&value, "", 1);
    if (error)
        bytes_free(&value);
    else
        *text = value.ptr;
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* What the user asked for when the crawl began. */
typedef struct wish {
    char *kind, *params, *canon, *error;
    int64_t capacity;
} wish;

static void wish_free(wish *wish)
{
    free(wish->kind);
    free(wish->params);
    free(wish->canon);
    free(wish->error);
}

static int wish_read(crawl *crawl, wish *was)
{
    *was = (wish){0};
    const struct {
        const char *name;
        char **text;
    } texts[] = {
        {"kind", &was->kind}, {"asked_params", &was->params}, {"canon", &was->canon}, {"asked_error", &was->error}};
    int error = VIDI_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && error == VIDI_OK; i++)
        error = read_text(crawl, texts[i].name, texts[i].text);
    if (error == VIDI_OK)
        error = db_get(crawl->db, "asked_capacity", &was->capacity);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/*
 * Makes this run, or the next if this one is interrupted, add all rows of the visit to the set that is about to be made,
 * which begins with epoch 0.
 */
static int forget_synced(crawl *crawl)
{
    int64_t synced_to, next = 0;
    int error = db_get(crawl->db, "synced_to", &synced_to);

    if (error)
        return error == VIDI_EABSENT ? VIDI_OK : error;
    error = db_begin(crawl->db);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "synced_to", 0);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "epoch", 0);
    if (error == VIDI_OK && (error = db_get(crawl->db, "next_epoch", &next)) == VIDI_OK && next > 0)
        error = db_set(crawl->db, "next_epoch", 1);
    if (error == VIDI_OK)
        error = db_commit(crawl->db);
    if (error)
        db_rollback(crawl->db);
    return error;
}

int seen_make(crawl *crawl, const char *path, char *why)
{
    vidi_options options = crawl->options.set;
    vidi_access access = set_access(crawl);
    wish was;
    int error = wish_read(crawl, &was);

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
        error = forget_synced(crawl);
    if (error)
        crawl_explain_db(crawl, error, why);
    else if ((error = vidi_create(&crawl->set, &options)) != VIDI_OK)
        crawl_explain(why, error, "%s", vidi_message());
    wish_free(&was);
    return error;
}

/* ---- comparing with the options ---- */

static int check_canon(crawl *crawl, const char *canon, char *why)
{
    const vidi_options *set = &crawl->options.set;
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
                          crawl->options.folder, canon, vidi_canon_name(wanted));
    vidi_canon_close(wanted);
    return error;
}

int seen_check_same(crawl *crawl, const vidi_stats *stats, char *why)
{
    const char *kind = crawl->options.set.kind;

    if (kind && strcmp(kind, stats->kind) != 0)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "the crawl in %s uses --kind %s and cannot continue with %s; give --state another folder",
                             crawl->options.folder, stats->kind, kind);
    return check_canon(crawl, stats->canon, why);
}

int seen_write_wish(crawl *crawl, const vidi_stats *stats)
{
    const vidi_options *set = &crawl->options.set;
    char error_rate[40];
    int64_t known;
    int error = db_get(crawl->db, "urls", &known);

    if (error != VIDI_EABSENT)
        return error;
    snprintf(error_rate, sizeof error_rate, "%.17g", set->error);
    const char *const texts[][2] = {{"kind", stats->kind},
                                    {"params", stats->params},
                                    {"canon", stats->canon},
                                    {"asked_params", set->params},
                                    {"asked_error", error_rate}};
    error = VIDI_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && error == VIDI_OK; i++)
        if (texts[i][1])
            error = db_set_text(crawl->db, texts[i][0], (vidi_str){texts[i][1], strlen(texts[i][1])});
    return error ? error : db_set(crawl->db, "asked_capacity", (int64_t)set->capacity);
}
