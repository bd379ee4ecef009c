/*
 * Runs public cases for URLs through the library and says which fail.
 *
 *   url_cases SUITE EXCEPTIONS < JSON
 *
 * SUITE is the form of the data as well as its name in the list of exceptions:
 *
 *   parse-…     [{"input", "base", "href", "protocol", …} or {"input", "base", "failure": true}]: web-platform-tests
 *   host-…      [{"input", "output"}]: the host of https://INPUT/x, or null if that is no URL
 *   percent-…   [{"input", "output": {"utf-8"}}]: as query and as fragment
 *   resolve-…   {"cases": [{"base", "rel", "out", "out_loose"}]}
 *   triples-…   lines of ["base", "reference", "result"]
 *
 * In the first three, the canonical form whatwg must also be the href without the fragment, in every version.
 *
 * Strings between cases are comments. EXCEPTIONS has a line "SUITE <tab> INPUT <tab> BASE" (without the last tab if
 * there is no base) for each case that is known to fail, escaped as below; lines that begin with '#' say why. A case
 * fails the suite if it fails and is not listed, or is listed and does not fail, or is listed and not met. Each failure
 * is printed as such a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "conformance/exceptions.h"
#include "support/json.h"
#include "support/url_parts.h"

#if VIDI_HAVE_ICU
#include <unicode/uversion.h>
#endif

enum { OUT_MAX = 1 << 16, LINE_BYTES = 8192 };

static const char *suite;
static size_t cases, failed, excepted;
static const char *canonical_wrong; /* what is wrong with the canonical forms of the last case; NULL: nothing */

/* ---- exceptions ---- */

/* Printable ASCII as it is, all else as \xNN. */
static void escape(vidi__text *to, json_text text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        vidi__text_add(to, c > 0x20 && c < 0x7f && c != '\\' ? "%c" : "\\x%02x", c);
    }
}

/* The list is that of ICU 72; a newer one may know more of Unicode. */
static bool newer_icu(void)
{
#if VIDI_HAVE_ICU
    return strncmp(suite, "host-", 5) == 0 && U_ICU_VERSION_MAJOR_NUM > 72;
#else
    return false;
#endif
}

/* Counts a case, `wrong` being what is wrong with it or NULL. */
static void judge(json_text input, json_text base, const char *wrong)
{
    char line[LINE_BYTES];
    vidi__text text = vidi__text_in(line, sizeof line);
    wrong = wrong ? wrong : canonical_wrong;
    canonical_wrong = NULL;
    cases++;
    if (!wrong && exception_count == 0)
        return;
    escape(&text, input);
    if (base.len) {
        vidi__text_add(&text, "\t");
        escape(&text, base);
    }
    if (exceptions_find(line)) {
        excepted++;
        if (!wrong && !newer_icu()) {
            failed++;
            printf("# listed as an exception, but passes: %s\t%s\n", suite, line);
        }
    } else if (wrong) {
        failed++;
        printf("# %s\n%s\t%s\n", wrong, suite, line);
    }
}

/* ---- the library ---- */

static char out[OUT_MAX], again[OUT_MAX], complaint[4 * LINE_BYTES];

static const char *complain(const char *what, vidi_str got, json_text want)
{
    snprintf(complaint, sizeof complaint, "%s: %.*s instead of %.*s", what, (int)got.len, got.ptr ? got.ptr : "",
             (int)want.len, want.at ? want.at : "a failure");
    return complaint;
}

static bool same(vidi_str got, json_text want)
{
    return got.len == want.len && (got.len == 0 || memcmp(got.ptr, want.at, got.len) == 0);
}

/* The href without the fragment; a URL that failed has no canonical form either. */
static const char *check_whatwg(vidi_str input, const vidi_str *base, const vidi_url *url)
{
    static vidi_canon *canon;
    size_t fragment = url->fragment.ptr ? url->fragment.len + 1 : 0, len = sizeof again;
    if (!canon && vidi_canon_create(&canon, "whatwg", NULL, NULL))
        return vidi_message();
    bool valid = vidi_url_canon(canon, input, base, again, &len) == VIDI_OK;
    if (valid != (url->href.ptr != NULL) ||
        (valid && !same((vidi_str){again, len}, (json_text){out, url->href.len - fragment})))
        return complain("whatwg", (vidi_str){again, len}, (json_text){out, url->href.len});
    return NULL;
}

/* base without text: none. */
static bool parse(json_text input, json_text base, vidi_url *url)
{
    size_t len = sizeof out;
    vidi_str base_str = {base.at, base.len}, *base_or_none = base.at ? &base_str : NULL;
    vidi_str text = {input.at, input.len};
    *url = (vidi_url){.size = sizeof *url};
    bool valid = vidi_url_parse(text, base_or_none, out, &len, url) == VIDI_OK;
    canonical_wrong = check_whatwg(text, base_or_none, url);
    return valid;
}

