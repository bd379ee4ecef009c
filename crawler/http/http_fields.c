/*
 * Header fields: see http.h. Lines end with LF, whatever comes before it. A line that begins with a blank continues the
 * field before it. Lines without a colon or a name are not fields; they are skipped, and so are the lines that continue
 * them.
 */
#include "crawler/http/http.h"

#include <string.h>

#include "crawler/http/http_text.h"

/* The line at *at, with its end; moves *at past it. Empty at the end of the head. */
static vidi_str take_line(vidi_str head, size_t *at)
{
    if (*at >= head.len)
        return (vidi_str){NULL, 0};
    const char *from = head.ptr + *at, *end = memchr(from, '\n', head.len - *at);
    vidi_str line = {from, end ? (size_t)(end + 1 - from) : head.len - *at};
    *at += line.len;
    return line;
}

/* The line and those that continue it. */
static vidi_str take_folded(vidi_str head, size_t *at)
{
    vidi_str line = take_line(head, at);

    while (*at < head.len && (head.ptr[*at] == ' ' || head.ptr[*at] == '\t'))
        line.len += take_line(head, at).len;
    return line;
}

/* An empty line ends the head, and so does the end of the bytes. */
static bool is_end(vidi_str line)
{
    return line.len == 0 || line.ptr[0] == '\n' || (line.len == 2 && line.ptr[0] == '\r' && line.ptr[1] == '\n');
}

static bool cut_field(vidi_str line, http_field *field)
{
    size_t first = 0;
    const char *colon = memchr(line.ptr, ':', take_line(line, &first).len);

    if (!colon || ascii_is_blank(line.ptr[0]))
        return false;
    size_t name = (size_t)(colon - line.ptr);
    field->line = line;
    field->name = http_trim((vidi_str){line.ptr, name});
    field->value = http_trim((vidi_str){colon + 1, line.len - name - 1});
    return field->name.len > 0;
}

bool http_next(vidi_str head, size_t *at, http_field *field)
{
    if (*at == 0)
        take_folded(head, at);
    for (;;) {
        size_t line_at = *at;
        vidi_str line = take_folded(head, at);
        if (is_end(line)) {
            *at = line_at; /* the next call returns false again */
            return false;
        }
        if (cut_field(line, field))
            return true;
    }
}

vidi_str http_value(vidi_str head, const char *name)
{
    http_field field;

    for (size_t at = 0; http_next(head, &at, &field);)
        if (ASCII_IS(field.name, name))
            return field.value;
    return (vidi_str){NULL, 0};
}

/* ---- the head for the archive ---- */

/* Appends the lines of a field, each with CR LF as its end. */
static int append_lines(bytes *to, vidi_str lines)
{
    int error = VIDI_OK;

    for (size_t at = 0; at < lines.len && !error;) {
        vidi_str line = take_line(lines, &at);
        while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
            line.len--;
        error = bytes_append_str(to, line);
        if (!error)
            error = bytes_append(to, "\r\n", 2);
    }
    return error;
}

static bool is_number(vidi_str value, uint64_t number)
{
    uint64_t read = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (!ascii_is_digit(value.ptr[i]) || read > number)
            return false;
        read = read * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    return value.len > 0 && read == number;
}

/* Appends a field, or Content-Length in place of one that tells a length, if that has not been done yet. */
static int append_field(bytes *to, const http_field *field, uint64_t body_bytes, bool *has_length)
{
    bool tells_length = ASCII_IS(field->name, "content-length");

    if (!tells_length && !ASCII_IS(field->name, "transfer-encoding"))
        return append_lines(to, field->line);
    if (*has_length)
        return VIDI_OK;
    *has_length = true;
    if (tells_length && is_number(field->value, body_bytes))
        return append_lines(to, field->line);
    return bytes_append_format(to, "Content-Length: %llu\r\n", (unsigned long long)body_bytes);
}

int http_archived_head(vidi_str head, uint64_t body_bytes, bytes *to)
{
    http_field field;
    bool has_length = false;
    size_t at = 0;
    int error = append_lines(to, take_line(head, &at));

    at = 0;
    while (!error && http_next(head, &at, &field))
        error = append_field(to, &field, body_bytes, &has_length);
    if (!error && !has_length)
        error = bytes_append_format(to, "Content-Length: %llu\r\n", (unsigned long long)body_bytes);
    return error ? error : bytes_append(to, "\r\n", 2);
}
