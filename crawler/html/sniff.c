/*
 * Finds out a page's encoding (the HTML Standard, sections 13.2.3.2 and 13.2.3.3): the byte order mark, what the user
 * says, the header, a <meta> in the first 1,024 bytes, and otherwise windows-1252.
 */
#include <string.h>

#include "crawler/html/html.h"
#include "crawler/html/sniff.h"

enum { PRESCANNED = 1024 };

#define STR(literal) ((vidi_str){literal, sizeof(literal) - 1})

typedef struct scan {
    const char *at, *end;
} scan;

static bool starts_with(const scan *s, const char *lower)
{
    const char *at = s->at;
    for (; *lower; lower++, at++)
        if (at >= s->end || ascii_lower(*at) != *lower)
            return false;
    return true;
}

/* Moves past the next such byte, or to the end. */
static void skip_past(scan *s, char byte)
{
    const char *found = memchr(s->at, byte, (size_t)(s->end - s->at));
    s->at = found ? found + 1 : s->end;
}

static void skip_comment(scan *s)
{
    s->at += 2; /* the dashes of "<!--" may be those of "-->" */
    while (s->at < s->end && !(s->end - s->at >= 3 && memcmp(s->at, "-->", 3) == 0))
        s->at++;
    s->at = s->end - s->at >= 3 ? s->at + 3 : s->end;
}

static void skip_spaces(scan *s)
{
    while (s->at < s->end && ascii_is_space(*s->at))
        s->at++;
}

static vidi_str read_value(scan *s)
{
    skip_spaces(s);
    if (s->at < s->end && (*s->at == '"' || *s->at == '\'')) {
        char quote = *s->at++;
        const char *from = s->at;
        skip_past(s, quote);
        const char *to = s->at;
        return to > from && to[-1] == quote ? (vidi_str){from, (size_t)(to - from) - 1} : (vidi_str){from, 0};
    }
    const char *from = s->at;
    while (s->at < s->end && !ascii_is_space(*s->at) && *s->at != '>')
        s->at++;
    return (vidi_str){from, (size_t)(s->at - from)};
}

/* `Get an attribute`. False at the end of the tag. */
static bool read_attribute(scan *s, vidi_str *name, vidi_str *value)
{
    while (s->at < s->end && (ascii_is_space(*s->at) || *s->at == '/'))
        s->at++;
    if (s->at >= s->end || *s->at == '>')
        return false;
    const char *from = s->at++;
    while (s->at < s->end && !ascii_is_space(*s->at) && *s->at != '/' && *s->at != '>' && *s->at != '=')
        s->at++;
    *name = (vidi_str){from, (size_t)(s->at - from)};
    *value = (vidi_str){from, 0};
    skip_spaces(s);
    if (s->at < s->end && *s->at == '=') {
        s->at++;
        *value = read_value(s);
    }
    return true;
}

/* The label in "text/html; charset=utf-8"; ptr NULL: none. */
static vidi_str label_in(vidi_str content)
{
    scan s = {content.ptr, content.ptr + content.len};

    for (; s.at < s.end; s.at++) {
        if (!starts_with(&s, "charset"))
            continue;
        scan rest = {s.at + 7, s.end};
        skip_spaces(&rest);
        if (rest.at >= rest.end || *rest.at != '=')
            continue;
        rest.at++;
        skip_spaces(&rest);
        if (rest.at < rest.end && (*rest.at == '"' || *rest.at == '\'')) {
            const char *to = memchr(rest.at + 1, *rest.at, (size_t)(rest.end - rest.at) - 1);
            return to ? (vidi_str){rest.at + 1, (size_t)(to - rest.at) - 1} : (vidi_str){NULL, 0};
        }
        const char *from = rest.at;
        while (rest.at < rest.end && !ascii_is_space(*rest.at) && *rest.at != ';')
            rest.at++;
        return (vidi_str){from, (size_t)(rest.at - from)};
    }
    return (vidi_str){NULL, 0};
}

/* If the page were in UTF-16, this <meta> could not have been found. */
static const text_encoding *as_declared(const text_encoding *encoding)
{
    if (encoding && encoding_is_utf16(encoding))
        return encoding_find(STR("utf-8"));
    if (encoding && encoding->kind == ENCODING_USER_DEFINED)
        return encoding_find(STR("windows-1252"));
    return encoding;
}

/* Reads the attributes of a <meta>. */
static const text_encoding *read_meta(scan *s)
{
    enum { UNKNOWN, NEEDED, NOT_NEEDED } pragma = UNKNOWN;
    bool got_pragma = false, had_equiv = false, had_content = false, had_charset = false;
    const text_encoding *encoding = NULL;
    vidi_str name, value, label;

    while (read_attribute(s, &name, &value)) {
        if (ASCII_IS(name, "http-equiv") && !had_equiv) {
            had_equiv = true;
            got_pragma = ASCII_IS(value, "content-type");
        } else if (ASCII_IS(name, "content") && !had_content) {
            had_content = true;
            label = label_in(value);
            if (label.ptr && !encoding && !had_charset) {
                encoding = encoding_find(label);
                pragma = encoding ? NEEDED : pragma;
            }
        } else if (ASCII_IS(name, "charset") && !had_charset) {
            had_charset = true;
            encoding = encoding_find(value);
            pragma = NOT_NEEDED;
        }
    }
    bool cut_off = s->at >= s->end;
    if (cut_off || pragma == UNKNOWN || (pragma == NEEDED && !got_pragma))
        return NULL;
    return as_declared(encoding);
}

