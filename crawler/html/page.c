/*
 * Reads a page once, from the first tag to the last, and notes what may be a link (page.h).
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/html/context.h"
#include "crawler/html/page.h"

/* An attribute of an element that is a link; group 0 ends a list. */
typedef struct link_attribute {
    uint8_t attribute, group, shape;
} link_attribute;

enum { LISTED = 3, ALL_GROUPS = HTML_LINKS | HTML_RESOURCES | HTML_FORMS };

#define LINK(attribute, group, shape)                                                                                  \
    {                                                                                                                  \
        HTML_ATTRIBUTE_##attribute, HTML_##group, HTML_##shape                                                         \
    }

static const link_attribute html_links[HTML_ELEMENT_COUNT][LISTED] = {
    [HTML_ELEMENT_A] = {LINK(HREF, LINKS, URL)},
    [HTML_ELEMENT_AREA] = {LINK(HREF, LINKS, URL)},
    [HTML_ELEMENT_LINK] = {LINK(HREF, LINKS, URL_UNLESS_EMPTY), LINK(IMAGESRCSET, RESOURCES, SRCSET)},
    [HTML_ELEMENT_FRAME] = {LINK(SRC, LINKS, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_IFRAME] = {LINK(SRC, LINKS, URL_UNLESS_EMPTY), {HTML_ATTRIBUTE_SRCDOC, ALL_GROUPS, HTML_SRCDOC}},
    [HTML_ELEMENT_IMG] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY), LINK(SRCSET, RESOURCES, SRCSET)},
    [HTML_ELEMENT_SOURCE] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY), LINK(SRCSET, RESOURCES, SRCSET)},
    [HTML_ELEMENT_SCRIPT] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_VIDEO] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY), LINK(POSTER, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_AUDIO] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_TRACK] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_EMBED] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_OBJECT] = {LINK(DATA, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_BGSOUND] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_INPUT] = {LINK(SRC, RESOURCES, URL_UNLESS_EMPTY), LINK(FORMACTION, FORMS, URL)},
    [HTML_ELEMENT_BUTTON] = {LINK(FORMACTION, FORMS, URL)},
    [HTML_ELEMENT_FORM] = {LINK(ACTION, FORMS, URL)},
    [HTML_ELEMENT_BODY] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_TABLE] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_TBODY] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_THEAD] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_TFOOT] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_TR] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_TD] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_TH] = {LINK(BACKGROUND, RESOURCES, URL_UNLESS_EMPTY)},
};

