/*
 * See changes.h.
 *
 *   /                      of each host; links to all parents, and never changes
 *   /STORY/KIND/COPY/      the parent: links to the page, unless nobody links to it in this visit
 *   /STORY/KIND/COPY/page  the page itself
 *   /STORY/KIND/COPY/A     and so on: what a version of the page links to, or redirects to
 */
#include "changes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- stories ---- */

/*
 * What a page is, visit by visit:
 *
 *   A B C  versions of its content; each links to a page of its own
 *   a b c  the same, packed with gzip; 1 2 3: with brotli
 *   S      a text that many pages share, without links
 *   M N    redirects to two pages
 *   G H    404 and 410
 *   F P X  500, 403, and a connection that is cut off
 *   .      nobody links to it
 *
 * What must be said of it: new, changed, unchanged, gone, back, moved, failed; '.': it is not met.
 */
typedef struct story {
    const char *is, *said;
} story;

static const story stories[] = {
    /* contents */
    {"AAAAA", "nuuuu"},
    {"AABBB", "nucuu"},
    {"ABCAB", "ncccc"},
    {"AaAaA", "nuuuu"},
    {"A1a1A", "nuuuu"},
    {"aAb2B", "nucuu"},
    {"SSSSS", "nuuuu"},
    {"ASASA", "ncccc"},
    /* gone and back */
    {"AGGGA", "nguub"},
    {"AHGHH", "nguuu"},
    {"AGAGB", "ngbgb"},
    {"GGAAG", "gubug"},
    {"AGMMM", "ngbuu"},
    /* redirects */
    {"AAMMM", "numuu"},
    {"AMNNA", "nmmuc"},
    {"MMNMM", "nummu"},
    {"MGMAM", "ngbcm"},
    /* failures tell nothing: what comes after them is compared with what was before */
    {"AFAAA", "nfuuu"},
    {"AFBBB", "nfcuu"},
    {"AXAPa", "nfufu"},
    {"FXAAA", "ffnuu"},
    {"AFGPG", "nfgfu"},
    {"GFGFA", "gfufb"},
    {"MFMFN", "nfufm"},
    {"AFMXB", "nfmfc"},
    /* links come and go */
    {"..AAA", "..nuu"},
    {".SSSS", ".nuuu"},
    {"A.AA.", "n.uu."},
    {"A..BB", "n..cu"},
    {"AG.GA", "ng.ub"},
    {"A.M.M", "n.m.u"},
    {".G..A", ".g..b"},
    {"AF.AA", "nf.uu"},
};

/* Validators of contents, and what the server makes of conditions. */
static const struct kind {
    const char *name;
    bool etag, weak, modified;
    site_conditions conditions;
} kinds[] = {
    {"none", .etag = false},
    {"etag", .etag = true},
    {"weak", .etag = true, .weak = true},
    {"modified", .modified = true},
    {"both", .etag = true, .modified = true},
    {"terse", .etag = true, .modified = true, .conditions = SITE_TERSE},
    {"ignored", .etag = true, .modified = true, .conditions = SITE_IGNORES},
};

enum {
    STORIES = sizeof stories / sizeof *stories,
    KINDS = sizeof kinds / sizeof *kinds,
    VERSIONS = 5, /* A, B, C, M, N */
    TAG = 32
};

typedef struct changes_page {
    const story *story;
    const struct kind *kind;
    site_page *parent, *page, *targets[VERSIONS];
    char etag[TAG], modified[TAG], parent_etag[TAG];
} changes_page;

typedef struct changes_memory {
    bool met;
    bool has_content;          /* of a response with status 200 */
    char etag[TAG], date[TAG]; /* its validators */
} changes_memory;

static const char *name_of(char letter)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'n', "new"},  {'c', "changed"}, {'u', "unchanged"}, {'g', "gone"},
                 {'b', "back"}, {'m', "moved"},   {'f', "failed"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].letter == letter)
            return names[i].name;
    }
    return NULL;
}

/* The version of a letter that stands for content; 0: it stands for none. */
static char version_of(char letter)
{
    return strchr("ABCS", letter) && letter ? letter
           : letter >= 'a' && letter <= 'c' ? (char)toupper(letter)
           : letter >= '1' && letter <= '3' ? (char)('A' + letter - '1')
                                            : 0;
}

static site_page *target_of(const changes_page *self, char version)
{
    const char *at = strchr("ABCMN", version);
    return at ? self->targets[at - "ABCMN"] : NULL;
}

/* ---- the site ---- */

static changes_page *add_page(changes *self, const story *story, const struct kind *kind, unsigned copy)
{
    changes_page *made = &self->pages[self->count];
    site *web = self->web;
    unsigned host = (unsigned)(self->count % self->seed_count) + 1;
    int length = 0;
    char place[64];
    self->count++;
    length = snprintf(place, sizeof place, "/%zu-%s/%s/%u", (size_t)(story - stories), story->said, kind->name, copy);
    for (int i = 0; i < length; i++)
        place[i] = place[i] == '.' ? '-' : place[i];
    *made = (changes_page){.story = story, .kind = kind};
    made->parent = site_page_add(web, host, "%s/", place);
    made->page = site_page_add(web, host, "%s/page", place);
    for (int i = 0; i < VERSIONS; i++) {
        made->targets[i] = site_page_add(web, host, "%s/%c", place, "ABCMN"[i]);
        made->targets[i]->answer.etag = "\"target\"";
        site_say(made->targets[i], "<title>%c of %s</title>", "ABCMN"[i], place);
    }
    site_link(self->seeds[host - 1], made->parent, "<a href='%s/'>", place);
    return made;
}