/* What was written reads as itself, and a view of it has the same parts. */
static const char *check_again(const vidi_url *url)
{
    size_t len = sizeof again;
    vidi_url second = {.size = sizeof second};
    if (vidi_url_parse(url->href, NULL, again, &len, &second))
        return "its serialisation is no URL";
    if (!same(second.href, (json_text){out, url->href.len}))
        return "its serialisation reads as another URL";
    vidi_url view = {.size = sizeof view};
    return vidi_url_view(url->href, &view) == VIDI_OK && same_parts(&view, url) ? NULL : "a view of it has other parts";
}

/* ---- suites ---- */

#define FIELDS 10
static const char *const fields[FIELDS] = {"href", "protocol", "username", "password", "hostname",
                                           "port", "pathname", "search",   "hash",     "host"};

/* The part as the interface of browsers gives it. */
static vidi_str field(const vidi_url *url, size_t i)
{
    const vidi_str plain[FIELDS] = {url->href, url->scheme, url->username, url->password, url->host,
                                    url->port, url->path,   url->query,    url->fragment, url->host};
    vidi_str part = plain[i];
    if (i == 1)
        part.len++; /* ':' */
    if ((i == 7 || i == 8) && part.len) {
        part.ptr--; /* '?' or '#' */
        part.len++;
    }
    if (i == 9 && url->port.ptr)
        part.len += 1 + url->port.len;
    return part;
}

static const char *compare(const vidi_url *url, const json_text *want)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (want[i].at && !same(field(url, i), want[i]))
            return complain(fields[i], field(url, i), want[i]);
    return check_again(url);
}

static void parse_case(json *j)
{
    json_text input = {0}, base = {0}, want[FIELDS] = {{0}};
    bool failure = false;
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j);
        json_text *to = !name.at                        ? NULL
                        : strcmp(name.at, "input") == 0 ? &input
                        : strcmp(name.at, "base") == 0  ? &base
                                                        : NULL;
        for (size_t i = 0; name.at && i < FIELDS; i++)
            if (strcmp(name.at, fields[i]) == 0)
                to = &want[i];
        if (name.at && strcmp(name.at, "failure") == 0)
            failure = json_peek(j) == 't';
        if (to)
            *to = json_string(j);
        else
            json_skip(j);
        free(name.at);
    }
    vidi_url url;
    if (parse(input, base, &url))
        judge(input, base, failure ? complain("href", url.href, (json_text){0}) : compare(&url, want));
    else
        judge(input, base, failure ? NULL : vidi_message());
    free(input.at);
    free(base.at);
    for (size_t i = 0; i < FIELDS; i++)
        free(want[i].at);
}

/* The input as a host: what would end the host is percent-encoded, as the suite's own runner does it. */
static json_text as_host(json_text input)
{
    json_text text = {malloc(3 * input.len + 16), 0};
    if (!text.at)
        return text;
    text.len = (size_t)sprintf(text.at, "https://");
    for (size_t i = 0; i < input.len; i++) {
        char c = input.at[i];
        if (c && strchr(":/?#\\", c))
            text.len += (size_t)sprintf(text.at + text.len, "%%%02X", (unsigned)c);
        else
            text.at[text.len++] = c;
    }
    text.len += (size_t)sprintf(text.at + text.len, "/x");
    return text;
}

static const char *compare_host(const vidi_url *url, json_text want)
{
    if (!want.at || !same(url->host, want))
        return complain("host", url->host, want);
    return check_again(url);
}

static void host_case(json_text input, json_text output)
{
    if (!input.len)
        return; /* cannot be put into a URL */
    vidi_url url;
    json_text text = as_host(input);
    if (parse(text, (json_text){0}, &url))
        judge(input, (json_text){0}, compare_host(&url, output));
    else
        judge(input, (json_text){0}, output.at ? vidi_message() : NULL);
    free(text.at);
}

static void percent_case(json_text input, json_text output)
{
    vidi_url url;
    const char *wrong = NULL;
    json_text text = {malloc(2 * input.len + 32), 0};
    text.len = (size_t)sprintf(text.at, "http://a/?%s#%s", input.at, input.at);
    if (!parse(text, (json_text){0}, &url))
        wrong = vidi_message();
    else if (!same(url.query, output))
        wrong = complain("query", url.query, output);
    else if (!same(url.fragment, output))
        wrong = complain("fragment", url.fragment, output);
    judge(input, (json_text){0}, wrong);
    free(text.at);
}

