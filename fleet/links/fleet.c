/*
 * Opening, leaving and joining again; and why no URL can be lost.
 *
 * At any moment each URL that was found and is not finished is in one of these places. Somebody is responsible for each
 * place, and somebody else if that one dies or loses its lease.
 *
 *   the URL is known only    whoever dies      what brings it back
 *   by
 *   -----------------------  ----------------  -----------------------------------------------------------------------
 *   a page that is being     the fetcher of    The page is committed last of all, so it is still claimed. Its claim is
 *   committed, whose links   the page          taken over by the folder's next run, or given up when the life is
 *   were not handed over                       buried, or it expires: then the page is swept and fetched again.
 *   an append whose reply    the sender        Like that: a page is not committed before all replies are there. The link
 *   was not there                              may come twice, and is claimed once.
 *   an entry of a stream     the receiver      The stream is in the registry from the moment of the append, in one step
 *                                              with it. Whoever buries the receiver hands the entry to the owner of the
 *                                              link, and removes it after that. The registration goes only together with
 *                                              an empty stream.
 *                            the server        With wait_replicas the reply counts when replicas have the entry.
 *   an entry that was read   the receiver      The entry is removed after the transaction with the row. Until then it is
 *   and claimed, no row yet                    an entry of a stream, see above. The claim stands in its way: it is the
 *                                              dead hand's, which the entry names as its holder, so the next receiver
 *                                              releases it.
 *   a link of an own site    the fetcher of    The page is fetched again, but the claim is held by the same hand, which
 *   that was claimed, no     the page          knows no row. A process that has nothing to do gives up claims that it
 *   row yet                                    knows nothing of; those of a buried hand are given up by others.
 *   a claim that somebody    the other one     That claim is in this table itself.
 *   else has (held)
 *   a row of a frontier      its process       Its claim: as for a page that is being committed. The row may stay for
 *                                              ever; nothing is fetched that cannot be claimed.
 *                            the disk          The same; nothing but the claim is needed.
 *   a swept claim            the sweeper       The claim has a lease and expires again, whatever became of the entry.
 *   a page that goes to      the former owner  It is an entry of a stream, and the claim is the former owner's, see
 *   another owner                              above. The row is finished only after the append.
 *   a page that is finished, its process       The page is fetched once more, by somebody else or, if its process comes
 *   and not yet committed                      back first, not at all: the crawler commits what it has finished again.
 *
 * With wait_replicas 0, what a server forgets when its replica takes over is a suffix of what it did; pages that were
 * committed on other servers may have had their links there. That is why it is an option.
 *
 * No two processes fetch from one site at a time because of fleet/members, not because of claims: claims make sure that
 * a page is fetched once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "fleet/links/fleet_inside.h"
#include "fleet/members/heartbeat.h"
#include "vidi/url.h"

enum {
    USUAL_CLAIM_LEASE = 600000, /* milliseconds */
    USUAL_LEASE = 30000,
    USUAL_BEAT = 100,
    USUAL_SWEEP = 5000,
    USUAL_BACKLOG = 4096, /* entries */
    SENT_BITS = 18        /* 2^18 links, 2 MiB */
};

const char *fleet_why(const fleet *fleet)
{
    return fleet->storage.why;
}

int fleet_stat(fleet *fleet, vidi_stats *set, vidi_cluster_stats *more)
{
    int error = vidi_cluster_stat(fleet->storage.cluster, set, more);

    return error ? wire_set_failed(&fleet->storage, error) : VIDI_OK;
}

/* ---- options ---- */

static bool is_folder(const char *name)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return name && *name && strlen(name) <= FLEET_FOLDER && strspn(name, letters) == strlen(name);
}

/* Copies a text that may be NULL. */
static int copy_text(const char **text)
{
    if (!*text)
        return VIDI_OK;
    *text = strdup(*text);
    return *text ? VIDI_OK : VIDI_EMEMORY;
}

