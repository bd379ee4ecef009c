/*
 * A crawler without a network, for tests of fleet/links: it does with fleet.h what the crawler does, on pages that exist
 * in a formula alone. Page n is http://sN.test/pn, N = n mod the number of sites; its links follow from the seed.
 * tests/fleet/support/story.py has the same formula, starts and kills these processes, and reads their logs.
 *
 *     fake_crawler ADDRESS FOLDER DATA LOG name=value...
 *     fake_crawler look|running|paused|stopping ADDRESS
 *
 * DATA is its database: lines that are appended, a transaction at a time, the last line of which is a "c". After a crash
 * what comes after the last "c" is cut off. LOG gets a line when a fetch begins and when it ends; the time is that of
 * the machine, and the same for all processes. What the line says is true before it is written: so a process that is
 * stopped in between is not accused of what it has not done. Lines that begin with small letters are for people.
 *
 * Faults, one of which FAKE_FAULT plants: "early": pages are committed before their links are handed over, and sometimes
 * the process dies in between; "takeover": a site is fetched from as soon as the table says that it is owned; "drop": entries vanish from the own stream.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include "common/bytes.h"
#include "common/clock.h"
#include "fleet/links/fleet.h"
#include "fleet/redis/redis.h"

enum { MOST_LINKS = 12, MOST_SITES = 200, BLOCK = 4, BATCH = 12, RUNNING = 6, BATCH_MS = 15, URL = 64, PAYLOAD = 32 };

typedef enum row_state { QUEUED, IN_HAND, FETCHING, FETCHED, DONE, ELSEWHERE } row_state;

typedef struct row {
    uint64_t page, depth;
    row_state state;
    int64_t ends; /* while it is being fetched */
} row;

static struct {
    uint64_t pages, sites, seed, fetch_ms, seeds;
    long long die; /* of a million times that it passes a dangerous place, how often it dies there */
    const char *fault, *data, *log;
    bool returns, is_tree;
} options = {.pages = 1000, .sites = 20, .seed = 1, .fetch_ms = 3, .seeds = 1, .fault = ""};

static fleet *crawl_fleet;
static row *rows;
static size_t row_count, row_room;
static size_t *queues[MOST_SITES]; /* rows of a site; those that are finished are left in it */
static size_t queue_count[MOST_SITES], queue_room[MOST_SITES], queue_first[MOST_SITES];
static bool site_busy[MOST_SITES];
static uint64_t site_keys[MOST_SITES];
static size_t running[RUNNING], running_count, batch[BATCH + RUNNING], batch_count, open_rows;
static int64_t batch_began;
static bytes transaction;
static int data_file, log_file;
static uint64_t adopted, dice;
static volatile sig_atomic_t ended;
static pthread_mutex_t wake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake_condition;
static bool woken;

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "fake_crawler %d: %s: %s\n", (int)getpid(), what, why);
    exit(1);
}

static void must(int error, const char *what)
{
    if (error)
        give_up(what, crawl_fleet ? fleet_why(crawl_fleet) : vidi_strerror(error));
}

/* ---- the web ---- */

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* In a tree only one page links to each. */
static size_t links_of_tree(uint64_t page, uint64_t links[MOST_LINKS])
{
    size_t n = 0;

    for (uint64_t i = 1; i <= 2; i++)
        if (2 * page + i < options.pages)
            links[n++] = 2 * page + i;
    return n;
}

/* Half of the links stay on their site. */
static size_t links_of(uint64_t page, uint64_t links[MOST_LINKS])
{
    uint64_t base = mix(options.seed * 1000003 + page);
    size_t n = base % MOST_LINKS;

    if (options.is_tree)
        return links_of_tree(page, links);
    for (size_t i = 0; i < n; i++) {
        uint64_t to = mix(base + i + 1) % options.pages;
        if (i % 2)
            to = to - to % options.sites + page % options.sites;
        links[i] = to < options.pages ? to : page % options.sites;
    }
    return n;
}

static vidi_str url_of(uint64_t page, char text[URL])
{
    int length = snprintf(text, URL, "http://s%" PRIu64 ".test/p%" PRIu64, page % options.sites, page);

    return (vidi_str){text, (size_t)length};
}

static vidi_str payload_of(uint64_t page, uint64_t depth, char text[PAYLOAD])
{
    int length = snprintf(text, PAYLOAD, "%" PRIu64 " %" PRIu64, page, depth);

    return (vidi_str){text, (size_t)length};
}

