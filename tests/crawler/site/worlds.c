/*
 * Single things that a crawler meets: see worlds.h. The texts of pages are written by hand, and so is the truth.
 */
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loops, mirrors ---- */

void world_loops(site *site, unsigned host, site_page *from)
{
    /* Figure 1.2: A links to B and E; B, C and D go round; a crawler without a URL cache never gets to E, F and G. */
    site_page *p[7];
    for (int i = 0; i < 7; i++)
        p[i] = site_page_add(site, host, "/figure-1.2/%c", 'A' + i);
    static const char edges[][2] = {{'A', 'B'}, {'A', 'E'}, {'B', 'C'}, {'C', 'D'}, {'D', 'B'}, {'E', 'F'}, {'E', 'G'}};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        site_link_to(p[edges[i][0] - 'A'], p[edges[i][1] - 'A']);
    site_link_to(from, p[0]);

    /* Figure 2.2: two pages that link to each other. */
    site_page *a = site_page_add(site, host, "/figure-2.2/A"), *b = site_page_add(site, host, "/figure-2.2/B");
    site_link_to(a, b);
    site_link_to(b, a);
    site_link_to(from, a);

    site_page *self = site_page_add(site, host, "/self");
    site_link_to(self, self);
    site_link(self, self, "<a href=''>empty</a><a href='#top'>top</a><a href='?'>query</a>");
    site_page *query = site_page_add(site, host, "/self?"); /* an empty query is another URL */
    site_link_to(query, self);
    site_edge_add(self, query, false);
    site_link_to(from, self);
}

static site_page *mirror_on(site *site, unsigned host)
{
    site_page *entrance = site_page_add(site, host, "/mirror/");
    for (int i = 0; i < 10; i++) {
        site_page *page = site_page_add(site, host, "/mirror/%d.html", i);
        site_link(entrance, page, "<a href=%d.html>%d</a>", i, i);
        site_link(page, entrance, "<a href='.'>up</a>");
    }
    return entrance;
}

void world_mirrors(site *site, unsigned host, unsigned other, site_page *from)
{
    site_link_to(from, mirror_on(site, host));
    site_link_to(from, mirror_on(site, other));
}

/* ---- links ---- */

typedef struct spelling {
    const char *target, *html;
} spelling;

static void add_spellings(site *site, unsigned host, site_page *page, const spelling *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        site_page *to = site_page_add(site, host, "%s", list[i].target);
        site_say(page, "%s\n", list[i].html);
        site_edge_add(page, to, false);
    }
}

void world_spellings(site *site, unsigned host, site_page *from)
{
    static const spelling list[] = {
        {"/s/one", "<a href=one>"},
        {"/s/two?a=1&b=2", "<a href='two?a=1&amp;b=2'>"},
        {"/s/two?a=1&copy=2", "<a href=\"two?a=1&copy=2\">"},
        {"/s/three", "<A HREF = \"./x/../three#fragment\" >"},
        {"/four", "<a href=\"../four\">"},
        {"/five", "<a href='\n /five\t '>"},
        {"/s/six", "<a href=s\ti\nx>"
                   "<!-- <a href='/not-in-a-comment'> --><a href='si&#120;'>"},
        {"/s/a%20b", "<a href='a b'>"},
        {"/s/%C3%BC", "<meta charset=utf-8><a href='\xc3\xbc'>"},
        {"/s/area", "<map><area href=area></map>"},
        {"/s/frame", "<iframe src=frame></iframe>"},
        {"/s/next", "<link rel=next href=next>"},
        {"/s/refresh", "<meta http-equiv=refresh content='5; url=refresh'>"},
        {"/s/%7Etilde", "<a href='%7Etilde'>"},
        {"/s/back/slash", "<a href='back\\slash'>"},
        {"/s/noscript", "<noscript><a href=noscript></noscript>"},
    };
    site_page *page = site_page_add(site, host, "/s/");
    page->answer.type = "text/html; charset=utf-8";
    site_say(page, "<!doctype html><title>links</title>");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (i == 6) {
            /* An unquoted value ends at a blank, so that this links to /s/s. */
            site_page *s = site_page_add(site, host, "/s/s");
            site_edge_add(page, s, false);
        }
        add_spellings(site, host, page, &list[i], 1);
    }
    site_say(page, "<script>'<a href=/not-in-a-script>'</script><textarea><a href=/not-in-a-textarea></textarea>"
                   "<template><a href='/not-in-a-template'></template><a name=nothing><a href='mailto:a@b.c'>"
                   "<a href='javascript:void(0)'><a href='data:text/html,x'><a href='ftp://127.0.1.1/'>"
                   "<a href='http://[bad'><img src=/not-an-image.png>");
    site_link_to(from, page);

    site_page *based = site_page_add(site, host, "/based"), *to = site_page_add(site, host, "/other/place/page");
    site_link(based, to, "<base href='/other/place/'><base href='/not-the-second/'><a href=page>");
    site_link_to(from, based);

    site_page *plain = site_page_add(site, host, "/plain.txt");
    plain->answer.type = "text/plain";
    site_say(plain, "<a href=/not-in-a-text>");
    site_link_to(from, plain);

    site_page *xhtml = site_page_add(site, host, "/page.xhtml"), *seven = site_page_add(site, host, "/seven");
    xhtml->answer.type = "application/xhtml+xml";
    site_link(xhtml, seven, "<html xmlns='http://www.w3.org/1999/xhtml'><body><a href='/seven'/></body></html>");
    site_link_to(from, xhtml);
}

