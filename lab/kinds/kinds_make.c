/* Sets of every kind with a given size. See kinds.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/kinds/kinds.h"

enum { FINGERPRINT_LEAST = 32, FINGERPRINT_MOST = 60 };

const char *const lab_kind_names[LAB_KINDS + 1] = {"fingerprint", "blocked",  "scalable", "classic", "spatial", "eigen",
                                                   "multilayer",  "counting", "hashset",  "sorted",  "list",    NULL};

static int plan_of(vidi_plan_entry *plan, vidi_plan_request *want)
{
    size_t count = 1;
    memset(plan, 0, sizeof *plan);
    return vidi_plan(want, plan, &count);
}

/*
 * With given memory, a plan uses all 60 bits of a fingerprint or does not fit; with a given error rate, as few as it
 * needs.
 */
static int plan_narrower(vidi_plan_entry *plan, const vidi_plan_request *within)
{
    vidi_plan_request want = *within;
    want.memory = 0;
    for (int bits = FINGERPRINT_MOST - 1; bits >= FINGERPRINT_LEAST; bits--) {
        want.error = ldexp((double)want.urls, -bits);
        LAB_TRY(plan_of(plan, &want));
        if (plan->bytes <= within->memory)
            return VIDI_OK;
    }
    return VIDI_EOPTION;
}

int lab_kind_plan(vidi_plan_entry *plan, bool *fits, const char *kind, uint64_t urls, double bits)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    want.kind = kind;
    want.urls = urls;
    want.memory = (uint64_t)((double)urls * bits / 8);
    int code = plan_of(plan, &want);
    if (code == VIDI_EOPTION && strcmp(kind, "fingerprint") == 0)
        code = plan_narrower(plan, &want);
    *fits = code == VIDI_OK;
    return code == VIDI_EOPTION ? VIDI_OK : code;
}

int lab_kind_plan_error(vidi_plan_entry *plan, const char *kind, uint64_t urls, double error)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    want.kind = kind;
    want.urls = urls;
    want.error = error;
    return plan_of(plan, &want);
}

int lab_kind_make(vidi_set **set, const vidi_plan_entry *plan, const lab_settings *settings, uint64_t run)
{
    return lab_set_make(set, settings, run, plan->kind, plan->params, plan->urls);
}

double lab_kind_number(const char *params, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = params; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return strtod(at + length + 1, NULL);
    return 0;
}