static uint64_t roll(void)
{
    dice = mix(dice);
    return dice;
}

/* A place where a crash could lose something. */
static void may_die(void)
{
    if (options.die > 0 && roll() % 1000000 < (uint64_t)options.die)
        kill(getpid(), SIGKILL);
}

/* ---- the log ---- */

static void write_whole(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(file, text, length);
        if (n < 0)
            give_up("cannot write", "");
        text += n;
        length -= (size_t)n;
    }
}

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *format, ...)
{
    char line[256];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    write_whole(log_file, line, (size_t)length); /* one call: lines of processes do not mix */
}

/* ---- the database ---- */

static void note_site(uint64_t page, size_t index)
{
    uint64_t site = page % options.sites;

    if (queue_count[site] == queue_room[site]) {
        queue_room[site] = queue_room[site] ? 2 * queue_room[site] : 64;
        size_t *more = realloc(queues[site], queue_room[site] * sizeof *more);
        if (!more)
            give_up("no memory", "");
        queues[site] = more;
    }
    queues[site][queue_count[site]++] = index;
}

static void add_row(uint64_t page, uint64_t depth)
{
    if (row_count == row_room) {
        row_room = row_room ? 2 * row_room : 1024;
        row *more = realloc(rows, row_room * sizeof *more);
        if (!more)
            give_up("no memory", "");
        rows = more;
    }
    rows[row_count] = (row){.page = page, .depth = depth};
    note_site(page, row_count++);
    open_rows++;
}

/* For whoever looks for the reason of a fault: what happened to a page besides. */
static void note(char what, uint64_t page)
{
    tell("%c %d %" PRIu64 " %" PRId64 "\n", what, (int)getpid(), page, fleet_now());
}

static void new_row(uint64_t page, uint64_t depth)
{
    note('r', page);
    bytes_append_format(&transaction, "r %" PRIu64 " %" PRIu64 "\n", page, depth);
    add_row(page, depth);
}

static void set_outcome(size_t index, row_state state)
{
    if (rows[index].state < DONE)
        open_rows--;
    rows[index].state = state;
}

static void outcome(size_t index, row_state state)
{
    bytes_append_format(&transaction, "o %zu %c\n", index, state == DONE ? 'd' : 'e');
    set_outcome(index, state);
}

static void commit_transaction(void)
{
    if (transaction.len == 0)
        return;
    bytes_append_text(&transaction, "c\n");
    write_whole(data_file, transaction.ptr, transaction.len);
    transaction.len = 0;
}

static void read_line(const char *line)
{
    char *end;
    uint64_t number = strtoull(line + 1, &end, 10);

    if (*line == 'r')
        add_row(number, strtoull(end, NULL, 10));
    else if (*line == 'o')
        set_outcome(number, end[1] == 'd' ? DONE : ELSEWHERE);
}

