/* The checker: see polite_log.h. */
#include "crawler/politeness/polite_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHY_ROOM = 200 };

void log_append(polite_log *log, log_event event)
{
    if (log->count == log->room) {
        log->room = log->room ? 2 * log->room : 1024;
        log->events = realloc(log->events, log->room * sizeof *log->events);
    }
    log->events[log->count++] = event;
}

void log_free(polite_log *log)
{
    free(log->events);
    *log = (polite_log){0};
}

/* A name or an address. */
typedef struct known_slot {
    unsigned running;
    int64_t after_end;        /* not before, because of ends and back-offs */
    int64_t start, start_gap; /* the last beginning that was not returned */
    size_t start_queue;
} known_slot;

typedef struct known_queue {
    bool here, wants, asked;
    size_t name, address;
    unsigned running;
    int64_t since, crawl_delay, ended;
    size_t since_event;
} known_queue;

typedef struct checker {
    const polite_log *log;
    unsigned per_host;
    int64_t told; /* the latest time that politeness was told */
    known_slot names[LOG_SLOTS], addresses[LOG_SLOTS];
    known_queue queues[LOG_QUEUES];
    size_t queue_end;
    char *why;
} checker;

__attribute__((format(printf, 3, 4))) static bool wrong(const checker *c, size_t event, const char *format, ...)
{
    char what[WHY_ROOM / 2];
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    snprintf(c->why, WHY_ROOM, "event %zu at %lld: %s", event, (long long)c->log->events[event].time, what);
    return false;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- the rules ---- */

static int64_t gap_of_starts(const checker *c, const known_queue *queue)
{
    return max(c->log->options.delay < 0 ? 1000 : c->log->options.delay, queue->crawl_delay);
}

static int64_t gap_after_end(const checker *c, const known_queue *queue, int64_t took)
{
    if (c->log->options.delay >= 0)
        return max(c->log->options.delay, queue->crawl_delay);
    int64_t rule = 5 * took < 1000 ? 1000 : 5 * took > 30000 ? 30000 : 5 * took;
    return max(rule, queue->crawl_delay);
}

/* The first moment at which the slot may have a further request, as far as time is concerned. */
static int64_t slot_time(const checker *c, const known_slot *slot)
{
    return c->per_host > 1 ? max(slot->after_end, slot->start + slot->start_gap) : slot->after_end;
}

static int64_t time_by_name(const checker *c, const known_queue *queue)
{
    return slot_time(c, &c->names[queue->name]);
}

static int64_t time_by_address(const checker *c, const known_queue *queue)
{
    return slot_time(c, &c->addresses[queue->address]);
}

static bool has_room(const checker *c, const known_queue *queue)
{
    return c->names[queue->name].running < c->per_host && c->addresses[queue->address].running < c->per_host;
}

/* When the queue could go; INT64_MAX: not by the passing of time. */
static int64_t queue_time(const checker *c, const known_queue *queue)
{
    if (!queue->here || !queue->wants || !has_room(c, queue))
        return INT64_MAX;
    return max(time_by_name(c, queue), time_by_address(c, queue));
}

/* Has `a` waited longer than `b`? Each since it could have gone; at one address, since it could have gone but for that. */
static bool waited_longer(const checker *c, const known_queue *a, const known_queue *b)
{
    int64_t since_a = max(queue_time(c, a), a->since), since_b = max(queue_time(c, b), b->since);
    if (since_a != since_b || a->address != b->address)
        return since_a < since_b;
    since_a = max(time_by_name(c, a), a->since);
    since_b = max(time_by_name(c, b), b->since);
    return since_a != since_b ? since_a < since_b : a->since_event < b->since_event;
}

/* ---- events ---- */

static void wait_since(checker *c, known_queue *queue, size_t at)
{
    queue->since = c->told;
    queue->since_event = at;
}

static bool check_turn(const checker *c, size_t at)
{
    const log_event *event = &c->log->events[at];
    const known_queue *queue = &c->queues[event->queue];

    if (!queue->here || !queue->wants)
        return wrong(c, at, "queue %zu does not want a turn", event->queue);
    if (c->names[queue->name].running >= c->per_host)
        return wrong(c, at, "too many in flight at name %zu", queue->name);
    if (c->addresses[queue->address].running >= c->per_host)
        return wrong(c, at, "too many in flight at address %zu", queue->address);
    if (event->time < time_by_name(c, queue))
        return wrong(c, at, "too early for name %zu", queue->name);
    if (event->time < time_by_address(c, queue))
        return wrong(c, at, "too early for address %zu", queue->address);
    for (size_t i = 0; i < c->queue_end; i++)
        if (queue_time(c, &c->queues[i]) <= event->time && waited_longer(c, &c->queues[i], queue))
            return wrong(c, at, "queue %zu has waited longer than %zu", i, event->queue);
    return true;
}

static void begin(known_slot *slot, const log_event *event, int64_t gap)
{
    slot->running++;
    if (gap == 0)
        return;
    slot->start = event->time;
    slot->start_gap = gap;
    slot->start_queue = event->queue;
}

static bool check_start(checker *c, size_t at)
{
    const log_event *event = &c->log->events[at];
    known_queue *queue = &c->queues[event->queue];

    c->told = max(c->told, event->time);
    if (!check_turn(c, at))
        return false;
    begin(&c->names[queue->name], event, gap_of_starts(c, queue));
    begin(&c->addresses[queue->address], event, gap_of_starts(c, queue));
    queue->running++;
    wait_since(c, queue, at);
    return true;
}

static void hold(checker *c, const known_queue *queue, int64_t until)
{
    c->names[queue->name].after_end = max(c->names[queue->name].after_end, until);
    c->addresses[queue->address].after_end = max(c->addresses[queue->address].after_end, until);
}

static void end(checker *c, const log_event *event)
{
    known_queue *queue = &c->queues[event->queue];
    int64_t gap = gap_after_end(c, queue, event->value);

    c->told = max(c->told, event->time);
    c->names[queue->name].running--;
    c->addresses[queue->address].running--;
    queue->running--;
    queue->asked = true;
    queue->ended = event->time;
    if (gap > 0)
        hold(c, queue, event->time + gap);
}

/* The beginning before the last one lies so far back that it does not matter. */
static void take_back(known_slot *slot, size_t queue)
{
    slot->running--;
    if (slot->start_queue == queue)
        slot->start = slot->start_gap = 0;
}

static bool check_idle(checker *c, size_t at)
{
    const log_event *event = &c->log->events[at];
    int64_t first = INT64_MAX;

    c->told = max(c->told, event->time);
    for (size_t i = 0; i < c->queue_end; i++) {
        int64_t time = queue_time(c, &c->queues[i]);
        if (time <= event->time)
            return wrong(c, at, "queue %zu could have gone", i);
        if (time < first)
            first = time;
    }
    if (first != event->value)
        return wrong(c, at, "the next turn is at %lld, not %lld", (long long)first, (long long)event->value);
    return true;
}

static bool check_look(const checker *c, size_t at)
{
    const log_event *event = &c->log->events[at];
    const known_queue *queue = &c->queues[event->queue];
    int64_t time = max(time_by_name(c, queue), time_by_address(c, queue));

    if (max(time, c->told) != max(event->value, c->told))
        return wrong(c, at, "queue %zu may be asked at %lld, not %lld", event->queue, (long long)time,
                     (long long)event->value);
    return true;
}

static void set(checker *c, size_t at)
{
    const log_event *event = &c->log->events[at];
    known_queue *queue = &c->queues[event->queue];

    if (event->kind == LOG_WANT) {
        if (!queue->wants && event->value)
            wait_since(c, queue, at);
        queue->wants = event->value != 0;
    } else if (event->kind == LOG_CRAWL_DELAY) {
        queue->crawl_delay = event->value;
        if (queue->asked && event->value > 0)
            hold(c, queue, queue->ended + event->value);
    } else if (event->kind == LOG_BACK_OFF) {
        hold(c, queue, event->value);
    } else {
        *queue = (known_queue){.here = event->kind == LOG_ADD, .name = event->name, .address = event->address};
        if (event->queue >= c->queue_end)
            c->queue_end = event->queue + 1;
    }
}

static bool check_event(checker *c, size_t at)
{
    const log_event *event = &c->log->events[at];
    known_queue *queue = &c->queues[event->queue];

    switch (event->kind) {
    case LOG_START:
        return check_start(c, at);
    case LOG_IDLE:
        return check_idle(c, at);
    case LOG_LOOK:
        return check_look(c, at);
    case LOG_END:
        end(c, event);
        return true;
    case LOG_RETURN:
        queue->running--;
        take_back(&c->names[queue->name], event->queue);
        take_back(&c->addresses[queue->address], event->queue);
        return true;
    default:
        set(c, at);
        return true;
    }
}

bool log_check(const polite_log *log, char *why)
{
    checker *c = calloc(1, sizeof *c);
    bool fine = true;

    c->log = log;
    c->per_host = log->options.per_host;
    c->why = why;
    why[0] = 0;
    for (size_t i = 0; i < log->count && fine; i++)
        fine = check_event(c, i);
    free(c);
    return fine;
}
