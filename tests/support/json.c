/* A reader of JSON for test data. */
#include "support/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void skip_blanks(json *j)
{
    while (j->at < j->end && strchr(" \t\r\n", *j->at))
        j->at++;
}

char json_peek(json *j)
{
    skip_blanks(j);
    return j->bad || j->at == j->end ? 0 : *j->at;
}

static void expect(json *j, char c)
{
    if (json_peek(j) == c)
        j->at++;
    else
        j->bad = true;
}

void json_enter(json *j, char bracket)
{
    expect(j, bracket);
}

bool json_more(json *j, char bracket)
{
    char c = json_peek(j);
    if (c == ',') {
        j->at++;
        return true;
    }
    if (c != bracket)
        return c;
    j->at++;
    return false;
}

/* The number after "\u". Returns 0 and sets bad if there is none. */
static uint32_t read_unit(json *j)
{
    char digits[5] = {0}, *end = digits;
    if (j->end - j->at >= 4) {
        memcpy(digits, j->at, 4);
        j->at += 4;
    }
    uint32_t unit = (uint32_t)strtoul(digits, &end, 16);
    if (end != digits + 4)
        j->bad = true;
    return unit;
}

static uint32_t read_escaped(json *j)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = j->at < j->end ? *j->at++ : 0;
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        return (unsigned char)to[found - from];
    if (c != 'u') {
        j->bad = true;
        return 0;
    }
    uint32_t unit = read_unit(j);
    if (unit >= 0xd800 && unit < 0xdc00 && j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u') {
        json ahead = {j->at + 2, j->end, false};
        uint32_t low = read_unit(&ahead);
        if (!ahead.bad && low >= 0xdc00 && low < 0xe000) {
            j->at = ahead.at;
            return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(0xf00 >> len | c);
    return len;
}

json_text json_string(json *j)
{
    if (json_peek(j) != '"') {
        json_skip(j);
        return (json_text){NULL, 0};
    }
    j->at++;
    json_text text = {malloc((size_t)(j->end - j->at) + 1), 0};
    if (!text.at) {
        j->bad = true;
        return text;
    }
    /* An escape is never shorter than what it stands for. */
    while (j->at < j->end && *j->at != '"' && !j->bad) {
        if (*j->at == '\\') {
            j->at++;
            text.len += put_utf8(text.at + text.len, read_escaped(j));
        } else {
            text.at[text.len++] = *j->at++;
        }
    }
    expect(j, '"');
    text.at[text.len] = 0;
    char *exact = realloc(text.at, text.len + 1);
    text.at = exact ? exact : text.at;
    return text;
}

json_text json_name(json *j)
{
    json_text name = json_string(j);
    expect(j, ':');
    return name;
}

static void skip_string(json *j)
{
    for (j->at++; j->at < j->end && *j->at != '"'; j->at++)
        if (*j->at == '\\' && j->end - j->at > 1)
            j->at++;
    expect(j, '"');
}

/* Brackets are counted but not matched, because the data is known to be correct. */
void json_skip(json *j)
{
    int depth = 0;
    do {
        char c = json_peek(j);
        if (!c) {
            j->bad = true;
            return;
        }
        if (c == '"') {
            skip_string(j);
        } else if (c == '[' || c == '{') {
            depth++;
            j->at++;
        } else if (c == ']' || c == '}') {
            depth--;
            j->at++;
        } else if (c == ',' || c == ':') {
            j->at++;
        } else {
            while (j->at < j->end && !strchr(",:]} \t\r\n", *j->at))
                j->at++;
        }
    } while (depth > 0 && !j->bad);
}
