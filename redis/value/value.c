/*
 * Values: opening, making, adding. See value.h.
 */
#include "value.h"

#include <stdio.h>
#include <string.h>

#include "common/fnv.h"
#include "redis/claims/claims.h"
#include "redis/server/steady.h"
#include "replicate.h"
#include "reply.h"
#include "type.h"

/* ---- opening ---- */

/* The key is closed at once: a value lives on until the command ends, and a closed key leaves nothing to forget. */
static value *look(server_context *ctx, server_string *name, value_mode mode, bool *absent)
{
    server_key *key = server.OpenKey(ctx, name, (int)mode);
    value *found = server.ModuleTypeGetType(key) == value_type ? server.ModuleTypeGetValue(key) : NULL;
    *absent = !found && (!key || server.KeyType(key) == SERVER_KEY_EMPTY);
    server.CloseKey(key);
    return found;
}

value *value_open(server_context *ctx, server_string *name, value_mode mode, unsigned roles, bool *absent)
{
    value *found = look(ctx, name, mode, absent);
    if (mode == FOR_WRITE)
        memory_set_obeying(server.GetContextFlags(ctx) & SERVER_FLAG_REPLICATED);
    if (found && (found->settings.role & roles))
        return found;
    if (!*absent)
        server.ReplyWithError(ctx, SERVER_WRONG_TYPE);
    return NULL;
}

value *value_needed(server_context *ctx, server_string *name, value_mode mode)
{
    bool absent;
    value *found = value_open(ctx, name, mode, ANY_ROLE, &absent);
    if (absent)
        reply_absent(ctx);
    return found;
}

value *value_if_there(server_context *ctx, server_string *name, unsigned roles)
{
    bool absent;
    value *found = look(ctx, name, FOR_READ, &absent);
    return found && (found->settings.role & roles) ? found : NULL;
}

/* Brings what the value counts for in INFO up to date. */
static void count(value *value, uint64_t urls)
{
    totals_update(&value->counted, (totals){.sets = 1, .urls = urls, .claims = claims_count(value->claims)});
}

void value_changed(server_context *ctx, server_string *name, value *value, const char *event)
{
    count(value, value->counted.urls); /* its claims */
    server.SignalModifiedKey(ctx, name);
    server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_MODULE, event, name);
}

/* ---- making and freeing ---- */

uint64_t draw_number(void)
{
    uint64_t number = 0;
    while (number == 0)
        server.GetRandomBytes((unsigned char *)&number, sizeof number);
    return number;
}

int64_t value_now(const value *value)
{
    return steady_now() + value->ahead;
}

void value_catch_up(value *value, int64_t time)
{
    int64_t behind = (time < CLAIM_TIME_MOST ? time : CLAIM_TIME_MOST) - value_now(value);
    value->ahead += behind > 0 ? behind : 0;
}

value *value_new(const settings *settings)
{
    value *made = server.Calloc(1, sizeof *made);
    made->settings = settings->traits;
    if (!made->settings.id)
        made->settings.id = draw_number();
    made->deleted = settings->deleted;
    made->merged = settings->merged;
    made->previous_until = settings->previous_until; /* value_refresh lets it begin when the set is there */
    value_catch_up(made, settings->clock);
    memory_init(&made->memory, settings->max_memory);
    memory_add_owner(&made->memory, made);
    if (settings->awaits) {
        made->saved = server.Alloc(sizeof *made->saved);
        made->saved->position = settings->position;
        memcpy(made->saved->piece_state, settings->piece_state, sizeof made->saved->piece_state);
    }
    count(made, 0);
    return made;
}

static void forget_saved(value *value)
{
    server.Free(value->saved);
    value->saved = NULL;
}

void value_close(value *value)
{
    if (!value)
        return;
    expiry_forget(value);
    totals_update(&value->counted, (totals){0});
    vidi_close(value->set);
    claims_free(value->claims);
    memory_remove_owner(&value->memory, value);
    forget_saved(value);
    server.Free(value);
}

settings value_settings(const value *value)
{
    settings settings = settings_from(&value->settings);
    settings.deleted = value->deleted;
    settings.merged = value->merged;
    settings.previous_until = value->previous_until;
    settings.clock = claims_count(value->claims) ? value_now(value) : 0;
    settings.position = value->position;
    settings.awaits = vidi_piece_state(value->set, settings.piece_state) == VIDI_OK;
    return settings;
}

static uint64_t id_of_copy(const value *original, server_string *name)
{
    vidi_str text = text_of(name);
    uint64_t hash = fnv_bytes(FNV_START, &original->settings.id, sizeof original->settings.id);
    return fnv_bytes(hash, text.ptr, text.len);
}

value *value_copy(const value *original, server_string *name)
{
    settings settings = value_settings(original);
    settings.id = id_of_copy(original, name);
    value *made = value_new(&settings);
    vidi_access access;
    value_access(made, &access);
    memory_lift_limits();
    int error = vidi_copy(&made->set, original->set, &access);
    if (error == VIDI_OK && original->claims)
        error = claims_copy(&made->claims, original->claims, &made->memory.allocator);
    memory_restore_limits();
    if (error != VIDI_OK) {
        value_close(made);
        return NULL;
    }
    value_refresh(made);
    return made;
}