void changes_begin(changes *self, unsigned hosts, unsigned copies)
{
    *self = (changes){.web = site_open(hosts), .seed_count = hosts};
    self->pages = site_memory((size_t)STORIES * KINDS * copies * sizeof *self->pages);
    for (unsigned host = 1; host <= hosts; host++)
        self->seeds[host - 1] = site_page_add(self->web, host, "/");
    for (size_t i = 0; i < (size_t)STORIES * KINDS * copies; i++)
        add_page(self, &stories[i % STORIES], &kinds[i / STORIES % KINDS], (unsigned)(i / STORIES / KINDS));
    self->memory = site_memory(self->web->page_count * sizeof *self->memory);
}

void changes_end(changes *self)
{
    site_close(self->web);
    free(self->pages);
    free(self->memory);
}

/* ---- a visit ---- */

/* The visit since which its content has been this version. */
static unsigned visit_of_change(const story *story, unsigned visit)
{
    unsigned since = visit;
    for (unsigned at = visit; at >= 1; at--) {
        char version = version_of(story->is[at - 1]);
        if (version && version != version_of(story->is[visit - 1]))
            break;
        since = version ? at : since;
    }
    return since;
}

static void say_content(changes_page *self, char letter, unsigned visit)
{
    site_page *page = self->page, *target = target_of(self, version_of(letter));
    const struct kind *kind = self->kind;
    bool packed = letter != version_of(letter);
    if (target)
        site_link(page, target, "<title>%s</title><a href=%c>on</a>", page->target, version_of(letter));
    else
        site_say(page, "<p>The same words on many pages, none of which says who wrote them first.");
    /* Packings have strong ETags of their own. */
    snprintf(self->etag, sizeof self->etag,
             kind->weak ? "W/\"%c\""
             : packed   ? "\"%c-%c\""
                        : "\"%c\"",
             version_of(letter), letter);
    snprintf(self->modified, sizeof self->modified, "Thu, %02u Jan 2026 08:09:10 GMT",
             1 + 7 * (visit_of_change(self->story, visit) - 1));
    page->answer.etag = kind->etag ? self->etag : NULL;
    page->answer.modified = kind->modified ? self->modified : NULL;
    page->answer.conditions = kind->conditions;
    if (packed)
        site_page_pack(page, letter >= 'a' || !VIDI_HAVE_BROTLI ? SITE_GZIP : SITE_BROTLI);
}

static void say_letter(changes_page *self, char letter, unsigned visit)
{
    site_page *page = self->page;
    if (version_of(letter)) {
        say_content(self, letter, visit);
    } else if (letter == 'M' || letter == 'N') {
        site_redirect(page, letter == 'M' ? 301 : 302, target_of(self, letter), letter == 'M' ? "M" : "N");
    } else if (letter == 'X') {
        site_say(page, "<title>half of a page</title>");
        page->answer.manner = SITE_CUT_OFF;
        page->status = SITE_ANY_STATUS;
        page->reason = "broken";
    } else if (letter != '.') {
        site_status(page, letter == 'G' ? 404 : letter == 'H' ? 410 : letter == 'P' ? 403 : 500);
    }
}

/* The page and its parent, as they are in this visit. */
static void turn_page(changes_page *self, unsigned visit)
{
    const char *is = self->story->is;
    bool is_linked = is[visit - 1] != '.', was_linked = visit > 1 && is[visit - 2] != '.';
    site_page *parent = self->parent;
    site_page_clear(self->page);
    say_letter(self, is[visit - 1], visit);
    self->page->change = name_of(self->story->said[visit - 1]);

    site_page_clear(parent);
    site_say(parent, "<title>parent</title>");
    if (is_linked)
        site_link(parent, self->page, "<a href=page>");
    snprintf(self->parent_etag, sizeof self->parent_etag, "\"parent%d\"", is_linked);
    parent->answer.etag = self->parent_etag;
    parent->change = visit == 1 ? "new" : is_linked == was_linked ? "unchanged" : "changed";
}

static bool is_same(const char *one, const char *other)
{
    return one && *one && strcmp(one, other) == 0;
}

/* A response of 304 must come if the last one with content had the validators that the page still has. */
static void expect_status(const site_page *page, const changes_memory *known, int *status)
{
    const site_answer *answer = &page->answer;
    bool same = answer->etag ? is_same(answer->etag, known->etag) : is_same(answer->modified, known->date);
    if (answer->status == 200 && !page->reason && known->has_content && same && answer->conditions != SITE_IGNORES)
        *status = 304;
}

static void remember(const site_page *page, changes_memory *known)
{
    const site_answer *answer = &page->answer;
    known->met = true;
    if (answer->status != 200 || page->reason)
        return;
    known->has_content = true;
    snprintf(known->etag, sizeof known->etag, "%s", answer->etag ? answer->etag : "");
    snprintf(known->date, sizeof known->date, "%s", answer->modified ? answer->modified : "");
}

void changes_turn(changes *self, unsigned visit)
{
    site *web = self->web;
    site_stop(web);
    self->visit = visit;
    for (size_t i = 0; i < self->count; i++)
        turn_page(&self->pages[i], visit);
    for (size_t i = 0; i < self->seed_count; i++)
        self->seeds[i]->change = visit == 1 ? "new" : "unchanged";
    site_walk(web, self->seeds, self->seed_count, -1);
    for (size_t i = 0; i < web->page_count; i++) {
        site_page *page = web->pages[i];
        changes_memory *known = &self->memory[i];
        if (!page->reached)
            continue;
        if (!page->change || strcmp(page->answer.etag ? page->answer.etag : "", "\"target\"") == 0)
            page->change = known->met ? "unchanged" : "new";
        if (!page->reason)
            page->status = page->answer.status;
        expect_status(page, known, &page->status);
        remember(page, known);
    }
    site_forget(web);
    site_serve(web);
}
