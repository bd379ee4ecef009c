/*
 * Replaces URLs in a page: see rewrite.h.
 *
 * The reader of HTML gives the place of each value in the page as UTF-8. If the page is in UTF-8, that is its place in
 * the bytes, too; else both are walked side by side, character by character.
 */
#include "crawler/export/rewrite.h"

#include <string.h>

#include "crawler/base/list.h"
#include "crawler/encoding/encoding.h"

/* A value that gets another text. */
typedef struct edit {
    uint64_t position, length; /* in the page as UTF-8 */
    size_t from, to;           /* the text, in editor.texts */
} edit;

typedef struct editor {
    const rewrite_options *options;
    html_page_info about;
    edit *edits;
    size_t count, room;
    bytes texts;
    /* The attribute whose links are being told: a srcset has several. */
    uint64_t position, length;
    bytes whole; /* its value */
    bytes made;  /* the new value, up to `done` of the old one */
    size_t done;
    bool open, changed;
} editor;

/* ---- new values ---- */

static bool is_quoted(const editor *e, uint64_t position)
{
    return position > 0 && (e->about.text.ptr[position - 1] == '"' || e->about.text.ptr[position - 1] == '\'');
}

/* Appends a value as an attribute has it. */
static int put_escaped(bytes *to, vidi_str value, bool quoted)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < value.len && !error; i++) {
        char c = value.ptr[i];
        if (c == '&')
            error = bytes_append_text(to, "&amp;");
        else if (c == '"' || c == '\'' || c == '<' || c == '>' || c == '`' ||
                 (!quoted && (ascii_is_space(c) || c == '=')))
            error = bytes_append_format(to, "&#%d;", c);
        else
            error = bytes_append(to, &c, 1);
    }
    return error;
}

static int add_edit(editor *e, uint64_t position, uint64_t length, vidi_str value)
{
    edit made = {.position = position, .length = length, .from = e->texts.len};
    int error = list_reserve(&e->edits, &e->room, e->count + 1);

    if (!error)
        error = put_escaped(&e->texts, value, is_quoted(e, position));
    made.to = e->texts.len;
    if (!error)
        e->edits[e->count++] = made;
    return error;
}

/* Ends the attribute that is open. */
static int end_attribute(editor *e)
{
    bool changed = e->open && e->changed;
    int error = VIDI_OK;

    if (changed)
        error = bytes_append(&e->made, e->whole.ptr + e->done, e->whole.len - e->done);
    if (changed && !error)
        error = add_edit(e, e->position, e->length, bytes_str(&e->made));
    e->open = false;
    return error;
}

static int begin_attribute(editor *e, const html_link *link)
{
    e->position = link->position;
    e->length = link->length;
    e->whole.len = e->made.len = e->done = 0;
    e->open = true;
    e->changed = false;
    return bytes_append_str(&e->whole, link->whole);
}

/*
 * False if the URL cannot be replaced where it stands: it is not in an attribute, was made of escapes, is in a page
 * within the page, or is empty, so that there may be no quotes around it; then it leads to the page itself.
 */
static bool can_change(const html_link *link)
{
    uintptr_t whole = (uintptr_t)link->whole.ptr, value = (uintptr_t)link->value.ptr;

    return link->attribute[0] && link->length > 0 && link->end > 0 && value >= whole &&
           value + link->value.len <= whole + link->whole.len;
}

static int take_link(void *context, const html_link *link)
{
    editor *e = context;
    size_t at = (size_t)(link->value.ptr - link->whole.ptr);
    int error = VIDI_OK;

    if (!can_change(link))
        return VIDI_OK;
    if (!e->open || e->position != link->position) {
        error = end_attribute(e);
        if (!error)
            error = begin_attribute(e, link);
    }
    if (!error)
        error = bytes_append(&e->made, e->whole.ptr + e->done, at - e->done);
    if (error)
        return error;
    size_t before = e->made.len;
    int result = e->options->choose(e->options->context, link, e->about.has_base, &e->made);
    if (result == 0) {
        e->made.len = before;
        error = bytes_append_str(&e->made, link->value);
    }
    e->changed |= result == 1;
    e->done = at + link->value.len;
    return result < 0 ? result : error;
}

static int by_position(const void *a, const void *b)
{
    uint64_t first = ((const edit *)a)->position, second = ((const edit *)b)->position;

    return first < second ? -1 : first > second;
}

/* Collects the edits, in their order. */
static int collect(editor *e, html_page *page)
{
    int error = html_page_links(page, HTML_LINKS | HTML_RESOURCES | HTML_FORMS, take_link, e);

    if (!error)
        error = end_attribute(e);
    /* Links are relative to the file from now on. The value must not be empty: it may stand without quotes. */
    if (!error && e->about.has_base && e->about.base_length)
        error = add_edit(e, e->about.base_position, e->about.base_length, (vidi_str){"#", 1});
    if (!error && e->count)
        qsort(e->edits, e->count, sizeof *e->edits, by_position);
    return error;
}

