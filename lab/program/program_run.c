/*
 * How `vidi lab` measures: with URLs from files if it is asked to, with the time that is left on a terminal, and so
 * that a later command can go on where this one was interrupted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "lab/program/program.h"
#include "pipeline/input/lines.h"
#include "ui/output.h"
#include "ui/watch.h"

/* ---- progress ---- */

enum { SHOWN_EACH = 100 }; /* milliseconds */

typedef struct meter {
    double start; /* clock_seconds */
    double shown; /* when, in seconds from the start; negative: never */
    bool terminal;
    _Atomic uint64_t done, runs;
    uint64_t made; /* runs of this command, without those that an earlier one kept */
    atomic_bool stop;
} meter;

static void take_progress(void *context, const lab_tally *tally)
{
    meter *meter = context;
    cli_number left;
    double passed = clock_seconds() - meter->start;
    meter->done = tally->done;
    meter->runs = tally->runs;
    meter->made++;
    if (!meter->terminal || (meter->shown >= 0 && passed - meter->shown < SHOWN_EACH / 1e3))
        return;
    double rate = tally->work_done > 0 ? passed / tally->work_done : 1;
    double seconds = rate * (tally->work - tally->work_done);
    fprintf(stderr, "\rrun %llu of %llu, %s left \033[K", (unsigned long long)tally->done,
            (unsigned long long)tally->runs, cli_human_time(&left, seconds > 0 ? seconds : 0));
    meter->shown = passed;
}

static void end_progress(const meter *meter)
{
    if (meter->shown >= 0)
        fprintf(stderr, "\r\033[K");
}

/* ---- signals ---- */

static void stop(void *context)
{
    atomic_store(&((meter *)context)->stop, true);
}

static void tell(void *context)
{
    const meter *meter = context;
    if (meter->runs == 0)
        fprintf(stderr, "no run is done yet\n");
    else
        fprintf(stderr, "%llu of %llu runs done\n", (unsigned long long)meter->done, (unsigned long long)meter->runs);
}

static int was_stopped(const lab_options *options, const lab_book *book, int number)
{
    uint64_t kept = lab_keep_count(options->keep), done = book->tally.done;
    char text[96] = "the same command goes on from there";
    if (kept == 0)
        snprintf(text, sizeof text, "none of them was kept");
    else if (kept < done) /* the disk is full, or times were being measured in one process */
        snprintf(text, sizeof text, "%llu of them %s kept, and the same command goes on from there",
                 (unsigned long long)kept, kept == 1 ? "was" : "were");
    cli_error("stopped after %llu of %llu runs; %s", (unsigned long long)done, (unsigned long long)book->tally.runs,
              text);
    return CLI_SIGNAL + number;
}

/* ---- keeping ---- */

