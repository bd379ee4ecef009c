/*
 * Reads JSON value by value, for files of test cases. Strings are returned as UTF-8. Unpaired surrogates become U+FFFD,
 * as in a browser that reads a URL.
 *
 *   json_enter(&j, '[');
 *   while (json_more(&j, ']'))
 *       … exactly one json_string, json_skip or json_enter with all that is inside …
 *
 * After a syntax error, `bad` is set, json_more returns false and strings are empty.
 */
#ifndef TESTS_SUPPORT_JSON_H
#define TESTS_SUPPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct json {
    const char *at, *end;
    bool bad;
} json;

/* Text on the heap; NULL if the value was null or missing. */
typedef struct json_text {
    char *at;
    size_t len;
} json_text;

/* '[', '{', '"', or the first character of a number, true, false or null; 0 at the end. */
char json_peek(json *j);

void json_enter(json *j, char bracket);
bool json_more(json *j, char bracket);

/* A string, which the caller frees. Any other value is skipped, and the result is NULL. */
json_text json_string(json *j);
/* Reads the name of a member of an object, and the colon after it. */
json_text json_name(json *j);
void json_skip(json *j);

#endif
