/*
 * Streams with correct checksums that lie about filters inside of filters: members and stages that do not fit together,
 * of another number than is said, or nested too deep.
 */
#include <stdio.h>
#include <string.h>

#include "set/forged/forged_cases.h"
#include "support/runner.h"

static void the_count_of_a_member_is_the_number_of_its_urls(void **state)
{
    static const char *const exact_kinds[] = {"hashset", "list", "sorted"};
    static const char *const outer[] = {"spatial", "scalable"};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        char params[64];
        snprintf(params, sizeof params, "inner=%s", exact_kinds[i / 2]);
        test_forge forge = forge_of(outer[i % 2], params, 100, 0, 20);
        must_be_accepted(&forge, params);
        test_forge_filter member = test_forge_filter_at(&forge, test_forge_find(&forge).filter.contents + 8);
        refuse_number(&forge, member.count, 19, params);
        refuse_number(&forge, member.count, 21, params);
        refuse_number(&forge, member.contents, 21, params);
        refuse_number(&forge, member.contents, UINT64_C(1) << 50, params);
        test_forge_free(&forge);
    }
}

typedef struct recipe {
    const char *kind, *params;
    uint64_t capacity;
    double error;
} recipe;

enum { MOST_MEMBERS = 3 };

/* The set `outer`, but with these filters in it, after a number: the stages, or the questions without agreement. */
static test_forge assemble(const recipe *outer, uint64_t number, const recipe *const *inner, size_t n)
{
    test_forge forge = forge_of(outer->kind, outer->params, outer->capacity, outer->error, 5);
    test_forge_cut(&forge, test_forge_find(&forge).filter.contents);
    test_forge_append_u64(&forge, number);
    for (size_t i = 0; i < n; i++) {
        test_forge member = forge_of(inner[i]->kind, inner[i]->params, inner[i]->capacity, inner[i]->error, 5);
        size_t at = test_forge_find(&member).filter.kind;
        test_forge_append_from(&forge, &member, at);
        test_forge_free(&member);
    }
    return forge;
}

typedef struct pair {
    const char *promise;
    recipe outer, a, b;
} pair;

static void two_that_do_not_fit_are_refused(void **state)
{
    const pair *which = *state;
    const recipe *same[] = {&which->a, &which->a}, *mixed[] = {&which->a, &which->b},
                 *turned[] = {&which->b, &which->a};
    uint64_t number = strcmp(which->outer.kind, "scalable") == 0 ? 2 : 0;
    test_forge forge = assemble(&which->outer, number, same, 2);
    must_be_accepted(&forge, which->a.params);
    test_forge_free(&forge);
    forge = assemble(&which->outer, number, mixed, 2);
    must_be_refused(&forge, which->b.params, 0);
    test_forge_free(&forge);
    forge = assemble(&which->outer, number, turned, 2);
    must_be_refused(&forge, which->b.params, 1);
    test_forge_free(&forge);
}

#define SPATIAL(params)                                                                                                \
    {                                                                                                                  \
        "spatial", params, 0, 0                                                                                        \
    }
#define SCALABLE(params)                                                                                               \
    {                                                                                                                  \
        "scalable", params, 50, 0.01                                                                                   \
    }

static const pair pairs[] = {
    {"spatial: a member of another kind",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"counting", "m=1000,k=3", 0, 0}},
    {"spatial: a member that keeps URLs",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"hashset", NULL, 0, 0}},
    {"spatial: multilayer L=16 next to L=1",
     SPATIAL("F=2,inner=multilayer,m=1000,k=3,L=16"),
     {"multilayer", "m=1000,k=3,L=16", 0, 0},
     {"multilayer", "m=1000,k=3,L=1", 0, 0}},
    {"spatial: multilayer that strips the scheme next to one that keeps it",
     SPATIAL("F=2,inner=multilayer,m=1000,k=3,scheme=keep"),
     {"multilayer", "m=1000,k=3,scheme=keep", 0, 0},
     {"multilayer", "m=1000,k=3,scheme=strip", 0, 0}},
    {"spatial: classic of=url next to of=segments",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"classic", "m=1000,k=3,of=segments", 0, 0}},
    {"spatial: classic derived next to salted",
     SPATIAL("F=2,inner=classic,m=1000,k=3"),
     {"classic", "m=1000,k=3", 0, 0},
     {"classic", "m=1000,k=3,mode=salted", 0, 0}},
    {"spatial: eigen g=tail next to g=ends",
     SPATIAL("F=2,inner=eigen,m=1000,k=3,g=tail"),
     {"eigen", "m=1000,k=3,g=tail", 0, 0},
     {"eigen", "m=1000,k=3,g=ends", 0, 0}},
    {"spatial: spatial of hashset next to spatial of classic",
     SPATIAL("F=2,inner=spatial,inner.F=2,inner.inner=hashset"),
     {"spatial", "F=2,inner=hashset", 0, 0},
     {"spatial", "F=2,inner=classic,m=1000,k=3", 0, 0}},
    {"spatial: spatial of counting next to spatial of classic",
     SPATIAL("F=2,inner=spatial,inner.F=2,inner.inner=counting,m=1000,k=3"),
     {"spatial", "F=2,inner=counting,m=1000,k=3", 0, 0},
     {"spatial", "F=2,inner=classic,m=1000,k=3", 0, 0}},
    {"scalable: a stage of another kind",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"counting", "k=3", 50, 0.005}},
    {"scalable: a stage that keeps URLs",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"hashset", NULL, 0, 0}},
    {"scalable: multilayer L=16 next to L=1",
     SCALABLE("inner=multilayer,k=3,L=16"),
     {"multilayer", "k=3,L=16", 50, 0.005},
     {"multilayer", "k=3,L=1", 50, 0.005}},
    {"scalable: classic of=url next to of=segments",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"classic", "k=3,of=segments", 50, 0.005}},
    {"scalable: classic derived next to salted",
     SCALABLE("inner=classic,k=3"),
     {"classic", "k=3", 50, 0.005},
     {"classic", "k=3,mode=salted", 50, 0.005}},
    {"scalable: eigen g=tail next to g=ends",
     SCALABLE("inner=eigen,k=3,g=tail"),
     {"eigen", "k=3,g=tail", 50, 0.005},
     {"eigen", "k=3,g=ends", 50, 0.005}},
    {"scalable: spatial of hashset next to spatial of classic",
     SCALABLE("inner=spatial,inner.inner=hashset"),
     {"spatial", "F=2,inner=hashset", 50, 0.005},
     {"spatial", "F=2,inner=classic,k=3", 50, 0.005}},
};