/* The program and its version: runs of another program are not continued. */
static void name_program(char *text, size_t room)
{
    struct stat about;
    if (stat("/proc/self/exe", &about) != 0)
        memset(&about, 0, sizeof about);
    snprintf(text, room, "vidi %s, %lld bytes of %lld.%09ld", vidi_version(), (long long)about.st_size,
             (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

static lab_keep *make_keep(const lab_options *options)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL, program[160];
    int length = -1;
    if (cache && cache[0] == '/') /* its specification says to ignore a relative one */
        length = asprintf(&folder, "%s/vidi", cache);
    else if (home && home[0] == '/')
        length = asprintf(&folder, "%s/.cache/vidi", home);
    if (length < 0)
        return NULL;
    name_program(program, sizeof program);
    lab_keep *keep = lab_keep_new(folder, program, options->fresh);
    free(folder);
    return keep;
}

/* ---- the corpus and the link graph ---- */

static int add_url(void *corpus, vidi_str line)
{
    return lab_corpus_add(corpus, line);
}

static int add_link(void *graph, vidi_str line)
{
    return lab_graph_add(graph, line);
}

/* Hands on all lines that the reader has: the exit status. */
static int add_lines(cli_reader *reader, cli_block *block, int (*add)(void *to, vidi_str line), void *to)
{
    int status = CLI_OK;
    do {
        status = cli_reader_fill(reader, block);
        for (size_t i = 0; i < block->count && status == CLI_OK; i++) {
            int error = add(to, block->lines[i]);
            status = cli_library_status(error);
        }
    } while (status == CLI_OK && block->count > 0);
    return status;
}

/* Hands on all lines of the files: the exit status. */
static int read_files(cli_words files, int (*add)(void *to, vidi_str line), void *to)
{
    cli_reader reader;
    cli_block block;
    int status = cli_block_init(&block);
    if (status == CLI_OK)
        status = cli_reader_init(&reader, files, '\n');
    if (status == CLI_OK) {
        status = add_lines(&reader, &block, add, to);
        cli_reader_free(&reader);
    }
    cli_block_free(&block);
    return status;
}

static int read_corpus(lab_options *options)
{
    CLI_TRY(cli_library_status(
        lab_corpus_make(&options->corpus, (const char *const *)options->files.list, options->files.count)));
    int status = read_files(options->files, add_url, options->corpus);
    int error = status == CLI_OK ? lab_corpus_end(options->corpus) : VIDI_OK;
    return error < 0 ? cli_library_error(error) : status;
}

static int read_graph(lab_options *options)
{
    cli_words files = options->graph_files;
    CLI_TRY(cli_library_status(lab_graph_make(&options->graph, (const char *const *)files.list, files.count)));
    int status = read_files(files, add_link, options->graph);
    int error = status == CLI_OK ? lab_graph_end(options->graph) : VIDI_OK;
    return error < 0 ? cli_library_error(error) : status;
}

/* ---- streams ---- */

/* Adds the lines of one file until its stream has enough: the exit status. */
static int add_stream(lab_streams *streams, cli_reader *reader, cli_block *block)
{
    int status = CLI_OK, added = VIDI_OK;
    do {
        status = cli_reader_fill(reader, block);
        for (size_t i = 0; i < block->count && status == CLI_OK && added == VIDI_OK; i++)
            added = lab_streams_add(streams, block->lines[i]);
    } while (status == CLI_OK && added == VIDI_OK && block->count > 0);
    return added < 0 ? cli_library_error(added) : added == LAB_STREAM_FULL ? CLI_OK : status;
}

static int read_stream(lab_streams *streams, char **file, cli_block *block)
{
    cli_reader reader;
    CLI_TRY(cli_library_status(lab_streams_begin(streams, *file)));
    CLI_TRY(cli_reader_init(&reader, (cli_words){file, 1}, '\n'));
    int status = add_stream(streams, &reader, block);
    cli_reader_free(&reader);
    return status;
}

static int read_streams(lab_options *options)
{
    cli_block block;
    CLI_TRY(cli_library_status(lab_streams_make(&options->streams, options->urls)));
    int status = cli_block_init(&block);
    for (size_t i = 0; i < options->stream_files.count && status == CLI_OK; i++)
        status = read_stream(options->streams, &options->stream_files.list[i], &block);
    cli_block_free(&block);
    int error = status == CLI_OK ? lab_streams_end(options->streams) : VIDI_OK;
    return error < 0 ? cli_library_error(error) : status;
}

static size_t count_standard_input(cli_words files)
{
    size_t count = 0;
    for (size_t i = 0; i < files.count; i++)
        count += strcmp(files.list[i], "-") == 0;
    return count;
}

int lab_options_begin(lab_options *options)
{
    if (count_standard_input(options->files) + count_standard_input(options->stream_files) +
            count_standard_input(options->graph_files) >
        1)
        return cli_error("standard input can be read only once: give '-' to one of --corpus, --streams and --graph");
    options->keep = make_keep(options);
    int status = options->files.count ? read_corpus(options) : CLI_OK;
    if (status == CLI_OK && options->graph_files.count)
        status = read_graph(options);
    return status == CLI_OK && options->stream_files.count ? read_streams(options) : status;
}

/* ---- all of it ---- */

void lab_options_end(lab_options *options, int status)
{
    lab_keep_end(options->keep, status == CLI_OK || status == CLI_CONTRADICTED);
    lab_corpus_free(options->corpus);
    lab_streams_free(options->streams);
    lab_graph_free(options->graph);
    free(options->files.list);
    free(options->graph_files.list);
    free(options->stream_files.list);
    free(options->fill.list);
}

static int measure(lab_book *book, cli_words ids, const lab_config *cell, const lab_settings *settings)
{
    if (cell)
        return lab_book_measure_cell(book, cell, settings);
    return lab_book_measure(book, (const char *const *)ids.list, ids.count, settings);
}

lab_settings lab_settings_of(const lab_options *options)
{
    return (lab_settings){
        .urls = options->urls,
        .runs = options->runs,
        .seed = options->seed,
        .precision = options->precision / 100,
        .threads = (unsigned)options->threads,
        .corpus = options->corpus,
        .streams = options->streams,
        .graph = options->graph,
    };
}

/* Whether times will be measured. */
static bool has_times(cli_words ids)
{
    const lab_study *study;
    for (size_t i = 0; ids.count == 0 && (study = lab_study_at(i)); i++)
        if (study->timed && !study->only_named)
            return true;
    for (size_t i = 0; i < ids.count; i++)
        if ((study = lab_study_find(ids.list[i])) && study->timed)
            return true;
    return false;
}

static void choose_processes(lab_settings *settings, lab_options *options, cli_words ids, const lab_config *cell)
{
    if (cell || !has_times(ids))
        return;
    if (lab_can_run_apart(options)) {
        settings->run_apart = lab_run_apart;
        settings->apart_context = options;
    } else {
        cli_warning("times are measured in one process, whose layout in memory they depend on: other processes cannot "
                    "read the corpus again unless it comes from regular files");
    }
}

static int measure_watched(lab_book *book, lab_options *options, cli_words ids, const lab_config *cell)
{
    meter meter = {.shown = -1, .terminal = isatty(STDERR_FILENO) == 1};
    cli_watch watch = {.context = &meter, .stop = stop, .tell = tell};
    lab_settings settings = lab_settings_of(options);
    settings.keep = options->keep;
    settings.stop = &meter.stop;
    settings.progress = take_progress;
    settings.context = &meter;
    choose_processes(&settings, options, ids, cell);
    meter.start = clock_seconds();
    cli_watch_hold(&watch);
    cli_watch_begin(&watch);
    int error = measure(book, ids, cell, &settings);
    cli_watch_end(&watch);
    end_progress(&meter);
    options->seconds = clock_seconds() - meter.start;
    options->continued = book->tally.done > meter.made;
    if (lab_keep_warning(options->keep)[0])
        cli_warning("%s", lab_keep_warning(options->keep));
    if (watch.caught)
        return was_stopped(options, book, watch.caught);
    return cli_library_status(error);
}

int lab_run_book(lab_book *book, lab_options *options, cli_words ids, const lab_config *cell)
{
    memset(book, 0, sizeof *book);
    int status = lab_options_begin(options);
    return status == CLI_OK ? measure_watched(book, options, ids, cell) : status;
}
