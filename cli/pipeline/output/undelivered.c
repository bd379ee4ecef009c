/*
 * Lines that were not delivered yet: see undelivered.h. A list of chunks; lines are added to the last one and leave
 * from the first one.
 */
#include "pipeline/output/undelivered.h"

#include <stdlib.h>

enum { CHUNK_LINES = 8190 }; /* a chunk takes 64 KiB */

typedef struct cli_undelivered_chunk {
    struct cli_undelivered_chunk *next;
    uint64_t end, mark; /* `end` and `mark` of the lines count from these */
    unsigned count;
    struct {
        uint32_t end, mark;
    } lines[CHUNK_LINES];
} chunk;

static bool fits(const chunk *last, uint64_t end, uint64_t mark)
{
    return last && last->count < CHUNK_LINES && end - last->end <= UINT32_MAX && mark - last->mark <= UINT32_MAX;
}

static bool add_chunk(cli_undelivered *lines, uint64_t end, uint64_t mark)
{
    chunk *more = malloc(sizeof *more);

    if (!more)
        return false;
    more->next = NULL;
    more->end = end;
    more->mark = mark;
    more->count = 0;
    if (lines->last)
        lines->last->next = more;
    else
        lines->first = more;
    lines->last = more;
    return true;
}

bool cli_undelivered_add(cli_undelivered *lines, uint64_t end, uint64_t mark)
{
    if (!fits(lines->last, end, mark) && !add_chunk(lines, end, mark))
        return false;
    chunk *last = lines->last;
    last->lines[last->count].end = (uint32_t)(end - last->end);
    last->lines[last->count].mark = (uint32_t)(mark - last->mark);
    last->count++;
    lines->added++;
    lines->mark = mark;
    return true;
}

bool cli_undelivered_first(const cli_undelivered *lines, uint64_t *end)
{
    const chunk *first = lines->first;

    if (!first)
        return false;
    *end = first->end + first->lines[lines->gone].end;
    return true;
}

void cli_undelivered_take(cli_undelivered *lines)
{
    chunk *first = lines->first;

    lines->end = first->end + first->lines[lines->gone].end;
    lines->delivered++;
    lines->gone++;
    if (lines->gone < first->count)
        return;
    lines->first = first->next;
    lines->last = lines->first ? lines->last : NULL;
    lines->gone = 0;
    free(first);
}

uint64_t cli_undelivered_mark(const cli_undelivered *lines)
{
    const chunk *first = lines->first;
    return first ? first->mark + first->lines[lines->gone].mark : lines->mark;
}

void cli_undelivered_free(cli_undelivered *lines)
{
    while (lines->first) {
        chunk *next = lines->first->next;
        free(lines->first);
        lines->first = next;
    }
    lines->last = NULL;
}
