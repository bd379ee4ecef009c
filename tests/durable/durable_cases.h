/*
 * Sets in folders for tests: the ways in which one may be used, and a folder with a set in it.
 */
#ifndef TESTS_DURABLE_DURABLE_CASES_H
#define TESTS_DURABLE_DURABLE_CASES_H

#include <string.h>

#include "support/access.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/urls.h"
#include "vidi/vidi.h"

/* Who commits, and when it is on disk. */
typedef struct test_mode {
    const char *name;
    unsigned flags;
} test_mode;

static const test_mode test_modes[] = {
    {"commit, once a second", VIDI_MANUAL_COMMIT},
    {"no commit, once a second", 0},
    {"commit, always", VIDI_MANUAL_COMMIT | TEST_SYNC_ALWAYS},
    {"no commit, always", TEST_SYNC_ALWAYS},
    {"commit, never", VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER},
    {"no commit, never", TEST_SYNC_NEVER},
};
enum { TEST_MODES = sizeof test_modes / sizeof *test_modes };

/* A folder of the test's own, the set in it, and room for copies beside it. */
typedef struct home {
    char above[TEST_PATH], path[TEST_PATH], copy[TEST_PATH];
    vidi_set *set;
} home;

static inline void home_begin(home *at)
{
    at->set = NULL;
    test_folder_new(at->above, false);
    test_path(at->path, at->above, "set");
    test_path(at->copy, at->above, "copy");
}

static inline void home_end(home *at)
{
    vidi_close(at->set);
    at->set = NULL;
    test_folder_remove(at->above);
}

static inline void home_create(home *at, const vidi_options *options, unsigned flags)
{
    vidi_options mine = *options;
    vidi_access access = VIDI_ACCESS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    test_key(key, 1);
    if (!mine.key && !mine.like)
        mine.key = key;
    if (options->access)
        access = *options->access;
    test_use(&mine, &access, flags | options->flags);
    mine.path = at->path;
    int result = vidi_create(&at->set, &mine);
    check(result == VIDI_OK && at->set, "%s %s: %d, %s", mine.kind ? mine.kind : "", mine.params ? mine.params : "",
          result, vidi_message());
}

static inline vidi_set *must_open(const char *path, unsigned flags)
{
    vidi_set *set = NULL;
    int result = test_open(&set, path, flags);
    check(result == VIDI_OK && set, "%s: %d, %s", path, result, vidi_message());
    return set;
}

static inline void home_reopen(home *at, unsigned flags)
{
    vidi_close(at->set);
    at->set = must_open(at->path, flags);
}

/* The set as it would be found if the process and the machine had ended now. */
static inline vidi_set *home_crashed(home *at, unsigned flags)
{
    test_folder_remove(at->copy);
    test_folder_copy(at->path, at->copy);
    return must_open(at->copy, flags);
}

/* A set of a kind with room for URLs that do not get lost. */
static inline void home_make(home *at, const char *kind, const char *params, unsigned flags)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = kind;
    options.params = params;
    options.capacity = 20000;
    options.error = 1e-9;
    home_begin(at);
    home_create(at, &options, flags);
}

static inline vidi_str nth(char *room, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, 77, index)};
}

static inline int add_nth(vidi_set *set, uint64_t index)
{
    char room[TEST_URL_ROOM];
    return vidi_add(set, nth(room, index));
}

static inline int has_nth(const vidi_set *set, uint64_t index)
{
    char room[TEST_URL_ROOM];
    return vidi_has(set, nth(room, index));
}

static inline int remove_nth(vidi_set *set, uint64_t index)
{
    char room[TEST_URL_ROOM];
    return vidi_remove(set, nth(room, index));
}

static inline uint64_t times_nth(const vidi_set *set, uint64_t index)
{
    char room[TEST_URL_ROOM];
    uint64_t times = UINT64_MAX;
    assert_int_equal(vidi_count(set, nth(room, index), &times), VIDI_OK);
    return times;
}

/* Adds first .. first + n - 1, each of which must get this verdict. */
static inline void add_all(vidi_set *set, uint64_t first, uint64_t n, int verdict)
{
    for (uint64_t i = first; i < first + n; i++) {
        int got = add_nth(set, i);
        check(got == verdict, "URL %llu was answered %d, not %d: %s", (unsigned long long)i, got, verdict,
              got < 0 ? vidi_message() : "");
    }
}

static inline void all_are(const vidi_set *set, uint64_t first, uint64_t n, int verdict)
{
    for (uint64_t i = first; i < first + n; i++) {
        int got = has_nth(set, i);
        check(got == verdict, "URL %llu is answered %d, not %d", (unsigned long long)i, got, verdict);
    }
}

static inline void must(int result)
{
    check(result == VIDI_OK, "%d: %s", result, vidi_message());
}

/* So many URLs that what a filter loses by chance is of no account. */
enum { ROOMY = 20000 };

/* Every kind as it is, and those that store every add; but not where some URLs are taken for each other on purpose. */
static inline bool is_modelled(const test_case *which)
{
    if (!which->params)
        return which->error == 0;
    return (which->traits & TEST_MULTISET) && !strstr(which->params, "width=2") && !strstr(which->params, "width=5") &&
           strcmp(which->kind, "scalable") != 0;
}

static inline bool has_statistics(const test_case *which)
{
    return !which->params || which->traits & TEST_MULTISET;
}

#endif