/* Our own lines, then the caller's. */
static int make_rules(fleet *fleet, const char *theirs)
{
    fleet_options *o = &fleet->options;
    bytes rules = {0};

    bytes_append_format(&rules, "sites %s\n", vidi_canon_name(fleet->site_form));
    if (o->split_count > 0)
        bytes_append_text(&rules, "split");
    for (size_t i = 0; i < o->split_count; i++)
        bytes_append_format(&rules, " %s", o->split[i]);
    if (o->split_count > 0)
        bytes_append_text(&rules, "\n");
    bytes_append_text(&rules, theirs ? theirs : "");
    bytes_append(&rules, "", 1);
    o->rules = rules.ptr;
    return rules.failed ? VIDI_EMEMORY : VIDI_OK;
}

static int copy_split(fleet_options *o)
{
    const char **copies = o->split_count ? calloc(o->split_count, sizeof *copies) : NULL;
    int error = copies || o->split_count == 0 ? VIDI_OK : VIDI_EMEMORY;
    const char *const *from = o->split;

    o->split = copies;
    for (size_t i = 0; i < o->split_count && error == VIDI_OK; i++) {
        copies[i] = from[i];
        error = copy_text(&copies[i]);
    }
    return error;
}

static void set_defaults(fleet_options *o)
{
    o->access.lease_ms = o->access.lease_ms > 0 ? o->access.lease_ms : USUAL_CLAIM_LEASE;
    o->access.owner = NULL;
    o->lease_ms = o->lease_ms > 0 ? o->lease_ms : USUAL_LEASE;
    o->beat_ms = o->beat_ms > 0 ? o->beat_ms : USUAL_BEAT;
    o->sweep_ms = o->sweep_ms > 0 ? o->sweep_ms : USUAL_SWEEP;
    o->backlog = o->backlog > 0 ? o->backlog : USUAL_BACKLOG;
}

/* After an error, options have only copies, or NULL. */
static int copy_options(fleet *fleet, const fleet_options *from)
{
    fleet_options *o = &fleet->options;
    const char **texts[] = {&o->address, &o->folder, &o->access.ca_file, &o->access.cert_file, &o->access.key_file};
    int error = VIDI_OK;

    *o = *from;
    o->rules = NULL;
    set_defaults(o);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int failed = copy_text(texts[i]);
        error = error ? error : failed;
    }
    int failed = copy_split(o);
    error = error ? error : failed;
    return error ? error : make_rules(fleet, from->rules);
}

static void free_options(fleet_options *o)
{
    const char *texts[] = {o->address, o->folder, o->rules, o->access.ca_file, o->access.cert_file, o->access.key_file};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)texts[i]);
    for (size_t i = 0; o->split && i < o->split_count; i++)
        free((char *)o->split[i]);
    free((void *)o->split);
}

/* ---- opening ---- */

/* The parts that need nothing of the network. */
static int make(fleet *fleet, const fleet_options *options)
{
    int error = vidi_canon_create(&fleet->site_form, "key=site", NULL, NULL);

    if (error == VIDI_EOPTION) /* a build without the Public Suffix List; the rules say so */
        error = vidi_canon_create(&fleet->site_form, "key=host", NULL, NULL);
    pthread_mutex_init(&fleet->lock, NULL);
    pthread_rwlock_init(&fleet->naming, NULL);
    if (clock_condition(&fleet->changed) != 0 || clock_condition(&fleet->called) != 0)
        return VIDI_EMEMORY;
    if (error == VIDI_OK)
        error = copy_options(fleet, options);
    if (error == VIDI_OK)
        error = sent_cache_make(&fleet->sent, SENT_BITS);
    if (error == VIDI_OK && getrandom(fleet->key, sizeof fleet->key, 0) != sizeof fleet->key)
        error = VIDI_EIO;
    return error ? wire_failed(&fleet->storage, error, "%s", vidi_strerror(error)) : VIDI_OK;
}

static int open_wire(fleet *fleet, wire *wire, bool with_set)
{
    int error = wire_open(wire, fleet->options.address, &fleet->options.access, with_set);

    if (error && wire != &fleet->storage)
        wire_failed(&fleet->storage, error, "%s", wire->why);
    return error;
}

