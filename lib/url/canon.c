/* The functions of vidi.h for canonical forms: profiles by name, and applying the rules of a profile to a URL. */
#include "url/canon_rules.h"

#include "url/is_canonical.h"

#include <stdio.h>

/* Stack space; longer text is allocated. */
#define BASE_BYTES 1024
#define EXPLAIN_BYTES 1024
#define FRAGMENT_BYTES 512

/* ---- the simple profiles ---- */

static bool always(const vidi__canon_work *work)
{
    (void)work;
    return true;
}

/* Replaces the text by a part of itself. */
static void keep_only(vidi__canon_work *work, vidi_str part)
{
    memmove(work->out->at, part.ptr, part.len);
    work->out->len = part.len;
}

static vidi_str host_of(vidi__canon_work *work)
{
    vidi_str host = {work->out->at + work->url.host_begin, work->url.host_end - work->url.host_begin};
    if (!work->url.has_host || !host.len) {
        vidi__fail(VIDI_INVALID, "the URL has no host");
        work->invalid = VIDI_INVALID;
    }
    return host;
}

static void key_host(vidi__canon_work *work)
{
    vidi_str host = host_of(work);
    if (!work->invalid)
        keep_only(work, host);
}

static void key_site(vidi__canon_work *work)
{
    vidi_str host = host_of(work);
    if (!work->invalid)
        keep_only(work, vidi__site_of(work->canon->sites, host, work->url.host_kind));
}

static const vidi__rule none_rules[] = {{"none", "keeps the bytes as they are", NULL, false, true}};
static const vidi__rule whatwg_rules[] = {
    {"whatwg", "the URL Standard's serialisation without the fragment", NULL, false, true},
    {"fragment", "keeps fragments that begin with #! or #/", NULL, true, false},
};
static const vidi__rule host_rules[] = {{"host", "keeps only the host", key_host, false, true}};
static const vidi__rule site_rules[] = {{"site", "keeps only the registrable domain", key_site, false, true}};

/* The newest version of each profile, then the older ones. Version 1 of whatwg has no rule to switch. */
enum { NEWEST = 6 };
static const vidi__profile whatwg = {"whatwg", 2, VIDI__OUTPUT_STANDARD, true, whatwg_rules, 2, NULL, NULL};
static const vidi__profile none = {"none", 1, VIDI__OUTPUT_BYTES, false, none_rules, 1, NULL, NULL};
static const vidi__profile host = {"key=host", 2, VIDI__OUTPUT_KEY, true, host_rules, 1, always, NULL};
static const vidi__profile site = {"key=site", 2, VIDI__OUTPUT_KEY, true, site_rules, 1, always, NULL};
static const vidi__profile whatwg_1 = {"whatwg", 1, VIDI__OUTPUT_STANDARD, false, whatwg_rules, 1, NULL, NULL};
static const vidi__profile host_1 = {"key=host", 1, VIDI__OUTPUT_KEY, false, host_rules, 1, always, NULL};
static const vidi__profile site_1 = {"key=site", 1, VIDI__OUTPUT_KEY, false, site_rules, 1, always, NULL};

static const vidi__profile *const profiles[] = {
    &whatwg, &none,     &vidi__profile_crawl,   &vidi__profile_surt,   &host,
    &site,   &whatwg_1, &vidi__profile_crawl_1, &vidi__profile_surt_1, &host_1,
    &site_1,
};

/* ---- from text ---- */

/* The version without a name is the newest. */
static bool is_named(const vidi__profile *profile, vidi_str name, vidi_str version)
{
    char number[16];
    snprintf(number, sizeof number, "%u", profile->version);
    return vidi__str_is(name, profile->name) && (!version.ptr || vidi__str_is(version, number));
}

static int no_profile(vidi_str text, vidi_str name)
{
    char known[100];
    vidi__text list = vidi__text_in(known, sizeof known);
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++)
        if (vidi__str_is(name, profiles[i]->name))
            vidi__text_add(&list, "%s%s/%u", list.len ? " and " : "", profiles[i]->name, profiles[i]->version);
    if (list.len)
        return vidi__fail(VIDI_EOPTION, "there is no canonical form \"%.*s\" in this version of vidi, only %s",
                          VIDI__QUOTE(text), known);
    return vidi__fail(VIDI_EOPTION,
                      "there is no canonical form \"%.*s\"; there are none, whatwg, crawl, surt, key=host and key=site",
                      VIDI__QUOTE(name));
}

