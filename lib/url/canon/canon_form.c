/*
 * Canonical forms by name: what vidi_canon_create makes of "crawl,-sort", and what such a form is called.
 *
 * Nearly everybody uses a profile as it is. These plain forms are made once, in static memory, and shared by all sets.
 * So a vidi_canon is a small thing: the user's allocator, and a pointer to its form.
 */
#include "url/canon/canon_rules.h"

#include <pthread.h>
#include <stdio.h>

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
        keep_only(work, vidi__site_of(work->form->sites, host, work->url.host_kind));
}

static const vidi__rule none_rules[] = {{"none", "keeps the bytes as they are", NULL, false, true}};
static const vidi__rule whatwg_rules[] = {
    {"whatwg", "the URL Standard's serialisation without the fragment", NULL, false, true},
    {"fragment", "keeps fragments that begin with #! or #/", NULL, true, false},
};
static const vidi__rule host_rules[] = {{"host", "keeps only the host", key_host, false, true}};
static const vidi__rule site_rules[] = {{"site", "keeps only the registrable domain", key_site, false, true}};

static const vidi__profile whatwg = {"whatwg", 1, VIDI__OUTPUT_STANDARD, whatwg_rules, 2, NULL, NULL};
static const vidi__profile none = {"none", 1, VIDI__OUTPUT_BYTES, none_rules, 1, NULL, NULL};
static const vidi__profile host = {"key=host", 1, VIDI__OUTPUT_KEY, host_rules, 1, always, NULL};
static const vidi__profile site = {"key=site", 1, VIDI__OUTPUT_KEY, site_rules, 1, always, NULL};

static const vidi__profile *const profiles[] = {
    &whatwg, &none, &vidi__profile_crawl, &vidi__profile_w3lib, &vidi__profile_surt, &host, &site,
};

/* ---- from text ---- */

static int check_version(const vidi__profile *profile, vidi_str text, vidi_str version)
{
    char number[16];
    snprintf(number, sizeof number, "%u", profile->version);
    if (!version.ptr || vidi__str_is(version, number))
        return VIDI_OK;
    return vidi__fail(VIDI_EOPTION, "there is no canonical form \"%.*s\" in this version of vidi, only %s/%s",
                      VIDI__QUOTE(text), profile->name, number);
}

/* The rules that are on unless they are switched off. */
static uint32_t default_rules(const vidi__profile *profile)
{
    uint32_t rules = 0;
    for (size_t i = 0; i < profile->count; i++)
        rules |= (uint32_t)!profile->rules[i].off << i;
    return rules;
}

