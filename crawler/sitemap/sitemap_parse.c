/*
 * From text to entries. A file whose first word is a URL is a list of URLs; otherwise the first '<' begins XML.
 *
 * In XML these elements count, if they have the same prefix as the root; upper and lower case are the same:
 *
 *     urlset, sitemapindex     url, sitemap     loc, lastmod, changefreq, priority
 *     rss, RDF                 item             link, pubDate
 *     feed                     entry            link (its attribute href), updated, modified
 *
 * The second column is the container: its end completes an entry. Only its own children are looked at, so the loc of an
 * image inside a url is not taken for the page. Tags that are missing do little harm: a field ends at any tag, and a
 * container at the next one, at the end of its parent or at the end of the file.
 */
#include "crawler/sitemap/sitemap_reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/ascii.h"

static bool equal(vidi_str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

static uint64_t line_of(const sitemap *reader)
{
    return reader->mode == SITEMAP_XML ? reader->tokens.line : reader->line;
}

void sitemap_note(sitemap *reader, sitemap_problem problem)
{
    if (reader->report.problems[problem].count++ == 0)
        reader->report.problems[problem].line = line_of(reader);
}

/* ---- containers ---- */

static const struct {
    const char *name;
    sitemap_format format;
} roots[] = {{"urlset", SITEMAP_URLSET},
             {"sitemapindex", SITEMAP_INDEX},
             {"rss", SITEMAP_RSS},
             {"RDF", SITEMAP_RSS},
             {"feed", SITEMAP_ATOM}};

static const struct {
    const char *name;
    sitemap_format format; /* in which it counts; SITEMAP_UNKNOWN: in all */
} containers[] = {[SITEMAP_PAGE] = {"url", SITEMAP_UNKNOWN},
                  [SITEMAP_SITEMAP] = {"sitemap", SITEMAP_UNKNOWN},
                  [SITEMAP_ITEM] = {"item", SITEMAP_RSS},
                  [SITEMAP_FEED_ENTRY] = {"entry", SITEMAP_ATOM}};

static sitemap_container container_of(const sitemap *reader, vidi_str name)
{
    for (int i = SITEMAP_PAGE; i <= SITEMAP_FEED_ENTRY; i++)
        if (equal(name, containers[i].name) &&
            (containers[i].format == SITEMAP_UNKNOWN || containers[i].format == reader->report.format))
            return (sitemap_container)i;
    return SITEMAP_OUTSIDE;
}

static sitemap_format format_of(vidi_str name)
{
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++)
        if (equal(name, roots[i].name))
            return roots[i].format;
    return SITEMAP_UNKNOWN;
}

/* RDF's own elements have a prefix that those of RSS 1.0 in it do not have. */
static bool is_ours(const sitemap *reader, xml_name name)
{
    const sitemap_elements *at = &reader->at;
    return name.prefix.len == at->prefix_len && memcmp(name.prefix.ptr, at->prefix, at->prefix_len) == 0;
}

static void begin_root(sitemap *reader, xml_name name, sitemap_format format)
{
    sitemap_elements *at = &reader->at;

    if (reader->garbage)
        sitemap_note(reader, SITEMAP_GARBAGE);
    reader->report.format = format;
    at->has_root = true;
    at->prefix_len = equal(name.local, "RDF") ? 0 : name.prefix.len;
    memcpy(at->prefix, name.prefix.ptr, at->prefix_len);
}

static void finish_container(sitemap *reader)
{
    sitemap_elements *at = &reader->at;

    sitemap_emit(reader, at->container == SITEMAP_SITEMAP);
    at->container = SITEMAP_OUTSIDE;
    at->depth = at->container_depth - 1;
}

static void begin_container(sitemap *reader, sitemap_container container)
{
    sitemap_elements *at = &reader->at;
    uint64_t depth = at->depth;

    if (at->container != SITEMAP_OUTSIDE) {
        sitemap_note(reader, SITEMAP_BAD_MARKUP); /* the end of the last one is missing */
        depth = at->container_depth;
        finish_container(reader);
    }
    if (!at->has_root && reader->report.format == SITEMAP_UNKNOWN) { /* the root is missing */
        sitemap_note(reader, SITEMAP_GARBAGE);
        reader->report.format = container == SITEMAP_PAGE ? SITEMAP_URLSET : SITEMAP_INDEX;
    }
    at->depth = at->container_depth = depth;
    at->container = container;
    sitemap_entry_clear(reader);
    at->own_text = container == SITEMAP_PAGE || container == SITEMAP_SITEMAP;
    at->field = at->own_text ? &reader->url : NULL;
}

/* ---- fields ---- */

/* A second URL in the same container is an entry of its own. */
static sitemap_field *begin_url(sitemap *reader)
{
    if (sitemap_field_begun(&reader->url))
        sitemap_emit(reader, reader->at.container == SITEMAP_SITEMAP);
    return &reader->url;
}

