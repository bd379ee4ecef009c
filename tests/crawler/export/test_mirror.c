/*
 * A mirror of a test site, checked against the truth: the checker follows every link on disk. Each page says its own
 * URL in a comment, so the checker knows which page a file has without knowing how files are named.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crawler/export/export.h"
#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/check.h"

enum { PATH_ROOM = 4096 };

typedef struct town {
    site *web;
    crawling crawl;
    char mirror[TEST_PATH];
    char why[EXPORT_WHY];
    export_result result;
} town;

/* Every page says who it is. */
static void sign(site *web)
{
    for (size_t i = 0; i < web->page_count; i++)
        if (web->pages[i]->answer.status == 200 && !web->pages[i]->answer.body && !web->pages[i]->apart)
            site_say(web->pages[i], "<!--me:%s-->", web->pages[i]->url);
}

static void crawl_it(town *here, site_page *const *seeds, size_t count)
{
    sign(here->web);
    crawling_begin(&here->crawl, seeds, count);
    site_serve(here->web);
    crawling_must(&here->crawl, CRAWL_DONE);
    site_stop(here->web);
    site_walk(here->web, seeds, count, -1);
    test_path(here->mirror, here->crawl.folder, "mirror");
}

static int extract(town *here, const char *to, bool rewrite)
{
    export_options options = {.folder = here->crawl.state, .to = to, .rewrite = rewrite};

    assert_int_equal(report_open(&options.report, here->crawl.state, here->why), VIDI_OK);
    int error = export_mirror(&options, &here->result, here->why);
    report_close(options.report);
    return error;
}

static int remove_one(const char *path, const struct stat *about, int flag, struct FTW *where)
{
    (void)about, (void)flag, (void)where;
    return remove(path);
}

static void end(town *here)
{
    nftw(here->mirror, remove_one, 16, FTW_PHYS | FTW_DEPTH); /* its paths are longer than those of other tests */
    crawling_end(&here->crawl);
    site_close(here->web);
}

/* ---- files ---- */

static char *load(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NOFOLLOW);

    if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    char *text = malloc((size_t)about.st_size + 1);
    ssize_t got = read(fd, text, (size_t)about.st_size);
    text[got > 0 ? got : 0] = 0;
    close(fd);
    return text;
}

/* The page that a file has; NULL: none of the site's. */
static site_page *page_in(const town *here, const char *text)
{
    const char *me = text ? strstr(text, "<!--me:") : NULL;
    const char *end_of_it = me ? strstr(me, "-->") : NULL;
    char url[2000];

    if (!end_of_it)
        return NULL;
    snprintf(url, sizeof url, "%.*s", (int)(end_of_it - me - 7), me + 7);
    return site_find_url(here->web, url);
}

/* ---- links ---- */

/* Decodes the few character references that a rewritten value can have. */
static void decode_references(char *text)
{
    char *to = text;

    for (char *at = text; *at; to++) {
        int code, length = 0;
        if (strncmp(at, "&amp;", 5) == 0) {
            *to = '&';
            at += 5;
        } else if (sscanf(at, "&#%d;%n", &code, &length) == 1 && length) {
            *to = (char)code;
            at += length;
        } else
            *to = *at++;
    }
    *to = 0;
}

static void decode_percent(char *text)
{
    char *to = text;
    unsigned code;

    for (char *at = text; *at; to++) {
        if (*at == '%' && sscanf(at + 1, "%2x", &code) == 1) {
            *to = (char)code;
            at += 3;
        } else
            *to = *at++;
    }
    *to = 0;
}

/* Finds the next value of href or src, from *at on. */
static bool next_value(const char **at, char *value)
{
    for (const char *c = *at; *c; c++) {
        size_t name = strncasecmp(c, "href", 4) == 0 ? 4 : strncasecmp(c, "src", 3) == 0 ? 3 : 0;
        if (!name || !strchr(" \t\n", c[-1]))
            continue;
        const char *from = c + name + strspn(c + name, " \n");
        if (*from != '=')
            continue;
        from += 1 + strspn(from + 1, " \n");
        const char *stop = *from == '"' ? "\"" : *from == '\'' ? "'" : " >\n";
        from += *from == '"' || *from == '\'';
        size_t length = strcspn(from, stop);
        snprintf(value, PATH_ROOM, "%.*s", (int)length, from);
        decode_references(value);
        *at = from + length;
        return true;
    }
    return false;
}

