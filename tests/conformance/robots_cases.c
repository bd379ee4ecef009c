/*
 * Runs public cases for robots.txt through the reader and says which fail.
 *
 *   robots_cases SUITE EXCEPTIONS [FOLDER] < DATA
 *
 * SUITE is the form of the data as well as its name in the list of exceptions:
 *
 *   verdicts-…  {"cases": [{"robots", "agent", "url", "allowed"}]}, read leniently
 *   rfc-…       the same, read strictly and leniently
 *   lines-…     {"cases": [{"robots", "valid_directives", "unknown_directives", "last_line_seen"}]}
 *   paths-…     {"cases": [{"fn", "in", "out"}]}
 *   real-…      lines of file in FOLDER/robots, agent, URL, verdict if lenient, verdict if strict, separated by tabs
 *
 * EXCEPTIONS has a line "SUITE <tab> AGENT <tab> URL" for each case that is known to fail; lines that begin with '#' say
 * why. A case fails the suite if it fails and is not listed, or is listed and never fails. Each failure is printed as
 * such a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/exceptions.h"
#include "crawler/robots/robots.h"
#include "crawler/robots/robots_rules.h"
#include "support/json.h"

enum { LINE_BYTES = 1 << 17, FILE_BYTES = 1 << 21 };

static const char *suite;
static size_t cases, failed, excepted;

/* ---- exceptions ---- */

static void judge(vidi_str agent, vidi_str url, const char *wrong)
{
    static char line[LINE_BYTES];
    cases++;
    if (!wrong)
        return;
    snprintf(line, sizeof line, "%.*s\t%.*s", (int)agent.len, agent.ptr, (int)url.len, url.ptr);
    if (exceptions_find(line)) {
        excepted++;
        return;
    }
    failed++;
    printf("# %s\n%s\t%s\n", wrong, suite, line);
}

/* Listed exceptions that did not fail. */
static void judge_exceptions(void)
{
    for (size_t i = 0; i < exception_count; i++) {
        if (!exceptions[i].met) {
            failed++;
            printf("# listed as an exception, but passes or was not met:\n%s\t%s\n", suite, exceptions[i].line);
        }
        free(exceptions[i].line);
    }
}

/* ---- the reader ---- */

/* What is wrong with the verdict; NULL: nothing. */
static const char *check_verdict(const robots *rules, vidi_str url, bool lenient, bool allowed)
{
    static char wrong[128];
    if (!rules)
        return "parsing failed";
    int verdict = robots_check(rules, url, NULL);
    if (verdict == (allowed ? ROBOTS_ALLOWED : ROBOTS_DENIED))
        return NULL;
    snprintf(wrong, sizeof wrong, "%s: %d instead of %d", lenient ? "lenient" : "strict", verdict, allowed);
    return wrong;
}

static robots *parse(vidi_str file, vidi_str agent, bool lenient)
{
    robots_options options = {.agent = agent, .lenient = lenient};
    robots *rules;
    return robots_parse(&rules, file, &options) == VIDI_OK ? rules : NULL;
}

/* ---- cases in JSON ---- */

typedef struct robots_case {
    json_text robots, agent, url, fn, in, out;
    bool allowed;
    long known, unknown, last; /* -1: not given */
} robots_case;

static vidi_str str_of(json_text text)
{
    return (vidi_str){text.at ? text.at : "", text.len};
}

static long read_number(json *j)
{
    json_peek(j);
    long value = strtol(j->at, NULL, 10);
    json_skip(j);
    return value;
}

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : 0;
}

/* Decodes base64 in place. */
static void decode(json_text *text)
{
    size_t len = 0;
    for (size_t i = 0; i + 3 < text->len; i += 4) {
        const char *q = text->at + i;
        int bits = digit_of(q[0]) << 18 | digit_of(q[1]) << 12 | digit_of(q[2]) << 6 | digit_of(q[3]);
        size_t take = q[3] != '=' ? 3 : q[2] != '=' ? 2 : 1;
        for (size_t k = 0; k < take; k++)
            text->at[len++] = (char)(bits >> (16 - 8 * k));
    }
    text->len = len;
}

/* A string, or {"b64": "…"} for bytes that are not UTF-8. */
static json_text read_bytes(json *j)
{
    if (json_peek(j) != '{')
        return json_string(j);
    json_text text = {NULL, 0};
    json_enter(j, '{');
    while (json_more(j, '}')) {
        free(text.at);
        free(json_name(j).at);
        text = json_string(j);
        decode(&text);
    }
    return text;
}

static robots_case read_case(json *j)
{
    robots_case c = {.known = -1, .unknown = -1, .last = -1};
    json_enter(j, '{');
    while (json_more(j, '}')) {
        json_text name = json_name(j);
        const struct {
            const char *name;
            json_text *text;
        } texts[] = {{"robots", &c.robots}, {"agent", &c.agent}, {"url", &c.url},
                     {"fn", &c.fn},         {"in", &c.in},       {"out", &c.out}};
        const struct {
            const char *name;
            long *number;
        } numbers[] = {{"valid_directives", &c.known}, {"unknown_directives", &c.unknown}, {"last_line_seen", &c.last}};
        bool taken = false;
        for (size_t i = 0; i < sizeof texts / sizeof texts[0] && !taken; i++)
            if (strcmp(name.at, texts[i].name) == 0 && (taken = true))
                *texts[i].text = read_bytes(j);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !taken; i++)
            if (strcmp(name.at, numbers[i].name) == 0 && (taken = true))
                *numbers[i].number = read_number(j);
        if (!taken && strcmp(name.at, "allowed") == 0)
            c.allowed = json_peek(j) == 't';
        if (!taken)
            json_skip(j);
        free(name.at);
    }
    return c;
}

