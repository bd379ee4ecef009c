/* Link graphs from lines of text: pages, links, hosts and seeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/urls/link_graph.h"
#include "support/check.h"
#include "support/runner.h"

/* Reads the lines, which end with NULL; the code of the last step. */
static int read_lines(lab_graph **graph, const char *const *lines)
{
    static const char *const file = "lines";
    assert_int_equal(lab_graph_make(graph, &file, 1), VIDI_OK);
    for (; *lines; lines++)
        assert_int_equal(lab_graph_add(*graph, (vidi_str){*lines, strlen(*lines)}), VIDI_OK);
    return lab_graph_end(*graph);
}

static uint32_t page_of(const lab_graph *graph, const char *url)
{
    for (uint32_t i = 0; i < graph->pages; i++)
        if (graph->texts.urls[i].len == strlen(url) && memcmp(graph->texts.urls[i].ptr, url, strlen(url)) == 0)
            return i;
    fail_msg("there is no page %s", url);
    return 0;
}

/* The targets of a page's links, each followed by a blank. */
static void must_link(const lab_graph *graph, const char *url, const char *wanted)
{
    char text[512] = "";
    uint32_t page = page_of(graph, url);
    for (uint64_t i = graph->first[page]; i < graph->first[page + 1]; i++) {
        vidi_str to = graph->texts.urls[graph->to[i]];
        strncat(text, to.ptr, to.len);
        strcat(text, " ");
    }
    check(strcmp(text, wanted) == 0, "%s links to '%s', not '%s'", url, text, wanted);
}

/* Relative links are resolved, fragments and spellings make no new page, and what is not of the web is left out. */
static void lines_become_pages_and_links(void **state)
{
    static const char *const lines[] = {"http://a.org/x/\t../y#part",
                                        "http://A.org:80/x/\thttp://b.org",
                                        "http://a.org/y\tmailto:c@d.org",
                                        "http://a.org/x/\tz#1",
                                        "http://a.org/y\thttp://[",
                                        "nothing\thttp://c.org/",
                                        "",
                                        "http://d.org/alone",
                                        "http://a.org/x/\tz#2",
                                        NULL};
    lab_graph *graph;
    (void)state;
    check(read_lines(&graph, lines) == VIDI_OK, "%s", vidi_message());
    assert_int_equal(graph->pages, 5);
    assert_int_equal(graph->hosts, 3);
    must_link(graph, "http://a.org/x/", "http://a.org/y http://b.org/ http://a.org/x/z http://a.org/x/z ");
    must_link(graph, "http://a.org/y", "");
    must_link(graph, "http://d.org/alone", "");
    assert_int_equal(graph->host[page_of(graph, "http://a.org/x/z")], graph->host[page_of(graph, "http://a.org/y")]);
    assert_int_not_equal(graph->host[page_of(graph, "http://b.org/")], graph->host[page_of(graph, "http://a.org/y")]);
    assert_string_equal(lab_graph_file(graph, 0), "lines");
    assert_null(lab_graph_file(graph, 1));
    lab_graph_free(graph);
}

/* Pages that only they themselves link to, and one page of each circle that nothing else leads to. */
static void seeds_reach_every_page(void **state)
{
    static const char *const lines[] = {
        "http://a/1\t2", "http://a/2\t3", "http://a/4\t5", "http://a/5\t4", "http://a/6\t6", "http://a/6\t3", NULL};
    lab_graph *graph;
    uint8_t reached[8];
    uint32_t queue[8];
    (void)state;
    assert_int_equal(read_lines(&graph, lines), VIDI_OK);
    assert_int_equal(graph->seed_count, 3);
    assert_int_equal(graph->seeds[0], page_of(graph, "http://a/1"));
    assert_int_equal(graph->seeds[1], page_of(graph, "http://a/6"));
    assert_int_equal(graph->seeds[2], page_of(graph, "http://a/4"));
    assert_int_equal(graph->at_once, 1);
    assert_int_equal(lab_graph_reached(graph, reached, queue), graph->pages);
    lab_graph_free(graph);
}

static void files_without_links_are_an_error(void **state)
{
    static const char *const lines[] = {"http://a/1", "http://a/2\tjavascript:void(0)", NULL};
    lab_graph *graph;
    (void)state;
    assert_int_equal(read_lines(&graph, lines), VIDI_EABSENT);
    check(strstr(vidi_message(), "tab"), "%s", vidi_message());
    lab_graph_free(graph);
    lab_graph_free(NULL);
}

/* Thousands of pages, so that all tables grow several times. */
static void large_graphs_keep_every_link(void **state)
{
    enum { PAGES = 5000 };
    char line[64];
    lab_graph *graph;
    const char *file = "-";
    (void)state;
    assert_int_equal(lab_graph_make(&graph, &file, 1), VIDI_OK);
    for (unsigned i = 0; i < 2 * PAGES; i++) {
        int length = snprintf(line, sizeof line, "http://host%u/%u\t/%u", i % 7, i % PAGES, i * 7 % PAGES);
        assert_int_equal(lab_graph_add(graph, (vidi_str){line, (size_t)length}), VIDI_OK);
    }
    assert_int_equal(lab_graph_end(graph), VIDI_OK);
    assert_int_equal(lab_graph_links(graph), 2 * PAGES);
    assert_int_equal(graph->hosts, 7);
    for (uint64_t i = 0; i < lab_graph_links(graph); i++)
        assert_true(graph->to[i] < graph->pages);
    must_link(graph, "http://host3/3", "http://host3/21 ");
    lab_graph_free(graph);
}

static void other_links_have_another_mark(void **state)
{
    static const char *const one[] = {"http://a/1\t2", "http://a/1\t3", NULL};
    static const char *const other[] = {"http://a/1\t2", "http://a/2\t3", NULL};
    lab_graph *a, *b, *c;
    (void)state;
    assert_int_equal(read_lines(&a, one), VIDI_OK);
    assert_int_equal(read_lines(&b, other), VIDI_OK);
    assert_int_equal(read_lines(&c, one), VIDI_OK);
    assert_int_equal(lab_graph_mark(a), lab_graph_mark(c));
    assert_int_not_equal(lab_graph_mark(a), lab_graph_mark(b));
    lab_graph_free(a);
    lab_graph_free(b);
    lab_graph_free(c);
}

int main(int argc, char **argv)
{
    test_add("lines become pages and links", lines_become_pages_and_links, NULL);
    test_add("seeds reach every page", seeds_reach_every_page, NULL);
    test_add("files without links are an error", files_without_links_are_an_error, NULL);
    test_add("large graphs keep every link", large_graphs_keep_every_link, NULL);
    test_add("other links have another mark", other_links_have_another_mark, NULL);
    return test_run("lab/engine/link_graph", argc, argv);
}
