/*
 * Reads robots.txt: see robots.h.
 *
 * A file is a series of groups. A group is one or more user-agent lines followed by rules:
 *
 *     User-agent: vidi          names an agent
 *     User-agent: otherbot      another one of the same group
 *     Disallow: /private/       a rule; the next user-agent line begins a new group
 *     Crawl-delay: 5
 *
 * The rules of all groups that name our agent count together; only if there is no such group, those of all groups of
 * "*" do. Both are collected until it is known which. Other lines, even Sitemap and Crawl-delay, do not end a list of
 * user-agent lines (RFC 9309, section 2.2.4). A Crawl-delay is not part of the RFC: it counts for the agents named
 * above it in its group.
 */
#include "crawler/robots/robots_rules.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/ascii.h"

/* Keeps every offset of a pattern's bytes within 32 bits: a comparable pattern has at most 3 times as many bytes. */
#define LIMIT_MOST ((size_t)1 << 28)

#define DELAY_MOST 1e9

_Static_assert(3 * ROBOTS_LINE_LIMIT <= UINT16_MAX, "the length of a pattern has 16 bits");

/* The rules collected for our agent or for "*". */
typedef struct collection {
    robots_pattern *patterns;
    size_t count, room;
    char *text;
    size_t text_used, text_room;
    double delay;
} collection;

typedef struct parser {
    const robots_options *options;
    robots_counts counts;
    collection groups[ROBOTS_AGENT + 1]; /* by robots_group; the first stays empty */
    robots_group group;                  /* what the current group's agents, as far as read, make it */
    robots_group best;                   /* of all groups */
    bool rules_begun;                    /* so the next user-agent line begins a new group */
} parser;

/* ---- text ---- */

