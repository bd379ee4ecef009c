/*
 * What processes, their messages and the server do in test_members_model.c: a state, the steps that lead to others, and
 * what must be true in each. The members are the real code, which is included here; the server is heartbeat.lua once
 * more, short enough to be compared by eye.
 */
#ifndef TESTS_FLEET_MEMBERS_MODEL_H
#define TESTS_FLEET_MEMBERS_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

typedef enum fault {
    NO_FAULT,
    /* in members.c */
    BEGINS_TOO_EARLY, /* before all have adopted */
    TWO_VERSIONS,     /* remembers the settled version and the newest, but none in between */
    /* in the member's process */
    ADOPTS_TOO_EARLY,  /* while it fetches what it lost */
    LEAVES_TOO_EARLY,  /* while it fetches */
    LEASE_FROM_ANSWER, /* counts the lease from the answer on */
    FETCHES_ON,        /* does not end fetching with its lease */
    GOES_ON,           /* after a failover, although its lease was over */
    KEEPS_ITS_NAME,    /* comes again under the same name after its lease was lost */
    /* on the server */
    TAKES_OVER_TOO_EARLY, /* before the lease is over */
    COMES_BACK,           /* a late heartbeat brings back a row that was removed */
    CLOCK_IN_FULL,        /* a clock that was set forward ends leases */
    SAME_VERSION_LEAVING, /* the version stays although a member begins to leave */
    SAME_VERSION_GONE,    /* or has gone */
    SAME_VERSION_JOINED,  /* or has come */
    FAILS_SILENTLY,       /* after a failover everything goes on as before */
    FAULTS
} fault;

static fault planted;

/* ---- members.c, with memory that is given back all at once ---- */

enum { ARENA = 1 << 16 };
static _Alignas(16) char arena[ARENA];
static size_t arena_used;

static void *arena_calloc(size_t n, size_t size)
{
    size_t bytes = (n * size + 15) & ~(size_t)15;
    assert_true(bytes <= ARENA - arena_used);
    arena_used += bytes;
    return memset(arena + arena_used - bytes, 0, bytes);
}

static void arena_free(void *block)
{
    (void)block;
}

#define MEMBERS_PLANTED(fault) (planted == (fault))
#define calloc arena_calloc
#define free arena_free
#include "fleet/members/members.c" // NOLINT(bugprone-suspicious-include)
#undef calloc
#undef free

/* ---- a state ---- */

enum { PROCESSES = 3, LIVES = 2, ALL = (1 << PROCESSES) - 1, NAMES = PROCESSES * LIVES + 1, GHOST = NAMES - 1 };
enum { LEASE = 4, GRACE = 1, JUMP = 8, VERSIONS = 32, OLDEST = LEASE + 1 };

/* How long a member may fetch after its heartbeat, and when its row may be removed, in ticks. */
static uint8_t may_fetch_for = LEASE - LEASE / 4, removed_after = LEASE + GRACE;

/* Of process p's life l: 2 * p + l. Sorted, as rows are. */
static const char names[NAMES][MEMBER_NAME] = {"a.1", "a.2", "b.1", "b.2", "c.1", "c.2", "failover"};

/* Bytes only, so that states can be compared as memory. rows and leaving are bits of names. */
typedef struct snapshot {
    uint8_t version, rows, leaving;
    uint8_t history; /* grows with each failover */
    uint8_t adopted[NAMES];
} snapshot;

typedef struct table {
    snapshot now;
    uint8_t left[NAMES]; /* ticks until the row may be removed */
    uint8_t had;         /* names that had a row at some time */
} table;

typedef enum kind { NOTHING, JOIN, RENEW, LEAVE } kind;

typedef struct request {
    uint8_t kind, name, known, adopted, leaving;
    uint8_t age; /* ticks since it was sent */
} request;

typedef struct answer {
    uint8_t is_there, name, age;
    snapshot table;
} answer;

