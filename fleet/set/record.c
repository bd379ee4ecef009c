/*
 * Records as text. See record.h.
 */
#include "record.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* With as few digits as tell it from every other number. */
void set_print_real(double number, char text[RECORD_NUMBER])
{
    double again = 0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, RECORD_NUMBER, "%.*g", digits, number);
        for (char *c = text; *c; c++)
            if (*c == ',')
                *c = '.';
        if (set_parse_real((vidi_str){text, strlen(text)}, &again) && again == number)
            return;
    }
}

bool set_parse_real(vidi_str text, double *number)
{
    char copy[RECORD_NUMBER], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    if (strspn(copy, "0123456789.eE+-") != text.len)
        return false;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    *number = strtod_l(copy, &end, plain);
    freelocale(plain);
    return end == copy + text.len && isfinite(*number);
}

bool set_parse_count(vidi_str text, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || __builtin_mul_overflow(*number, UINT64_C(10), number) ||
            __builtin_add_overflow(*number, (uint64_t)(text.ptr[i] - '0'), number))
            return false;
    return text.len > 0;
}

void set_print_hex(const unsigned char *bytes, size_t n, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * n] = 0;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool set_parse_hex(vidi_str text, unsigned char *bytes, size_t n)
{
    if (text.len != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit(text.ptr[2 * i]), low = hex_digit(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* ---- lines ---- */

typedef enum line_type {
    NUMBER,  /* uint32_t */
    COUNT,   /* uint64_t; left out if it is 0 */
    REAL,    /* double; left out if it is 0 */
    WORDS,   /* characters; left out if there are none */
    SECRET,  /* VIDI_KEY_BYTES bytes */
    IDENTITY /* uint64_t as hexadecimal digits */
} line_type;

typedef struct line {
    const char *name;
    line_type type;
    size_t at, room; /* of its field */
    bool needed;
    double least, most; /* of a number */
} line;

#define FIELD(name_) .at = offsetof(record, name_), .room = sizeof((record *)NULL)->name_

/* In the order in which they are written; "format 1" comes first. */
static const line lines[] = {
    {.name = "shards", .type = NUMBER, FIELD(shards), .needed = true, .least = 1, .most = RECORD_SHARDS},
    {.name = "id", .type = IDENTITY, FIELD(id), .needed = true},
    {.name = "route", .type = SECRET, FIELD(route), .needed = true},
    {.name = "key", .type = SECRET, FIELD(key), .needed = true},
    {.name = "kind", .type = WORDS, FIELD(kind), .needed = true},
    {.name = "params", .type = WORDS, FIELD(params)},
    {.name = "capacity", .type = COUNT, FIELD(capacity)},
    {.name = "error", .type = REAL, FIELD(error), .least = 0, .most = 1},
    {.name = "headroom", .type = REAL, FIELD(headroom), .least = 1, .most = 1000},
    {.name = "canon", .type = WORDS, FIELD(canon), .needed = true},
    {.name = "flags", .type = NUMBER, FIELD(flags), .least = 0, .most = VIDI_KEEP_PREVIOUS},
};
enum { LINES = sizeof lines / sizeof *lines };

#define FORMAT "format 1\n"

/* Writes the value of a line: its length, or 0 if the line is left out. */
static size_t print_value(const line *line, const record *record, char *text, size_t room)
{
    const char *at = (const char *)record + line->at;
    uint64_t number;
    double real;
    switch (line->type) {
    case NUMBER:
        number = *(const uint32_t *)(const void *)at;
        return number || line->needed ? (size_t)snprintf(text, room, "%" PRIu64, number) : 0;
    case COUNT:
        number = *(const uint64_t *)(const void *)at;
        return number ? (size_t)snprintf(text, room, "%" PRIu64, number) : 0;
    case REAL:
        real = *(const double *)(const void *)at;
        if (real > 0)
            set_print_real(real, text);
        return real > 0 ? strlen(text) : 0;
    case WORDS:
        return (size_t)snprintf(text, room, "%s", at);
    case IDENTITY:
        return (size_t)snprintf(text, room, "%016" PRIx64, *(const uint64_t *)(const void *)at);
    default:
        set_print_hex((const unsigned char *)at, line->room, text);
        return 2 * line->room;
    }
}

_Static_assert(VIDI_PARAMS_ROOM + 24 + 160 + LINES * (RECORD_NUMBER + 12) < RECORD_ROOM, "there is room for all lines");

size_t set_record_write(const record *record, char text[RECORD_ROOM])
{
    size_t len = (size_t)snprintf(text, RECORD_ROOM, FORMAT);
    for (size_t i = 0; i < LINES; i++) {
        char value[VIDI_PARAMS_ROOM];
        if (print_value(&lines[i], record, value, sizeof value))
            len += (size_t)snprintf(text + len, RECORD_ROOM - len, "%s %s\n", lines[i].name, value);
    }
    return len;
}

/* Copies printable characters, with a zero byte at the end. */
static bool take_words(char *room, size_t size, vidi_str value)
{
    if (value.len == 0 || value.len >= size)
        return false;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < ' ' || value.ptr[i] > '~')
            return false;
        room[i] = value.ptr[i];
    }
    room[value.len] = 0;
    return true;
}

static bool take_identity(uint64_t *number, vidi_str value)
{
    unsigned char bytes[8];
    *number = 0;
    if (!set_parse_hex(value, bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        *number = *number << 8 | bytes[i];
    return *number != 0;
}

static bool take_value(const line *line, record *record, vidi_str value)
{
    char *at = (char *)record + line->at;
    uint64_t number;
    double *real = (double *)(void *)at;
    switch (line->type) {
    case NUMBER:
        if (!set_parse_count(value, &number) || (double)number < line->least || (double)number > line->most)
            return false;
        *(uint32_t *)(void *)at = (uint32_t)number;
        return true;
    case COUNT:
        return set_parse_count(value, (uint64_t *)(void *)at);
    case REAL:
        return set_parse_real(value, real) && *real > 0 && *real >= line->least && *real <= line->most;
    case WORDS:
        return take_words(at, line->room, value);
    case IDENTITY:
        return take_identity((uint64_t *)(void *)at, value);
    default:
        return set_parse_hex(value, (unsigned char *)at, line->room);
    }
}

/* The line of that name, or LINES. */
static size_t find_line(vidi_str name)
{
    size_t i = 0;
    while (i < LINES && (strlen(lines[i].name) != name.len || memcmp(lines[i].name, name.ptr, name.len) != 0))
        i++;
    return i;
}

/* Takes a line without its end; NULL, or what is wrong. */
static const char *take_line(record *record, vidi_str text, uint32_t *given)
{
    const char *space = memchr(text.ptr, ' ', text.len);
    if (!space)
        return "a line has no value";
    size_t name = (size_t)(space - text.ptr), i = find_line((vidi_str){text.ptr, name});
    if (i == LINES)
        return "it has a line that this version of vidi does not know";
    if (*given & UINT32_C(1) << i)
        return "a line comes twice";
    *given |= UINT32_C(1) << i;
    bool good = take_value(&lines[i], record, (vidi_str){space + 1, text.len - name - 1});
    return good ? NULL : "a line has a value that makes no sense";
}

static const char *read_lines(record *record, vidi_str text)
{
    uint32_t given = 0;
    const char *wrong = NULL;
    while (text.len && !wrong) {
        const char *end = memchr(text.ptr, '\n', text.len);
        if (!end)
            return "its last line is not complete";
        size_t len = (size_t)(end - text.ptr);
        wrong = take_line(record, (vidi_str){text.ptr, len}, &given);
        text = (vidi_str){end + 1, text.len - len - 1};
    }
    for (size_t i = 0; i < LINES && !wrong; i++)
        if (lines[i].needed && !(given & UINT32_C(1) << i))
            wrong = "a line is missing";
    return wrong;
}

bool set_record_read(record *record, vidi_str text, const char **wrong)
{
    size_t format = sizeof FORMAT - 1;
    *record = (struct record){0};
    if (text.len > RECORD_ROOM || text.len < 7 || memcmp(text.ptr, FORMAT, 7) != 0)
        *wrong = "it is not the record of a set";
    else if (text.len < format || memcmp(text.ptr, FORMAT, format) != 0)
        *wrong = "it has a format that this version of vidi does not know";
    else
        *wrong = read_lines(record, (vidi_str){text.ptr + format, text.len - format});
    return !*wrong;
}

const char *set_record_difference(const record *a, const record *b)
{
    for (size_t i = 0; i < LINES; i++) {
        char mine[VIDI_PARAMS_ROOM], other[VIDI_PARAMS_ROOM];
        if (lines[i].type == SECRET || lines[i].type == IDENTITY)
            continue;
        size_t len = print_value(&lines[i], a, mine, sizeof mine);
        if (len != print_value(&lines[i], b, other, sizeof other) || memcmp(mine, other, len) != 0)
            return lines[i].name;
    }
    return NULL;
}
