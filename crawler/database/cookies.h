/*
 * The cookies of a crawl in its database (--cookies): a row for each, which the last change of it has written. A change
 * that is committed after a newer one has no effect.
 */
#ifndef VIDI_CRAWLER_DATABASE_COOKIES_H
#define VIDI_CRAWLER_DATABASE_COOKIES_H

#include "crawler/database/database.h"

typedef struct db_cookie {
    vidi_str domain, path, name; /* with host_only, what tells it from others */
    bool host_only;              /* it is not for hosts below the domain */
    vidi_str value;
    int64_t expires; /* milliseconds since 1970; 0: it was deleted; negative: never */
    bool secure;
    uint64_t created, changed; /* by a counter */
} db_cookie;

/* Makes the table if there is none, and removes cookies that are over. Between db_begin and db_commit. */
int db_cookies_open(crawl_db *db, int64_t date);

/* Not 0 ends the walk and is returned. */
typedef int db_visit_cookie(void *context, const db_cookie *cookie);
int db_cookies_read(crawl_db *db, db_visit_cookie *visit, void *context);

int db_cookie_write(crawl_db *db, const db_cookie *cookie);

#endif
