/*
 * Sentences about failures. They may quote servers, so whatever could play tricks with a terminal is replaced.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "crawler/fetch/addresses.h"

static const char *const reasons[] = {
    [FETCH_FINE] = "",           [FETCH_NAME] = "name",   [FETCH_ADDRESS] = "address",
    [FETCH_CONNECT] = "connect", [FETCH_TLS] = "tls",     [FETCH_TIMEOUT] = "timeout",
    [FETCH_BROKEN] = "broken",   [FETCH_LIMIT] = "limit", [FETCH_MEMORY] = "memory",
};

const char *fetch_reason(fetch_failure failure)
{
    return (size_t)failure < sizeof reasons / sizeof reasons[0] ? reasons[failure] : "";
}

/* How many bytes the character has, and which it is; 0 if these bytes are not UTF-8. */
static size_t read_character(const unsigned char *at, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = at[0] < 0x80 ? 1 : at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : at[0] >= 0xC0 ? 2 : 0;

    if (n == 0 || at[0] >= 0xF8)
        return 0;
    *c = n == 1 ? at[0] : at[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        *c = *c << 6 | (at[i] & 0x3F);
    }
    return *c >= least[n] && *c <= 0x10FFFF && (*c < 0xD800 || *c > 0xDFFF) ? n : 0;
}

/* Control characters, line separators, and characters that change the direction of what is written. */
static bool is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

static void make_harmless(char *text)
{
    char *to = text;
    uint32_t c = 0;

    for (const char *at = text; *at;) {
        size_t n = read_character((const unsigned char *)at, &c);
        if (n == 0 || is_harmful(c)) {
            *to++ = n == 1 && c < 0x20 ? ' ' : '?';
            at += n ? n : 1;
            continue;
        }
        memmove(to, at, n);
        to += n;
        at += n;
    }
    *to = '\0';
}

void fetch_explain_values(char *why, const char *format, va_list values)
{
    if (vsnprintf(why, FETCH_WHY_ROOM, format, values) < 0)
        why[0] = '\0';
    make_harmless(why);
}

void fetch_explain(char *why, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fetch_explain_values(why, format, values);
    va_end(values);
}
