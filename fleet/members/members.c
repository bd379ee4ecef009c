/*
 * See members.h.
 *
 * Of the versions since a settled one, this file keeps no tables, but the *rivals*: all other members that owned sites
 * under one of these versions, each with the newest version that it was in. A member owns a site under all of these
 * versions if it beats every rival there, which is one loop over hashes.
 *
 * This suffices because a name never comes back. Let a member A be settled in version s, and a member B in a later
 * version t, and let both own a site: A under s and all that it has seen since, B under t and all that it has seen
 * since. When B learned that t was settled, A had adopted some version u from t on, and B had seen one from u on. A owns
 * the site under u, B under t and under that later version, so B was in the table all the time and in u as well, and of
 * two members one beats the other under every version that has both. So A and B are the same. If A had no row any more
 * when B learned it, then A had left, or it had lost its lease and stopped. tests/fleet/test_members_model.c tries it.
 *
 * Any thread may ask at any time, so everything that changes is behind a lock that is held for about a nanosecond for
 * each member.
 */
#include "fleet/members/members.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "vidi/url.h"

/* Tests plant faults by this macro, and must find each. */
#ifndef MEMBERS_PLANTED
#define MEMBERS_PLANTED(fault) false
#endif

typedef struct rival {
    uint64_t hash;
    uint64_t last;    /* the newest version that it was in, and not leaving */
    bool comes_first; /* by name: decides should the hashes be equal */
} rival;

typedef struct state {
    pthread_mutex_t lock;
    member_table table; /* the newest */
    uint64_t *hashes;   /* of its rows */
    size_t self;        /* its index in the rows */
    bool out;
    int64_t may_fetch_until;
    uint64_t adopted;
    uint64_t settled; /* 0: no version yet */
    uint64_t *seen;   /* versions from the settled one on, ascending */
    size_t n_seen;
    rival *rivals;
    size_t n_rivals;
} state;

struct members {
    char self[MEMBER_NAME];
    uint64_t hash;
    int64_t lease_ms;
    state *now; /* apart, so that it can be locked for those who only ask */
};

/* ---- hashes ---- */

/* Members' names and sites get the same hash everywhere. Nobody outside knows the names, so the key need not be secret. */
static uint64_t hash_of(const char *text, size_t length)
{
    static const unsigned char key[VIDI_KEY_BYTES] = "who owns a site";
    uint64_t hash[2] = {0, 0};
    vidi_keyed_hash(key, (vidi_str){text, length}, hash);
    return hash[0];
}

static uint64_t name_hash(const char *name)
{
    return hash_of(name, strlen(name));
}

uint64_t members_site(vidi_str site)
{
    return hash_of(site.ptr, site.len);
}

/* The finalizer of splitmix64: a bijection in which every bit of the input changes each bit of the output. */
static uint64_t score(uint64_t member, uint64_t site)
{
    uint64_t x = member ^ site;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* ---- tables ---- */

/* Among equal hashes the first name wins: rows are sorted. hashes may be NULL. */
static size_t owner_in(const member_table *table, const uint64_t *hashes, uint64_t site)
{
    size_t owner = table->count;
    uint64_t most = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].leaving)
            continue;
        uint64_t its = score(hashes ? hashes[i] : name_hash(table->rows[i].name), site);
        if (owner == table->count || its > most) {
            owner = i;
            most = its;
        }
    }
    return owner;
}

size_t member_table_owner(const member_table *table, uint64_t site)
{
    return owner_in(table, NULL, site);
}

bool member_table_is_quiet(const member_table *table, const member_table *last)
{
    if (table->version != last->version || table->count != last->count || table->count == 0)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const member *row = &table->rows[i], *before = &last->rows[i];
        if (!row->idle || !before->idle || row->activity != before->activity || strcmp(row->name, before->name) != 0)
            return false;
    }
    return true;
}

static bool is_name(const char *name)
{
    return name[0] && memchr(name, 0, MEMBER_NAME);
}

static bool is_table(const member_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (!is_name(table->rows[i].name) || (i && strcmp(table->rows[i - 1].name, table->rows[i].name) >= 0))
            return false;
    return table->version > 0;
}

static size_t find(const member_table *table, const char *name)
{
    size_t i = 0;
    while (i < table->count && strcmp(table->rows[i].name, name) != 0)
        i++;
    return i;
}

/* ---- life ---- */