/* What members.c keeps. */
typedef struct knowledge {
    uint32_t seen; /* bits of versions */
    snapshot table;
    uint8_t out, adopted, settled, rivals;
    uint8_t last[NAMES]; /* of rivals */
    uint8_t padding[2];
} knowledge;
_Static_assert(sizeof(knowledge) == 28, "no bytes that are not compared");

typedef enum phase { AWAY, JOINING, THERE, ENDED } phase;

typedef struct process {
    uint8_t phase, done, life;
    uint8_t leaving, fetching;
    uint8_t may_fetch;  /* ticks that are left */
    request sent, late; /* late: an older one that is still on its way */
    answer coming;
    knowledge knows;
} process;
_Static_assert(sizeof(process) == 60, "no bytes that are not compared");

typedef struct model {
    process processes[PROCESSES];
    table server;
    table replica; /* what a replica knows, if `replicated` */
    uint8_t replicated, failed, jumps;
    uint8_t padding[3];
} model;

/*
 * What is explored: what each process does, and what may happen besides. 'j': joins; 'l': leaves; 'd': dies.
 */
typedef struct world {
    const char *actions[PROCESSES];
    uint8_t orders; /* in which members beat each other: so many are tried */
    /* Bits of processes: time passes for these; messages of these stay on their way. The others are answered at once. */
    uint8_t slow, apart;
    /* How long a member may fetch after a heartbeat; one tick later it may be removed. 0: as LEASE and GRACE say. */
    uint8_t ticks;
    uint8_t jumps; /* of the server's clock */
    bool fails;    /* the server does, once */
    bool again;    /* who lost the lease joins again */
    bool late;     /* heartbeats of the second process may arrive after others that it sent later */
} world;

static uint64_t site; /* the one that they fetch */

static uint8_t name_of(unsigned p, const process *of)
{
    return (uint8_t)(LIVES * p + (planted == KEEPS_ITS_NAME ? 0 : of->life));
}

static bool has(uint8_t bits, unsigned i)
{
    return bits >> i & 1;
}

/* ---- members.c works on a part of a state ---- */

static members real;
static state real_now = {.lock = PTHREAD_MUTEX_INITIALIZER};
static uint64_t name_hashes[NAMES];

static void fill_rows(member_table *made, uint64_t *hashes, const snapshot *from)
{
    made->version = from->version;
    made->history = planted == GOES_ON ? 0 : from->history;
    for (unsigned i = 0; i < NAMES; i++) {
        if (!has(from->rows, i))
            continue;
        member *row = &made->rows[made->count];
        memcpy(row->name, names[i], MEMBER_NAME);
        row->adopted = from->adopted[i];
        row->leaving = has(from->leaving, i);
        hashes[made->count++] = name_hashes[i];
    }
}

static const members *load(const knowledge *from, unsigned name)
{
    state *now = &real_now;
    arena_used = 0;
    memcpy(real.self, names[name], MEMBER_NAME);
    real.hash = name_hashes[name];
    real.lease_ms = LEASE;
    real.now = now;
    now->table = (member_table){.rows = arena_calloc(NAMES, sizeof *now->table.rows)};
    now->hashes = arena_calloc(NAMES, sizeof *now->hashes);
    fill_rows(&now->table, now->hashes, &from->table);
    now->self = find(&now->table, real.self);
    now->out = from->out;
    now->may_fetch_until = 0;
    now->adopted = from->adopted;
    now->settled = from->settled;
    now->seen = arena_calloc(VERSIONS, sizeof *now->seen);
    now->n_seen = 0;
    for (unsigned v = 0; v < VERSIONS; v++)
        if (from->seen >> v & 1)
            now->seen[now->n_seen++] = v;
    now->rivals = arena_calloc(NAMES, sizeof *now->rivals);
    now->n_rivals = 0;
    for (unsigned i = 0; i < NAMES; i++)
        if (has(from->rivals, i))
            now->rivals[now->n_rivals++] = (rival){name_hashes[i], from->last[i], i < name};
    return &real;
}

