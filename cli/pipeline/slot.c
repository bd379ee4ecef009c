/*
 * The steps of a slot: see slot.h. They stand in their order: reading, lookups and changes, printing.
 */
#include "pipeline/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/job.h"

enum {
    LOOK_FROM = 40,      /* the first estimate comes after 1/40 of the input */
    TRUST_FROM = 10,     /* estimates are trusted from 1/10 of the input on */
    HINT_TIMES = 8,      /* before that, they count up to this multiple of the URLs in the set */
    HINT_PIPE = 4000000, /* with a pipe, the hint is at most this many more URLs: some 28 MiB */
    HINT_BYTES = 16      /* a generous guess of the bytes per URL, to keep a hint within the memory limit */
};

/* URLs from this length on may be too long for a set: their canonical form may be three times as long. */
#define ABSURD_URL ((size_t)256 << 20)

#define GROWING_BYTES (UINT64_C(64) << 20) /* all that threads may need to grow the set at the same time */

#define LOOK_MARGIN 1.02 /* a set that is a little too small would have to grow once more at the end */

/* ---- reading ---- */

/* Allocates the memory of a slot when it is first needed. */
static int slot_ready(cli_slot *slot)
{
    if (slot->verdicts)
        return CLI_OK;
    int status = cli_block_init(&slot->block);
    slot->urls = slot->block.lines;
    slot->verdicts = malloc(CLI_BLOCK_LINES);
    return status != CLI_OK ? status : slot->verdicts ? CLI_OK : cli_error("out of memory");
}

void cli_slot_free(cli_slot *slot)
{
    cli_block_free(&slot->block);
    free(slot->taken);
    free(slot->unquoted.bytes);
    free(slot->verdicts);
    free(slot->digests);
    free(slot->sharding);
    free(slot->marks);
    *slot = (cli_slot){0};
}

/* Lines that were put aside and are due, or those that come next in the input. */
static int fill_block(cli_job *job, cli_slot *slot, uint64_t *field)
{
    int status;

    slot->round = 0;
    do {
        if (job->target.away && cli_held_due(&job->held) == 0)
            return cli_held_fill(&job->held, &slot->block, &slot->round, field);
        status = cli_reader_fill(&job->reader, &slot->block);
        *field = job->extract.lookup.field; /* a header may have changed it */
    } while (status == CLI_OK && job->reader.paused);
    return status;
}

int cli_slot_fill(cli_job *job, cli_slot *slot)
{
    const cli_extract *extract = &job->extract;
    uint64_t field = 0;

    CLI_TRY(slot_ready(slot));
    int status = fill_block(job, slot, &field);
    slot->extract = (cli_extract){.lookup = extract->lookup, /* the header of the next file may change it */
                                  .active = extract->active,
                                  .header = extract->header,
                                  .invalid = extract->invalid};
    slot->extract.lookup.field = field;
    slot->urls = slot->block.lines;
    slot->lookups = slot->block.count;
    slot->digested = 0;
    slot->asked = slot->packed = slot->failed = slot->gaps = slot->also_failed = false;
    slot->lack = CLI_LACKS_NOTHING;
    return status;
}

static int take_urls(cli_slot *slot)
{
    cli_extract *extract = &slot->extract;

    if (!slot->taken)
        slot->taken = malloc(CLI_BLOCK_LINES * sizeof *slot->taken);
    if (!slot->taken)
        return cli_error("out of memory");
    slot->urls = slot->taken;
    CLI_TRY(
        cli_extract_urls(extract, slot->block.lines, &slot->block.count, slot->taken, &slot->unquoted, &slot->lack));
    slot->gaps = extract->invalid == VIDI_DROP_INVALID && cli_lacking_sum(&extract->lacking) > 0;
    slot->lookups = slot->block.count - (slot->lack != CLI_LACKS_NOTHING);
    return CLI_OK;
}

void cli_slot_take(cli_slot *slot)
{
    cli_block_split(&slot->block);
    if (!slot->extract.active || take_urls(slot) == CLI_OK)
        return;
    slot->failed = true;
    slot->block.count = slot->lookups = 0; /* not all of them are known */
}

