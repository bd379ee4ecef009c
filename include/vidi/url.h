/*
 * vidi: URLs.
 *
 * URLs, as the URL Standard (https://url.spec.whatwg.org/) and so every browser reads them. These functions need no set
 * and keep nothing: any thread may call them at any time. Input is any bytes; what is not UTF-8 becomes U+FFFD, as in
 * the standard (canonical forms, below, keep such bytes apart). Time is linear in the input's length for every input.
 * Nothing is allocated for a base and a reference of up to about 1,000 bytes that fit into the caller's buffer, besides
 * what ICU takes for internationalised hosts. Internationalised hosts of more than 1,024 bytes are refused (the DNS has
 * none that long); a build without ICU refuses all of them.
 */
#ifndef VIDI_URL_H
#define VIDI_URL_H

#include "vidi/vidi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vidi_url_host {
    VIDI_URL_NO_HOST = 0,    /* "mailto:a@b.c", "a:/b" */
    VIDI_URL_EMPTY_HOST = 1, /* "file:///a" */
    VIDI_URL_DOMAIN = 2,     /* in lower case and ASCII */
    VIDI_URL_IPV4 = 3,       /* as "1.2.3.4" */
    VIDI_URL_IPV6 = 4,       /* shortest form, in brackets */
    VIDI_URL_OPAQUE_HOST = 5 /* of a scheme that is not special: as it was written */
};

enum vidi_url_flags {
    VIDI_URL_IS_SPECIAL = 1,     /* http, https, ws, wss, ftp or file */
    VIDI_URL_HAS_OPAQUE_PATH = 2 /* "mailto:a@b.c": nothing but a fragment can be resolved against it */
};

/* The parts of a URL, all of them inside its href. A part that is not there has ptr NULL and len 0. */
typedef struct vidi_url {
    size_t size;       /* set it to sizeof(vidi_url) before the call */
    vidi_str href;     /* the whole URL, serialised */
    vidi_str scheme;   /* "http", without the colon */
    vidi_str username; /* percent-encoded, like all that follows */
    vidi_str password;
    vidi_str host;
    vidi_str port;       /* decimal digits; not there if it is the scheme's default */
    vidi_str path;       /* always there, may be empty */
    vidi_str query;      /* without '?'; "a?" has an empty one, "a" none */
    vidi_str fragment;   /* without '#' */
    uint32_t host_kind;  /* vidi_url_host */
    int32_t port_number; /* -1: none, or the default */
    uint32_t flags;      /* vidi_url_flags */
} vidi_url;

/*
 * Parses a URL, or a reference against a base (NULL: none), and writes its serialisation, without a zero byte at the
 * end, to the buffer. *len is the buffer's room on entry and the URL's length on return. VIDI_ELIMIT if the room is too
 * small: *len then says how much is needed, and 0 bytes at NULL are a way to ask. VIDI_INVALID if it is not a URL:
 * vidi_message() says why, and *len is 0. VIDI_EARGUMENT if the base is not a URL. Unless this returns VIDI_OK, *url is
 * empty and the buffer's contents are unspecified. Neither input nor base may overlap the buffer. About 100 ns for a
 * URL of 70 bytes.
 */
VIDI_API int vidi_url_parse(vidi_str input, const vidi_str *base, char *buffer, size_t *len, vidi_url *url);

/*
 * Makes a reference absolute, as a link on a page with that base URL: the same as vidi_url_parse with a base, of which
 * only the serialisation is wanted.
 */
VIDI_API int vidi_url_resolve(vidi_str base, vidi_str reference, char *buffer, size_t *len);

/*
 * The parts of a URL that is serialised already: text that vidi_url_parse, vidi_url_resolve or the canonical form
 * whatwg has written. They are those of vidi_url_parse, but point into the text, and finding them takes a fraction of
 * the time: nothing is encoded, checked or copied. VIDI_INVALID if the text has no scheme in lower case, or lacks the
 * host or the path that its scheme demands, or has a port that is not a number up to 65535: vidi_message() says so, and
 * *url is empty. Of other text that is not a serialised URL ("http://EXAMPLE.org:80/a b"), the parts are what lies
 * between the delimiters, as it is written: use vidi_url_parse for text of unknown origin.
 */
VIDI_API int vidi_url_view(vidi_str text, vidi_url *url);

/*
 * Canonical forms: one text for all spellings of a page. docs/CANON.md defines each form byte by byte.
 *
 *   none       the bytes as they are
 *   whatwg     the URL Standard's serialisation without the fragment: the default
 *   crawl      the same, then spellings that nearly always lead to the same page are merged: empty parameters, escapes,
 *              repeated slashes, sessions, tracking, default documents, the order of parameters
 *   w3lib      as Scrapy compares requests: the order of parameters, escapes, and "?a" for "?a="
 *   surt       the sort-friendly key of web archives: "org,example)/page?a=1"
 *   key=host   the host alone
 *   key=site   the registrable domain alone: "example.co.uk" (needs libpsl; VIDI_EOPTION in a build without)
 *
 * A form is created from text: a profile's name, maybe a version, and rules to switch off or on: "crawl,-sort,-index",
 * "crawl,+www,+scheme", "whatwg/1". A name without a version means the newest one. A form never changes, so any number
 * of threads may use it at once.
 *
 * Bytes that are not UTF-8 are percent-encoded as they are, so that pages that differ in them stay different.
 */
