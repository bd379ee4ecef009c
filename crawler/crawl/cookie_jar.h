/*
 * The cookies of a crawl (--cookies), as RFC 6265 keeps them: a cookie goes to the host that has set it, and to those
 * below a domain that the host belongs to and that is not a public suffix. Without the Public Suffix List nobody knows
 * which are, so each cookie goes to its own host only. There are at most 50 for a domain and 3,000 in all; beyond that,
 * those that are over and then those that were not used for the longest time are forgotten.
 *
 * The jar is in memory as a whole and belongs to the fetcher's thread. What changes in it travels with the page whose
 * response changed it, and is committed with that page.
 */
#ifndef VIDI_CRAWLER_CRAWL_COOKIE_JAR_H
#define VIDI_CRAWLER_CRAWL_COOKIE_JAR_H

#include "crawler/base/bytes.h"
#include "crawler/database/database.h"

enum { COOKIES_PER_DOMAIN = 50, COOKIES_MOST = 3000, COOKIE_LINE = 8192 /* bytes of the cookies in one request */ };

typedef struct cookie_jar cookie_jar;

/* VIDI_OK or VIDI_EMEMORY. */
int cookie_jar_open(cookie_jar **made);
void cookie_jar_close(cookie_jar *jar);

/* Adds a cookie as the database has it. The context is the jar. VIDI_OK or VIDI_EMEMORY. */
int cookie_jar_load(void *context, const db_cookie *row);

/* Appends the header line for a request, "Cookie: a=1; b=2", with a zero byte; nothing if there are no cookies for it. */
int cookie_jar_line(cookie_jar *jar, vidi_str url, int64_t date, bytes *to);

/* A cookie that has changed. */
typedef struct cookie_change {
    struct cookie_change *next;
    db_cookie row; /* its texts are at the end of the struct */
    char text[];
} cookie_change;

/*
 * Takes the cookies out of a response's head, where their values are then replaced by asterisks, and puts copies of what
 * has changed before the others in the list. VIDI_OK or VIDI_EMEMORY.
 */
int cookie_jar_take(cookie_jar *jar, vidi_str url, int64_t date, bytes *head, cookie_change **changes);
void cookie_changes_free(cookie_change *changes);

#endif
