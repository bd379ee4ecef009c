/*
 * vidi crawl: fetches pages and the pages that they link to, each once, politely, and through crashes. The work is done
 * in crawler/; this file has the options.
 */
#include "commands/crawl/crawl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/options/canon_options.h"
#include "ui/options.h"

#define FIELD(name) offsetof(cli_crawl_options, name)

static const cli_option options_table[] = {
    {"state", 's', CLI_TEXT, FIELD(set.state), "DIR", "Keep the crawl in this folder, so it can be continued",
     "Created if it does not exist. It holds the archive, a database of all URLs (crawl.db, for SQLite) and the set "
     "of seen URLs. However the program ends, the same command continues the crawl where it stopped, and so does "
     "'vidi crawl --state DIR' alone: seeds and options are taken from the folder if no seed is named. Without this "
     "option nothing is kept: the crawl lives in a temporary folder below TMPDIR, which is removed at the end.",
     0},
    {"contact", 0, CLI_TEXT, FIELD(contact), "WHO", "Your mail address or web page, sent with every request",
     "Without it, public addresses are refused: the people whose servers you visit must be able to reach you.", 0},
    {"seeds", 0, CLI_TEXTS, FIELD(seed_files), "FILE", "Read seeds from a file, one per line",
     "May be given several times; '-' means standard input. Packed files are unpacked. Blank lines and lines that "
     "begin "
     "with '#' are skipped. A line that cannot be crawled is named and left out; the exit status is then 2.",
     0},
    {"scope", 0, CLI_TEXT, FIELD(scope), "WHAT", "Follow links within: host, site, prefix or any [host]",
     "'host' means the hosts of the seeds, 'site' their registrable domains with all subdomains, and 'prefix' the "
     "URLs that begin like a seed up to its last slash. 'any' follows links to all hosts: see --site-budget.",
     0},
    {"site-budget", 0, CLI_TEXT, FIELD(site_budget), "N..M", "With --scope any: URLs to fetch per site [10..10000]",
     "A site (a registrable domain) gets N URLs, and N more for each other site that links to it, up to M. Its other "
     "URLs wait in the queue. One number is the same budget for all.",
     0},
    {"max-sites", 0, CLI_COUNT, FIELD(max_sites), "N", "With --scope any: visit only the first N sites", NULL,
     INT64_MAX},
    {"max-address-sites", 0, CLI_COUNT, FIELD(max_address_sites), "N",
     "With --scope any: most sites at one address [1000]",
     "An address with more sites is taken for a farm of generated pages: those that come first get the least budget, "
     "and all further ones are left out.",
     INT64_MAX},
    {"order", 0, CLI_TEXT, FIELD(order), "HOW", "Which pages of a host first: breadth, depth, best, sitemap [breadth]",
     "'breadth' takes the oldest links first, 'depth' the newest, 'best' those that most other pages link to, as far "
     "as "
     "has been seen, and 'sitemap' those in sitemaps.",
     0},
    {"include", 0, CLI_TEXTS, FIELD(include), "GLOB", "Follow only links that match; may be repeated",
     "'*' matches any characters and '?' exactly one. A pattern that begins with '/' is compared with path and "
     "query, any other pattern with the whole URL. Seeds need not match.",
     0},
    {"exclude", 0, CLI_TEXTS, FIELD(exclude), "GLOB", "Skip links that match; may be repeated",
     "With --check, that holds for links that leave the scope, too.", 0},
    {"depth", 0, CLI_WHOLE, FIELD(depth), "N", "Follow links N levels deep; 0: seeds only",
     "Pages are then fetched level by level, so the depth of a page is its shortest distance from a seed.", UINT32_MAX},
    {"max-pages", 0, CLI_COUNT, FIELD(max_pages), "N", "Stop after N responses, over all runs", NULL, 0},
    {"max-time", 0, CLI_REAL, FIELD(max_time), "SECONDS", "Stop this run after this many seconds", NULL, 0},
    {"max-bytes", 0, CLI_BYTES, FIELD(max_bytes), "SIZE", "Stop after this many bytes of bodies, over all runs", NULL,
     0},
    {"resources", 0, CLI_FLAG, FIELD(resources), NULL, "Also fetch images, scripts, styles and media",
     "A crawl that archives pages does this anyway, and also takes them from other hosts if a page loads them from "
     "there. Style sheets, <style> elements and style attributes are read for what they load with url() and @import, "
     "and "
     "the header Link for style sheets, icons and preloads. --depth does not count for them.",
     0},
    {"pages-only", 0, CLI_FLAG, FIELD(pages_only), NULL, "Archive pages without what they load", NULL, 0},
    {"check", 0, CLI_FLAG, FIELD(check), NULL, "Find broken links; exit with 1 if there are any",
     "Prints each broken link with every page that contains it. Links out of scope, and in scope those that "
     "say nofollow, are requested once, with HEAD and if that fails with GET, and are not followed. The statuses 401, "
     "403 and 429, and URLs that robots.txt forbids, "
     "count as unknown, not as broken.",
     0},
    {"internal", 0, CLI_FLAG, FIELD(internal), NULL, "With --check: leave out links that leave the scope", NULL, 0},
    {"fragments", 0, CLI_FLAG, FIELD(fragments), NULL, "With --check: find links to parts of pages that do not exist",
     "A link to page.html#part is bad if no element of the page has the id 'part', and no <a> that name. Scripts are "
     "not "
     "run: what only they know about can be left out with --exclude, as in --exclude '*#L*', for then the link "
     "without its fragment is checked.",
     0},
    {"accept", 0, CLI_TEXT, FIELD(accept), "LIST", "With --check: statuses that are fine, like 403,999",
     "Also ranges, like 500-599. 2xx and 3xx are always fine. 'vidi crawl report' judges by the list, too.", 0},
    {"junit", 0, CLI_TEXT, FIELD(junit), "FILE", "With --check: also write the result as JUnit XML, for CI",
     "A test case for each URL that was asked for, and for each bad fragment. Broken links are failures, with the "
     "pages "
     "that link to them; what is unknown counts as skipped. The file is written beside its place and renamed once it "
     "is "
     "complete. 'vidi crawl report' takes this option, too.",
     0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print the final report as one JSON object",
     "It goes to standard output and is the same as from 'vidi crawl report --json'; with --check it includes the "
     "broken links.",
     0},
    {"jsonl", 0, CLI_TEXT, FIELD(jsonl), "FILE|-", "Write a JSON object for each finished URL",
     "A line has url, status, type, bytes, depth, referrer, redirect, digest, links, seconds, error, reason and kind "
     "(page, seed, sitemap, resource or outside); a field without a value is null. The file belongs to the state: "
     "after a "
     "crash, lines that were not committed are cut off. '-' is standard output; the broken links of --check then go to "
     "standard error.",
     0},
    {"output", 'o', CLI_TEXT, FIELD(output), "FILE", "With 'wacz': the file to write, such as site.wacz",
     "It is written beside its place and renamed once it is complete. Only its owner may read it (mode 0600).", 0},
    {"to", 0, CLI_TEXT, FIELD(to), "FOLDER|N", "With 'extract': the folder to write files to",
     "Created if it does not exist. It must be empty, or made by an earlier 'extract' of the same crawl. With "
     "'changes': the last visit to print; by default the newest.",
     0},
    {"from", 0, CLI_COUNT, FIELD(from_visit), "N", "With 'changes': the first visit to print", NULL, 0},
    {"rewrite", 0, CLI_FLAG, FIELD(rewrite), NULL, "With 'extract': make links lead to the files", NULL, 0},
    {"watch", 0, CLI_FLAG, FIELD(watch), NULL, "With 'report': print it again when it changes, until the crawl ends",
     NULL, 0},
    {"revisit", 0, CLI_FLAG, FIELD(revisit), NULL, "Visit a finished crawl again; needs --state",
     "Begins the next visit: the site is crawled again from its seeds, with new salts for the set, so pages that it "
     "lost last time are found. Pages that have not changed are not sent again if the server can tell. A visit that is "
     "not finished is continued first.",
     0},
    {"continuous", 0, CLI_FLAG, FIELD(continuous), NULL, "Visit pages again and again; needs --state",
     "When the first visit is over, each page is fetched again as often as it is worth: its changes tell how often "
     "that "
     "is. SIGINT ends the crawl cleanly, and the same command goes on.",
     0},
    {"budget", 0, CLI_COUNT, FIELD(budget), "N", "With --continuous: pages to fetch in an hour [each page once a day]",
     NULL, 0},
    {"ignore-changes", 0, CLI_TEXT, FIELD(ignore_changes), "text", "A page has changed only if its text has",
     "For pages whose bytes change at every visit, because of a clock, a token or an advertisement: the text that a "
     "reader sees is compared, without scripts and styles, in which spaces do not count. Pages without text are "
     "compared as they are.",
     0},
    {"fleet", 0, CLI_TEXT, FIELD(fleet), "ADDRESS", "Crawl together with other processes; needs --state",
     "The address of a set that 'vidi init' has made, such as redis://server/name. All processes that name it share "
     "one "
     "crawl: each site is fetched by one of them at a time, and each keeps what it fetched in its own folder. They may "
     "come, go and die at any time. Their options must be the same, apart from those that concern one process, such as "
     "--threads and --max-pages. The set decides which URLs are new, so options that choose one have no place here.",
     0},
    {"lease", 0, CLI_REAL, FIELD(lease), "SECONDS", "With --fleet: when others take over from a dead process [30]",
     "A process that cannot reach the server stops fetching a little earlier. The same for all processes, at best.", 0},
    {"wait-replicas", 0, CLI_WHOLE, FIELD(wait_replicas), "N",
     "With --fleet: wait until N replicas have what was written [0]",
     "Without it, what a failing server had not yet passed to its replica is forgotten, and those pages may be fetched "
     "again.",
     1000},
    {"fleet-ca", 0, CLI_TEXT, FIELD(fleet_ca), "FILE", "With rediss://: trust the certificates in this file", NULL, 0},
    {"fleet-cert", 0, CLI_TEXT, FIELD(fleet_cert), "FILE", "With rediss://: this process's certificate",
     "Needs --fleet-key.", 0},
    {"fleet-key", 0, CLI_TEXT, FIELD(fleet_key), "FILE", "With rediss://: the private key of --fleet-cert", NULL, 0},
    {"rebuild-seen", 0, CLI_FLAG, FIELD(rebuild_seen), NULL, "Make the set of seen URLs again from the database",
     "For a crawl that is refused because its set (DIR/seen) is damaged, or is older or newer than the database, as "
     "after restoring a backup. The old set is kept as DIR/seen.old.1. Pages that the database does not know are "
     "fetched again; none is lost.",
     0},
    {"no-store", 0, CLI_FLAG, FIELD(no_store), NULL, "Do not archive pages", NULL, 0},
    {"no-sitemaps", 0, CLI_FLAG, FIELD(no_sitemaps), NULL, "Ignore the sitemaps that robots.txt names", NULL, 0},
    {"agent", 0, CLI_TEXT, FIELD(agent), "NAME", "Name of the crawler, also in robots.txt [vidi]", NULL, 0},
    {"user-agent", 0, CLI_TEXT, FIELD(user_agent), "TEXT", "The whole header User-Agent",
     "By default it is made of --agent, the version and --contact. The text must contain the name and the contact.", 0},
    {"ignore-robots", 0, CLI_FLAG, FIELD(ignore_robots), NULL, "Ignore robots.txt in the networks of --allow-net",
     "For your own servers, such as a site that is not public yet and forbids everything. Addresses on the public "
     "Internet are never included. robots.txt is not even requested there, so the sitemaps it names are not found.",
     0},
    {"delay", 0, CLI_AMOUNT, FIELD(delay), "SECONDS", "Pause between two requests to a host [1 or more]",
     "By default a second, or five times as long as the last response took, but at most 30 seconds. A longer "
     "Crawl-delay in robots.txt is always obeyed; a host that asks for more than a minute is left out.",
     0},
    {"per-host", 0, CLI_COUNT, FIELD(per_host), "N", "Concurrent requests to one host [1]", NULL, 64},
    {"retries", 0, CLI_WHOLE, FIELD(retries), "N", "Retries after temporary failures [3]", NULL, 100},
    {"header", 0, CLI_TEXTS, FIELD(headers), "LINE", "Send a header to the seeds' hosts; may be repeated",
     "For example 'Accept-Language: en'. It is sent to the seeds' origins only, and its value is masked in the "
     "archive and everywhere else. So is a user:password@ in a seed, which is sent as Authorization.",
     0},
    {"ca-file", 0, CLI_TEXT, FIELD(ca_file), "FILE", "Trust the certificates in this file [the system's]", NULL, 0},
    {"cookies", 0, CLI_FLAG, FIELD(cookies), NULL, "Keep cookies, and send them back to where they belong",
     "They are in the state, also from one run to the next, as RFC 6265 says: each for its host, and for others below "
     "its "
     "domain if that is not a public suffix (needs libpsl). Their values are masked in the archive. robots.txt is "
     "requested without cookies.",
     0},
    {"proxy", 0, CLI_TEXT, FIELD(proxy), "URL", "Send all requests through this proxy",
     "Such as http://proxy.example:3128, or with https, socks5h or socks5 before the name; user:password@ is masked "
     "everywhere. The proxy looks up names (except with socks5), so their addresses cannot be checked, and politeness "
     "goes by host alone. The variables http_proxy and the like are ignored.",
     0},
    {"allow-net", 0, CLI_TEXTS, FIELD(allow_net), "NET", "Visit this network although it is not public",
     "A network such as 192.168.0.0/16, an address, or the word private or loopback. May be given several times. "
     "Without it, addresses that are not public are refused, even if a public name resolves to them.",
     0},
    {"resolve", 0, CLI_TEXTS, FIELD(resolve), "HOST=ADDR", "Use this address for a host; may be repeated",
     "Separate several addresses with commas. The host '*' stands for all hosts.", 0},
    {"connections", 0, CLI_COUNT, FIELD(connections), "N", "Concurrent requests to all hosts together [64]", NULL,
     4096},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", "Threads that read pages [processors, at most 4]", NULL, 256},
    {"connect-timeout", 0, CLI_REAL, FIELD(connect_timeout), "SECONDS", "Longest time to connect [10]", NULL, 0},
    {"silence-timeout", 0, CLI_REAL, FIELD(silence_timeout), "SECONDS", "Longest time without a byte [30]", NULL, 0},
    {"total-timeout", 0, CLI_REAL, FIELD(total_timeout), "SECONDS", "Longest time for a whole response [300]", NULL, 0},
    {"max-host-pages", 0, CLI_COUNT, FIELD(max_host_pages), "N", "Most pages to fetch from one host [1e6]", NULL, 0},
    {"max-queries", 0, CLI_COUNT, FIELD(max_queries), "N", "Most different queries for one path [10000]", NULL, 0},
    {"max-url", 0, CLI_COUNT, FIELD(max_url), "N", "Longest URL to follow, in bytes [2048]", NULL, 1 << 20},
    {"max-repeat", 0, CLI_COUNT, FIELD(max_repeat), "N", "Times a segment may occur in one path [3]", NULL, 1 << 20},
    {"max-redirects", 0, CLI_COUNT, FIELD(max_redirects), "N", "Redirects to follow in a row [20]", NULL, 1 << 20},
    {"max-body", 0, CLI_BYTES, FIELD(max_body), "SIZE", "Largest response body, as sent [16MiB]", NULL, 0},
    {"max-unpacked", 0, CLI_BYTES, FIELD(max_unpacked), "SIZE", "Largest response body, unpacked [64MiB]", NULL, 0},
    {"kind", 0, CLI_TEXT, FIELD(set.kind), "NAME", "Kind of set that remembers the URLs",
     "'vidi kinds' lists them. A state keeps the kind that it was created with.", 0},
    {"param", 0, CLI_PAIRS, FIELD(set.params), "NAME=VALUE", "Parameter of the kind; may be given several times", NULL,
     0},
    {"capacity", 0, CLI_COUNT, FIELD(set.capacity), "N", "Number of different URLs to expect",
     "Kinds that cannot grow need it.", 0},
    {"lost", 0, CLI_AMOUNT, FIELD(set.lost), "L", "Number of pages that may be lost; 0: none",
     "With --capacity or --memory, uses the best plan that expects to lose no more (see 'vidi plan').", 0},
    {"error", 0, CLI_PROBABILITY, FIELD(set.error), "E", "Probability that a new URL is taken for seen [1e-6]", NULL,
     0},
    {"memory", 0, CLI_BYTES, FIELD(set.memory), "SIZE", "Memory for the set, like 500M, 2GiB or 2GB", NULL, 0},
    {"canon", 0, CLI_TEXT, FIELD(set.canon), "P", CLI_CANON_SUMMARY,
     CLI_CANON_DETAILS " URLs are fetched as they were found; of several with the same form, only the first is.", 0},
    {"tracking", 0, CLI_TEXT, FIELD(set.tracking), "FILE", CLI_TRACKING_SUMMARY, CLI_TRACKING_DETAILS, 0},
    {"progress", 0, CLI_FLAG, FIELD(progress), NULL, "Show a progress line on standard error",
     "This is the default if standard error is a terminal. SIGUSR1 prints it once.", 0},
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "Print only errors: no progress, warnings or summary", NULL, 0},
    {"color", 0, CLI_TEXT, FIELD(color), "WHEN", "Colours on standard error: auto, always, never [auto]", NULL, 0},
    CLI_OPTIONS_END,
};

