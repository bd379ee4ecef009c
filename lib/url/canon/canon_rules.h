/*
 * Canonical forms of URLs: one text for all spellings of a page. docs/CANON.md defines each form byte by byte.
 *
 * A profile is a name, a version and a list of rules in a fixed order. A rule changes a parsed URL in place and keeps
 * host_begin, path_begin, path_end and has_query up to date. The text has no fragment while the rules run, so the
 * query, if there is one, ends where the text ends. Every rule takes linear time, except sorting.
 *
 *   http://example.com/a/b?q=1
 *                     |   |   |
 *                     |   |   out->len
 *                     |   path_end: '?' if has_query
 *                     path_begin
 *
 * The output of a released version never changes, because sets that were made with it keep it. A change of any output
 * is a new version of the profile beside the old one (docs/FORMAT.md, "How a version 2 is added").
 *
 * A form never changes after it was made, so any number of threads may use it. A vidi_canon is a user's handle on one.
 */
#ifndef VIDI_URL_CANON_CANON_RULES_H
#define VIDI_URL_CANON_CANON_RULES_H

#include "url/canon/canon.h"
#include "url/parse/url.h"

/* Patterns for parameter names, in lower case; '*' matches any run of characters. Grouped by their first byte. */
typedef struct vidi__globs {
    vidi_str *list;      /* `count` patterns in groups, then the same patterns in the order in which they were given */
    uint32_t first[258]; /* patterns that begin with byte b are list[first[b]] to list[first[b + 1] - 1] */
    size_t count;
    uint64_t digest; /* of all patterns in the order in which they were given */
} vidi__globs;

typedef struct vidi__form vidi__form;

/* A URL on its way through the rules. */
typedef struct vidi__canon_work {
    const vidi__form *form;
    vidi__buffer *out; /* the URL's text, without the fragment */
    vidi__url url;     /* offsets before path_begin other than host_begin may be out of date */
    vidi_str fragment; /* with its '#', if the canonical form keeps it; it is added again after the rules */
    int invalid;       /* VIDI_INVALID once a rule finds that the URL has no such form */
} vidi__canon_work;

typedef struct vidi__rule {
    const char *name, *summary;
    void (*apply)(vidi__canon_work *work); /* NULL: other code checks whether this rule is on */
    bool off;                              /* by default: it must be switched on by name */
    bool fixed;                            /* it cannot be switched off */
} vidi__rule;

typedef struct vidi__profile {
    const char *name;
    unsigned version;
    vidi__canon_output output;
    const vidi__rule *rules;
    size_t count;
    bool (*concerns)(const vidi__canon_work *work); /* false: the rules do not apply to this URL; NULL: to no URL */
    /* A bit for every rule that may change the URL in url->text. NULL: every rule may. */
    uint32_t (*needed)(const vidi__form *form, const vidi__url *url);
} vidi__profile;

/* A canonical form. It never changes once it is made. */
struct vidi__form {
    const vidi__profile *profile;
    uint32_t rules; /* bit i: rule i is on */
    vidi__globs tracking;
    char *arena; /* the text of the user's patterns; NULL if the list is compiled in */
    size_t arena_bytes;
    void *sites;          /* from vidi__sites_open, if the form is key=site */
    bool own_list;        /* the tracking patterns were given by the user */
    bool keeps_fragments; /* those that begin with "#!" or "#/": the rule `fragment` is on */
    char name[VIDI__CANON_NAME];
};

struct vidi_canon {
    vidi_allocator hook;    /* what this, its own form and temporary memory are allocated with */
    const vidi__form *form; /* a shared one, or `own` */
    vidi__form *own;        /* NULL: the form is shared */
};

extern const vidi__profile vidi__profile_crawl, vidi__profile_surt, vidi__profile_w3lib;

/*
 * Adds the canonical form of the input to out, which must be empty: VIDI_OK, VIDI_INVALID or an error. base NULL: none.
 * Allocates from out's memory, and only if out's room is too small.
 */
