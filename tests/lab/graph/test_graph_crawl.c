/*
 * Crawls over link graphs: tiny ones whose missing pages are known, random ones checked by code written apart, and
 * faults planted into the results. A page is lost by adding it to an exact set before the crawl begins.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"
#include "support/check.h"
#include "support/runner.h"

enum { PAGES_MOST = 40, LINKS_MOST = 400 };

/* A graph in fixed arrays, whose pages have names of one letter. */
typedef struct small {
    lab_graph graph;
    uint64_t first[PAGES_MOST + 1];
    uint32_t to[LINKS_MOST], host[PAGES_MOST], seeds[PAGES_MOST];
    vidi_str urls[PAGES_MOST];
    char names[PAGES_MOST];
} small;

static void set_up(small *made, uint32_t pages, uint32_t seeds, uint32_t at_once)
{
    memset(made, 0, sizeof *made);
    made->graph = (lab_graph){.pages = pages,
                              .hosts = 1,
                              .first = made->first,
                              .to = made->to,
                              .host = made->host,
                              .seeds = made->seeds,
                              .seed_count = seeds,
                              .at_once = at_once,
                              .texts = {.urls = made->urls, .count = pages}};
    for (uint32_t i = 0; i < pages; i++) {
        made->names[i] = (char)('A' + i);
        made->urls[i] = (vidi_str){&made->names[i], 1};
        made->seeds[i] = i;
    }
}

/* "AB AC BD": links in the order of their pages, from A to B and so on. The seeds are the first pages. */
static void draw(small *made, uint32_t pages, uint32_t seeds, const char *links)
{
    uint64_t count = 0;
    set_up(made, pages, seeds, seeds);
    for (const char *at = links; *at; at += at[2] ? 3 : 2) {
        made->to[count++] = (uint32_t)(at[1] - 'A');
        made->first[at[0] - 'A' + 1] = count;
    }
    for (uint32_t i = 1; i <= pages; i++)
        if (made->first[i] == 0)
            made->first[i] = made->first[i - 1];
}

/* The crawl in which the set takes the pages with a letter in `lose` for seen. */
static lab_crawl crawl_losing(const small *small, lab_order order, const char *lose)
{
    lab_crawl crawl;
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = "hashset";
    options.canon = "none";
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    for (; *lose; lose++)
        assert_int_equal(vidi_add(set, (vidi_str){lose, 1}), VIDI_NEW);
    check(lab_crawl_run(&crawl, &small->graph, order, set) == VIDI_OK, "%s", vidi_message());
    vidi_close(set);
    return crawl;
}

/* The pages that were met, in their order; lost ones in lower case. */
static const char *story_of(const lab_crawl *crawl, char text[PAGES_MOST + 1])
{
    for (uint32_t i = 0; i < crawl->met_count; i++)
        text[i] = (char)((crawl->lost[crawl->met[i]] ? 'a' : 'A') + crawl->met[i]);
    text[crawl->met_count] = 0;
    return text;
}

static void must_tell(const small *small, lab_order order, const char *lose, const char *story)
{
    LAB_BLOCK;
    char text[PAGES_MOST + 1];
    lab_crawl crawl = crawl_losing(small, order, lose);
    check(strcmp(story_of(&crawl, text), story) == 0, "order %d without %s: %s, not %s", (int)order, lose, text, story);
}

/* ---- tiny graphs ---- */

static void a_chain_ends_where_a_page_is_lost(void **state)
{
    small chain;
    (void)state;
    draw(&chain, 5, 1, "AB BC CD DE");
    for (unsigned order = 0; order < LAB_ORDERS; order++) {
        must_tell(&chain, (lab_order)order, "", "ABCDE");
        must_tell(&chain, (lab_order)order, "B", "Ab");
        must_tell(&chain, (lab_order)order, "E", "ABCDe");
        must_tell(&chain, (lab_order)order, "A", "a");
    }
}