/* Reads "crawl" or "crawl/1". */
static int find_profile(vidi__form *form, vidi_str text)
{
    const char *slash = memchr(text.ptr, '/', text.len);
    vidi_str name = {text.ptr, slash ? (size_t)(slash - text.ptr) : text.len}, version = {NULL, 0};
    if (slash)
        version = (vidi_str){slash + 1, text.len - name.len - 1};
    for (size_t i = 0; i < VIDI__COUNT(profiles) && !form->profile; i++)
        if (vidi__str_is(name, profiles[i]->name))
            form->profile = profiles[i];
    if (!form->profile)
        return vidi__fail(VIDI_EOPTION,
                          "there is no canonical form \"%.*s\"; there are none, whatwg, crawl, w3lib, surt, key=host "
                          "and key=site",
                          VIDI__QUOTE(name));
    form->rules = default_rules(form->profile);
    return check_version(form->profile, text, version);
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
static int switch_rule(vidi__form *form, vidi_str text)
{
    const vidi__profile *profile = form->profile;
    vidi_str name = {text.ptr + 1, text.len ? text.len - 1 : 0};
    bool on = text.len && text.ptr[0] == '+';
    if (!on && !(text.len && text.ptr[0] == '-'))
        return vidi__fail(VIDI_EOPTION, "\"%.*s\" in a canonical form is neither \"-rule\" nor \"+rule\"",
                          VIDI__QUOTE(text));
    for (size_t i = 0; i < profile->count; i++)
        if (!profile->rules[i].fixed && vidi__str_is(name, profile->rules[i].name)) {
            form->rules = (form->rules & ~(1u << i)) | (uint32_t)on << i;
            return VIDI_OK;
        }
    return no_rule(profile, name);
}

/* Reads the whole text. The digest after "tracking=" is stored in *digest, to be compared with the list's. */
static int read_profile(vidi__form *form, const char *text, vidi_str *digest)
{
    static const char key[] = "tracking=";
    vidi_str item = {text, strcspn(text, ",")};
    VIDI__TRY(find_profile(form, item));
    while (item.ptr[item.len]) {
        item.ptr += item.len + 1;
        item.len = strcspn(item.ptr, ",");
        if (item.len >= sizeof key - 1 && memcmp(item.ptr, key, sizeof key - 1) == 0)
            *digest = (vidi_str){item.ptr + sizeof key - 1, item.len - (sizeof key - 1)};
        else
            VIDI__TRY(switch_rule(form, item));
    }
    return VIDI_OK;
}

/* Returns true if the profile has a rule of this name, and it is on. */
static bool has_rule(const vidi__form *form, const char *name)
{
    const vidi__profile *profile = form->profile;
    for (size_t i = 0; i < profile->count; i++)
        if (strcmp(profile->rules[i].name, name) == 0)
            return vidi__rule_is_on(form, i);
    return false;
}

static bool uses_tracking(const vidi__form *form)
{
    return has_rule(form, "tracking");
}

/* Reads the user's list, if there is one. A digest that was given must be that of the list. */
static int make_tracking(vidi__form *form, vidi__memory *memory, const char *tracking, vidi_str digest)
{
    char have[24] = "";
    if (strcmp(form->profile->name, "crawl") != 0 && (tracking || digest.ptr))
        return vidi__fail(VIDI_EOPTION, "only crawl takes a list of tracking parameters, not %s", form->profile->name);
    if (tracking && !uses_tracking(form))
        return vidi__fail(VIDI_EOPTION, "there is a list of tracking parameters, but the rule tracking is off");
    if (tracking) {
        VIDI__TRY(vidi__globs_make(form, memory, tracking));
        snprintf(have, sizeof have, "%016llx", (unsigned long long)form->tracking.digest);
        form->own_list = true;
    }
    if (digest.ptr && !vidi__str_is(digest, have))
        return vidi__fail(VIDI_EDIFFERS, "the list of tracking parameters is not the one with the digest \"%.*s\"",
                          VIDI__QUOTE(digest));
    return VIDI_OK;
}

static void write_name(vidi__form *form)
{
    const vidi__profile *profile = form->profile;
    vidi__text name = vidi__text_in(form->name, sizeof form->name);
    vidi__text_add(&name, "%s/%u", profile->name, profile->version);
    for (size_t i = 0; i < profile->count; i++)
        if (vidi__rule_is_on(form, i) == profile->rules[i].off)
            vidi__text_add(&name, ",%c%s", profile->rules[i].off ? '+' : '-', profile->rules[i].name);
    if (form->own_list)
        vidi__text_add(&name, ",tracking=%016llx", (unsigned long long)form->tracking.digest);
}

/* Derives the rest from the profile, the rules and the user's list. */
static void complete(vidi__form *form)
{
    if (!form->own_list && uses_tracking(form))
        form->tracking = *vidi__globs_builtin();
    form->keeps_fragments = has_rule(form, "fragment");
    write_name(form);
}

static int fill(vidi__form *form, vidi__memory *memory, const char *profile, const char *tracking)
{
    vidi_str digest = {NULL, 0};
    VIDI__TRY(read_profile(form, profile ? profile : "whatwg", &digest));
    VIDI__TRY(make_tracking(form, memory, tracking, digest));
    if (form->profile->rules == site_rules)
        VIDI__TRY(vidi__sites_open(&form->sites));
    complete(form);
    return VIDI_OK;
}

/* Releases what a form of its own has allocated. */
static void empty(vidi__form *form, vidi__memory *memory)
{
    if (form->sites)
        vidi__sites_close(form->sites);
    vidi__release(memory, form->arena, form->arena_bytes, _Alignof(vidi_str));
}

/* ---- plain forms, which are shared ---- */

static vidi__form plain[VIDI__COUNT(profiles)];

static void make_plain(void)
{
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++) {
        vidi__form *form = &plain[i];
        form->profile = profiles[i];
        form->rules = default_rules(profiles[i]);
        complete(form);
    }
}

