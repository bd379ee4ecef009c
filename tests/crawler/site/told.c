/* See told.h. The program writes to a file beside the state, which is read as JSON. */
#include "told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/json.h"

static const char *const names[TOLD_NAMES] = {"new",  "changed", "unchanged", "gone",
                                              "back", "moved",   "failed",    "recovered"};

/* ---- the truth ---- */

static void add_line(told *self, char *line)
{
    if (self->count == self->room) {
        self->room = self->room * 2 + 256;
        self->lines = realloc(self->lines, self->room * sizeof *self->lines);
        if (!self->lines)
            exit(2);
    }
    self->lines[self->count++] = line;
}

static char *line_of(unsigned visit, const char *url, const char *change, int status)
{
    site_text line = {0};
    site_text_put(&line, "%u %s %s %d", visit, url, change, status);
    return line.at;
}

static int status_of(const site_page *page)
{
    return page->status == SITE_ANY_STATUS ? page->answer.status : page->status;
}

void told_expect(told *self, site *web)
{
    struct told_visit *visit = &self->visit[self->visits++];
    for (size_t i = 0; i < web->page_count; i++) {
        const site_page *page = web->pages[i];
        visit->urls += page->reached;
        for (int name = 0; name < TOLD_NAMES && page->reached; name++)
            visit->changes[name] += strcmp(names[name], page->change) == 0;
        if (page->reached && strcmp(page->change, "unchanged") != 0)
            add_line(self, line_of(self->visits, page->url, page->change, status_of(page)));
    }
    pthread_mutex_lock(&web->lock);
    for (size_t i = 0; i < web->log_count; i++)
        visit->bytes += strcmp(web->log[i].target, "/robots.txt") != 0 ? web->log[i].body : 0;
    pthread_mutex_unlock(&web->lock);
}

static void free_lines(told *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->lines[i]);
    free(self->lines);
}

void told_free(told *self)
{
    free_lines(self);
    *self = (told){0};
}

/* ---- what is told ---- */

/* What an action prints; the caller frees. */
static site_text output_of(const char *state, const char *action, const char *option, const char *value,
                           const char *more, const char *last)
{
    child_plan plan = {0};
    char path[TEST_PATH];
    site_text text = {0};
    snprintf(path, sizeof path, "%.240s.told", state);
    unlink(path);
    plan.out = path;
    child_add(&plan, child_built("vidi"), "crawl", action, option, value, more, last, NULL);
    check(child_run(&plan) == 0 && site_text_load(&text, path), "vidi crawl %s fails", action);
    return text;
}

/* -1: null */
static double read_real(json *j)
{
    double number = json_peek(j) == 'n' ? -1 : strtod(j->at, NULL);
    json_skip(j);
    return number;
}

static uint64_t read_number(json *j)
{
    double number = read_real(j);
    return number < 0 ? 0 : (uint64_t)number;
}

static struct told_visit read_visit(json *j, uint64_t *number)
{
    struct told_visit visit = {0};
    json_enter(j, '{');
    while (json_more(j, '}')) {
        json_text name = json_name(j);
        uint64_t *to = strcmp(name.at, "visit") == 0   ? number
                       : strcmp(name.at, "urls") == 0  ? &visit.urls
                       : strcmp(name.at, "bytes") == 0 ? &visit.bytes
                                                       : NULL;
        double *real = strcmp(name.at, "expected_lost") == 0        ? &visit.expected_lost
                       : strcmp(name.at, "expected_recovered") == 0 ? &visit.expected_recovered
                                                                    : NULL;
        for (int i = 0; i < TOLD_NAMES; i++)
            to = strcmp(name.at, names[i]) == 0 ? &visit.changes[i] : to;
        free(name.at);
        if (to)
            *to = read_number(j);
        else if (real)
            *real = read_real(j);
        else
            json_skip(j);
    }
    return visit;
}

