/*
 * JSON: see json.h.
 */
#include "common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

static void put_string(json_writer *json, const char *text)
{
    json->put(json->to, text, strlen(text));
}

/* How many of the bytes at the beginning are ASCII that JSON takes as it is. */
static size_t plain_length(const char *text, size_t length)
{
    size_t at = 0;

    while (at < length && text[at] >= 0x20 && text[at] < 0x7f && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

/* Writes the character at the beginning of the text. Returns its length. */
static size_t put_character(json_writer *json, const char *text, size_t n)
{
    static const char plain[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
    char escaped[8];
    size_t length = utf8_length(text, n);
    const char *short_form = *text ? strchr(plain, *text) : NULL;
    uint32_t code = length ? utf8_code(text, length) : 0xfffd;

    if (short_form)
        snprintf(escaped, sizeof escaped, "\\%c", letters[short_form - plain]);
    else
        snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)code & 0xffff);
    if (length == 0 || short_form || utf8_is_control(code))
        put_string(json, escaped);
    else
        json->put(json->to, text, length);
    return length ? length : 1;
}

static void put_quoted(json_writer *json, const char *text, size_t n)
{
    put_string(json, "\"");
    for (size_t at = 0; at < n;) {
        size_t run = plain_length(text + at, n - at);
        json->put(json->to, text + at, run);
        at += run;
        if (at < n)
            at += put_character(json, text + at, n - at);
    }
    put_string(json, "\"");
}

static void begin(json_writer *json, const char *key)
{
    if (json->comma)
        put_string(json, ",");
    json->comma = true;
    if (key) {
        put_quoted(json, key, strlen(key));
        put_string(json, ":");
    }
}

static void put_word(json_writer *json, const char *key, const char *word)
{
    begin(json, key);
    put_string(json, word);
}

void json_open(json_writer *json, const char *key, char bracket)
{
    begin(json, key);
    json->put(json->to, &bracket, 1);
    json->comma = false;
}

void json_close(json_writer *json, char bracket)
{
    json->put(json->to, &bracket, 1);
    json->comma = true;
}

void json_add_text(json_writer *json, const char *key, const char *text, size_t n)
{
    begin(json, key);
    put_quoted(json, text, n);
}

void json_add_string(json_writer *json, const char *key, const char *text)
{
    if (text)
        json_add_text(json, key, text, strlen(text));
    else
        json_add_null(json, key);
}

void json_add_count(json_writer *json, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    put_word(json, key, text);
}

void json_add_null(json_writer *json, const char *key)
{
    put_word(json, key, "null");
}

void json_add_bool(json_writer *json, const char *key, bool value)
{
    put_word(json, key, value ? "true" : "false");
}

void json_add_rounded(json_writer *json, const char *key, double value, int digits)
{
    char text[40] = "null";

    if (isfinite(value))
        snprintf(text, sizeof text, "%.*g", digits, value);
    put_word(json, key, text);
}

void json_add_real(json_writer *json, const char *key, double value)
{
    char text[40];
    int digits = 15;

    for (; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    json_add_rounded(json, key, value, digits);
}
