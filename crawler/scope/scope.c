/*
 * Which URLs belong to a crawl: see scope.h.
 *
 * Serialised URLs leave out their scheme's default port. So the text between "://" and the path is the host with the
 * port that counts, and tables are searched for pieces of the URL itself: nothing is copied.
 */
#include "crawler/scope/scope.h"

#include <stdlib.h>
#include <string.h>

#include "crawler/base/bytes.h"
#include "crawler/base/web_url.h"
#include "crawler/scope/scope_glob.h"
#include "crawler/scope/scope_strings.h"
#include "vidi/url.h"

enum {
    SITE_MOST = SCOPE_SITE_MOST, /* bytes of a host; names in the DNS have 253 at most */
    SLOTS = 2 * SCOPE_SEGMENTS
};

typedef struct globs {
    scope_glob *items;
    size_t count;
} globs;

struct scope {
    scope_reach reach;
    size_t max_url;
    unsigned max_repeat;
    bytes text;             /* what the names point into */
    scope_strings seeds;    /* their URLs, without fragments */
    scope_strings origins;  /* "https://example.org:8080" */
    scope_strings hosts;    /* "example.org:8080" */
    scope_strings sites;    /* "example.org", by its hash backwards */
    scope_strings prefixes; /* "example.org:8080/a/" */
    globs include, exclude;
    vidi_canon *site_of;
};

/* ---- parts of a URL ---- */

/* Without its fragment. */
static vidi_str without_fragment(const vidi_url *parts)
{
    return (vidi_str){parts->href.ptr, parts->href.len - (parts->fragment.ptr ? 1 + parts->fragment.len : 0)};
}

/* The site of a URL, in `to`. VIDI_OK or an error: VIDI_EARGUMENT for a host that is too long. */
static int site_of(const scope *scope, const vidi_url *parts, char to[SITE_MOST], vidi_str *site)
{
    size_t len = SITE_MOST;

    if (parts->host.len > SITE_MOST)
        return VIDI_EARGUMENT;
    int error = vidi_url_canon(scope->site_of, web_url_origin(parts), NULL, to, &len);
    *site = (vidi_str){to, len};
    return error;
}

/* ---- making one ---- */

/* Copies the text; there is room for it. */
static vidi_str keep(scope *scope, vidi_str text)
{
    vidi_str copy = {scope->text.ptr + scope->text.len, text.len};

    bytes_append_str(&scope->text, text);
    return copy;
}

/* The beginning of a URL up to the last '/' of its path, without the scheme. */
static vidi_str prefix_of(const vidi_url *parts)
{
    vidi_str host = web_url_authority(parts);
    const char *slash = memrchr(parts->path.ptr, '/', parts->path.len);

    return (vidi_str){host.ptr, (size_t)(slash + 1 - host.ptr)};
}

static void add_name(scope_strings *names, vidi_str text)
{
    scope_strings_add(names, scope_hash(text), text);
}

static int add_seed(scope *scope, vidi_str url)
{
    char room[SITE_MOST];
    vidi_url parts;
    vidi_str site;

    if (!web_url_view(keep(scope, url), &parts))
        return VIDI_EARGUMENT;
    add_name(&scope->seeds, without_fragment(&parts));
    add_name(&scope->origins, web_url_origin(&parts));
    add_name(&scope->hosts, web_url_authority(&parts));
    add_name(&scope->prefixes, prefix_of(&parts));
    if (scope->reach != SCOPE_SITE)
        return VIDI_OK;
    int error = site_of(scope, &parts, room, &site);
    if (!error)
        scope_strings_add(&scope->sites, scope_hash_backwards(site), keep(scope, site));
    return error;
}

static int add_seeds(scope *scope, const scope_options *options)
{
    scope_strings *const names[] = {&scope->seeds, &scope->origins, &scope->hosts, &scope->sites, &scope->prefixes};
    size_t all = 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !error; i++)
        error = scope_strings_open(names[i], options->seed_count);
    for (size_t i = 0; i < options->seed_count; i++)
        all += options->seeds[i].len;
    if (!error)
        error = bytes_reserve(&scope->text, 2 * all + 1); /* a site is no longer than its URL */
    for (size_t i = 0; i < options->seed_count && !error; i++)
        error = add_seed(scope, options->seeds[i]);
    return error;
}