static void free_case(robots_case *c)
{
    json_text *const texts[] = {&c->robots, &c->agent, &c->url, &c->fn, &c->in, &c->out};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]->at);
}

static void run_verdict(const robots_case *c)
{
    vidi_str file = str_of(c->robots), agent = str_of(c->agent), url = str_of(c->url);
    for (int lenient = strncmp(suite, "rfc-", 4) != 0; lenient <= 1; lenient++) {
        robots *rules = parse(file, agent, lenient);
        judge(agent, url, check_verdict(rules, url, lenient, c->allowed));
        robots_free(rules);
    }
}

static void run_lines(const robots_case *c)
{
    static char wrong[256];
    robots_counts counts;
    robots_options options = {.agent = {"foo", 3}, .lenient = true, .counts = &counts};
    robots *rules;
    bool good = robots_parse(&rules, str_of(c->robots), &options) == VIDI_OK &&
                (c->known < 0 || counts.known == (uint64_t)c->known) &&
                (c->unknown < 0 || counts.unknown == (uint64_t)c->unknown) &&
                (c->last < 0 || counts.lines == (uint64_t)c->last);
    robots_free(rules);
    snprintf(wrong, sizeof wrong, "%llu lines, %llu known, %llu unknown", (unsigned long long)counts.lines,
             (unsigned long long)counts.known, (unsigned long long)counts.unknown);
    judge((vidi_str){"", 0}, str_of(c->robots), good ? NULL : wrong);
}

static void run_path(const robots_case *c)
{
    static char out[LINE_BYTES];
    size_t len = 0;
    if (strcmp(c->fn.at, "path_params_query") == 0) {
        vidi_str path = robots_path_of(str_of(c->in));
        if (path.len == 0 || path.ptr[0] != '/')
            out[len++] = '/';
        memcpy(out + len, path.ptr, path.len);
        len += path.len;
    } else {
        len = robots_comparable_pattern(out, str_of(c->in));
    }
    bool good = len == c->out.len && memcmp(out, c->out.at, len) == 0;
    out[len] = 0;
    judge(str_of(c->fn), str_of(c->in), good ? NULL : out);
}

static void run_json(json *j)
{
    json_enter(j, '{');
    while (json_more(j, '}')) {
        json_text name = json_name(j);
        if (!name.at || strcmp(name.at, "cases") != 0) {
            json_skip(j);
        } else {
            json_enter(j, '[');
            while (json_more(j, ']')) {
                robots_case c = read_case(j);
                if (strncmp(suite, "lines-", 6) == 0)
                    run_lines(&c);
                else if (strncmp(suite, "paths-", 6) == 0)
                    run_path(&c);
                else
                    run_verdict(&c);
                free_case(&c);
            }
        }
        free(name.at);
    }
    failed += j->bad;
}

/* ---- real files ---- */

static vidi_str load(const char *folder, const char *name)
{
    static char bytes[FILE_BYTES], path[4096], loaded[4096];
    static size_t len;
    snprintf(path, sizeof path, "%s/robots/%s", folder, name);
    if (strcmp(path, loaded) != 0) {
        FILE *file = fopen(path, "rb");
        len = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file)
            fclose(file);
        else
            printf("# cannot read %s\n", path), failed++;
        memcpy(loaded, path, sizeof loaded);
    }
    return (vidi_str){bytes, len};
}

static void run_real(char *line, const char *folder)
{
    char *columns[5];
    for (size_t i = 0; i < 5; i++) {
        columns[i] = strsep(&line, "\t\n");
        if (!columns[i]) {
            failed++;
            return;
        }
    }
    /* The lines are sorted, so those of one file and agent come one after the other. */
    static char known[4096];
    static robots *rules[2];
    char key[4096];
    vidi_str agent = {columns[1], strlen(columns[1])}, url = {columns[2], strlen(columns[2])};
    snprintf(key, sizeof key, "%s %s", columns[0], columns[1]);
    for (size_t lenient = 0; lenient < 2 && strcmp(key, known) != 0; lenient++) {
        robots_free(rules[lenient]);
        rules[lenient] = parse(load(folder, columns[0]), agent, lenient);
    }
    memcpy(known, key, sizeof known);
    judge(agent, url, check_verdict(rules[true], url, true, columns[3][0] == '1'));
    judge(agent, url, check_verdict(rules[false], url, false, columns[4][0] == '1'));
}

int main(int argc, char **argv)
{
    static char line[LINE_BYTES];
    if (argc < 3) {
        fprintf(stderr, "usage: %s SUITE EXCEPTIONS [FOLDER] < DATA\n", argv[0]);
        return 2;
    }
    suite = argv[1];
    if (!exceptions_read(argv[2], suite))
        return 2;
    if (strncmp(suite, "real-", 5) == 0) {
        while (fgets(line, sizeof line, stdin))
            if (line[0] != '#')
                run_real(line, argc > 3 ? argv[3] : ".");
    } else {
        static char all[FILE_BYTES];
        json j = {all, all + fread(all, 1, sizeof all, stdin), false};
        run_json(&j);
    }
    judge_exceptions();
    printf("%zu answers, %zu exceptions, %zu failures\n", cases, excepted, failed);
    return failed || !cases;
}
