/*
 * The published cases of html5lib for building trees, from $VIDI_TESTDATA/conformance/html5lib. We build no tree, but
 * we must know what is a tag and what is text: every element of the expected tree is a tag that we have read, unless
 * the standard makes it without one; and every start tag that we have read is an element, unless the standard ignores
 * it where it stands.
 *
 * Cases for parts of pages, and those in which scripts run, are passed over.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/html/context.h"
#include "support/check.h"
#include "support/env.h"

enum { NAMES_MAX = 256, NAME_ROOM = 64 };

typedef struct names {
    char list[NAMES_MAX][NAME_ROOM];
    size_t count;
} names;

static size_t cases, with_ignored;

static bool has(const names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], name) == 0)
            return true;
    return false;
}

static void add(names *names, const char *name, size_t len)
{
    char lower[NAME_ROOM];
    snprintf(lower, sizeof lower, "%.*s", (int)len, name);
    for (char *c = lower; *c; c++)
        *c = ascii_lower(*c);
    if (has(names, lower))
        return;
    assert_true(names->count < NAMES_MAX);
    memcpy(names->list[names->count++], lower, sizeof lower);
}

static bool is_one_of(const char *name, const char *words)
{
    char word[NAME_ROOM + 2];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(words, word) != NULL;
}

/* Elements that the standard makes without a tag; img is one for <image>. */
static const char made[] = " html head body tbody colgroup tr p br img ";

/* Tags that it ignores outside of a table, a frameset or a select, or when there is one already. */
static const char ignored[] =
    " html head body frameset frame caption col colgroup tbody thead tfoot tr td th form input "
    "image ";

static void read_tags(vidi_str page, names *tags)
{
    html_tokenizer t;
    html_token token;
    html_context context = {.depth = 0};
    enum html_element element;
    enum html_space space;
    assert_int_equal(html_tokenizer_open(&t, page), VIDI_OK);
    while (html_tokenizer_next(&t, &token) == VIDI_OK && token.type != HTML_END)
        if (token.type == HTML_START_TAG || token.type == HTML_END_TAG) {
            vidi_str name = html_piece_raw(&t, token.text);
            if (token.type == HTML_START_TAG)
                add(tags, name.ptr, name.len);
            assert_int_equal(html_context_follow(&context, &t, &token, &element, &space), VIDI_OK);
        }
    html_context_close(&context);
    html_tokenizer_close(&t);
}

/* Lines such as "|   <a>" and "|   <svg title>". */
static void read_elements(const char *tree, names *elements)
{
    for (const char *line = tree; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *at = line + 1 + strspn(line + 1, " "), *end = line + strcspn(line, "\n");
        if (*line != '|' || *at != '<' || at[1] == '!' || at[1] == '?' || end[-1] != '>')
            continue;
        at++;
        at += strncmp(at, "svg ", 4) == 0 ? 4 : strncmp(at, "math ", 5) == 0 ? 5 : 0;
        add(elements, at, (size_t)(end - at) - 1);
    }
}

/* In a page of frames, all that is not a frame is ignored; and in a column group, all that is not a column. */
static bool ignores_more(const names *tags, const char *page)
{
    return has(tags, "frameset") || strcmp(page, "<body><template><col><div>") == 0;
}

static void check_case(const char *file, vidi_str page, const char *tree)
{
    static names tags, elements;
    tags.count = elements.count = 0;
    char *text = strndup(page.ptr, page.len);
    read_tags(page, &tags);
    read_elements(tree, &elements);
    for (size_t i = 0; i < elements.count; i++)
        check(has(&tags, elements.list[i]) || is_one_of(elements.list[i], made), "%s: <%s>: read no tag %s", file, text,
              elements.list[i]);
    for (size_t i = 0; i < tags.count; i++)
        if (!has(&elements, tags.list[i])) {
            check(is_one_of(tags.list[i], ignored) || ignores_more(&tags, text), "%s: <%s>: read a tag %s", file, text,
                  tags.list[i]);
            with_ignored++;
        }
    cases++;
    free(text);
}

/* A case: "#data", the page, "#errors", …, "#document", the tree, an empty line. */
static void run_file(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    ssize_t len = getdelim(&text, &room, EOF, file);
    fclose(file);
    assert_true(len > 0);
    for (char *at = text; at && strncmp(at, "#data\n", 6) == 0;) {
        char *page = at + 6, *next = memmem(page, (size_t)(text + len - page), "\n\n#data\n", 8);
        char *end = next ? next : text + len;
        char *errors = memmem(page - 1, (size_t)(end - page) + 1, "\n#errors", 8);
        *end = 0;
        assert_non_null(errors);
        char *tree = strstr(errors, "\n#document\n");
        if (tree && !strstr(errors, "#document-fragment") && !strstr(errors, "#script-on"))
            check_case(strrchr(path, '/') + 1, (vidi_str){page, errors > page ? (size_t)(errors - page) : 0},
                       tree + 11);
        at = next ? next + 2 : NULL;
    }
    free(text);
}

static void tags_and_text_are_told_apart_as_in_the_standards_tree(void **state)
{
    char pattern[1024];
    glob_t found;
    (void)state;
    if (!test_data())
        skip();
    snprintf(pattern, sizeof pattern, "%s/conformance/html5lib/tree-construction/*.dat", test_data());
    if (glob(pattern, 0, NULL, &found) != 0)
        skip();
    for (size_t i = 0; i < found.gl_pathc; i++)
        run_file(found.gl_pathv[i]);
    globfree(&found);
    print_message("# %zu cases; %zu tags that the standard ignores\n", cases, with_ignored);
    assert_true(cases >= 1700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_and_text_are_told_apart_as_in_the_standards_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
