/*
 * Beginning a visit. Each visit is an epoch of the set, with new salts: what one visit loses, the next one finds. That
 * is the thesis's temporal strategy, and with the kind `spatial` its spatio-temporal one.
 *
 *   database   the pages of the visits so far, for looking them up; may be repeated
 *   database   next_epoch: the number of the epoch that the set begins now
 *   set        begins it: it is empty
 *   database   the visit, its seeds, and next_epoch is 0 again: the transaction that begins the run
 *
 * After a crash, next_epoch says that a visit was about to begin, and the set whether it has begun its epoch.
 */
#include <inttypes.h>
#include <string.h>

#include "crawler/crawl/resume/resume.h"
#include "vidi/url.h"

int visit_load(crawl *crawl)
{
    int error = db_visit_read(crawl->db, 0, &crawl->visit);

    crawl->last = (db_visit){0};
    if (error == VIDI_OK && crawl->visit.number > 1)
        error = db_visit_read(crawl->db, crawl->visit.number - 1, &crawl->last);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* ---- the set ---- */

static int announce(crawl *crawl, uint64_t epoch)
{
    int error = db_begin(crawl->db);

    if (error == VIDI_OK)
        error = db_set(crawl->db, "next_epoch", (int64_t)epoch);
    if (error == VIDI_OK)
        error = db_commit(crawl->db);
    if (error)
        db_rollback(crawl->db);
    return error;
}

/* Everything that can be fetched has been, and there was something. */
static int is_over(crawl *crawl, bool *over)
{
    db_totals totals;
    int64_t exhausted = 0;
    int error = db_total(crawl->db, &totals);

    if (error == VIDI_OK)
        error = db_get(crawl->db, "exhausted", &exhausted);
    *over = totals.urls > 0 && (totals.queue == 0 || exhausted != 0);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* Whether the next visit is to begin now. */
static int should_begin(crawl *crawl, bool *begins)
{
    int64_t continuous = 0;
    int error = db_get(crawl->db, "continuous", &continuous);
    bool wanted = crawl->options.revisit || (crawl->options.continuous && (uint64_t)continuous != crawl->visit.number);

    *begins = crawl->fleet_begins;
    if (crawl->fleet)
        return error == VIDI_EABSENT ? VIDI_OK : error;
    if ((error && error != VIDI_EABSENT) || !wanted || crawl->visit.number == 0)
        return error == VIDI_EABSENT ? VIDI_OK : error;
    error = is_over(crawl, begins);
    if (error == VIDI_OK && !*begins && crawl->options.revisit)
        crawl_warn(crawl, "visit %" PRIu64 " is not finished: continuing it; --revisit begins the next one after it",
                   crawl->visit.number);
    return error;
}

/* Writes that a visit is about to begin, unless that stands there, and lets the set begin its epoch. */
static int rotate(crawl *crawl, uint64_t next, char *why)
{
    vidi_stats stats = {.size = sizeof stats};
    int error = vidi_stat(crawl->set, &stats);

    if (error == VIDI_OK && next == 0) {
        next = stats.epoch + 1;
        error = announce(crawl, next);
        if (error)
            return crawl_explain_db(crawl, error, why);
    }
    if (error == VIDI_OK && stats.epoch != next)
        error = vidi_rotate(crawl->set, NULL);
    return error ? crawl_explain(why, error, "the set cannot begin a new epoch: %s", vidi_message()) : VIDI_OK;
}

int visit_rotate_if_due(crawl *crawl, bool *begins, char *why)
{
    int64_t next = 0;
    int error = db_get(crawl->db, "next_epoch", &next);

    *begins = error == VIDI_OK && next > 0;
    if ((error == VIDI_OK || error == VIDI_EABSENT) && !*begins)
        error = should_begin(crawl, begins);
    if (error == VIDI_OK && *begins)
        error = db_pages_index(crawl->db, crawl->pages);
    if (error)
        return crawl_explain_db(crawl, error, why);
    return *begins ? rotate(crawl, (uint64_t)next, why) : VIDI_OK;
}

/* ---- the transaction that begins it ---- */

int visit_write(crawl *crawl, bool begins, counters *counts)
{
    if (crawl->visit.number > 0 && !begins)
        return VIDI_OK;
    int error = begins ? db_close_queue(crawl->db, crawl_date(crawl)) : VIDI_OK;
    crawl->last = crawl->visit;
    crawl->visit = (db_visit){.number = crawl->last.number + 1,
                              .first = frontier_last(db_frontier(crawl->db)) + 1,
                              .began = crawl_date(crawl),
                              .is_comparable = begins && crawl->same_rules && !crawl->fleet};
    if (error == VIDI_OK)
        error = db_visit_begin(crawl->db, &crawl->visit);
    if (error == VIDI_OK && begins && crawl->options.continuous)
        error = db_set(crawl->db, "continuous", (int64_t)crawl->visit.number);
    if (error == VIDI_OK && begins)
        error = db_schedule_release(crawl->db, crawl_date(crawl));
    *counts = (counters){.synced_to = counts->synced_to};
    crawl->seconds_ms = crawl->began - crawl_now(crawl); /* this run counts from now on */
    return error ? error : db_set(crawl->db, "next_epoch", 0);
}

static int write_next(crawl *crawl, counters *counts)
{
    vidi_stats stats = {.size = sizeof stats};
    int error = vidi_stat(crawl->set, &stats);

    if (error == VIDI_OK)
        error = db_begin(crawl->db);
    if (error == VIDI_OK)
        error = db_visit_end(crawl->db, crawl_date(crawl));
    if (error == VIDI_OK)
        error = visit_write(crawl, true, counts);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "mixed", 0);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "epoch", (int64_t)stats.epoch);
    if (error == VIDI_OK)
        error = counters_write(crawl, counts, &stats);
    if (error == VIDI_OK)
        error = db_commit(crawl->db);
    if (error)
        db_rollback(crawl->db);
    crawl->same_rules = true;
    return error;
}