/* In SVG and MathML; of href and xlink:href only the first that is there counts. */
static const link_attribute foreign_links[HTML_ELEMENT_COUNT][LISTED] = {
    [HTML_ELEMENT_A] = {LINK(HREF, LINKS, URL), LINK(XLINK_HREF, LINKS, URL)},
    [HTML_ELEMENT_IMAGE] = {LINK(HREF, RESOURCES, URL_UNLESS_EMPTY), LINK(XLINK_HREF, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_FEIMAGE] = {LINK(HREF, RESOURCES, URL_UNLESS_EMPTY), LINK(XLINK_HREF, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_USE] = {LINK(HREF, RESOURCES, URL_UNLESS_EMPTY), LINK(XLINK_HREF, RESOURCES, URL_UNLESS_EMPTY)},
    [HTML_ELEMENT_SCRIPT] = {LINK(HREF, RESOURCES, URL_UNLESS_EMPTY), LINK(XLINK_HREF, RESOURCES, URL_UNLESS_EMPTY)},
};

typedef struct reader {
    html_page *page;
    html_tokenizer tokenizer;
    html_context context;
    html_token token;
    html_piece attributes[HTML_ATTRIBUTE_COUNT]; /* of the tag: the first of each name */
    bool has[HTML_ATTRIBUTE_COUNT];
    bool in_style; /* the last tag was one of a `style` element whose text is CSS */
} reader;

int html_room_take(html_room *room, size_t size)
{
    if (size <= room->size)
        return VIDI_OK;
    char *at = malloc(size);
    if (!at)
        return VIDI_EMEMORY;
    free(room->at);
    room->at = at;
    room->size = size;
    return VIDI_OK;
}

int html_page_decode(const html_page *page, enum html_content content, html_piece piece, html_room *room,
                     vidi_str *text)
{
    vidi_str raw = {page->text.bytes.ptr + piece.at, piece.len};

    *text = raw;
    if (html_text_is_plain(content, raw))
        return VIDI_OK;
    int result = html_room_take(room, HTML_DECODED_GROWTH * raw.len);
    if (result == VIDI_OK)
        *text = (vidi_str){room->at, html_text_decode(content, raw, room->at)};
    return result;
}

/* ---- one tag ---- */

static int decode_attribute(reader *r, enum html_attribute_name name, vidi_str *text)
{
    return html_page_decode(r->page, HTML_ATTRIBUTE, r->attributes[name], &r->page->value, text);
}

static void sort_attributes(reader *r)
{
    memset(r->has, 0, sizeof r->has);
    for (size_t i = 0; i < r->token.attribute_count; i++) {
        const html_attribute *attribute = &r->token.attributes[i];
        enum html_attribute_name name = html_attribute_of(html_piece_raw(&r->tokenizer, attribute->name));
        if (name != HTML_ATTRIBUTE_OTHER && !r->has[name]) {
            r->has[name] = true;
            r->attributes[name] = attribute->value;
        }
    }
}

static int flags_of(reader *r, enum html_element element, uint16_t *flags)
{
    static const struct {
        const char *word;
        uint16_t flag;
    } words[] = {{"nofollow", HTML_NOFOLLOW},   {"ugc", HTML_UGC},   {"sponsored", HTML_SPONSORED},
                 {"canonical", HTML_CANONICAL}, {"next", HTML_NEXT}, {"alternate", HTML_ALTERNATE},
                 {"prev", HTML_PREV},           {"icon", HTML_ICON}, {"stylesheet", HTML_STYLESHEET}};
    vidi_str rel, word;
    size_t at = 0;

    *flags = 0;
    if (!r->has[HTML_ATTRIBUTE_REL])
        return VIDI_OK;
    int result = decode_attribute(r, HTML_ATTRIBUTE_REL, &rel);
    while (result == VIDI_OK && html_next_word(rel, "", &at, &word))
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (ASCII_IS(word, words[i].word))
                *flags |= words[i].flag;
    if (element != HTML_ELEMENT_LINK)
        *flags &= (uint16_t)~HTML_CANONICAL;
    return result;
}

/* Room for one more record; NULL: no memory. */
static html_record *next_record(html_page *page)
{
    if (page->count == page->room) {
        size_t room = page->room ? 2 * page->room : 64;
        html_record *records = realloc(page->records, room * sizeof *records); /* fewer than bytes of the page */
        if (!records)
            return NULL;
        page->records = records;
        page->room = room;
    }
    return &page->records[page->count];
}

static int note(reader *r, enum html_element element, const link_attribute *link)
{
    html_page *page = r->page;
    html_record *record = next_record(page);

    if (!record)
        return VIDI_EMEMORY;
    *record = (html_record){.value = r->attributes[link->attribute],
                            .end = r->tokenizer.at,
                            .element = (uint8_t)element,
                            .attribute = link->attribute,
                            .group = link->group,
                            .shape = link->shape,
                            .content = HTML_ATTRIBUTE};
    if (r->has[HTML_ATTRIBUTE_REL])
        record->rel = r->attributes[HTML_ATTRIBUTE_REL];
    int result = flags_of(r, element, &record->flags);
    page->count += result == VIDI_OK;
    return result;
}

static int note_css(reader *r, enum html_element element, enum html_attribute_name attribute, html_piece css,
                    enum html_content content)
{
    vidi_str raw = html_piece_raw(&r->tokenizer, css);

    /* No URL is written without one of these; a character reference may stand for one. */
    if (!raw.len || !(memchr(raw.ptr, '(', raw.len) || memchr(raw.ptr, '&', raw.len) || memchr(raw.ptr, '@', raw.len)))
        return VIDI_OK;
    html_record *record = next_record(r->page);
    if (!record)
        return VIDI_EMEMORY;
    *record = (html_record){.value = css,
                            .end = r->tokenizer.at,
                            .element = (uint8_t)element,
                            .attribute = (uint8_t)attribute,
                            .group = HTML_RESOURCES,
                            .shape = HTML_CSS,
                            .content = (uint8_t)content};
    r->page->count++;
    return VIDI_OK;
}

/* Every element may have one, so this looks at all attributes of all tags, and only at these. */
static int note_style_attribute(reader *r, enum html_element element)
{
    for (size_t i = 0; i < r->token.attribute_count; i++) {
        const html_attribute *attribute = &r->token.attributes[i];
        vidi_str name = html_piece_raw(&r->tokenizer, attribute->name);
        if (ASCII_IS(name, "style"))
            return note_css(r, element, HTML_ATTRIBUTE_STYLE, attribute->value, HTML_ATTRIBUTE);
    }
    return VIDI_OK;
}

/* Text of a `style` element follows: it is CSS unless its type says otherwise. */
static int begin_style(reader *r)
{
    vidi_str type;

    sort_attributes(r);
    r->in_style = true;
    if (!r->has[HTML_ATTRIBUTE_TYPE])
        return VIDI_OK;
    int result = decode_attribute(r, HTML_ATTRIBUTE_TYPE, &type);
    r->in_style = result == VIDI_OK && (type.len == 0 || ASCII_IS(type, "text/css"));
    return result;
}

static int note_links(reader *r, enum html_element element, enum html_space space)
{
    bool foreign = space != HTML_SPACE_HTML;
    if (element == HTML_ELEMENT_IMAGE && !foreign)
        element = HTML_ELEMENT_IMG; /* as every browser reads it */
    const link_attribute *list = foreign ? foreign_links[element] : html_links[element];
    int result = VIDI_OK;

    if (!list[0].group)
        return VIDI_OK;
    sort_attributes(r);
    for (size_t i = 0; i < LISTED && list[i].group && result == VIDI_OK; i++) {
        if (!r->has[list[i].attribute])
            continue;
        result = note(r, element, &list[i]);
        if (foreign)
            break;
    }
    return result;
}

static void read_robots(html_page *page, vidi_str content)
{
    vidi_str word;

    for (size_t at = 0; html_next_word(content, ",", &at, &word);) {
        if (ASCII_IS(word, "noindex"))
            page->robots |= HTML_ROBOTS_NOINDEX;
        else if (ASCII_IS(word, "nofollow"))
            page->robots |= HTML_ROBOTS_NOFOLLOW;
        else if (ASCII_IS(word, "noarchive"))
            page->robots |= HTML_ROBOTS_NOARCHIVE;
        else if (ASCII_IS(word, "none"))
            page->robots |= HTML_ROBOTS_NOINDEX | HTML_ROBOTS_NOFOLLOW;
    }
}

static int read_meta(reader *r)
{
    static const link_attribute refresh = LINK(CONTENT, LINKS, REFRESH);
    vidi_str text;
    int result = VIDI_OK;

    sort_attributes(r);
    if (!r->has[HTML_ATTRIBUTE_CONTENT])
        return VIDI_OK;
    if (r->has[HTML_ATTRIBUTE_HTTP_EQUIV]) {
        result = decode_attribute(r, HTML_ATTRIBUTE_HTTP_EQUIV, &text);
        if (result == VIDI_OK && ASCII_IS(text, "refresh"))
            result = note(r, HTML_ELEMENT_META, &refresh);
    }
    if (result == VIDI_OK && r->has[HTML_ATTRIBUTE_NAME]) {
        result = decode_attribute(r, HTML_ATTRIBUTE_NAME, &text);
        if (result == VIDI_OK && ASCII_IS(text, "robots")) {
            result = decode_attribute(r, HTML_ATTRIBUTE_CONTENT, &text);
            if (result == VIDI_OK)
                read_robots(r->page, text);
        }
    }
    return result;
}

static void read_base(reader *r)
{
    if (r->page->has_base)
        return;
    sort_attributes(r);
    r->page->has_base = r->has[HTML_ATTRIBUTE_HREF];
    if (r->page->has_base)
        r->page->base_value = r->attributes[HTML_ATTRIBUTE_HREF];
}

static int read_tag(reader *r)
{
    enum html_element element;
    enum html_space space;
    int result = html_context_follow(&r->context, &r->tokenizer, &r->token, &element, &space);

    r->in_style = false;
    if (result < 0 || r->token.type == HTML_END_TAG || html_context_inert(&r->context))
        return result;
    result = note_style_attribute(r, element);
    if (result < 0 || element == HTML_ELEMENT_OTHER)
        return result;
    if (element == HTML_ELEMENT_STYLE)
        return begin_style(r);
    if (space == HTML_SPACE_HTML && element == HTML_ELEMENT_META)
        return read_meta(r);
    if (space == HTML_SPACE_HTML && element == HTML_ELEMENT_BASE)
        read_base(r);
    if (space == HTML_SPACE_HTML && element == HTML_ELEMENT_TITLE && !r->page->has_title) {
        r->page->has_title = true;
        r->page->title = (html_piece){r->tokenizer.at, 0}; /* its text comes next, if it has any */
    }
    return note_links(r, element, space);
}

static int read_tokens(reader *r)
{
    int result;

    while ((result = html_tokenizer_next(&r->tokenizer, &r->token)) == VIDI_OK && r->token.type != HTML_END) {
        if (r->token.type == HTML_START_TAG || r->token.type == HTML_END_TAG)
            result = read_tag(r);
        else if (r->token.content == HTML_RCDATA && r->token.text.at == r->page->title.at)
            r->page->title = r->token.text;
        else if (r->token.type == HTML_TEXT && r->in_style)
            result = note_css(r, HTML_ELEMENT_STYLE, HTML_ATTRIBUTE_OTHER, r->token.text, r->token.content);
        if (result < 0)
            return result;
    }
    return result;
}

/* ---- the page ---- */

static bool has_scheme(vidi_str url, const char *scheme)
{
    size_t n = strlen(scheme);
    return url.len > n && memcmp(url.ptr, scheme, n) == 0;
}

/* The page's own URL is the base, unless <base> says otherwise (the HTML Standard, section 2.4.1). */
static int find_base(reader *r, vidi_str own)
{
    html_page *page = r->page;
    vidi_str text, base = {NULL, 0};

    if (own.ptr) {
        int result = html_page_resolve(page, (vidi_str){NULL, 0}, own, &page->base_room, &page->base);
        if (result < 0)
            return result;
    }
    if (!page->has_base)
        return VIDI_OK;
    int result = html_page_decode(page, HTML_ATTRIBUTE, page->base_value, &page->value, &text);
    if (result == VIDI_OK)
        result = html_page_resolve(page, page->base, text, &page->url, &base);
    if (result < 0 || !base.ptr || base.len > HTML_BASE_MAX || has_scheme(base, "data:") ||
        has_scheme(base, "javascript:"))
        return result < 0 ? result : VIDI_OK;
    html_room swapped = page->base_room;
    page->base_room = page->url;
    page->url = swapped;
    page->base = base;
    return VIDI_OK;
}

static int read_page(html_page *page, vidi_str bytes, const html_options *options)
{
    reader r = {.page = page};
    size_t bom;
    page->encoding = html_encoding_sniff(bytes, options->encoding, options->charset, &page->source, &bom);
    int result = encoding_decode(page->encoding, (vidi_str){bytes.ptr + bom, bytes.len - bom}, &page->text);

    if (result == VIDI_OK)
        result = html_tokenizer_open(&r.tokenizer, page->text.bytes);
    if (result == VIDI_OK)
        result = read_tokens(&r);
    html_tokenizer_close(&r.tokenizer);
    html_context_close(&r.context);
    return result == VIDI_OK ? find_base(&r, options->url) : result;
}

int html_page_open(html_page **page, vidi_str bytes, const html_options *options)
{
    html_page *new = calloc(1, sizeof *new);

    *page = NULL;
    if (!new)
        return VIDI_EMEMORY;
    int result = read_page(new, bytes, options);
    if (result < 0) {
        html_page_close(new);
        return result;
    }
    *page = new;
    return VIDI_OK;
}

void html_page_close(html_page *page)
{
    if (!page)
        return;
    encoding_text_free(&page->text);
    free(page->records);
    free(page->base_room.at);
    free(page->value.at);
    free(page->rel.at);
    free(page->url.at);
    free(page->query.at);
    free(page->visible.at);
    free(page);
}

html_page_info html_page_about(const html_page *page)
{
    static const char *const sources[] = {"bom", "option", "header", "meta", "default"};
    return (html_page_info){.encoding = page->encoding->name,
                            .source = sources[page->source],
                            .readable = page->text.encoding == page->encoding,
                            .robots = page->robots,
                            .base = page->base,
                            .text = page->text.bytes,
                            .has_base = page->has_base,
                            .base_position = page->base_value.at,
                            .base_length = page->base_value.len};
}