static vidi_str trim(vidi_str text)
{
    while (text.len > 0 && ascii_is_white(text.ptr[0]))
        text = (vidi_str){text.ptr + 1, text.len - 1};
    while (text.len > 0 && ascii_is_white(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static vidi_str before(vidi_str text, size_t at)
{
    return (vidi_str){text.ptr, at};
}

static vidi_str from(vidi_str text, size_t at)
{
    return (vidi_str){text.ptr + at, text.len - at};
}

static bool begins_with(vidi_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && strncasecmp(text.ptr, word, len) == 0;
}

/* ---- collecting rules ---- */

/* Makes room for `more` further elements. False if there is no memory. */
static bool reserve(void **array, size_t *room, size_t used, size_t more, size_t size)
{
    if (*room - used >= more)
        return true;
    size_t want = 2 * *room > used + more ? 2 * *room : used + more;
    void *grown = realloc(*array, want * size);
    if (!grown)
        return false;
    *array = grown;
    *room = want;
    return true;
}

static bool reserve_rule(collection *to, size_t text)
{
    void *patterns = to->patterns, *bytes = to->text;
    bool good = reserve(&patterns, &to->room, to->count, 1, sizeof *to->patterns);

    to->patterns = patterns;
    good = good && reserve(&bytes, &to->text_room, to->text_used, text, 1);
    to->text = bytes;
    return good;
}

/* A path without anything to compare has no effect: "Disallow:" forbids nothing. */
static int add_rule(parser *p, vidi_str path, bool allows)
{
    collection *to = &p->groups[p->group];
    bool anchored = path.len > 0 && path.ptr[path.len - 1] == '$';

    if (path.len == 0 || p->group == ROBOTS_NO_GROUP || p->group < p->best)
        return VIDI_OK;
    path.len -= anchored;
    if (!reserve_rule(to, 3 * path.len + 1)) /* never 0: the text must not stay NULL */
        return VIDI_EMEMORY;
    size_t length = robots_comparable_pattern(to->text + to->text_used, path);
    to->patterns[to->count++] = (robots_pattern){.at = (uint32_t)to->text_used,
                                                 .line = (uint32_t)p->counts.lines,
                                                 .length = (uint16_t)length,
                                                 .allows = allows,
                                                 .anchored = anchored};
    to->text_used += length;
    return VIDI_OK;
}

static void free_collection(collection *rules)
{
    free(rules->patterns);
    free(rules->text);
    *rules = (collection){.delay = -1};
}

/* ---- lines ---- */

static bool has_digit(vidi_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (ascii_is_digit(text.ptr[i]))
            return true;
    return false;
}

/*
 * The product token that a user-agent line begins with. RFC 9309 knows no digits in it, so that "vidi2" names vidi; for
 * a crawler that has some in its name, such as MJ12bot, they belong to the token.
 */
static vidi_str token_of(vidi_str value, bool digits)
{
    size_t len = 0;

    while (len < value.len &&
           (((value.ptr[len] | 0x20) >= 'a' && (value.ptr[len] | 0x20) <= 'z') || value.ptr[len] == '-' ||
            value.ptr[len] == '_' || (digits && ascii_is_digit(value.ptr[len]))))
        len++;
    return before(value, len);
}

static robots_group group_for(const parser *p, vidi_str value)
{
    vidi_str agent = p->options->agent, token = token_of(value, has_digit(agent));

    if (value.len > 0 && value.ptr[0] == '*' && (value.len == 1 || ascii_is_white(value.ptr[1])))
        return ROBOTS_ANYBODY;
    if (token.len > 0 && token.len == agent.len && strncasecmp(token.ptr, agent.ptr, agent.len) == 0)
        return ROBOTS_AGENT;
    return ROBOTS_NO_GROUP;
}

static int take_agent(parser *p, vidi_str value)
{
    robots_group named = group_for(p, value);

    if (p->rules_begun)
        p->group = ROBOTS_NO_GROUP;
    p->rules_begun = false;
    if (named > p->group)
        p->group = named;
    if (named > p->best)
        p->best = named;
    if (p->best == ROBOTS_AGENT)
        free_collection(&p->groups[ROBOTS_ANYBODY]); /* it no longer counts */
    return VIDI_OK;
}

static int take_disallow(parser *p, vidi_str value)
{
    p->rules_begun = true;
    return add_rule(p, value, false);
}

/* Google's parser lets "Allow: /x/index.html" also allow "/x/". */
static int add_index(parser *p, vidi_str value)
{
    const char *slash = memrchr(value.ptr, '/', value.len);
    size_t folder = slash ? (size_t)(slash - value.ptr) + 1 : 0;
    char path[ROBOTS_LINE_LIMIT + 1];

    if (!slash || value.len - folder < 9 || memcmp(slash + 1, "index.htm", 9) != 0)
        return VIDI_OK;
    memcpy(path, value.ptr, folder);
    path[folder] = '$';
    return add_rule(p, (vidi_str){path, folder + 1}, true);
}

static int take_allow(parser *p, vidi_str value)
{
    p->rules_begun = true;
    int error = add_rule(p, value, true);
    return error || !p->options->lenient || value.len == 0 ? error : add_index(p, value);
}

/* A number of seconds such as "10" or "0.5"; anything after it is ignored. Negative if there is no number. */
static double read_seconds(vidi_str value)
{
    double seconds = -1, unit = 1;
    bool fraction = false;

    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '.' && !fraction && seconds >= 0) {
            fraction = true;
        } else if (c >= '0' && c <= '9') {
            seconds = seconds < 0 ? 0 : seconds;
            unit = fraction ? unit / 10 : unit;
            seconds = fraction ? seconds + unit * (c - '0') : seconds * 10 + (c - '0');
        } else {
            break;
        }
        seconds = seconds < DELAY_MOST ? seconds : DELAY_MOST;
    }
    return seconds;
}

static int take_delay(parser *p, vidi_str value)
{
    double seconds = read_seconds(value);

    if (p->group != ROBOTS_NO_GROUP && p->group >= p->best && seconds > p->groups[p->group].delay)
        p->groups[p->group].delay = seconds;
    return VIDI_OK;
}

static int take_sitemap(parser *p, vidi_str value)
{
    return p->options->sitemap && value.len > 0 ? p->options->sitemap(p->options->context, value) : VIDI_OK;
}

/* ---- names of lines ---- */

typedef struct field {
    const char *name;
    int (*take)(parser *p, vidi_str value);
    bool misspelled; /* understood only if lenient */
} field;

static const field fields[] = {
    {"user-agent", take_agent, false},  {"disallow", take_disallow, false}, {"allow", take_allow, false},
    {"crawl-delay", take_delay, false}, {"sitemap", take_sitemap, false},   {"useragent", take_agent, true},
    {"user agent", take_agent, true},   {"dissallow", take_disallow, true}, {"dissalow", take_disallow, true},
    {"disalow", take_disallow, true},   {"diasllow", take_disallow, true},  {"disallaw", take_disallow, true},
    {"crawldelay", take_delay, true},   {"crawl delay", take_delay, true},  {"site-map", take_sitemap, true},
};

/* If lenient, more may follow the name: "Disallow-all". */
static const field *find_field(vidi_str name, bool lenient)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if ((lenient || !fields[i].misspelled) && begins_with(name, fields[i].name) &&
            (lenient || name.len == strlen(fields[i].name)))
            return &fields[i];
    return NULL;
}

static size_t find_blank(vidi_str text)
{
    size_t at = 0;

    while (at < text.len && text.ptr[at] != ' ' && text.ptr[at] != '\t')
        at++;
    return at;
}

