/*
 * The spatial filter split over processes (the thesis, section 6.4): whether it answers as one set does, and what the
 * messages cost.
 *
 * The members have the salts that they would have in one set with the run's key. So not just the rate must be the same,
 * but every answer: we count the answers that differ, of adds and of lookups.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "lab/thesis/further.h"

enum { K = 3, PART = 10, TIME_PART = 250, BATCH = LAB_BATCH_MAX };
#define M 2.0
#define PARAMS "k=3,M=2.0,mode=salted,hash=jenkins"

static const unsigned counts[] = {1, 2, 3};
static const char *const processes_rows[] = {"1 process", "2 processes", "3 processes", NULL};
static const char *const processes_columns[] = {"one set", "processes", "answers that differ", NULL};
static const char *const processes_exchange_rows[] = {"1 member", "2 members", "3 members", NULL};
static const char *const processes_ways[] = {"one set, 1 URL at a time", "one set, 4096 URLs at a time",
                                             "processes, 1 URL at a time", "processes, 4096 URLs at a time", NULL};
enum { COUNTS = sizeof counts / sizeof *counts, WAYS = 4, COLUMNS = 3 };

/* The same members twice: in one set and in processes. */
typedef struct pair {
    vidi_set *set;
    lab_members members;
    uint8_t in_set[BATCH], in_processes[BATCH];
} pair;

/* Call pair_free in every case. */
static int pair_make(pair **made, const lab_settings *settings, uint64_t run, unsigned count, uint64_t n)
{
    char params[80];
    pair *pair = *made = calloc(1, sizeof *pair);
    if (!pair)
        return lab_fail(VIDI_EMEMORY, "no memory for %d answers", BATCH);
    snprintf(params, sizeof params, "F=%u,eager=on," PARAMS, count);
    LAB_TRY(lab_members_start(&pair->members, settings, run, count, PARAMS, n));
    return lab_set_make(&pair->set, settings, run, "spatial", params, n);
}

static int pair_free(pair *pair)
{
    if (!pair)
        return VIDI_OK;
    int code = lab_members_stop(&pair->members);
    vidi_close(pair->set);
    free(pair);
    return code;
}

/* ---- answers ---- */

typedef struct tally {
    uint64_t in_set, in_processes, differ;
} tally;

static void count_answers(const pair *pair, size_t count, tally *tally)
{
    for (size_t i = 0; i < count; i++) {
        tally->in_set += pair->in_set[i] == VIDI_SEEN;
        tally->in_processes += pair->in_processes[i] == VIDI_SEEN;
        tally->differ += pair->in_set[i] != pair->in_processes[i];
    }
}

static int add_and_ask(pair *pair, const lab_texts *texts, tally *asked)
{
    uint64_t n = texts->count / 2;
    tally added = {0, 0, 0};
    for (uint64_t i = 0; i < texts->count;) {
        bool adds = i < n;
        uint64_t end = adds ? n : texts->count;
        size_t some = end - i < BATCH ? (size_t)(end - i) : BATCH;
        const vidi_str *urls = texts->urls + i;
        LAB_TRY((adds ? lab_members_add : lab_members_ask)(&pair->members, urls, some, pair->in_processes));
        LAB_TRY(adds ? vidi_add_batch(pair->set, urls, some, pair->in_set, NULL)
                     : vidi_has_batch(pair->set, urls, some, pair->in_set));
        count_answers(pair, some, adds ? &added : asked);
        i += some;
    }
    asked->differ += added.differ;
    return VIDI_OK;
}

static int measure_count(const lab_settings *settings, uint64_t run, unsigned count, const lab_texts *texts,
                         double *numbers)
{
    pair *pair;
    tally tally = {0, 0, 0};
    int code = pair_make(&pair, settings, run, count, texts->count / 2);
    if (code == VIDI_OK)
        code = add_and_ask(pair, texts, &tally);
    int ended = pair_free(pair);
    numbers[0] = (double)tally.in_set;
    numbers[1] = (double)tally.in_processes;
    numbers[2] = (double)tally.differ;
    return code < 0 ? code : ended;
}

static int measure_processes(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_texts texts;
    LAB_TRY(lab_texts_make(&texts, settings, run, 0, 2 * lab_further_urls(settings, PART)));
    for (size_t i = 0; i < COUNTS; i++)
        LAB_TRY(measure_count(settings, run, counts[i], &texts, numbers + COLUMNS * i));
    return VIDI_OK;
}

