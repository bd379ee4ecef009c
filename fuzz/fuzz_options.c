/*
 * Options from a careless or hostile caller: lines for kind, parameters, capacity, error rate, canonical form and
 * policy, then a list of tracking parameters. vidi_create must refuse them with a message, or make a set that works.
 * vidi_plan must refuse them, or return a plan.
 */
#include <string.h>

#include "fuzz.h"

#define TEXT_MAX 1024
#define MEMORY_LIMIT (UINT64_C(16) << 20)

/* Takes the next line off *rest. Returns NULL, which means the default, if it is empty or missing. */
static char *next_line(char **rest)
{
    char *line = strsep(rest, "\n");
    return line && *line ? line : NULL;
}

static void try_create(const vidi_options *options)
{
    vidi_set *set = NULL;
    if (vidi_create(&set, options) != VIDI_OK) {
        FUZZ_CHECK(!set);
        FUZZ_CHECK(*vidi_message());
        return;
    }
    fuzz_use(set);
    if (vidi_rotate(set, NULL) == VIDI_OK)
        fuzz_use(set);
    vidi_close(set);
}

static void try_plan(const vidi_options *options)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    want.kind = options->kind;
    want.params = options->params;
    want.urls = options->capacity;
    want.error = options->error;
    vidi_plan_entry plans[32];
    size_t n = FUZZ_COUNT(plans);
    if (vidi_plan(&want, plans, &n) != VIDI_OK)
        return;
    FUZZ_CHECK(n >= 1 && n <= FUZZ_COUNT(plans));
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(plans[i].error >= 0 && plans[i].error <= 1 && plans[i].expected_lost >= 0 &&
                   plans[i].expected_lost <= (double)plans[i].urls && plans[i].lines_per_url > 0 &&
                   memchr(plans[i].params, 0, sizeof plans[i].params));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1];
    if (size > TEXT_MAX)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;

    char *rest = text;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    options.access = &access;
    access.memory_limit = MEMORY_LIMIT;
    options.kind = next_line(&rest);
    options.params = next_line(&rest);
    const char *capacity = next_line(&rest), *error = next_line(&rest);
    if (capacity)
        options.capacity = strtoull(capacity, NULL, 0);
    if (error)
        options.error = strtod(error, NULL); /* including nan and inf */
    options.canon = next_line(&rest);
    const char *invalid = next_line(&rest);
    if (invalid)
        access.invalid = (uint32_t)strtoul(invalid, NULL, 0);
    options.tracking = rest && *rest ? rest : NULL;
    try_create(&options);
    try_plan(&options);
    return 0;
}