int members_make(members **made, const char *self, int64_t lease_ms)
{
    *made = NULL;
    size_t length = strlen(self);
    if (length == 0 || length >= MEMBER_NAME || lease_ms <= 0)
        return VIDI_EARGUMENT;
    members *new = calloc(1, sizeof *new);
    state *now = calloc(1, sizeof *now);
    if (!new || !now || pthread_mutex_init(&now->lock, NULL) != 0) {
        free(new);
        free(now);
        return VIDI_EMEMORY;
    }
    memcpy(new->self, self, length + 1);
    new->hash = hash_of(self, length);
    new->lease_ms = lease_ms;
    new->now = now;
    *made = new;
    return VIDI_OK;
}

static void free_tables(state *now)
{
    free(now->table.rows);
    free(now->hashes);
    free(now->seen);
    free(now->rivals);
}

void members_free(members *members)
{
    if (!members)
        return;
    pthread_mutex_destroy(&members->now->lock);
    free_tables(members->now);
    free(members->now);
    free(members);
}

/* ---- a new table ---- */

/* Room for everything that the table may add. On failure all is as before. */
static bool make_room(state *next, const state *now, const member_table *table)
{
    next->table.rows = calloc(table->count + 1, sizeof *next->table.rows);
    next->hashes = calloc(table->count + 1, sizeof *next->hashes);
    next->seen = calloc(now->n_seen + 1, sizeof *next->seen);
    next->rivals = calloc(now->n_rivals + table->count + 1, sizeof *next->rivals);
    return next->table.rows && next->hashes && next->seen && next->rivals;
}

static void copy_table(state *next, const member_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        next->table.rows[i] = table->rows[i];
        next->hashes[i] = name_hash(table->rows[i].name);
    }
    next->table.version = table->version;
    next->table.history = table->history;
    next->table.count = table->count;
}

static void meet(state *next, const rival *met)
{
    size_t i = 0;
    while (i < next->n_rivals && (next->rivals[i].hash != met->hash || next->rivals[i].comes_first != met->comes_first))
        i++;
    next->rivals[i] = *met;
    next->n_rivals += i == next->n_rivals;
}

/* All rivals until now, and those of the new version. */
static void meet_rivals(state *next, const state *now, bool begins_anew)
{
    const member_table *table = &next->table;
    next->n_rivals = now->n_rivals;
    if (now->n_rivals)
        memcpy(next->rivals, now->rivals, now->n_rivals * sizeof *now->rivals);
    next->n_seen = begins_anew ? 0 : now->n_seen;
    if (next->n_seen)
        memcpy(next->seen, now->seen, next->n_seen * sizeof *now->seen);
    if (next->n_seen == 0 || next->seen[next->n_seen - 1] < table->version)
        next->seen[next->n_seen++] = table->version;
    for (size_t i = 0; i < table->count; i++)
        if (i != next->self && !table->rows[i].leaving)
            meet(next, &(rival){next->hashes[i], table->version, i < next->self});
}

/* The newest version that this member has seen, and of which the table says that everybody has adopted it or a later. */
static uint64_t settled_by(const state *of)
{
    uint64_t everybody = of->adopted, settled = 0;
    for (size_t i = 0; i < of->table.count; i++)
        if (i != of->self && of->table.rows[i].adopted < everybody)
            everybody = of->table.rows[i].adopted;
    if (MEMBERS_PLANTED(BEGINS_TOO_EARLY))
        everybody = of->table.version;
    for (size_t i = 0; i < of->n_seen; i++)
        if (of->seen[i] <= everybody)
            settled = of->seen[i];
    return settled;
}

/* Forgets what is older than the newest version that is settled. */
static void settle(state *of)
{
    uint64_t settled = settled_by(of);
    size_t kept = 0;
    if (settled > of->settled)
        of->settled = settled;
    for (size_t i = 0; i < of->n_seen; i++)
        if (of->seen[i] >= of->settled)
            of->seen[kept++] = of->seen[i];
    of->n_seen = kept;
    kept = 0;
    for (size_t i = 0; i < of->n_rivals; i++) {
        bool is_kept = of->rivals[i].last >= of->settled;
        if (MEMBERS_PLANTED(TWO_VERSIONS)) /* forgets who was in a version between the settled one and the newest */
            is_kept = of->rivals[i].last == of->settled || of->rivals[i].last == of->table.version;
        if (is_kept)
            of->rivals[kept++] = of->rivals[i];
    }
    of->n_rivals = kept;
}

