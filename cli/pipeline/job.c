/*
 * Runs a job: see job.h. First the workers and whose turn it is, then what runs in the background, then how a job
 * begins and ends. slot.c has what is done with the lines. A slot is about a millisecond of work, so one lock and one
 * condition for each role are enough.
 */
#include "common/clock.h"
#include "pipeline/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "ui/progress.h"

enum {
    FEW = 3, /* workers: one may wait for input and one for the reader of the output while the third adds */
    DRAW_MS = 200,
    PUBLISH_MS = 500,
    STAGE_BYTES = 4096 /* of the limit, per line of a block: with a state, the lines of a block are staged together */
};

#define TELL_FROM_NS INT64_C(2100000000) /* other clients mostly hand a URL on within a second or two */

/* ---- workers ---- */

typedef enum role { FILL, ASK, PUT, ROLES } role;

/* A role is free, or one worker plays it for the slot with the number `next`. Slots are numbered from 0. */
typedef struct role_state {
    uint64_t next;
    bool taken;
    bool ended; /* it is never played again */
    int status; /* of the last time */
    /* Whoever waits for the role waits at the number of its slot, or at 0 if it takes any. */
    pthread_cond_t freed[CLI_WORKERS];
} role_state;

typedef struct cli_workers {
    cli_job *job;
    bool together;        /* several threads are at work */
    pthread_mutex_t lock; /* for `roles` */
    role_state roles[ROLES];
    bool few; /* lines are so long that more than FEW slots might take too much memory; for the role of fill */
    cli_shards shards;
    cli_slot slots[CLI_WORKERS];
} cli_workers;

typedef struct worker {
    cli_workers *all;
    cli_slot *slot;
} worker;

/* Runs until the end, or, if more threads are allowed, until a slot comes back full: then it returns true. */
static bool run_alone(cli_workers *all)
{
    cli_job *job = all->job;
    cli_slot *slot = &all->slots[0];
    int *fill = &all->roles[FILL].status, *ask = &all->roles[ASK].status, *put = &all->roles[PUT].status;

    while (*fill == CLI_OK && *ask == CLI_OK && *put == CLI_OK) {
        *fill = cli_slot_fill(job, slot);
        if (slot->block.count == 0)
            return false;
        cli_slot_take(slot);
        *ask = cli_slot_ask(job, slot);
        *put = cli_slot_put(job, slot);
        if (job->threads > 1 && slot->block.full)
            return *fill == CLI_OK && *ask == CLI_OK && *put == CLI_OK;
    }
    return false;
}

/* ---- several threads: whose turn it is ---- */

static pthread_cond_t *bell(role_state *role, const uint64_t *number)
{
    return &role->freed[number ? *number % CLI_WORKERS : 0];
}

/* Leaves a role; `done` is false if no slot was taken through it. The lock is held. */
static void leave(cli_workers *all, role which, bool done, int status)
{
    role_state *role = &all->roles[which];

    role->taken = false;
    role->next += done;
    if (status != CLI_OK)
        role->status = status;
    pthread_cond_signal(bell(role, which == FILL ? NULL : &role->next));
}

/* The role is never played again. The lock is held. */
static void end_role(cli_workers *all, role which)
{
    all->roles[which].ended = true;
    for (size_t i = 0; i < CLI_WORKERS; i++)
        pthread_cond_broadcast(&all->roles[which].freed[i]);
}

/* After a failure: no more slots are read or asked about, and, if nothing more may be printed, none are put. */
static void end_after(cli_workers *all, role failed)
{
    end_role(all, FILL);
    if (failed != FILL)
        end_role(all, ASK);
    if (failed == PUT)
        end_role(all, PUT);
}

/* Makes a waiting fill return at once. */
static void stop_reading(cli_job *job)
{
    const uint64_t one = 1;

    job->reader.stop = true;
    if (job->reader.wake >= 0)
        (void)!write(job->reader.wake, &one, sizeof one);
}

/* The caller plays the role of put and does not hold the lock; on return it holds the lock, and the role is free. */
static int lull_as_put(cli_workers *all)
{
    int status = cli_slot_lull(all->job);

    pthread_mutex_lock(&all->lock);
    leave(all, PUT, false, status);
    if (status == CLI_OK)
        return status;
    end_after(all, PUT);
    stop_reading(all->job);
    return status;
}

/* Plays put for a lull, if the role is free. The caller holds the lock, which is released meanwhile. */
static void rest(cli_workers *all)
{
    role_state *put = &all->roles[PUT];

    if (put->taken || put->ended)
        return;
    put->taken = true;
    pthread_mutex_unlock(&all->lock);
    (void)lull_as_put(all);
}

