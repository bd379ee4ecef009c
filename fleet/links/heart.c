/*
 * The heart: a thread that does nothing that takes long. It sends heartbeats, and looks at the fleet's record and at the
 * length of the own stream, many times a second. It answers ballots (ending.c) and publishes figures for people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "fleet/links/fleet_inside.h"
#include "fleet/members/heartbeat.h"

enum { BEATS_PER_LEASE = 10, LONGEST_BEAT = 2000, FIGURES_EVERY = 1000 };

typedef struct heart {
    fleet *fleet;
    int64_t beaten, published;
    char answer[96]; /* the one to send next; "": none */
    bool reopens;    /* the record says finished, and there is work */
} heart;

/* ---- heartbeats ---- */

static int64_t interval(const fleet *fleet)
{
    int64_t every = fleet->options.lease_ms / BEATS_PER_LEASE;

    return every < LONGEST_BEAT ? every : LONGEST_BEAT;
}

static bool is_due(const heart *h)
{
    fleet *f = h->fleet;

    pthread_mutex_lock(&f->lock);
    bool wanted = f->beats_wanted > f->beats_begun;
    pthread_mutex_unlock(&f->lock);
    return !fleet_is_out(f) && (wanted || fleet_now() >= h->beaten + interval(f));
}

static void beat(heart *h)
{
    fleet *f = h->fleet;
    member row = {.name = "", .adopted = members_adopted(f->members)};
    member_table table = {0};
    int64_t sent = fleet_now();

    memcpy(row.name, f->life, sizeof row.name);
    pthread_mutex_lock(&f->lock);
    row.activity = f->activity;
    row.idle = f->idle; /* for people, and as a hint: ballots are exact */
    row.leaving = f->leaving;
    uint64_t number = ++f->beats_begun;
    pthread_mutex_unlock(&f->lock);
    h->beaten = sent;
    if (heartbeat_send(f->heart.client, f->heart.name, &row, f->options.lease_ms, &table) != VIDI_OK)
        return; /* the next one may arrive; if none does, the lease runs out */
    life_take_table(f, &table, sent);
    pthread_mutex_lock(&f->lock);
    f->beats_answered = number;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* ---- the record ---- */

static uint64_t number_of(const redis_reply *reply)
{
    char text[24];

    return reply_copy(reply, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

/* Notes what the record says, and answers a new ballot if there is nothing to do. True: the caller should look. */
static bool note_record(heart *h, const redis_reply *record)
{
    fleet *f = h->fleet;
    fleet_state state = FLEET_RUNNING;
    bool known = record_state(reply_item(record, 0), &state);
    char ballot[TOKEN] = "";
    bool over = reply_item(record, 3) && reply_item(record, 3)->type == REDIS_TEXT;
    uint64_t visit = number_of(reply_item(record, 1));

    if (!known) /* a damaged record, or the set was dropped: all stays as it is */
        return false;
    (void)reply_copy(reply_item(record, 2), ballot, sizeof ballot);
    pthread_mutex_lock(&f->lock);
    bool idle = f->idle && f->moving == 0;
    if (idle && strcmp(ballot, f->ballot) != 0) {
        memcpy(f->ballot, ballot, sizeof ballot);
        snprintf(h->answer, sizeof h->answer, "%s %" PRIu64 " %" PRIu64, ballot, f->activity, f->kept);
    }
    bool news = state != f->state || over != f->over || visit != f->visit;
    f->state = state;
    f->over = over;
    f->visit = visit;
    h->reopens = state == FLEET_FINISHED && f->worked && !f->idle;
    pthread_mutex_unlock(&f->lock);
    return news;
}

static void note_length(heart *h, const redis_reply *length)
{
    uint64_t waiting = length->type == REDIS_INTEGER && length->integer > 0 ? (uint64_t)length->integer : 0;
    uint64_t before = atomic_exchange(&h->fleet->waiting, waiting);

    if (waiting > 0 && before == 0)
        fleet_wake(h->fleet);
}

static int look(heart *h)
{
    wire *wire = &h->fleet->heart;
    static const char *const fields[] = {"state", "visit", "ballot", "over"};
    char key[WIRE_KEY];
    command record, length;

    wire_stream(wire, h->fleet->life, key);
    command_begin(&record, "HMGET");
    command_text(&record, wire->record);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        command_text(&record, fields[i]);
    command_begin(&length, "XLEN");
    command_text(&length, key);
    redis_call calls[] = {wire_call(wire, &record, WIRE_READS), wire_call(wire, &length, WIRE_READS)};
    int error = wire_run(wire, calls, 2);
    if (error)
        return error;
    bool news = note_record(h, calls[0].reply);
    note_length(h, calls[1].reply);
    if (news)
        fleet_wake(h->fleet);
    return VIDI_OK;
}

int heart_look(fleet *fleet)
{
    heart h = {.fleet = fleet};

    return look(&h);
}

static void set_field(wire *wire, const char *key, const char *field, const char *value)
{
    command c;

    command_begin(&c, "HSET");
    command_text(&c, key);
    command_text(&c, field);
    command_text(&c, value);
    (void)wire_ask(wire, &c, WIRE_READS, NULL);
}

/* The ballot is answered once; if the answer is lost, so is the vote, and there will be another one. */
static void answer(heart *h)
{
    if (*h->answer)
        set_field(&h->fleet->heart, h->fleet->heart.quiet, h->fleet->life, h->answer);
    *h->answer = 0;
    if (h->reopens)
        (void)record_change_state(&h->fleet->heart, "finished", "running", NULL);
    h->reopens = false;
}

void heart_publish(fleet *fleet, wire *wire)
{
    tally *n = &fleet->counts;
    char text[160];

    snprintf(text, sizeof text, "%llu %llu %llu %llu %llu %llu", atomic_load(&n->sent), atomic_load(&n->taken),
             atomic_load(&n->forwarded), atomic_load(&n->done), atomic_load(&n->repeated), atomic_load(&n->bad));
    set_field(wire, wire->figures, fleet->life, text);
}

static void publish(heart *h)
{
    if (fleet_is_out(h->fleet) || fleet_now() < h->published + FIGURES_EVERY)
        return;
    h->published = fleet_now();
    heart_publish(h->fleet, &h->fleet->heart);
}

/* ---- the thread ---- */

/* Waits for the next look, or until a heartbeat is wanted. False: the thread is to end. */
static bool rest(heart *h)
{
    fleet *f = h->fleet;
    struct timespec at = clock_in(f->options.beat_ms);
    int over = 0;

    pthread_mutex_lock(&f->lock);
    while (!f->stop && over == 0 && (f->beats_wanted <= f->beats_begun || fleet_is_out(f)))
        over = pthread_cond_timedwait(&f->called, &f->lock, &at);
    bool goes_on = !f->stop;
    pthread_mutex_unlock(&f->lock);
    return goes_on;
}

void *heart_run(void *context)
{
    heart h = {.fleet = context, .beaten = fleet_now()};

    do {
        if (is_due(&h))
            beat(&h);
        (void)look(&h);
        answer(&h);
        publish(&h);
    } while (rest(&h));
    return NULL;
}