static void replace(state *now, const state *next)
{
    free_tables(now);
    now->table = next->table;
    now->hashes = next->hashes;
    now->self = next->self;
    now->settled = next->settled;
    now->seen = next->seen;
    now->n_seen = next->n_seen;
    now->rivals = next->rivals;
    now->n_rivals = next->n_rivals;
}

/* The lock is held, and the member is in the table. */
static int take_over(state *now, const member_table *table, size_t self, bool begins_anew)
{
    state next = {.self = self, .adopted = now->adopted, .settled = begins_anew ? 0 : now->settled};
    if (!make_room(&next, now, table)) {
        free_tables(&next);
        return VIDI_EMEMORY;
    }
    copy_table(&next, table);
    meet_rivals(&next, now, begins_anew);
    settle(&next);
    replace(now, &next);
    return VIDI_OK;
}

int members_update(members *members, const member_table *table, int64_t sent_ms, int64_t answered_ms)
{
    state *now = members->now;
    int error = VIDI_OK;
    if (!is_table(table))
        return VIDI_EARGUMENT;
    size_t self = find(table, members->self);
    int64_t until = sent_ms + members->lease_ms - members->lease_ms / 4;
    pthread_mutex_lock(&now->lock);
    bool begins_anew = table->history != now->table.history && answered_ms >= now->may_fetch_until;
    now->out = now->out || self == table->count;
    if (!now->out && table->version >= now->table.version) /* an older answer only shows that the lease was renewed */
        error = take_over(now, table, self, begins_anew);
    if (!now->out && error == VIDI_OK && until > now->may_fetch_until)
        now->may_fetch_until = until;
    pthread_mutex_unlock(&now->lock);
    return error;
}

void members_adopt(members *members, uint64_t version)
{
    state *now = members->now;
    pthread_mutex_lock(&now->lock);
    if (version > now->adopted && version <= now->table.version) {
        now->adopted = version;
        settle(now);
    }
    pthread_mutex_unlock(&now->lock);
}

/* ---- questions ---- */

bool members_is_out(const members *members)
{
    pthread_mutex_lock(&members->now->lock);
    bool out = members->now->out;
    pthread_mutex_unlock(&members->now->lock);
    return out;
}

int64_t members_may_fetch_until(const members *members)
{
    pthread_mutex_lock(&members->now->lock);
    int64_t until = members->now->out ? 0 : members->now->may_fetch_until;
    pthread_mutex_unlock(&members->now->lock);
    return until;
}

uint64_t members_adopted(const members *members)
{
    pthread_mutex_lock(&members->now->lock);
    uint64_t adopted = members->now->adopted;
    pthread_mutex_unlock(&members->now->lock);
    return adopted;
}

uint64_t members_version(const members *members)
{
    pthread_mutex_lock(&members->now->lock);
    uint64_t version = members->now->table.version;
    pthread_mutex_unlock(&members->now->lock);
    return version;
}

uint64_t members_settled(const members *members)
{
    pthread_mutex_lock(&members->now->lock);
    uint64_t settled = members->now->settled;
    pthread_mutex_unlock(&members->now->lock);
    return settled;
}

static bool beats_all(const members *members, uint64_t site)
{
    const state *now = members->now;
    uint64_t own = score(members->hash, site);
    for (size_t i = 0; i < now->n_rivals; i++) {
        uint64_t its = score(now->rivals[i].hash, site);
        if (its > own || (its == own && now->rivals[i].comes_first))
            return false;
    }
    return true;
}

bool members_may_fetch(const members *members, uint64_t site)
{
    state *now = members->now;
    pthread_mutex_lock(&now->lock);
    bool may = !now->out && now->settled && !now->table.rows[now->self].leaving && beats_all(members, site);
    pthread_mutex_unlock(&now->lock);
    return may;
}

const char *members_owner(const members *members, uint64_t site, char name[MEMBER_NAME])
{
    state *now = members->now;
    const char *found = NULL;
    pthread_mutex_lock(&now->lock);
    size_t owner = now->out ? now->table.count : owner_in(&now->table, now->hashes, site);
    if (owner < now->table.count)
        found = memcpy(name, now->table.rows[owner].name, MEMBER_NAME);
    pthread_mutex_unlock(&now->lock);
    return found;
}

bool members_is_mine(const members *members, uint64_t site)
{
    state *now = members->now;
    pthread_mutex_lock(&now->lock);
    bool mine = !now->out && now->table.count && owner_in(&now->table, now->hashes, site) == now->self;
    pthread_mutex_unlock(&now->lock);
    return mine;
}