static const cli_crawl_options defaults = {
    .set = {.lost = -1, .fixed = true}, .depth = CLI_CRAWL_ANY_DEPTH, .delay = -1, .retries = 3};

/* Options that belong to an action, and to nothing else. */
static const struct {
    const char *action, *option;
} action_options[] = {{"report", "json"},  {"report", "junit"}, {"report", "watch"},
                      {"wacz", "output"},  {"extract", "to"},   {"extract", "rewrite"},
                      {"changes", "from"}, {"changes", "to"},   {"status", "json"}};

static const char *const actions[] = {"report", "changes", "cdxj", "check", "wacz", "extract", NULL};
static const char *const fleet_actions[] = {"status", "pause", "resume", "stop", NULL}; /* take an address */

static bool is_among(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool action_takes(const char *action, const char *option)
{
    if (is_among(action, fleet_actions) && strncmp(option, "fleet-", 6) == 0)
        return true;
    for (size_t i = 0; i < sizeof action_options / sizeof action_options[0]; i++)
        if (strcmp(action_options[i].action, action) == 0 && strcmp(action_options[i].option, option) == 0)
            return true;
    return false;
}

/* Actions take no options of a crawl: one that they would ignore is an error. */
static int check_looking(const cli_crawl_options *options, const char *action)
{
    for (const cli_option *option = options_table; strcmp(option->name, "help") != 0; option++)
        if (!action_takes(action, option->name) && cli_option_is_given(option, options, &defaults))
            return cli_error("--%s is not an option of 'vidi crawl %s'", option->name, action);
    return CLI_OK;
}

/* And a crawl takes none of those that only an action has. */
static int check_crawling(const cli_crawl_options *options)
{
    const struct {
        bool given;
        const char *name, *actions;
    } list[] = {{options->watch, "watch", "'vidi crawl report'"},
                {options->output, "output", "'vidi crawl wacz'"},
                {options->to, "to", "'vidi crawl extract' and 'vidi crawl changes'"},
                {options->rewrite, "rewrite", "'vidi crawl extract'"},
                {options->from_visit, "from", "'vidi crawl changes'"}};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].given)
            return cli_error("--%s is an option of %s only", list[i].name, list[i].actions);
    return CLI_OK;
}