/* Reads what was committed, and cuts off the rest. */
static void open_data(void)
{
    bytes all = {0};
    char piece[65536];
    ssize_t n;
    size_t good = 0;

    data_file = open(options.data, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    while ((n = read(data_file, piece, sizeof piece)) > 0)
        bytes_append(&all, piece, (size_t)n);
    bytes_append(&all, "", 1);
    for (const char *at = all.ptr; at && (at = strstr(at, "c\n")); at += 2)
        if (at == all.ptr || at[-1] == '\n')
            good = (size_t)(at + 2 - all.ptr);
    if (ftruncate(data_file, (off_t)good) != 0)
        give_up("cannot cut", options.data);
    for (char *at = all.ptr, *end = all.ptr + good; at < end; at = strchr(at, '\n') + 1)
        read_line(at);
    bytes_free(&all);
}

/* ---- links ---- */

static int visit(void *context, vidi_str url, vidi_str payload)
{
    char text[URL], copy[PAYLOAD] = "", *end;

    (void)context;
    if (payload.len < sizeof copy)
        memcpy(copy, payload.ptr, payload.len);
    uint64_t page = strtoull(copy, &end, 10), depth = strtoull(end, NULL, 10);
    if (*end != ' ') {
        tell("X %d a link has the payload \"%s\"\n", (int)getpid(), copy);
        return VIDI_EDAMAGED;
    }
    vidi_str wanted = url_of(page, text);
    if (wanted.len != url.len || memcmp(wanted.ptr, url.ptr, url.len) != 0)
        tell("X %d link %.*s has the payload of %s\n", (int)getpid(), (int)url.len, url.ptr, text);
    new_row(page, depth);
    return VIDI_OK;
}

/* The fault: the first entry of the own stream is gone. */
static void drop_entry(void)
{
    static redis_client *client;
    static char *name;
    char why[REDIS_WHY], key[256], life[FLEET_NAME];
    redis_options how = {.patience_ms = 1000};

    if (!client && redis_open(&client, getenv("FAKE_ADDRESS"), &how, &name, why) != VIDI_OK)
        give_up("cannot connect", why);
    fleet_name(crawl_fleet, life);
    snprintf(key, sizeof key, "{%s}:links:%s", name, life);
    vidi_str words[] = {{"XTRIM", 5}, {key, strlen(key)}, {"MAXLEN", 6}, {"=", 1}, {"0", 1}};
    redis_call call = {.words = words, .count = 5, .slot = redis_slot(words[1])};
    (void)redis_run(client, &call, 1);
}

static void take(void)
{
    if (!fleet_has_links(crawl_fleet))
        return;
    if (strcmp(options.fault, "drop") == 0 && roll() % 2 == 0)
        drop_entry();
    must(fleet_take_links(crawl_fleet, 100, visit, NULL, NULL), "take_links");
    may_die();
    commit_transaction();
    may_die();
    must(fleet_took(crawl_fleet), "took");
}

static void send_links(fleet_link *links, const uint64_t *pages, const uint64_t *depths, size_t n)
{
    int error;

    while ((error = fleet_send_links(crawl_fleet, links, n)) == VIDI_EBUSY)
        take();
    must(error, "send_links");
    for (size_t i = 0; i < n; i++)
        if (links[i].claimed)
            new_row(pages[i], depths[i]);
}

/* ---- pages ---- */

typedef struct page_texts {
    char urls[(BATCH + RUNNING) * MOST_LINKS][URL], payloads[(BATCH + RUNNING) * MOST_LINKS][PAYLOAD];
    fleet_link links[(BATCH + RUNNING) * MOST_LINKS];
    uint64_t pages[(BATCH + RUNNING) * MOST_LINKS], depths[(BATCH + RUNNING) * MOST_LINKS];
} page_texts;

static size_t gather_links(page_texts *t)
{
    size_t n = 0;

    for (size_t i = 0; i < batch_count; i++) {
        const row *r = &rows[batch[i]];
        size_t count = links_of(r->page, t->pages + n);
        for (size_t k = 0; k < count; k++, n++) {
            t->depths[n] = r->depth + 1;
            t->links[n] = (fleet_link){.url = url_of(t->pages[n], t->urls[n]),
                                       .payload = payload_of(t->pages[n], t->depths[n], t->payloads[n])};
        }
    }
    return n;
}

static void done(void)
{
    char texts[BATCH + RUNNING][URL];
    vidi_str urls[BATCH + RUNNING];

    for (size_t i = 0; i < batch_count; i++)
        urls[i] = url_of(rows[batch[i]].page, texts[i]);
    must(fleet_done(crawl_fleet, urls, batch_count), "done");
    for (size_t i = 0; i < batch_count; i++)
        note('d', rows[batch[i]].page);
}

static void commit_batch(void)
{
    static page_texts texts;
    size_t n = gather_links(&texts);
    bool early = strcmp(options.fault, "early") == 0;

    if (early) {
        done();
        if (roll() % 3 == 0)
            kill(getpid(), SIGKILL);
    }
    may_die();
    send_links(texts.links, texts.pages, texts.depths, n);
    may_die();
    for (size_t i = 0; i < batch_count; i++)
        outcome(batch[i], DONE);
    commit_transaction();
    may_die();
    if (!early)
        done();
    may_die();
    batch_count = 0;
}

static bool may_fetch(uint64_t site)
{
    if (strcmp(options.fault, "takeover") == 0)
        return fleet_is_mine(crawl_fleet, site_keys[site]);
    return fleet_may_fetch(crawl_fleet, site_keys[site]);
}

/* Rows of the site that are queued become rows in hand, or have their outcome. */
static void check_block(uint64_t site)
{
    size_t list[BLOCK], n = 0;
    char urls[BLOCK][URL], payloads[BLOCK][PAYLOAD];
    fleet_link links[BLOCK] = {0};
    bool mine[BLOCK];

    for (size_t i = queue_first[site]; i < queue_count[site] && n < BLOCK; i++) {
        const row *r = &rows[queues[site][i]];
        if (r->state != QUEUED)
            continue;
        links[n] = (fleet_link){.url = url_of(r->page, urls[n]), .payload = payload_of(r->page, r->depth, payloads[n])};
        list[n++] = queues[site][i];
    }
    must(fleet_check_block(crawl_fleet, links, n, mine), "check_block");
    for (size_t i = 0; i < n; i++) {
        note(mine[i] ? 'm' : 'n', rows[list[i]].page);
        rows[list[i]].state = mine[i] ? IN_HAND : QUEUED;
        if (!mine[i])
            outcome(list[i], ELSEWHERE);
    }
}

/* The next row in hand; row_count: none. */
static size_t next_row(uint64_t site)
{
    size_t *first = &queue_first[site];

    while (*first < queue_count[site] && rows[queues[site][*first]].state >= DONE)
        ++*first;
    for (size_t i = *first; i < queue_count[site]; i++)
        if (rows[queues[site][i]].state == IN_HAND)
            return queues[site][i];
    return row_count;
}

static bool has_open_rows(uint64_t site)
{
    (void)next_row(site);
    return queue_first[site] < queue_count[site];
}

static void start_fetch(uint64_t site)
{
    int64_t now = fleet_now(); /* before the questions: see the head of the file */
    bool careless = strcmp(options.fault, "takeover") == 0;

    if (site_busy[site] || !has_open_rows(site) || !may_fetch(site))
        return;
    if (next_row(site) == row_count)
        check_block(site);
    size_t index = next_row(site);
    now = fleet_now();
    if (index == row_count || !may_fetch(site) || (!careless && now >= fleet_may_fetch_until(crawl_fleet)))
        return;
    int64_t takes = (int64_t)(1 + roll() % options.fetch_ms);
    rows[index].state = FETCHING;
    rows[index].ends = now + takes;
    running[running_count++] = index;
    site_busy[site] = true;
    tell("B %d %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n", (int)getpid(), rows[index].page, site, now, takes);
}

static void start_fetches(void)
{
    static uint64_t turn;

    if (fleet_state_now(crawl_fleet) == FLEET_PAUSED)
        return;
    for (uint64_t i = 0; i < options.sites && running_count < RUNNING && batch_count < BATCH; i++)
        start_fetch(turn++ % options.sites);
}

static void end_fetch(size_t at)
{
    site_busy[rows[running[at]].page % options.sites] = false;
    running[at] = running[--running_count];
}

static void put_back(size_t index)
{
    char text[URL];
    vidi_str url = url_of(rows[index].page, text);

    fleet_put_back(crawl_fleet, &url, 1);
    rows[index].state = QUEUED;
}

/* Ends what has come, and what must not go on. */
static void end_fetches(void)
{
    int64_t now = fleet_now(), until = fleet_may_fetch_until(crawl_fleet);
    bool careless = strcmp(options.fault, "takeover") == 0;

    for (size_t i = running_count; i > 0; i--) {
        size_t index = running[i - 1];
        if (!careless && now >= until) {
            tell("C %d %" PRIu64 " %" PRId64 "\n", (int)getpid(), rows[index].page, now);
            put_back(index);
        } else if (rows[index].ends <= now) {
            tell("E %d %" PRIu64 " %" PRId64 "\n", (int)getpid(), rows[index].page, now);
            rows[index].state = FETCHED;
            batch_began = batch_count ? batch_began : now;
            batch[batch_count++] = index;
        } else {
            continue;
        }
        end_fetch(i - 1);
    }
}

/* ---- sites that change hands ---- */

static size_t lost_rows(size_t *list, size_t most)
{
    size_t n = 0;

    for (uint64_t site = 0; site < options.sites; site++) {
        if (fleet_is_mine(crawl_fleet, site_keys[site]))
            continue;
        for (size_t i = queue_first[site]; i < queue_count[site] && n < most; i++)
            if (rows[queues[site][i]].state <= IN_HAND)
                list[n++] = queues[site][i];
    }
    return n;
}

/* True when there is nothing more to hand over. */
static bool hand_over(void)
{
    enum { SOME = 100 };
    size_t list[SOME], n = lost_rows(list, SOME);
    char urls[SOME][URL], payloads[SOME][PAYLOAD];
    fleet_link links[SOME];

    for (size_t i = 0; i < n; i++) {
        const row *r = &rows[list[i]];
        if (r->state == IN_HAND)
            put_back(list[i]);
        links[i] = (fleet_link){.url = url_of(r->page, urls[i]), .payload = payload_of(r->page, r->depth, payloads[i])};
    }
    int error = fleet_hand_over(crawl_fleet, links, n);
    if (error == VIDI_EBUSY) {
        take();
        return false;
    }
    must(error, "hand_over");
    may_die();
    for (size_t i = 0; i < n; i++) {
        note('h', rows[list[i]].page);
        outcome(list[i], ELSEWHERE);
    }
    commit_transaction();
    may_die();
    return n < SOME;
}

static void look_at_version(void)
{
    uint64_t version = fleet_version(crawl_fleet);

    if (version == adopted || !hand_over())
        return;
    for (size_t i = 0; i < running_count; i++)
        if (!may_fetch(rows[running[i]].page % options.sites))
            return;
    fleet_adopt(crawl_fleet, version);
    adopted = version;
}

static void join_again(void)
{
    while (running_count > 0) {
        tell("C %d %" PRIu64 " %" PRId64 "\n", (int)getpid(), rows[running[0]].page, fleet_now());
        put_back(running[0]);
        end_fetch(0);
    }
    if (batch_count > 0)
        commit_batch();
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].state == IN_HAND)
            put_back(i);
    tell("O %d %" PRId64 "\n", (int)getpid(), fleet_now());
    must(fleet_rejoin(crawl_fleet), "rejoin");
    adopted = 0;
}

