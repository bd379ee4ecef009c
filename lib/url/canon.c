/* What vidi.h offers for canonical forms: profiles by name, and a URL taken through the rules of one. */
#include "url/canon_rules.h"

#include "url/is_canonical.h"

#include <stdio.h>

#define BASE_BYTES 1024
#define EXPLAIN_BYTES 1024

/* ---- profiles without rules that could be switched ---- */

static bool always(const vidi__work *work)
{
    (void)work;
    return true;
}

/* The text becomes a part of itself. */
static void keep_only(vidi__work *work, vidi_str part)
{
    memmove(work->out->at, part.ptr, part.len);
    work->out->len = part.len;
}

static vidi_str host_of(vidi__work *work)
{
    vidi_str host = {work->out->at + work->url.host_begin, work->url.host_end - work->url.host_begin};
    if (!work->url.has_host || !host.len) {
        vidi__fail(VIDI_INVALID, "the URL has no host");
        work->invalid = VIDI_INVALID;
    }
    return host;
}

static void key_host(vidi__work *work)
{
    vidi_str host = host_of(work);
    if (!work->invalid)
        keep_only(work, host);
}

static void key_site(vidi__work *work)
{
    vidi_str host = host_of(work);
    if (!work->invalid)
        keep_only(work, vidi__site_of(work->canon->sites, host, work->url.host_kind));
}

static const vidi__rule host_rules[] = {{"host", "the host alone", key_host, false}};
static const vidi__rule site_rules[] = {{"site", "the registrable domain alone", key_site, false}};

static const vidi__profile profile_none = {"none", 1, NULL, 0, NULL, NULL};
static const vidi__profile profile_whatwg = {"whatwg", 1, NULL, 0, NULL, NULL};
static const vidi__profile profile_host = {"key=host", 1, host_rules, 1, always, NULL};
static const vidi__profile profile_site = {"key=site", 1, site_rules, 1, always, NULL};

static const vidi__profile *const profiles[] = {&profile_whatwg,     &profile_none, &vidi__profile_crawl,
                                                &vidi__profile_surt, &profile_host, &profile_site};

/* May its rules be switched? That of a key is all there is of it. */
static bool is_fixed(const vidi__profile *profile, size_t rule)
{
    return profile == &profile_host || profile == &profile_site ||
           (profile == &vidi__profile_surt && strcmp(profile->rules[rule].name, "reorder") == 0);
}

/* ---- from text ---- */

/* "crawl" or "crawl/1" */
static int find_profile(vidi_canon *canon, vidi_str text)
{
    const char *slash = memchr(text.ptr, '/', text.len);
    vidi_str name = {text.ptr, slash ? (size_t)(slash - text.ptr) : text.len};
    for (size_t i = 0; i < VIDI__COUNT(profiles) && !canon->profile; i++)
        if (vidi__str_is(name, profiles[i]->name))
            canon->profile = profiles[i];
    if (!canon->profile)
        return vidi__fail(
            VIDI_EOPTION,
            "there is no canonical form \"%.*s\"; there are none, whatwg, crawl, surt, key=host and key=site",
            VIDI__QUOTE(name));
    char version[16];
    snprintf(version, sizeof version, "%u", canon->profile->version);
    vidi_str given = {slash ? slash + 1 : version, slash ? text.len - name.len - 1 : strlen(version)};
    if (!vidi__str_is(given, version))
        return vidi__fail(VIDI_EOPTION, "this version of vidi makes %s/%s, not \"%.*s\"", canon->profile->name, version,
                          VIDI__QUOTE(text));
    for (size_t i = 0; i < canon->profile->count; i++)
        canon->rules |= (uint32_t)!canon->profile->rules[i].off << i;
    return VIDI_OK;
}

