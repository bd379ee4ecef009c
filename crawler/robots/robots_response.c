/*
 * What the response to a request for /robots.txt means: RFC 9309, sections 2.3.1 and 2.4.
 *
 *     2xx                       read the file
 *     3xx                       follow, at most 5 times; then the file counts as missing
 *     4xx, but not 429          the file is missing: everything is allowed
 *     5xx, 429 and no answer    the file cannot be reached: nothing is allowed, or what the last copy said
 *     2xx, not decodable        as no answer: its Content-Encoding is broken or unknown
 *
 * 429 means that the server wants fewer requests. Reading that as "everything is allowed" would be the opposite.
 */
#include "crawler/robots/robots.h"

static robots_outcome when_unreachable(const robots_answer *answer)
{
    if (answer->has_cached)
        return ROBOTS_KEEP_CACHED;
    return answer->unreachable_for >= ROBOTS_GIVE_UP ? ROBOTS_ALLOW_ALL : ROBOTS_DENY_ALL;
}

robots_outcome robots_decide(const robots_answer *answer)
{
    int status = answer->status;

    if (status >= 200 && status < 300)
        return ROBOTS_READ;
    if (status >= 300 && status < 400)
        return answer->has_location && answer->redirects < ROBOTS_REDIRECTS ? ROBOTS_FOLLOW : ROBOTS_ALLOW_ALL;
    if (status >= 400 && status < 500 && status != 429)
        return ROBOTS_ALLOW_ALL;
    return when_unreachable(answer);
}

bool robots_is_stale(robots_outcome outcome, int64_t age)
{
    bool reached = outcome == ROBOTS_READ || outcome == ROBOTS_ALLOW_ALL;

    return outcome == ROBOTS_FOLLOW || age >= (reached ? ROBOTS_LIFETIME : ROBOTS_RETRY);
}