static void a_ray_of_a_star_costs_itself_alone(void **state)
{
    small star;
    (void)state;
    draw(&star, 5, 1, "AB AC AD AE");
    for (unsigned order = 0; order < LAB_ORDERS; order++) {
        must_tell(&star, (lab_order)order, "C", "ABcDE");
        must_tell(&star, (lab_order)order, "BCDE", "Abcde");
    }
}

/* E is found through C if B is lost, and only if both are lost is it not. */
static void a_page_with_two_ways_to_it_is_missing_if_both_are_cut(void **state)
{
    small diamond;
    (void)state;
    draw(&diamond, 5, 1, "AB AC BE CE ED");
    for (unsigned order = 0; order < LAB_ORDERS; order++) {
        must_tell(&diamond, (lab_order)order, "B", "AbCED");
        must_tell(&diamond, (lab_order)order, "C", "ABcED");
        must_tell(&diamond, (lab_order)order, "BC", "Abc");
        must_tell(&diamond, (lab_order)order, "E", "ABCe");
    }
}

/* Links to itself and repeated links are asked and change nothing; a lost page stays lost however often it is met. */
static void repeated_links_change_nothing(void **state)
{
    LAB_BLOCK;
    small loops;
    (void)state;
    draw(&loops, 3, 1, "AA AB AB AC BB BA CB CB");
    must_tell(&loops, LAB_BREADTH_FIRST, "", "ABC");
    must_tell(&loops, LAB_BREADTH_FIRST, "B", "AbC");
    lab_crawl crawl = crawl_losing(&loops, LAB_BREADTH_FIRST, "B");
    assert_int_equal(crawl.asked, 1 + 4 + 2); /* the seed, the links of A, the links of C */
    assert_int_equal(crawl.lost_count, 1);
}

/* The second seed comes when nothing is left to fetch, unless it is given at the start. */
static void seeds_come_at_the_start_or_when_nothing_is_left(void **state)
{
    small two;
    (void)state;
    draw(&two, 5, 2, "AC BE CD");
    must_tell(&two, LAB_BREADTH_FIRST, "", "ABCED");
    two.graph.at_once = 1;
    must_tell(&two, LAB_BREADTH_FIRST, "", "ACDBE");
    must_tell(&two, LAB_BREADTH_FIRST, "B", "ACDb");
}

/* ---- orders ---- */

/* Pages A to D are on the first host, E and F on the second, G on the third; each is known by its child. */
static void hosts_take_turns(void **state)
{
    small made;
    (void)state;
    draw(&made, 14, 7, "AH BI CJ DK EL FM GN");
    memcpy(made.host, (const uint32_t[]){0, 0, 0, 0, 1, 1, 2}, 7 * sizeof *made.host);
    made.graph.hosts = 3;
    must_tell(&made, LAB_BREADTH_FIRST, "", "ABCDEFGHIJKLMN");
    /* In turn: A E G, then B F, then C, then D; the children are on the first host. */
    must_tell(&made, LAB_PER_HOST, "", "ABCDEFGHLNIMJK");
}

/* D is linked three times before its turn comes, C twice. */
static void pages_with_more_links_come_first(void **state)
{
    small made;
    (void)state;
    draw(&made, 7, 1, "AB AC AD AC AD AD BE CF DG");
    must_tell(&made, LAB_BREADTH_FIRST, "", "ABCDEFG");
    must_tell(&made, LAB_BEST_FIRST, "", "ABCDGFE");
}

/* ---- random graphs, and a checker written apart ---- */