/* "-sort" or "+scheme" */
static int switch_rule(vidi_canon *canon, vidi_str text)
{
    const vidi__profile *profile = canon->profile;
    vidi_str name = {text.ptr + 1, text.len ? text.len - 1 : 0};
    bool on = text.len && text.ptr[0] == '+';
    if (!on && !(text.len && text.ptr[0] == '-'))
        return vidi__fail(VIDI_EOPTION, "\"%.*s\" in a canonical form is neither \"-rule\" nor \"+rule\"",
                          VIDI__QUOTE(text));
    for (size_t i = 0; i < profile->count; i++)
        if (!is_fixed(profile, i) && vidi__str_is(name, profile->rules[i].name)) {
            canon->rules = (canon->rules & ~(1u << i)) | (uint32_t)on << i;
            return VIDI_OK;
        }
    char known[200];
    vidi__text list = vidi__text_in(known, sizeof known);
    for (size_t i = 0; i < profile->count; i++)
        if (!is_fixed(profile, i))
            vidi__text_add(&list, "%s%s", list.len ? ", " : "", profile->rules[i].name);
    return vidi__fail(VIDI_EOPTION, "%s has no rule \"%.*s\"; it has %s", profile->name, VIDI__QUOTE(name),
                      list.len ? known : "none that can be switched");
}

/* "tracking=" and a digest is remembered in *digest, to be compared with the list's. */
static int read_profile(vidi_canon *canon, const char *text, vidi_str *digest)
{
    static const char mark[] = "tracking=";
    vidi_str item = {text, strcspn(text, ",")};
    VIDI__TRY(find_profile(canon, item));
    while (item.ptr[item.len]) {
        item.ptr += item.len + 1;
        item.len = strcspn(item.ptr, ",");
        if (item.len >= sizeof mark - 1 && memcmp(item.ptr, mark, sizeof mark - 1) == 0)
            *digest = (vidi_str){item.ptr + sizeof mark - 1, item.len - (sizeof mark - 1)};
        else
            VIDI__TRY(switch_rule(canon, item));
    }
    return VIDI_OK;
}

static bool uses_tracking(const vidi_canon *canon)
{
    return canon->profile == &vidi__profile_crawl && vidi__rule_is_on(canon, VIDI__CRAWL_TRACKING);
}

static int make_tracking(vidi_canon *canon, const char *tracking, vidi_str digest)
{
    char have[24] = "";
    if (canon->profile != &vidi__profile_crawl && (tracking || digest.ptr))
        return vidi__fail(VIDI_EOPTION, "a list of tracking parameters is for crawl alone, not for %s",
                          canon->profile->name);
    if (tracking && !uses_tracking(canon))
        return vidi__fail(VIDI_EOPTION, "there is a list of tracking parameters, and rule tracking is off");
    if (uses_tracking(canon)) {
        VIDI__TRY(vidi__globs_make(canon, tracking));
        if (tracking)
            snprintf(have, sizeof have, "%016llx", (unsigned long long)canon->tracking.digest);
    }
    if (digest.ptr && !vidi__str_is(digest, have))
        return vidi__fail(VIDI_EDIFFERS, "the list of tracking parameters is not the one with the digest \"%.*s\"",
                          VIDI__QUOTE(digest));
    return VIDI_OK;
}

static void write_name(vidi_canon *canon)
{
    const vidi__profile *profile = canon->profile;
    vidi__text name = vidi__text_in(canon->name, sizeof canon->name);
    vidi__text_add(&name, "%s/%u", profile->name, profile->version);
    for (size_t i = 0; i < profile->count; i++)
        if (vidi__rule_is_on(canon, i) == profile->rules[i].off)
            vidi__text_add(&name, ",%c%s", profile->rules[i].off ? '+' : '-', profile->rules[i].name);
    if (canon->own_list)
        vidi__text_add(&name, ",tracking=%016llx", (unsigned long long)canon->tracking.digest);
}

static int fill(vidi_canon *canon, const char *profile, const char *tracking)
{
    vidi_str digest = {NULL, 0};
    VIDI__TRY(read_profile(canon, profile ? profile : "whatwg", &digest));
    VIDI__TRY(make_tracking(canon, tracking, digest));
    if (canon->profile == &profile_site)
        VIDI__TRY(vidi__sites_open(&canon->sites));
    canon->own_list = tracking && uses_tracking(canon);
    write_name(canon);
    return VIDI_OK;
}

