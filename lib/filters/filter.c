/*
 * What all kinds share: creation and destruction, loops over items, saving and loading with the kind's name in front.
 */
#include "filters/filter.h"

int vidi__filter_alloc(void *filter, size_t bytes, const vidi__kind *kind, const vidi__config *config)
{
    vidi__filter *base;
    VIDI__TRY(vidi__alloc_zeroed(config->memory, &base, bytes, VIDI__CACHE_LINE));
    base->kind = kind;
    base->memory = config->memory;
    base->item_hash = config->item_hash;
    base->can = kind->can;
    base->keyed = true;
    base->capacity = config->capacity;
    base->error = config->error;
    base->is_member = config->is_member;
    for (unsigned i = 0; i < 2; i++)
        base->member_salts[i] = vidi__load64(config->seed.key + 8 * i);
    atomic_init(&base->count, 0);
    memcpy(filter, &base, sizeof base);
    return VIDI_OK;
}

size_t vidi__filter_member_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, vidi__u128 *own)
{
    size_t count = n < VIDI__MEMBER_HASHES_MAX ? n : VIDI__MEMBER_HASHES_MAX;
    for (size_t i = 0; i < count; i++)
        own[i] = vidi__filter_member_hash(filter, hashes[i]);
    return count;
}

/* Statistics, saving and comparing need all parameters as text, so there must be room for them. */
static int check_description(const vidi__filter *filter)
{
    char params[VIDI__DESCRIPTION];
    vidi__text text = vidi__text_in(params, sizeof params);
    filter->kind->describe(filter, &text);
    return text.cut
               ? vidi__fail(VIDI_EOPTION, "the parameters are too long: all of them together may have %d characters",
                            VIDI__DESCRIPTION - 1)
               : VIDI_OK;
}

int vidi__filter_create(vidi__filter **filter, const vidi__kind *kind, const vidi__config *config)
{
    *filter = NULL;
    if (config->depth > VIDI__DEPTH_MAX)
        return vidi__fail(VIDI_EOPTION, "kinds are nested more than %d deep", VIDI__DEPTH_MAX);
    int code = kind->create(filter, config);
    if (code == VIDI_OK)
        code = vidi__params_done(config->params);
    if (code == VIDI_OK && config->depth == 0) /* which describes what is inside, too */
        code = check_description(*filter);
    if (code < 0) {
        vidi__filter_destroy(*filter);
        *filter = NULL;
        return vidi__fail_in(kind->name, code);
    }
    return VIDI_OK;
}

void vidi__filter_destroy(vidi__filter *filter)
{
    if (filter)
        filter->kind->destroy(filter);
}

int vidi__filter_alike(const vidi__filter *a, const vidi__filter *b)
{
    const vidi__needs *one = &a->needs, *two = &b->needs;
    if (a->kind != b->kind || a->can != b->can || one->what != two->what || one->segments_max != two->segments_max ||
        one->strip_scheme != two->strip_scheme || strcmp(one->feature, two->feature) != 0)
        return vidi__damaged("the parts of a filter differ in kind");
    return VIDI_OK;
}

int vidi__filter_check_hash(const vidi__config *config)
{
    vidi_str given;
    if (vidi__params_str(config->params, "hash", &given) && !vidi__str_is(given, config->item_hash->name))
        return vidi__fail(VIDI_EOPTION, "hash must be a 128-bit function, not '%.*s'", VIDI__QUOTE(given));
    return VIDI_OK;
}

int vidi__filter_inner(const vidi__kind **inner, vidi__params *params)
{
    vidi_str name = VIDI__STR("classic");
    VIDI__TRY(vidi__params_str(params, "inner", &name));
    *inner = vidi__kind_find(name);
    return *inner ? VIDI_OK : vidi__kind_unknown(name);
}

void vidi__filter_describe_inner(const vidi__filter *inner, const char *taken, vidi__text *text)
{
    char own[VIDI__DESCRIPTION];
    vidi__params params;
    vidi__text description = vidi__text_in(own, sizeof own);
    inner->kind->describe(inner, &description);
    if (description.cut || vidi__params_parse(&params, own) < 0)
        text->cut = true;
    else
        vidi__params_hand_on(&params, taken, text);
}

int vidi__filter_add(vidi__filter *filter, const vidi__item *items, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    const vidi__kind *kind = filter->kind;
    for (size_t i = 0; i < n; i++) {
        double p = kind->fp_now(filter);
        int verdict = kind->add(filter, &items[i]);
        if (verdict < 0)
            return verdict;
        verdicts[i] = (uint8_t)verdict;
        vidi__tally_add(tally, (vidi__added){verdict, verdict == VIDI_NEW ? vidi__filter_lost(p) : 0});
    }
    return VIDI_OK;
}

int vidi__filter_has(const vidi__filter *filter, const vidi__item *items, size_t n, uint8_t *verdicts)
{
    for (size_t i = 0; i < n; i++) {
        int verdict = filter->kind->has(filter, &items[i]);
        if (verdict < 0)
            return verdict;
        verdicts[i] = (uint8_t)verdict;
    }
    return VIDI_OK;
}

/* Items of some hashes, to be given to a kind that has no batch functions. */
#define GROUP 32

static size_t make_items(vidi__item *items, const vidi__u128 *hashes, size_t n)
{
    size_t count = n < GROUP ? n : GROUP;
    memset(items, 0, count * sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i].url.hash = hashes[i];
    return count;
}

int vidi__filter_add_hashes(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                            vidi__tally *tally)
{
    vidi__item items[GROUP];
    if (filter->kind->add_hashes && n > 1) /* a kind's batch of one may leave the losses to its caller */
        return filter->kind->add_hashes(filter, hashes, n, verdicts, tally);
    for (size_t done = 0, count; done < n; done += count) {
        count = make_items(items, hashes + done, n - done);
        VIDI__TRY(vidi__filter_add(filter, items, count, verdicts + done, tally));
    }
    return VIDI_OK;
}

