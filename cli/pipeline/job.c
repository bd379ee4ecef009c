/*
 * Lines through a set: see job.h. First the functions for a block of lines, in their order: lookups and changes,
 * printing, committing. Then what runs in the background, and how a job begins and ends.
 */
#include "pipeline/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ui/clock.h"
#include "ui/progress.h"

enum {
    DRAW_MS = 200,
    PUBLISH_MS = 500,
    LOOK_FROM = 40,      /* the first estimate comes after 1/40 of the input */
    TRUST_FROM = 10,     /* estimates are trusted from 1/10 of the input on */
    HINT_TIMES = 8,      /* before that, up to so many times the URLs in the set */
    HINT_PIPE = 4000000, /* with a pipe, room for at most so many more URLs: some 28 MiB */
    HINT_BYTES = 16,     /* under a memory limit, a URL is taken to need so much, which is plenty */
    STAGE_BYTES = 4096   /* of the limit, per line of a block: with a state, the lines of a block are staged together */
};

/* URLs from this length on may be too long for a set: their canonical form may be three times as long. */
#define ABSURD_URL ((size_t)256 << 20)

#define LOOK_MARGIN 1.02 /* a set that is a little too small would have to grow once more at the end */

/* ---- lookups and changes ---- */

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
    const char *message = vidi_message();

    message = message && *message ? message : vidi_strerror(error);
    if (error == VIDI_INVALID)
        return complain_of_line(job, slot, message);
    if (error != VIDI_ELIMIT || !job->unacked)
        return keep_complaint(job, strdup(message));
    char *text = NULL;
    int length = asprintf(&text, "%s; %llu lines wait for their acknowledgement (--ack)", message,
                          (unsigned long long)job->unacked);
    return keep_complaint(job, length < 0 ? NULL : text);
}

static int take_urls(cli_job *job, cli_slot *slot)
{
    cli_extract *extract = &job->extract;
    cli_lack lack;

    slot->lookups = slot->block.count;
    slot->field = extract->lookup.field;
    if (!extract->active)
        return CLI_OK;
    if (!slot->taken)
        slot->taken = malloc(CLI_BLOCK_LINES * sizeof *slot->taken);
    if (!slot->taken)
        return cli_error("out of memory");
    slot->urls = slot->taken;
    uint64_t before = cli_lacking_sum(&extract->lacking);
    if (cli_extract_urls(extract, slot->block.lines, &slot->block.count, slot->taken, &slot->unquoted, &lack) != CLI_OK)
        return CLI_ERROR;
    slot->gaps = extract->invalid == VIDI_DROP_INVALID && cli_lacking_sum(&extract->lacking) > before;
    slot->lookups = slot->block.count - (lack != CLI_LACKS_NOTHING);
    if (lack == CLI_LACKS_NOTHING)
        return CLI_OK;
    slot->why = cli_lacking_why(&extract->lacking, &extract->lookup, lack);
    return slot->why ? CLI_OK : cli_error("out of memory");
}

/*
 * The first half of adding: canonical forms and hashes. It needs no order, so all threads do it at the same time. The
 * line that fails, and all behind it, are left for `ask`, which will tell the error.
 */
static void prepare(void *context, cli_slot *slot)
{
    cli_job *job = context;
    size_t n = slot->lookups;

    if (job->action != CLI_ADD || slot->gaps)
        return;
    if (!slot->digests)
        slot->digests = malloc(CLI_BLOCK_LINES * sizeof *slot->digests);
    if (!slot->digests)
        return;
    bool all = vidi_digest_batch(job->set, slot->urls, n, slot->digests, slot->verdicts, &slot->epoch) == VIDI_OK;
    while (slot->digested < n && (all || slot->verdicts[slot->digested] != VIDI_UNTRIED))
        slot->digested++;
}

static int fill(void *context, cli_slot *slot)
{
    cli_job *job = context;
    int status = cli_reader_fill(&job->reader, &slot->block);
    int taken = take_urls(job, slot);

    if (taken != CLI_OK)
        slot->block.count = slot->lookups = 0; /* not all of them are known */
    slot->digested = 0;
    return status != CLI_OK ? status : taken != CLI_OK ? taken : slot->why ? CLI_ERROR : CLI_OK;
}

