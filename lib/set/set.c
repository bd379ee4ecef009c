/* Making and closing sets, and what concerns a set as a whole. */
#include "set/set.h"

#include "base/random.h"

int vidi__set_whole(const vidi_set *set)
{
    if (set->partial)
        return vidi__fail(VIDI_ECANNOT, "the log is not folded into the snapshot, which is mapped; to write the set, "
                                        "open it without mapping it");
    return VIDI_OK;
}

int vidi__set_alloc(vidi_set **set, const vidi_access *access)
{
    vidi__memory memory;
    VIDI__TRY(vidi__memory_init(&memory, access->allocator, access->memory_limit));
    VIDI__TRY(vidi__alloc_zeroed(&memory, set, sizeof **set, VIDI__CACHE_LINE));
    (*set)->memory.hook = memory.hook;
    (*set)->memory.limit = memory.limit;
    atomic_init(&(*set)->memory.used, vidi__memory_used(&memory));
    vidi__gate_init(&(*set)->gate);
    (*set)->invalid = access->invalid;
    (*set)->touch_later = access->flags & VIDI_TOUCH_LATER;
    return VIDI_OK;
}

void vidi_close(vidi_set *set)
{
    if (!set || (set->process && set->process != atomic_load(&vidi__fork_generation)))
        return; /* it belongs to a parent, whose threads and files are not here */
    if (set->persistence)
        set->persistence->close(set);
    vidi__epoch_free(&set->now, &set->memory);
    vidi__set_drop_previous(set);
    vidi__recipe_free(&set->recipe, &set->memory);
    vidi_canon_close(set->canon);
    vidi__release(&set->memory, set->mapped, sizeof *set->mapped, _Alignof(vidi__mapped));
    vidi__note_free(&set->memory, set->note);
    vidi__note_free(&set->memory, set->owner);
    vidi__arrival_free(set);
    if (set->unmap)
        set->unmap(set->memory.borrowed, set->memory.borrowed_bytes);
    vidi__release(&set->memory, set->history, set->history_room * sizeof *set->history, _Alignof(vidi_epoch_stats));
    vidi__gate_free(&set->gate, &set->memory);
    vidi_allocator hook = set->memory.hook;
    hook.release(hook.context, set, sizeof *set, VIDI__CACHE_LINE);
}

void vidi__set_canon(vidi_set *set, vidi_canon *canon)
{
    set->canon = canon;
    set->output = vidi__canon_output_of(canon);
}

const vidi_canon *vidi_canon_of(const vidi_set *set)
{
    return set ? set->canon : NULL;
}

int vidi__access_take(vidi_access *mine, const vidi_access *access)
{
    const uint32_t known =
        VIDI_MANUAL_COMMIT | VIDI_READ_ONLY | VIDI_NO_MAP | VIDI_ACCEPT_DAMAGE | VIDI_READ_TO_END | VIDI_TOUCH_LATER;
    *mine = (vidi_access)VIDI_ACCESS_INIT;
    if (access)
        VIDI__TRY(vidi__struct_in(mine, sizeof *mine, access, "vidi_access"));
    if (mine->flags & ~known)
        return vidi__fail(VIDI_EOPTION, "access flags 0x%x are not known", mine->flags & ~known);
    if (mine->sync > VIDI_SYNC_NEVER)
        return vidi__fail(VIDI_EOPTION, "sync is %u, which is not a policy", mine->sync);
    if (mine->invalid > VIDI_FAIL_INVALID)
        return vidi__fail(VIDI_EOPTION, "invalid is %u, which is not a policy", mine->invalid);
    if (mine->owner && strlen(mine->owner) >= VIDI_OWNER_ROOM)
        return vidi__fail(VIDI_EOPTION, "the name of the owner is longer than %d bytes", VIDI_OWNER_ROOM - 1);
    return VIDI_OK;
}