void world_encodings(site *site, unsigned host, site_page *from)
{
    static const struct {
        const char *path, *charset, *word, *query;
        bool in_header;
    } list[] = {
        {"/korean", "euc-kr", "\xc7\xd1\xb1\xdb", "%C7%D1%B1%DB", true},
        {"/japanese", "shift_jis", "\x83\x65\x83\x58\x83\x67", "%83e%83X%83g", false},
        {"/russian", "windows-1251", "\xec\xe8\xf0", "%EC%E8%F0", false},
        {"/utf-8", "utf-8", "\xd0\xbc\xd0\xb8\xd1\x80", "%D0%BC%D0%B8%D1%80", true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char type[64];
        snprintf(type, sizeof type, "text/html; charset=%s", list[i].charset);
        site_page *page = site_page_add(site, host, "%s", list[i].path);
        site_page *to = site_page_add(site, host, "%s-search?q=%s", list[i].path, list[i].query);
        if (list[i].in_header)
            page->answer.type = page->fields = site_copy(type);
        else
            site_say(page, "<meta charset=%s>", list[i].charset);
        site_link(page, to, "<a href='%s-search?q=%s'>%s</a>", list[i].path, list[i].word, list[i].word);
        site_link_to(from, page);
    }
    /* The path is UTF-8 whatever the page's encoding is. */
    site_page *page = site_page_add(site, host, "/paths"),
              *to = site_page_add(site, host, "/%%D0%%BC%%D0%%B8%%D1%%80?%%EC");
    site_link(page, to,
              "<meta http-equiv=Content-Type content='text/html; charset=cp1251'><a href='/\xec\xe8\xf0?\xec'>");
    site_link_to(from, page);
}

/* ---- politeness ---- */

void world_politeness(site *site, unsigned host, site_page *from)
{
    site_page *page = site_page_add(site, host, "/m/rel"), *to = site_page_add(site, host, "/m/followed");
    site_say(page, "<a rel='nofollow' href=/m/not-1><a rel='x NoFollow y' href=/m/not-2>");
    site_link(page, to, "<a rel='noopener' href=followed>");
    site_link_to(from, page);

    page = site_page_add(site, host, "/m/meta");
    site_say(page, "<meta name=robots content='noindex, nofollow'><a href=/m/not-3>");
    site_link_to(from, page);

    page = site_page_add(site, host, "/m/header");
    page->answer.fields = "X-Robots-Tag: nofollow\r\n";
    site_say(page, "<a href=/m/not-4>");
    site_link_to(from, page);

    page = site_page_add(site, host, "/m/other-agent"), to = site_page_add(site, host, "/m/for-us");
    page->answer.fields = "X-Robots-Tag: otherbot: nofollow, noarchive\r\n";
    site_link(page, to, "<a href=for-us>");
    site_link_to(from, page);

    page = site_page_add(site, host, "/m/noarchive-meta"), to = site_page_add(site, host, "/m/behind-noarchive");
    page->unstored = true;
    site_link(page, to, "<meta name=robots content=noarchive><a href=behind-noarchive>");
    site_link_to(from, page);

    page = site_page_add(site, host, "/m/noarchive-header");
    page->answer.fields = "X-Robots-Tag: noarchive\r\n";
    page->unstored = true;
    site_link_to(from, page);

    to = site_page_add(site, host, "/m/user");
    site_link(from, to, "<a href='http://user:secret@%s:%d/m/user'>", site_host_name(host), site->port);
}

/* ---- statuses and redirects ---- */

void world_statuses(site *site, unsigned host, site_page *from)
{
    static const int list[] = {204, 400, 401, 403, 404, 410, 418, 451, 500, 501, 505};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        site_page *page = site_page_add(site, host, "/status/%d", list[i]);
        site_status(page, list[i]);
        if (list[i] == 204)
            page->answer.body = "", page->answer.length = 0;
        site_link_to(from, page);
    }
}