/* ---- life ---- */

static void wake(void *context)
{
    (void)context;
    pthread_mutex_lock(&wake_lock);
    woken = true;
    pthread_cond_signal(&wake_condition);
    pthread_mutex_unlock(&wake_lock);
}

static void warn(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "fake_crawler %d: %s\n", (int)getpid(), sentence);
}

static void rest(void)
{
    struct timespec until = clock_in(running_count || batch_count ? 1 : 10);

    pthread_mutex_lock(&wake_lock);
    if (!woken)
        pthread_cond_timedwait(&wake_condition, &wake_lock, &until);
    woken = false;
    pthread_mutex_unlock(&wake_lock);
}

static void round_of(void)
{
    if (fleet_is_out(crawl_fleet))
        join_again();
    end_fetches();
    look_at_version();
    take();
    if (batch_count >= BATCH || (batch_count > 0 && (fleet_now() - batch_began >= BATCH_MS || running_count == 0)))
        commit_batch();
    start_fetches();
    commit_transaction();
    bool idle = open_rows == 0 && running_count == 0 && batch_count == 0 && !fleet_has_links(crawl_fleet);
    must(fleet_idle(crawl_fleet, idle, 0), "idle");
}

static void send_seeds(void)
{
    fleet_link link[1];
    char url[URL], payload[PAYLOAD];

    for (uint64_t page = 0; page < options.seeds; page++) {
        uint64_t depth = 0;
        link[0] = (fleet_link){.url = url_of(page, url), .payload = payload_of(page, depth, payload)};
        send_links(link, &page, &depth, 1);
        commit_transaction();
    }
}