int vidi__filter_has_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    vidi__item items[GROUP];
    if (filter->kind->has_hashes)
        return filter->kind->has_hashes(filter, hashes, n, verdicts);
    for (size_t done = 0, count; done < n; done += count) {
        count = make_items(items, hashes + done, n - done);
        VIDI__TRY(vidi__filter_has(filter, items, count, verdicts + done));
    }
    return VIDI_OK;
}

void vidi__filter_hash_names(const vidi__filter *filter, vidi__text *text)
{
    if (filter->kind->hash_names)
        filter->kind->hash_names(filter, text);
    else if (filter->positions)
        vidi__positions_names(filter->positions, text);
    else
        vidi__text_add(text, "%s", filter->item_hash->name);
}

void vidi__filter_stage(const vidi__filter *filter, uint64_t index, vidi_stage_stats *stats)
{
    if (filter->kind->stage) {
        filter->kind->stage(filter, index, stats);
        return;
    }
    vidi__filter_stats own = {.stages = 1};
    filter->kind->stat(filter, &own);
    stats->capacity = filter->capacity;
    stats->count = vidi__filter_count(filter);
    stats->bytes = own.bytes;
    stats->error = filter->error;
    stats->k = own.k;
}

void vidi__filter_stage_of(vidi__filter *const *parts, unsigned count, uint64_t index, vidi_stage_stats *stats)
{
    for (unsigned i = 0; i < count; i++) {
        vidi__filter_stats part = {.stages = 1};
        parts[i]->kind->stat(parts[i], &part);
        if (index < part.stages) {
            vidi__filter_stage(parts[i], index, stats);
            return;
        }
        index -= part.stages;
    }
}

/*
 * A saved filter is: kind, parameters, capacity, error, count, and what the kind writes. All parameters are written,
 * not only those that the user gave, so that loading gives the same shape even if a later version has other defaults.
 */
int vidi__filter_save(const vidi__filter *filter, vidi__writer *writer)
{
    char params[VIDI__DESCRIPTION];
    vidi__text text = vidi__text_in(params, sizeof params);
    filter->kind->describe(filter, &text);
    if (text.cut)
        return vidi__fail(VIDI_ECANNOT, "the parameters of %s are too long to be saved", filter->kind->name);
    VIDI__TRY(vidi__write_str(writer, (vidi_str){filter->kind->name, strlen(filter->kind->name)}));
    VIDI__TRY(vidi__write_str(writer, (vidi_str){params, text.len}));
    VIDI__TRY(vidi__write_u64(writer, filter->capacity));
    VIDI__TRY(vidi__write_double(writer, filter->error));
    VIDI__TRY(vidi__write_u64(writer, vidi__filter_count(filter)));
    return filter->kind->save(filter, writer);
}

int vidi__blame_data(int code)
{
    return code == VIDI_EOPTION || code == VIDI_EARGUMENT ? vidi__fail_in("damaged", VIDI_EFORMAT) : code;
}

int vidi__filter_load(vidi__filter **filter, const vidi__config *config)
{
    char name[24], text[VIDI__DESCRIPTION];
    uint64_t count;
    vidi__params params;
    vidi__config inner = *config;
    *filter = NULL;
    VIDI__TRY(vidi__read_text(config->reader, name, sizeof name));
    VIDI__TRY(vidi__read_text(config->reader, text, sizeof text));
    VIDI__TRY(vidi__read_u64(config->reader, &inner.capacity));
    VIDI__TRY(vidi__read_double(config->reader, &inner.error));
    VIDI__TRY(vidi__read_u64(config->reader, &count));
    if (!(inner.error >= 0 && inner.error < 1))
        return vidi__damaged("an error rate is out of range");
    const vidi__kind *kind = vidi__kind_find((vidi_str){name, strlen(name)});
    if (!kind)
        return vidi__blame_data(vidi__kind_unknown((vidi_str){name, strlen(name)}));
    int code = vidi__params_parse(&params, text);
    inner.params = &params;
    inner.count = count;
    if (code == VIDI_OK)
        code = vidi__filter_create(filter, kind, &inner);
    if (code < 0)
        return vidi__blame_data(code);
    bool counted = kind->can & VIDI_CAN_ITERATE || (*filter)->count_known;
    if (counted && vidi__filter_count(*filter) != count) {
        vidi__filter_destroy(*filter);
        *filter = NULL;
        return vidi__damaged("the number of URLs is wrong");
    }
    atomic_store_explicit(&(*filter)->count, count, memory_order_relaxed);
    return VIDI_OK;
}

int vidi__filter_verify(const vidi__filter *filter)
{
    int code = filter->kind->verify ? filter->kind->verify(filter) : VIDI_OK;
    return code < 0 ? vidi__fail_in(filter->kind->name, code) : VIDI_OK;
}

int vidi__filter_same_shape(const vidi__filter *a, const vidi__filter *b)
{
    char one[VIDI__DESCRIPTION], two[VIDI__DESCRIPTION];
    vidi__text text_one = vidi__text_in(one, sizeof one), text_two = vidi__text_in(two, sizeof two);
    if (a->kind != b->kind)
        return vidi__fail(VIDI_EDIFFERS, "one filter is of kind %s, the other of kind %s", a->kind->name,
                          b->kind->name);
    a->kind->describe(a, &text_one);
    b->kind->describe(b, &text_two);
    if (text_one.cut || text_two.cut || strcmp(one, two) != 0)
        return vidi__fail(VIDI_EDIFFERS, "one %s set has %s, the other %s", a->kind->name, one, two);
    return VIDI_OK;
}