/* A chain from /NAME/0 to /NAME/LENGTH, whose last page is an ordinary one. Returns the page at `cut`. */
static void add_chain(site *site, unsigned host, unsigned other, const char *name, int length, int most,
                      site_page *from)
{
    site_page *to = site_page_add(site, host, "/%s/%d", name, length);
    for (int i = length - 1; i >= 0; i--) {
        site_page *page = site_page_add(site, i % 2 ? other : host, "/%s/%d", name, i);
        site_redirect(page, 301 + i % 2, i >= most ? NULL : to, to->url);
        to = page;
    }
    site_link_to(from, to);
}

void world_redirects(site *site, unsigned host, unsigned other, unsigned outside, site_page *from)
{
    static const int statuses[] = {301, 302, 303, 307, 308};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        char location[64];
        site_page *page = site_page_add(site, host, "/r/%d", statuses[i]);
        site_page *to = site_page_add(site, host, "/r/%d/to", statuses[i]);
        snprintf(location, sizeof location, "%d/to#fragment", statuses[i]);
        site_redirect(page, statuses[i], to, location);
        site_link_to(from, page);
    }
    add_chain(site, host, host, "chain", 5, 99, from);
    add_chain(site, host, other, "across", 6, 99, from);
    add_chain(site, host, host, "long", 25, 20, from);

    site_page *loop[3];
    for (int i = 0; i < 3; i++)
        loop[i] = site_page_add(site, host, "/loop/%d", i);
    for (int i = 0; i < 3; i++)
        site_redirect(loop[i], 302, loop[(i + 1) % 3], loop[(i + 1) % 3]->url);
    site_link_to(from, loop[0]);

    site_page *self = site_page_add(site, host, "/r/self");
    site_redirect(self, 301, self, "self");
    site_link_to(from, self);

    site_page *away = site_page_add(site, host, "/r/away");
    char location[64];
    snprintf(location, sizeof location, "http://%s:%d/never", site_host_name(outside), site->port);
    site_redirect(away, 302, NULL, location);
    site_link_to(from, away);

    static const char *const nowhere[] = {"mailto:a@b.c", "ftp://127.0.1.1/", "file:///etc/passwd", "http://[", "//"};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        site_page *page = site_page_add(site, host, "/r/nowhere/%zu", i);
        site_redirect(page, 302, NULL, nowhere[i]);
        site_link_to(from, page);
    }
    site_page *none = site_page_add(site, host, "/r/none");
    none->answer = (site_answer){.status = 301, .body = ""};
    none->status = 301;
    site_link_to(from, none);
}

/* ---- bytes ---- */