static int look(const cli_crawl_options *options, cli_words words)
{
    const char *action = words.list[0];

    if (check_looking(options, action) != CLI_OK)
        return CLI_ERROR;
    bool joins = strcmp(action, "report") == 0 || strcmp(action, "cdxj") == 0;
    if (words.count != 2 && is_among(action, fleet_actions))
        return cli_error("'vidi crawl %s' needs the address of one fleet, the ADDRESS of --fleet", action);
    if (words.count < 2 || (words.count > 2 && !joins))
        return cli_error("'vidi crawl %s' needs the folder of one crawl, the DIR of --state", action);
    cli_words folders = {words.list + 1, words.count - 1};
    if (strcmp(action, "status") == 0)
        return cli_crawl_fleet_status(words.list[1], options);
    if (is_among(action, fleet_actions))
        return cli_crawl_fleet_change(words.list[1], options, action);
    if (strcmp(action, "check") == 0)
        return cli_crawl_check(words.list[1]);
    if (strcmp(action, "wacz") == 0)
        return cli_crawl_wacz(words.list[1], options->output);
    if (strcmp(action, "extract") == 0)
        return cli_crawl_extract(words.list[1], options->to, options->rewrite);
    if (strcmp(action, "changes") == 0)
        return cli_crawl_changes(words.list[1], options->from_visit, options->to);
    if (strcmp(action, "cdxj") == 0)
        return cli_crawl_cdxj(folders);
    if (folders.count > 1 && (options->watch || options->junit))
        return cli_error("--%s is for the report of one folder", options->watch ? "watch" : "junit");
    if (folders.count > 1)
        return cli_crawl_report_joined(folders, options->json);
    if (options->watch && options->junit)
        return cli_error("--watch and --junit exclude each other");
    return options->watch ? cli_crawl_report_watch(words.list[1], options->json)
                          : cli_crawl_report(words.list[1], options->json, options->junit);
}