/*
 * Of what others had adopted, only the oldest version counts when this member adopts, and only compared with the
 * versions that it has seen. So states that differ in nothing else are one.
 */
static void forget_adopted(knowledge *of, unsigned self)
{
    unsigned everybody = VERSIONS - 1;
    for (unsigned i = 0; i < NAMES; i++)
        if (i != self && has(of->table.rows, i) && of->table.adopted[i] < everybody)
            everybody = of->table.adopted[i];
    while (everybody && !(of->seen >> everybody & 1))
        everybody--;
    for (unsigned i = 0; i < NAMES; i++)
        of->table.adopted[i] = i != self && has(of->table.rows, i) ? (uint8_t)everybody : 0;
}

static void save(knowledge *to, unsigned self, const snapshot *newest)
{
    const state *now = &real_now;
    *to = (knowledge){.out = now->out};
    if (now->out)
        return;
    if (now->table.version == newest->version)
        to->table = *newest;
    to->adopted = (uint8_t)now->adopted;
    to->settled = (uint8_t)now->settled;
    for (size_t i = 0; i < now->n_seen; i++)
        to->seen |= UINT32_C(1) << now->seen[i];
    for (size_t i = 0; i < now->n_rivals; i++) {
        unsigned k = 0;
        while (name_hashes[k] != now->rivals[i].hash)
            k++;
        to->rivals |= (uint8_t)(1 << k);
        to->last[k] = (uint8_t)now->rivals[i].last;
    }
    forget_adopted(to, self);
}

static bool may_fetch(unsigned p, const process *self)
{
    return self->phase == THERE && self->may_fetch && members_may_fetch(load(&self->knows, name_of(p, self)), site);
}

/* ---- the server: heartbeat.lua ---- */

static void raise_version(table *of, fault unless)
{
    if (planted != unless || of->now.version == 0)
        of->now.version++;
    assert_true(of->now.version < VERSIONS);
}

static void remove_row(table *of, unsigned name)
{
    of->now.rows &= (uint8_t) ~(1 << name);
    of->now.leaving &= (uint8_t) ~(1 << name);
    of->now.adopted[name] = of->left[name] = 0;
    raise_version(of, SAME_VERSION_GONE);
}

static void add_row(table *of, unsigned name)
{
    of->now.rows |= (uint8_t)(1 << name);
    of->had |= (uint8_t)(1 << name);
    of->left[name] = removed_after;
    raise_version(of, SAME_VERSION_JOINED);
}

static void remove_the_dead(table *of)
{
    unsigned over = planted == TAKES_OVER_TOO_EARLY ? GRACE + 2 : 0;
    for (unsigned i = 0; i < NAMES; i++)
        if (has(of->now.rows, i) && of->left[i] <= over)
            remove_row(of, i);
}

/* The first heartbeat after a failover. Lost changes cannot have raised the version so far. */
static void notice_failover(model *of, unsigned known)
{
    table *server = &of->server;
    if (of->failed != 1)
        return;
    of->failed = 2;
    if (planted == FAILS_SILENTLY)
        return;
    server->now.history++;
    server->now.version = (uint8_t)((known > server->now.version ? known : server->now.version) + JUMP);
    add_row(server, GHOST);
    server->now.leaving |= 1 << GHOST;
}

static void renew(table *server, const request *of)
{
    bool begins_to_leave = of->leaving && !has(server->now.leaving, of->name);
    server->left[of->name] = removed_after;
    if (of->adopted > server->now.adopted[of->name])
        server->now.adopted[of->name] = of->adopted;
    if (begins_to_leave) {
        server->now.leaving |= (uint8_t)(1 << of->name);
        raise_version(server, SAME_VERSION_LEAVING);
    }
}

