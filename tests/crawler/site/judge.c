#include "judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 0, SEED = 1, SITEMAP = 2, OUTSIDE = 3 }; /* urls.kind */

typedef struct judging {
    judgement *result;
    site *web;
    unsigned flags;
    judge_stranger *stranger;
    void *context;
    bool *met; /* by the pages' numbers */
} judging;

static void note(judgement *result, uint64_t *counter, const char *format, ...)
{
    va_list arguments;
    ++*counter;
    if (result->first[0])
        return;
    va_start(arguments, format);
    vsnprintf(result->first, sizeof result->first, format, arguments);
    va_end(arguments);
}

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

static bool is_stored_right(const judging *self, const site_page *page, const checker_row *row)
{
    bool is_cut = page->reason && strcmp(page->reason, "robots") != 0; /* what came of it may be stored */
    bool expected = !page->unstored && !page->reason && row->kind != OUTSIDE;
    bool is_stored = row->file || (row->status == 304 && row->body > 0);
    return !(self->flags & JUDGE_STORED) || is_cut || is_stored == expected;
}

static void judge_page(judging *self, const site_page *page, const checker_row *row)
{
    judgement *result = self->result;
    bool same_reason = strcmp(or_none(row->reason), or_none(page->reason)) == 0;
    if (!page->reached)
        note(result, &result->unexpected, "%s must not be visited", row->url);
    else if (row->outcomes == 0)
        return; /* the check has counted it */
    else if ((page->status != SITE_ANY_STATUS && row->status != page->status) || !same_reason)
        note(result, &result->wrong, "%s has status %lld and reason %s, not %d and %s", row->url,
             (long long)row->status, or_none(row->reason), page->status, or_none(page->reason));
    else if ((self->flags & JUDGE_DEPTHS) && row->depth != page->depth)
        note(result, &result->wrong, "%s is at depth %lld, not %u", row->url, (long long)row->depth, page->depth);
    else if (page->change && strcmp(or_none(row->change), page->change) != 0)
        note(result, &result->wrong, "%s is %s, not %s (status %lld)", row->url, or_none(row->change), page->change,
             (long long)row->status);
    else if (!is_stored_right(self, page, row))
        note(result, &result->wrong, "%s %s in the archive", row->url, row->file ? "is" : "is not");
    else
        result->right++;
}

static void judge_row(void *context, const checker_row *row)
{
    judging *self = context;
    const site_page *page = site_find_url(self->web, row->url);
    if (row->is_old)
        return;
    if (page) {
        self->met[page->number] = true;
        judge_page(self, page, row);
    } else if (!self->stranger || !self->stranger(self->context, row)) {
        note(self->result, &self->result->unexpected, "%s is not a page of the site (status %lld, reason %s)", row->url,
             (long long)row->status, or_none(row->reason));
    }
}

static void judge_requests(judging *self, const site_page *page)
{
    judgement *result = self->result;
    unsigned expected = page->reached && (!page->reason || strcmp(page->reason, "robots") != 0);
    if (page->apart)
        return;
    if (page->requests > 1)
        result->extra += page->requests - 1;
    if (page->early_times || page->reason)
        return;
    if ((self->flags & JUDGE_REQUESTS) && page->requests != expected)
        note(result, &result->repeated, "%s was asked for %u times", page->url, page->requests);
}

void judge_crawl(judgement *result, site *web, const char *folder, const char *output, unsigned flags,
                 judge_stranger *stranger, void *context)
{
    judging self = {result, web, flags, stranger, context, site_memory(web->page_count + 1)};
    memset(result, 0, sizeof *result);
    checker_look(&result->check, folder, output, judge_row, &self);
    for (size_t i = 0; i < web->page_count; i++) {
        const site_page *page = web->pages[i];
        result->expected += page->reached;
        if (page->reached && !self.met[i])
            note(result, &result->missing, "%s was not visited", page->url);
        judge_requests(&self, page);
    }
    free(self.met);
}

uint64_t judge_faults(const judgement *result, unsigned flags)
{
    uint64_t left = flags & JUDGE_PARTLY ? result->check.unanswered + result->missing : 0;
    return result->wrong + result->missing + result->unexpected + result->repeated + checker_faults(&result->check) -
           left;
}