static int crawl_anew_or_go_on(cli_crawl_options *options, cli_words words)
{
    cli_crawl_request request = {0};

    if (check_crawling(options) != CLI_OK || cli_color_set(options->color) != CLI_OK)
        return CLI_ERROR;
    if (options->quiet)
        cli_warnings_off();
    int status = cli_crawl_request_make(&request, options, words);
    if (status == CLI_OK)
        status = cli_crawl_run(&request, options);
    cli_crawl_request_free(&request);
    return status;
}

static bool is_action(const char *word)
{
    return is_among(word, actions) || is_among(word, fleet_actions);
}

static const char *action_name(const void *context, size_t index)
{
    const size_t count = sizeof actions / sizeof *actions - 1;

    (void)context;
    return index < count ? actions[index] : fleet_actions[index - count];
}

/* The action that was meant by a word that is neither an action nor like a URL; NULL: none. */
static const char *meant_action(cli_words words)
{
    if (words.count != 2 || strpbrk(words.list[0], ":/.") || access(words.list[0], F_OK) == 0)
        return NULL;
    return cli_nearest(words.list[0], action_name, NULL);
}

static int run(void *values, cli_words words)
{
    const char *meant;

    if (words.count > 0 && is_action(words.list[0]))
        return look(values, words);
    if ((meant = meant_action(words)) != NULL)
        return cli_error("'%s' is neither a URL nor an action of 'vidi crawl'; did you mean 'vidi crawl %s %s'?",
                         words.list[0], meant, words.list[1]);
    return crawl_anew_or_go_on(values, words);
}