int cli_slot_header(void *context, const char *file, vidi_str line)
{
    cli_job *job = context;
    cli_printer *printer = &job->printer;
    size_t length = (size_t)(cli_line_end(line) - line.ptr);

    CLI_TRY(cli_extract_header(&job->extract, file, line));
    if (printer->header) {
        bool same = line.len == job->header_text && memcmp(printer->header, line.ptr, line.len) == 0;
        if (!same && !job->headers_differ)
            cli_warning("%s: its header differs from that of the first file, which is printed", file);
        job->headers_differ |= !same;
        return CLI_OK;
    }
    printer->header = malloc(length);
    if (!printer->header)
        return cli_error("out of memory");
    memcpy(printer->header, line.ptr, length);
    printer->header_length = length;
    job->header_text = line.len;
    return CLI_OK;
}

/* The first line that fails, and all after it, are left for `ask`, which reports the error. */
void cli_slot_prepare(cli_job *job, cli_slot *slot)
{
    size_t n = slot->lookups;

    if (job->action != CLI_ADD || slot->gaps || job->target.away)
        return;
    if (!slot->digests)
        slot->digests = malloc(CLI_BLOCK_LINES * sizeof *slot->digests);
    if (!slot->digests)
        return;
    bool all =
        vidi_digest_batch(job->target.here, slot->urls, n, slot->digests, slot->verdicts, &slot->epoch) == VIDI_OK;
    while (slot->digested < n && (all || slot->verdicts[slot->digested] != VIDI_UNTRIED))
        slot->digested++;
}

/* ---- lookups and changes ---- */

static void count_verdicts(cli_slot *slot)
{
    memset(slot->counts, 0, sizeof slot->counts);
    for (size_t i = 0; i < slot->block.count; i++)
        slot->counts[slot->verdicts[i] & 3]++;
}

/* Lookups change nothing, so they need no order. */
static void look_up(cli_job *job, cli_slot *slot)
{
    if (cli_target_is_there(&job->also) || slot->gaps)
        return;
    memset(slot->verdicts, VIDI_UNTRIED, slot->block.count);
    slot->error = cli_target_has_batch(&job->target, slot->urls, slot->lookups, slot->verdicts);
    count_verdicts(slot);
    slot->asked = true;
}

/*
 * Threads that add at the same time also grow the set at the same time, which takes more memory for a while. So near
 * the limit they do not: a run must not end with an error that one thread would not meet.
 */
static bool is_roomy(const cli_job *job)
{
    const uint64_t on_the_way = CLI_WORKERS * CLI_BLOCK_LINES;
    uint64_t most = job->before.memory_limit / HINT_BYTES, urls = job->before.count + job->fresh;

    return most > GROWING_BYTES / HINT_BYTES + on_the_way && urls < most - GROWING_BYTES / HINT_BYTES - on_the_way;
}

void cli_slot_add(cli_job *job, cli_slot *slot, cli_shards *shards, uint64_t number)
{
    size_t n = slot->block.count;
    cli_digests block = {slot->epoch, slot->digests, slot->verdicts, n};

    if (job->action == CLI_LOOK_UP)
        look_up(job, slot);
    if (!job->in_shards || n == 0 || slot->digested < n || !is_roomy(job))
        return;
    if (!slot->sharding)
        slot->sharding = malloc(sizeof *slot->sharding);
    if (!slot->sharding)
        return;
    cli_shards_divide(slot->sharding, &block);
    slot->error = cli_shards_add(shards, number, job->target.here, slot->sharding, &block);
    count_verdicts(slot);
    slot->asked = true;
}

/* Keeps a message until the output is written, so that the user reads it after the lines that came before it. */
static int keep_complaint(cli_job *job, char *text)
{
    free(job->complaint);
    job->complaint = text;
    return text ? CLI_ERROR : cli_error("out of memory");
}

/* The same for a message about the first line that has no verdict. */
static int complain_of_line(cli_job *job, const cli_slot *slot, const char *message)
{
    uint64_t line = slot->block.first;
    char *text = NULL;

    for (size_t i = 0; i < slot->block.count && slot->verdicts[i] != VIDI_UNTRIED; i++)
        line++;
    int length = asprintf(&text, "%s:%llu: %s", slot->block.name, (unsigned long long)line, message);
    return keep_complaint(job, length < 0 ? NULL : text);
}

static int complain(cli_job *job, const cli_slot *slot, int error)
{
    const char *message = cli_target_message(slot->also_failed ? &job->also : &job->target, error);

    job->gave_up = job->gave_up || error == VIDI_EIO;
    if (error == VIDI_INVALID)
        return complain_of_line(job, slot, message);
    if (error != VIDI_ELIMIT || !job->unacked)
        return keep_complaint(job, strdup(message));
    char *text = NULL;
    int length = asprintf(&text, "%s; %llu lines wait for their acknowledgement (--ack)", message,
                          (unsigned long long)job->unacked);
    return keep_complaint(job, length < 0 ? NULL : text);
}

