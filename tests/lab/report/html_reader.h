/* A reader of HTML and SVG that forgives nothing: for tests of pages that the program writes. */
#ifndef TESTS_LAB_REPORT_HTML_READER_H
#define TESTS_LAB_REPORT_HTML_READER_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"

enum { DEPTH = 64, IDS = 4096 };

typedef struct reader {
    char open[DEPTH][32];
    size_t depth;
    const char *ids[IDS], *links[IDS]; /* where they begin, up to a quote */
    size_t id_count, link_count;
} reader;

static inline bool same_value(const char *a, const char *b)
{
    size_t length = strcspn(a, "\"");
    return length == strcspn(b, "\"") && memcmp(a, b, length) == 0;
}

static inline bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "link") == 0 || strcmp(name, "!DOCTYPE") == 0;
}

/* name="value", and nothing else; where it ends. */
static inline const char *read_attribute(reader *reader, const char *at)
{
    size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
    check(name > 0 && strncmp(at + name, "=\"", 2) == 0, "an odd attribute: %.60s", at);
    const char *value = at + name + 2;
    size_t length = strcspn(value, "\"<>");
    check(value[length] == '"', "a value that does not end well: %.60s", at);
    if (strncmp(at, "id=", 3) == 0) {
        for (size_t i = 0; i < reader->id_count; i++)
            check(!same_value(reader->ids[i], value), "twice the same id: %.60s", at);
        check(reader->id_count < IDS, "too many ids");
        reader->ids[reader->id_count++] = value;
    }
    check(strncmp(at, "src=", 4) != 0, "something from elsewhere: %.60s", at);
    if (strncmp(at, "href=\"#", 7) == 0) {
        check(reader->link_count < IDS, "too many links");
        reader->links[reader->link_count++] = value + 1;
    } else if (strncmp(at, "href=", 5) == 0) {
        check(strncmp(value, "data:", 5) == 0, "a link to elsewhere: %.60s", at);
    }
    return value + length + 1;
}

static inline const char *read_start(reader *reader, const char *at)
{
    char name[32];
    size_t length = strcspn(at, " />\n");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    check(strcmp(name, "script") != 0, "a script");
    for (at += length; *at == ' ';) {
        at++;
        at = strcmp(name, "!DOCTYPE") == 0 ? at + strcspn(at, ">") : read_attribute(reader, at);
    }
    if (at[0] == '/' && at[1] == '>')
        return at + 2;
    check(*at == '>', "<%s does not end: %.40s", name, at);
    if (!is_void(name)) {
        check(reader->depth < DEPTH, "too deep");
        memcpy(reader->open[reader->depth++], name, sizeof name);
    }
    return at + 1;
}

static inline const char *read_end(reader *reader, const char *at)
{
    size_t length = strcspn(at, ">");
    check(reader->depth > 0, "</%.*s> ends nothing", (int)length, at);
    const char *name = reader->open[--reader->depth];
    check(strlen(name) == length && memcmp(name, at, length) == 0, "</%.*s> where </%s> belongs", (int)length, at,
          name);
    return at + length + 1;
}

static inline const char *read_entity(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&nbsp;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return at + strlen(known[i]);
    fail_msg("a bare &: %.40s", at);
    return at;
}

static inline void check_links(const reader *reader)
{
    for (size_t i = 0; i < reader->link_count; i++) {
        bool found = false;
        for (size_t j = 0; j < reader->id_count && !found; j++)
            found = same_value(reader->links[i], reader->ids[j]);
        check(found, "a link that leads nowhere: %.60s", reader->links[i]);
    }
}

/* Style sheets are taken as they are. */
static inline void must_be_well_formed(const char *text)
{
    static reader reader;
    memset(&reader, 0, sizeof reader);
    for (const char *at = text; *at;) {
        bool style = reader.depth > 0 && strcmp(reader.open[reader.depth - 1], "style") == 0;
        if (style && strncmp(at, "</style>", 8) != 0)
            at++;
        else if (at[0] == '<' && at[1] == '/')
            at = read_end(&reader, at + 2);
        else if (at[0] == '<')
            at = read_start(&reader, at + 1);
        else if (at[0] == '&')
            at = read_entity(at);
        else
            at++;
    }
    check(reader.depth == 0, "<%s> is not closed", reader.depth ? reader.open[reader.depth - 1] : "");
    check_links(&reader);
}

#endif
