/*
 * The protocol of members.h, checked in all states that up to three processes can come to. The members are the real
 * code, members.c, which is included here. The server's table is a model of heartbeat.lua; the script itself is tested
 * beside it by tests/fleet/members.py.
 *
 * What can happen, in any order: a heartbeat is sent, reaches the server, is answered, and the answer arrives; each of
 * these late, or never. A member begins to fetch a site if it may, and ends; it adopts the newest version if it does not
 * fetch what it lost. Time passes in ticks, of which a lease has four. Members leave, die, and come again under a new
 * name; those that lost their lease, too. The server's clock is set forward. The server fails, and a replica takes over
 * that does not know the newest changes.
 *
 * One site is enough: what a member knows does not depend on what it fetches. Which member beats which at this site is
 * tried in several orders, by the long run in all.
 *
 * Steps that only make it harder to see a fault are left out. A member that may fetch always does, and ends what it lost
 * when it adopts. Where messages do not stay on their way, heartbeats are answered at once, or never.
 *
 * In every state at most one process fetches the site. From every state on, if messages arrive again, the site gets an
 * owner that may fetch it, and everybody else knows that it is not theirs. The planted faults show that the search would
 * notice.
 */
#include <stdlib.h>
#include <string.h>

#include "fleet/members_model.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

/* ---- all states ---- */

typedef struct states {
    model *all;       /* in the order in which they were found */
    uint32_t *before; /* the state that each was found from */
    size_t n, room;
    uint32_t *table; /* places in `all`, plus 1 */
    size_t slots;
} states;

static uint64_t hash_of_state(const model *which)
{
    uint64_t hash = 1, part;
    const unsigned char *bytes = (const unsigned char *)which;
    for (size_t i = 0; i < sizeof *which; i += sizeof part) {
        size_t n = sizeof *which - i < sizeof part ? sizeof *which - i : sizeof part;
        part = 0;
        memcpy(&part, bytes + i, n);
        hash = test_mix(hash ^ part) * 31;
    }
    return test_mix(hash);
}

static void insert(states *of, size_t which)
{
    size_t i = hash_of_state(&of->all[which]) & (of->slots - 1);
    while (of->table[i])
        i = (i + 1) & (of->slots - 1);
    of->table[i] = (uint32_t)which + 1;
}

static void grow(states *of)
{
    of->room = of->room ? 2 * of->room : 1 << 14;
    of->all = realloc(of->all, of->room * sizeof *of->all);
    of->before = realloc(of->before, of->room * sizeof *of->before);
    of->slots = 2 * of->room;
    free(of->table);
    of->table = calloc(of->slots, sizeof *of->table);
    assert_true(of->all && of->before && of->table);
    for (size_t i = 0; i < of->n; i++)
        insert(of, i);
}

static void learn(states *of, const model *which, size_t from)
{
    if (of->n == of->room)
        grow(of);
    for (size_t i = hash_of_state(which) & (of->slots - 1); of->table[i]; i = (i + 1) & (of->slots - 1))
        if (memcmp(&of->all[of->table[i] - 1], which, sizeof *which) == 0)
            return;
    of->all[of->n] = *which;
    of->before[of->n] = (uint32_t)from;
    insert(of, of->n++);
}

enum { SEND, SEND_LATE, SERVE, SERVE_LATE, RECEIVE, BEAT, BEAT_UNANSWERED, ADOPT, GO, ACT, STEPS };

static bool can(const world *in, const process *self, unsigned p, unsigned which)
{
    bool is_in = self->phase == JOINING || self->phase == THERE;
    switch (which) {
    case SEND:
        return has(in->apart, p) && is_in;
    case SEND_LATE:
        return in->late && is_in && p == 1;
    case SERVE:
        return self->sent.kind;
    case SERVE_LATE:
        return self->late.kind;
    case RECEIVE:
        return self->coming.is_there;
    case BEAT:
    case BEAT_UNANSWERED:
        return !has(in->apart, p) && is_in;
    case ADOPT:
        return may_adopt(self);
    case GO:
        return may_go(p, self);
    default:
        return true;
    }
}

/* One step of a process. False: it cannot make this one now. */
static bool step(const world *in, model *of, unsigned p, unsigned which)
{
    process *self = &of->processes[p];
    if (!can(in, self, p, which))
        return false;
    if (which == SEND || which == SEND_LATE || which == BEAT || which == BEAT_UNANSWERED)
        send(self, p, self->phase == JOINING ? JOIN : RENEW, which == SEND_LATE ? &self->late : &self->sent);
    else if (which == ADOPT)
        adopt(self, p);
    else if (which == GO)
        go(self, p);
    else if (which == ACT)
        return act(self, p, in);
    if (which == SERVE || which == SERVE_LATE || (!has(in->apart, p) && self->sent.kind))
        serve(of, p, which == SERVE_LATE ? &self->late : &self->sent);
    if (which == RECEIVE || which == BEAT)
        receive(self, in);
    if (!has(in->apart, p) || which == SERVE_LATE) /* nobody waits for this answer */
        self->coming = (answer){0};
    return true;
}