static sitemap_field *field_of(sitemap *reader, vidi_str name)
{
    sitemap_elements *at = &reader->at;

    switch (at->container) {
    case SITEMAP_ITEM:
        return equal(name, "link") ? begin_url(reader) : equal(name, "pubDate") ? &reader->lastmod : NULL;
    case SITEMAP_FEED_ENTRY:
        at->in_link = equal(name, "link");
        return equal(name, "updated") || equal(name, "modified") ? &reader->lastmod : NULL;
    default:
        return equal(name, "loc")          ? begin_url(reader)
               : equal(name, "lastmod")    ? &reader->lastmod
               : equal(name, "changefreq") ? &reader->changefreq
               : equal(name, "priority")   ? &reader->priority
                                           : NULL;
    }
}

/* Any tag ends a field. Text of a container that has children is not a URL. */
static void end_field(sitemap *reader, bool child)
{
    sitemap_elements *at = &reader->at;

    if (at->own_text && child)
        sitemap_entry_clear(reader);
    at->own_text = false;
    at->field = NULL;
}

/* ---- what the tokenizer finds ---- */

static void on_start(void *context, xml_name name)
{
    sitemap *reader = context;
    sitemap_elements *at = &reader->at;
    sitemap_format format = reader->at.has_root ? SITEMAP_UNKNOWN : format_of(name.local);
    sitemap_container container = is_ours(reader, name) ? container_of(reader, name.local) : SITEMAP_OUTSIDE;

    end_field(reader, true);
    at->depth++;
    at->in_link = at->link_is_other = at->link_taken = false;
    if (format != SITEMAP_UNKNOWN) {
        begin_root(reader, name, format);
    } else if (container != SITEMAP_OUTSIDE) {
        begin_container(reader, container);
    } else if (at->container == SITEMAP_OUTSIDE) {
        reader->garbage = true;
    } else if (at->depth == at->container_depth + 1 && is_ours(reader, name)) {
        at->field = field_of(reader, name.local);
        if (at->field)
            sitemap_field_clear(at->field);
    }
}

/* Atom: the URL is in href, unless rel says that the link does not lead to the page. The first such link counts. */
static void on_attribute(void *context, xml_name name, vidi_str value)
{
    sitemap *reader = context;
    sitemap_elements *at = &reader->at;

    if (!at->in_link || name.prefix.len > 0)
        return;
    if (equal(name.local, "rel")) {
        at->link_is_other = !equal(value, "alternate");
    } else if (equal(name.local, "href") && !sitemap_field_begun(&reader->url)) {
        at->link_taken = true;
        sitemap_field_add(&reader->url, value.ptr, value.len);
    }
}

static void on_started(void *context, bool empty)
{
    sitemap *reader = context;
    sitemap_elements *at = &reader->at;

    if (at->link_taken && at->link_is_other)
        sitemap_field_clear(&reader->url);
    at->in_link = at->link_taken = false;
    if (!empty)
        return;
    end_field(reader, false);
    if (at->container != SITEMAP_OUTSIDE && at->depth == at->container_depth)
        finish_container(reader);
    else
        at->depth--;
    at->root_ended = at->root_ended || (at->has_root && at->depth == 0); /* <urlset/> */
}

/* Inside of a container, tags that end too much do not end the container. */
static void end_element(sitemap_elements *at)
{
    at->depth -= at->depth > (at->container != SITEMAP_OUTSIDE ? at->container_depth : 0);
}

static void on_end(void *context, xml_name name)
{
    sitemap *reader = context;
    sitemap_elements *at = &reader->at;

    end_field(reader, false);
    if (at->container != SITEMAP_OUTSIDE && is_ours(reader, name) && container_of(reader, name.local) == at->container)
        finish_container(reader);
    else
        end_element(at);
    if (at->has_root && format_of(name.local) == reader->report.format) {
        if (at->container != SITEMAP_OUTSIDE)
            finish_container(reader);
        at->root_ended = true;
    }
}

static void on_text(void *context, const char *bytes, size_t n)
{
    sitemap *reader = context;

    if (reader->at.field)
        sitemap_field_add(reader->at.field, bytes, n);
    else if (reader->report.format == SITEMAP_UNKNOWN)
        for (size_t i = 0; i < n && !reader->garbage; i++)
            reader->garbage = !ascii_is_white(bytes[i]);
}

/* The encoding that a declaration names, without the quotes; empty if it names none. */
static vidi_str declared(vidi_str text)
{
    const char *at = memmem(text.ptr, text.len, "encoding", 8), *end = text.ptr + text.len;

    at = at ? at + 8 : end;
    while (at < end && *at != '"' && *at != '\'')
        at++;
    const char *from = at < end ? at + 1 : end, *to = from;
    while (to < end && *to != '"' && *to != '\'')
        to++;
    return (vidi_str){from, (size_t)(to - from)};
}

