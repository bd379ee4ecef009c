/*
 * The links of real pages, in $VIDI_TESTDATA/conformance, as another implementation of the HTML Standard, lexbor, finds
 * them: the same attributes with the same values in the same order.
 *
 * lexbor builds a tree and walks it, so it has links that the source does not have. The pages with such links are
 * listed in page_links_exceptions.txt, and no link of theirs may be missing for another reason than these:
 *
 *   copy    The page does not close an `a`, and the standard's tree has copies of it in the elements that follow. The
 *           link is there once more right after itself.
 *   empty   The attribute is empty, which means that there is nothing to load.
 *
 * usemap is not compared: it names a part of the same page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/html/html.h"
#include "crawler/html/page.h"
#include "support/check.h"
#include "support/env.h"
#include "support/json.h"

/* ---- the pages: a tar file, in memory ---- */

static char *pages;
static size_t pages_len;

static bool load_pages(void)
{
    char command[1024];
    size_t room = (size_t)64 << 20;
    snprintf(command, sizeof command, "zstdcat -- '%s/conformance/html_pages_A.tar.zst' 2>/dev/null", test_data());
    FILE *file = popen(command, "r");
    pages = malloc(room);
    pages_len = file && pages ? fread(pages, 1, room, file) : 0;
    return file && pclose(file) == 0 && pages_len > 0;
}

/* The contents of a file of the archive; files lie in the order in which they are asked for. */
static vidi_str find_page(const char *name)
{
    static size_t next;
    for (size_t turns = 0; turns < 2; turns++, next = 0)
        while (next + 512 <= pages_len && pages[next]) {
            const char *head = pages + next, *slash = strrchr(head, '/');
            size_t size = strtoul(head + 124, NULL, 8);
            next += 512 + (size + 511) / 512 * 512;
            if (slash && strcmp(slash + 1, name) == 0)
                return (vidi_str){head + 512, size};
        }
    return (vidi_str){NULL, 0};
}

typedef struct check_state {
    char *exceptions; /* the file */
    size_t links, pages, excepted, copies, empties;
} check_state;

static void write_link(FILE *to, const char *element, const char *attribute, vidi_str value)
{
    fprintf(to, "%s %s %.*s\n", element, attribute, (int)value.len, value.ptr);
}

/* Their list has attributes alone, not what CSS in one of them or in a `style` element names. */
static int take_link(void *context, const html_link *link)
{
    if (link->attribute[0] && strcmp(link->attribute, "style") != 0 && link->end)
        write_link(context, link->element, link->attribute, link->value);
    return 0;
}

static char *our_links(vidi_str bytes, vidi_str url)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    html_page *page;
    html_options options = {.url = url};
    assert_int_equal(html_page_open(&page, bytes, &options), VIDI_OK);
    assert_int_equal(html_page_links(page, HTML_LINKS | HTML_RESOURCES | HTML_FORMS, take_link, to), VIDI_OK);
    html_page_close(page);
    fclose(to);
    return text;
}

static void expect_link(check_state *s, FILE *to, json *j)
{
    json_enter(j, '[');
    json_text words[3] = {{NULL, 0}};
    for (size_t i = 0; json_more(j, ']'); i++) {
        if (i < 3)
            words[i] = json_string(j);
        else
            json_skip(j);
    }
    vidi_str value = {words[2].at, words[2].len};
    bool is_link = strcmp(words[1].at, "usemap") != 0; /* names a part of the same page */
    if (strcmp(words[0].at, "meta") == 0)
        is_link = html_refresh_url(value, &value);
    if (is_link)
        write_link(to, words[0].at, words[1].at, value);
    s->links++;
    for (size_t i = 0; i < 3; i++)
        free(words[i].at);
}

static char *their_links(check_state *s, json *j)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    json_enter(j, '[');
    while (json_more(j, ']'))
        expect_link(s, to, j);
    fclose(to);
    return text;
}

/* Takes a line off the start of the text; NULL at its end. */
static char *take_line(char **text)
{
    return *text && **text ? strsep(text, "\n") : NULL;
}

/* Walks through both lists. Lines of theirs that we lack are counted by reason. */
static void compare(check_state *s, const char *name, char *got, char *want)
{
    const char *last = "";
    char *ours = take_line(&got);
    for (char *line; (line = take_line(&want)); last = line) {
        if (ours && strcmp(ours, line) == 0)
            ours = take_line(&got);
        else if (strcmp(line, last) == 0)
            s->copies++;
        else if (line[strlen(line) - 1] == ' ')
            s->empties++;
        else
            fail_msg("%s: lacks <%s>, has <%s> instead", name, line, ours ? ours : "nothing");
    }
    check(!ours, "%s: has <%s> in addition", name, ours);
}

static bool is_listed(const check_state *s, const char *name)
{
    const char *found = strstr(s->exceptions, name);
    return found && (found == s->exceptions || found[-1] == '\n') && found[strlen(name)] == '\t';
}

static int check_page(void *context, vidi_str line)
{
    check_state *s = context;
    json j = {line.ptr, line.ptr + line.len, false};
    json_text file = {NULL, 0}, url = {NULL, 0};
    char *want = NULL;
    json_enter(&j, '{');
    while (json_more(&j, '}')) {
        json_text name = json_name(&j);
        if (strcmp(name.at, "file") == 0)
            file = json_string(&j);
        else if (strcmp(name.at, "page_url") == 0)
            url = json_string(&j);
        else if (strcmp(name.at, "links") == 0)
            want = their_links(s, &j);
        else
            json_skip(&j);
        free(name.at);
    }
    vidi_str bytes = find_page(file.at);
    check(bytes.ptr, "%s is not in the archive", file.at);
    char *got = our_links(bytes, (vidi_str){url.at, url.len});
    s->pages++;
    bool differs = strcmp(got, want) != 0;
    check(!differs || is_listed(s, file.at), "%s differs: got\n%s\ninstead of\n%s", file.at, got, want);
    check(differs || !is_listed(s, file.at), "%s is listed as an exception, but is the same", file.at);
    s->excepted += differs;
    compare(s, file.at, got, want);
    free(got);
    free(want);
    free(file.at);
    free(url.at);
    return 0;
}

static char *read_exceptions(void)
{
    char path[1024], *text = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/tests/crawler/html/page_links_exceptions.txt", getenv("VIDI_SOURCE"));
    FILE *file = fopen(path, "r");
    check(file, "%s cannot be read", path);
    assert_true(getdelim(&text, &room, 0, file) > 0);
    fclose(file);
    return text;
}

static void links_are_those_of_another_implementation(void **state)
{
    char path[1024];
    check_state s = {.links = 0};
    (void)state;
    if (!test_data() || !getenv("VIDI_SOURCE") || !load_pages())
        skip();
    s.exceptions = read_exceptions();
    snprintf(path, sizeof path, "%s/conformance/html_pages_A_links.jsonl.zst", test_data());
    assert_int_equal(test_corpus_read(path, check_page, &s), 0);
    print_message("# %zu pages, %zu links; %zu pages excepted for %zu copies and %zu empty attributes\n", s.pages,
                  s.links, s.excepted, s.copies, s.empties);
    assert_true(s.pages >= 1945 && s.links >= 76028);
    free(s.exceptions);
    free(pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_those_of_another_implementation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
