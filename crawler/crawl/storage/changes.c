/*
 * What has become of a page since the last visit: see db_page_change. A page is compared with the newest row that tells what
 * it is; rows of failures do not, so a page that could not be fetched last time is compared with the visit before.
 *
 *   before \ now   content                   redirect                  404, 410    failure
 *   nothing        new                       new                       gone        failed
 *   content        changed, or unchanged     moved                     gone        failed
 *   redirect       changed                   moved, or unchanged       gone        failed
 *   404, 410       back                      back                      unchanged   failed
 *
 * A page that the last visit did not meet, although a page that links to it is as it was, is `recovered`, whatever it is:
 * the set took its URL for seen.
 */
#include <string.h>

#include "crawler/crawl/storage/storage.h"

static bool is_same(vidi_str a, vidi_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, text ? strlen(text) : 0};
}

/* The present state. A response of 304 that was asked for is the content that the page had. */
static db_state state_of(const db_outcome *row)
{
    return row->status == 304 && row->body && !row->reason ? DB_IS_OK : db_state_of(row->status, row->reason);
}

static bool has_same_content(const db_outcome *row, const db_prior *prior)
{
    if (row->status == 304)
        return true;
    if (row->digest && is_same(text_of(row->digest), prior->digest))
        return true;
    return is_same(text_of(row->content ? row->content : row->digest), prior->content);
}

static db_page_change change_of(const db_outcome *row, db_state now, const db_prior *prior)
{
    db_state before = prior->settled ? db_state_of(prior->status, NULL) : DB_IS_FAILED;

    if (prior->status == 304)
        before = DB_IS_OK;
    if (now == DB_IS_FAILED)
        return DB_FAILED;
    if (before == now) {
        bool same = now == DB_IS_OK ? has_same_content(row, prior)
                                    : now == DB_IS_GONE || is_same(row->redirect, prior->redirect);
        return same ? DB_UNCHANGED : now == DB_IS_OK ? DB_CHANGED : DB_MOVED;
    }
    if (now == DB_IS_GONE)
        return DB_GONE;
    if (before == DB_IS_FAILED)
        return DB_NEW;
    return before == DB_IS_GONE ? DB_BACK : now == DB_IS_MOVED ? DB_MOVED : DB_CHANGED;
}

/* True if the last visit should have met the page, and did not. */
static int was_lost(const crawl *crawl, const db_outcome *row, const db_prior *prior)
{
    if (prior->newest >= crawl->last.first || !crawl->visit.is_comparable)
        return 0;
    return db_was_linked(crawl->db, row->id, &crawl->last);
}

int change_find(const crawl *crawl, db_outcome *row, db_prior *prior)
{
    db_state now = state_of(row);
    int error = VIDI_OK, lost = 0;

    *prior = (db_prior){0};
    if (crawl->visit.number > 1) {
        error = db_prior_read(crawl->db, row->id, prior);
        if (error == VIDI_OK && (lost = was_lost(crawl, row, prior)) < 0)
            error = lost;
    }
    row->change = lost > 0 ? DB_RECOVERED : change_of(row, now, prior);
    row->compared = prior->settled;
    prior->newest = row->id;
    prior->settled = now == DB_IS_FAILED ? prior->settled : row->id;
    prior->good = now == DB_IS_OK ? row->id : prior->good;
    return error;
}
