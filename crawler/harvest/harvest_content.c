/*
 * Contents: see harvest_content.h.
 */
#include "crawler/harvest/harvest_content.h"

#include <string.h>
#include <strings.h>

#include "common/ascii.h"
#include "crawler/base/fragments.h"
#include "crawler/css/css.h"
#include "crawler/harvest/harvest.h"
#include "crawler/harvest/harvest_headers.h"
#include "crawler/sitemap/sitemap.h"
#include "vidi/url.h"

/* ---- what it is ---- */

static bool is_one_of(const char *type, const char *const *types)
{
    for (; *types; types++)
        if (strcmp(type, *types) == 0)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

harvest_content harvest_content_by_type(const char *type, frontier_kind kind)
{
    static const char *const html[] = {"text/html", "application/xhtml+xml", NULL};
    static const char *const xml[] = {"text/xml",           "application/xml",          "application/gzip",
                                      "application/x-gzip", "application/octet-stream", NULL};
    static const char *const unknown[] = {"unknown/unknown", "application/unknown", "*/*", NULL};

    if (kind == FRONTIER_OUTSIDE)
        return HARVEST_NOTHING;
    if (kind == FRONTIER_SITEMAP)
        return HARVEST_SITEMAP;
    if (is_one_of(type, html))
        return HARVEST_HTML;
    if (strcmp(type, "text/css") == 0)
        return HARVEST_CSS;
    if (!strchr(type, '/') || is_one_of(type, unknown))
        return HARVEST_UNDECIDED;
    if (kind == FRONTIER_SEED && (is_one_of(type, xml) || ends_with(type, "+xml")))
        return HARVEST_XML;
    return HARVEST_NOTHING;
}

/* Without a byte order mark and blanks. */
static vidi_str beginning(vidi_str content)
{
    size_t i = content.len >= 3 && memcmp(content.ptr, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    while (i < content.len && ascii_is_space(content.ptr[i]))
        i++;
    return (vidi_str){content.ptr + i, content.len - i};
}

/* True if it begins with the tag (given in upper case, compared without case), ended by a blank or '>'. */
static bool begins_with_tag(vidi_str text, const char *tag)
{
    size_t n = strlen(tag);

    if (text.len < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = text.ptr[i];
        if ((c >= 'a' && c <= 'z' ? (char)(c - 32) : c) != tag[i])
            return false;
    }
    return strcmp(tag, "<!--") == 0 || (text.len > n && (ascii_is_space(text.ptr[n]) || text.ptr[n] == '>'));
}

/* The MIME Sniffing Standard, section 7.1, as far as it is about HTML and XML. */
harvest_content harvest_content_by_bytes(vidi_str content, frontier_kind kind)
{
    static const char *const tags[] = {
        "<!DOCTYPE HTML", "<HTML",  "<HEAD", "<SCRIPT", "<IFRAME", "<H1", "<DIV", "<FONT", "<TABLE", "<A",
        "<STYLE",         "<TITLE", "<B",    "<BODY",   "<BR",     "<P",  "<!--", NULL};
    vidi_str text = beginning(content);

    for (size_t i = 0; tags[i]; i++)
        if (begins_with_tag(text, tags[i]))
            return HARVEST_HTML;
    if (kind == FRONTIER_SEED &&
        ((text.len >= 5 && memcmp(text.ptr, "<?xml", 5) == 0) || begins_with_tag(text, "<URLSET") ||
         begins_with_tag(text, "<SITEMAPINDEX") || begins_with_tag(text, "<RSS") || begins_with_tag(text, "<FEED")))
        return HARVEST_XML;
    return HARVEST_NOTHING;
}

bool harvest_looks_like_html(vidi_str content)
{
    return harvest_content_by_bytes(content, FRONTIER_PAGE) == HARVEST_HTML;
}

/* ---- pages ---- */

/* `preconnect` and `dns-prefetch` name a host that will be needed, not a page. */
static bool names_a_host_only(const html_link *link)
{
    static const char *const words[] = {"preconnect", "dns-prefetch"};

    if (strcmp(link->element, "link") != 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (link->rel.len == strlen(words[i]) && strncasecmp(link->rel.ptr, words[i], link->rel.len) == 0)
            return true;
    return false;
}

typedef struct html_walk {
    harvest_collector *collector;
    const html_page *page;
} html_walk;

/* `link` elements are links, but some name what the page loads. */
static bool is_resource(const html_link *link)
{
    return link->group == HTML_RESOURCES || (strcmp(link->element, "link") == 0 && harvest_rel_is_resource(link->rel));
}

static int take_link(void *context, const html_link *link)
{
    html_walk *walk = context;
    bool loaded = walk->collector->rules->resources && is_resource(link);
    harvest_found found = {.url = link->url,
                           .kind = loaded ? FRONTIER_RESOURCE : FRONTIER_PAGE,
                           .nofollow = link->flags & (HTML_NOFOLLOW | HTML_UGC | HTML_SPONSORED),
                           .page = walk->page,
                           .link = link};

    return names_a_host_only(link) ? VIDI_OK : harvest_collect(walk->collector, &found);
}

static int take_name(void *context, vidi_str name)
{
    bytes *names = &((harvest_collector *)context)->into->names;
    int error = fragment_names_add(names, name);

    return !error && names->len / sizeof(uint64_t) > HARVEST_NAMES ? HARVEST_ENOUGH : error;
}

/* What fragments can lead to on the page. */
static int take_names(harvest_collector *c, html_page *page)
{
    int error = html_page_names(page, take_name, c);

    c->into->has_names = error == VIDI_OK;
    if (error)
        bytes_free(&c->into->names);
    fragment_names_sort(&c->into->names);
    return error == HARVEST_ENOUGH ? VIDI_OK : error;
}

/* For telling whether the page has changed: a page that has text is the same if its text is. */
static int digest_text(html_page *page, char *to)
{
    vidi_str text;
    int error = html_page_text(page, &text);

    if (error || text.len == 0)
        return error;
    error = archive_digest(text, to);
    for (size_t i = 0; i < 4 && !error; i++) /* instead of "sha1" */
        to[i] = "text"[i];
    return error;
}

int harvest_html(harvest_collector *c, vidi_str content, vidi_str charset, bool with_links, uint32_t *robots)
{
    html_options options = {.url = c->from->url, .charset = charset};
    uint32_t groups = HTML_LINKS | (c->rules->resources ? HTML_RESOURCES : 0);
    html_page *page;
    int error = html_page_open(&page, content, &options);

    if (error == VIDI_ELIMIT) {
        harvest_tell_problem(c->into, "it is too large to be read as a page");
        return VIDI_OK;
    }
    if (error)
        return error;
    *robots |= html_page_about(page).robots;
    if (with_links) {
        html_walk walk = {c, page};
        c->nofollow = *robots & HTML_ROBOTS_NOFOLLOW;
        error = html_page_links(page, groups, take_link, &walk);
        if (!error && c->rules->fragments)
            error = take_names(c, page);
    }
    if (c->rules->by_text && (!error || error == HARVEST_ENOUGH)) {
        int failed = digest_text(page, c->into->content);
        error = failed ? failed : error;
    }
    html_page_close(page);
    return error == HARVEST_ENOUGH ? VIDI_OK : error;
}

/* ---- style sheets ---- */

/* Of the URLs, queries are in UTF-8, whatever the sheet's encoding is. */
static int take_css_link(void *context, const css_link *link)
{
    harvest_collector *c = context;
    harvest_found found = {.kind = FRONTIER_RESOURCE};
    int result = harvest_resolve(c, link->value, &found.url);

    return result == VIDI_EMEMORY ? result : harvest_collect(c, &found);
}

int harvest_css(harvest_collector *c, vidi_str content, vidi_str charset)
{
    encoding_text text = {.owned = NULL};
    int error = css_decode(content, charset, &text);

    if (error == VIDI_ELIMIT) {
        harvest_tell_problem(c->into, "it is too large to be read as a style sheet");
        return VIDI_OK;
    }
    if (!error)
        error = css_links(text.bytes, take_css_link, c);
    encoding_text_free(&text);
    return error == HARVEST_ENOUGH ? VIDI_OK : error;
}

/* ---- sitemaps ---- */

static int take_entry(void *context, const sitemap_entry *entry)
{
    harvest_collector *c = context;
    char room[3 * SITEMAP_URL_BYTES]; /* serialised, when each byte of it is percent-encoded */
    size_t len = sizeof room;
    harvest_found found = {.kind = entry->is_sitemap ? FRONTIER_SITEMAP : FRONTIER_PAGE};

    int result = vidi_url_resolve(c->from->url, entry->url, room, &len);
    if (result == VIDI_EMEMORY)
        return result;
    if (result == VIDI_OK)
        found.url = (vidi_str){room, len};
    return harvest_collect(c, &found);
}

static const char *first_problem(const sitemap_report *report)
{
    int i = 0;

    while (i < SITEMAP_PROBLEMS - 1 && !report->problems[i].count)
        i++;
    return sitemap_problem_text((sitemap_problem)i);
}

int harvest_sitemap(harvest_collector *c, vidi_str content, bool plain_text)
{
    size_t most = c->rules->max_unpacked; /* the file itself may be packed, too */
    sitemap_options options = {.visit = take_entry,
                               .context = c,
                               .base = c->from->url,
                               .max_bytes = most < SITEMAP_BYTES ? most : SITEMAP_BYTES};
    sitemap_report report = {.format = SITEMAP_UNKNOWN};
    sitemap *reader;
    int error = sitemap_open(&reader, &options);

    if (error)
        return error;
    int fed = sitemap_feed(reader, content.ptr, content.len), closed = sitemap_close(reader, &report);
    if (report.format == SITEMAP_TEXT && !plain_text)
        harvest_forget_links(c);
    else if (sitemap_is_incomplete(&report))
        harvest_tell_problem(c->into, first_problem(&report));
    return fed < 0 ? fed : closed < 0 ? closed : VIDI_OK;
}