/* "disallow /": the colon may be missing between two words, but not between more. */
static bool split_at_blank(vidi_str line, vidi_str *name, vidi_str *value)
{
    size_t at = find_blank(line);

    *name = before(line, at);
    *value = trim(from(line, at));
    return value->len > 0 && find_blank(*value) == value->len;
}

/* Splits "name: value". False if the line is something else. */
static bool split(vidi_str line, bool lenient, vidi_str *name, vidi_str *value)
{
    const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;

    if (!colon)
        return lenient && split_at_blank(line, name, value);
    size_t at = (size_t)(colon - line.ptr);
    *name = trim(before(line, at));
    *value = trim(from(line, at + 1));
    return name->len > 0;
}

static int take_line(parser *p, vidi_str line)
{
    vidi_str name, value;

    p->counts.lines++;
    line.len = line.len < ROBOTS_LINE_LIMIT ? line.len : ROBOTS_LINE_LIMIT;
    const char *comment = line.len ? memchr(line.ptr, '#', line.len) : NULL;
    line = trim(comment ? before(line, (size_t)(comment - line.ptr)) : line);
    if (!split(line, p->options->lenient, &name, &value))
        return VIDI_OK;
    const field *found = find_field(name, p->options->lenient);
    p->counts.known += found != NULL;
    p->counts.unknown += found == NULL;
    return found ? found->take(p, value) : VIDI_OK;
}

/* ---- the file ---- */

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

/* Skips the byte order mark of UTF-8, or as much of it as is there. */
static vidi_str skip_mark(vidi_str file)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t n = 0;

    while (n < sizeof mark - 1 && n < file.len && file.ptr[n] == mark[n])
        n++;
    return from(file, n);
}

/*
 * Cuts the file at the limit, and a line that is cut through is left out: half a line could say the opposite of the
 * whole, as "Allow: /" and "Allow: /public/".
 */
static vidi_str cut(vidi_str file, size_t limit, bool *was_cut)
{
    size_t end = limit;

    *was_cut = file.len > limit;
    if (!*was_cut)
        return file;
    if (!ends_line(file.ptr[limit]))
        while (end > 0 && !ends_line(file.ptr[end - 1]))
            end--;
    return before(file, end);
}

static int take_lines(parser *p, vidi_str file)
{
    int error = VIDI_OK;

    for (size_t at = 0, end; at < file.len && !error; at = end + 1) {
        for (end = at; end < file.len && !ends_line(file.ptr[end]); end++)
            ;
        error = take_line(p, (vidi_str){file.ptr + at, end - at});
        if (end + 1 < file.len && file.ptr[end] == '\r' && file.ptr[end + 1] == '\n')
            end++;
    }
    return error;
}

/* Puts the rule first that decides. */
static int compare(const void *left, const void *right)
{
    const robots_pattern *a = left, *b = right;

    if (robots_octets(a) != robots_octets(b))
        return robots_octets(a) > robots_octets(b) ? -1 : 1;
    if (a->allows != b->allows)
        return a->allows ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int compact(robots **rules, const parser *p)
{
    const collection *all = &p->groups[p->best];
    size_t patterns = all->count * sizeof *all->patterns, bytes = sizeof **rules + patterns + all->text_used;
    robots *made = malloc(bytes);

    if (!made)
        return VIDI_EMEMORY;
    *made = (robots){.delay = all->delay, .bytes = bytes, .count = (uint32_t)all->count, .group = (uint8_t)p->best};
    if (all->count > 0) {
        memcpy(made->patterns, all->patterns, patterns);
        memcpy((char *)(made->patterns + all->count), all->text, all->text_used);
        qsort(made->patterns, all->count, sizeof *made->patterns, compare);
    }
    *rules = made;
    return VIDI_OK;
}

int robots_parse(robots **rules, vidi_str file, const robots_options *options)
{
    parser p = {.options = options, .groups = {{.delay = -1}, {.delay = -1}, {.delay = -1}}};
    size_t limit = options->limit ? options->limit : ROBOTS_LIMIT;

    *rules = NULL;
    file = cut(skip_mark(file), limit < LIMIT_MOST ? limit : LIMIT_MOST, &p.counts.cut);
    int error = take_lines(&p, file);
    if (!error)
        error = compact(rules, &p);
    if (options->counts)
        *options->counts = p.counts;
    for (size_t i = 0; i < sizeof p.groups / sizeof p.groups[0]; i++)
        free_collection(&p.groups[i]);
    return error;
}

void robots_free(robots *rules)
{
    free(rules);
}

double robots_delay(const robots *rules)
{
    return rules->delay;
}

robots_group robots_group_of(const robots *rules)
{
    return (robots_group)rules->group;
}

size_t robots_rule_count(const robots *rules)
{
    return rules->count;
}

size_t robots_bytes(const robots *rules)
{
    return rules->bytes;
}