/* Moves over one piece of markup, or one byte; the encoding if it was a <meta> that says one. */
static const text_encoding *scan_markup(scan *s)
{
    vidi_str name, value;

    if (starts_with(s, "<!--")) {
        skip_comment(s);
    } else if (starts_with(s, "<meta") && s->end - s->at > 5 && (ascii_is_space(s->at[5]) || s->at[5] == '/')) {
        s->at += 6;
        return read_meta(s);
    } else if (s->end - s->at > 2 && s->at[0] == '<' &&
               (ascii_is_letter(s->at[1]) || (s->at[1] == '/' && ascii_is_letter(s->at[2])))) {
        while (s->at < s->end && !ascii_is_space(*s->at) && *s->at != '>')
            s->at++;
        while (read_attribute(s, &name, &value))
            ;
    } else if (starts_with(s, "<!") || starts_with(s, "</") || starts_with(s, "<?")) {
        skip_past(s, '>');
    } else {
        s->at++;
    }
    return NULL;
}

/* The encoding of <?xml … encoding="…"?>, for pages that have no <meta>. */
static const text_encoding *read_xml_declaration(vidi_str bytes)
{
    scan s = {bytes.ptr, bytes.ptr + bytes.len};

    if (bytes.len < 5 || memcmp(s.at, "<?xml", 5) != 0)
        return NULL;
    const char *end = memchr(s.at, '>', bytes.len);
    if (!end)
        return NULL;
    s.end = end;
    while (s.at < s.end && !(s.end - s.at >= 8 && memcmp(s.at, "encoding", 8) == 0))
        s.at++;
    if (s.at >= s.end)
        return NULL;
    s.at += 8;
    while (s.at < s.end && *s.at <= ' ' && *s.at >= 0)
        s.at++;
    if (s.at >= s.end || *s.at++ != '=')
        return NULL;
    while (s.at < s.end && *s.at <= ' ' && *s.at >= 0)
        s.at++;
    if (s.at >= s.end || (*s.at != '"' && *s.at != '\''))
        return NULL;
    const char *to = memchr(s.at + 1, *s.at, (size_t)(s.end - s.at) - 1);
    if (!to)
        return NULL;
    const text_encoding *encoding = encoding_find((vidi_str){s.at + 1, (size_t)(to - s.at) - 1});
    return encoding && encoding_is_utf16(encoding) ? encoding_find(STR("utf-8")) : encoding;
}

const text_encoding *html_encoding_prescan(vidi_str bytes)
{
    if (bytes.len > PRESCANNED)
        bytes.len = PRESCANNED;
    if (bytes.len >= 6 && memcmp(bytes.ptr, "<\0?\0x\0", 6) == 0)
        return encoding_find(STR("utf-16le"));
    if (bytes.len >= 6 && memcmp(bytes.ptr, "\0<\0?\0x", 6) == 0)
        return encoding_find(STR("utf-16be"));
    scan s = {bytes.ptr, bytes.ptr + bytes.len};
    while (s.at < s.end) {
        const text_encoding *encoding = scan_markup(&s);
        if (encoding)
            return encoding;
    }
    return read_xml_declaration(bytes);
}

/* Reads the value of a parameter, with or without quotation marks, and moves past the next ';'. */
static vidi_str read_parameter(scan *s)
{
    vidi_str value = {s->at, 0};

    if (s->at < s->end && *s->at == '"') {
        value.ptr = ++s->at;
        while (s->at < s->end && *s->at != '"')
            s->at++;
        value.len = (size_t)(s->at - value.ptr);
        skip_past(s, ';');
        return value;
    }
    skip_past(s, ';');
    value.len = (size_t)(s->at - value.ptr);
    if (value.len && value.ptr[value.len - 1] == ';')
        value.len--;
    while (value.len && ascii_is_space(value.ptr[value.len - 1]))
        value.len--;
    return value;
}

vidi_str html_header_charset(vidi_str content_type)
{
    if (content_type.len == 0)
        return (vidi_str){NULL, 0};
    scan s = {content_type.ptr, content_type.ptr + content_type.len};
    skip_past(&s, ';');
    while (s.at < s.end) {
        skip_spaces(&s);
        const char *from = s.at;
        while (s.at < s.end && *s.at != '=' && *s.at != ';')
            s.at++;
        vidi_str name = {from, (size_t)(s.at - from)};
        if (s.at < s.end && *s.at++ == ';')
            continue; /* a parameter without a value */
        vidi_str value = read_parameter(&s);
        if (ASCII_IS(name, "charset") && value.len)
            return value;
    }
    return (vidi_str){NULL, 0};
}

const text_encoding *html_encoding_sniff(vidi_str bytes, vidi_str option, vidi_str charset,
                                         enum html_encoding_source *source, size_t *bom)
{
    *bom = 0;
    for (int from = HTML_FROM_BOM; from < HTML_FROM_DEFAULT; from++) {
        const text_encoding *found = from == HTML_FROM_BOM      ? encoding_by_mark(bytes, bom)
                                     : from == HTML_FROM_OPTION ? encoding_find(option)
                                     : from == HTML_FROM_HEADER ? encoding_find(charset)
                                                                : html_encoding_prescan(bytes);
        if (found) {
            *source = (enum html_encoding_source)from;
            return found;
        }
    }
    *source = HTML_FROM_DEFAULT;
    return encoding_find(STR("windows-1252"));
}

const char *html_encoding_name(vidi_str label)
{
    const text_encoding *encoding = encoding_find(label);
    return encoding ? encoding->name : NULL;
}
