/*
 * What the files of this folder share: the form of a parsed file, and paths made comparable.
 *
 * A parsed file is one block of memory:
 *
 *     struct robots | rule 0 | rule 1 | … | the patterns' bytes, one after the other
 *
 * The rules are sorted: longest pattern first, and allow before disallow where the lengths are equal. So the first rule
 * that matches decides (RFC 9309, section 2.2.2: the most octets win, and allow wins ties).
 */
#ifndef VIDI_CRAWLER_ROBOTS_ROBOTS_RULES_H
#define VIDI_CRAWLER_ROBOTS_ROBOTS_RULES_H

#include "crawler/robots/robots.h"

/* A '*' in a pattern. A comparable path has only ASCII bytes, so no other byte of a pattern has this value. */
enum { ROBOTS_WILDCARD = 0xff };

typedef struct robots_pattern {
    uint32_t at;     /* offset of its bytes */
    uint32_t line;   /* of the file, from 1 */
    uint16_t length; /* in bytes, without the '$' */
    bool allows;
    bool anchored; /* ended in '$': must match up to the end of the path */
} robots_pattern;

struct robots {
    double delay; /* negative: none */
    size_t bytes; /* of this block */
    uint32_t count;
    uint8_t group; /* robots_group */
    robots_pattern patterns[];
};

static inline const char *robots_text(const robots *rules)
{
    return (const char *)(rules->patterns + rules->count);
}

/* The octets by which rules are compared; the '$' counts. */
static inline unsigned robots_octets(const robots_pattern *pattern)
{
    return pattern->length + (unsigned)pattern->anchored;
}

/*
 * Path and query of a URL, without its fragment: a part of the URL's own bytes. It may be empty or begin with '?' or
 * ';': then a '/' in front of it is missing.
 */
vidi_str robots_path_of(vidi_str url);

/*
 * Writes a path in its comparable form, and returns its length, at most 3 times that of `path`. Two paths that RFC 9309
 * calls equal have the same comparable form: bytes outside ASCII are percent-encoded, percent-encoded letters, digits
 * and "-._~" are decoded, and other percent-encodings have upper-case digits. %2A and %24 become '*' and '$'.
 */
size_t robots_comparable(char *to, vidi_str path);

/* The same for the path of a rule, in which '*' is a wildcard. */
size_t robots_comparable_pattern(char *to, vidi_str path);

#endif