/* Where a relative link in a file leads on disk. */
static void follow(const char *file, char *value, char *to)
{
    char *part;

    value[strcspn(value, "#")] = 0;
    check(!strchr(value, '?'), "%s: a query in %s", file, value);
    decode_percent(value);
    snprintf(to, PATH_ROOM, "%s", file);
    char *end = strrchr(to, '/');
    if (!*value)
        return;
    *end = 0;
    for (part = value; strncmp(part, "../", 3) == 0; part += 3)
        *strrchr(to, '/') = 0;
    check(strlen(to) + strlen(part) + 2 < PATH_ROOM, "%s", part);
    strcat(to, "/");
    strcat(to, part);
}

/* Where an edge leads: through redirects, to a page that is stored; NULL: none. */
static site_page *target_of(site_page *page)
{
    for (int hops = 0; page && hops < 20 && page->edge_count == 1 && page->edges[0].is_redirect; hops++)
        page = page->edges[0].to;
    return page && page->reached && page->status == 200 && !page->unstored ? page : NULL;
}

typedef struct checker {
    town *here;
    size_t files, links, outward;
    bool *met; /* targets of the page that is being checked, by number */
    unsigned *files_of;
} checker;

static checker *at_work; /* nftw has no context */

/* Files and folders, in lower case: on many machines, no two may have the same name. */
typedef struct names {
    char *list[2000];
    size_t count;
} names;
static names folded;