const cli_command cli_crawl = {
    .name = "crawl",
    .summary = "Crawl sites: archive them, check their links",
    .usage = "vidi crawl [OPTION]... [SEED]... | ACTION DIR... | ACTION ADDRESS",
    .about = "Fetches the seeds and the pages they link to, each once, and archives them.",
    .details =
        "With an ACTION, looks at the crawl in the folder DIR: report [--json] [--junit FILE] [--watch], changes "
        "[--from N] [--to N], cdxj, check, wacz -o FILE, or extract --to FOLDER [--rewrite]. 'report' and 'cdxj' also "
        "take "
        "all folders of a fleet. With the ADDRESS of a fleet, an ACTION is status [--json], pause, resume or stop.\n"
        "A crawl stays on the hosts of the seeds, obeys robots.txt, requests one page at a time from a host with a "
        "pause in between, and waits when a server asks it to. Pages are stored as they came, as WARC files in "
        "DIR/archive.\n"
        "'vidi crawl report' tells what became of a crawl, even while it runs: what was fetched, what was not and "
        "why, and the broken links if it was made with --check. 'vidi crawl cdxj' prints the index of its archive, "
        "for players such as pywb. 'vidi crawl check' verifies every byte that a crawl has kept.\n"
        "With --revisit, a finished crawl is visited again: new pages are found, and pages that its set had lost. "
        "'vidi "
        "crawl report' then tells for each visit what was new, changed, gone, moved or recovered, and 'vidi crawl "
        "changes' prints the changes as lines of JSON.\n"
        "'vidi crawl wacz' packs archive, index and a list of the pages into one file, for players such as "
        "ReplayWeb.page. 'vidi crawl extract' writes each stored page to a file of its own, the newest version "
        "unpacked; with --rewrite, links between stored pages lead to these files and all others to the web, so that "
        "a browser shows the site without a server. Both may be used while the crawl runs.\n"
        "With --fleet, many processes on any number of machines share one crawl through a set on a Redis or Valkey "
        "server "
        "or cluster. docs/FLEET.md tells how to set one up. 'vidi crawl status' shows its members and their queues; "
        "pause, "
        "resume and stop tell all of them what to do.\n"
        "SIGINT and SIGTERM end a crawl cleanly, and a crash or a power cut loses nothing. Either way the same "
        "command continues it: no page is skipped, and no page that was stored is fetched again.\n"
        "The exit status is 0 if nothing is left to fetch; 1 if --check found a broken link; 2 after an error, or if "
        "no seed could be fetched; 3 if the crawl ended at a limit and URLs are left. 'vidi crawl check' exits with 0 "
        "if all is well, and with 1 if something is damaged or missing.",
    .examples = "  vidi crawl --contact me@example.org --state site https://example.org/\n"
                "  vidi crawl report site\n"
                "  vidi crawl --revisit --contact me@example.org -s site https://example.org/\n"
                "  vidi crawl changes site\n"
                "  vidi crawl cdxj site > index.cdxj\n"
                "  vidi crawl check site\n"
                "  vidi crawl wacz site -o site.wacz\n"
                "  vidi crawl extract site --to mirror --rewrite\n"
                "  vidi crawl --fleet redis://server/web -s part1 https://example.org/\n"
                "  vidi crawl status redis://server/web\n"
                "  vidi crawl report part1 part2 part3\n"
                "  vidi crawl --check --contact me@example.org https://example.org/\n"
                "  vidi crawl --check --allow-net loopback http://localhost:8000/\n"
                "  vidi crawl --contact me@example.org --depth 2 --jsonl - https://example.org/\n"
                "  vidi sitemap map.xml | vidi crawl --contact me@example.org --depth 0 -s DIR -\n",
    .options = options_table,
    .size = sizeof defaults,
    .defaults = &defaults,
    .given = FIELD(given),
    .common = "state contact scope include exclude depth max-pages max-time resources check json jsonl no-store delay "
              "allow-net progress quiet help",
    .operand = "SEED",
    .run = run,
};
