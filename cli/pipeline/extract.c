/*
 * URLs out of lines: see extract.h. The look for a key goes over the JSON text once, without recursion, and knows as
 * much of it as it needs: strings, and how deep it is in brackets.
 */
#include "pipeline/extract.h"

#include <stdlib.h>
#include <string.h>

int cli_extract_init(cli_extract *extract, uint64_t field, const char *delimiter, const char *key)
{
    *extract = (cli_extract){.field = field, .delimiter = '\t'};
    if (field && key)
        return cli_error("--field and --json-key exclude each other");
    if (delimiter && !field)
        return cli_error("--delimiter needs --field: which of the fields is the URL?");
    if (delimiter && strcmp(delimiter, "\\t") != 0) {
        if (delimiter[1] != 0)
            return cli_error("--delimiter needs one character, not '%s'", delimiter);
        extract->delimiter = *delimiter;
    }
    if (key)
        extract->key = (vidi_str){key, strlen(key)};
    return CLI_OK;
}

/* ---- fields ---- */

/* One past a quoted field that begins at `at`, behind its closing quote; *doubled if there are quotes inside. */
static const char *quoted_end(const char *at, const char *end, bool *doubled)
{
    *doubled = false;
    for (at++; at < end; at++) {
        if (*at != '"')
            continue;
        if (at + 1 == end || at[1] != '"')
            return at + 1;
        *doubled = true;
        at++;
    }
    return NULL;
}

static vidi_str without_doubled(vidi_str text, cli_unquoted *unquoted)
{
    char *start = unquoted->bytes + unquoted->used, *to = start;

    for (size_t i = 0; i < text.len; i++) {
        *to++ = text.ptr[i];
        i += text.ptr[i] == '"';
    }
    unquoted->used += (size_t)(to - start);
    return (vidi_str){start, (size_t)(to - start)};
}

static vidi_str field_of(const cli_extract *extract, vidi_str line, cli_unquoted *unquoted)
{
    const char *at = line.ptr, *end = line.ptr + line.len;

    for (uint64_t number = 1;; number++) {
        bool doubled = false;
        const char *quoted = NULL;
        if (extract->delimiter != '\t' && at < end && *at == '"')
            quoted = quoted_end(at, end, &doubled);
        const char *from = quoted ? quoted : at;
        const char *stop = memchr(from, extract->delimiter, (size_t)(end - from));
        stop = stop ? stop : end;
        if (number == extract->field) {
            vidi_str field =
                quoted ? (vidi_str){at + 1, (size_t)(quoted - at) - 2} : (vidi_str){at, (size_t)(stop - at)};
            return doubled ? without_doubled(field, unquoted) : field;
        }
        if (stop == end)
            return line;
        at = stop + 1;
    }
}

/* ---- JSON ---- */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
        at++;
    return at;
}

/* The closing quote of a string whose first character is at `at`; NULL if there is none. */
static const char *string_end(const char *at, const char *end, bool *escaped)
{
    *escaped = false;
    for (; at < end && *at != '"'; at++)
        if (*at == '\\') {
            *escaped = true;
            at++;
        }
    return at < end ? at : NULL;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Four hexadecimal digits; -1 if they are none. */
static int32_t code_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = at + i < end ? hex_value(at[i]) : -1;
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | code >> (6 * more));
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> (6 * more) & 0x3f));
    return to;
}

/* A \u escape, whose 'u' is at *at; two of them may be one character. Half of such two becomes U+FFFD. */
static char *put_escape(char *to, const char **at, const char *end)
{
    int32_t high = code_unit(*at + 1, end);

    if (high < 0) {
        *to++ = 'u'; /* as any letter that is no escape; never more bytes than there were */
        return to;
    }
    *at += 4;
    if (high >= 0xd800 && high < 0xdc00 && end - *at > 6 && (*at)[1] == '\\' && (*at)[2] == 'u') {
        int32_t low = code_unit(*at + 3, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return put_utf8(to, 0x10000u + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
        }
    }
    return put_utf8(to, high >= 0xd800 && high < 0xe000 ? 0xfffdu : (uint32_t)high);
}

static vidi_str without_escapes(vidi_str text, cli_unquoted *unquoted)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    char *start = unquoted->bytes + unquoted->used, *to = start;
    const char *end = text.ptr + text.len;

    for (const char *at = text.ptr; at < end; at++) {
        if (*at != '\\' || ++at == end) {
            *to++ = (char)(at < end ? *at : '\\');
            continue;
        }
        const char *letter = *at ? strchr(letters, *at) : NULL;
        if (*at == 'u')
            to = put_escape(to, &at, end);
        else
            *to++ = (char)(letter ? controls[letter - letters] : *at);
    }
    unquoted->used += (size_t)(to - start);
    return (vidi_str){start, (size_t)(to - start)};
}

/* A string in a JSON text: what is between its quotes, unescaped. */
static vidi_str string_value(const char *from, const char *to, bool escaped, cli_unquoted *unquoted)
{
    vidi_str text = {from, (size_t)(to - from)};
    return escaped ? without_escapes(text, unquoted) : text;
}

static bool is_key(const cli_extract *extract, vidi_str text)
{
    return text.len == extract->key.len && memcmp(text.ptr, extract->key.ptr, text.len) == 0;
}

static vidi_str value_of(const cli_extract *extract, vidi_str line, cli_unquoted *unquoted)
{
    const char *end = line.ptr + line.len, *at = skip_space(line.ptr, end);
    size_t depth = 0;
    bool escaped, key_next = false, value_next = false;

    if (at == end || *at != '{')
        return line;
    for (; at < end; at++) {
        if (*at == '"') {
            const char *from = at + 1;
            size_t used = unquoted->used;
            if (!(at = string_end(from, end, &escaped)))
                return line;
            if (value_next && depth == 1)
                return string_value(from, at, escaped, unquoted);
            value_next = key_next && depth == 1 && is_key(extract, string_value(from, at, escaped, unquoted));
            unquoted->used = used;
            key_next = false;
        } else if (*at == '{' || *at == '[') {
            depth++;
            key_next = *at == '{';
            value_next = false; /* a value that is an object has no URL to give */
        } else if (*at == '}' || *at == ']') {
            depth--;
            if (depth == 0)
                break;
        } else if (*at == ',') {
            key_next = true; /* in an array too, but those are deeper than 1 */
            value_next = false;
        }
    }
    return line;
}

/* ---- all lines of a block ---- */

/* What comes out of a line is never longer than it: "\uXXXX" are 6 bytes for at most 3. */
static int make_room(cli_unquoted *unquoted, const vidi_str *lines, size_t n)
{
    size_t need = (n ? (size_t)(lines[n - 1].ptr + lines[n - 1].len - lines[0].ptr) : 0) + 1;

    unquoted->used = 0;
    if (unquoted->bytes && need <= unquoted->room)
        return CLI_OK;
    free(unquoted->bytes);
    unquoted->bytes = malloc(need);
    unquoted->room = unquoted->bytes ? need : 0;
    return unquoted->bytes ? CLI_OK : cli_error("out of memory");
}

int cli_extract_urls(const cli_extract *extract, const vidi_str *lines, size_t n, vidi_str *urls,
                     cli_unquoted *unquoted)
{
    if (make_room(unquoted, lines, n) != CLI_OK)
        return CLI_ERROR;
    for (size_t i = 0; i < n; i++)
        urls[i] = extract->field ? field_of(extract, lines[i], unquoted) : value_of(extract, lines[i], unquoted);
    return CLI_OK;
}