static void the_number_of_stages_or_members_is_theirs(void **state)
{
    (void)state;
    test_forge forge = forge_of("scalable", "inner=classic,k=3", 50, 0.01, 20);
    size_t at = test_forge_find(&forge).filter.contents;
    assert_int_equal(test_forge_get(&forge, at), 1);
    refuse_number(&forge, at, 0, "stages");
    refuse_number(&forge, at, 2, "stages");
    refuse_number(&forge, at, 64, "stages");
    refuse_number(&forge, at, 65, "stages");
    refuse_number(&forge, at, UINT64_C(1) << 32 | 1, "stages");
    refuse_number(&forge, at, UINT64_MAX, "stages");
    test_forge_free(&forge);

    static const char *const members[] = {"0", "1", "3", "16", "17", "4294967298"};
    forge = forge_of("spatial", "F=2,m=1000,k=3", 0, 0, 20);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        test_forge lie;
        test_forge_copy(&lie, &forge);
        test_forge_param(&lie, test_forge_find(&lie).filter.kind, "F", members[i]);
        must_be_refused(&lie, members[i], i);
        test_forge_free(&lie);
    }
    test_forge_free(&forge);
}

/* Puts so many more filters with one inside around the filter, each of the kind `outer`. */
static void wrap(test_forge *forge, const char *outer, const char *params, uint64_t number, unsigned times)
{
    test_forge around = {0};
    test_forge_filter inner = test_forge_find(forge).filter;
    uint64_t capacity = test_forge_get(forge, inner.capacity), error = test_forge_get(forge, inner.error);
    uint64_t count = test_forge_get(forge, inner.count);
    for (unsigned i = 0; i < times; i++) {
        test_forge_append_text(&around, outer);
        test_forge_append_text(&around, params);
        test_forge_append_u64(&around, capacity);
        test_forge_append_u64(&around, error);
        test_forge_append_u64(&around, count);
        test_forge_append_u64(&around, number);
    }
    test_forge_replace(forge, inner.kind, 0, around.bytes, around.size);
    test_forge_free(&around);
}

static void three_levels_are_the_deepest(void **state)
{
    static const unsigned more[] = {1, 2, 3, 50, 5000};
    (void)state;
    test_forge spatial =
        forge_of("spatial",
                 "F=1,inner=spatial,inner.F=1,inner.inner=spatial,inner.inner.F=1,inner.inner.inner=classic,m=1000,k=3",
                 0, 0, 20);
    test_forge scalable =
        forge_of("scalable", "inner=scalable,inner.inner=scalable,inner.inner.inner=classic,k=3", 50, 0.01, 20);
    must_be_accepted(&spatial, "spatial, three levels");
    must_be_accepted(&scalable, "scalable, three levels");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        test_forge lie;
        test_forge_copy(&lie, &spatial);
        wrap(&lie, "spatial", "F=1,eager=off,inner=spatial", 0, more[i]);
        must_be_refused(&lie, "spatial, levels more", more[i]);
        test_forge_free(&lie);
        test_forge_copy(&lie, &scalable);
        wrap(&lie, "scalable", "growth=2,tighten=0.5,inner=scalable", 1, more[i]);
        must_be_refused(&lie, "scalable, levels more", more[i]);
        test_forge_free(&lie);
    }
    test_forge_free(&spatial);
    test_forge_free(&scalable);
}

int main(int argc, char **argv)
{
    test_add("the count of a member is the number of its URLs", the_count_of_a_member_is_the_number_of_its_urls, NULL);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char promise[200];
        snprintf(promise, sizeof promise, "two that do not fit are refused: %s", pairs[i].promise);
        test_add(promise, two_that_do_not_fit_are_refused, &pairs[i]);
    }
    test_add("the number of stages or members is theirs", the_number_of_stages_or_members_is_theirs, NULL);
    test_add("three levels are the deepest", three_levels_are_the_deepest, NULL);
    return test_run("forged nested", argc, argv);
}
