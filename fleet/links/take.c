/*
 * Links from this process's own stream: fleet_take_links and fleet_took of fleet.h.
 *
 * Entries are read from the beginning, and removed when the caller's rows are in its database. What belongs to another
 * member is passed on first. The rest is claimed: a link that is new becomes a row. One that is seen or held needs
 * nothing, because it is done, or because whoever holds it is responsible for it. That includes this process itself.
 *
 * Links that an entry's holder has claimed already (a sweeper, a former owner, a dead member) are released in the
 * holder's name first. If the holder is this process's own hand, the claim is its own, but it is not known whether there
 * is a row: then the link is taken to be new. The worst that this does is a second row, and fleet_check_block lets only
 * one of them through.
 */
#include <stdlib.h>
#include <string.h>

#include "fleet/links/claim_batch.h"
#include "fleet/links/parcels.h"

/* The caller's visitor, and how it went. */
typedef struct visiting {
    fleet_visitor visit;
    void *context;
    size_t got;
    int error;
} visiting;

/* What one piece of the stream comes to. */
typedef struct taking {
    fleet *fleet;
    bytes text; /* the entries, one after the other: replies do not stay */
    size_t ends[STREAM_PIECE];
    char ids[STREAM_PIECE][48];
    size_t count;
    claim_batch fresh, own; /* links to claim; those that the own hand may have */
    vidi_str *held;         /* links of this entry that its holder has claimed */
    size_t held_count, held_room;
    parcels foreign;
    size_t foreign_count, bad;
} taking;

/* ---- reading ---- */

static bool read_entry(taking *t, const redis_reply *row)
{
    const redis_reply *fields = reply_item(row, 1), *value = reply_item(fields, 1);

    if (!reply_copy(reply_item(row, 0), t->ids[t->count], sizeof *t->ids))
        return false;
    if (value && value->type == REDIS_TEXT && bytes_append(&t->text, value->text.ptr, value->text.len))
        return false;
    t->ends[t->count++] = t->text.len; /* without a value it is empty, and so it is bad */
    return true;
}

static int read_piece(taking *t, const char *after)
{
    wire *wire = &t->fleet->storage;
    const redis_reply *reply;
    char key[WIRE_KEY], from[64] = "(";
    command c;

    wire_stream(wire, t->fleet->life, key);
    strcat(from, after);
    command_begin(&c, "XRANGE");
    command_text(&c, key);
    command_text(&c, *after ? from : "-");
    command_text(&c, "+");
    command_text(&c, "COUNT");
    command_number(&c, STREAM_PIECE);
    int error = wire_ask(wire, &c, WIRE_READS, &reply);
    if (error)
        return error;
    for (size_t i = 0; reply->type == REDIS_ARRAY && i < reply->count && t->count < STREAM_PIECE; i++)
        if (!read_entry(t, &reply->items[i]))
            return t->text.failed ? VIDI_EMEMORY : wire_failed(wire, VIDI_EIO, "the server's stream cannot be read");
    return VIDI_OK;
}

/* ---- sorting ---- */

static int note_held(taking *t, vidi_str url)
{
    if (t->held_count == t->held_room) {
        size_t room = t->held_room ? 2 * t->held_room : 64;
        vidi_str *held = realloc(t->held, room * sizeof *held);
        if (!held)
            return VIDI_EMEMORY;
        t->held = held;
        t->held_room = room;
    }
    t->held[t->held_count++] = url;
    return VIDI_OK;
}

/* Whether the holder is this process's hand; whether its claims are to be released. */
static bool is_own_hand(const fleet *fleet, vidi_str holder, bool *release)
{
    bool maybe = holder.len > 0 && *holder.ptr == *ENTRY_MAYBE;
    vidi_str name = maybe ? (vidi_str){holder.ptr + 1, holder.len - 1} : holder;
    bool own = name.len == strlen(fleet->hand) && memcmp(name.ptr, fleet->hand, name.len) == 0;

    *release = holder.len > 0 && !maybe && !own;
    return own;
}

static int sort_link(taking *t, vidi_str holder, vidi_str url, vidi_str payload)
{
    fleet *f = t->fleet;
    char owner[FLEET_NAME];
    bool release, is_own = is_own_hand(f, holder, &release);

    fleet_owner(f, fleet_site(f, url), owner);
    if (strcmp(owner, f->life) != 0) {
        t->foreign_count++;
        return parcels_add(&t->foreign, owner, holder, url, payload, 0);
    }
    int error = release ? note_held(t, url) : VIDI_OK;
    return error ? error : claim_batch_add(is_own ? &t->own : &t->fresh, &f->storage, url, payload, 0);
}

static int release_held(taking *t, vidi_str holder)
{
    char name[ENTRY_HOLDER] = "";

    if (t->held_count == 0)
        return VIDI_OK;
    memcpy(name, holder.ptr, holder.len); /* the reader has checked the length */
    int error = vidi_cluster_finish(t->fleet->storage.cluster, name, t->held, t->held_count, VIDI_FINISH_RELEASE, NULL);
    t->held_count = 0;
    return error ? wire_set_failed(&t->fleet->storage, error) : VIDI_OK;
}

static int sort_entry(taking *t, vidi_str entry)
{
    entry_reader reader;
    vidi_str url, payload;
    int error = entry_open(&reader, entry) ? VIDI_OK : VIDI_EDAMAGED;

    while (error == VIDI_OK && (error = entry_next(&reader, &url, &payload)) == VIDI_OK)
        error = sort_link(t, reader.holder, url, payload);
    if (error == VIDI_EDAMAGED)
        t->bad++;
    if (error == VIDI_EDAMAGED || error == VIDI_EABSENT)
        error = release_held(t, reader.holder);
    return error;
}

