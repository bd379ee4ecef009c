/*
 * Fields of a line: see line_formats.h.
 */
#include <string.h>

#include "pipeline/input/line_formats.h"

/* One past the closing quote of a field whose opening quote is at `at`; NULL if there is none. */
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

bool cli_fields_next(cli_fields *fields)
{
    const char *at = fields->at, *quoted = NULL;

    if (!at)
        return false;
    fields->doubled = false;
    if (fields->delimiter != '\t' && at < fields->end && *at == '"')
        quoted = quoted_end(at, fields->end, &fields->doubled);
    const char *from = quoted ? quoted : at;
    const char *stop = memchr(from, fields->delimiter, (size_t)(fields->end - from));
    fields->at = stop ? stop + 1 : NULL;
    stop = stop ? stop : fields->end;
    fields->raw = quoted ? (vidi_str){at + 1, (size_t)(quoted - at) - 2} : (vidi_str){at, (size_t)(stop - at)};
    fields->doubled = quoted && fields->doubled;
    return true;
}

vidi_str cli_fields_text(const cli_fields *fields, cli_unquoted *unquoted)
{
    vidi_str raw = fields->raw;
    char *start = unquoted->bytes + unquoted->used, *to = start;

    if (!fields->doubled)
        return raw;
    for (size_t i = 0; i < raw.len; i++) {
        *to++ = raw.ptr[i];
        i += raw.ptr[i] == '"';
    }
    unquoted->used += (size_t)(to - start);
    return (vidi_str){start, (size_t)(to - start)};
}