static void empty(vidi_canon *canon)
{
    if (canon->sites)
        vidi__sites_close(canon->sites);
    vidi__release(&canon->memory, canon->arena, canon->arena_bytes, _Alignof(vidi_str));
}

int vidi__canon_create(vidi_canon **canon, vidi__memory *memory, const char *profile, const char *tracking)
{
    vidi_canon *made = NULL;
    *canon = NULL;
    VIDI__TRY(vidi__alloc_zeroed(memory, &made, sizeof *made, _Alignof(vidi_canon)));
    made->memory.hook = memory->hook;
    made->memory.limit = memory->limit;
    atomic_init(&made->memory.used, vidi__memory_used(memory)); /* the account goes on there, and is brought back */
    int error = fill(made, profile, tracking);
    if (error)
        empty(made);
    else
        *canon = made;
    atomic_store_explicit(&memory->used, vidi__memory_used(&made->memory), memory_order_relaxed);
    if (error)
        vidi__release(memory, made, sizeof *made, _Alignof(vidi_canon));
    return error;
}

int vidi_canon_create(vidi_canon **canon, const char *profile, const char *tracking, const vidi_allocator *allocator)
{
    vidi__memory memory;
    if (!canon)
        return vidi__fail(VIDI_EARGUMENT, "the pointer to the canonical form is NULL");
    *canon = NULL;
    VIDI__TRY(vidi__memory_init(&memory, allocator, 0));
    return vidi__canon_create(canon, &memory, profile, tracking);
}

void vidi_canon_close(vidi_canon *canon)
{
    if (!canon)
        return;
    empty(canon);
    vidi_allocator hook = canon->memory.hook;
    hook.release(hook.context, canon, sizeof *canon, _Alignof(vidi_canon));
}

void vidi__canon_patterns(const vidi_canon *canon, vidi__buffer *out)
{
    const vidi__globs *globs = &canon->tracking;
    for (size_t i = 0; canon->own_list && i < globs->count; i++) {
        const vidi_str *pattern = &globs->list[globs->count + i];
        vidi__buffer_add(out, pattern->ptr, pattern->len);
        vidi__buffer_add_char(out, '\n');
    }
}

int vidi__canon_copy(vidi_canon **canon, vidi__memory *memory, const vidi_canon *of)
{
    if (!of->own_list)
        return vidi__canon_create(canon, memory, of->name, NULL);
    *canon = NULL;
    vidi__buffer patterns = vidi__buffer_in(NULL, 0, memory);
    vidi__canon_patterns(of, &patterns);
    vidi__buffer_add_char(&patterns, 0);
    int error = patterns.error;
    if (!error)
        error = vidi__canon_create(canon, memory, of->name, patterns.at);
    vidi__buffer_free(&patterns);
    return error;
}

vidi__canon_output vidi__canon_output_of(const vidi_canon *canon)
{
    if (canon->profile == &profile_none)
        return VIDI__OUTPUT_BYTES;
    if (canon->profile == &profile_whatwg)
        return VIDI__OUTPUT_STANDARD;
    return canon->profile == &vidi__profile_crawl ? VIDI__OUTPUT_URL : VIDI__OUTPUT_KEY;
}

const char *vidi_canon_name(const vidi_canon *canon)
{
    return canon ? canon->name : "";
}

int vidi_canon_rule(size_t index, vidi_canon_info *info)
{
    vidi_canon_info found = {.size = sizeof found};
    if (!info)
        return vidi__fail(VIDI_EARGUMENT, "the pointer to the rule is NULL");
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++) {
        const vidi__profile *profile = profiles[i];
        size_t rows = profile->count ? profile->count : 1;
        if (index >= rows) {
            index -= rows;
            continue;
        }
        found.profile = profile->name;
        found.version = profile->version;
        found.is_on = 1;
        found.summary = profile == &profile_none ? "the bytes as they are" : "the URL Standard's serialisation";
        if (profile->count) {
            found.is_on = !profile->rules[index].off;
            found.rule = is_fixed(profile, index) ? NULL : profile->rules[index].name;
            found.summary = profile->rules[index].summary;
        }
        return vidi__struct_out(info, &found, sizeof found, "vidi_canon_info");
    }
    return vidi__fail(VIDI_EABSENT, "there are fewer rules than that");
}