/* A URL that the other set has seen is seen, too. */
static int ask_also(cli_job *job, cli_slot *slot)
{
    size_t n = slot->lookups;
    int error = cli_target_has_batch(&job->also, slot->urls, n, job->others);

    for (size_t i = 0; i < n; i++)
        if (job->others[i] == VIDI_SEEN && slot->verdicts[i] == VIDI_NEW)
            slot->verdicts[i] = VIDI_SEEN;
    slot->also_failed = error != VIDI_OK;
    return error;
}

/* VIDI_SEEN for a URL that was there and is removed now, VIDI_NEW for one that was not there. */
static int remove_urls(const cli_job *job, cli_slot *slot, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        if (slot->verdicts[i] != VIDI_UNTRIED) /* ask_again */
            continue;
        int code = cli_target_remove(&job->target, slot->urls[i]);
        if ((code < 0 && code != VIDI_EABSENT) || (code == VIDI_INVALID && job->fails_invalid))
            return code;
        slot->verdicts[i] = code == VIDI_OK ? VIDI_SEEN : code == VIDI_EABSENT ? VIDI_NEW : VIDI_INVALID;
    }
    return VIDI_OK;
}

static int add_urls(cli_job *job, cli_slot *slot, size_t first, size_t n)
{
    return cli_target_add_batch(&job->target, slot->urls + first, n, slot->verdicts + first,
                                slot->marks ? slot->marks + first : NULL);
}

/* Returns true if the set counts lines that are not URLs. Otherwise those with that verdict are counted here. */
static bool set_counts_invalid(const cli_job *job)
{
    return job->action == CLI_ADD && job->target.here;
}

/* Tells the user that the set could not take a line, which is then treated as an invalid one. */
static void refuse_line(cli_job *job, cli_slot *slot, size_t i)
{
    cli_error("%s:%llu: %s", slot->block.name, (unsigned long long)(slot->block.first + i),
              cli_target_message(&job->target, VIDI_ELIMIT));
    slot->verdicts[i] = VIDI_INVALID;
    if (slot->marks)
        slot->marks[i] = i > 0 ? slot->marks[i - 1] : slot->mark;
    job->invalid += set_counts_invalid(job);
    job->refused = true;
}

/*
 * Adds URLs. One that is so long that the set cannot take it is refused, and the run goes on after it: otherwise one
 * absurd line would stop a crawl for ever.
 */
static int add_run(cli_job *job, cli_slot *slot, size_t first, size_t n)
{
    size_t end = first + n;
    int error = VIDI_OK;

    for (;;) {
        while (first < end && slot->verdicts[first] != VIDI_UNTRIED)
            first++;
        if (error == VIDI_ELIMIT && first < end && slot->urls[first].len >= ABSURD_URL) {
            refuse_line(job, slot, first);
            error = VIDI_OK;
        } else if (error != VIDI_OK || first == end) {
            return error;
        } else {
            error = add_urls(job, slot, first, end - first);
        }
    }
}

/* Adds, removes or looks up n URLs from the first-th on. */
static int ask_run(cli_job *job, cli_slot *slot, size_t first, size_t n)
{
    if (job->action == CLI_REMOVE)
        return remove_urls(job, slot, first, n);
    if (job->action == CLI_LOOK_UP)
        return cli_target_has_batch(&job->target, slot->urls + first, n, slot->verdicts + first);
    return add_run(job, slot, first, n);
}

/* Adds the URLs whose digests are known. */
static int add_digested(cli_job *job, cli_slot *slot)
{
    if (slot->digested == 0)
        return VIDI_OK;
    return vidi_add_digests(job->target.here, slot->epoch, slot->digests, slot->digested, slot->verdicts, slot->marks);
}

