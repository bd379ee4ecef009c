/*
 * Entries: text is collected in fields of fixed size; a complete entry is checked and passed on.
 *
 * URLs stay as they were written, with three exceptions: tabs and newlines inside of a URL are dropped, as the URL
 * Standard does; other control characters are percent-encoded, so printing a URL never sends them to a terminal; and
 * bytes of a file that declares Latin-1 become UTF-8.
 */
#include "crawler/sitemap/sitemap_reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/utf8.h"
#include "vidi/url.h"

void sitemap_entry_init(sitemap *reader)
{
    sitemap_field *const dates[] = {&reader->lastmod, &reader->changefreq, &reader->priority};

    reader->url = (sitemap_field){.bytes = reader->url_bytes, .room = sizeof reader->url_bytes, .is_url = true};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++)
        *dates[i] = (sitemap_field){.bytes = reader->dates[i], .room = sizeof reader->dates[i]};
}

void sitemap_field_clear(sitemap_field *field)
{
    field->len = field->blanks = 0;
    field->too_long = false;
}

void sitemap_entry_clear(sitemap *reader)
{
    sitemap_field_clear(&reader->url);
    sitemap_field_clear(&reader->lastmod);
    sitemap_field_clear(&reader->changefreq);
    sitemap_field_clear(&reader->priority);
}

bool sitemap_field_begun(const sitemap_field *field)
{
    return field->len > 0 || field->too_long;
}

/* ---- collecting ---- */

static void put(sitemap_field *field, const char *bytes, size_t n)
{
    if (field->too_long || n > field->room - field->len) {
        field->too_long = true;
        return;
    }
    memcpy(field->bytes + field->len, bytes, n);
    field->len += n;
}

static void put_blanks(sitemap_field *field)
{
    if (field->blanks > field->room)
        field->too_long = true;
    for (; field->blanks > 0 && !field->too_long; field->blanks--)
        put(field, " ", 1);
    field->blanks = 0;
}

static void put_control(sitemap_field *field, char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char encoded[] = {'%', digits[(unsigned char)c >> 4], digits[c & 15]};

    if (field->is_url)
        put(field, encoded, sizeof encoded);
}

static void add_byte(sitemap_field *field, char c)
{
    if (c == '\t' || c == '\n' || c == '\r')
        return;
    if (c == ' ') {
        field->blanks += field->len > 0;
        return;
    }
    put_blanks(field);
    if ((unsigned char)c < 0x20 || c == 0x7f)
        put_control(field, c);
    else
        put(field, &c, 1);
}

void sitemap_field_add(sitemap_field *field, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && !field->too_long; i++)
        add_byte(field, bytes[i]);
}

/* ---- passing on ---- */

/* Makes room for n bytes. False, and the reading ends, if there is no memory. */
static bool make_scratch(sitemap *reader, size_t n)
{
    if (n <= reader->scratch_room)
        return true;
    char *grown = realloc(reader->scratch, n);
    if (!grown) {
        reader->result = VIDI_EMEMORY;
        return false;
    }
    reader->scratch = grown;
    reader->scratch_room = n;
    return true;
}

/* Replaces the URL by its UTF-8, if it is in Latin-1. */
static bool recode(sitemap *reader, vidi_str *url)
{
    if (utf8_is_valid(url->ptr, url->len))
        return true;
    sitemap_note(reader, SITEMAP_NOT_UTF8);
    if (!reader->latin1)
        return true;
    if (!make_scratch(reader, 2 * url->len))
        return false;
    size_t len = 0;
    for (size_t i = 0; i < url->len; i++) {
        unsigned char c = (unsigned char)url->ptr[i];
        if (c >= 0x80)
            reader->scratch[len++] = (char)(0xc0 | c >> 6);
        reader->scratch[len++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    *url = (vidi_str){reader->scratch, len};
    return true;
}

static bool is_web(vidi_str url)
{
    return (url.len > 7 && strncasecmp(url.ptr, "http://", 7) == 0) ||
           (url.len > 8 && strncasecmp(url.ptr, "https://", 8) == 0);
}

/* vidi_url_resolve; if memory ran out, the reading ends. */
static int resolve_to(sitemap *reader, vidi_str reference, char *to, size_t *len)
{
    int result = vidi_url_resolve(reader->options.base, reference, to, len);

    if (result == VIDI_EMEMORY)
        reader->result = VIDI_EMEMORY;
    return result;
}

/* Makes a relative URL absolute. False if the result is not a URL of the web, or memory ran out. */
static bool resolve(sitemap *reader, vidi_str *url)
{
    vidi_str reference = *url;
    size_t len = 0;

    if (reader->options.base.len == 0 || resolve_to(reader, reference, NULL, &len) != VIDI_ELIMIT)
        return false;
    /* The reference may lie in the scratch memory: keep it there, and put the result after it. */
    bool inside = reference.ptr == reader->scratch;
    size_t at = inside ? reference.len : 0;
    if (!make_scratch(reader, at + len))
        return false;
    reference.ptr = inside ? reader->scratch : reference.ptr;
    if (resolve_to(reader, reference, reader->scratch + at, &len) != VIDI_OK)
        return false;
    *url = (vidi_str){reader->scratch + at, len};
    return is_web(*url);
}

static vidi_str text_of(const sitemap_field *field)
{
    return (vidi_str){field->bytes, field->too_long ? 0 : field->len};
}

static void pass_on(sitemap *reader, vidi_str url, bool is_sitemap)
{
    const sitemap_options *options = &reader->options;
    sitemap_entry entry = {.is_sitemap = is_sitemap,
                           .url = url,
                           .lastmod = text_of(&reader->lastmod),
                           .changefreq = text_of(&reader->changefreq),
                           .priority = text_of(&reader->priority),
                           .line = reader->mode == SITEMAP_XML ? reader->tokens.line : reader->line};

    if (reader->report.pages + reader->report.sitemaps >= options->max_urls) {
        sitemap_note(reader, SITEMAP_TOO_MANY);
        reader->result = SITEMAP_ENOUGH;
        return;
    }
    reader->report.pages += !is_sitemap;
    reader->report.sitemaps += is_sitemap;
    reader->result = options->visit(options->context, &entry);
}

void sitemap_emit(sitemap *reader, bool is_sitemap)
{
    vidi_str url = text_of(&reader->url);

    if (reader->result != SITEMAP_GO_ON)
        return;
    if (reader->url.too_long)
        sitemap_note(reader, SITEMAP_LONG_URL);
    else if (url.len == 0)
        sitemap_note(reader, SITEMAP_NO_URL);
    else if (recode(reader, &url)) {
        if (is_web(url) || (reader->mode == SITEMAP_XML && resolve(reader, &url)))
            pass_on(reader, url, is_sitemap);
        else if (reader->result == SITEMAP_GO_ON)
            sitemap_note(reader, SITEMAP_NOT_A_URL);
    }
    sitemap_entry_clear(reader);
}