/* ---- URLs ---- */

/* Told of every change, or NULL. before is the text as it was, room for a copy that the explanation owns. */
typedef struct explanation {
    vidi_canon_visitor visitor;
    void *context;
    vidi__buffer before;
} explanation;

static void note(explanation *why, vidi_str before)
{
    if (why) {
        why->before.len = 0;
        vidi__buffer_add(&why->before, before.ptr, before.len);
    }
}

/* Compares with what was noted: 0, or what the visitor says. */
static int tell(explanation *why, const char *rule, const vidi__buffer *out)
{
    if (!why)
        return VIDI_OK;
    if (why->before.error)
        return why->before.error;
    vidi_canon_change step = {rule, {why->before.at, why->before.len}, {out->at, out->len}};
    if (step.before.len == step.after.len && memcmp(step.before.ptr, step.after.ptr, step.after.len) == 0)
        return VIDI_OK;
    return why->visitor(why->context, &step);
}

static int apply_rules(vidi__work *work, explanation *why)
{
    const vidi__profile *profile = work->canon->profile;
    if (!profile->concerns || !profile->concerns(work))
        return VIDI_OK;
    uint32_t rules = work->canon->rules;
    if (!why && profile->needed)
        rules &= profile->needed(work->canon, &work->url);
    for (size_t i = 0; rules >> i; i++) {
        const vidi__rule *rule = &profile->rules[i];
        if (!rule->apply || !(rules >> i & 1))
            continue;
        note(why, (vidi_str){work->out->at, work->out->len});
        rule->apply(work);
        if (work->out->error || work->invalid)
            return work->out->error ? work->out->error : work->invalid;
        int result = tell(why, rule->name, work->out);
        if (result)
            return result;
    }
    return VIDI_OK;
}

/* Lays out what the scan finds canonical, without the parser; only what the rules of crawl look at. */
static bool recognise(vidi_str input, vidi__url *url)
{
    if (!vidi__url_is_canonical(input))
        return false;
    size_t host = input.ptr[4] == ':' ? 7 : 8;
    const char *path = memchr(input.ptr + host, '/', input.len - host);
    const char *query = memchr(path, '?', input.len - (size_t)(path - input.ptr));
    url->text = input.ptr;
    url->scheme = host == 7 ? VIDI__SCHEME_HTTP : VIDI__SCHEME_HTTPS;
    url->path_begin = (size_t)(path - input.ptr);
    url->path_end = query ? (size_t)(query - input.ptr) : input.len;
    url->has_query = query;
    url->query_end = url->len = input.len;
    return true;
}

static bool crawl_keeps(const vidi_canon *canon, vidi_str input)
{
    vidi__url url = {0};
    return recognise(input, &url) && !(canon->rules & canon->profile->needed(canon, &url));
}

bool vidi__canon_keeps(const vidi_canon *canon, vidi_str input)
{
    if (canon->profile == &profile_whatwg)
        return vidi__url_is_canonical(input);
    return canon->profile == &profile_none || (canon->profile == &vidi__profile_crawl && crawl_keeps(canon, input));
}

static int canonicalise(const vidi_canon *canon, vidi_str input, const vidi__url *base, vidi__buffer *out,
                        explanation *why)
{
    if (canon->profile == &profile_none) {
        vidi__buffer_add(out, input.ptr, input.len);
        return out->error;
    }
    if (!why && canon->profile == &profile_whatwg && vidi__url_is_canonical(input)) {
        vidi__buffer_add(out, input.ptr, input.len);
        return out->error;
    }
    vidi__work work = {.canon = canon, .out = out};
    if (!why && canon->profile == &vidi__profile_crawl && recognise(input, &work.url)) {
        vidi__buffer_add(out, input.ptr, input.len);
        return out->error ? out->error : apply_rules(&work, NULL);
    }
    int result = vidi__url_parse(&work.url, input, base, false, out);
    if (result)
        return vidi__answer(result);
    note(why, input);
    result = tell(why, "whatwg", out);
    if (result)
        return result;
    note(why, (vidi_str){out->at, out->len});
    out->len = work.url.query_end;
    result = tell(why, "fragment", out);
    return result ? result : apply_rules(&work, why);
}