/*
 * Waits until the role is left or ended. With a state, a worker that has waited for CLI_COMMIT_MS while no slot was put
 * commits what was delivered meanwhile.
 */
static void wait_for(cli_workers *all, role which, const uint64_t *number)
{
    uint64_t put = all->roles[PUT].next;
    pthread_cond_t *freed = bell(&all->roles[which], number);

    if (!all->job->commits) {
        pthread_cond_wait(freed, &all->lock);
        return;
    }
    struct timespec until = clock_in(CLI_COMMIT_MS);
    int late = pthread_cond_timedwait(freed, &all->lock, &until);
    if (late == ETIMEDOUT && put == all->roles[PUT].next)
        rest(all);
}

/* Takes a role for the slot `number`, or for whichever is next if that is NULL. False: it has ended. */
static bool enter(cli_workers *all, role which, const uint64_t *number)
{
    role_state *role = &all->roles[which];

    pthread_mutex_lock(&all->lock);
    while (!role->ended && (role->taken || (number && role->next != *number)))
        wait_for(all, which, number);
    bool entered = !role->ended;
    role->taken = role->taken || entered;
    pthread_mutex_unlock(&all->lock);
    return entered;
}

int cli_job_catch_up(cli_job *job)
{
    cli_workers *all = job->workers;

    if (!all->together)
        return cli_slot_lull(job);
    const uint64_t mine = all->roles[ASK].next; /* only the role of ask changes it, which is ours */
    if (!enter(all, PUT, &mine))
        return CLI_ERROR; /* the message has been printed */
    int status = lull_as_put(all);
    pthread_mutex_unlock(&all->lock);
    return status;
}

/* ---- several threads: the work ---- */

/* Returns true if the worker, which plays the role of fill, is one too many. Then it frees its slot. */
static bool is_dismissed(worker *self)
{
    if (!self->all->few || self->slot < &self->all->slots[FEW])
        return false;
    cli_slot_free(self->slot);
    return true;
}

/* Reads the next slot. False if there is none. */
static bool fill_next(worker *self, uint64_t *number)
{
    cli_workers *all = self->all;
    role_state *role = &all->roles[FILL];

    if (!enter(all, FILL, NULL))
        return false;
    bool dismissed = is_dismissed(self);
    int status = dismissed ? CLI_OK : cli_slot_fill(all->job, self->slot);
    bool filled = self->slot->block.count > 0;
    all->few = all->few || self->slot->block.room > CLI_BLOCK_BYTES;
    pthread_mutex_lock(&all->lock);
    *number = role->next;
    leave(all, FILL, filled, status);
    if (status != CLI_OK || (!filled && !dismissed))
        end_role(all, FILL);
    pthread_mutex_unlock(&all->lock);
    return filled;
}

/* Takes the worker's slot through ask or put, when it is its turn. False if the job has ended there. */
static bool play(worker *self, role which, uint64_t number)
{
    cli_workers *all = self->all;

    if (!enter(all, which, &number))
        return false;
    int status = (which == ASK ? cli_slot_ask : cli_slot_put)(all->job, self->slot);
    pthread_mutex_lock(&all->lock);
    leave(all, which, true, status);
    if (status != CLI_OK)
        end_after(all, which);
    pthread_mutex_unlock(&all->lock);
    if (status != CLI_OK)
        stop_reading(all->job);
    return which == ASK || status == CLI_OK; /* after a failed ask, the slot is still put */
}

/* Takes a slot to the set: in shards, or when it is its turn, in the role of ask, where the result is looked at. */
static bool ask(worker *self, uint64_t number)
{
    cli_workers *all = self->all;
    cli_slot *slot = self->slot;

    cli_slot_add(all->job, slot, &all->shards, number);
    if (slot->asked)
        cli_slot_pack(all->job, slot);
    bool in_shards = slot->asked, well = play(self, ASK, number);
    if (!in_shards) /* also if the job has ended: other workers wait for it */
        cli_shards_pass(&all->shards, number);
    return well;
}

static void *work(void *context)
{
    worker *self = context;
    uint64_t number;
    bool well = true;

    while (well && fill_next(self, &number)) {
        cli_slot_take(self->slot);
        cli_slot_prepare(self->all->job, self->slot);
        well = ask(self, number);
        if (well) {
            cli_slot_pack(self->all->job, self->slot);
            well = play(self, PUT, number);
        }
    }
    return NULL;
}

/* With a state, the lines that are on their way are staged, which takes memory. */
static size_t most_workers(const cli_job *job)
{
    size_t most = job->commits ? FEW : CLI_WORKERS;
    return job->threads < most ? (size_t)job->threads : most;
}