/* Reads "crawl" or "crawl/1". */
static int find_profile(vidi_canon *canon, vidi_str text)
{
    const char *slash = memchr(text.ptr, '/', text.len);
    vidi_str name = {text.ptr, slash ? (size_t)(slash - text.ptr) : text.len}, version = {NULL, 0};
    if (slash)
        version = (vidi_str){slash + 1, text.len - name.len - 1};
    for (size_t i = 0; i < VIDI__COUNT(profiles) && !canon->profile; i++)
        if (is_named(profiles[i], name, version))
            canon->profile = profiles[i];
    if (!canon->profile)
        return no_profile(text, name);
    for (size_t i = 0; i < canon->profile->count; i++)
        canon->rules |= (uint32_t)!canon->profile->rules[i].off << i;
    return VIDI_OK;
}

static int no_rule(const vidi__profile *profile, vidi_str name)
{
    char known[200];
    vidi__text list = vidi__text_in(known, sizeof known);
    for (size_t i = 0; i < profile->count; i++)
        if (!profile->rules[i].fixed)
            vidi__text_add(&list, "%s%s", list.len ? ", " : "", profile->rules[i].name);
    return vidi__fail(VIDI_EOPTION, "%s/%u has no rule \"%.*s\"; it has %s", profile->name, profile->version,
                      VIDI__QUOTE(name), list.len ? known : "none that can be switched");
}

/* Reads "-sort" or "+scheme". */
static int switch_rule(vidi_canon *canon, vidi_str text)
{
    const vidi__profile *profile = canon->profile;
    vidi_str name = {text.ptr + 1, text.len ? text.len - 1 : 0};
    bool on = text.len && text.ptr[0] == '+';
    if (!on && !(text.len && text.ptr[0] == '-'))
        return vidi__fail(VIDI_EOPTION, "\"%.*s\" in a canonical form is neither \"-rule\" nor \"+rule\"",
                          VIDI__QUOTE(text));
    for (size_t i = 0; i < profile->count; i++)
        if (!profile->rules[i].fixed && vidi__str_is(name, profile->rules[i].name)) {
            canon->rules = (canon->rules & ~(1u << i)) | (uint32_t)on << i;
            return VIDI_OK;
        }
    return no_rule(profile, name);
}

/* Reads the whole text. The digest after "tracking=" is stored in *digest, to be compared with the list's. */
static int read_profile(vidi_canon *canon, const char *text, vidi_str *digest)
{
    static const char key[] = "tracking=";
    vidi_str item = {text, strcspn(text, ",")};
    VIDI__TRY(find_profile(canon, item));
    while (item.ptr[item.len]) {
        item.ptr += item.len + 1;
        item.len = strcspn(item.ptr, ",");
        if (item.len >= sizeof key - 1 && memcmp(item.ptr, key, sizeof key - 1) == 0)
            *digest = (vidi_str){item.ptr + sizeof key - 1, item.len - (sizeof key - 1)};
        else
            VIDI__TRY(switch_rule(canon, item));
    }
    return VIDI_OK;
}

/* Is the rule of that name among the profile's, and on? */
static bool has_rule(const vidi_canon *canon, const char *name)
{
    const vidi__profile *profile = canon->profile;
    for (size_t i = 0; i < profile->count; i++)
        if (strcmp(profile->rules[i].name, name) == 0)
            return vidi__rule_is_on(canon, i);
    return false;
}

static bool is_crawl(const vidi_canon *canon)
{
    return canon->profile->output == VIDI__OUTPUT_URL;
}

static bool uses_tracking(const vidi_canon *canon)
{
    return has_rule(canon, "tracking");
}