/* Pages that were finished and may not have been committed: all of them, for it is allowed. */
static void commit_again(void)
{
    char text[URL];

    for (size_t i = row_count > 200 ? row_count - 200 : 0; i < row_count; i++) {
        vidi_str url = url_of(rows[i].page, text);
        if (rows[i].state == DONE)
            must(fleet_done(crawl_fleet, &url, 1), "done");
    }
}

static void end_by_signal(int number)
{
    ended = number;
}

static uint64_t number_of(int argc, char **argv, const char *name, uint64_t otherwise)
{
    size_t length = strlen(name);

    for (int i = 5; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return strtoull(argv[i] + length + 1, NULL, 10);
    return otherwise;
}

static void read_options(int argc, char **argv, fleet_options *o)
{
    options.data = argv[3];
    options.log = argv[4];
    options.pages = number_of(argc, argv, "pages", options.pages);
    options.sites = number_of(argc, argv, "sites", options.sites);
    options.seed = number_of(argc, argv, "seed", options.seed);
    options.seeds = number_of(argc, argv, "seeds", options.seeds);
    options.fetch_ms = number_of(argc, argv, "fetch_ms", options.fetch_ms);
    options.die = (long long)number_of(argc, argv, "die", 0);
    options.is_tree = number_of(argc, argv, "tree", 0) != 0;
    options.returns = number_of(argc, argv, "returns", 0) != 0;
    options.fault = getenv("FAKE_FAULT") ? getenv("FAKE_FAULT") : "";
    dice = mix(number_of(argc, argv, "dice", (uint64_t)getpid()));
    o->lease_ms = (int64_t)number_of(argc, argv, "lease", 2000);
    o->beat_ms = (int64_t)number_of(argc, argv, "beat", 20);
    o->sweep_ms = (int64_t)number_of(argc, argv, "sweep", 200);
    o->backlog = number_of(argc, argv, "backlog", 0);
    o->access.lease_ms = (int64_t)number_of(argc, argv, "claims", 4000);
    o->access.patience_ms = (int64_t)number_of(argc, argv, "patience", 0);
    o->access.wait_replicas = (uint32_t)number_of(argc, argv, "wait_replicas", 0);
    if (options.sites > MOST_SITES)
        give_up("too many sites", "");
}

static void open_all(int argc, char **argv)
{
    fleet_options o = {.address = argv[1],
                       .folder = argv[2],
                       .access = VIDI_CLUSTER_ACCESS_INIT,
                       .rules = getenv("FAKE_RULES") ? getenv("FAKE_RULES") : "scope any\n",
                       .wake = wake,
                       .warn = warn};
    char why[FLEET_WHY], url[URL];

    read_options(argc, argv, &o);
    setenv("FAKE_ADDRESS", argv[1], 1);
    if (clock_condition(&wake_condition) != 0)
        give_up("cannot begin", "");
    log_file = open(options.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    open_data();
    if (fleet_open(&crawl_fleet, &o, why) != VIDI_OK)
        give_up("cannot join", why);
    for (uint64_t site = 0; site < options.sites; site++)
        site_keys[site] = fleet_site(crawl_fleet, url_of(site, url));
}

/* What fleet_look says, a line for each member. */
static int look(const char *address)
{
    fleet_figures f;
    char why[FLEET_WHY];
    int error = fleet_look(address, NULL, &f, why);

    if (error) {
        printf("error %d %s\n", error, why);
        return 1;
    }
    printf("state=%d visit=%" PRIu64 " claims=%" PRIu64 " count=%" PRIu64 "\n", (int)f.state, f.visit, f.cluster.claims,
           f.set.count);
    for (size_t i = 0; i <= f.member_count; i++) {
        const fleet_member *m = i < f.member_count ? &f.members[i] : &f.gone;
        printf("name=%s idle=%d leaving=%d dead=%d waiting=%" PRIu64 " sent=%" PRIu64 " taken=%" PRIu64
               " forwarded=%" PRIu64 " done=%" PRIu64 " repeated=%" PRIu64 "\n",
               m->name, m->idle, m->leaving, m->dead, m->waiting, m->sent, m->taken, m->forwarded, m->done,
               m->repeated);
    }
    fleet_figures_free(&f);
    return 0;
}

static int set_state(const char *address, const char *state)
{
    static const char *const names[] = {"running", "paused", "stopping"};
    char why[FLEET_WHY];
    int error = VIDI_EARGUMENT;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(state, names[i]) == 0)
            error = fleet_set_state(address, NULL, (fleet_state)i, why);
    if (error)
        printf("error %d %s\n", error, why);
    return error != VIDI_OK;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return strcmp(argv[1], "look") == 0 ? look(argv[2]) : set_state(argv[2], argv[1]);
    if (argc < 5)
        return 2;
    signal(SIGTERM, end_by_signal);
    open_all(argc, argv);
    tell("S %d %" PRId64 "\n", (int)getpid(), fleet_now());
    must(fleet_begin_visit(crawl_fleet, number_of(argc, argv, "visit", 1)), "begin_visit");
    commit_again();
    send_seeds();
    while (!fleet_is_over(crawl_fleet) && !ended && fleet_state_now(crawl_fleet) != FLEET_STOPPING) {
        round_of();
        rest();
    }
    for (; running_count > 0; rest()) /* what is running comes to its end */
        end_fetches();
    if (batch_count > 0)
        commit_batch();
    bool over = fleet_is_over(crawl_fleet);
    tell("L %d %" PRId64 "\n", (int)getpid(), fleet_now());
    fleet_leave(crawl_fleet, options.returns);
    return over ? 0 : 3;
}