int vidi__canon_url(const vidi_canon *canon, vidi_str input, const vidi__url *base, vidi__buffer *out);

/* ---- shared by rules (canon_rules.c) ---- */

/* Removes the query and its '?'. */
void vidi__canon_work_drop_query(vidi__canon_work *work);

/*
 * Keeps the query's parameters (the pieces between '&') for which `keep` returns true. Without tail, the remaining
 * parameters are joined by '&', and a query without parameters is removed with its '?'. With tail, a removed parameter
 * takes the '&' after it along, so removing the last one leaves the '&' before it.
 */
typedef bool vidi__keep(const vidi__canon_work *work, vidi_str name, const vidi_str *value);
void vidi__canon_work_filter(vidi__canon_work *work, vidi__keep *keep, bool tail);

/* Removes empty parameters. */
void vidi__canon_work_drop_empty(vidi__canon_work *work);

/* Compares bytes as memcmp does; a prefix comes before longer text. */
int vidi__compare_bytes(vidi_str a, vidi_str b);

/* What parameters are sorted by. */
typedef enum vidi__sort_by {
    VIDI__BY_NAME,    /* the bytes of the name */
    VIDI__BY_BOTH,    /* the bytes of the name, then of the value */
    VIDI__BY_MEANING, /* the same, after decoding escapes and taking '+' for a space */
} vidi__sort_by;
/* Sorts the parameters. The sort is stable. */
void vidi__canon_work_sort(vidi__canon_work *work, vidi__sort_by by);

/* Rewrites the bytes from begin to end; the result may be `more` bytes longer. Returns the new end. */
typedef size_t vidi__rewrite(char *to, char *from, size_t len);
size_t vidi__canon_work_rewrite(vidi__canon_work *work, size_t begin, size_t end, size_t more, vidi__rewrite *rewrite);
/* 2 bytes for each '%' from begin to end. */
size_t vidi__canon_work_percents(const vidi__canon_work *work, size_t begin, size_t end);
/* Rewrites the path, then the query, if they have a '%'. Each may grow by 2 bytes for each '%' in it. */
void vidi__canon_work_rewrite_both(vidi__canon_work *work, vidi__rewrite *rewrite);

/* Writes a byte as "%2F". Returns where the next one goes. */
char *vidi__escape(char *to, unsigned char byte);
/*
 * For a vidi__rewrite: decodes the escapes of these bytes, writes other escapes in upper case, and writes a '%' that
 * begins no escape as "%25".
 */
size_t vidi__normalise_escapes(char *to, const char *from, size_t len, bool (*is_decoded)(unsigned char byte));

/* Removes the first bytes of the host. */
void vidi__canon_work_cut_host(vidi__canon_work *work, size_t bytes);

/* Returns true for "(S(…))" and "(…)" with 24 letters and digits inside, as ASP.NET writes sessions. */
bool vidi__is_asp_session(vidi_str segment);

static inline char vidi__lower(char c)
{
    return (char)((unsigned char)(c - 'A') < 26 ? c | 0x20 : c);
}

/* Compares without regard to case; lower must be in lower case. */
bool vidi__is_nocase(vidi_str text, const char *lower);
bool vidi__all_alnum(vidi_str text);

/* ---- patterns (tracking_list.c) ---- */

/* Reads patterns, one per line, into form->tracking and form->arena, which the caller releases. */
int vidi__globs_make(vidi__form *form, vidi__memory *memory, const char *text);
/* The compiled-in list, in static memory. Thread-safe. */
const vidi__globs *vidi__globs_builtin(void);
bool vidi__globs_match(const vidi__globs *globs, vidi_str name);

/* ---- registrable domains (canon_site.c) ---- */

int vidi__sites_open(void **sites);
void vidi__sites_close(void *sites);
/* The part of the host that is its registrable domain; the whole host if it has none. */
vidi_str vidi__site_of(const void *sites, vidi_str host, uint32_t host_kind);

static inline bool vidi__rule_is_on(const vidi__form *form, size_t rule)
{
    return form->rules >> rule & 1;
}

#endif