static int open_globs(globs *into, const char *const *patterns, size_t n)
{
    int error = VIDI_OK;

    if (n == 0)
        return VIDI_OK;
    into->items = calloc(n, sizeof *into->items);
    if (!into->items)
        return VIDI_EMEMORY;
    into->count = n;
    for (size_t i = 0; i < n && !error; i++)
        error = scope_glob_open(&into->items[i], patterns[i]);
    return error;
}

static void close_globs(globs *globs)
{
    for (size_t i = 0; i < globs->count; i++)
        scope_glob_close(&globs->items[i]);
    free(globs->items);
}

int scope_open(scope **made, const scope_options *options)
{
    scope *scope = calloc(1, sizeof *scope);

    *made = NULL;
    if (!scope)
        return VIDI_EMEMORY;
    scope->reach = options->reach;
    scope->max_url = options->max_url;
    scope->max_repeat = options->max_repeat;
    int error = VIDI_OK;
    if (scope->reach == SCOPE_SITE || scope->reach == SCOPE_ANY)
        error = vidi_canon_create(&scope->site_of, "key=site", NULL, NULL);
    if (!error)
        error = add_seeds(scope, options);
    if (!error)
        error = open_globs(&scope->include, options->include, options->include_count);
    if (!error)
        error = open_globs(&scope->exclude, options->exclude, options->exclude_count);
    if (error)
        scope_close(scope);
    else
        *made = scope;
    return error;
}

void scope_close(scope *scope)
{
    if (!scope)
        return;
    close_globs(&scope->include);
    close_globs(&scope->exclude);
    scope_strings_close(&scope->seeds);
    scope_strings_close(&scope->origins);
    scope_strings_close(&scope->hosts);
    scope_strings_close(&scope->sites);
    scope_strings_close(&scope->prefixes);
    vidi_canon_close(scope->site_of);
    bytes_free(&scope->text);
    free(scope);
}

/* ---- reach ---- */

static bool is_among(const scope_strings *names, vidi_str text)
{
    return scope_strings_have(names, scope_hash(text), text);
}

/* True if the host is a site, or is below one. */
static bool ends_with_site(const scope *scope, vidi_str host)
{
    uint64_t hash = FNV_START;

    if (host.ptr[host.len - 1] == '.')
        host.len--;
    for (size_t i = host.len; i > 0 && host.len - i < scope->sites.longest; i--) {
        vidi_str end = {host.ptr + i - 1, host.len - i + 1};
        hash = fnv_byte(hash, end.ptr[0]);
        if ((i == 1 || end.ptr[-1] == '.') && scope_strings_have(&scope->sites, hash, end))
            return true;
    }
    return false;
}

/* A host that ends with a site need not belong to it: example.github.io is not on the site github.io. */
static bool is_on_site(const scope *scope, const vidi_url *parts)
{
    char room[SITE_MOST];
    vidi_str site;

    if (is_among(&scope->hosts, web_url_authority(parts)))
        return true;
    return ends_with_site(scope, parts->host) && site_of(scope, parts, room, &site) == VIDI_OK &&
           scope_strings_have(&scope->sites, scope_hash_backwards(site), site);
}

/* Asks for the beginning up to each '/'. */
static bool has_prefix(const scope *scope, const vidi_url *parts)
{
    vidi_str text = web_url_authority(parts);
    uint64_t hash = FNV_START;

    text.len += parts->path.len;
    for (size_t i = 0; i < text.len && i < scope->prefixes.longest; i++) {
        hash = fnv_byte(hash, text.ptr[i]);
        if (text.ptr[i] == '/' && scope_strings_have(&scope->prefixes, hash, (vidi_str){text.ptr, i + 1}))
            return true;
    }
    return false;
}

static bool reaches(const scope *scope, const vidi_url *parts)
{
    switch (scope->reach) {
    case SCOPE_SITE:
        return is_on_site(scope, parts);
    case SCOPE_PREFIX:
        return has_prefix(scope, parts);
    case SCOPE_ANY:
        return true;
    default:
        return is_among(&scope->hosts, web_url_authority(parts));
    }
}

/* ---- patterns ---- */

static bool any_matches(const globs *among, vidi_str url, vidi_str target)
{
    for (size_t i = 0; i < among->count; i++)
        if (scope_glob_matches(&among->items[i], among->items[i].of_target ? target : url))
            return true;
    return false;
}

static bool is_excluded(const scope *scope, vidi_str url, vidi_str target)
{
    return (scope->include.count && !any_matches(&scope->include, url, target)) ||
           any_matches(&scope->exclude, url, target);
}