static void fold(const char *path)
{
    char *copy = strdup(path);

    assert_true(folded.count < sizeof folded.list / sizeof folded.list[0]);
    for (char *c = copy; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    folded.list[folded.count++] = copy;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_folded(void)
{
    qsort(folded.list, folded.count, sizeof folded.list[0], by_text);
    for (size_t i = 1; i < folded.count; i++)
        check(strcmp(folded.list[i - 1], folded.list[i]) != 0, "two names are %s", folded.list[i]);
    for (size_t i = 0; i < folded.count; i++)
        free(folded.list[i]);
    folded.count = 0;
}

static void check_page(checker *c, const char *path, const char *text, site_page *page)
{
    char value[PATH_ROOM], to[PATH_ROOM];
    const char *at = text;
    size_t expected = 0, met = 0;
    site *web = c->here->web;

    memset(c->met, 0, web->page_count);
    while (next_value(&at, value)) {
        if (strncmp(value, "http", 4) == 0) {
            value[strcspn(value, "#")] = 0;
            site_page *out = site_find_url(web, value);
            check(!out || !target_of(out), "%s links to %s, which is stored", page->url, value);
            c->outward++;
            continue;
        }
        follow(path, value, to);
        char *linked = load(to);
        check(linked != NULL, "%s (%s) links to %s, which is not there", page->url, path, to);
        site_page *target = page_in(c->here, linked);
        check(target != NULL, "%s links to %s, which is no page", page->url, to);
        free(linked);
        if (!c->met[target->number])
            met++;
        c->met[target->number] = true;
        c->links++;
    }
    for (size_t i = 0; i < page->edge_count; i++) {
        site_page *target = target_of(page->edges[i].to);
        if (!target)
            continue;
        check(c->met[target->number], "%s (%s) does not link to %s", page->url, path, target->url);
        bool before = false;
        for (size_t j = 0; j < i; j++)
            before |= target_of(page->edges[j].to) == target;
        expected += !before;
    }
    check(met == expected, "%s links to %zu pages, not to %zu", page->url, met, expected);
}

static int visit(const char *path, const struct stat *about, int flag, struct FTW *where)
{
    (void)about, (void)where;
    fold(path);
    if (flag != FTW_F || strstr(path, "/.vidi-"))
        return 0;
    char *text = load(path);
    site_page *page = page_in(at_work->here, text);
    at_work->files++;
    if (page) {
        at_work->files_of[page->number]++;
        check_page(at_work, path, text, page);
    } else
        check(strstr(text, "http-equiv=\"refresh\""), "%s is neither a page nor a redirect", path);
    free(text);
    return 0;
}

/* Follows every link; every stored page must have exactly one file. */
static checker check_mirror(town *here)
{
    checker c = {.here = here,
                 .met = calloc(here->web->page_count, 1),
                 .files_of = calloc(here->web->page_count, sizeof *c.files_of)};

    at_work = &c;
    assert_int_equal(nftw(here->mirror, visit, 16, FTW_PHYS), 0);
    for (size_t i = 0; i < here->web->page_count; i++) {
        site_page *page = here->web->pages[i];
        if (page->apart || page->answer.body)
            continue;
        bool stored = page->reached && page->status == 200 && !page->unstored;
        check(c.files_of[i] == stored, "%s has %u files", page->url, c.files_of[i]);
    }
    assert_int_equal(c.files, here->result.pages);
    check_folded();
    free(c.met);
    free(c.files_of);
    return c;
}

/* ---- promises ---- */

static void every_link_of_a_mirror_leads_to_the_right_page(void **state)
{
    world_web web = {.hosts = 3, .pages = 400, .seed = 5, .body = 100};
    town here = {.web = site_open(3)};

    (void)state;
    world_web_make(here.web, &web);
    crawl_it(&here, web.made, 3);
    check(extract(&here, here.mirror, true) == VIDI_OK, "%s", here.why);
    checker c = check_mirror(&here);
    check(c.links > 2000 && c.outward > 20, "%zu links, %zu of them lead out", c.links, c.outward);
    assert_int_equal(here.result.unreadable, 0);
    /* again, over what is there */
    check(extract(&here, here.mirror, true) == VIDI_OK, "%s", here.why);
    check_mirror(&here);
    free(web.made);
    end(&here);
}

/* URLs that would like to be the same file, or one that is not theirs. */
static void hostile_names_are_kept_apart_and_inside(void **state)
{
    static const char *const targets[] = {"/a",
                                          "/a/b",
                                          "/A",
                                          "/A/b",
                                          "/a.html",
                                          "/a.html/b",
                                          "/a.HTML",
                                          "/a~2.html",
                                          "/a/index.html",
                                          "/a/",
                                          "/a//",
                                          "/a/b/",
                                          "/a?b",
                                          "/a@b",
                                          "/a?B",
                                          "/a%3Fb",
                                          "/con",
                                          "/CON",
                                          "/con.html",
                                          "/..%2f..%2f..%2fout",
                                          "/%2e%2e%5c",
                                          "/%00",
                                          "/.vidi-mirror",
                                          "/.vidi-part",
                                          "/.git/config",
                                          "/x.",
                                          "/x",
                                          "/x%20",
                                          "/a:b",
                                          "/a%3Ab",
                                          "/a%7cb",
                                          "/%7e",
                                          "/~",
                                          "/\"q\"",
                                          "/it's",
                                          "/q?a=1&b=2",

                                          "/%F0%9F%98%80",
                                          "/%FF%FE",
                                          "/@@@?@",
                                          "/%25",
                                          "/%2525",
                                          "/100%"};
    enum { COUNT = sizeof targets / sizeof targets[0] };
    char deep[1500] = "", lengthy[1500] = "/";
    town here = {.web = site_open(1)};
    site_page *home = site_page_add(here.web, 1, "/"), *pages[COUNT + 4];

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        pages[i] = site_page_add(here.web, 1, "%s", targets[i]);
    while (strlen(deep) < 700)
        sprintf(deep + strlen(deep), "/folder-number-%zu-of-a-deep-path", strlen(deep));
    while (strlen(lengthy) < 1400)
        strcat(lengthy, "long%20name");
    pages[COUNT] = site_page_add(here.web, 1, "%s/x", deep);
    pages[COUNT + 1] = site_page_add(here.web, 1, "%s/y/x", deep);
    pages[COUNT + 2] = site_page_add(here.web, 1, "%s", lengthy);
    pages[COUNT + 3] = site_page_add(here.web, 1, "%s?q", lengthy);
    for (size_t i = 0; i < COUNT + 4; i++) {
        if (strchr(pages[i]->url, '"') || strchr(pages[i]->url, '\'')) /* as the link is written, so it is asked for */
            continue;
        site_link(home, pages[i], "<a href=\"%s\">x</a>\n", pages[i]->target);
        site_link(pages[i], home, "<a href=\"/\">x</a>\n");
    }
    crawl_it(&here, &home, 1);
    size_t before = test_folder_count(here.crawl.folder, "");
    check(extract(&here, here.mirror, true) == VIDI_OK, "%s", here.why);
    assert_int_equal(test_folder_count(here.crawl.folder, ""), before + 1);
    check_mirror(&here);
    end(&here);
}

static void redirects_are_followed(void **state)
{
    town here = {.web = site_open(1)};
    site_page *home = site_page_add(here.web, 1, "/"), *one = site_page_add(here.web, 1, "/one"),
              *two = site_page_add(here.web, 1, "/two"), *end_page = site_page_add(here.web, 1, "/end"),
              *loop = site_page_add(here.web, 1, "/loop"), *out = site_page_add(here.web, 1, "/out");
    char path[TEST_PATH + 100];

    (void)state;
    site_link_to(home, one);
    site_link_to(home, loop);
    site_link_to(home, out);
    site_redirect(one, 301, two, "/two");
    site_redirect(two, 302, end_page, "/end");
    site_redirect(loop, 302, loop, "/loop");
    site_redirect(out, 302, NULL, "http://127.0.2.1/");
    crawl_it(&here, &home, 1);
    check(extract(&here, here.mirror, true) == VIDI_OK, "%s", here.why);
    assert_int_equal(here.result.redirects, 2);
    checker c = check_mirror(&here);
    assert_int_equal(c.links, 1);
    assert_int_equal(c.outward, 2);
    snprintf(path, sizeof path, "%s/127.0.1.1+%d/one.html", here.mirror, here.web->port);
    char *text = load(path);
    check(text && strstr(text, "url=end.html"), "%s", text ? text : "no file");
    free(text);
    end(&here);
}

static void small_town(town *here)
{
    site_page *home;

    *here = (town){.web = site_open(1)};
    home = site_page_add(here->web, 1, "/");
    site_link_to(home, site_page_add(here->web, 1, "/sub/page"));
    crawl_it(here, &home, 1);
}

static void folders_of_others_are_refused(void **state)
{
    town here, other;

    (void)state;
    small_town(&here);
    small_town(&other);
    check(extract(&here, here.mirror, false) == VIDI_OK, "%s", here.why);
    assert_int_equal(extract(&other, here.mirror, false), VIDI_EEXIST);
    assert_non_null(strstr(other.why, "another crawl"));
    assert_int_equal(extract(&here, here.crawl.state, false), VIDI_EEXIST);
    assert_non_null(strstr(here.why, "not empty"));
    check(extract(&here, here.mirror, false) == VIDI_OK, "%s", here.why);
    end(&here);
    end(&other);
}

static size_t whole_files;

/* Every page ends with its signature. */
static int check_whole(const char *path, const struct stat *about, int flag, struct FTW *where)
{
    (void)about, (void)where;
    if (flag != FTW_F || strstr(path, "/.vidi-"))
        return 0;
    char *text = load(path);
    size_t length = text ? strlen(text) : 0;
    check(length > 3 && strcmp(text + length - 3, "-->") == 0, "%s is not whole", path);
    free(text);
    whole_files++;
    return 0;
}

static void links_in_the_folder_are_never_followed(void **state)
{
    town here;
    char host[TEST_PATH + 100], outside[TEST_PATH], link[TEST_PATH + 200];

    (void)state;
    small_town(&here);
    check(extract(&here, here.mirror, false) == VIDI_OK, "%s", here.why);
    test_path(outside, here.crawl.folder, "outside");
    assert_int_equal(mkdir(outside, 0700), 0);
    snprintf(host, sizeof host, "%s/127.0.1.1+%d", here.mirror, here.web->port);
    /* A file that is a link is replaced. */
    test_file_write(outside, "victim", "as it was", 9);
    snprintf(link, sizeof link, "%s/index.html", host);
    assert_int_equal(unlink(link), 0);
    test_path(outside, here.crawl.folder, "outside/victim");
    assert_int_equal(symlink(outside, link), 0);
    check(extract(&here, here.mirror, false) == VIDI_OK, "%s", here.why);
    char *text = load(outside);
    assert_string_equal(text, "as it was");
    free(text);
    /* A folder that is one is an error. */
    test_path(outside, here.crawl.folder, "outside");
    snprintf(link, sizeof link, "%s/sub/page.html", host);
    assert_int_equal(unlink(link), 0);
    *strrchr(link, '/') = 0;
    assert_int_equal(rmdir(link), 0);
    assert_int_equal(symlink(outside, link), 0);
    size_t before = test_folder_count(outside, "");
    assert_int_equal(extract(&here, here.mirror, false), VIDI_EIO);
    assert_int_equal(test_folder_count(outside, ""), before);
    /* What was begun is gone. */
    assert_int_equal(test_folder_count(here.mirror, ".vidi-part"), 0);
    end(&here);
}

static void damaged_pages_are_counted_and_left_out(void **state)
{
    town here;
    char path[TEST_PATH];

    (void)state;
    small_town(&here);
    test_path(path, here.crawl.state, "archive/vidi-00000.warc.gz");
    int fd = open(path, O_RDWR);
    struct stat about;
    assert_true(fd >= 0 && fstat(fd, &about) == 0);
    for (off_t at = 700; at < about.st_size; at += 50) /* most of them */
        assert_int_equal(pwrite(fd, "\xA5", 1, at), 1);
    close(fd);
    check(extract(&here, here.mirror, false) == VIDI_OK, "%s", here.why);
    check(here.result.unreadable >= 1 && here.result.pages + here.result.unreadable == 2 && here.result.example[0],
          "%d unreadable, %d files", (int)here.result.unreadable, (int)here.result.pages);
    end(&here);
}

/* Wherever a process is killed, the next one finds whole files, and ends with the same mirror. */
static void a_process_that_is_killed_leaves_whole_files(void **state)
{
    world_web web = {.hosts = 1, .pages = 150, .seed = 6, .body = 20000};
    town here = {.web = site_open(1)};

    (void)state;
    world_web_make(here.web, &web);
    crawl_it(&here, web.made, 1);
    for (int round = 0; round < 12; round++) {
        pid_t child = fork();
        if (child == 0)
            _exit(extract(&here, here.mirror, false) == VIDI_OK ? 0 : 1);
        usleep((useconds_t)(1000 + 3000 * round));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        whole_files = 0;
        if (access(here.mirror, F_OK) == 0)
            assert_int_equal(nftw(here.mirror, check_whole, 16, FTW_PHYS), 0);
    }
    check(extract(&here, here.mirror, false) == VIDI_OK, "%s", here.why);
    whole_files = 0;
    assert_int_equal(nftw(here.mirror, check_whole, 16, FTW_PHYS), 0);
    assert_int_equal(whole_files, here.result.pages);
    free(web.made);
    end(&here);
}

/*
 * Bodies that are in other records, of another page or of the visit before. Of these pages only the heads tell that they
 * are not the same: the byte E4 is a Latin letter in one of them and a Cyrillic one in the others.
 */
static void bodies_of_other_records_come_with_the_heads_of_their_pages(void **state)
{
    static const char body[] = "<p>\xE4: <a href='/'>the same bytes</a>";
    static const char lasting[] = "ETag: \"1\"\r\nContent-Type: text/html; charset=iso-8859-5\r\n";
    static const site_answer unchanged = {.status = 304, .fields = "ETag: \"1\"\r\n", .body = ""};
    static const struct {
        const char *name, *type, *fields, *letter;
    } pages[] = {
        {"a", "text/html; charset=windows-1252", NULL, "<p>\u00e4:"},
        {"b", "text/html; charset=iso-8859-5", NULL, "<p>\u0444:"},
        {"c", NULL, lasting, "<p>\u0444:"},
    };
    town here = {.web = site_open(1)};
    site_page *home = site_page_add(here.web, 1, "/");
    char path[TEST_PATH + 100];

    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        site_page *page = site_page_add(here.web, 1, "/%s", pages[i].name);
        site_answer whole = {
            .status = 200, .type = pages[i].type, .fields = pages[i].fields, .body = body, .length = sizeof body - 1};
        page->early = whole;
        page->early_times = pages[i].fields ? 1 : 0;
        page->answer = pages[i].fields ? unchanged : whole;
        site_link_to(home, page);
    }
    crawling_begin(&here.crawl, &home, 1);
    here.crawl.options.per_host = 1; /* in this order */
    site_serve(here.web);
    crawling_must(&here.crawl, CRAWL_DONE);
    here.crawl.options.revisit = true;
    crawling_must(&here.crawl, CRAWL_DONE);
    site_stop(here.web);
    test_path(here.mirror, here.crawl.folder, "mirror");
    check(extract(&here, here.mirror, true) == VIDI_OK, "%s", here.why);
    assert_int_equal(here.result.pages, 4);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        snprintf(path, sizeof path, "%s/127.0.1.1+%d/%s.html", here.mirror, here.web->port, pages[i].name);
        char *text = load(path);
        check(text && strstr(text, pages[i].letter), "%s: %s", pages[i].name, text ? text : "no file");
        free(text);
    }
    end(&here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_link_of_a_mirror_leads_to_the_right_page),
        cmocka_unit_test(hostile_names_are_kept_apart_and_inside),
        cmocka_unit_test(redirects_are_followed),
        cmocka_unit_test(folders_of_others_are_refused),
        cmocka_unit_test(links_in_the_folder_are_never_followed),
        cmocka_unit_test(damaged_pages_are_counted_and_left_out),
        cmocka_unit_test(a_process_that_is_killed_leaves_whole_files),
        cmocka_unit_test(bodies_of_other_records_come_with_the_heads_of_their_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