static int open_wires(fleet *fleet)
{
    int error = open_wire(fleet, &fleet->storage, true);

    if (error == VIDI_OK)
        error = open_wire(fleet, &fleet->keeper, true);
    if (error == VIDI_OK)
        error = open_wire(fleet, &fleet->heart, false);
    return error;
}

static int look_at_set(fleet *fleet)
{
    vidi_stats set = {.size = sizeof set};
    vidi_cluster_stats more = {.size = sizeof more};
    int error = fleet_stat(fleet, &set, &more);

    fleet->set_id = more.set_id;
    fleet->epoch = set.epoch;
    fleet->shards = more.shards;
    return error;
}

/* A fleet that was stopped runs again when the last one has left. */
static int run_again(fleet *fleet)
{
    wire *wire = &fleet->storage;
    size_t members = 0;
    bool stopping = false;
    int error = record_is(wire, "stopping", &stopping);

    if (error == VIDI_OK && stopping)
        error = life_count(wire, &members);
    if (error == VIDI_OK && members > 0) /* of another process that has let it run meanwhile, perhaps */
        error = record_is(wire, "stopping", &stopping);
    if (error || !stopping)
        return error;
    if (members > 0)
        return wire_failed(wire, VIDI_EBUSY, "the fleet is stopping, and %zu of its processes have not left yet",
                           members);
    return record_change_state(wire, "stopping", "running", NULL);
}

static void fleet_free(fleet *fleet)
{
    wire_close(&fleet->storage);
    wire_close(&fleet->keeper);
    wire_close(&fleet->heart);
    members_free(fleet->members);
    registry_free(&fleet->stopped);
    free(fleet->table.rows);
    free(fleet->taken.list);
    sent_cache_free(&fleet->sent);
    hand_set_free(&fleet->in_hand);
    vidi_canon_close(fleet->site_form);
    pthread_mutex_destroy(&fleet->lock);
    pthread_rwlock_destroy(&fleet->naming);
    pthread_cond_destroy(&fleet->changed);
    pthread_cond_destroy(&fleet->called);
    free_options(&fleet->options);
    free(fleet);
}

int fleet_open(fleet **made, const fleet_options *options, char *why)
{
    fleet *fleet = calloc(1, sizeof *fleet);

    *made = NULL;
    *why = 0;
    if (!fleet)
        return VIDI_EMEMORY;
    int error = make(fleet, options);
    if (error == VIDI_OK && !is_folder(fleet->options.folder))
        error = wire_failed(&fleet->storage, VIDI_EARGUMENT, "the folder's id is not 1 to 32 letters and digits");
    if (error == VIDI_OK)
        error = open_wires(fleet);
    if (error == VIDI_OK)
        error = look_at_set(fleet);
    if (error == VIDI_OK)
        error = record_agree(fleet, &fleet->storage);
    if (error == VIDI_OK)
        error = run_again(fleet);
    if (error == VIDI_OK)
        error = life_begin(fleet, &fleet->storage);
    if (error == VIDI_OK)
        error = life_start_threads(fleet);
    if (error) {
        memcpy(why, fleet->storage.why, FLEET_WHY);
        fleet_free(fleet);
        return error;
    }
    *made = fleet;
    return VIDI_OK;
}

void fleet_leave(fleet *fleet, bool returns)
{
    if (!fleet)
        return;
    if (!fleet_is_out(fleet))
        (void)life_leave(fleet, returns); /* if it fails, others bury this life when its lease is over */
    life_stop_threads(fleet);
    fleet_free(fleet);
}

int fleet_rejoin(fleet *fleet)
{
    char former[FLEET_NAME];

    life_stop_threads(fleet);
    memcpy(former, fleet->hand, sizeof former);
    int error = life_begin(fleet, &fleet->storage);
    if (error == VIDI_OK && strcmp(former, fleet->hand) != 0) { /* what it claimed while it was being buried */
        error = vidi_cluster_abandon(fleet->storage.cluster, former, NULL);
        error = error ? wire_set_failed(&fleet->storage, error) : VIDI_OK;
    }
    int failed = life_start_threads(fleet);
    return error ? error : failed;
}