static void serve(model *of, unsigned p, request *which)
{
    request served = *which;
    table *server = &of->server;
    *which = (request){0};
    remove_the_dead(server);
    notice_failover(of, served.known);
    if (served.known > server->now.version)
        server->now.version = (uint8_t)(served.known + 1);
    bool is_new = served.kind == JOIN && (!has(server->had, served.name) || planted == KEEPS_ITS_NAME);
    if (!has(server->now.rows, served.name) && (is_new || (served.kind == RENEW && planted == COMES_BACK)))
        add_row(server, served.name);
    if (has(server->now.rows, served.name) && served.kind == LEAVE)
        remove_row(server, served.name);
    else if (has(server->now.rows, served.name))
        renew(server, &served);
    if (of->processes[p].phase != ENDED && served.name == name_of(p, &of->processes[p]))
        of->processes[p].coming = (answer){1, served.name, served.age, server->now};
}

/* ---- the processes ---- */

static void end(process *self)
{
    *self = (process){.phase = ENDED, .done = self->done, .life = self->life, .sent = self->sent, .late = self->late};
}

static void send(process *self, unsigned p, kind what, request *as)
{
    *as = (request){.kind = (uint8_t)what,
                    .name = name_of(p, self),
                    .known = self->knows.table.version,
                    .adopted = self->knows.adopted,
                    .leaving = self->leaving};
}

static void join_again(process *self, const world *in)
{
    uint8_t life = self->life;
    bool goes_on = in->again && life + 1 < LIVES && !self->leaving;
    end(self);
    if (!goes_on)
        return;
    self->phase = JOINING;
    self->life = (uint8_t)(life + 1);
}

static void receive(process *self, const world *in)
{
    answer got = self->coming;
    member rows[NAMES] = {{{0}, 0, 0, false, false}};
    uint64_t hashes[NAMES];
    member_table table = {.rows = rows};
    self->coming = (answer){0};
    uint8_t age = planted == LEASE_FROM_ANSWER ? 0 : got.age,
            left = age < may_fetch_for ? (uint8_t)(may_fetch_for - age) : 0;
    snapshot newest = got.table.version >= self->knows.table.version ? got.table : self->knows.table;
    load(&self->knows, got.name);
    fill_rows(&table, hashes, &got.table);
    table.history = planted == GOES_ON ? 0 : got.table.history;
    real_now.may_fetch_until = self->may_fetch; /* ticks from now on */
    assert_int_equal(members_update(&real, &table, -LEASE, 0), VIDI_OK);
    save(&self->knows, got.name, &newest);
    if (self->knows.out) {
        join_again(self, in);
        return;
    }
    self->phase = THERE;
    self->may_fetch = left > self->may_fetch ? left : self->may_fetch;
}

static bool may_adopt(const process *self)
{
    return self->phase == THERE && self->knows.adopted < self->knows.table.version;
}

/* It ends what it lost, and adopts. */
static void adopt(process *self, unsigned p)
{
    snapshot newest = self->knows.table;
    if (!may_fetch(p, self) && planted != ADOPTS_TOO_EARLY)
        self->fetching = 0;
    load(&self->knows, name_of(p, self));
    members_adopt(&real, newest.version);
    save(&self->knows, name_of(p, self), &newest);
}

static bool may_go(unsigned p, const process *self)
{
    return self->phase == THERE && has(self->knows.table.leaving, name_of(p, self));
}

/* It ends everything, and leaves. */
static void go(process *self, unsigned p)
{
    send(self, p, LEAVE, &self->sent);
    if (planted != LEAVES_TOO_EARLY || !self->fetching)
        end(self);
}

/* The next thing that the process itself decides. False: it does not now. */
static bool act(process *self, unsigned p, const world *in)
{
    char action = in->actions[p] ? in->actions[p][self->done] : 0;
    if ((action == 'j') != (self->phase == AWAY) || self->phase == ENDED)
        return false;
    switch (action) {
    case 'j':
        self->phase = JOINING;
        break;
    case 'l':
        self->leaving = 1;
        break;
    case 'd':
        end(self);
        break;
    default:
        return false;
    }
    self->done++;
    return true;
}