/* Small numbers that look random. */
static uint32_t next_number(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static void draw_random(small *made, uint64_t *state)
{
    uint32_t pages = 5 + next_number(state, PAGES_MOST - 5), density = 1 + next_number(state, 4);
    set_up(made, pages, 1 + next_number(state, 3), 1);
    made->graph.at_once = 1 + next_number(state, made->graph.seed_count);
    made->graph.hosts = 3;
    uint64_t count = 0;
    for (uint32_t page = 0; page < pages; page++) {
        made->host[page] = next_number(state, 3);
        for (uint32_t i = next_number(state, 2 * density + 1); i > 0 && count < LINKS_MOST; i--)
            made->to[count++] = next_number(state, pages);
        made->first[page + 1] = count;
    }
}

/* What a crawl must meet if these pages are lost: repeated until nothing changes, and not by a queue. */
static void must_meet(const lab_graph *graph, const bool *lost, bool *met)
{
    bool changed = true;
    memset(met, 0, PAGES_MOST * sizeof *met);
    for (uint32_t i = 0; i < graph->seed_count; i++)
        met[graph->seeds[i]] = true;
    while (changed) {
        changed = false;
        for (uint32_t page = 0; page < graph->pages; page++)
            for (uint64_t i = graph->first[page]; i < graph->first[page + 1] && met[page] && !lost[page]; i++) {
                changed |= !met[graph->to[i]];
                met[graph->to[i]] = true;
            }
    }
}

/* What is wrong with a crawl; NULL: nothing. */
static const char *fault_of(const lab_crawl *crawl, const lab_graph *graph, const bool *lost)
{
    bool met[PAGES_MOST];
    uint64_t asked = graph->seed_count, count = 0, lost_count = 0;
    must_meet(graph, lost, met);
    for (uint32_t page = 0; page < graph->pages; page++) {
        bool was_met = crawl->position[page] != LAB_NEVER_MET;
        count += was_met;
        lost_count += crawl->lost[page];
        if (was_met != met[page])
            return was_met ? "a page was met that no fetched page links to" : "a page was not met";
        if (was_met && (crawl->position[page] >= crawl->met_count || crawl->met[crawl->position[page]] != page))
            return "a page is not at its position";
        if (crawl->lost[page] != (was_met && lost[page]))
            return "a page is wrongly called lost";
        if (was_met && !lost[page])
            asked += graph->first[page + 1] - graph->first[page];
    }
    return crawl->met_count != count         ? "the number of pages met is wrong"
           : crawl->lost_count != lost_count ? "the number of pages lost is wrong"
           : crawl->asked != asked           ? "the number of links asked is wrong"
                                             : NULL;
}

static void choose_losses(const small *made, uint64_t *state, bool *lost, char *letters)
{
    memset(lost, 0, PAGES_MOST * sizeof *lost);
    for (uint32_t page = 0; page < made->graph.pages; page++)
        if ((lost[page] = next_number(state, 5) == 0))
            *letters++ = made->names[page];
    *letters = 0;
}

static void random_crawls_meet_what_they_must(void **state)
{
    LAB_BLOCK;
    uint64_t random = 11;
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        small made;
        bool lost[PAGES_MOST];
        char letters[PAGES_MOST + 1];
        draw_random(&made, &random);
        choose_losses(&made, &random, lost, letters);
        for (unsigned order = 0; order < LAB_ORDERS; order++) {
            lab_crawl crawl = crawl_losing(&made, (lab_order)order, letters);
            const char *fault = fault_of(&crawl, &made.graph, lost);
            check(!fault, "graph %u, order %u: %s", round, order, fault);
        }
    }
}

/* The checker above finds each fault that a crawl could have. */
static void planted_faults_are_noticed(void **state)
{
    LAB_BLOCK;
    small made;
    bool lost[PAGES_MOST] = {false, true};
    (void)state;
    draw(&made, 5, 1, "AB AC BD CE");
    lab_crawl crawl = crawl_losing(&made, LAB_BREADTH_FIRST, "B");
    assert_null(fault_of(&crawl, &made.graph, lost));
    crawl.asked++; /* a link was asked again */
    assert_non_null(fault_of(&crawl, &made.graph, lost));
    crawl.asked--;
    crawl.met[crawl.met_count++] = 2; /* a page was counted twice */
    assert_non_null(fault_of(&crawl, &made.graph, lost));
    crawl.met_count--;
    crawl.met[crawl.met_count] = 3; /* the links of the lost page were followed */
    crawl.position[3] = crawl.met_count++;
    assert_non_null(fault_of(&crawl, &made.graph, lost));
    crawl.met_count--;
    crawl.position[3] = LAB_NEVER_MET;
    crawl.lost[1] = 0;
    assert_non_null(fault_of(&crawl, &made.graph, lost));
}

/* ---- dominators ---- */

