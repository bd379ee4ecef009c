/*
 * The judge of the crash tests: see checker.h. The distinct lines of the input, sorted; each has a count of how often it
 * was handed over and of how often it is fresh.
 */
#include "checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    checker_text line;
    uint64_t handed, fresh;
} entry;

typedef struct table {
    entry *entries;
    size_t count;
} table;

static int compare(const void *left, const void *right)
{
    const checker_text *a = &((const entry *)left)->line, *b = &((const entry *)right)->line;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->at, b->at, shorter);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Takes the next whole line off the text; its `at` is NULL if there is none. */
static checker_text next_line(checker_text *text)
{
    const char *end = text->length ? memchr(text->at, '\n', text->length) : NULL;
    if (!end)
        return (checker_text){NULL, 0};
    checker_text line = {text->at, (size_t)(end - text->at)};
    text->at = end + 1;
    text->length -= line.length + 1;
    return line;
}

static int make_table(table *all, checker_text input)
{
    size_t lines = 1, used = 0;
    for (size_t i = 0; i < input.length; i++)
        lines += input.at[i] == '\n';
    *all = (table){.entries = calloc(lines, sizeof *all->entries)};
    if (!all->entries)
        return -1;
    for (checker_text line = next_line(&input); line.at; line = next_line(&input))
        all->entries[all->count++].line = line;
    qsort(all->entries, all->count, sizeof *all->entries, compare);
    for (size_t i = 0; i < all->count; i++)
        if (used == 0 || compare(&all->entries[i], &all->entries[used - 1]) != 0)
            all->entries[used++] = all->entries[i];
    all->count = used;
    return 0;
}

static void show(checker_report *report, const char *what, checker_text line)
{
    int length = line.length < 100 ? (int)line.length : 100;
    if (!report->example[0])
        snprintf(report->example, sizeof report->example, "%s: %.*s (%zu bytes)", what, length, line.at, line.length);
}

/* Counts the lines of a text in the field at this offset of their entries. */
static void count(const table *all, checker_text text, size_t field, checker_report *report)
{
    for (checker_text line = next_line(&text); line.at; line = next_line(&text)) {
        entry wanted = {.line = line};
        entry *found = bsearch(&wanted, all->entries, all->count, sizeof *all->entries, compare);
        if (found) {
            ++*(uint64_t *)(void *)((char *)found + field);
        } else {
            report->strange++;
            show(report, "strange", line);
        }
    }
    report->unfinished += text.length > 0;
}

int checker_judge(checker_text input, const checker_text *handed, size_t texts, checker_text fresh,
                  checker_report *report)
{
    table all;
    *report = (checker_report){0};
    if (make_table(&all, input) != 0)
        return -1;
    for (size_t i = 0; i < texts; i++)
        count(&all, handed[i], offsetof(entry, handed), report);
    count(&all, fresh, offsetof(entry, fresh), report);
    report->lines = all.count;
    for (size_t i = 0; i < all.count; i++) {
        const entry *each = &all.entries[i];
        report->handed += each->handed > 0;
        report->fresh += each->fresh > 0;
        report->again += each->handed > 0 && each->fresh > 0;
        report->twice += each->handed > 1 ? each->handed - 1 : 0;
        if (each->handed == 0 && each->fresh == 0) {
            report->lost++;
            show(report, "lost", each->line);
        }
    }
    free(all.entries);
    return 0;
}