static void age(uint8_t *of)
{
    *of = (uint8_t)(*of + (*of < OLDEST));
}

static void less(uint8_t *of)
{
    *of = (uint8_t)(*of - (*of > 0));
}

/* Time passes for some of the processes. The others send so many heartbeats that they do not notice. */
static void tick(model *of, uint8_t slow)
{
    for (unsigned i = 0; i < NAMES; i++)
        if (i == GHOST || has(slow, i / LIVES))
            less(&of->server.left[i]);
    for (unsigned p = 0; p < PROCESSES; p++) {
        process *self = &of->processes[p];
        if (!has(slow, p))
            continue;
        less(&self->may_fetch);
        if (!self->may_fetch && planted != FETCHES_ON)
            self->fetching = 0;
        if (self->sent.kind)
            age(&self->sent.age);
        if (self->late.kind)
            age(&self->late.age);
        if (self->coming.is_there)
            age(&self->coming.age);
    }
}

/* It counts as a quarter of a lease at most. */
static void set_clock_forward(model *of)
{
    of->jumps++;
    for (unsigned i = 0; i < NAMES; i++)
        if (planted == CLOCK_IN_FULL)
            of->server.left[i] = 0;
        else
            less(&of->server.left[i]);
}

/* Connections end with a server, and so do the heartbeats on them. */
static void fail_over(model *of)
{
    of->server = of->replica;
    memset(&of->replica, 0, sizeof of->replica);
    of->replicated = 2;
    of->failed = 1;
    for (unsigned p = 0; p < PROCESSES; p++)
        of->processes[p].sent = of->processes[p].late = (request){0};
}

/* ---- what must be true ---- */

static const char *broken(const model *of)
{
    unsigned fetching = 0;
    for (unsigned p = 0; p < PROCESSES; p++)
        fetching += of->processes[p].fetching;
    return fetching > 1 ? "two fetch the site" : NULL;
}

static void beat(model *of, unsigned p, const world *in)
{
    process *self = &of->processes[p];
    if (self->phase != JOINING && self->phase != THERE)
        return;
    if (may_adopt(self))
        adopt(self, p);
    if (may_go(p, self)) {
        go(self, p);
        serve(of, p, &self->sent);
        return;
    }
    send(self, p, self->phase == JOINING ? JOIN : RENEW, &self->sent);
    serve(of, p, &self->sent);
    receive(self, in);
}

/* Messages arrive again, and nobody comes or goes any more. What is wrong when all leases have been renewed or are over? */
static const char *badly_settled(const model *from, const world *in)
{
    model of = *from;
    unsigned there = 0, fetch = 0, own = 0;
    for (unsigned p = 0; p < PROCESSES; p++) {
        of.processes[p].sent = of.processes[p].late = (request){0};
        of.processes[p].coming = (answer){0};
    }
    for (unsigned round = 0; round < 2 * (LEASE + GRACE) + 6; round++) {
        for (unsigned p = 0; p < PROCESSES; p++)
            beat(&of, p, in);
        if (round % 2 && round < 2 * (LEASE + GRACE) + 2)
            tick(&of, ALL);
    }
    for (unsigned p = 0; p < PROCESSES; p++) {
        const process *self = &of.processes[p];
        there += self->phase == THERE;
        fetch += may_fetch(p, self);
        own += self->phase == THERE && members_is_mine(load(&self->knows, name_of(p, self)), site);
        if (self->phase == JOINING || (self->phase == THERE && self->knows.table.version != of.server.now.version))
            return "a member is not in step";
    }
    return there && fetch != 1 ? "nobody may fetch the site" : there && own != 1 ? "nobody owns the site" : NULL;
}

#endif