/* The member "utf-8" of an object of strings; anything else as it is. */
static json_text output_of(json *j)
{
    if (json_peek(j) != '{')
        return json_string(j);
    json_text result = {0};
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j), value = json_string(j);
        bool wanted = name.at && strcmp(name.at, "utf-8") == 0;
        free(wanted ? result.at : value.at);
        if (wanted)
            result = value;
        free(name.at);
    }
    return result;
}

static void input_output_case(json *j, void (*run)(json_text input, json_text output))
{
    json_text input = {0}, output = {0};
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j);
        if (name.at && strcmp(name.at, "input") == 0)
            input = json_string(j);
        else if (name.at && strcmp(name.at, "output") == 0)
            output = output_of(j);
        else
            json_skip(j);
        free(name.at);
    }
    if (input.at)
        run(input, output);
    free(input.at);
    free(output.at);
}

static void resolve_case(json_text base, json_text reference, json_text want, json_text also)
{
    size_t len = sizeof out;
    vidi_str base_str = {base.at, base.len}, str = {reference.at, reference.len}, got = {out, 0};
    vidi_url url = {.size = sizeof url};
    int result = base.len ? vidi_url_resolve(base_str, str, out, &len) : vidi_url_parse(str, NULL, out, &len, &url);
    got.len = len;
    if (result)
        judge(reference, base, want.at ? vidi_message() : NULL);
    else
        judge(reference, base, same(got, want) || (also.at && same(got, also)) ? NULL : complain("href", got, want));
}

static void resolve_object(json *j)
{
    static const char *const names[4] = {"base", "rel", "out", "out_loose"};
    json_text texts[4] = {{0}};
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j);
        size_t which = 0;
        while (which < 4 && name.at && strcmp(name.at, names[which]) != 0)
            which++;
        if (which < 4)
            texts[which] = json_string(j);
        else
            json_skip(j);
        free(name.at);
    }
    resolve_case(texts[0], texts[1], texts[2], texts[3]);
    for (size_t i = 0; i < 4; i++)
        free(texts[i].at);
}

static void resolve_suite(json *j)
{
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j);
        if (name.at && strcmp(name.at, "cases") == 0)
            for (json_enter(j, '['); json_more(j, ']');)
                resolve_object(j);
        else
            json_skip(j);
        free(name.at);
    }
}

static void triples_suite(json *j)
{
    while (json_peek(j)) {
        json line = *j; /* strings are read from here, so that none is given room for all the data */
        const char *end = memchr(j->at, '\n', (size_t)(j->end - j->at));
        line.end = end ? end : j->end;
        json_text texts[3] = {{0}};
        size_t n = 0;
        for (json_enter(&line, '['); json_more(&line, ']') && n < 3;)
            texts[n++] = json_string(&line);
        resolve_case(texts[0], texts[1], texts[2], (json_text){0});
        for (size_t i = 0; i < 3; i++)
            free(texts[i].at);
        j->bad |= line.bad;
        j->at = line.end;
    }
}

static void array_suite(json *j)
{
    for (json_enter(j, '['); json_more(j, ']');) {
        if (json_peek(j) != '{')
            json_skip(j);
        else if (strncmp(suite, "parse-", 6) == 0)
            parse_case(j);
        else
            input_output_case(j, strncmp(suite, "host-", 5) == 0 ? host_case : percent_case);
    }
}

/* ---- all of it ---- */

static json_text read_all(void)
{
    json_text all = {NULL, 0};
    for (size_t room = 0, n = 1; n;) {
        if (room - all.len < 65536) {
            room = 2 * room + 65536;
            char *more = realloc(all.at, room);
            if (!more)
                break;
            all.at = more;
        }
        n = fread(all.at + all.len, 1, room - all.len, stdin);
        all.len += n;
    }
    return all;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: url_cases SUITE EXCEPTIONS < JSON\n");
        return 2;
    }
    suite = argv[1];
    if (!VIDI_HAVE_ICU) {
        puts("absent");
        return 0;
    }
    json_text all = read_all();
    json j = {all.at, all.at + all.len, false};
    if (!exceptions_read(argv[2], suite)) {
        printf("# cannot read %s\n", argv[2]);
        return 1;
    }
    if (strncmp(suite, "triples-", 8) == 0)
        triples_suite(&j);
    else if (strncmp(suite, "resolve-", 8) == 0)
        resolve_suite(&j);
    else
        array_suite(&j);
    for (size_t i = 0; i < exception_count; i++) {
        if (!exceptions[i].met && ++failed)
            printf("# listed as an exception, but not in the data: %s\t%s\n", suite, exceptions[i].line);
        free(exceptions[i].line);
    }
    if (j.bad || !cases)
        printf("# the data cannot be read\n");
    printf("%zu cases, %zu of them listed exceptions\n", cases, excepted);
    free(all.at);
    return failed || j.bad || !cases;
}
