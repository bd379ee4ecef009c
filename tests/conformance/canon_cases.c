/*
 * Runs the archive's published cases through the canonical forms and says which fail.
 *
 *   canon_cases EXCEPTIONS < JSON
 *
 * A case is {"fn", "in", "out", "opts"}. fn is a function of the archive's library; few of them have a counterpart of
 * their own here, but all of what they do is in `surt`, so that is how they are asked:
 *
 *   surt               the key itself; opts are rules: trailing_comma +comma, with_scheme +scheme, host_massage -www,
 *                      reverse_ipaddr -reverse-ip, canonicalizer (identity) -www
 *   hostToSURT         the key of http://IN/ without rule www
 *   …canonicalize, handyurl.parse
 *                      IN and OUT are two spellings of one URL: they have one key, and IN a key at all
 *   massageHost        likewise http://IN/ and, without rule www, http://OUT/
 *   alphaReorderQuery  the key's query of http://h/?IN
 *   strip…SessionID    the keys of http://h/IN and http://h/OUT, the latter without rule session
 *   attemptIPFormats   the key of http://IN/ without rules reverse-ip and www
 *   unescapeRepeatedly the key of http://h/IN, with '%' in OUT as "%25"
 *   getPublicSuffix    key=site of http://IN/
 *
 * getPublicPrefix, getDefaultPort, a parse of which only the scheme is told and IN that is null have nothing to be
 * compared with; they are counted as passed over. EXCEPTIONS has a line "FN <tab> IN" for each case that is known to
 * fail, bytes that are not printable ASCII as \xNN; lines that begin with '#' say why. A case that is listed must fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/json.h"

enum { ROOM = 4096, EXCEPTIONS_MAX = 200 };

typedef struct a_case {
    json_text fn, in, out;
    char rules[100];
} a_case;

static struct {
    char line[ROOM];
    bool met;
} exceptions[EXCEPTIONS_MAX];
static size_t exception_count, cases, failed, excepted, passed_over;

static bool read_exceptions(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    char line[ROOM];
    while (fgets(line, sizeof line, file) && exception_count < EXCEPTIONS_MAX) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] && line[0] != '#')
            snprintf(exceptions[exception_count++].line, ROOM, "%s", line);
    }
    fclose(file);
    return true;
}

static void escape(vidi__text *to, const char *text)
{
    for (; text && *text; text++) {
        unsigned char c = (unsigned char)*text;
        vidi__text_add(to, c > 0x20 && c < 0x7f && c != '\\' ? "%c" : "\\x%02x", c);
    }
}

static void judge(const a_case *a, const char *got, const char *want)
{
    char line[ROOM];
    bool right = got && want ? strcmp(got, want) == 0 : got == want;
    vidi__text text = vidi__text_in(line, sizeof line);
    vidi__text_add(&text, "%s\t", a->fn.at);
    escape(&text, a->in.at);
    cases++;
    for (size_t i = 0; i < exception_count; i++)
        if (strcmp(exceptions[i].line, line) == 0) {
            exceptions[i].met = true;
            excepted++;
            if (right && ++failed)
                printf("# listed as an exception, but passes\n%s\n", line);
            return;
        }
    if (!right && ++failed)
        printf("# <%s> instead of <%s>\n%s\n", got ? got : "no URL", want ? want : "no URL", line);
}

/* The canonical form of head, text and tail in one; NULL if that is no URL. */
static char *canonical(char *room, const char *profile, const char *head, const char *text, const char *tail)
{
    char url[ROOM];
    snprintf(url, sizeof url, "%s%s%s", head, text, tail);
    vidi_canon *canon;
    if (vidi_canon_create(&canon, profile, NULL, NULL)) {
        printf("# %s\n", vidi_message());
        return NULL;
    }
    size_t len = ROOM - 1;
    int result = vidi_url_canon(canon, (vidi_str){url, strlen(url)}, NULL, room, &len);
    vidi_canon_close(canon);
    room[result ? 0 : len] = 0;
    return result ? NULL : room;
}

/* Both have one key. What has none, as the archive's library gives it something, differs. */
static void same_key(const a_case *a, const char *head, const char *tail, const char *profile_of_out)
{
    char in[ROOM], out[ROOM], profile[200];
    snprintf(profile, sizeof profile, "surt,+scheme%s", a->rules);
    const char *got = canonical(in, profile, head, a->in.at, tail);
    const char *want = canonical(out, profile_of_out, head, a->out.at ? a->out.at : "", tail);
    judge(a, got, want ? want : "a key");
}

static void exact_key(const a_case *a, const char *profile, const char *head, const char *tail, const char *before,
                      const char *after)
{
    char got[ROOM], want[ROOM];
    const char *key = canonical(got, profile, head, a->in.at, tail);
    snprintf(want, sizeof want, "%s%s%s", before, a->out.at ? a->out.at : "", after);
    judge(a, key, a->out.at ? want : NULL);
}

static void unescaped(const a_case *a)
{
    char got[ROOM], want[ROOM] = "h)/";
    size_t len = strlen(want);
    for (const char *c = a->out.at; *c && len < ROOM - 4; c++)
        len += (size_t)sprintf(want + len, *c == '%' ? "%%25" : "%c", *c);
    judge(a, canonical(got, "surt,-lower-path", "http://h/", a->in.at, ""), want);
}