typedef struct vidi_canon vidi_canon;

/*
 * Makes a form. profile NULL: whatwg. tracking, for `crawl` with its rule `tracking` on, replaces the list of
 * parameters that it removes (NULL: the list that is compiled in, data/tracking.txt): a pattern a line, '*' for any run
 * of characters, '#' before remarks; a line "@builtin" stands for the whole compiled-in list, so that it can be
 * extended. Neither is kept. VIDI_EOPTION names what is unknown. On error *canon is NULL.
 * allocator (copied; NULL: malloc) serves the form, and the calls of vidi_url_canon and vidi_url_explain with it.
 */
VIDI_API int vidi_canon_create(vidi_canon **canon, const char *profile, const char *tracking,
                               const vidi_allocator *allocator);

/* Frees it; NULL is fine. No other call on it may be running. */
VIDI_API void vidi_canon_close(vidi_canon *canon);

/*
 * The name, the version, and the rules that differ from the default: "whatwg/1", "crawl/1,-sort", or
 * "crawl/1,tracking=5d1c…" with a digest of the caller's list. Two forms with the same name give the same text for
 * every URL, except `key=site`, which depends on the machine's Public Suffix List. vidi_canon_create takes such names
 * too (with the list, if there was one) and refuses versions that it does not know. Valid until vidi_canon_close.
 */
VIDI_API const char *vidi_canon_name(const vidi_canon *canon);

/* The canonical form of a set. It belongs to the set and is good until vidi_close; do not close it. */
VIDI_API const vidi_canon *vidi_canon_of(const vidi_set *set);

/*
 * Writes the canonical form of a URL, or of a reference against a base (NULL: none), to the buffer, as vidi_url_parse
 * does: *len is the room on entry and the length on return, VIDI_ELIMIT if the room is too small. VIDI_INVALID if it is
 * not a URL, or lacks what the form is made of, such as a host; vidi_message() says why, and *len is 0. `none` takes
 * any bytes and ignores the base. VIDI_EARGUMENT if the base is not a URL. Nothing is allocated for typical URLs.
 */
VIDI_API int vidi_url_canon(const vidi_canon *canon, vidi_str input, const vidi_str *base, char *buffer, size_t *len);

/*
 * How many of the URLs, from the first one on, are in canonical form, so that vidi_url_canon would write them as they
 * are. An entry without text is not; nor may be one that a short look does not decide. For batches in which most are:
 * some 15 ns a URL for whatwg.
 */
VIDI_API size_t vidi_canon_count(const vidi_canon *canon, const vidi_str *urls, size_t n);

/* One rule that changed a URL. */
typedef struct vidi_canon_change {
    const char *rule;
    vidi_str before, after; /* good during the call of the visitor */
} vidi_canon_change;

/* Called for each change; anything but 0 ends the walk and is returned: use numbers above VIDI_INVALID. */
typedef int (*vidi_canon_visitor)(void *context, const vidi_canon_change *step);

/*
 * Tells which rules change the URL, in their order: "whatwg" for reading and serialising it, "fragment", then those of
 * the form. The `after` of the last change is the canonical form; if there is no change, the URL was in it already.
 * VIDI_OK, or VIDI_INVALID and errors as for vidi_url_canon. For people: it allocates.
 */
VIDI_API int vidi_url_explain(const vidi_canon *canon, vidi_str input, const vidi_str *base, vidi_canon_visitor visitor,
                              void *context);

typedef struct vidi_canon_info {
    size_t size;
    const char *profile; /* "crawl" */
    uint32_t version;
    uint32_t is_on;      /* 1 unless it must be switched on with '+' */
    const char *rule;    /* "sort"; NULL for one that cannot be switched */
    const char *summary; /* one line */
} vidi_canon_info;

/*
 * The index-th rule of all profiles in their newest version, in the order in which they are applied; VIDI_EABSENT
 * beyond the last.
 */
VIDI_API int vidi_canon_rule(size_t index, vidi_canon_info *info);

/*
 * A keyed hash of any bytes, such as a URL in its canonical form: SipHash-1-3 with 128 bits of output, the lower half
 * in hash[0]. The same on every machine. Without the key nobody can predict it, or find two inputs with the same hash.
 */
VIDI_API int vidi_keyed_hash(const unsigned char key[VIDI_KEY_BYTES], vidi_str bytes, uint64_t hash[2]);
/* The same hashes of n inputs, several at a time, which takes half as long. On an error nothing was written. */
VIDI_API int vidi_keyed_hash_batch(const unsigned char key[VIDI_KEY_BYTES], const vidi_str *inputs, size_t n,
                                   uint64_t (*hashes)[2]);

#ifdef __cplusplus
}
#endif

#endif
