/*
 * Options of earlier runs on a state. Links that they have left out, because of --depth, --scope or a pattern, do
 * not come back: their pages are not fetched again. If this run would have taken them, a warning says so.
 */
#include <string.h>

#include "crawler/crawl/resume/resume.h"

/* What decides which links are kept, as text. */
static int describe_scope(const crawl *crawl, bytes *to)
{
    const crawl_options *o = &crawl->options;
    static const char *const reaches[] = {"host", "site", "prefix", "any"};
    int error = bytes_append_text(to, reaches[o->reach]);

    for (size_t i = 0; i < o->include_count && error == VIDI_OK; i++)
        error = bytes_append_format(to, "\n+%s", o->include[i]);
    for (size_t i = 0; i < o->exclude_count && error == VIDI_OK; i++)
        error = bytes_append_format(to, "\n-%s", o->exclude[i]);
    return error || !o->internal ? error : bytes_append_text(to, "\ninternal");
}

/*
 * Whether this run keeps the same links as the one before. A visit whose runs did not all do so ("mixed") cannot be
 * compared with the next one: a link that it did not keep may look like one that the set has lost.
 */
static int compare_rules(crawl *crawl, bool begins)
{
    const crawl_options *o = &crawl->options;
    bytes now = {0}, before = {0};
    int64_t mixed = 0;
    int error = describe_scope(crawl, &now);

    if (error == VIDI_OK)
        error = bytes_append_format(&now, "\n%lld %zu %u %u %llu %llu %d %d %d", (long long)o->max_depth, o->max_url,
                                    o->max_repeat, o->max_hops, (unsigned long long)o->max_body,
                                    (unsigned long long)o->max_unpacked, o->resources + o->requisites, o->check,
                                    o->no_sitemaps);
    if (error == VIDI_OK)
        error = db_get_text(crawl->db, "rules", &before);
    bool differs = error == VIDI_OK && (now.len != before.len || memcmp(now.ptr, before.ptr, now.len) != 0);
    if (error == VIDI_OK || error == VIDI_EABSENT)
        error = db_set_text(crawl->db, "rules", bytes_str(&now));
    if (error == VIDI_OK && (error = db_get(crawl->db, "mixed", &mixed)) == VIDI_EABSENT)
        error = VIDI_OK;
    crawl->same_rules = !differs && !mixed;
    bytes_free(&now);
    bytes_free(&before);
    return error ? error : db_set(crawl->db, "mixed", !begins && (mixed || differs));
}

static int compare_depth(crawl *crawl, bool begins)
{
    int64_t before, now = crawl->options.max_depth < 0 ? INT64_MAX : crawl->options.max_depth;
    int error = db_get(crawl->db, "depth", &before);

    if (error == VIDI_OK && before < now && !begins)
        crawl_warn(crawl, "%s was crawled with --depth %lld: links beyond that were not kept; a new --state finds them",
                   crawl->options.folder, (long long)before);
    if (error && error != VIDI_EABSENT)
        return error;
    return db_set(crawl->db, "depth", error == VIDI_OK && before < now && !begins ? before : now);
}

static int compare_scope(crawl *crawl, bool begins)
{
    bytes now = {0}, before = {0};
    int error = describe_scope(crawl, &now);

    if (error == VIDI_OK)
        error = db_get_text(crawl->db, "scope", &before);
    if (error == VIDI_OK && !begins && (now.len != before.len || memcmp(now.ptr, before.ptr, now.len) != 0))
        crawl_warn(crawl,
                   "%s was crawled with another --scope, --include, --exclude or --internal: links that these left "
                   "out were not kept; a new --state finds them",
                   crawl->options.folder);
    if (error == VIDI_OK || error == VIDI_EABSENT)
        error = db_set_text(crawl->db, "scope", bytes_str(&now));
    bytes_free(&now);
    bytes_free(&before);
    return error;
}

/* An option of link checks that pages which are there already were read without. */
static int compare_option(crawl *crawl, const char *name, bool given, uint64_t outcomes, const char *sentence)
{
    int64_t before;
    int error = db_get(crawl->db, name, &before);

    if (!given)
        return error == VIDI_EABSENT ? VIDI_OK : error;
    if (error == VIDI_EABSENT && outcomes > 0)
        crawl_warn(crawl, "%s was crawled without --%s: of pages that it has already, %s; use a new --state",
                   crawl->options.folder, name, sentence);
    return error && error != VIDI_EABSENT ? error : db_set(crawl->db, name, 1);
}

static int compare_check(crawl *crawl, uint64_t outcomes)
{
    const crawl_options *o = &crawl->options;
    int error = compare_option(crawl, "check", o->check, outcomes,
                               "links out of scope are not asked, and only the first referrer of a link is known");

    if (error == VIDI_OK)
        error = compare_option(crawl, "fragments", o->fragments, outcomes, "fragments are not checked");
    if (error || !o->check)
        return error;
    /* The report judges by it, also later and without this crawl's options. */
    return db_set_text(crawl->db, "accept", (vidi_str){o->accept ? o->accept : "", o->accept ? strlen(o->accept) : 0});
}

static int compare_resources(crawl *crawl, uint64_t outcomes)
{
    int64_t before = 0, now = crawl->options.resources + crawl->options.requisites;
    int error = db_get(crawl->db, "resources", &before);

    if (error && error != VIDI_EABSENT)
        return error;
    if (before < now && outcomes > 0)
        crawl_warn(
            crawl,
            "%s was crawled without the images, styles and scripts %sthat its pages load: those of pages that it "
            "has already are not fetched; --revisit or a new --state fetches them",
            crawl->options.folder, before > 0 ? "of other hosts " : "");
    return db_set(crawl->db, "resources", now);
}

int option_changes_warn(crawl *crawl, bool begins, uint64_t outcomes)
{
    int error = compare_rules(crawl, begins);

    if (error == VIDI_OK)
        error = compare_depth(crawl, begins);
    if (error == VIDI_OK)
        error = compare_scope(crawl, begins);
    if (error == VIDI_OK)
        error = compare_resources(crawl, begins ? 0 : outcomes);
    return error ? error : compare_check(crawl, begins ? 0 : outcomes);
}