/* The caller is the first worker. False: no thread could be started, and nothing was done. */
static bool run_together(cli_workers *all)
{
    pthread_t threads[CLI_WORKERS];
    worker each[CLI_WORKERS];
    size_t count = 1, most = most_workers(all->job);

    all->together = all->job->reader.splits_later = true;
    for (size_t i = 0; i < CLI_WORKERS; i++)
        each[i] = (worker){all, &all->slots[i]};
    while (count < most && pthread_create(&threads[count], NULL, work, &each[count]) == 0)
        count++;
    if (count == 1)
        return false;
    work(&each[0]);
    for (size_t i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    return true;
}

static void workers_init(cli_workers *all, cli_job *job)
{
    memset(all, 0, sizeof *all);
    all->job = job;
    pthread_mutex_init(&all->lock, NULL);
    cli_shards_init(&all->shards);
    for (size_t i = 0; i < ROLES * CLI_WORKERS; i++)
        (void)clock_condition(&all->roles[i / CLI_WORKERS].freed[i % CLI_WORKERS]);
}

static void workers_free(cli_workers *all)
{
    for (size_t i = 0; i < CLI_WORKERS; i++)
        cli_slot_free(&all->slots[i]);
    pthread_mutex_destroy(&all->lock);
    cli_shards_free(&all->shards);
    for (size_t i = 0; i < ROLES * CLI_WORKERS; i++)
        pthread_cond_destroy(&all->roles[i / CLI_WORKERS].freed[i % CLI_WORKERS]);
}

/* Takes slots through all steps. CLI_OK, or the status of a step that failed: put first, then ask, then fill. */
static int work_all(cli_job *job, bool *put_failed)
{
    cli_workers all;

    workers_init(&all, job);
    job->workers = &all;
    if (run_alone(&all) && !run_together(&all)) {
        job->threads = 1;
        all.together = job->reader.splits_later = false;
        run_alone(&all);
    }
    int fill = all.roles[FILL].status, ask = all.roles[ASK].status, put = all.roles[PUT].status;
    *put_failed = put != CLI_OK;
    workers_free(&all);
    job->workers = NULL;
    return put != CLI_OK ? put : ask != CLI_OK ? ask : fill;
}

/* ---- in the background ---- */

/* With a single thread, the reader notices that no input comes. */
static void reader_lull(void *context)
{
    cli_job *job = context;
    if (!job->workers->together && job->lull_status == CLI_OK)
        job->lull_status = cli_slot_lull(job);
}

/* A signal also ends the wait for a reader of the output. */
static void stop_all(void *context)
{
    cli_job *job = context;
    const uint64_t one = 1;

    stop_reading(job);
    if (job->delivery.wake >= 0)
        (void)!write(job->delivery.wake, &one, sizeof one);
    cli_target_hurry(&job->target);
    cli_target_hurry(&job->also);
}

/* The next look at the input is for lines that were put aside. */
static bool pause_for_held(void *context)
{
    return cli_held_due(&((cli_job *)context)->held) == 0;
}

/* Tells once why the program does not end. */
static void tell_waiting(cli_job *job, int64_t due)
{
    cli_number lines;

    if (job->told_waiting || due < TELL_FROM_NS)
        return;
    job->told_waiting = true;
    cli_warning("lines that wait, because other clients have claimed their URLs: %s; if these clients do not hand them "
                "on, this run will, in a minute at most",
                cli_human_count(&lines, cli_held_lines(&job->held)));
}

/*
 * Waits until a line that was put aside is due, and commits meanwhile what is delivered. False if there is none, or the
 * job must end.
 */
static bool wait_for_held(cli_job *job)
{
    struct pollfd wake = {.fd = job->reader.wake, .events = POLLIN};
    int64_t due;

    while ((due = cli_held_due(&job->held)) > 0 && !job->reader.stop && job->lull_status == CLI_OK) {
        int64_t ms = due / 1000000 + 1;
        tell_waiting(job, due);
        (void)poll(&wake, 1, ms < CLI_COMMIT_MS ? (int)ms : CLI_COMMIT_MS);
        job->lull_status = cli_slot_lull(job);
    }
    return due == 0 && !job->reader.stop && job->lull_status == CLI_OK;
}

/*
 * The statistics of the set. While the job runs, a set on a server is not asked: an answer may take a minute, for which
 * no signal would be noticed. Then, and if the server does not answer any more, they are those of the beginning, with
 * the URLs that this job has added.
 */
static int stat_target(const cli_job *job, cli_report *report)
{
    vidi_cluster_stats more;

    report->away = job->target.away != NULL;
    if (report->away && (job->runs || job->gave_up)) {
        report->set = job->before;
        report->set.count += job->action == CLI_ADD ? job->fresh : 0;
        return CLI_OK;
    }
    int error = cli_target_stat(&job->target, &report->set, &more);
    report->left = job->left;
    report->stale = more.stale;
    return cli_target_status(&job->target, error);
}

int cli_job_report(const cli_job *job, cli_report *report)
{
    *report = (cli_report){.read = job->read, .fresh = job->fresh, .seen = job->seen, .bytes = job->reader.bytes};
    report->set.size = sizeof report->set;
    report->seconds = (double)(clock_now() - job->started) / 1e9;
    CLI_TRY(stat_target(job, report));
    report->invalid = job->invalid;
    if (job->action == CLI_ADD && job->target.here)
        report->invalid += report->set.answered_invalid - job->before.answered_invalid;
    return CLI_OK;
}

static void print_statistics(void *context)
{
    cli_job *job = context;
    cli_report report;

    if (job->drawn)
        cli_progress_clear();
    if (cli_job_report(job, &report) == CLI_OK)
        (void)cli_report_print(&report, false);
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
    cli_held_init(&job->held);
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
    delivery->target = job->commits ? &job->target : NULL;
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

/* As many threads as there are processors, as far as more help. With a state, threads wait more than they compute. */
static uint64_t default_threads(const cli_job *job)
{
    cpu_set_t processors;

    if (sched_getaffinity(0, sizeof processors, &processors) != 0)
        return CLI_WORKERS; /* there are more than fit into the set */
    int count = CPU_COUNT(&processors);
    if (count > 1 && job->commits)
        return FEW;
    return count < CLI_WORKERS ? (uint64_t)count : CLI_WORKERS;
}

/*
 * Slots may be added in shards if several threads can add, and the set keeps for each URL what tells it apart: then the
 * answer on a URL does not depend on when others are added. In a Bloom filter it does.
 */
static bool may_shard(const cli_job *job)
{
    const uint32_t needed = VIDI_IS_CONCURRENT | VIDI_CAN_ITERATE;
    return job->action == CLI_ADD && !job->commits && !cli_target_is_there(&job->also) &&
           (job->before.can & needed) == needed;
}

static int begin(cli_job *job, cli_words files)
{
    job->started = clock_now();
    job->before.size = sizeof job->before;
    CLI_TRY(cli_target_status(&job->target, cli_target_stat(&job->target, &job->before, NULL)));
    job->in_shards = may_shard(job);
    job->threads = job->threads ? job->threads : default_threads(job);
    CLI_TRY(cli_reader_init(&job->reader, files, job->printer.end));
    CLI_TRY(begin_output(job));
    job->reader.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    job->reader.context = job;
    job->reader.limit = job->limit;
    if (job->commits && job->target.here)
        job->reader.block_lines = block_lines(job->before.memory_limit);
    job->reader.header = job->extract.header ? cli_slot_header : NULL;
    if (job->commits) {
        job->reader.lull = reader_lull;
        job->reader.lull_ms = CLI_COMMIT_MS;
        job->reader.pause = job->target.away ? pause_for_held : NULL;
    }
    if (cli_target_is_there(&job->also) && !(job->others = malloc(CLI_BLOCK_LINES)))
        return cli_error("out of memory");
    job->watch.context = job;
    job->watch.stop = stop_all;
    job->watch.tell = print_statistics;
    job->watch.tick = job->progress || job->live.path ? tick : NULL;
    job->watch.tick_ms = job->progress ? DRAW_MS : PUBLISH_MS;
    return CLI_OK;
}

/* The last output and the last commit. After a failed write, what was not written is not seen. */
static int finish(cli_job *job, int status, bool failed)
{
    failed = failed || job->lull_status != CLI_OK;
    status = job->lull_status != CLI_OK ? job->lull_status : status;
    if (!failed && status == CLI_OK && job->printer.counts)
        status = cli_printer_put_counts(&job->printer, job->target.here, &job->extract);
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
    bool put_failed;
    CLI_TRY(begin(job, files));
    job->runs = true;
    cli_watch_begin(&job->watch);
    int status = work_all(job, &put_failed);
    while (status == CLI_OK && !put_failed && wait_for_held(job))
        status = work_all(job, &put_failed);
    status = finish(job, status, put_failed);
    cli_watch_end(&job->watch);
    job->runs = false;
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
    cli_held_free(&job->held);
    free(job->complaint);
    free(job->others);
}