static void on_declaration(void *context, vidi_str text)
{
    static const char *const utf8[] = {"utf-8", "utf8", "us-ascii", "ascii"}, *const latin1[] = {"iso-8859-1", "latin1",
                                                                                                 "latin-1",
                                                                                                 "windows-1252"};
    sitemap *reader = context;
    vidi_str name = declared(text);
    bool fits = name.len == 0;

    for (size_t i = 0; i < 4; i++) {
        fits = fits || (equal(name, utf8[i]) && reader->encoding == SITEMAP_UTF8);
        reader->latin1 = reader->latin1 || equal(name, latin1[i]);
    }
    if (name.len >= 6 && strncasecmp(name.ptr, "utf-16", 6) == 0)
        fits = reader->encoding != SITEMAP_UTF8;
    if (!fits)
        sitemap_note(reader, SITEMAP_WRONG_ENCODING);
}

static void on_problem(void *context, sitemap_problem problem)
{
    sitemap_note(context, problem);
}

static const xml_handler handler = {.start = on_start,
                                    .attribute = on_attribute,
                                    .started = on_started,
                                    .end = on_end,
                                    .text = on_text,
                                    .declaration = on_declaration,
                                    .problem = on_problem};

/* ---- lists of URLs ---- */

static void finish_line(sitemap *reader)
{
    if (sitemap_field_begun(&reader->url))
        sitemap_emit(reader, false);
}

static void parse_lines(sitemap *reader, const char *bytes, size_t n)
{
    for (size_t i = 0, end; i < n && reader->result == SITEMAP_GO_ON; i = end + 1) {
        for (end = i; end < n && bytes[end] != '\n' && bytes[end] != '\r'; end++)
            ;
        sitemap_field_add(&reader->url, bytes + i, end - i);
        if (end < n)
            finish_line(reader);
        reader->line += end < n && bytes[end] == '\n';
    }
}

/* ---- XML or lines ---- */

static void become_xml(sitemap *reader)
{
    reader->mode = SITEMAP_XML;
    xml_init(&reader->tokens, &handler, reader);
    reader->tokens.line = reader->line;
}

static void become_lines(sitemap *reader)
{
    reader->mode = SITEMAP_LINES;
    reader->report.format = SITEMAP_TEXT;
    if (reader->garbage)
        sitemap_note(reader, SITEMAP_GARBAGE);
    sitemap_field_add(&reader->url, reader->scheme, reader->scheme_len);
}

/* True if the current line still looks like a URL. Only as much as a scheme has is kept of it. */
static void match_scheme(sitemap *reader, char c)
{
    static const char *const schemes[] = {"http://", "https://"};
    size_t len = reader->scheme_len + 1;

    if (reader->scheme_len == 0 && ascii_is_white(c))
        return;
    reader->scheme[reader->scheme_len++] = c;
    for (size_t i = 0; i < 2; i++)
        if (strncasecmp(reader->scheme, schemes[i], len) == 0) {
            if (len == strlen(schemes[i]))
                become_lines(reader);
            return;
        }
    reader->line_is_text = reader->garbage = true;
}

static void look_at(sitemap *reader, char c)
{
    if (c == '\n' || c == '\r') {
        reader->garbage = reader->garbage || reader->scheme_len > 0;
        reader->line += c == '\n';
        reader->line_is_text = false;
        reader->scheme_len = 0;
    } else if (c == '<') {
        reader->garbage = reader->garbage || reader->scheme_len > 0;
        become_xml(reader);
        xml_feed(&reader->tokens, "<", 1);
    } else if (!reader->line_is_text) {
        match_scheme(reader, c);
    }
}

/* The tokenizer gets small pieces, so that it stops soon after the visitor has had enough. */
static void parse_xml(sitemap *reader, const char *bytes, size_t n)
{
    enum { PIECE = 4096 };

    for (size_t at = 0; at < n && reader->result == SITEMAP_GO_ON; at += PIECE)
        xml_feed(&reader->tokens, bytes + at, n - at < PIECE ? n - at : PIECE);
}

void sitemap_parse(sitemap *reader, const char *bytes, size_t n)
{
    while (n > 0 && reader->mode == SITEMAP_UNDECIDED) {
        look_at(reader, *bytes++);
        n--;
    }
    if (reader->mode == SITEMAP_LINES)
        parse_lines(reader, bytes, n);
    else if (reader->mode == SITEMAP_XML)
        parse_xml(reader, bytes, n);
}

/* The end of an XML file. A URL whose end is missing may have been cut off: it is left out. */
static void end_xml(sitemap *reader)
{
    sitemap_elements *at = &reader->at;
    bool whole = xml_end(&reader->tokens);

    if (at->field == &reader->url)
        sitemap_field_clear(&reader->url);
    if (at->container != SITEMAP_OUTSIDE && sitemap_field_begun(&reader->url))
        finish_container(reader);
    if (reader->report.format != SITEMAP_UNKNOWN && (!whole || (at->has_root && !at->root_ended)) &&
        reader->report.problems[SITEMAP_CUT_OFF].count == 0)
        sitemap_note(reader, SITEMAP_CUT_OFF);
}

void sitemap_parse_end(sitemap *reader)
{
    if (reader->mode == SITEMAP_XML)
        end_xml(reader);
    else if (reader->mode == SITEMAP_LINES && reader->report.problems[SITEMAP_CUT_OFF].count == 0)
        finish_line(reader); /* a last line needs no end, but half a URL is not a URL */
}