/* ---- places ---- */

/* How the bytes of a page belong to its text. */
typedef struct mapping {
    vidi_str raw;  /* the page */
    vidi_str text; /* the same as UTF-8 */
    size_t raw_at, text_at;
    enum { SAME, SINGLE_BYTES, BROKEN_UTF8, REPLACED } kind; /* REPLACED: the text is written instead */
} mapping;

/* How many bytes one U+FFFD stands for: the Encoding Standard, "UTF-8 decoder". */
static size_t broken_length(const char *at, size_t left)
{
    unsigned char first = (unsigned char)at[0], low = 0x80, high = 0xBF;
    size_t more = first >= 0xC2 && first < 0xE0   ? 1
                  : first >= 0xE0 && first < 0xF0 ? 2
                  : first >= 0xF0 && first < 0xF5 ? 3
                                                  : 0;
    size_t n = 1;

    low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : low;
    high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : high;
    while (n < left && n < more && (unsigned char)at[n] >= low && (unsigned char)at[n] <= high) {
        low = 0x80;
        high = 0xBF;
        n++;
    }
    return n;
}

/* The place in the page of a place in the text that is not before the last one. */
static size_t place_of(mapping *map, size_t text_at)
{
    if (map->kind == SAME)
        return text_at + (size_t)(map->text.ptr - map->raw.ptr);
    if (map->kind == REPLACED)
        return text_at;
    while (map->text_at < text_at) {
        size_t length = utf8_length(map->text.ptr + map->text_at, map->text.len - map->text_at), step = 1;
        if (map->kind == BROKEN_UTF8) {
            const char *raw = map->raw.ptr + map->raw_at;
            step = utf8_length(raw, map->raw.len - map->raw_at);
            step = step ? step : broken_length(raw, map->raw.len - map->raw_at);
        }
        map->text_at += length ? length : 1;
        map->raw_at += step;
    }
    return map->raw_at;
}

static bool is_ascii(vidi_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80)
            return false;
    return true;
}

static mapping map_of(vidi_str page, const html_page_info *about)
{
    const text_encoding *encoding = encoding_find((vidi_str){about->encoding, strlen(about->encoding)});
    bool is_utf8 = encoding && encoding->kind == ENCODING_UTF_8;
    bool from_header = strcmp(about->source, "header") == 0;
    uintptr_t begin = (uintptr_t)page.ptr, at = (uintptr_t)about->text.ptr;
    mapping map = {.raw = page, .text = about->text, .kind = REPLACED};

    if (at >= begin && at <= begin + page.len) /* nothing had to be decoded */
        map.kind = from_header && !is_ascii(about->text) ? REPLACED : SAME;
    else if (!from_header && is_utf8)
        map.kind = BROKEN_UTF8;
    else if (!from_header && (!about->readable || !encoding || encoding->kind == ENCODING_SINGLE_BYTE ||
                              encoding->kind == ENCODING_USER_DEFINED))
        map.kind = SINGLE_BYTES;
    if (map.kind == BROKEN_UTF8 && page.len >= 3 && memcmp(page.ptr, "\xEF\xBB\xBF", 3) == 0)
        map.raw_at = 3;
    return map;
}

/* ---- the page ---- */

static int put_page(const editor *e, vidi_str page, bytes *to)
{
    mapping map = map_of(page, &e->about);
    vidi_str from = map.kind == REPLACED ? map.text : page;
    size_t done = 0;
    int error = map.kind == REPLACED ? bytes_append_text(to, "\xEF\xBB\xBF") : VIDI_OK;

    for (size_t i = 0; i < e->count && !error; i++) {
        const edit *edit = &e->edits[i];
        size_t begin = place_of(&map, edit->position), end = place_of(&map, edit->position + edit->length);
        error = bytes_append(to, from.ptr + done, begin - done);
        if (!error)
            error = bytes_append(to, e->texts.ptr + edit->from, edit->to - edit->from);
        done = end;
    }
    return error ? error : bytes_append(to, from.ptr + done, from.len - done);
}

int rewrite_html(vidi_str page, const rewrite_options *options, bytes *to)
{
    html_options reading = {.url = options->url, .charset = options->charset};
    editor e = {.options = options};
    html_page *open;
    int error = html_page_open(&open, page, &reading);

    if (error)
        return error;
    e.about = html_page_about(open);
    error = collect(&e, open);
    if (!error)
        error = put_page(&e, page, to);
    html_page_close(open);
    free(e.edits);
    bytes_free(&e.texts);
    bytes_free(&e.whole);
    bytes_free(&e.made);
    return error;
}