/* The first line of each file, if the user says that it is a header. That of the first file is printed. */
static int take_header(void *context, const char *file, vidi_str line)
{
    cli_job *job = context;
    cli_printer *printer = &job->printer;
    size_t length = (size_t)(cli_line_end(line) - line.ptr);

    if (cli_extract_header(&job->extract, file, line) != CLI_OK)
        return CLI_ERROR;
    if (printer->header) {
        bool same = line.len == job->header_text && memcmp(printer->header, line.ptr, line.len) == 0;
        if (!same && !job->headers_differ)
            cli_warning("%s has another header than the first file, whose header is printed", file);
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

/* A URL that the other set has seen is seen, too. */
static int ask_also(cli_job *job, cli_slot *slot)
{
    size_t n = slot->lookups;
    int error = vidi_has_batch(job->also, slot->urls, n, job->others);

    for (size_t i = 0; i < n; i++)
        if (job->others[i] == VIDI_SEEN && slot->verdicts[i] == VIDI_NEW)
            slot->verdicts[i] = VIDI_SEEN;
    return error;
}

/* VIDI_SEEN for a URL that was there and is removed now, VIDI_NEW for one that was not there. */
static int remove_urls(const cli_job *job, cli_slot *slot, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        if (slot->verdicts[i] != VIDI_UNTRIED) /* ask_again */
            continue;
        int code = vidi_remove(job->set, slot->urls[i]);
        if ((code < 0 && code != VIDI_EABSENT) || (code == VIDI_INVALID && job->fails_invalid))
            return code;
        slot->verdicts[i] = code == VIDI_OK ? VIDI_SEEN : code == VIDI_EABSENT ? VIDI_NEW : VIDI_INVALID;
    }
    return VIDI_OK;
}

static int add_urls(cli_job *job, cli_slot *slot, size_t first, size_t n)
{
    const vidi_str *urls = slot->urls + first;
    uint8_t *verdicts = slot->verdicts + first;

    return slot->marks ? vidi_add_batch_marked(job->set, urls, n, verdicts, slot->marks + first)
                       : vidi_add_batch(job->set, urls, n, verdicts);
}

/* Tells the user that the set could not take a line, which is then treated as an invalid one. */
static void refuse_line(cli_job *job, cli_slot *slot, size_t i)
{
    cli_error("%s:%llu: %s", slot->block.name, (unsigned long long)(slot->block.first + i), vidi_message());
    slot->verdicts[i] = VIDI_INVALID;
    if (slot->marks)
        slot->marks[i] = i > 0 ? slot->marks[i - 1] : slot->mark;
    job->invalid++;
    job->refused = true;
}

/*
 * Adds URLs. One that is so long that the set cannot take it is refused, and the run goes on behind it: otherwise one
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
        return vidi_has_batch(job->set, slot->urls + first, n, slot->verdicts + first);
    return add_run(job, slot, first, n);
}

/* Adds the URLs whose digests are known. */
static int add_digested(cli_job *job, cli_slot *slot)
{
    size_t n = slot->digested;

    if (n == 0)
        return VIDI_OK;
    return slot->marks ? vidi_add_digests_marked(job->set, slot->epoch, slot->digests, n, slot->verdicts, slot->marks)
                       : vidi_add_digests(job->set, slot->epoch, slot->digests, n, slot->verdicts);
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
            job->invalid += job->action == CLI_ADD; /* a set that is added to counts invalid lines, but not those */
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
    return error == VIDI_OK && job->also ? ask_also(job, slot) : error;
}

/*
 * After an error: if memory is short, commits what has been delivered. That moves it into the filter, where it takes a
 * quarter of the memory. Then the lines without a verdict are tried once more.
 */
static int ask_again(cli_job *job, cli_slot *slot, int error)
{
    if (!job->commits || (error != VIDI_ELIMIT && error != VIDI_EMEMORY))
        return error;
    return cli_stream_catch_up(&job->stream) == CLI_OK ? ask_set(job, slot) : error;
}

/*
 * Tells the set how many URLs to expect. It makes room for them even if they never come, so a memory limit caps the
 * hint.
 */
static int expect(cli_job *job, double urls)
{
    double limit = (double)job->before.memory_limit / HINT_BYTES;

    urls = urls < limit ? urls : limit;
    int error = vidi_expect(job->set, urls > 0 ? (uint64_t)urls : 0);
    return error < 0 ? cli_library_error(error) : CLI_OK;
}

/*
 * Estimates how many URLs the set will hold: the rest of the input is taken to bring new URLs at the latest rate. The
 * estimate is made after a fortieth of the input, and again whenever twice as much was read. The reader is ahead of the
 * lookups, and the counts lag behind them.
 *
 * The beginning of an input may not be like the rest of it, and a wrong estimate would waste memory. So until a tenth
 * of the input was read, no estimate is trusted beyond a few times the URLs that are there.
 */
static int look_ahead(cli_job *job)
{
    uint64_t size = job->reader.size, taken = job->reader.taken, read = job->read, fresh = job->fresh;

    if (taken < size / LOOK_FROM || taken < job->look_at || read <= job->looked_read)
        return CLI_OK;
    double done = (double)taken / (double)size * (double)job->asked_bytes / (double)job->reader.bytes;
    double share = (double)(fresh - job->looked_fresh) / (double)(read - job->looked_read);
    double left = (double)job->asked / done - (double)read;
    job->look_at = 2 * taken;
    job->looked_read = read;
    job->looked_fresh = fresh;
    double count = (double)(job->before.count + fresh), urls = (count + share * left) * LOOK_MARGIN;
    bool trusted = taken >= size / TRUST_FROM || urls < HINT_TIMES * count;
    return expect(job, trusted ? urls : HINT_TIMES * count);
}

/*
 * A set that knows how many URLs will come grows a few times by much instead of often by little. The length of a pipe
 * is unknown; there the hint is twice what there is, as long as that takes little memory.
 */
static int give_hint(cli_job *job, const cli_slot *slot)
{
    uint64_t count = job->before.count + job->fresh, more = count;

    job->asked += slot->block.count;
    job->asked_bytes += slot->block.used;
    if (job->action != CLI_ADD)
        return CLI_OK;
    if (job->reader.size > 0)
        return look_ahead(job);
    return expect(job, (double)(count + (more < HINT_PIPE ? more : HINT_PIPE)));
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
    int error = vidi_mark(job->set, &slot->mark);
    return error < 0 ? cli_library_error(error) : CLI_OK;
}

static int ask(void *context, cli_slot *slot)
{
    cli_job *job = context;

    if (prepare_marks(job, slot) != CLI_OK) {
        slot->block.count = slot->digested = 0;
        return CLI_ERROR;
    }
    memset(slot->verdicts + slot->digested, VIDI_UNTRIED, slot->block.count - slot->digested);
    int error = ask_again(job, slot, ask_set(job, slot));
    int status = error != VIDI_OK ? complain(job, slot, error) : give_hint(job, slot);
    if (error == VIDI_OK && slot->why)
        status = complain_of_line(job, slot, slot->why);
    bool ended_by_line = error == VIDI_INVALID || (error == VIDI_OK && slot->why);
    job->invalid += ended_by_line;
    job->read += ended_by_line;
    if (job->commits && (error = vidi_mark(job->set, &slot->mark)) < 0)
        return complain(job, slot, error);
    return status;
}

/* ---- printing ---- */

/* Counts the slot's verdicts, and returns how many URLs changed the set. */
static uint64_t count_verdicts(cli_job *job, const cli_slot *slot)
{
    uint64_t counts[4] = {0}, n = slot->block.count;

    for (size_t i = 0; i < n; i++)
        counts[slot->verdicts[i] & 3]++;
    job->read += n - counts[VIDI_UNTRIED];
    job->fresh += counts[VIDI_NEW];
    job->seen += counts[VIDI_SEEN];
    job->invalid += job->action == CLI_ADD ? 0 : counts[VIDI_INVALID]; /* a set that is added to counts them itself */
    return counts[job->action == CLI_REMOVE ? VIDI_SEEN : VIDI_NEW];
}

static int lull(void *context)
{
    cli_job *job = context;
    const cli_undelivered *lines = &job->delivery.lines;
    int status = cli_delivery_is_behind(&job->delivery) ? cli_delivery_commit(&job->delivery) : CLI_OK;

    job->unacked = job->delivery.acks.fd >= 0 ? lines->added - lines->delivered : 0;
    return status;
}

/* With a single thread, the reader notices that no input comes. */
static void reader_lull(void *context)
{
    cli_job *job = context;
    if (!job->stream.together && job->lull_status == CLI_OK)
        job->lull_status = lull(job);
}

static int put(void *context, cli_slot *slot)
{
    cli_job *job = context;
    uint64_t changes = count_verdicts(job, slot);
    int status = job->lull_status;

    if (status == CLI_OK)
        status = cli_printer_put(&job->printer, slot);
    if (status == CLI_OK && (job->printer.out.error != 0 || job->eager || slot->block.waits))
        status = cli_out_flush(&job->printer.out);
    return status == CLI_OK ? cli_delivery_put(&job->delivery, changes, slot->mark) : status;
}

/* ---- in the background ---- */

static void stop_reading(void *context)
{
    cli_job *job = context;
    const uint64_t one = 1;

    job->reader.stop = true;
    if (job->reader.wake >= 0)
        (void)!write(job->reader.wake, &one, sizeof one);
}

/* A signal also ends the waiting for somebody to take the output. */
static void stop_all(void *context)
{
    cli_job *job = context;
    const uint64_t one = 1;

    stop_reading(job);
    if (job->delivery.wake >= 0)
        (void)!write(job->delivery.wake, &one, sizeof one);
}

int cli_job_report(const cli_job *job, cli_report *report)
{
    *report = (cli_report){.read = job->read, .fresh = job->fresh, .seen = job->seen, .bytes = job->reader.bytes};
    report->set.size = sizeof report->set;
    report->seconds = (double)(cli_nanoseconds() - job->started) / 1e9;
    int error = vidi_stat(job->set, &report->set);
    if (error < 0)
        return cli_library_error(error);
    report->invalid = job->invalid;
    if (job->action == CLI_ADD)
        report->invalid += report->set.answered_invalid - job->before.answered_invalid;
    return CLI_OK;
}

static void tell(void *context)
{
    cli_job *job = context;
    cli_report report;

    if (job->drawn)
        cli_progress_clear();
    if (cli_job_report(job, &report) == CLI_OK)
        (void)cli_report_table(&report);
}

static void tick(void *context)
{
    cli_job *job = context;
    cli_report report;

    if (cli_job_report(job, &report) != CLI_OK)
        return;
    if (job->live.path)
        cli_live_publish(&job->live, &report);
    if (job->progress) {
        cli_progress_draw(&report, job->reader.taken, job->reader.size);
        job->drawn = true;
    }
}

/* ---- beginning and end ---- */

void cli_job_init(cli_job *job)
{
    *job = (cli_job){.reader = {.wake = -1, .in = {.fd = -1}}, .live = {.fd = -1}};
    cli_delivery_init(&job->delivery);
    cli_watch_hold(&job->watch);
}

/* Where the output goes, and what must have happened to it before the set is committed. */
static int begin_output(cli_job *job)
{
    cli_delivery *delivery = &job->delivery;
    cli_printer *printer = &job->printer;
    bool to_file = delivery->file.base.fd >= 0;

    cli_out_init(&printer->out, to_file ? delivery->file.base.fd : STDOUT_FILENO);
    printer->out.name = to_file ? delivery->file.base.path : NULL;
    printer->header_put = delivery->file.base.start > 0;
    job->eager = job->eager || isatty(printer->out.fd);
    delivery->set = job->commits ? job->set : NULL;
    delivery->prints = printer->what != CLI_PRINT_NOTHING;
    delivery->end = printer->end;
    delivery->caught = &job->watch.caught;
    delivery->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int status = cli_delivery_begin(delivery, &printer->out);
    if (!delivery->tracks) /* otherwise more lines would be on their way, and come again after a crash */
        (void)fcntl(printer->out.fd, F_SETPIPE_SZ, CLI_PIPE_ROOM);
    printer->lines = delivery->tracks ? &delivery->lines : NULL;
    return status;
}

static size_t block_lines(uint64_t memory)
{
    uint64_t lines = memory / STAGE_BYTES / 64 * 64;
    return lines < 64 ? 64 : lines < CLI_BLOCK_LINES ? (size_t)lines : CLI_BLOCK_LINES;
}

static int begin(cli_job *job, cli_words files)
{
    job->started = cli_nanoseconds();
    job->before.size = sizeof job->before;
    int error = vidi_stat(job->set, &job->before);
    if (error < 0)
        return cli_library_error(error);
    if (cli_reader_init(&job->reader, files, job->printer.end) != CLI_OK)
        return CLI_ERROR;
    if (begin_output(job) != CLI_OK)
        return CLI_ERROR;
    job->reader.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    job->reader.context = job;
    job->reader.limit = job->limit;
    if (job->commits)
        job->reader.block_lines = block_lines(job->before.memory_limit);
    job->reader.header = job->extract.header ? take_header : NULL;
    if (job->commits) {
        job->reader.lull = reader_lull;
        job->reader.lull_ms = CLI_COMMIT_MS;
    }
    if (job->also && !(job->others = malloc(CLI_BLOCK_LINES)))
        return cli_error("out of memory");
    job->stream = (cli_stream){.context = job,
                               .fill = fill,
                               .prepare = prepare,
                               .ask = ask,
                               .put = put,
                               .lull = lull,
                               .lull_ms = job->commits ? CLI_COMMIT_MS : 0,
                               .quit = stop_reading,
                               .threads = job->threads};
    job->watch.context = job;
    job->watch.stop = stop_all;
    job->watch.tell = tell;
    job->watch.tick = job->progress || job->live.path ? tick : NULL;
    job->watch.tick_ms = job->progress ? DRAW_MS : PUBLISH_MS;
    return CLI_OK;
}

/* The last output and the last commit. After a failed write, what was not written is not seen. */
static int finish(cli_job *job, int status)
{
    bool failed = job->stream.put_failed || job->lull_status != CLI_OK;

    status = job->lull_status != CLI_OK ? job->lull_status : status;
    if (!failed && status == CLI_OK && job->printer.counts)
        status = cli_printer_put_counts(&job->printer, job->set, &job->extract);
    if (!failed) /* a header may be all that there is */
        failed = cli_printer_put_header(&job->printer) != CLI_OK;
    if (job->complaint && !failed)
        (void)cli_out_flush(&job->printer.out);
    if (job->complaint) /* before waiting for the delivery, which may take long */
        cli_error("%s", job->complaint);
    int written = cli_delivery_end(&job->delivery, failed);
    int closed = cli_out_close(&job->printer.out);
    if (!job->complaint && closed == CLI_OK)
        cli_lacking_warn(&job->extract.lacking, &job->extract.lookup);
    if (written == CLI_UNACKED || closed != CLI_OK)
        return written == CLI_UNACKED ? written : closed;
    status = status != CLI_OK ? status : written;
    return status == CLI_OK && job->refused ? CLI_ERROR : status;
}

int cli_job_run(cli_job *job, cli_words files)
{
    int status = begin(job, files);

    if (status != CLI_OK)
        return status;
    cli_watch_begin(&job->watch);
    status = cli_stream_run(&job->stream);
    status = finish(job, status);
    cli_watch_end(&job->watch);
    cli_live_end(&job->live);
    if (job->drawn)
        cli_progress_clear();
    job->signal = job->watch.caught;
    return status;
}

void cli_job_free(cli_job *job)
{
    cli_reader_free(&job->reader);
    if (job->reader.wake > STDERR_FILENO)
        close(job->reader.wake);
    cli_watch_end(&job->watch);
    cli_printer_free(&job->printer);
    cli_delivery_free(&job->delivery);
    free(job->complaint);
    free(job->others);
}
