/*
 * robots.txt: a line with a product token, a line with a URL, and then the file, which may contain any byte. The file
 * is read strictly and leniently. The verdict must be that of a matcher that is too simple to be wrong, and the parsed
 * file must be small.
 */
#include <string.h>

#include "crawler/robots/robots_rules.h"
#include "fuzz.h"

enum { PATH_MOST = 512 };

/* Takes a line off the text. */
static vidi_str take_line(vidi_str *text)
{
    const char *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
    vidi_str line = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};
    size_t skip = line.len + (end != NULL);
    *text = (vidi_str){text->ptr + skip, text->len - skip};
    return line;
}

/*
 * Whether the pattern matches. Walks through the pattern; `at` are the places of the path at which the part so far can
 * end.
 */
static bool simply_matches(const char *pattern, const robots_pattern *about, const char *path, size_t len)
{
    bool at[PATH_MOST + 1] = {true};
    for (size_t i = 0; i < about->length; i++) {
        if ((unsigned char)pattern[i] == ROBOTS_WILDCARD) {
            for (size_t k = 1; k <= len; k++)
                at[k] = at[k] || at[k - 1];
        } else {
            for (size_t k = len; k > 0; k--)
                at[k] = at[k - 1] && path[k - 1] == pattern[i];
            at[0] = false;
        }
    }
    bool any = false;
    for (size_t k = 0; k <= len; k++)
        any = any || at[k];
    return about->anchored ? at[len] : any;
}

/* Looks through all rules, and keeps the best that matches. */
static int simple_verdict(const robots *rules, vidi_str url)
{
    char path[PATH_MOST];
    vidi_str raw = robots_path_of(url);
    size_t slash = raw.len == 0 || raw.ptr[0] != '/';
    path[0] = '/';
    size_t len = slash + robots_comparable(path + slash, raw);
    if (len == 11 && memcmp(path, "/robots.txt", 11) == 0)
        return ROBOTS_ALLOWED;
    unsigned best = 0;
    bool allowed = true;
    for (size_t i = 0; i < rules->count; i++) {
        const robots_pattern *rule = &rules->patterns[i];
        unsigned octets = robots_octets(rule);
        if (octets >= best && simply_matches(robots_text(rules) + rule->at, rule, path, len)) {
            allowed = rule->allows || (octets == best && allowed);
            best = octets;
        }
    }
    return allowed ? ROBOTS_ALLOWED : ROBOTS_DENIED;
}

static int check_sitemap(void *context, vidi_str url)
{
    FUZZ_CHECK(url.len > 0 && url.len < ROBOTS_LINE_LIMIT);
    ++*(uint64_t *)context;
    return 0;
}

static void check_file(vidi_str file, vidi_str agent, vidi_str url, bool lenient)
{
    uint64_t sitemaps = 0;
    robots_counts counts;
    robots_options options = {
        .agent = agent, .lenient = lenient, .sitemap = check_sitemap, .context = &sitemaps, .counts = &counts};
    robots *rules;
    robots_rule why;
    FUZZ_CHECK(robots_parse(&rules, file, &options) == VIDI_OK);
    FUZZ_CHECK(counts.lines <= file.len && counts.known + counts.unknown <= counts.lines && sitemaps <= counts.known);
    FUZZ_CHECK(robots_bytes(rules) <= sizeof *rules + 12 * file.len);
    FUZZ_CHECK(robots_delay(rules) >= -1 && robots_delay(rules) <= 1e9);
    int verdict = robots_check(rules, url, &why);
    FUZZ_CHECK(verdict == ROBOTS_ALLOWED || verdict == ROBOTS_DENIED);
    FUZZ_CHECK(why.allows == (verdict == ROBOTS_ALLOWED) && why.line <= counts.lines);
    if (robots_path_of(url).len < PATH_MOST / 3)
        FUZZ_CHECK(verdict == simple_verdict(rules, url));
    robots_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vidi_str file = {(const char *)data, size};
    vidi_str agent = take_line(&file), url = take_line(&file);
    check_file(file, agent, url, false);
    check_file(file, agent, url, true);
    return 0;
}
