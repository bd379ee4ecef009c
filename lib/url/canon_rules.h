/*
 * Canonical forms of URLs: one text for all spellings of one page. docs/CANON.md defines each form byte by byte.
 *
 * A profile is a name, a version and a list of rules in a fixed order. Every rule works on the same thing, a URL as the
 * parser left it and without its fragment: it changes the text in place and keeps path_begin, path_end and has_query in
 * step. The query, if there is one, ends where the text ends. All rules take time that is linear in the text, but for
 * sorting.
 *
 *   http://example.com/a/b?q=1
 *                     |   |   |
 *                     |   |   out->len
 *                     |   path_end: '?' if has_query
 *                     path_begin
 *
 * What the handle holds never changes after it was made, so that any number of threads may use it.
 */
#ifndef VIDI_URL_CANON_RULES_H
#define VIDI_URL_CANON_RULES_H

#include "url/canon.h"
#include "url/url.h"

/* Patterns for names of parameters: lower case, '*' stands for any run of characters. Grouped by their first byte. */
typedef struct vidi__globs {
    vidi_str *list;      /* behind these `count` follow as many once more, in the order in which they were given */
    uint32_t first[258]; /* those that begin with byte b are list[first[b]] to list[first[b + 1] - 1] */
    size_t count;
    uint64_t digest; /* of all of them in the order in which they were given */
} vidi__globs;

typedef struct vidi__work {
    const vidi_canon *canon;
    vidi__buffer *out; /* the URL's text */
    vidi__url url;     /* of its offsets all but those before path_begin follow the text */
    int invalid;       /* VIDI_INVALID once a rule finds that there is no such form of this URL */
} vidi__work;

typedef struct vidi__rule {
    const char *name, *summary;
    void (*apply)(vidi__work *work); /* NULL: another rule asks whether this one is on */
    bool off;                        /* unless it is switched on by name */
} vidi__rule;

typedef struct vidi__profile {
    const char *name;
    unsigned version;
    const vidi__rule *rules;
    size_t count;
    bool (*concerns)(const vidi__work *work); /* URLs for which it is false are only parsed; NULL: none is */
    /* The rules, as bits, that may change the URL, whose text is at url->text: no other would. NULL: ask them all. */
    uint32_t (*needed)(const vidi_canon *canon, const vidi__url *url);
} vidi__profile;

struct vidi_canon {
    vidi__memory memory; /* of what is below */
    const vidi__profile *profile;
    uint32_t rules; /* bit i: rule i is on */
    vidi__globs tracking;
    char *arena; /* the text of the patterns; behind it, nothing */
    size_t arena_bytes;
    void *sites;   /* of vidi__sites_open */
    bool own_list; /* the patterns are not the compiled-in ones */
    char name[VIDI__CANON_NAME];
};

extern const vidi__profile vidi__profile_crawl, vidi__profile_surt;
enum { VIDI__CRAWL_TRACKING = 4, VIDI__CRAWL_RULES = 7 }; /* the place of rule `tracking`, and the number of rules */

/*
 * Adds the canonical form of the input to out, which must be empty: VIDI_OK, VIDI_INVALID or an error. base NULL: none.
 * Memory comes from out's, and only for what does not fit.
 */
int vidi__canon_url(const vidi_canon *canon, vidi_str input, const vidi__url *base, vidi__buffer *out);

/* ---- what rules share (canon_rules.c) ---- */

/* Cuts the text at path_end and the query off with it. */
void vidi__work_drop_query(vidi__work *work);

/*
 * Goes through the query's parameters, the pieces between '&', and keeps those that `keep` wants. Without tail, the '&'
 * that joins what is left is all that is left of them, and a query of which nothing is left goes with its '?'. With
 * tail, each takes the '&' behind it along, and the last, if it goes, leaves the one before it.
 */
typedef bool vidi__keep(const vidi__work *work, vidi_str name, const vidi_str *value);
void vidi__work_filter(vidi__work *work, vidi__keep *keep, bool tail);

/* By the bytes, and what is a beginning of the other comes first. */
int vidi__compare_bytes(vidi_str a, vidi_str b);

/* Sorts the parameters by name, and with `values` those of one name by value; stable. */
void vidi__work_sort(vidi__work *work, bool values);

/* Rewrites the bytes from begin to end, which take at most 2 more for each '%' in them; returns the new end. */
typedef size_t vidi__rewrite(char *to, char *from, size_t len);
size_t vidi__work_rewrite(vidi__work *work, size_t begin, size_t end, vidi__rewrite *rewrite);
/* The same for the path and then the query. */
void vidi__work_rewrite_both(vidi__work *work, vidi__rewrite *rewrite);

/* "(S(…))" or "(…)" with 24 letters and digits in the inner parentheses: what ASP.NET puts into paths. */
bool vidi__is_asp_session(vidi_str segment);

static inline char vidi__lower(char c)
{
    return (char)((unsigned char)(c - 'A') < 26 ? c | 0x20 : c);
}

/* lower must be in lower case. */
bool vidi__is_nocase(vidi_str text, const char *lower);
bool vidi__all_alnum(vidi_str text);

/* ---- patterns (glob.c) ---- */

/* The patterns of the text, a line each; NULL: the ones that are compiled in. They lie in canon->arena. */
int vidi__globs_make(vidi_canon *canon, const char *text);
bool vidi__globs_match(const vidi__globs *globs, vidi_str name);

/* ---- registrable domains (canon_site.c) ---- */

int vidi__sites_open(void **sites);
void vidi__sites_close(void *sites);
/* Where in the host the registrable domain is; the whole host where there is none. */
vidi_str vidi__site_of(const void *sites, vidi_str host, uint32_t host_kind);

static inline bool vidi__rule_is_on(const vidi_canon *canon, size_t rule)
{
    return canon->rules >> rule & 1;
}

#endif