static int make_tracking(vidi_canon *canon, const char *tracking, vidi_str digest)
{
    char have[24] = "";
    if (!is_crawl(canon) && (tracking || digest.ptr))
        return vidi__fail(VIDI_EOPTION, "only crawl takes a list of tracking parameters, not %s", canon->profile->name);
    if (tracking && !uses_tracking(canon))
        return vidi__fail(VIDI_EOPTION, "there is a list of tracking parameters, but the rule tracking is off");
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
    if (canon->profile->rules == site_rules)
        VIDI__TRY(vidi__sites_open(&canon->sites));
    canon->own_list = tracking && uses_tracking(canon);
    canon->keeps_fragments = has_rule(canon, "fragment");
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
    atomic_init(&made->memory.used, vidi__memory_used(memory)); /* it is charged there; the sum is copied back below */
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
    return canon->profile->output;
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
    for (size_t i = 0; i < NEWEST; i++) {
        const vidi__profile *profile = profiles[i];
        if (index >= profile->count) {
            index -= profile->count;
            continue;
        }
        const vidi__rule *rule = &profile->rules[index];
        found.profile = profile->name;
        found.version = profile->version;
        found.is_on = !rule->off;
        found.rule = rule->fixed ? NULL : rule->name;
        found.summary = rule->summary;
        return vidi__struct_out(info, &found, sizeof found, "vidi_canon_info");
    }
    return vidi__fail(VIDI_EABSENT, "there are fewer rules than that");
}

/* ---- URLs ---- */

/* For vidi_url_explain: the visitor, and the text before the rule that is being applied. NULL: nobody is told. */
typedef struct explanation {
    vidi_canon_visitor visitor;
    void *context;
    vidi__buffer before;
} explanation;

/* Remembers the text before a change; the fragment is empty or kept aside. */
static void note(explanation *why, vidi_str text, vidi_str fragment)
{
    if (why) {
        why->before.len = 0;
        vidi__buffer_add(&why->before, text.ptr, text.len);
        vidi__buffer_add(&why->before, fragment.ptr, fragment.len);
    }
}

/* Tells the visitor if the text is not the one noted: 0, or the visitor's answer. */
static int tell_visitor(explanation *why, const char *rule, const vidi__canon_work *work)
{
    vidi__buffer *out = work->out;
    size_t len = out->len;
    vidi__buffer_add(out, work->fragment.ptr, work->fragment.len);
    if (why->before.error || out->error)
        return why->before.error ? why->before.error : out->error;
    vidi_canon_change change = {rule, {why->before.at, why->before.len}, {out->at, out->len}};
    out->len = len;
    if (change.before.len == change.after.len && memcmp(change.before.ptr, change.after.ptr, change.after.len) == 0)
        return VIDI_OK;
    return why->visitor(why->context, &change);
}

static inline int tell(explanation *why, const char *rule, const vidi__canon_work *work)
{
    return why ? tell_visitor(why, rule, work) : VIDI_OK;
}

static int apply_rules(vidi__canon_work *work, explanation *why)
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
        note(why, (vidi_str){work->out->at, work->out->len}, work->fragment);
        rule->apply(work);
        if (work->out->error || work->invalid)
            return work->out->error ? work->out->error : work->invalid;
        int result = tell(why, rule->name, work);
        if (result)
            return result;
    }
    return VIDI_OK;
}

/* Does the URL have a fragment that names a page, as "#!" and "#/" do? */
static bool has_kept_fragment(const vidi_canon *canon, const vidi__url *url)
{
    const char *fragment = url->text + url->query_end;
    return canon->keeps_fragments && url->len - url->query_end > 1 && (fragment[1] == '!' || fragment[1] == '/');
}

/* Applies the rules to the URL without its fragment, which is copied and added again. */
static int apply_before_fragment(vidi__canon_work *work, explanation *why)
{
    char room[FRAGMENT_BYTES];
    vidi__buffer *out = work->out, fragment = vidi__buffer_in(room, sizeof room, out->memory);
    vidi__buffer_add(&fragment, out->at + work->url.query_end, out->len - work->url.query_end);
    int result = fragment.error;
    if (!result) {
        out->len = work->url.query_end;
        work->fragment = (vidi_str){fragment.at, fragment.len};
        result = apply_rules(work, why);
        vidi__buffer_add(out, fragment.at, fragment.len);
    }
    vidi__buffer_free(&fragment);
    return result ? result : out->error;
}