/* The shared form that equals this one; NULL: there is none, because it has a list or switches of its own. */
static const vidi__form *find_plain(const vidi__form *form)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (form->own_list || form->sites || form->rules != default_rules(form->profile))
        return NULL;
    pthread_once(&once, make_plain);
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++)
        if (plain[i].profile == form->profile)
            return &plain[i];
    return NULL;
}

/* Makes the handle of a form, and unless that is shared, a copy of the form, which takes over its contents. */
static int make_handle(vidi_canon **canon, vidi__memory *memory, const vidi__form *form)
{
    vidi_canon made = {.hook = memory->hook, .form = find_plain(form)};
    if (!made.form) {
        VIDI__TRY(vidi__alloc(memory, &made.own, sizeof *made.own, _Alignof(vidi__form)));
        *made.own = *form;
        made.form = made.own;
    }
    int code = vidi__alloc(memory, canon, sizeof **canon, _Alignof(vidi_canon));
    if (code < 0)
        vidi__release(memory, made.own, sizeof *made.own, _Alignof(vidi__form));
    else
        **canon = made;
    return code;
}

int vidi__canon_create(vidi_canon **canon, vidi__memory *memory, const char *profile, const char *tracking)
{
    vidi__form form = {0};
    *canon = NULL;
    int code = fill(&form, memory, profile, tracking);
    if (code == VIDI_OK)
        code = make_handle(canon, memory, &form);
    if (code < 0)
        empty(&form, memory);
    return code;
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
    vidi__memory memory = {.hook = canon->hook}; /* nobody looks at this account again */
    if (canon->own) {
        empty(canon->own, &memory);
        vidi__release(&memory, canon->own, sizeof *canon->own, _Alignof(vidi__form));
    }
    vidi__release(&memory, canon, sizeof *canon, _Alignof(vidi_canon));
}

void vidi__canon_patterns(const vidi_canon *canon, vidi__buffer *out)
{
    const vidi__globs *globs = &canon->form->tracking;
    for (size_t i = 0; canon->form->own_list && i < globs->count; i++) {
        const vidi_str *pattern = &globs->list[globs->count + i];
        vidi__buffer_add(out, pattern->ptr, pattern->len);
        vidi__buffer_add_char(out, '\n');
    }
}

int vidi__canon_copy(vidi_canon **canon, vidi__memory *memory, const vidi_canon *original)
{
    if (!original->form->own_list)
        return vidi__canon_create(canon, memory, original->form->name, NULL);
    *canon = NULL;
    vidi__buffer patterns = vidi__buffer_in(NULL, 0, memory);
    vidi__canon_patterns(original, &patterns);
    vidi__buffer_add_char(&patterns, 0);
    int error = patterns.error;
    if (!error)
        error = vidi__canon_create(canon, memory, original->form->name, patterns.at);
    vidi__buffer_free(&patterns);
    return error;
}

vidi__canon_output vidi__canon_output_of(const vidi_canon *canon)
{
    return canon->form->profile->output;
}

const char *vidi_canon_name(const vidi_canon *canon)
{
    return canon ? canon->form->name : "";
}

int vidi_canon_rule(size_t index, vidi_canon_info *info)
{
    vidi_canon_info found = {.size = sizeof found};
    if (!info)
        return vidi__fail(VIDI_EARGUMENT, "the pointer to the rule is NULL");
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++) {
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