static int sort_piece(taking *t)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < t->count && error == VIDI_OK; i++) {
        size_t begin = i ? t->ends[i - 1] : 0;
        error = sort_entry(t, (vidi_str){t->text.ptr + begin, t->ends[i] - begin});
    }
    return error;
}

/* ---- taking ---- */

static void visit(const taking *t, const claim_batch *batch, visiting *v)
{
    for (size_t i = 0; i < batch->count && v->error == VIDI_OK; i++) {
        size_t begin = i ? batch->ends[i - 1] : 0, length = batch->ends[i] - begin;
        vidi_str url, payload;
        if (batch->claims[i].verdict != VIDI_NEW)
            continue;
        (void)claim_read(batch->claims[i].url, (vidi_str){batch->text.ptr + begin, length}, &url, &payload);
        v->error = v->visit(v->context, url, payload);
        v->got++;
        atomic_fetch_add(&t->fleet->counts.taken, 1);
    }
}

static int note_taken(fleet *fleet, const taking *t)
{
    entry_ids *ids = &fleet->taken;

    if (ids->count + t->count > ids->room) {
        size_t room = 2 * (ids->count + t->count);
        char(*list)[48] = realloc(ids->list, room * sizeof *list);
        if (!list)
            return VIDI_EMEMORY;
        ids->list = list;
        ids->room = room;
    }
    for (size_t i = 0; i < t->count; i++)
        memcpy(ids->list[ids->count++], t->ids[i], sizeof *ids->list);
    memcpy(fleet->last_id, t->ids[t->count - 1], sizeof fleet->last_id);
    return VIDI_OK;
}

static void count_taken(const taking *t)
{
    fleet *f = t->fleet;

    atomic_fetch_add(&f->counts.forwarded, t->foreign_count);
    if (t->bad == 0)
        return;
    atomic_fetch_add(&f->counts.bad, t->bad);
    fleet_warn(f, "%zu entries in this process's stream are damaged and are removed", t->bad);
}

/* If the visitor fails, the entries are not noted, and will be read again. */
static int take_piece(taking *t, visiting *v)
{
    fleet *f = t->fleet;
    unsigned again = f->taken_unsure ? VIDI_CLAIM_AGAIN : 0;
    int error = sort_piece(t);

    if (error == VIDI_OK)
        error = parcels_send(&t->foreign, f, &f->storage, 0, NULL);
    if (error)
        return error;
    f->taken_unsure = true;
    error = claim_batch_run(&t->fresh, f, &f->storage, again);
    if (error == VIDI_OK)
        error = claim_batch_run(&t->own, f, &f->storage, VIDI_CLAIM_AGAIN);
    if (error)
        return error;
    visit(t, &t->fresh, v);
    visit(t, &t->own, v);
    if (v->error == VIDI_OK)
        v->error = note_taken(f, t);
    if (v->error)
        return VIDI_OK;
    f->taken_unsure = false;
    count_taken(t);
    return VIDI_OK;
}

static void clear(taking *t)
{
    bytes_free(&t->text);
    claim_batch_free(&t->fresh);
    claim_batch_free(&t->own);
    parcels_free(&t->foreign);
    free(t->held);
}

/* *more: the stream may have more. */
static int take_once(fleet *fleet, visiting *v, bool *more)
{
    taking *t = calloc(1, sizeof *t);

    if (!t)
        return VIDI_EMEMORY;
    t->fleet = fleet;
    int error = read_piece(t, fleet->last_id);
    *more = t->count == STREAM_PIECE;
    if (error == VIDI_OK && t->count > 0) {
        fleet_moves(fleet, true);
        error = take_piece(t, v);
    }
    clear(t);
    free(t);
    return error;
}

int fleet_take_links(fleet *fleet, size_t most, fleet_visitor visitor, void *context, size_t *got)
{
    visiting v = {.visit = visitor, .context = context};
    bool more = true;
    int error = VIDI_OK;

    fleet_moving_begin(fleet);
    while (error == VIDI_OK && v.error == VIDI_OK && more && v.got < most) {
        patience patience = wire_patience(&fleet->storage);
        do
            error = take_once(fleet, &v, &more);
        while (wire_try_again(&fleet->storage, &patience, error));
    }
    fleet_moving_end(fleet);
    if (got)
        *got = v.got;
    return error ? error : v.error;
}

/* ---- removing ---- */

static int remove_some(fleet *fleet, size_t n)
{
    enum { AT_ONCE = 100 };
    char key[WIRE_KEY];
    command c;
    entry_ids *ids = &fleet->taken;

    wire_stream(&fleet->storage, fleet->life, key);
    command_begin(&c, "XDEL");
    command_text(&c, key);
    n = n < AT_ONCE ? n : AT_ONCE;
    for (size_t i = 0; i < n; i++)
        command_text(&c, ids->list[ids->count - n + i]);
    int error = wire_ask(&fleet->storage, &c, WIRE_READS, NULL);
    ids->count -= error ? 0 : n;
    return error;
}

int fleet_took(fleet *fleet)
{
    patience patience = wire_patience(&fleet->storage);
    int error = VIDI_OK;

    if (fleet->taken.count == 0)
        return VIDI_OK;
    fleet_moving_begin(fleet);
    fleet_moves(fleet, true);
    while (fleet->taken.count > 0 && (error == VIDI_OK || wire_try_again(&fleet->storage, &patience, error)))
        error = remove_some(fleet, fleet->taken.count);
    if (error == VIDI_OK)
        *fleet->last_id = 0; /* what is left is read from the beginning: ids are no clock after a failover */
    fleet_moving_end(fleet);
    return error;
}
