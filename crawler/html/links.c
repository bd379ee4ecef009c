/*
 * Tells a page's links: takes the URLs out of the values that page.c has noted, and makes them absolute.
 */
#include <string.h>

#include "crawler/css/css.h"
#include "crawler/html/page.h"
#include "vidi/url.h"

/*
 * URLs of these schemes have their query in the page's encoding (the URL Standard, query state). The library's parser
 * takes UTF-8, so characters beyond ASCII in a query are percent-encoded before it sees them.
 */
static bool has_encoded_query(vidi_str url)
{
    static const char *const schemes[] = {"http:", "https:", "file:", "ftp:"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t n = strlen(schemes[i]);
        if (url.len > n && memcmp(url.ptr, schemes[i], n) == 0)
            return true;
    }
    return false;
}

/* Where the query of a reference lies: from the first '?' to the first '#'. False if it is all ASCII. */
static bool find_query(vidi_str reference, size_t *from, size_t *to)
{
    const char *hash = reference.len ? memchr(reference.ptr, '#', reference.len) : NULL;
    *to = hash ? (size_t)(hash - reference.ptr) : reference.len;
    const char *question = *to ? memchr(reference.ptr, '?', *to) : NULL;
    if (!question)
        return false;
    *from = (size_t)(question - reference.ptr) + 1;
    for (size_t i = *from; i < *to; i++)
        if ((unsigned char)reference.ptr[i] >= 0x80)
            return true;
    return false;
}

/* Calls vidi_url_parse, and again with more room if there was too little. */
static int parse(vidi_str base, vidi_str reference, html_room *room, vidi_str *url)
{
    size_t len = room->size;
    vidi_url parts = {.size = sizeof parts};
    int result = vidi_url_parse(reference, base.ptr ? &base : NULL, room->at, &len, &parts);

    if (result == VIDI_ELIMIT && len > room->size) {
        result = html_room_take(room, len < 512 ? 1024 : 2 * len);
        len = room->size;
        if (result == VIDI_OK)
            result = vidi_url_parse(reference, base.ptr ? &base : NULL, room->at, &len, &parts);
    }
    *url = result == VIDI_OK ? (vidi_str){room->at, len} : (vidi_str){NULL, 0};
    return result;
}

int html_page_resolve(html_page *page, vidi_str base, vidi_str reference, html_room *room, vidi_str *url)
{
    const text_encoding *encoding = page->text.encoding;
    size_t from, to;
    int result = parse(base, reference, room, url);

    if (result != VIDI_OK || encoding_has_utf8_queries(encoding) || !find_query(reference, &from, &to) ||
        !has_encoded_query(*url))
        return result;
    result = html_room_take(&page->query, reference.len + encoding_query_room(to - from));
    if (result < 0)
        return result;
    char *text = page->query.at;
    memcpy(text, reference.ptr, from);
    vidi_str query = {reference.ptr + from, to - from};
    size_t len = from + encoding_query_encode(encoding, query, text + from);
    memcpy(text + len, reference.ptr + to, reference.len - to);
    return parse(base, (vidi_str){text, len + reference.len - to}, room, url);
}

typedef struct teller {
    html_page *page;
    html_link link;
    html_link_visitor visitor;
    void *context;
} teller;

static int tell(teller *t, vidi_str value)
{
    t->link.value = value;
    int result = html_page_resolve(t->page, t->page->base, value, &t->page->url, &t->link.url);
    return result < 0 ? result : t->visitor(t->context, &t->link);
}

static int tell_srcset(teller *t, vidi_str value)
{
    vidi_str url;
    int result = VIDI_OK;

    for (size_t at = 0; result == VIDI_OK && html_srcset_next(value, &at, &url);)
        result = tell(t, url);
    return result;
}

static int tell_css_link(void *context, const css_link *link)
{
    return tell(context, link->value);
}

/* A link of the page in a srcdoc: its place is that of the srcdoc. */
static int tell_inner_link(void *context, const html_link *link)
{
    teller *t = context;
    html_link inner = *link;

    inner.position = t->link.position;
    inner.end = 0;
    inner.whole = (vidi_str){NULL, 0};
    return t->visitor(t->context, &inner);
}

/* The HTML Standard says that it is UTF-8, and that its base is this page's. */
static int tell_srcdoc(teller *t, uint32_t groups, vidi_str value)
{
    html_options options = {.url = t->page->base, .encoding = {"utf-8", 5}};
    html_page *inner;

    if (t->page->is_srcdoc)
        return VIDI_OK;
    int result = html_page_open(&inner, value, &options);
    if (result == VIDI_OK) {
        inner->is_srcdoc = true;
        result = html_page_links(inner, groups, tell_inner_link, t);
    }
    html_page_close(inner);
    return result;
}

static bool is_blank(vidi_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if (!ascii_is_space(value.ptr[i]))
            return false;
    return true;
}

static int tell_record(teller *t, uint32_t groups, const html_record *record)
{
    html_page *page = t->page;
    vidi_str value;
    int result = html_page_decode(page, (enum html_content)record->content, record->value, &page->value, &value);

    if (result == VIDI_OK)
        result = html_page_decode(page, HTML_ATTRIBUTE, record->rel, &page->rel, &t->link.rel);
    if (result < 0)
        return result;
    t->link.position = record->value.at;
    t->link.length = record->value.len;
    t->link.whole = record->shape == HTML_CSS ? (vidi_str){NULL, 0} : value;
    t->link.end = record->end;
    t->link.group = record->group;
    t->link.flags = record->flags;
    t->link.element = html_element_name((enum html_element)record->element);
    t->link.attribute = html_attribute_text((enum html_attribute_name)record->attribute);
    switch ((enum html_shape)record->shape) {
    case HTML_SRCSET:
        return tell_srcset(t, value);
    case HTML_REFRESH:
        return html_refresh_url(value, &value) ? tell(t, value) : VIDI_OK;
    case HTML_CSS:
        return css_links(value, tell_css_link, t);
    case HTML_SRCDOC:
        return tell_srcdoc(t, groups, value);
    case HTML_URL_UNLESS_EMPTY:
        return is_blank(value) ? VIDI_OK : tell(t, value);
    default:
        return tell(t, value);
    }
}

int html_page_links(html_page *page, uint32_t groups, html_link_visitor visitor, void *context)
{
    teller t = {.page = page, .visitor = visitor, .context = context};
    int result = VIDI_OK;

    for (size_t i = 0; i < page->count && result == VIDI_OK; i++)
        if (page->records[i].group & groups)
            result = tell_record(&t, groups, &page->records[i]);
    return result;
}
