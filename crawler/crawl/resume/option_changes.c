/*
 * What earlier runs on a state were told. Links that they have left out, because of --depth, --scope or a pattern, do
 * not come back: their pages are not fetched again. If this run would have taken them, a warning says so.
 */
#include <string.h>

#include "crawler/crawl/crawl_state.h"

/* What decides which links are kept, as text. */
static int describe_scope(const crawl *of, bytes *to)
{
    const crawl_options *o = &of->options;
    static const char *const reaches[] = {"host", "site", "prefix"};
    int error = bytes_append_text(to, reaches[o->reach]);

    for (size_t i = 0; i < o->include_count && error == VIDI_OK; i++)
        error = bytes_append_format(to, "\n+%s", o->include[i]);
    for (size_t i = 0; i < o->exclude_count && error == VIDI_OK; i++)
        error = bytes_append_format(to, "\n-%s", o->exclude[i]);
    return error;
}

static int compare_depth(crawl *of)
{
    int64_t before, now = of->options.max_depth < 0 ? INT64_MAX : of->options.max_depth;
    int error = db_get(of->db, "depth", &before);

    if (error == VIDI_OK && before < now)
        crawl_warn(of, "%s was crawled with --depth %lld: links beyond that were not kept; a new --state finds them",
                   of->options.folder, (long long)before);
    if (error && error != VIDI_EABSENT)
        return error;
    return db_set(of->db, "depth", error == VIDI_OK && before < now ? before : now);
}

static int compare_scope(crawl *of)
{
    bytes now = {0}, before = {0};
    int error = describe_scope(of, &now);

    if (error == VIDI_OK)
        error = db_get_text(of->db, "scope", &before);
    if (error == VIDI_OK && (now.len != before.len || memcmp(now.ptr, before.ptr, now.len) != 0))
        crawl_warn(of,
                   "%s was crawled with another --scope, --include or --exclude: links that these left out were not "
                   "kept; a new --state finds them",
                   of->options.folder);
    if (error == VIDI_OK || error == VIDI_EABSENT)
        error = db_set_text(of->db, "scope", bytes_str(&now));
    bytes_free(&now);
    bytes_free(&before);
    return error;
}

static int compare_check(crawl *of, uint64_t outcomes)
{
    int64_t before;
    int error = db_get(of->db, "check", &before);

    if (!of->options.check)
        return error == VIDI_EABSENT ? VIDI_OK : error;
    if (error == VIDI_EABSENT && outcomes > 0)
        crawl_warn(
            of,
            "%s was crawled without --check: of pages that it has already, links out of scope are not asked, and "
            "only the first referrer of a link is known; use a new --state",
            of->options.folder);
    return error && error != VIDI_EABSENT ? error : db_set(of->db, "check", 1);
}

int option_changes_warn(crawl *of, uint64_t outcomes)
{
    int error = compare_depth(of);

    if (error == VIDI_OK)
        error = compare_scope(of);
    return error ? error : compare_check(of, outcomes);
}