static void judge_processes(const lab_cell *cell, lab_entry *entry)
{
    uint64_t n = lab_further_urls(cell->settings, PART);
    lab_theory theory = {.asked = 2 * (double)n}; /* no answer may differ */
    if (cell->column < 2)
        theory = lab_filter_theory(n, lab_bits((double)n, K, M), K, counts[cell->row]);
    lab_entry_count(entry, cell->numbers, theory, 100);
}

/* ---- costs ---- */

typedef struct cost {
    double microseconds, messages; /* for each lookup */
} cost;

static int ask_one_way(pair *pair, const lab_texts *texts, size_t way, cost *cost)
{
    size_t batch = way % 2 ? BATCH : 1;
    uint64_t start = clock_now(), before = pair->members.messages;
    for (uint64_t i = 0; i < texts->count; i += batch) {
        size_t some = texts->count - i < batch ? (size_t)(texts->count - i) : batch;
        if (way < 2)
            LAB_TRY(vidi_has_batch(pair->set, texts->urls + i, some, pair->in_set));
        else
            LAB_TRY(lab_members_ask(&pair->members, texts->urls + i, some, pair->in_processes));
    }
    cost->microseconds = (double)(clock_now() - start) / 1000 / (double)texts->count;
    cost->messages = (double)(pair->members.messages - before) / (double)texts->count;
    return VIDI_OK;
}

static int measure_costs(const lab_settings *settings, uint64_t run, cost costs[COUNTS * WAYS])
{
    lab_texts texts;
    uint64_t n = lab_further_urls(settings, TIME_PART);
    int code = lab_texts_make(&texts, settings, run, 0, n);
    for (size_t i = 0; i < COUNTS && code == VIDI_OK; i++) {
        pair *pair;
        code = pair_make(&pair, settings, run, counts[i], n);
        for (size_t way = 0; way < WAYS && code == VIDI_OK; way++)
            code = ask_one_way(pair, &texts, way, &costs[WAYS * i + way]);
        int ended = pair_free(pair);
        code = code < 0 ? code : ended;
    }
    return code;
}

static int measure_processes_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    cost costs[COUNTS * WAYS] = {{0, 0}};
    LAB_TRY(measure_costs(settings, run, costs));
    for (size_t i = 0; i < COUNTS * WAYS; i++)
        numbers[i] = costs[i].microseconds;
    return VIDI_OK;
}

static int measure_processes_messages(const lab_settings *settings, uint64_t run, double *numbers)
{
    cost costs[COUNTS * WAYS] = {{0, 0}};
    LAB_TRY(measure_costs(settings, run, costs));
    for (size_t i = 0; i < COUNTS * WAYS; i++)
        numbers[i] = costs[i].messages;
    return VIDI_OK;
}

/* Theory: one request and one answer for each member and batch. */
static void judge_processes_messages(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)lab_further_urls(cell->settings, TIME_PART), batches = cell->column % 2 ? ceil(n / BATCH) : n;
    entry->theory = cell->column < 2 ? 0 : 2 * counts[cell->row] * batches / n;
    if (fabs(entry->measured - entry->theory) > 1e-9)
        entry->verdict = LAB_FAILS;
}

LAB_STUDY(further_processes, "further-processes", "Spatial strategy split over processes, non-incremental",
          "the thesis, section 6.4",
          "n is a tenth of the URLs. Jenkins, salted, k = 3, M = 2.0 a member. Differing answers are counted in "
          "adds and lookups.",
          "%", processes_rows, processes_columns, .timed = true, /* fork needs that no other thread runs */
          .measure = measure_processes, .judge = judge_processes);

LAB_STUDY(further_processes_time, "further-processes-time", "Spatial strategy split over processes: time of a lookup",
          "the thesis, section 6.4",
          "All members are queried, in one set, and in processes on this machine over sockets.", "microseconds per URL",
          processes_exchange_rows, processes_ways, .timed = true, .runs_most = 5, .measure = measure_processes_time);

LAB_STUDY(further_processes_messages, "further-processes-messages", "Spatial strategy split over processes: messages",
          "the thesis, section 6.4", "Requests and answers between the deciding process and the members.",
          "messages per URL", processes_exchange_rows, processes_ways, .timed = true, .runs_most = 1,
          .measure = measure_processes_messages, .judge = judge_processes_messages);