bool value_put(server_context *ctx, server_string *name, value *value)
{
    server_key *key = server.OpenKey(ctx, name, FOR_WRITE);
    bool done =
        server.KeyType(key) == SERVER_KEY_EMPTY && server.ModuleTypeSetValue(key, value_type, value) == SERVER_OK;
    server.CloseKey(key);
    if (done)
        server.SignalModifiedKey(ctx, name);
    return done;
}

void value_access(value *value, vidi_access *access)
{
    vidi_options unused;
    settings settings = settings_from(&value->settings);
    settings_to_options(&settings, &unused, access);
    access->allocator = &value->memory.allocator;
}

uint64_t value_buckets(const traits *settings)
{
    uint64_t size = settings->bucket_size ? settings->bucket_size : 1, buckets = 1;
    while (buckets < settings->capacity / size && buckets <= UINT64_MAX / 2 / size)
        buckets *= 2;
    return buckets;
}

/* How many items a filter that does not scale takes. */
static uint64_t most_items(const traits *settings)
{
    if (settings->role == ROLE_URLS || settings->expansion > 0)
        return 0;
    uint64_t size = settings->bucket_size ? settings->bucket_size : 1;
    return settings->role == ROLE_BF ? settings->capacity : value_buckets(settings) * size;
}

/* How many adds a set that stores every add holds. Its counters know nothing of what was merged into it. */
static uint64_t stored_adds(const vidi_stats *stats, uint64_t merged)
{
    uint64_t stored = stats->answered_new + stats->answered_seen + merged;
    uint64_t left = stored > stats->removed ? stored - stats->removed : 0;
    return left > stats->count ? left : stats->count;
}

/*
 * The value was saved while its pieces came: it goes on where the saved one was, as soon as all is there that was saved
 * (VIDI_ECANNOT until then, if that comes in pieces itself).
 */
static void resume_pieces(value *value)
{
    if (!value->saved)
        return;
    int code = vidi_piece_resume(value->set, value->saved->piece_state);
    if (code == VIDI_ECANNOT)
        return;
    value->position = code == VIDI_OK ? value->saved->position : 0;
    forget_saved(value);
}

void value_refresh(value *value)
{
    vidi_stats stats = {.size = sizeof stats};
    if (vidi_stat(value->set, &stats) != VIDI_OK)
        return;
    value->counts = stats.can & VIDI_STORES_EVERY_ADD;
    value->items = value->counts ? stored_adds(&stats, value->merged) : stats.count;
    value->most_items = most_items(&value->settings);
    count(value, stats.count);
    resume_pieces(value);
    if (value->previous_until && !value->expiry.at)
        expiry_set(value, value->previous_until);
}

/* What a set that is made like another one takes over, if the command says nothing else. */
static void take_over(settings *settings, const value *like)
{
    uint64_t max_memory = settings->max_memory, id = settings->id;
    server_string *name = settings->like;
    *settings = settings_from(&like->settings);
    settings->like = name;
    settings->id = id;
    settings->max_memory = max_memory ? max_memory : settings->max_memory;
}

int value_create(value *value, const settings *settings, const struct value *like)
{
    vidi_options options;
    vidi_access access;
    settings_to_options(settings, &options, &access);
    access.allocator = &value->memory.allocator;
    if (like) {
        options.like = like->set;
        options.kind = options.params = options.canon = NULL;
        options.key = NULL;
        options.capacity = 0;
        options.error = 0;
    }
    int error = vidi_create(&value->set, &options);
    if (error == VIDI_OK)
        value_refresh(value);
    return error;
}

/* Kind and canonical form as they are, so that a version with other defaults makes the same set from an old file. */
static void pin_defaults(settings *settings, const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof(stats)};
    if (vidi_stat(set, &stats) != VIDI_OK)
        return;
    snprintf(settings->kind, sizeof(settings->kind), "%s", stats.kind);
    snprintf(settings->canon, sizeof(settings->canon), "%s", stats.canon);
}

value *value_make(server_context *ctx, server_string *name, settings *settings)
{
    const value *like = NULL;
    if (settings->like) {
        bool absent = false;
        like = value_open(ctx, settings->like, FOR_READ, ANY_ROLE, &absent);
        if (absent)
            reply_error(ctx, "the key after LIKE does not exist");
        if (!like)
            return NULL;
        take_over(settings, like);
    }
    const char *wrong = settings_resolve(settings);
    if (wrong) {
        reply_error(ctx, wrong);
        return NULL;
    }
    value *made = value_new(settings);
    int error = value_create(made, settings, like);
    if (error != VIDI_OK || !value_put(ctx, name, made)) {
        if (error != VIDI_OK)
            reply_failure(ctx, made, error);
        else
            reply_error(ctx, "the key exists already");
        value_close(made);
        return NULL;
    }
    pin_defaults(settings, made->set);
    settings->id = made->settings.id;
    replicate_reserve(ctx, name, settings);
    server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_MODULE, "vidi.reserve", name);
    return made;
}

