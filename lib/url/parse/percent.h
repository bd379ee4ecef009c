/*
 * Character sets of the URL Standard, scans for them, and percent-encoding.
 *
 * The standard defines sets of code points that must be percent-encoded in each part of a URL, and sets that hosts must
 * not contain. A table holds one bit per set for each byte. Bytes from 0x80 on are in every percent-encode set, because
 * all code points beyond ASCII are. Most text contains no byte of the set in question: the scans look at 16 bytes at a
 * time, and the text is copied unchanged.
 *
 * Input should be UTF-8. Bytes that are not can be read in two ways:
 *
 *   as the standard's decoder does   the longest prefix of a sequence that cannot be completed becomes U+FFFD
 *   raw                              each byte is percent-encoded as it is, so different bytes stay different
 */
#ifndef VIDI_URL_PARSE_PERCENT_H
#define VIDI_URL_PARSE_PERCENT_H

#include "base/buffer.h"

enum vidi__url_set {
    VIDI__SET_C0 = 1,                 /* C0 control percent-encode set: opaque paths and hosts */
    VIDI__SET_FRAGMENT = 2,           /* fragment percent-encode set */
    VIDI__SET_QUERY = 4,              /* query percent-encode set */
    VIDI__SET_SPECIAL_QUERY = 8,      /* special-query percent-encode set */
    VIDI__SET_PATH = 16,              /* path percent-encode set */
    VIDI__SET_USERINFO = 32,          /* userinfo percent-encode set: user name and password */
    VIDI__SET_FORBIDDEN_HOST = 64,    /* ASCII characters that no host may contain */
    VIDI__SET_FORBIDDEN_DOMAIN = 128, /* ASCII characters that no domain may contain */
    VIDI__SET_NOT_PLAIN = 256, /* bytes of a domain that cannot be copied: forbidden, upper case, '%', non-ASCII */
    VIDI__SET_SCHEME = 512     /* characters that a scheme may contain */
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

/* The value of a hexadecimal digit, 0 to 15; 16 for any other character. */
static inline unsigned vidi__hex_value(char c)
{
    if (vidi__is_digit(c))
        return (unsigned)(c - '0');
    unsigned letter = (unsigned char)((c | 0x20) - 'a');
    return letter < 6 ? letter + 10 : 16;
}

/* The byte that the escape ("%2F") at the beginning of the text stands for; -1 if there is no escape. */
static inline int vidi__unescape(const char *text, size_t len)
{
    if (len < 3 || text[0] != '%')
        return -1;
    unsigned high = vidi__hex_value(text[1]), low = vidi__hex_value(text[2]);
    return high < 16 && low < 16 ? (int)(high << 4 | low) : -1;
}

/* RFC 3986's unreserved characters, which mean the same with and without escape. */
static inline bool vidi__is_unreserved(unsigned char c)
{
    return vidi__is_alpha((char)c) || vidi__is_digit((char)c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/* ---- scans (scan.c) ---- */

/* The number of bytes before the first one that is in the set, which is a single set. */
size_t vidi__url_run(const char *text, size_t len, unsigned set);
/* The same without vector instructions, for any union of sets: for other machines and for tests. */
size_t vidi__url_run_portable(const char *text, size_t len, unsigned set);

/* The position of the first byte that is a or b; len if there is none. */
size_t vidi__url_find2(const char *text, size_t len, char a, char b);

/*
 * Where the query and the fragment begin: the first '?' before any '#', and the first '#'; len if there is none. `tabs`
 * tells whether the text contains a tab or newline.
 */
typedef struct vidi__url_cuts {
    size_t query, fragment;
    bool tabs;
} vidi__url_cuts;
vidi__url_cuts vidi__url_cut(const char *text, size_t len);

/*
 * The number of bytes of a path that can be copied unchanged. Stops at bytes that must be encoded, at `other` (a
 * character that may count as a slash), and at '.' or '%' right after a slash (which may spell a dot segment).
 */
size_t vidi__url_path_run(const char *text, size_t len, char other);

/* The number of bytes before the first '%' or, in a path, before the first ';', '(' or slash that follows a slash. */
size_t vidi__url_crawl_run(const char *text, size_t len, bool path);

/*
 * Copies letters (in lower case), digits, '-', '.' and '_' up to the first other byte, and returns how many were
 * copied. `to` must have room for VIDI__URL_SLACK bytes more than the text.
 */
#define VIDI__URL_SLACK 16
size_t vidi__url_copy_domain(char *to, const char *text, size_t len);

/* ---- UTF-8 and escapes ---- */

/*
 * The length of the UTF-8 sequence at the beginning of the text, which must not be empty. If the sequence is not
 * well-formed, *valid is false, and the length is that of the bytes that one U+FFFD replaces.
 */
size_t vidi__utf8_next(const char *text, size_t len, bool *valid);

bool vidi__is_ascii(vidi_str text);

/*
 * Percent-encodes every byte of the first character of the text, which must not be empty, and returns the number of
 * bytes it took from the text. raw: the first byte instead of the first character, whether it is UTF-8 or not.
 */
size_t vidi__percent_encode_one(vidi__buffer *out, const char *text, size_t len, bool raw);

/* Adds the text to out with everything in the set percent-encoded. Takes linear time. */
void vidi__percent_encode(vidi__buffer *out, const char *text, size_t len, unsigned set, bool raw);

/* Adds the text to out with escapes such as "%41" replaced by the byte they stand for. */
void vidi__percent_decode(vidi__buffer *out, const char *text, size_t len);

#endif