/* ---- repeated segments ---- */

/* Cuts a path into its segments, without the empty ones. Returns how many; SCOPE_SEGMENTS + 1 if they are too many. */
static size_t cut_path(vidi_str path, vidi_str segments[SCOPE_SEGMENTS])
{
    const char *at = path.ptr, *end = path.ptr + path.len;
    size_t n = 0;

    while (at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        if (!slash)
            slash = end;
        if (slash > at) {
            if (n == SCOPE_SEGMENTS)
                return n + 1;
            segments[n++] = (vidi_str){at, (size_t)(slash - at)};
        }
        at = slash + 1;
    }
    return n;
}

/* Counts equal segments in a table that is as small as it can be. */
static bool repeats(vidi_str path, unsigned most)
{
    vidi_str segments[SCOPE_SEGMENTS];
    uint16_t first[SLOTS], times[SCOPE_SEGMENTS]; /* number of the first of its kind, from 1; how many there are */
    size_t n = cut_path(path, segments), slots = 2;

    if (n > SCOPE_SEGMENTS)
        return true;
    if (n <= most)
        return false;
    while (slots < 2 * n)
        slots *= 2;
    memset(first, 0, slots * sizeof first[0]);
    for (size_t i = 0; i < n; i++) {
        vidi_str segment = segments[i];
        size_t at = scope_hash(segment) & (slots - 1);
        while (first[at] && (segments[first[at] - 1].len != segment.len ||
                             memcmp(segments[first[at] - 1].ptr, segment.ptr, segment.len) != 0))
            at = (at + 1) & (slots - 1);
        if (!first[at]) {
            first[at] = (uint16_t)(i + 1);
            times[i] = 0;
        }
        if (++times[first[at] - 1] > most)
            return true;
    }
    return false;
}

/* ---- the verdict ---- */

static scope_verdict judge(const scope *scope, vidi_str url, const vidi_url *parts)
{
    if (scope->max_url && url.len > scope->max_url)
        return SCOPE_LONG;
    if (!reaches(scope, parts))
        return SCOPE_OUT;
    if (is_excluded(scope, url, web_url_target(parts)))
        return SCOPE_EXCLUDED;
    if (scope->max_repeat && repeats(parts->path, scope->max_repeat))
        return SCOPE_REPEATS;
    return SCOPE_IN;
}

scope_verdict scope_check(const scope *scope, vidi_str url)
{
    vidi_url parts;

    if (!web_url_view(url, &parts))
        return SCOPE_SCHEME;
    url = without_fragment(&parts);
    scope_verdict verdict = judge(scope, url, &parts);
    if (verdict != SCOPE_IN && verdict != SCOPE_OUT && is_among(&scope->seeds, url))
        verdict = SCOPE_IN;
    return verdict == SCOPE_IN && scope_port_is_bad(web_url_port(&parts)) ? SCOPE_PORT : verdict;
}

bool scope_excludes(const scope *scope, vidi_str url)
{
    vidi_url parts;

    if (!web_url_view(url, &parts))
        return false;
    vidi_str target = {parts.path.ptr, (size_t)(url.ptr + url.len - parts.path.ptr)};
    return any_matches(&scope->exclude, url, target);
}

scope_verdict scope_check_resource(const scope *scope, vidi_str url)
{
    vidi_url parts;

    if (!web_url_view(url, &parts))
        return SCOPE_SCHEME;
    url = without_fragment(&parts);
    if (scope->max_url && url.len > scope->max_url)
        return SCOPE_LONG;
    if (any_matches(&scope->exclude, url, web_url_target(&parts)))
        return SCOPE_EXCLUDED;
    if (scope->max_repeat && repeats(parts.path, scope->max_repeat))
        return SCOPE_REPEATS;
    return scope_port_is_bad(web_url_port(&parts)) ? SCOPE_PORT : SCOPE_IN;
}

int scope_site(const scope *scope, vidi_str url, char room[SCOPE_SITE_MOST], vidi_str *site)
{
    vidi_url parts;

    return web_url_view(url, &parts) ? site_of(scope, &parts, room, site) : VIDI_EARGUMENT;
}

bool scope_is_seeds_origin(const scope *scope, vidi_str url)
{
    vidi_url parts;

    return web_url_view(url, &parts) && is_among(&scope->origins, web_url_origin(&parts));
}
