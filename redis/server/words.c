/*
 * Words of a command. See words.h.
 */
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

vidi_str text_of(const server_string *text)
{
    vidi_str str;
    str.ptr = server.StringPtrLen(text, &str.len);
    return str;
}

bool word_is(vidi_str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

bool give_once(uint32_t *given, unsigned which)
{
    uint32_t before = *given;
    *given |= UINT32_C(1) << which;
    return *given != before;
}

int option_of(vidi_str word, const char *const *names, uint32_t *given)
{
    for (int i = 0; names[i]; i++)
        if (word_is(word, names[i]))
            return give_once(given, (unsigned)i) ? i : OPTION_TWICE;
    return OPTION_UNKNOWN;
}

bool parse_count(vidi_str text, uint64_t *number)
{
    uint64_t sum = 0;
    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        if (__builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, (uint64_t)(text.ptr[i] - '0'), &sum))
            return false;
    }
    *number = sum;
    return true;
}

bool parse_signed(vidi_str text, long long *number)
{
    uint64_t size;
    bool minus = text.len > 0 && text.ptr[0] == '-';
    vidi_str digits = {text.ptr + minus, text.len - minus};
    if (!parse_count(digits, &size) || size > (uint64_t)INT64_MAX + minus)
        return false;
    *number = (long long)(minus ? 0 - size : size);
    return true;
}

bool parse_u32(vidi_str text, uint32_t *number)
{
    uint64_t big;
    if (!parse_count(text, &big) || big > UINT32_MAX)
        return false;
    *number = (uint32_t)big;
    return true;
}

bool parse_bytes(vidi_str text, uint64_t *number)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {
        {"b", 1}, {"k", 1000}, {"kb", 1 << 10}, {"m", 1000000}, {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30},
    };
    size_t digits = 0;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    vidi_str unit = {text.ptr + digits, text.len - digits};
    uint64_t factor = unit.len == 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (word_is(unit, units[i].name))
            factor = units[i].factor;
    return factor != 0 && parse_count((vidi_str){text.ptr, digits}, number) &&
           !__builtin_mul_overflow(*number, factor, number);
}

bool parse_double(vidi_str text, double *number)
{
    char copy[64];
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.ptr, 0, text.len) || text.ptr[0] == ' ')
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    char *end;
    *number = strtod(copy, &end);
    return *end == 0 && isfinite(*number);
}
