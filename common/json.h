/*
 * A writer of JSON (RFC 8259) that adds the commas itself. Bytes that are not UTF-8 become U+FFFD, so the result is
 * always valid, and characters that terminals act on are escaped. `key` is NULL inside arrays and at the top.
 */
#ifndef VIDI_COMMON_JSON_H
#define VIDI_COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_writer {
    void (*put)(void *to, const char *bytes, size_t n);
    void *to;
    bool comma; /* one is due before what comes next */
} json_writer;

void json_open(json_writer *json, const char *key, char bracket);
void json_close(json_writer *json, char bracket);
void json_add_text(json_writer *json, const char *key, const char *text, size_t n);
void json_add_string(json_writer *json, const char *key, const char *text); /* NULL: null */
void json_add_count(json_writer *json, const char *key, uint64_t value);
void json_add_null(json_writer *json, const char *key);
void json_add_bool(json_writer *json, const char *key, bool value);

/* Reads back as the same double. NaN and infinities become null. */
void json_add_real(json_writer *json, const char *key, double value);
/* The same with this many significant digits, 17 at most. */
void json_add_rounded(json_writer *json, const char *key, double value, int digits);

#endif