/* Parses the input and applies the rules. */
static int parse_and_apply(vidi__canon_work *work, vidi_str input, const vidi__url *base, explanation *why)
{
    const vidi_canon *canon = work->canon;
    vidi__buffer *out = work->out;
    const vidi_str nothing = {NULL, 0};
    int result = vidi__url_parse(&work->url, input, base, canon->profile->raw, out);
    if (result)
        return vidi__answer(result);
    note(why, input, nothing);
    result = tell(why, "whatwg", work);
    if (result)
        return result;
    if (VIDI__UNLIKELY(has_kept_fragment(canon, &work->url)))
        return apply_before_fragment(work, why);
    note(why, (vidi_str){out->at, out->len}, nothing);
    out->len = work->url.query_end;
    result = tell(why, "fragment", work);
    return result ? result : apply_rules(work, why);
}

/* Finds the parts of a URL that the scan accepts, without the parser; only those that the rules of crawl look at. */
static bool recognise(vidi_str input, vidi__url *url)
{
    if (!vidi__url_is_canonical(input))
        return false;
    size_t host = input.ptr[4] == ':' ? 7 : 8;
    const char *path = memchr(input.ptr + host, '/', input.len - host);
    const char *query = memchr(path, '?', input.len - (size_t)(path - input.ptr));
    url->text = input.ptr;
    url->scheme = host == 7 ? VIDI__SCHEME_HTTP : VIDI__SCHEME_HTTPS;
    url->host_begin = host;
    url->path_begin = (size_t)(path - input.ptr);
    url->host_end = url->authority_end = url->path_begin;
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
    switch (canon->profile->output) {
    case VIDI__OUTPUT_BYTES:
        return true;
    case VIDI__OUTPUT_STANDARD:
        return vidi__url_is_canonical(input);
    case VIDI__OUTPUT_URL:
        return crawl_keeps(canon, input);
    default:
        return false;
    }
}

static int canonicalise(const vidi_canon *canon, vidi_str input, const vidi__url *base, vidi__buffer *out,
                        explanation *why)
{
    vidi__canon_output output = canon->profile->output;
    vidi__canon_work work = {.canon = canon, .out = out};
    if (output == VIDI__OUTPUT_BYTES || (!why && output == VIDI__OUTPUT_STANDARD && vidi__url_is_canonical(input))) {
        vidi__buffer_add(out, input.ptr, input.len);
        return out->error;
    }
    if (!why && output == VIDI__OUTPUT_URL && recognise(input, &work.url)) {
        vidi__buffer_add(out, input.ptr, input.len);
        return out->error ? out->error : apply_rules(&work, NULL);
    }
    return parse_and_apply(&work, input, base, why);
}

int vidi__canon_url(const vidi_canon *canon, vidi_str input, const vidi__url *base, vidi__buffer *out)
{
    return canonicalise(canon, input, base, out, NULL);
}

int vidi__canon_form(const vidi_canon *canon, vidi_str input, vidi__buffer *out, vidi_str *form)
{
    *form = input;
    if (VIDI__LIKELY(vidi__canon_keeps(canon, input)))
        return VIDI_OK;
    vidi__canon_work work = {.canon = canon, .out = out};
    int result = is_crawl(canon) ? canonicalise(canon, input, NULL, out, NULL) /* most are recognised */
                                 : parse_and_apply(&work, input, NULL, NULL);
    *form = (vidi_str){out->at, out->len};
    return result;
}

/* canonicalise with an unparsed base; NULL: none. */
static int canonicalise_against(const vidi_canon *canon, vidi_str input, const vidi_str *base, vidi__buffer *out,
                                explanation *why)
{
    if (!base || canon->profile->output == VIDI__OUTPUT_BYTES)
        return canonicalise(canon, input, NULL, out, why);
    char room[BASE_BYTES];
    vidi__buffer base_text = vidi__buffer_in(room, sizeof room, out->memory);
    vidi__url base_url;
    int result = vidi__url_parse(&base_url, *base, NULL, canon->profile->raw, &base_text);
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