/* Whoever may fetch does: a fetch that ends by itself endangers nobody. */
static void fetch(model *of)
{
    for (unsigned p = 0; p < PROCESSES; p++)
        of->processes[p].fetching |= may_fetch(p, &of->processes[p]);
}

/* ---- states that differ in names for the same thing are one ---- */

static void use_version(uint32_t *used, uint8_t version)
{
    *used |= UINT32_C(1) << version;
}

static void use_versions(uint32_t *used, const snapshot *of)
{
    use_version(used, of->version);
    for (unsigned i = 0; i < NAMES; i++)
        use_version(used, of->adopted[i]);
}

static void rank(const uint8_t *ranks, uint8_t *version)
{
    *version = ranks[*version];
}

static void rank_snapshot(const uint8_t *ranks, snapshot *of)
{
    rank(ranks, &of->version);
    for (unsigned i = 0; i < NAMES; i++)
        rank(ranks, &of->adopted[i]);
}

static void rank_knowledge(const uint8_t *ranks, knowledge *of)
{
    uint32_t seen = 0;
    rank_snapshot(ranks, &of->table);
    rank(ranks, &of->adopted);
    rank(ranks, &of->settled);
    for (unsigned i = 0; i < NAMES; i++)
        rank(ranks, &of->last[i]);
    for (uint8_t v = 0; v < VERSIONS; v++)
        if (of->seen >> v & 1) {
            uint8_t ranked = v;
            rank(ranks, &ranked);
            use_version(&seen, ranked);
        }
    of->seen = seen;
}

/* Versions are only compared, so the order of those that occur is enough. 0 stays. */
static void rank_versions(model *of)
{
    uint32_t used = 1;
    uint8_t ranks[VERSIONS] = {0};
    use_versions(&used, &of->server.now);
    use_versions(&used, &of->replica.now);
    for (unsigned p = 0; p < PROCESSES; p++) {
        const process *self = &of->processes[p];
        const request *requests[] = {&self->sent, &self->late};
        use_versions(&used, &self->coming.table);
        use_versions(&used, &self->knows.table);
        use_version(&used, self->knows.adopted);
        used |= self->knows.seen;
        for (unsigned i = 0; i < 2; i++) {
            use_version(&used, requests[i]->known);
            use_version(&used, requests[i]->adopted);
        }
        for (unsigned i = 0; i < NAMES; i++)
            use_version(&used, self->knows.last[i]);
    }
    for (unsigned v = 0; v + 1 < VERSIONS; v++)
        ranks[v + 1] = (uint8_t)(ranks[v] + (used >> v & 1));
    rank_snapshot(ranks, &of->server.now);
    rank_snapshot(ranks, &of->replica.now);
    for (unsigned p = 0; p < PROCESSES; p++) {
        process *self = &of->processes[p];
        rank_snapshot(ranks, &self->coming.table);
        rank_knowledge(ranks, &self->knows);
        rank(ranks, &self->sent.known);
        rank(ranks, &self->sent.adopted);
        rank(ranks, &self->late.known);
        rank(ranks, &self->late.adopted);
    }
}

/* That a name was there once counts only as long as somebody can still use it. */
static void forget_names(model *of)
{
    uint8_t used = 0;
    for (unsigned p = 0; p < PROCESSES; p++) {
        process *self = &of->processes[p];
        if (self->phase != ENDED)
            used |= (uint8_t)(1 << name_of(p, self));
        if (self->sent.kind)
            used |= (uint8_t)(1 << self->sent.name);
        if (self->late.kind)
            used |= (uint8_t)(1 << self->late.name);
        if (self->phase == ENDED)
            self->done = self->life = 0;
    }
    of->server.had &= used;
    of->replica.had &= used;
}

static void reach(states *of, model *next, size_t from)
{
    fetch(next);
    rank_versions(next);
    forget_names(next);
    if (next->server.now.version > VERSIONS / 4) { /* with some faults they grow without end */
        assert_true(planted != NO_FAULT || next->server.now.version < VERSIONS / 2);
        if (planted != NO_FAULT)
            return;
    }
    learn(of, next, from);
}