/* Lines without a URL are passed over: they are not asked about. */
static int ask_between_gaps(cli_job *job, cli_slot *slot)
{
    size_t n = slot->lookups;
    int error = VIDI_OK;

    for (size_t i = 0; i < n && error == VIDI_OK;) {
        size_t first = i;
        while (i < n && !cli_extract_is_none(slot->urls[i]))
            i++;
        error = first < i ? ask_run(job, slot, first, i - first) : VIDI_OK;
        for (; error == VIDI_OK && i < n && cli_extract_is_none(slot->urls[i]); i++) {
            if (slot->verdicts[i] != VIDI_UNTRIED) /* ask_again */
                continue;
            slot->verdicts[i] = VIDI_INVALID;
            if (slot->marks)
                slot->marks[i] = i > 0 ? slot->marks[i - 1] : slot->mark;
            job->invalid += set_counts_invalid(job); /* but not those */
        }
    }
    return error;
}

static int ask_set(cli_job *job, cli_slot *slot)
{
    size_t done = slot->digested, n = slot->lookups - done;
    int error = add_digested(job, slot);

    if (slot->gaps)
        error = ask_between_gaps(job, slot);
    else if (error == VIDI_OK && n > 0)
        error = ask_run(job, slot, done, n);
    return error == VIDI_OK && cli_target_is_there(&job->also) ? ask_also(job, slot) : error;
}

/*
 * After an error: if memory is short, commits what has been delivered. That moves it into the filter, where it takes a
 * quarter of the memory. Then the lines without a verdict are tried once more.
 */
static int ask_again(cli_job *job, cli_slot *slot, int error)
{
    if (!job->commits || (error != VIDI_ELIMIT && error != VIDI_EMEMORY))
        return error;
    return cli_job_catch_up(job) == CLI_OK ? ask_set(job, slot) : error;
}

/*
 * Tells the set how many URLs to expect. It makes room for them even if they never come, so a memory limit caps the
 * hint.
 */
static int expect(cli_job *job, double urls)
{
    double limit = (double)job->before.memory_limit / HINT_BYTES;

    if (job->target.away)
        return CLI_OK;
    urls = urls < limit ? urls : limit;
    return cli_library_status(vidi_expect(job->target.here, urls > 0 ? (uint64_t)urls : 0));
}

/*
 * Estimates how many URLs the set will hold: the rest of the input is taken to bring new URLs at the latest rate. The
 * estimate is made after a fortieth of the input, and again whenever twice as much was asked. It follows from the
 * slots before this one, however far ahead the reader is: so the number of threads makes no difference.
 *
 * The beginning of an input may not be like the rest of it, and a wrong estimate would waste memory. So until a tenth
 * of the input was asked, no estimate is trusted beyond a few times the URLs that are there.
 */
static int look_ahead(cli_job *job)
{
    double size = (double)job->reader.size, taken = (double)job->reader.taken;

    /* Of perhaps packed files: what was asked. */
    taken *= (double)job->asked_bytes / (double)job->reader.bytes;
    if (taken < size / LOOK_FROM || taken < job->look_at || job->known <= job->looked_known)
        return CLI_OK;
    double share = (double)(job->known_fresh - job->looked_fresh) / (double)(job->known - job->looked_known);
    double left = (double)job->asked * size / taken - (double)job->known;
    job->look_at = 2 * taken;
    job->looked_known = job->known;
    job->looked_fresh = job->known_fresh;
    double count = (double)(job->before.count + job->known_fresh), urls = (count + share * left) * LOOK_MARGIN;
    bool trusted = taken >= size / TRUST_FROM || urls < HINT_TIMES * count;
    return expect(job, trusted ? urls : HINT_TIMES * count);
}

/*
 * A set that knows how many URLs will come grows a few times by much instead of often by little. The length of a pipe
 * is unknown; there the hint is twice what there is, as long as that takes little memory.
 */
static int give_hint(cli_job *job, const cli_slot *slot)
{
    uint64_t count = job->before.count + job->known_fresh, more = count < HINT_PIPE ? count : HINT_PIPE;
    int status = CLI_OK;

    job->asked += slot->block.count;
    job->asked_bytes += slot->block.used;
    if (job->action == CLI_ADD)
        status = job->reader.size > 0 ? look_ahead(job) : expect(job, (double)(count + more));
    job->known = job->asked;
    job->known_fresh += slot->counts[VIDI_NEW];
    return status;
}

/* Room for a mark after each line, if lines are delivered one by one. The first mark is that before all of them. */
static int prepare_marks(cli_job *job, cli_slot *slot)
{
    if (!job->delivery.tracks)
        return CLI_OK;
    if (!slot->marks)
        slot->marks = malloc(CLI_BLOCK_LINES * sizeof *slot->marks);
    if (!slot->marks)
        return cli_error("out of memory");
    return cli_target_status(&job->target, cli_target_mark(&job->target, &slot->mark));
}