int visit_begin_next(crawl *crawl, counters *counts, char *why)
{
    int error = db_pages_index(crawl->db, crawl->pages);

    if (error)
        return crawl_explain_db(crawl, error, why);
    error = rotate(crawl, 0, why);
    if (error)
        return error;
    error = write_next(crawl, counts);
    return error ? crawl_explain_db(crawl, error, why) : VIDI_OK;
}

/* ---- pages of earlier visits ---- */

int visit_canonical(crawl *crawl, vidi_str url, bytes *to)
{
    size_t len = url.len * 3 + 64, before = to->len;
    const vidi_canon *form = vidi_canon_of(crawl->set);
    int error = bytes_reserve(to, before + len);

    if (error)
        return error;
    error = vidi_url_canon(form, url, NULL, to->ptr + before, &len);
    if (error == VIDI_ELIMIT && (error = bytes_reserve(to, before + len)) == VIDI_OK)
        error = vidi_url_canon(form, url, NULL, to->ptr + before, &len);
    if (error == VIDI_INVALID)
        return bytes_append_str(to, url);
    to->len = before + (error ? 0 : len);
    return error;
}

static bool is_same(vidi_str a, vidi_str b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* True if both spellings have one canonical form: two keys may be the same by chance. */
static int compare_forms(crawl *crawl, vidi_str one, vidi_str other, bool *same)
{
    bytes forms = {0};
    size_t middle;
    int error = VIDI_OK;

    *same = is_same(one, other);
    if (*same)
        return VIDI_OK;
    error = visit_canonical(crawl, one, &forms);
    middle = forms.len;
    if (error == VIDI_OK)
        error = visit_canonical(crawl, other, &forms);
    *same =
        error == VIDI_OK && is_same((vidi_str){forms.ptr, middle}, (vidi_str){forms.ptr + middle, forms.len - middle});
    bytes_free(&forms);
    return error;
}

int visit_page_of(crawl *crawl, vidi_str url, uint64_t *page)
{
    bytes known = {0};
    uint64_t key;
    bool same = false;

    *page = 0;
    if (crawl->visit.number < 2)
        return VIDI_OK;
    int error = url_keys_make(crawl->pages, &url, 1, &key);
    if (error == VIDI_OK)
        error = db_page_find(crawl->db, key, page, &known);
    if (error == VIDI_OK)
        error = compare_forms(crawl, url, bytes_str(&known), &same);
    if (!same)
        *page = 0;
    bytes_free(&known);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}
