/*
 * Replies of VIDI.INFO. See info.h.
 *
 * A table says which name goes where. Names that are not in it are left out: a later module may tell more.
 */
#include "info.h"

#include <string.h>

typedef enum field_type { COUNT64, COUNT32, REAL, TEXT, OTHER } field_type;

typedef struct field {
    const char *name;
    field_type type;
    size_t at, room;
    bool (*take)(shard_info *info, vidi_str text);
} field;

static bool take_number(shard_info *info, vidi_str text, const char *const *words, size_t n, uint32_t *to)
{
    (void)info;
    for (*to = 0; *to < n; ++*to)
        if (text_is(text, words[*to]))
            return true;
    return false;
}

static bool take_meaning(shard_info *info, vidi_str text)
{
    static const char *const words[] = {"exact", "at most", "estimate"};
    return take_number(info, text, words, 3, &info->set.fp_meaning);
}

static bool take_trust(shard_info *info, vidi_str text)
{
    static const char *const words[] = {"keyed", "trusting"};
    return take_number(info, text, words, 2, &info->set.hash_trust);
}

/* "delete count merge", say */
static bool take_abilities(shard_info *info, vidi_str text)
{
    static const char *const words[] = {"delete", "count", "merge", "iterate", "grow", "concurrent"};
    while (text.len) {
        const char *space = memchr(text.ptr, ' ', text.len);
        vidi_str word = {text.ptr, space ? (size_t)(space - text.ptr) : text.len};
        for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
            info->set.can |= text_is(word, words[i]) ? UINT32_C(1) << i : 0;
        size_t past = word.len + (space != NULL);
        text = (vidi_str){text.ptr + past, text.len - past};
    }
    return true;
}

#define FIELD(name_, field_, type_)                                                                                    \
    {                                                                                                                  \
        .name = (name_), .type = (type_), .at = offsetof(shard_info, field_),                                          \
        .room = sizeof((shard_info *)NULL)->field_                                                                     \
    }
#define SET_FIELD(name_, type_) FIELD(#name_, set.name_, type_)

static const field fields[] = {
    FIELD("expected_lost", set.expected_lost, REAL),
    SET_FIELD(fp_now, REAL),
    {.name = "fp_meaning", .type = OTHER, .take = take_meaning},
    SET_FIELD(count, COUNT64),
    SET_FIELD(capacity, COUNT64),
    SET_FIELD(fill, REAL),
    SET_FIELD(kind, TEXT),
    SET_FIELD(params, TEXT),
    SET_FIELD(canon, TEXT),
    FIELD("invalid", invalid, TEXT),
    SET_FIELD(hash, TEXT),
    {.name = "hash_trust", .type = OTHER, .take = take_trust},
    {.name = "can", .type = OTHER, .take = take_abilities},
    FIELD("role", role, TEXT),
    SET_FIELD(epoch, COUNT64),
    SET_FIELD(past_epochs, COUNT64),
    SET_FIELD(bytes, COUNT64),
    SET_FIELD(memory_bytes, COUNT64),
    FIELD("max_memory", max_memory, COUNT64),
    SET_FIELD(stages, COUNT32),
    SET_FIELD(lines_touched, COUNT64),
    SET_FIELD(answered_new, COUNT64),
    SET_FIELD(answered_seen, COUNT64),
    SET_FIELD(answered_invalid, COUNT64),
    SET_FIELD(asked, COUNT64),
    SET_FIELD(removed, COUNT64),
    SET_FIELD(ambiguous, COUNT64),
    FIELD("claims", claims, COUNT64),
    FIELD("expired_claims", expired, COUNT64),
    FIELD("next_piece", next_piece, COUNT64),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool take_field(shard_info *info, const field *field, const redis_reply *value)
{
    char *at = (char *)info + field->at;
    bool number = field->type == COUNT64 || field->type == COUNT32;
    if (value->type != (number ? REDIS_INTEGER : REDIS_TEXT) || (number && value->integer < 0))
        return false;
    switch (field->type) {
    case COUNT64:
        *(uint64_t *)(void *)at = (uint64_t)value->integer;
        return true;
    case COUNT32:
        *(uint32_t *)(void *)at = (uint32_t)value->integer;
        return value->integer <= UINT32_MAX;
    case REAL:
        return set_parse_real(value->text, (double *)(void *)at);
    case TEXT:
        if (value->text.len >= field->room)
            return false;
        memcpy(at, value->text.ptr, value->text.len);
        at[value->text.len] = 0;
        return true;
    default:
        return field->take(info, value->text);
    }
}

/* The table is in the order of the replies, so the next name is usually the next row. */
static size_t find_field(vidi_str name, size_t after)
{
    for (size_t i = 0; i < FIELDS; i++) {
        size_t row = (after + i) % FIELDS;
        if (text_is(name, fields[row].name))
            return row;
    }
    return FIELDS;
}

int info_read(vidi_cluster *cluster, const redis_reply *reply, shard_info *info)
{
    uint64_t found = 0;
    size_t next = 0;
    *info = (shard_info){.set.size = sizeof info->set};
    for (size_t i = 0; i + 1 < reply->count; i += 2) {
        size_t row = reply->items[i].type == REDIS_TEXT ? find_field(reply->items[i].text, next) : FIELDS;
        if (row == FIELDS)
            continue;
        if (!take_field(info, &fields[row], &reply->items[i + 1]))
            return cluster_garbled(cluster);
        found |= UINT64_C(1) << row;
        next = row + 1;
    }
    return found == (UINT64_C(1) << FIELDS) - 1 ? VIDI_OK : cluster_garbled(cluster);
}

void info_ask(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context)
{
    (void)index, (void)context;
    calls_begin_shard(&cluster->calls, shard, WORD("VIDI.INFO"), 0);
    calls_guard(&cluster->calls, shard);
}

uint32_t info_can(const record *record)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set;
    access.flags = VIDI_TOUCH_LATER;
    options.kind = record->kind;
    options.params = record->params;
    options.capacity = record->capacity ? 1000 : 0;
    options.access = &access;
    if (vidi_create(&set, &options) == VIDI_OK) {
        if (vidi_stat(set, &stats) != VIDI_OK)
            stats.can = 0;
        vidi_close(set);
    }
    return stats.can & VIDI_KEEPS_URLS;
}