/* Asks the set about the URLs that it was not asked about yet. */
static int ask(cli_job *job, cli_slot *slot)
{
    if (slot->asked)
        return slot->error;
    memset(slot->verdicts + slot->digested, VIDI_UNTRIED, slot->block.count - slot->digested);
    int error = ask_again(job, slot, ask_set(job, slot));
    for (size_t i = 0; error != VIDI_OK && i < slot->digested; i++)
        if (slot->verdicts[i] == VIDI_DIGESTED)
            slot->verdicts[i] = VIDI_UNTRIED;
    count_verdicts(slot);
    return error;
}

/* Complains of the last line, which must have a URL and has none. */
static int complain_of_lack(cli_job *job, const cli_slot *slot)
{
    char *why = cli_lacking_why(&job->extract.lacking, &slot->extract.lookup, slot->lack);
    int status = why ? complain_of_line(job, slot, why) : cli_error("out of memory");

    free(why);
    return status;
}

/*
 * Puts lines aside whose URLs another client has claimed; they get no verdict now. If every line must be answered at
 * once, or was asked about often enough, it is seen.
 */
static void put_aside(cli_job *job, cli_slot *slot)
{
    for (size_t i = 0; i < slot->block.count; i++) {
        if (slot->verdicts[i] != VIDI_HELD)
            continue;
        bool answers = job->printer.what == CLI_PRINT_VERDICT;
        bool aside =
            !answers && cli_held_put(&job->held, slot->round, slot->block.lines[i], slot->extract.lookup.field);
        slot->verdicts[i] = aside ? VIDI_UNTRIED : VIDI_SEEN;
        job->left += !answers && !aside;
    }
    count_verdicts(slot);
}

int cli_slot_ask(cli_job *job, cli_slot *slot)
{
    if (slot->failed || prepare_marks(job, slot) != CLI_OK) {
        slot->block.count = slot->digested = 0;
        count_verdicts(slot);
        return CLI_ERROR;
    }
    cli_lacking_join(&job->extract.lacking, &slot->extract.lacking);
    int error = ask(job, slot);
    bool lacks = error == VIDI_OK && slot->lack != CLI_LACKS_NOTHING;
    int status = error != VIDI_OK ? complain(job, slot, error) : give_hint(job, slot);
    if (lacks)
        status = complain_of_lack(job, slot);
    if (job->target.away)
        put_aside(job, slot);
    bool ended_by_line = error == VIDI_INVALID || lacks;
    job->invalid += ended_by_line;
    job->read += ended_by_line;
    if (job->commits && (error = cli_target_mark(&job->target, &slot->mark)) < 0)
        return complain(job, slot, error);
    return status;
}

/* ---- printing ---- */

/* Adds the slot's verdicts to those of the job, and returns how many URLs changed the set. */
static uint64_t sum_up(cli_job *job, const cli_slot *slot)
{
    const uint64_t *counts = slot->counts, n = slot->block.count;

    job->read += n - counts[VIDI_UNTRIED];
    job->fresh += counts[VIDI_NEW];
    job->seen += counts[VIDI_SEEN];
    job->invalid += set_counts_invalid(job) ? 0 : counts[VIDI_INVALID];
    return counts[job->action == CLI_REMOVE ? VIDI_SEEN : VIDI_NEW];
}

int cli_slot_lull(cli_job *job)
{
    const cli_undelivered *lines = &job->delivery.lines;
    int status = cli_delivery_is_behind(&job->delivery) ? cli_delivery_commit(&job->delivery) : CLI_OK;

    job->unacked = job->delivery.acks.fd >= 0 ? lines->added - lines->delivered : 0;
    return status;
}

void cli_slot_pack(const cli_job *job, cli_slot *slot)
{
    if (slot->packed || !cli_printer_can_pack(&job->printer))
        return;
    slot->output = cli_printer_pack(&job->printer, slot);
    slot->packed = true;
}

int cli_slot_put(cli_job *job, cli_slot *slot)
{
    uint64_t changes = sum_up(job, slot);
    int status = job->lull_status;

    if (status == CLI_OK)
        status = cli_printer_put(&job->printer, slot);
    if (status == CLI_OK && (job->printer.out.error != 0 || job->eager || slot->block.waits))
        status = cli_out_flush(&job->printer.out);
    return status == CLI_OK ? cli_delivery_put(&job->delivery, changes, slot->mark) : status;
}
