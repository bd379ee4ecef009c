/*
 * Which characters matter where in a URL, and percent-encoding.
 *
 * The URL Standard names sets of code points that are percent-encoded in one part of a URL or another, and some that a
 * host must not contain. Here a byte has a bit for each set that it is in; bytes from 0x80 on are in every set, as all
 * code points beyond ASCII are. Text that has none of a set, which is most text, is found 16 bytes at a time and copied
 * as it is.
 *
 * Input is UTF-8. What is not is read as the standard's decoder would: each longest beginning of a sequence that cannot
 * be continued becomes U+FFFD.
 */
#ifndef VIDI_URL_PERCENT_H
#define VIDI_URL_PERCENT_H

#include "base/buffer.h"

enum vidi__url_set {
    VIDI__SET_C0 = 1,                 /* C0 control percent-encode set: opaque paths and hosts */
    VIDI__SET_FRAGMENT = 2,           /* … the sets that are named after parts */
    VIDI__SET_QUERY = 4,              /* */
    VIDI__SET_SPECIAL_QUERY = 8,      /* */
    VIDI__SET_PATH = 16,              /* */
    VIDI__SET_USERINFO = 32,          /* user name and password */
    VIDI__SET_FORBIDDEN_HOST = 64,    /* not in any host; here without what is beyond ASCII */
    VIDI__SET_FORBIDDEN_DOMAIN = 128, /* not in a domain, likewise */
    VIDI__SET_NOT_PLAIN = 256,        /* not in a domain that can be copied: forbidden, upper case, '%', beyond ASCII */
    VIDI__SET_SCHEME = 512            /* what a scheme consists of */
};

extern const uint16_t vidi__url_sets[256];

static inline bool vidi__in_set(char c, unsigned set)
{
    return vidi__url_sets[(unsigned char)c] & set;
}

static inline bool vidi__is_alpha(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static inline bool vidi__is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* 0 to 15, or 16 for what is no hexadecimal digit. */
static inline unsigned vidi__hex_value(char c)
{
    if (vidi__is_digit(c))
        return (unsigned)(c - '0');
    unsigned letter = (unsigned char)((c | 0x20) - 'a');
    return letter < 6 ? letter + 10 : 16;
}

/* ---- scans (scan.c) ---- */

/* How many bytes of the text come before the first one that is in the set (one of them). */
size_t vidi__url_run(const char *text, size_t len, unsigned set);
/* The same without vector instructions, for any set or several: for other machines and tests. */
size_t vidi__url_run_portable(const char *text, size_t len, unsigned set);

/* The first of two characters, or len. */
size_t vidi__url_find2(const char *text, size_t len, char a, char b);

/* The first '?' before any '#', the first '#' (or len), and whether there is a tab or newline anywhere. */
typedef struct vidi__url_cuts {
    size_t query, fragment;
    bool tabs;
} vidi__url_cuts;
vidi__url_cuts vidi__url_cut(const char *text, size_t len);

/*
 * How many bytes of a path can be copied as they are: up to one that is encoded, or `other` (which may count as a
 * slash), or '.' or '%' behind a slash (which may spell a dot).
 */
size_t vidi__url_path_run(const char *text, size_t len, char other);

/* How many bytes come before the first '%', or, in a path, ';', '(' or slash behind a slash. */
size_t vidi__url_crawl_run(const char *text, size_t len, bool path);

/*
 * Copies letters, as small ones, digits, '-', '.' and '_' up to the first other byte, and returns their number. There
 * must be room for 16 bytes more than the text has.
 */
#define VIDI__URL_SLACK 16
size_t vidi__url_copy_domain(char *to, const char *text, size_t len);

/* ---- UTF-8 and escapes ---- */

/*
 * The length of the UTF-8 sequence at the beginning of the text, which is not empty; if it is not well-formed, *valid
 * is false and the length that of what U+FFFD stands for.
 */
size_t vidi__utf8_next(const char *text, size_t len, bool *valid);

/* Adds the first sequence of the text, which is not empty, with every byte encoded; returns its length. */
size_t vidi__percent_encode_one(vidi__buffer *out, const char *text, size_t len);
/* Adds the text to out with everything in the set percent-encoded. Linear. */
void vidi__percent_encode(vidi__buffer *out, const char *text, size_t len, unsigned set);

/* Adds the text to out with "%41" and the like replaced by the byte. */
void vidi__percent_decode(vidi__buffer *out, const char *text, size_t len);

#endif