/* Takes over everything of another set but its contents. */
static int take_likeness(vidi_set *set, const vidi_options *options, uint64_t *epoch)
{
    const vidi_set *like = options->like;
    vidi_canon *canon;
    if (options->kind || options->params || options->capacity || options->error != 0 || options->member ||
        options->canon || options->tracking)
        return vidi__fail(VIDI_EOPTION, "like says it all: kind, params, capacity, error, member, canon and tracking "
                                        "must be unset");
    VIDI__TRY(vidi__set_here(like));
    VIDI__TRY(vidi__canon_copy(&canon, &set->memory, like->canon));
    vidi__set_canon(set, canon);
    vidi__lock_shared(like);
    int code = vidi__recipe_copy(&set->recipe, &set->memory, &like->recipe);
    set->member = like->member;
    memcpy(set->key, options->key ? options->key : like->key, sizeof set->key);
    *epoch = like->now.number;
    vidi__unlock(like);
    return code;
}

static int make(vidi_set *set, const vidi_options *options)
{
    uint64_t epoch = 0;
    if (options->key_from && (options->key || options->like))
        return vidi__fail(VIDI_EOPTION, "key_from excludes key and like");
    set->recipe.kind = vidi__kind_at(0);
    set->recipe.headroom = VIDI__HEADROOM;
    if (options->like) {
        VIDI__TRY(take_likeness(set, options, &epoch));
    } else {
        vidi_canon *canon;
        VIDI__TRY(vidi__canon_create(&canon, &set->memory, options->canon, options->tracking));
        vidi__set_canon(set, canon);
        set->member = options->member;
        if (options->key || options->key_from)
            memcpy(set->key, options->key ? options->key : options->key_from->key, sizeof set->key);
        else
            VIDI__TRY(vidi__random(set->key, sizeof set->key));
    }
    VIDI__TRY(vidi__recipe_take(&set->recipe, &set->memory, options));
    VIDI__TRY(vidi__epoch_make(set, &set->recipe, epoch, NULL, &set->now));
    vidi__set_ready(set);
    return VIDI_OK;
}