static bool is(const a_case *a, const char *fn)
{
    const char *dot = strrchr(a->fn.at, '.');
    return strcmp(dot ? dot + 1 : a->fn.at, fn) == 0;
}

/* A host as a URL's, or as it is: what is no address is a name to `surt`. */
static void ip_address(const a_case *a)
{
    char got[ROOM], name[ROOM];
    const char *key = canonical(got, "surt,-reverse-ip,-www", "http://", a->in.at, "/");
    if (key && !a->out.at) /* no address: its labels are reversed as those of a name */
        key = strcmp(key, canonical(name, "surt,-www", "http://", a->in.at, "/")) == 0 ? NULL : key;
    if (key)
        got[strlen(got) - 2] = 0; /* ")/" */
    judge(a, key, a->out.at);
}

static void run(const a_case *a)
{
    char profile[200];
    snprintf(profile, sizeof profile, "surt%s", a->rules);
    bool scheme_only = is(a, "parse") && a->out.at && !strchr(a->out.at, ':');
    if (is(a, "getPublicPrefix") || is(a, "getDefaultPort") || !a->in.at || scheme_only)
        passed_over++;
    else if (is(a, "surt"))
        exact_key(a, profile, "", "", "", "");
    else if (is(a, "hostToSURT"))
        exact_key(a, strstr(a->rules, "reverse") ? "surt,-www,-reverse-ip" : "surt,-www", "http://", "/", "", ")/");
    else if (is(a, "canonicalize") || is(a, "parse"))
        same_key(a, "", "", strstr(a->rules, "lower") ? "surt,+scheme,-lower-query" : "surt,+scheme");
    else if (is(a, "massageHost"))
        same_key(a, "http://", "/", "surt,+scheme,-www");
    else if (is(a, "alphaReorderQuery"))
        exact_key(a, "surt", "http://h/?", "", a->out.len ? "h)/?" : "h)/", "");
    else if (is(a, "stripPathSessionID") || is(a, "stripQuerySessionID"))
        same_key(a, "http://h/", "", "surt,+scheme,-session");
    else if (is(a, "attemptIPFormats"))
        ip_address(a);
    else if (is(a, "unescapeRepeatedly"))
        unescaped(a);
    else if (is(a, "getPublicSuffix"))
        exact_key(a, "key=site", "http://", "/", "", "");
    else
        judge(a, "a function that is not known", a->fn.at);
}

/* ---- JSON ---- */

static void read_options(json *j, a_case *a)
{
    static const struct {
        const char *name;
        char value; /* the first character that switches the rule */
        const char *rule;
    } rules[] = {{"trailing_comma", 't', ",+comma"},      {"with_scheme", 't', ",+scheme"},
                 {"host_massage", 'f', ",-www"},          {"canonicalizer", '"', ",-www"},
                 {"reverse_ipaddr", 'f', ",-reverse-ip"}, {"query_lowercase", 'f', ",-lower-query"}};
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j);
        for (size_t i = 0; name.at && i < VIDI__COUNT(rules); i++)
            if (strcmp(name.at, rules[i].name) == 0 && json_peek(j) == rules[i].value)
                strcat(a->rules, rules[i].rule);
        json_skip(j);
        free(name.at);
    }
}

static void read_case(json *j)
{
    a_case a = {0};
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j);
        const char *n = name.at ? name.at : "";
        json_text *to = !strcmp(n, "fn") ? &a.fn : !strcmp(n, "in") ? &a.in : !strcmp(n, "out") ? &a.out : NULL;
        if (!strcmp(n, "opts"))
            read_options(j, &a);
        else if (to && json_peek(j) == '"')
            *to = json_string(j);
        else
            json_skip(j);
        free(name.at);
    }
    if (a.fn.at)
        run(&a);
    free(a.fn.at);
    free(a.in.at);
    free(a.out.at);
}

static void read_cases(json *j)
{
    for (json_enter(j, '{'); json_more(j, '}');) {
        json_text name = json_name(j);
        if (name.at && strcmp(name.at, "cases") == 0)
            for (json_enter(j, '['); json_more(j, ']');)
                read_case(j);
        else
            json_skip(j);
        free(name.at);
    }
}

int main(int argc, char **argv)
{
    static char data[1 << 20];
    if (argc != 2 || !read_exceptions(argv[1])) {
        printf("usage: canon_cases EXCEPTIONS < JSON\n");
        return 2;
    }
    if (!VIDI_HAVE_ICU || !VIDI_HAVE_PSL) {
        puts("absent");
        return 0;
    }
    size_t len = fread(data, 1, sizeof data, stdin);
    json j = {data, data + len, false};
    read_cases(&j);
    for (size_t i = 0; i < exception_count; i++)
        if (!exceptions[i].met && ++failed)
            printf("# listed as an exception, but not in the data: %s\n", exceptions[i].line);
    printf("%zu cases, %zu of them listed exceptions, %zu failed; %zu have no counterpart\n", cases, excepted, failed,
           passed_over);
    return failed || j.bad || !cases;
}