/* Adds all states that follow. */
static void follow(const world *in, states *of, size_t from)
{
    model next;
    for (unsigned p = 0; p < PROCESSES; p++)
        for (unsigned which = 0; which < STEPS; which++) {
            next = of->all[from];
            if (step(in, &next, p, which))
                reach(of, &next, from);
        }
    next = of->all[from];
    if (in->slow) {
        tick(&next, in->slow);
        reach(of, &next, from);
    }
    next = of->all[from];
    if (next.jumps < in->jumps) {
        set_clock_forward(&next);
        reach(of, &next, from);
    }
    next = of->all[from];
    if (in->fails && !next.replicated) {
        next.replica = next.server;
        next.replicated = 1;
        reach(of, &next, from);
    }
    next = of->all[from];
    if (next.replicated == 1) {
        fail_over(&next);
        reach(of, &next, from);
    }
}

/* The way to a state, for whoever looks for a mistake. */
static void tell(const states *of, size_t to)
{
    static const char *const phases[] = {"away", "joining", "there", "ended"};
    for (; to; to = of->before[to]) {
        const model *is = &of->all[to];
        print_message("# version %u, rows %02x, leaving %02x%s", is->server.now.version, is->server.now.rows,
                      is->server.now.leaving, is->failed ? ", failed" : "");
        for (unsigned p = 0; p < PROCESSES; p++) {
            const process *self = &is->processes[p];
            print_message("; %s %s%s sees %u, adopted %u, settled %u, may fetch %u%s", names[name_of(p, self)],
                          phases[self->phase],
                          self->sent.kind         ? " >"
                          : self->coming.is_there ? " <"
                                                  : "",
                          self->knows.table.version, self->knows.adopted, self->knows.settled, self->may_fetch,
                          self->fetching ? ", FETCHES" : "");
        }
        print_message("\n");
    }
}

enum { LOOKED_AT = 32 }; /* of so many states, one is looked at for how it settles */

/* What is wrong in one of all states, or NULL. */
static const char *explore(const world *in, size_t *n)
{
    may_fetch_for = in->ticks ? in->ticks : LEASE - LEASE / 4;
    removed_after = in->ticks ? (uint8_t)(in->ticks + 1) : LEASE + GRACE;
    states of = {0};
    model begin;
    const char *wrong = NULL;
    memset(&begin, 0, sizeof begin);
    learn(&of, &begin, 0);
    for (size_t i = 0; i < of.n && !wrong; i++) {
        wrong = broken(&of.all[i]);
        if (!wrong && (i % LOOKED_AT == 0 || test_long()))
            wrong = badly_settled(&of.all[i], in);
        if (wrong && planted == NO_FAULT)
            tell(&of, i);
        follow(in, &of, i);
    }
    *n += of.n;
    free(of.all);
    free(of.before);
    free(of.table);
    return wrong;
}

/* ---- tests ---- */

enum { MOST_ORDERS = 24 };

/*
 * Worlds in which all processes do the same need one order only: the others are mirror images. The first worlds have few
 * states; those without orders have millions, and are left to the long run, which tries many orders.
 */
static const world worlds[] = {
    {.actions = {"j", "j"}, .orders = 1, .apart = 3},
    {.actions = {"j", "j"}, .orders = 1, .slow = ALL},
    {.actions = {"jl", "jl"}, .orders = 1},
    {.actions = {"j", "j", "j"}, .orders = 1},
    {.actions = {"j", "j"}, .orders = 2, .slow = ALL, .ticks = 1, .late = true},
    {.actions = {"j", "j"}, .orders = 1, .slow = ALL, .again = true},
    {.actions = {"j", "j"}, .orders = 1, .slow = ALL, .jumps = 2},
    {.actions = {"j", "j"}, .orders = 1, .slow = ALL, .ticks = 1, .apart = 1},
    {.actions = {"j", "j"}, .orders = 1, .slow = ALL, .ticks = 2, .fails = true},
    {.actions = {"j", "j", "j"}, .orders = 1, .slow = 1, .ticks = 2},
    {.actions = {"jd", "j", "j"}, .orders = 1, .slow = 1, .ticks = 1},
    {.actions = {"jl", "j"}, .orders = 2, .fails = true},
    {.actions = {"jl", "j"}, .orders = 1, .apart = 3},
    {.actions = {"jl", "j"}, .orders = 1, .slow = ALL},
    {.actions = {"j", "jl", "j"}, .orders = 1},
    {.actions = {"j", "j"}, .slow = ALL, .ticks = 2, .apart = 1},
    {.actions = {"j", "j"}, .slow = ALL, .late = true},
    {.actions = {"j", "j"}, .slow = ALL, .fails = true},
    {.actions = {"jl", "j"}, .slow = ALL, .ticks = 2, .again = true},
    {.actions = {"j", "j", "j"}, .slow = ALL, .ticks = 1},
    {.actions = {"j", "jl", "j"}, .slow = 1, .ticks = 1},
};
enum {
    WORLDS = sizeof worlds / sizeof *worlds,
    SMALL = 4,
    TOGETHER = 0,
    SLOW,
    LEAVING,
    LATE = 4,
    CLOCK = 6,
    APART,
    FAILING
};