int vidi__set_create(vidi_set **set, const vidi_options *options, const vidi_access *access)
{
    VIDI__TRY(vidi__set_alloc(set, access));
    int code = make(*set, options);
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

int vidi__note_make(vidi__memory *memory, vidi_str bytes, vidi__note **note)
{
    *note = NULL;
    if (!bytes.len)
        return VIDI_OK;
    VIDI__TRY(vidi__alloc(memory, note, sizeof **note + bytes.len, _Alignof(vidi__note)));
    (*note)->len = bytes.len;
    memcpy((*note)->bytes, bytes.ptr, bytes.len);
    return VIDI_OK;
}

void vidi__note_free(vidi__memory *memory, vidi__note *note)
{
    if (note)
        vidi__release(memory, note, sizeof *note + note->len, _Alignof(vidi__note));
}

int vidi__set_is_elsewhere(void)
{
    return vidi__fail(VIDI_ECANNOT, "this process is a child of the one that opened the set for writing; open the set "
                                    "again, for reading, or when the parent has closed it");
}

int vidi__set_is_read_only(void)
{
    return vidi__fail(VIDI_ECANNOT, "the set is read-only");
}

int vidi__cannot(const vidi_set *set, const char *what)
{
    const vidi__filter *filter = set->now.filter;
    return vidi__fail(VIDI_ECANNOT, "kind %s cannot %s", filter->kind->name, what);
}

/* A visitor, and the set that is listed. */
typedef struct visit {
    const vidi_set *set;
    const vidi__lister *to;
} visit;

/* Passes an entry on, unless it comes from a place that could not be read. A kept line appears as it was given. */
static int visit_entry(void *context, const vidi_entry *entry)
{
    const visit *self = context;
    VIDI__TRY(vidi__set_intact(self->set, VIDI_OK));
    vidi_entry whole = *entry;
    if (whole.url.ptr && vidi__is_kept_line(self->set, &whole.url))
        whole.flags |= VIDI_NOT_A_URL;
    return self->to->visitor(self->to->context, &whole);
}

/* The same for kinds that keep URLs but no hashes. */
static int visit_hashed(void *context, const vidi_entry *entry)
{
    const visit *self = context;
    const vidi__epoch *epoch = &self->set->now;
    vidi__u128 hash = vidi__hash(epoch->hash, vidi__epoch_key(epoch), entry->url);
    vidi_entry whole = {entry->url, {hash.lo, hash.hi}, entry->times, 0};
    return visit_entry(context, &whole);
}

static int take_hashes(void *context, uint64_t *hashes, const uint64_t *times, unsigned n)
{
    const visit *self = context;
    VIDI__TRY(vidi__set_intact(self->set, VIDI_OK));
    return self->to->hashes(self->to->context, hashes, times, n);
}

static int list_filter(const vidi__filter *filter, visit *visit)
{
    if (!(filter->can & VIDI_CAN_ITERATE))
        return vidi__cannot(visit->set, "list what it holds");
    if (visit->to->hashes && filter->kind->list_hashes)
        return filter->kind->list_hashes(filter, take_hashes, visit);
    bool hashed = filter->needs.what & VIDI__NEED_HASH;
    return filter->kind->iterate(filter, hashed ? visit_entry : visit_hashed, visit);
}

int vidi__set_list(const vidi_set *set, const vidi__lister *to)
{
    visit visit = {set, to};
    vidi__turn_begin(set);
    int code = vidi__lock_whole(set);
    if (code == VIDI_OK && set->persistence)
        code = set->persistence->iterate(set, NULL, NULL);
    if (code >= 0)
        code = list_filter(set->now.filter, &visit);
    code = vidi__set_intact(set, code);
    if (code == VIDI_OK && set->persistence)
        code = set->persistence->iterate(set, visit_entry, &visit);
    vidi__unlock(set);
    vidi__turn_end(set);
    return code;
}

int vidi_iterate(const vidi_set *set, vidi_visitor visitor, void *context)
{
    if (!set || !visitor)
        return vidi__fail(VIDI_EARGUMENT, "set or visitor is NULL");
    VIDI__TRY(vidi__set_here(set));
    return vidi__set_list(set, &(vidi__lister){.visitor = visitor, .context = context});
}

int vidi_step(vidi_set *set, uint64_t budget_ns, int *more)
{
    if (more)
        *more = 0;
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    VIDI__TRY(vidi__set_writable(set));
    vidi__slot *slot = vidi__lock_to_look(set);
    if (!set->now.filter->kind->step_is_concurrent && !vidi__set_is_alone(set)) {
        vidi__unlock_slot(set, slot, 1);
        slot = vidi__lock_alone(set);
    }
    const vidi__kind *kind = set->now.filter->kind; /* another one if the set was rotated just now */
    int left = kind->step && !set->frozen ? kind->step(set->now.filter, budget_ns) : 0;
    vidi__unlock_slot(set, slot, 1);
    if (more && left > 0)
        *more = 1;
    return left < 0 ? left : VIDI_OK;
}

int vidi_expect(vidi_set *set, uint64_t urls)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    VIDI__TRY(vidi__set_writable(set));
    vidi__lock_shared(set);
    vidi__filter *filter = set->now.filter;
    if (filter->kind->expect)
        filter->kind->expect(filter, urls);
    vidi__unlock(set);
    return VIDI_OK;
}

int vidi_decide(const uint8_t *answers, size_t members, int *ambiguous)
{
    size_t fresh = 0, seen = 0;
    if (members && !answers)
        return vidi__fail(VIDI_EARGUMENT, "answers is NULL");
    if (ambiguous)
        *ambiguous = 0;
    for (size_t i = 0; i < members; i++) {
        if (answers[i] == VIDI_NEW)
            fresh++;
        else if (answers[i] == VIDI_SEEN)
            seen++;
        else if (answers[i] == VIDI_INVALID)
            return vidi__fail(VIDI_INVALID, "member %zu says that it is not a URL", i + 1);
        else if (answers[i] != VIDI_UNTRIED)
            return vidi__fail(VIDI_EARGUMENT, "answer %zu is %u, which is no verdict", i, answers[i]);
    }
    if (ambiguous)
        *ambiguous = fresh && seen;
    return fresh ? VIDI_NEW : seen ? VIDI_SEEN : VIDI_UNTRIED;
}
