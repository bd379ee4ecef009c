/* The URLs of the experiments on further work: how many, and the largest site among them. See further.h. */
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/further.h"

enum { FEW = 4000 };

uint64_t lab_further_urls(const lab_settings *settings, uint64_t part)
{
    return lab_urls_part(settings, part, FEW);
}

typedef struct hosted {
    uint64_t host, index;
} hosted;

/* A number that is the same for URLs of the same host. */
static uint64_t host_of(vidi_str url)
{
    uint64_t number = 0;
    const char *end = url.ptr + url.len, *at = url.ptr;
    for (const char *i = at; i + 3 <= end && *i != '/'; i++)
        if (memcmp(i, "://", 3) == 0) {
            at = i + 3;
            break;
        }
    for (; at < end && *at != '/'; at++)
        number = number * UINT64_C(0x9e3779b97f4a7c15) + (unsigned char)*at + 1;
    return number;
}

static int by_host(const void *a, const void *b)
{
    const hosted *one = a, *other = b;
    if (one->host != other->host)
        return one->host < other->host ? -1 : 1;
    return (one->index > other->index) - (one->index < other->index);
}

typedef struct group {
    size_t first, count;
} group;

static int by_count(const void *a, const void *b)
{
    const group *one = a, *other = b;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    return (one->first > other->first) - (one->first < other->first);
}

static size_t find_groups(const hosted *all, size_t count, group *groups)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || all[i].host != all[i - 1].host)
            groups[found++] = (group){i, 0};
        groups[found - 1].count++;
    }
    qsort(groups, found, sizeof *groups, by_count);
    return found;
}

int lab_site_choose(const lab_texts *texts, uint64_t wanted, vidi_str *site)
{
    hosted *all;
    group *groups;
    uint64_t taken = 0;
    LAB_BLOCK;
    LAB_TRY(LAB_NEW(all, texts->count));
    LAB_TRY(LAB_NEW(groups, texts->count));
    for (uint64_t i = 0; i < texts->count; i++)
        all[i] = (hosted){host_of(texts->urls[i]), i};
    qsort(all, texts->count, sizeof *all, by_host);
    size_t found = find_groups(all, texts->count, groups);
    for (size_t i = 0; i < found && taken < wanted; i++)
        for (size_t j = 0; j < groups[i].count && taken < wanted; j++)
            site[taken++] = texts->urls[all[groups[i].first + j].index];
    if (taken == wanted)
        return VIDI_OK;
    return lab_fail(VIDI_EARGUMENT, "there are fewer than %llu URLs to choose from", (unsigned long long)wanted);
}