/* And in which world it is found. */
static const struct {
    const char *name;
    size_t world;
} faults[FAULTS] = {
    [BEGINS_TOO_EARLY] = {"begins before all have adopted", TOGETHER},
    [TWO_VERSIONS] = {"remembers two versions", LEAVING},
    [ADOPTS_TOO_EARLY] = {"adopts too early", TOGETHER},
    [LEAVES_TOO_EARLY] = {"leaves too early", LEAVING},
    [LEASE_FROM_ANSWER] = {"lease from the answer on", APART},
    [FETCHES_ON] = {"fetches on", SLOW},
    [GOES_ON] = {"goes on after a failover", FAILING},
    [KEEPS_ITS_NAME] = {"keeps its name", LATE},
    [TAKES_OVER_TOO_EARLY] = {"taken over before the lease ends", SLOW},
    [COMES_BACK] = {"comes back", SLOW},
    [CLOCK_IN_FULL] = {"clock in full", CLOCK},
    [SAME_VERSION_LEAVING] = {"same version after leaving begins", LEAVING},
    [SAME_VERSION_GONE] = {"same version after a member went", SLOW},
    [SAME_VERSION_JOINED] = {"same version after a join", TOGETHER},
    [FAILS_SILENTLY] = {"fails silently", FAILING},
};

/* In which order the names beat each other at a site: those that can occur in this world. */
static uint64_t order_at(const world *in, uint64_t at)
{
    uint64_t order = 0;
    for (unsigned i = 0; i < GHOST; i++)
        for (unsigned k = 0; k < i; k++)
            if (in->actions[i / LIVES] && in->actions[k / LIVES] && (in->again || (i % LIVES == 0 && k % LIVES == 0)))
                order = 2 * order + (score(name_hashes[i], at) > score(name_hashes[k], at));
    return order;
}

/* The next site, of which the order is not one of the n before. False if there seems to be none. */
static bool choose_site(const world *in, uint64_t *orders, unsigned n)
{
    unsigned i = 0;
    for (unsigned tries = 0; tries < 10000; tries++) {
        site = test_mix(site + 1);
        orders[n] = order_at(in, site);
        for (i = 0; orders[i] != orders[n]; i++)
            continue;
        if (i == n)
            return true;
    }
    return false;
}

static const char *explore_orders(const world *in, size_t *n)
{
    const char *wrong = NULL;
    uint64_t orders[MOST_ORDERS];
    unsigned many = test_long() ? MOST_ORDERS : in->orders;
    site = 1;
    for (unsigned k = 0; k < many && !wrong && choose_site(in, orders, k); k++)
        wrong = explore(in, n);
    return wrong;
}

static void explore_worlds(size_t from, size_t to)
{
    size_t all = 0;
    planted = NO_FAULT;
    for (size_t i = from; i < to; i++) {
        size_t n = 0;
        const char *wrong = explore_orders(&worlds[i], &n);
        check(!wrong, "world %zu, site %llx: %s", i, (unsigned long long)site, wrong);
        all += n;
    }
    print_message("# %zu states\n", all);
}

static void no_site_has_two_fetchers(void **context)
{
    (void)context;
    explore_worlds(0, SMALL);
}

static void no_site_has_two_fetchers_in_larger_worlds(void **context)
{
    (void)context;
    explore_worlds(SMALL, WORLDS);
}

static void planted_faults_are_found(void **context)
{
    (void)context;
    for (planted = NO_FAULT + 1; planted < FAULTS; planted++) {
        size_t n = 0;
        const char *wrong = explore_orders(&worlds[faults[planted].world], &n);
        check(wrong, "%s: not found in %zu states", faults[planted].name, n);
        print_message("# %s: %s, after %zu states\n", faults[planted].name, wrong, n);
    }
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; i < NAMES; i++)
        name_hashes[i] = name_hash(names[i]);
    test_add("no site has two fetchers in any state", no_site_has_two_fetchers, NULL);
    test_add_once("no site has two fetchers in any state of larger worlds", no_site_has_two_fetchers_in_larger_worlds,
                  NULL);
    test_add_once("planted faults are found", planted_faults_are_found, NULL);
    return test_run("members_model", argc, argv);
}