value *value_or_new(server_context *ctx, server_string *name)
{
    bool absent;
    value *found = value_open(ctx, name, FOR_WRITE, ANY_ROLE, &absent);
    if (!absent)
        return found;
    if (!memory_enforces()) { /* a set with another key would answer like this one, and hold something else */
        reply_error(ctx, "the primary has made this set, but it could not be made here");
        return NULL;
    }
    settings settings;
    settings_init(&settings, ROLE_URLS);
    return value_make(ctx, name, &settings);
}

/* ---- asking ---- */

int value_has(const value *value, vidi_str item)
{
    memory_lift_limits();
    int verdict = vidi_has(value->set, item);
    memory_restore_limits();
    return verdict;
}

int value_has_batch(const value *value, const vidi_str *items, size_t n, uint8_t *verdicts)
{
    memory_lift_limits();
    int code = vidi_has_batch(value->set, items, n, verdicts);
    memory_restore_limits();
    return code;
}

int value_has_previous(const value *value, vidi_str item)
{
    memory_lift_limits();
    int verdict = vidi_has_previous(value->set, item);
    memory_restore_limits();
    return verdict;
}

int value_count(const value *value, vidi_str item, uint64_t *times)
{
    memory_lift_limits();
    int code = vidi_count(value->set, item, times);
    memory_restore_limits();
    return code;
}

/* ---- adding ---- */

void value_count_stored(value *value, const uint8_t *verdicts, size_t n)
{
    uint64_t stored = 0, fresh = 0;
    for (size_t i = 0; i < n; i++) {
        stored += value_stored(value, verdicts[i]);
        fresh += verdicts[i] == VIDI_NEW;
    }
    value->items += value->counts || value->most_items ? stored : 0;
    count(value, value->counted.urls + fresh);
}

static int add_all(value *value, const vidi_str *items, size_t n, uint8_t *verdicts)
{
    int error = VIDI_OK;
    if (n != 1) {
        error = vidi_add_batch(value->set, items, n, verdicts, NULL);
    } else {
        int verdict = vidi_add(value->set, items[0]);
        verdicts[0] = verdict > 0 ? (uint8_t)verdict : VIDI_UNTRIED;
        error = verdict > 0 ? VIDI_OK : verdict;
    }
    value_count_stored(value, verdicts, n);
    return error;
}

/* There is no room: what is there already gets its answer, up to the first item that is not. */
static int ask_while_full(const value *value, const vidi_str *items, size_t n, uint8_t *verdicts)
{
    for (size_t i = 0; i < n; i++) {
        int verdict = value->counts ? VIDI_NEW : value_has(value, items[i]);
        if (verdict < 0)
            return verdict;
        if (verdict == VIDI_NEW)
            return VALUE_FULL;
        verdicts[i] = (uint8_t)verdict;
    }
    return VIDI_OK;
}

int value_add(value *value, const vidi_str *items, size_t n, uint8_t *verdicts)
{
    atomic_store_explicit(&value->memory.refused, false, memory_order_relaxed);
    if (value->most_items == 0)
        return add_all(value, items, n, verdicts);
    memset(verdicts, VIDI_UNTRIED, n);
    int error = VIDI_OK;
    size_t done = 0;
    while (done < n && error == VIDI_OK && value->items < value->most_items) {
        uint64_t room = value->most_items - value->items;
        size_t now = n - done < room ? n - done : (size_t)room;
        error = add_all(value, items + done, now, verdicts + done);
        done += now;
    }
    return error == VIDI_OK && done < n ? ask_while_full(value, items + done, n - done, verdicts + done) : error;
}

int value_remove(value *value, vidi_str item)
{
    memory_lift_limits();
    int code = vidi_remove(value->set, item);
    memory_restore_limits();
    if (code == VIDI_OK) {
        value->items -= value->items > 0;
        value->deleted++;
        vidi_stats stats = {.size = sizeof stats}; /* a kind that counts may hold the item still */
        if (vidi_stat(value->set, &stats) == VIDI_OK)
            count(value, stats.count);
    }
    return code;
}

int value_merge(value *value, const struct value *from)
{
    vidi_stats stats = {.size = sizeof stats};
    int code = vidi_stat(from->set, &stats);
    if (code == VIDI_OK)
        code = vidi_merge(value->set, from->set, 0);
    if (code == VIDI_OK && value->counts && value != from)
        value->merged += from->counts ? from->items : stats.count;
    return code;
}

int value_take_piece(value *value, vidi_str piece)
{
    vidi_access access;
    value_access(value, &access);
    type_count_load();
    int more, code = vidi_piece_read(&value->set, piece.ptr, piece.len, &access, &more);
    if (code < 0)
        return code;
    value->position = more ? value->position + 1 : 0;
    value_refresh(value);
    return more;
}

int value_piece(const value *value, uint64_t *cursor, size_t most, vidi_sink sink, void *context)
{
    memory_lift_limits();
    int error = vidi_piece_write(value->set, cursor, most, sink, context);
    memory_restore_limits();
    return error;
}

size_t value_bytes(const value *value)
{
    return (size_t)atomic_load(&value->memory.used);
}
