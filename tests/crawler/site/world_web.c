/*
 * A web of many pages, and things without end: see worlds.h.
 */
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/random.h"

/* ---- the web ---- */

enum { HIDDEN_OF_1000 = 10, MISSING_OF_1000 = 20, FORBIDDEN_OF_1000 = 10 };

/* Writes a link to a page on another, in one of the ways that HTML and URLs have. */
static void link_somehow(site_page *page, site_page *to, uint64_t way)
{
    bool same_host = page->host == to->host;
    const char *rest = strstr(to->url, "://") + 3; /* host, port, path */
    switch (way % 10) {
    case 0:
        site_link(page, to, "<a href=\"%s\">a</a>", same_host ? to->target : to->url);
        break;
    case 1:
        site_link(page, to, "<A HREF='%s#part'>b</A>", to->url);
        break;
    case 2:
        site_link(page, to, "<a title=\"a > b\" href=//%s>c</a>", rest);
        break;
    case 3:
        site_link(page, to, "<p><a class=x\nhref = ' HTTP://%s\n'>d</a>", rest);
        break;
    case 4:
        site_link(page, to, "<area href=\"%s\">", to->url);
        break;
    case 5:
        site_link(page, to, "<iframe src='%s'></iframe>", to->url);
        break;
    case 6:
        site_link(page, to, "<a href=\"&#104;ttp:&#x2f;/%s\">e</a>", rest);
        break;
    case 7: /* through a folder that is left again */
        site_link(page, to, same_host ? "<a href='/x/..%s'>f</a>" : "<a href='%s'>f</a>",
                  same_host ? to->target : to->url);
        break;
    default:
        site_link(page, to, "<li><a href='%s'>g</a><a href='%s'>again</a>", to->url, to->url);
    }
}

static site_page *make_page(site *site, unsigned host, uint64_t number, uint64_t way)
{
    switch (way % 5) {
    case 0:
        return site_page_add(site, host, "/d%llu/p%llu.html", (unsigned long long)(number % 7),
                             (unsigned long long)number);
    case 1:
        return site_page_add(site, host, "/q?id=%llu", (unsigned long long)number);
    case 2:
        return site_page_add(site, host, "/a%%20b/%llu", (unsigned long long)number);
    case 3:
        return site_page_add(site, host, "/deep/er/and/deeper/%llu/", (unsigned long long)number);
    default:
        return site_page_add(site, host, "/%%C3%%BC/%llu;v=1", (unsigned long long)number);
    }
}

/* What kind of page is it? Decides its truth, too. */
static site_page *make_some_page(site *site, const world_web *web, unsigned host, uint64_t number, test_random *random)
{
    uint64_t lot = web->plain ? 1000 : test_below(random, 1000);
    if (lot < FORBIDDEN_OF_1000) {
        site_page *page = site_page_add(site, host, "/private/%llu", (unsigned long long)number);
        page->status = 0;
        page->reason = "robots";
        page->barren = page->unstored = true;
        return page;
    }
    site_page *page = make_page(site, host, number, test_next(random));
    if (lot < FORBIDDEN_OF_1000 + MISSING_OF_1000)
        site_status(page, number % 2 ? 404 : 410);
    return page;
}

static void fill_page(site_page *page, const world_web *web, site_page **pages, size_t count, test_random *random)
{
    static const char words[] = "the web has many pages and no two of them are alike ";
    for (size_t n = 0; n < web->body; n += sizeof words - 1)
        site_text_add(&page->text, words, sizeof words - 1);
    for (unsigned i = 0; i < web->links; i++) {
        site_page *to = pages[test_below(random, count)];
        if (!to->reached)
            link_somehow(page, to, test_next(random));
    }
}

/* `reached` is used while the web is made: it marks pages that nobody may link to. */
void world_web_make(site *site, world_web *web)
{
    test_random random = {web->seed};
    site_page **pages = site_memory(web->pages * sizeof *pages);
    web->made = site_memory(web->hosts * sizeof *web->made);
    web->links = web->tree ? 0 : web->links ? web->links : 5;
    for (size_t i = 0; i < web->pages; i++) {
        unsigned host = (unsigned)(i % web->hosts) + 1;
        if (i < web->hosts) {
            pages[i] = web->made[i] = site_page_add(site, host, "/");
            if (!web->plain)
                site_robots(site, host, "User-agent: *\nDisallow: /private/\n");
            continue;
        }
        pages[i] = make_some_page(site, web, host, i, &random);
        pages[i]->reached = !web->plain && test_below(&random, 1000) < HIDDEN_OF_1000;
        site_page *parent = pages[test_below(&random, i)];
        if (!pages[i]->reached)
            link_somehow(parent, pages[i], test_next(&random));
    }
    for (size_t i = 0; i < web->pages; i++)
        fill_page(pages[i], web, pages, web->pages, &random);
    free(pages);
}

/* ---- traps ---- */

bool world_traps(void *context, const site *site, const char *host, const char *target, site_answer *answer)
{
    long a, b;
    int end = 0;
    static long visits;
    site_text text = {0};
    (void)context, (void)site, (void)host;
    if (sscanf(target, "/calendar?month=%ld%n", &a, &end) == 1 && target[end] == 0) {
        site_text_put(&text, "<a href='?month=%ld'>before</a> <a href='?month=%ld'>next</a>", a - 1, a + 1);
    } else if (sscanf(target, "/days/%ld/%ld/%n", &a, &b, &end) == 2 && end && target[end] == 0) {
        site_text_put(&text, "<a href='/days/%ld/%ld/'>next month</a>", b == 12 ? a + 1 : a, b == 12 ? 1 : b + 1);
    } else if (strncmp(target, "/shop?", 6) == 0) {
        visits++;
        site_text_put(&text, "<a href='?sid=%ld'>cart</a> <a href='?sid=%ld&page=2'>more</a>", visits * 2,
                      visits * 2 + 1);
    } else if (strncmp(target, "/again/", 7) == 0) {
        site_text_put(&text, "<a href='again/'>again</a>");
    } else {
        return false;
    }
    *answer =
        (site_answer){.status = 200, .type = "text/html", .body = text.at, .length = text.length, .owned = text.at};
    return true;
}

/* ---- folders ---- */

static const char *type_of(const char *path)
{
    static const struct {
        const char *end, *type;
    } list[] = {{".html", "text/html"},
                {".css", "text/css"},
                {".png", "image/png"},
                {".svg", "image/svg+xml"},
                {".txt", "text/plain"}};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        size_t end = strlen(list[i].end);
        if (length > end && strcmp(path + length - end, list[i].end) == 0)
            return list[i].type;
    }
    return "application/octet-stream";
}

bool world_folder(void *context, const site *site, const char *host, const char *target, site_answer *answer)
{
    char path[1024];
    struct stat about;
    (void)site, (void)host;
    int length = snprintf(path, sizeof path, "%s%.*s", (const char *)context, (int)strcspn(target, "?"), target);
    if (length >= (int)sizeof path - 16 || strstr(path, "/.."))
        return false;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        strcat(path, path[length - 1] == '/' ? "index.html" : "/index.html");
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    char *body = site_memory((size_t)about.st_size + 1);
    size_t got = fread(body, 1, (size_t)about.st_size, file);
    fclose(file);
    *answer = (site_answer){.status = 200, .type = type_of(path), .body = body, .length = got, .owned = body};
    return true;
}
