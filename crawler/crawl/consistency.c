/*
 * Decides whether the set and the database in a folder belong together.
 *
 * The set commits after the database, so it never knows more. If it does, because the database comes from a backup, was
 * damaged, or was copied while a crawl was running, the URLs that only the set knows would never be fetched. So each
 * says where the other stood:
 *
 *   set        a note, committed together with its URLs: "vidi crawl 1 RUN ROW". It has the URLs of all rows up to ROW,
 *              as they were in RUN.
 *   database   run, and run_before: random numbers, drawn by each run when it begins and by the one before it
 *              run_first: the last row when this run began
 *              synced_to: a row; the set had everything up to it on disk when this was committed
 *
 *   set        ... run_before, up to run_first at most      run, up to the last row at most      any other run
 *              the crash came right after the beginning     as it should be                      refused
 *
 * Each visit is an epoch of the set, whose number the database knows: visit.c. A set of another epoch is refused.
 *
 * So if a folder is copied and both copies are continued, their sets and databases do not mix. A set that ends before
 * synced_to is an older one, and is refused, too. A run writes its number to the database first; it never begins before
 * the set has, on disk, the number of the run before it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "crawler/crawl/crawl_state.h"

#define NOTE_BEGIN "vidi crawl 1 "
#define NOTE_FORM NOTE_BEGIN "%016" PRIx64 " %" PRIu64
#define WAY_ON "restore the one that fits, or make the set again from the database with --rebuild-seen"

/* What the note of a set says. */
typedef struct place {
    bool present;
    uint64_t run, row;
} place;

static bool parse(const char *text, place *at)
{
    char *middle, *end;

    if (strncmp(text, NOTE_BEGIN, strlen(NOTE_BEGIN)) != 0)
        return false;
    at->run = strtoull(text + strlen(NOTE_BEGIN), &middle, 16);
    at->row = strtoull(middle, &end, 10);
    at->present = *middle == ' ' && end > middle + 1 && !*end;
    return at->present;
}

static int read_place(const vidi_set *set, place *at)
{
    char text[VIDI_NOTE_MAX + 1];
    size_t length = VIDI_NOTE_MAX;
    int error = vidi_note(set, text, &length);

    *at = (place){0};
    text[error ? 0 : length] = 0;
    return !error && length > 0 && !parse(text, at) ? VIDI_EFORMAT : error;
}

/* A number of the database; 0: it is not there. */
static int number(crawl_db *from, const char *name, uint64_t *value)
{
    int64_t found = 0;
    int error = db_get(from, name, &found);

    *value = (uint64_t)found;
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

int consistency_read(crawl_db *from, consistency_entries *to)
{
    db_visit visit = {0};
    uint64_t continuous = 0;
    int error = number(from, "run", &to->run);

    if (error == VIDI_OK)
        error = number(from, "run_before", &to->run_before);
    if (error == VIDI_OK)
        error = number(from, "run_first", &to->run_first);
    if (error == VIDI_OK)
        error = number(from, "synced_to", &to->synced_to);
    if (error == VIDI_OK)
        error = number(from, "epoch", &to->epoch);
    if (error == VIDI_OK)
        error = number(from, "next_epoch", &to->next_epoch);
    if (error == VIDI_OK)
        error = number(from, "continuous", &continuous);
    if (error == VIDI_OK)
        error = db_visit_read(from, 0, &visit);
    to->is_continuous = error == VIDI_OK && continuous == visit.number;
    to->first = error == VIDI_OK ? visit.first : 1;
    to->last = frontier_last(db_frontier(from));
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* The set has no note: it is new, or somebody else's. */
static int compare_without_note(const consistency_entries *known, const vidi_stats *stats, char *why)
{
    if (stats->count > 0)
        return crawl_explain(why, VIDI_EDIFFERS, "seen knows %" PRIu64 " URLs that no crawl has put there: " WAY_ON,
                             stats->count);
    if (known->synced_to > 0)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "seen is empty, but crawl.db knows a set with %" PRIu64 " URLs: " WAY_ON,
                             known->synced_to);
    return VIDI_OK;
}

static int compare(const consistency_entries *known, const place *at, const vidi_stats *stats, char *why)
{
    uint64_t most = at->run == known->run ? known->last : known->run_first;

    if (!at->present)
        return compare_without_note(known, stats, why);
    if (known->run == 0)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "seen knows %" PRIu64
                             " URLs, but crawl.db is empty or new: restore it, or delete both to begin again",
                             stats->count);
    if (at->run != known->run && at->run != known->run_before)
        return crawl_explain(
            why, VIDI_EDIFFERS,
            "seen and crawl.db belong to different crawls, or to different times of this one: " WAY_ON);
    if (at->row > most)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "crawl.db is older than seen: it has %" PRIu64 " rows, and seen knows the URLs of %" PRIu64
                             ", of which the rest would never be fetched: " WAY_ON,
                             most, at->row);
    if (at->row < known->synced_to)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "seen is older than crawl.db: it knows the URLs of %" PRIu64
                             " rows, and once knew %" PRIu64 ": " WAY_ON,
                             at->row, known->synced_to);
    if (stats->epoch != known->epoch && (known->next_epoch == 0 || stats->epoch != known->next_epoch))
        return crawl_explain(why, VIDI_EDIFFERS,
                             "seen is of another visit than crawl.db: it is in epoch %" PRIu64 ", not %" PRIu64
                             ": " WAY_ON,
                             (uint64_t)stats->epoch, known->epoch);
    return VIDI_OK;
}

int consistency_compare(const consistency_entries *known, const vidi_set *set, uint64_t *row, char *why)
{
    vidi_stats stats = {.size = sizeof stats};
    place at = {0};
    int error = vidi_stat(set, &stats);

    if (error == VIDI_OK)
        error = read_place(set, &at);
    *row = at.row < known->first - 1 ? known->first - 1 : at.row;
    if (error == VIDI_EFORMAT)
        return crawl_explain(why, VIDI_EDIFFERS, "seen has a note that is not a crawl's: " WAY_ON);
    return error ? crawl_explain(why, error, "seen: %s", vidi_message()) : compare(known, &at, &stats, why);
}

int consistency_begin_run(crawl *crawl)
{
    uint64_t before = crawl->run;
    uint64_t last = frontier_last(db_frontier(crawl->db));

    while (crawl->run == before || crawl->run == 0)
        if (getrandom(&crawl->run, sizeof crawl->run, 0) != (ssize_t)sizeof crawl->run)
            return VIDI_ESYSTEM;
    int error = db_set(crawl->db, "run", (int64_t)crawl->run);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "run_before", (int64_t)before);
    return error ? error : db_set(crawl->db, "run_first", (int64_t)last);
}

int consistency_commit(crawl *crawl, uint64_t mark, uint64_t row)
{
    char text[64];
    int length = snprintf(text, sizeof text, NOTE_FORM, crawl->run, row);

    return vidi_commit_note(crawl->set, mark, (vidi_str){text, (size_t)length});
}