static void compare_visit(const told *self, const struct told_visit *found, uint64_t number)
{
    check(number >= 1 && number <= self->visits, "the report has a visit %llu", (unsigned long long)number);
    const struct told_visit *real = &self->visit[number - 1];
    for (int i = 0; i < TOLD_NAMES; i++)
        check(found->changes[i] == real->changes[i], "visit %llu: %llu pages are %s, not %llu",
              (unsigned long long)number, (unsigned long long)real->changes[i], names[i],
              (unsigned long long)found->changes[i]);
    check(found->urls == real->urls && (self->was_killed || found->bytes == real->bytes),
          "visit %llu: %llu URLs with %llu bytes, not %llu with %llu", (unsigned long long)number,
          (unsigned long long)real->urls, (unsigned long long)real->bytes, (unsigned long long)found->urls,
          (unsigned long long)found->bytes);
}

static void compare_report(const told *self, const char *state)
{
    site_text text = output_of(state, "report", "--json", state, NULL, NULL);
    json j = {text.at, text.at + text.length, false};
    unsigned visits = 0;
    double lost = -1; /* that the visit before expects to have lost: as many may be found now */
    json_enter(&j, '{');
    while (json_more(&j, '}')) {
        json_text name = json_name(&j);
        bool is_visits = strcmp(name.at, "visits") == 0;
        free(name.at);
        if (!is_visits) {
            json_skip(&j);
            continue;
        }
        json_enter(&j, '[');
        for (; json_more(&j, ']'); visits++) {
            uint64_t number = 0;
            struct told_visit found = read_visit(&j, &number);
            compare_visit(self, &found, number);
            check(found.expected_recovered == lost, "visit %llu: %g pages may be recovered, not %g",
                  (unsigned long long)number, lost, found.expected_recovered);
            lost = found.expected_lost;
        }
    }
    check(!j.bad && visits == self->visits, "the report has %u visits, not %u: %s", visits, self->visits, text.at);
    site_text_free(&text);
}

static char *read_change(json *j)
{
    json_text url = {0}, change = {0};
    uint64_t visit = 0, status = 0;
    json_enter(j, '{');
    while (json_more(j, '}')) {
        json_text name = json_name(j);
        if (strcmp(name.at, "url") == 0)
            url = json_string(j);
        else if (strcmp(name.at, "change") == 0)
            change = json_string(j);
        else if (strcmp(name.at, "visit") == 0)
            visit = read_number(j);
        else if (strcmp(name.at, "status") == 0)
            status = read_number(j);
        else
            json_skip(j);
        free(name.at);
    }
    char *line = line_of((unsigned)visit, url.at ? url.at : "", change.at ? change.at : "", (int)status);
    free(url.at), free(change.at);
    return line;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void compare_changes(const told *self, const char *state)
{
    told found = {0};
    char to[16];
    snprintf(to, sizeof to, "%u", self->visits);
    site_text text = output_of(state, "changes", state, "--from=1", "--to", to);
    for (char *line = text.length ? text.at : NULL, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        check(end != NULL, "the last change ends before its line does");
        json j = {line, end, false};
        add_line(&found, read_change(&j));
        check(!j.bad, "not JSON: %.*s", (int)(end - line), line);
    }
    qsort(found.lines, found.count, sizeof *found.lines, by_text);
    qsort(self->lines, self->count, sizeof *self->lines, by_text);
    for (size_t i = 0; i < found.count && i < self->count; i++)
        check(strcmp(found.lines[i], self->lines[i]) == 0, "the change '%s' is told as '%s'", self->lines[i],
              found.lines[i]);
    check(found.count == self->count, "%zu changes are told, not %zu", found.count, self->count);
    told_free(&found);
    site_text_free(&text);
}

void told_must_be_true(const told *self, const char *state)
{
    if (!child_built("vidi"))
        return;
    compare_report(self, state);
    compare_changes(self, state);
}