/* A page of this many bytes of blanks after its link. */
static void add_bomb(site *site, unsigned host, site_page *from, size_t megabytes)
{
    site_page *bomb = site_page_add(site, host, "/z/bomb-%zu", megabytes);
    char *blanks = site_memory(1 << 20);
    memset(blanks, ' ', 1 << 20);
    site_say(bomb, "<a href=/z/not-in-a-bomb>");
    for (size_t i = 0; i < megabytes; i++)
        site_text_add(&bomb->text, blanks, 1 << 20);
    free(blanks);
    site_page_pack(bomb, SITE_GZIP);
    site_link_to(from, bomb);
}

void world_packed(site *site, unsigned host, site_page *from)
{
    site_page *page = site_page_add(site, host, "/z/page"), *to = site_page_add(site, host, "/z/in-gzip");
    site_link(page, to, "<a href=in-gzip>");
    site_page_pack(page, SITE_GZIP);
    site_link_to(from, page);

    page = site_page_add(site, host, "/z/chunked"), to = site_page_add(site, host, "/z/in-chunks");
    site_say(page, "%05000d", 0);
    site_link(page, to, "<a href=in-chunks>");
    page->answer.manner = SITE_CHUNKED;
    site_link_to(from, page);

    page = site_page_add(site, host, "/z/until-close"), to = site_page_add(site, host, "/z/before-close");
    site_link(page, to, "<a href=before-close>");
    page->answer.manner = SITE_UNTIL_CLOSE;
    site_link_to(from, page);

    page = site_page_add(site, host, "/z/twice"), to = site_page_add(site, host, "/z/in-both");
    site_link(page, to, "<a href=in-both>");
    site_page_pack(page, SITE_GZIP);
    site_page_pack(page, SITE_GZIP);
    page->answer.fields = "Content-Encoding: gzip, gzip\r\n";
    page->answer.manner = SITE_CHUNKED;
    site_link_to(from, page);

    page = site_page_add(site, host, "/z/lies");
    site_say(page, "<a href=/z/not-packed>");
    page->answer.fields = "Content-Encoding: gzip\r\n";
    site_link_to(from, page);

    add_bomb(site, host, from, 80);
}

