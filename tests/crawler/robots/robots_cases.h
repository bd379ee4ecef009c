/* Files and URLs written down in a test, and the answer for them. */
#ifndef TESTS_CRAWLER_ROBOTS_ROBOTS_CASES_H
#define TESTS_CRAWLER_ROBOTS_ROBOTS_CASES_H

#include <string.h>

#include "crawler/robots/robots.h"
#include "support/check.h"

static inline vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static inline robots *parsed(const char *file, const char *agent, bool lenient)
{
    robots *rules;
    robots_options options = {.agent = text_of(agent), .lenient = lenient};
    assert_int_equal(robots_parse(&rules, text_of(file), &options), VIDI_OK);
    return rules;
}

static inline bool allowed_if(const char *file, const char *agent, bool lenient, const char *url)
{
    robots *rules = parsed(file, agent, lenient);
    int verdict = robots_check(rules, text_of(url), NULL);
    assert_true(verdict == ROBOTS_ALLOWED || verdict == ROBOTS_DENIED);
    robots_free(rules);
    return verdict == ROBOTS_ALLOWED;
}

#define check_allowed(file, agent, url) check(allowed_if(file, agent, false, url), "%s is denied by\n%s", url, file)
#define check_denied(file, agent, url) check(!allowed_if(file, agent, false, url), "%s is allowed by\n%s", url, file)

#endif