int vidi__canon_url(const vidi_canon *canon, vidi_str input, const vidi__url *base, vidi__buffer *out)
{
    return canonicalise(canon, input, base, out, NULL);
}

int vidi__canon_form(const vidi_canon *canon, vidi_str input, vidi__buffer *out, vidi_str *form)
{
    int result = VIDI_OK;
    *form = input;
    if (canon->profile == &profile_none)
        return VIDI_OK;
    if (canon->profile == &profile_whatwg) {
        result = vidi__url_whatwg(input, out, form);
        return vidi__answer(result);
    }
    if (vidi__canon_keeps(canon, input))
        return VIDI_OK;
    result = canonicalise(canon, input, NULL, out, NULL);
    *form = (vidi_str){out->at, out->len};
    return result;
}

/* canonicalise with a base that is still text; NULL: none. */
static int canonicalise_against(const vidi_canon *canon, vidi_str input, const vidi_str *base, vidi__buffer *out,
                                explanation *why)
{
    if (!base || canon->profile == &profile_none)
        return canonicalise(canon, input, NULL, out, why);
    char room[BASE_BYTES];
    vidi__buffer base_text = vidi__buffer_in(room, sizeof room, out->memory);
    vidi__url base_url;
    int result = vidi__url_parse(&base_url, *base, NULL, false, &base_text);
    if (result)
        result = vidi__url_base_fails(result);
    else
        result = canonicalise(canon, input, &base_url, out, why);
    vidi__buffer_free(&base_text);
    return result;
}

/* For what outgrows the stack and the caller's buffer: released before the call returns. */
static vidi__memory scratch_memory(const vidi_canon *canon)
{
    return (vidi__memory){.hook = canon->memory.hook, .limit = SIZE_MAX / 2};
}

static int check_arguments(const vidi_canon *canon, vidi_str input, const vidi_str *base)
{
    if (!canon)
        return vidi__fail(VIDI_EARGUMENT, "the canonical form is NULL");
    if ((!input.ptr && input.len) || (base && !base->ptr && base->len))
        return vidi__fail(VIDI_EARGUMENT, "the URL is NULL, but its length is not 0");
    return VIDI_OK;
}

int vidi_url_canon(const vidi_canon *canon, vidi_str input, const vidi_str *base, char *buffer, size_t *len)
{
    VIDI__TRY(check_arguments(canon, input, base));
    if (!len)
        return vidi__fail(VIDI_EARGUMENT, "the pointer to the length is NULL");
    vidi__memory memory = scratch_memory(canon);
    size_t room = buffer ? *len : 0;
    vidi__buffer out = vidi__buffer_in(buffer, room, &memory);
    int result = canonicalise_against(canon, input, base, &out, NULL);
    *len = result ? 0 : out.len;
    if (!result && out.grown) {
        if (buffer && out.len <= room)
            memcpy(buffer, out.at, out.len);
        else
            result = vidi__fail(VIDI_ELIMIT, "the URL takes %zu bytes and the buffer has %zu", out.len, room);
    }
    vidi__buffer_free(&out);
    return result;
}

int vidi_url_explain(const vidi_canon *canon, vidi_str input, const vidi_str *base, vidi_canon_visitor visitor,
                     void *context)
{
    VIDI__TRY(check_arguments(canon, input, base));
    if (!visitor)
        return vidi__fail(VIDI_EARGUMENT, "the visitor is NULL");
    vidi__memory memory = scratch_memory(canon);
    char room[EXPLAIN_BYTES], before_room[EXPLAIN_BYTES];
    room[0] = before_room[0] = 0;
    vidi__buffer out = vidi__buffer_in(room, sizeof room, &memory);
    explanation why = {visitor, context, vidi__buffer_in(before_room, sizeof before_room, &memory)};
    int result = canonicalise_against(canon, input, base, &out, &why);
    vidi__buffer_free(&out);
    vidi__buffer_free(&why.before);
    return result;
}