void world_broken(site *site, unsigned host, site_page *from)
{
    static const struct {
        const char *name;
        site_manner manner;
        const char *reason;
    } list[] = {{"cut-off", SITE_CUT_OFF, "broken"},    {"bad-chunk", SITE_BAD_CHUNK, "broken"},
                {"garbage", SITE_GARBAGE, "broken"},    {"endless", SITE_ENDLESS, "limit"},
                {"silent", SITE_SILENT, "timeout"},     {"drips", SITE_DRIPS, "timeout"},
                {"huge-head", SITE_HUGE_HEAD, "limit"}, {"closes", SITE_CLOSES, "broken"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        site_page *page = site_page_add(site, host, "/broken/%s", list[i].name);
        page->answer.manner = list[i].manner;
        page->reason = list[i].reason;
        page->status = SITE_ANY_STATUS;
        page->barren = true;
        site_say(page, "<a href='/broken/not-from-%s'>%01000d</a>", list[i].name, 0);
        site_link_to(from, page);
    }
    site_page *slow = site_page_add(site, host, "/broken/slow"), *to = site_page_add(site, host, "/broken/behind-slow");
    slow->answer.delay_ms = 300;
    site_link(slow, to, "<a href=behind-slow>");
    site_link_to(from, slow);
}

/* ---- robots.txt and sitemaps ---- */

static site_page *robots_page(site *site, unsigned host, const char *target, bool allowed, site_page *from)
{
    site_page *page = site_page_add(site, host, "%s", target);
    if (!allowed) {
        page->status = 0;
        page->reason = "robots";
        page->barren = page->unstored = true;
        site_page *behind = site_page_add(site, host, "%s/behind", target);
        site_link_to(page, behind);
    }
    site_link_to(from, page);
    return page;
}

void world_robots(site *site, unsigned host, site_page *from)
{
    site_robots(site, host,
                "User-agent: *\nDisallow: /no/\nAllow: /no/yes\nDisallow: /*.cgi$\n\n"
                "User-agent: otherbot\nDisallow: /\n");
    robots_page(site, host, "/no/1", false, from);
    robots_page(site, host, "/no/yes", true, from);
    robots_page(site, host, "/x.cgi", false, from);
    robots_page(site, host, "/x.cgi?a", true, from);
    site_page *redirect = site_page_add(site, host, "/into-no"), *to = site_find(site, site_host_name(host), "/no/1");
    site_redirect(redirect, 302, to, "/no/1");
    site_link_to(from, redirect);

    site_robots(site, host + 1, "User-agent: *\nDisallow:\n\nUser-Agent: VIDI\nDisallow: /ours\n");
    robots_page(site, host + 1, "/ours", false, from);
    robots_page(site, host + 1, "/theirs", true, from);

    /* robots.txt on another host, after two redirects. */
    site_page *robots = site_robots(site, host + 2, "");
    site_page *step = site_page_add(site, host + 2, "/step.txt"),
              *end = site_page_add(site, host + 1, "/elsewhere.txt");
    site_redirect(robots, 302, NULL, "/step.txt");
    site_redirect(step, 301, NULL, end->url);
    step->apart = end->apart = true;
    end->answer.type = "text/plain";
    site_say(end, "User-agent: *\nDisallow: /far\n");
    robots_page(site, host + 2, "/far", false, from);
    robots_page(site, host + 2, "/near", true, from);

    /* 500 KiB at least are read; what comes after 2 MiB is not. */
    robots = site_robots(site, host + 3, "User-agent: *\n");
    while (robots->text.length < 500 * 1024 - 100)
        site_say(robots, "# %090d\n", 0);
    site_say(robots, "Disallow: /early\n");
    while (robots->text.length < 2 << 20)
        site_say(robots, "# %090d\n", 0);
    site_say(robots, "Disallow: /late\n");
    robots_page(site, host + 3, "/early", false, from);
    robots_page(site, host + 3, "/late", true, from);
}

static site_page *sitemap_page(site *site, unsigned host, const char *target, const char *type)
{
    site_page *page = site_page_add(site, host, "%s", target);
    page->answer.type = type;
    return page;
}

size_t world_sitemaps(site *site, unsigned host, site_page **seeds)
{
    static const char space[] = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'";
    site_page *robots = site_robots(site, host, "User-agent: *\nDisallow: /secret\n");
    site_page *index = sitemap_page(site, host, "/index.xml", "application/xml");
    site_page *list = sitemap_page(site, host, "/list.txt", "text/plain");
    site_say(robots, "Sitemap: %s\nSitemap: %s\n", index->url, list->url);

    site_page *packed = sitemap_page(site, host, "/pages.xml.gz", "application/gzip");
    site_page *page = site_page_add(site, host, "/only-in-a-sitemap?a=1&b=2");
    site_link(packed, page,
              "<?xml version='1.0'?><urlset %s><url><loc>http://%s:%d/only-in-a-sitemap?a=1&amp;b=2</loc>", space,
              page->host, site->port);
    site_say(packed, "<lastmod>2026-01-01</lastmod></url><url><loc>http://elsewhere.test/</loc></url></urlset>");
    site_page_pack(packed, SITE_GZIP);
    packed->answer.fields = NULL;

    site_page *plain = sitemap_page(site, host, "/more.xml", "text/xml"), *more = site_page_add(site, host, "/more");
    site_link(plain, more, "<urlset %s><url><loc>%s</loc></url></urlset>", space, more->url);
    site_page *behind = site_page_add(site, host, "/behind-more");
    site_link_to(more, behind);
    site_say(index, "<sitemapindex %s>", space);
    site_link(index, packed, "<sitemap><loc>%s</loc></sitemap>", packed->url);
    site_link(index, plain, "<sitemap><loc>%s</loc></sitemap></sitemapindex>", plain->url);

    for (int i = 0; i < 5; i++) {
        site_page *line = site_page_add(site, host, "/line/%d", i);
        site_link(list, line, "%s", line->url);
    }
    seeds[0] = index;
    seeds[1] = list;
    return 2;
}
