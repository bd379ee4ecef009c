/* The functions of vidi.h that bring a URL into a canonical form: parsing it, and applying the rules of the profile. */
#include "url/canon/canon_rules.h"

#include "url/quick/is_canonical.h"

/* Stack space; longer text is allocated. */
#define BASE_BYTES 1024
#define EXPLAIN_BYTES 1024
#define FRAGMENT_BYTES 512

/* For vidi_url_explain: the visitor, and the text before the rule that is being applied. NULL: there is no visitor. */
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
    const vidi__profile *profile = work->form->profile;
    if (!profile->concerns || !profile->concerns(work))
        return VIDI_OK;
    uint32_t rules = work->form->rules;
    if (!why && profile->needed)
        rules &= profile->needed(work->form, &work->url);
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

/* Returns true if the URL has a fragment that names a page, as "#!" and "#/" do. */
static bool has_kept_fragment(const vidi__form *form, const vidi__url *url)
{
    const char *fragment = url->text + url->query_end;
    return form->keeps_fragments && url->len - url->query_end > 1 && (fragment[1] == '!' || fragment[1] == '/');
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
    const vidi__form *form = work->form;
    vidi__buffer *out = work->out;
    const vidi_str nothing = {NULL, 0};
    int result = vidi__url_parse(&work->url, input, base, true, out);
    if (result)
        return vidi__answer(result);
    note(why, input, nothing);
    result = tell(why, "whatwg", work);
    if (result)
        return result;
    if (VIDI__UNLIKELY(has_kept_fragment(form, &work->url)))
        return apply_before_fragment(work, why);
    note(why, (vidi_str){out->at, out->len}, nothing);
    out->len = work->url.query_end;
    result = tell(why, "fragment", work);
    return result ? result : apply_rules(work, why);
}

/* Finds, without the parser, the parts that the rules of crawl and w3lib look at, of a URL that the scan accepts. */
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

static bool rules_keep(const vidi__form *form, vidi_str input)
{
    vidi__url url = {0};
    return recognise(input, &url) && !(form->rules & form->profile->needed(form, &url));
}

bool vidi__canon_keeps(const vidi_canon *canon, vidi_str input)
{
    switch (canon->form->profile->output) {
    case VIDI__OUTPUT_BYTES:
        return true;
    case VIDI__OUTPUT_STANDARD:
        return vidi__url_is_canonical(input);
    case VIDI__OUTPUT_URL:
        return rules_keep(canon->form, input);
    default:
        return false;
    }
}

size_t vidi_canon_count(const vidi_canon *canon, const vidi_str *urls, size_t n)
{
    size_t i = 0;
    if (!canon || !urls)
        return 0;
    if (canon->form->profile->output == VIDI__OUTPUT_STANDARD)
        return vidi__url_count_canonical(urls, n);
    while (i < n && urls[i].ptr && vidi__canon_keeps(canon, urls[i]))
        i++;
    return i;
}

static int canonicalise(const vidi__form *form, vidi_str input, const vidi__url *base, vidi__buffer *out,
                        explanation *why)
{
    vidi__canon_output output = form->profile->output;
    vidi__canon_work work = {.form = form, .out = out};
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
    return canonicalise(canon->form, input, base, out, NULL);
}

int vidi__canon_form(const vidi_canon *canon, vidi_str input, vidi__buffer *out, vidi_str *form)
{
    *form = input;
    if (VIDI__LIKELY(vidi__canon_keeps(canon, input)))
        return VIDI_OK;
    vidi__canon_work work = {.form = canon->form, .out = out};
    bool is_url = canon->form->profile->output == VIDI__OUTPUT_URL;
    int result = is_url ? canonicalise(canon->form, input, NULL, out, NULL) /* most are recognised */
                        : parse_and_apply(&work, input, NULL, NULL);
    *form = (vidi_str){out->at, out->len};
    return result;
}

/* canonicalise with an unparsed base; NULL: none. */
static int canonicalise_against(const vidi__form *form, vidi_str input, const vidi_str *base, vidi__buffer *out,
                                explanation *why)
{
    if (!base || form->profile->output == VIDI__OUTPUT_BYTES)
        return canonicalise(form, input, NULL, out, why);
    char room[BASE_BYTES];
    vidi__buffer base_text = vidi__buffer_in(room, sizeof room, out->memory);
    vidi__url base_url;
    int result = vidi__url_parse(&base_url, *base, NULL, true, &base_text);
    if (result)
        result = vidi__url_base_fails(result);
    else
        result = canonicalise(form, input, &base_url, out, why);
    vidi__buffer_free(&base_text);
    return result;
}

/* For what outgrows the stack and the caller's buffer: released before the call returns. */
static vidi__memory scratch_memory(const vidi_canon *canon)
{
    return (vidi__memory){.hook = canon->hook, .limit = SIZE_MAX / 2};
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
    int result = canonicalise_against(canon->form, input, base, &out, NULL);
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
    int result = canonicalise_against(canon->form, input, base, &out, &why);
    vidi__buffer_free(&out);
    vidi__buffer_free(&why.before);
    return result;
}
