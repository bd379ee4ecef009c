/*
 * A plan and the set made from it: whatever is asked for, the plan keeps it, and what the plan names can be made.
 */
#include <math.h>

#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"
#include "vidi/vidi.h"

/* From low to high, every power of ten as likely as the others. */
static double any_size(test_random *random, double low, double high)
{
    double share = (double)(test_next(random) >> 11) * 0x1p-53;
    return low * pow(high / low, share);
}

static void every_plan_can_be_made(void **state)
{
    static const char *const kinds[][2] = {
        {NULL, NULL},
        {NULL, NULL},
        {NULL, NULL},
        {"classic", NULL},
        {"classic", "mode=salted"},
        {"counting", "width=5"},
        {"multilayer", "L=3"},
        {"multilayer", "xor=address"},
        {"eigen", "g=ends"},
        {"eigen", "d=2"},
        {"spatial", "F=3"},
        {"spatial", "inner=counting"},
        {"spatial", "inner=eigen"},
        {"scalable", "growth=3"},
        {"scalable", "inner=counting"},
        {"scalable", "inner=spatial"},
        {"fingerprint", "multiset=on"},
        {"hashset", NULL},
        {"spatial", "inner=fingerprint"},
        {"scalable", "inner=fingerprint"},
        {"blocked", NULL},
        {"blocked", "lines=2"},
        {"spatial", "inner=blocked"},
        {"scalable", "inner=blocked"},
    };
    test_random random = {9};
    unsigned served = 0, made = 0;
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
        vidi_plan_entry plans[16];
        size_t n = 16, kind = test_below(&random, sizeof kinds / sizeof *kinds);
        unsigned given = 0;
        want.kind = kinds[kind][0];
        want.params = kinds[kind][1];
        unsigned numbers = 2 + (unsigned)test_below(&random, 2);
        while ((unsigned)__builtin_popcount(given) < numbers) {
            given |= 1u << test_below(&random, 6);
        }
        want.urls = given & 1 ? (uint64_t)any_size(&random, 1, 1e5) : 0;
        want.memory = given & 2 ? (uint64_t)any_size(&random, 200, 2e6) : 0;
        want.error = given & 4 ? any_size(&random, 1e-9, 0.9) : 0;
        want.lost = given & 8 ? any_size(&random, 1e-3, 1e3) : 0;
        want.k = given & 16 ? 1 + (uint32_t)test_below(&random, 24) : 0;
        want.multiplier = given & 32 ? any_size(&random, 0.5, 8) : 0;
        if (vidi_plan(&want, plans, &n) != VIDI_OK) {
            continue;
        }
        served++;
        for (size_t j = 0; j < n; j++) {
            check((want.error <= 0 || plans[j].error <= want.error) &&
                      (want.lost <= 0 || plans[j].expected_lost <= want.lost) &&
                      (!want.urls || plans[j].urls >= want.urls) && (!want.memory || plans[j].bytes <= want.memory),
                  "request %u: %s: error %.17g of %.17g, lost %.17g of %.17g", i, plans[j].kind, plans[j].error,
                  want.error, plans[j].expected_lost, want.lost);
            if (plans[j].bytes > 64 << 20) {
                continue; /* nobody said how many URLs, and it came to more than a test should take */
            }
            vidi_options options = VIDI_OPTIONS_INIT;
            vidi_set *set = NULL;
            options.kind = plans[j].kind;
            options.params = plans[j].params;
            int result = vidi_create(&set, &options);
            check(result == VIDI_OK,
                  "request %u (%s %s: urls %llu, memory %llu, error %g, lost %g, k %u, M %g): %s %s: %d, %s", i,
                  want.kind ? want.kind : "", want.params ? want.params : "", (unsigned long long)want.urls,
                  (unsigned long long)want.memory, want.error, want.lost, want.k, want.multiplier, plans[j].kind,
                  plans[j].params, result, vidi_message());
            made++;
            vidi_close(set);
        }
    }
    check(served >= 100 && made >= 200, "%u requests were served, %u sets made", served, made);
}

int main(int argc, char **argv)
{
    test_add("every plan can be made", every_plan_can_be_made, NULL);
    return test_run("planned", argc, argv);
}