/* Whether every way from the seeds to a page leads through another: the page is not met if that one is lost. */
static bool dominates(const lab_graph *graph, uint32_t other, uint32_t page)
{
    bool lost[PAGES_MOST] = {false}, met[PAGES_MOST];
    lost[other] = true;
    must_meet(graph, lost, met);
    return !met[page];
}

static void dominators_are_the_pages_that_cut_others_off(void **state)
{
    LAB_BLOCK;
    uint64_t random = 5;
    size_t pairs = 0;
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        small made;
        uint32_t dominator[PAGES_MOST];
        draw_random(&made, &random);
        lab_crawl exact;
        assert_int_equal(lab_crawl_run(&exact, &made.graph, LAB_BREADTH_FIRST, NULL), VIDI_OK);
        assert_int_equal(lab_graph_dominators(dominator, &made.graph, &exact), VIDI_OK);
        for (uint32_t page = 0; page < made.graph.pages; page++) {
            bool above[PAGES_MOST] = {false};
            if (exact.position[page] == LAB_NEVER_MET)
                continue;
            for (uint32_t at = dominator[page]; at != LAB_NEVER_MET; at = dominator[at])
                above[at] = true;
            for (uint32_t other = 0; other < made.graph.pages; other++) {
                bool wanted =
                    other != page && exact.position[other] != LAB_NEVER_MET && dominates(&made.graph, other, page);
                check(above[other] == wanted, "graph %u: %u above %u: %d", round, other, page, above[other]);
                pairs += wanted;
            }
        }
    }
    check(pairs > 1000, "only %zu pages have dominators", pairs);
}

/* A chain of three: B is lost with P_1, C with P_2 if it is met. */
static void what_is_expected_of_a_chain_follows_by_hand(void **state)
{
    LAB_BLOCK;
    small chain;
    uint32_t dominator[3];
    double reached[3];
    lab_graph_filter filter = {2, 4};
    (void)state;
    draw(&chain, 3, 1, "AB BC");
    lab_crawl exact;
    assert_int_equal(lab_crawl_run(&exact, &chain.graph, LAB_PER_HOST, NULL), VIDI_OK);
    assert_int_equal(lab_graph_dominators(dominator, &chain.graph, &exact), VIDI_OK);
    lab_graph_expected expected = lab_graph_expect(dominator, &exact, filter, 3, reached);
    double p = lab_graph_loss(filter, 3, 1), q = lab_graph_loss(filter, 3, 2);
    assert_true(lab_graph_loss(filter, 3, 0) <= 0 && 0 < p && p < q && q < 1);
    assert_true(fabs(expected.lost - (p + (1 - p) * q)) < 1e-12);
    assert_true(fabs(expected.missing - (p + 1 - (1 - p) * (1 - q))) < 1e-12);
    assert_true(fabs(reached[2] - (1 - p) * (1 - q)) < 1e-12);
}

int main(int argc, char **argv)
{
    test_add("a chain ends where a page is lost", a_chain_ends_where_a_page_is_lost, NULL);
    test_add("a ray of a star costs itself alone", a_ray_of_a_star_costs_itself_alone, NULL);
    test_add("a page with two ways to it is missing if both are cut",
             a_page_with_two_ways_to_it_is_missing_if_both_are_cut, NULL);
    test_add("repeated links change nothing", repeated_links_change_nothing, NULL);
    test_add("seeds come at the start or when nothing is left", seeds_come_at_the_start_or_when_nothing_is_left, NULL);
    test_add("hosts take turns", hosts_take_turns, NULL);
    test_add("pages with more links come first", pages_with_more_links_come_first, NULL);
    test_add("random crawls meet what they must", random_crawls_meet_what_they_must, NULL);
    test_add("planted faults are noticed", planted_faults_are_noticed, NULL);
    test_add("dominators are the pages that cut others off", dominators_are_the_pages_that_cut_others_off, NULL);
    test_add("what is expected of a chain follows by hand", what_is_expected_of_a_chain_follows_by_hand, NULL);
    return test_run("lab/graph/crawl", argc, argv);
}
