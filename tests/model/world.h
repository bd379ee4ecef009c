/*
 * One run of the model checker: a set, the model beside it, the faults that are in force, and a trace of what was done.
 * Everything in it follows from its seed, except the order in which threads that call at the same time get their turns.
 */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H

#include "model/truth.h"
#include "support/alloc.h"
#include "support/disk.h"
#include "support/random.h"
#include "support/scratch.h"
#include "vidi/transfer.h"

enum { MODEL_MARKS = 8, MODEL_DIGESTS = 24 };

/* A kind with its parameters. */
typedef struct model_kind {
    const char *kind, *params;
    uint64_t capacity;
    double error;
    bool stores_every_add, one_sided;
    bool keeps_urls;
} model_kind;

/* How a run uses the library. */
typedef struct model_config {
    const model_kind *kind;
    bool in_memory;
    bool manual;
    uint32_t sync;    /* vidi_sync_policy */
    uint32_t invalid; /* vidi_invalid_policy */
    const char *canon;
    uint64_t memory_limit; /* 0: none */
    unsigned fault_share;  /* of 100 calls, how many meet a fault */
    unsigned write_share;  /* of 100 calls, after how many vidi_write is compared */
} model_config;

/* What has happened to a call. */
typedef struct model_incident {
    bool refused; /* an allocation was refused */
    bool failed;  /* a call of the system failed, */
    bool synced;  /* and that was, or may have been, a sync */
    bool killed;  /* the process died */
} model_incident;

/* The counters of vidi_stats that follow from the answers. */
typedef struct model_counters {
    uint64_t fresh, seen, invalid, asked, removed;
    double lost; /* expected_lost */
} model_counters;

typedef struct model_mark {
    uint64_t mark;
    uint64_t serial; /* of the first operation behind it */
} model_mark;

typedef struct model_world {
    uint64_t seed;
    unsigned step;
    test_random random; /* of this step */
    model_config config;
    model_truth truth;
    test_allocator allocator;
    test_scratch folder, copy, other;
    vidi_set *set;
    vidi_set *reader; /* was opened some calls ago, and goes on seeing what it saw then */
    uint8_t reader_saw[MODEL_URLS];
    bool created;                /* vidi_create has returned VIDI_OK */
    bool broken;                 /* a call of the system has failed since the last snapshot: commits may fail */
    bool sync_failed;            /* … and it was a sync, or may have been one */
    bool merged;                 /* counts of kinds that keep no URLs are estimates after a merge */
    bool closed_well;            /* the last vidi_close met no fault: what was committed is in the folder */
    bool died_inside;            /* the process died inside a call that may have counted something */
    bool closed_whole;           /* … and nothing was staged */
    bool power_failed;           /* before the set was opened again */
    bool threads_met;            /* several threads have used the open set */
    bool found_next;             /* the set was opened and found in the next epoch, after a rotation had failed */
    const model_kind *next_kind; /* of the last rotation that was tried */
    model_incident incident;
    bool armed_sync, armed_harmless;
    model_counters counters;
    bool keeps_previous; /* what a rotation without options does */
    model_mark marks[MODEL_MARKS];
    size_t n_marks;
    vidi_digest digests[MODEL_DIGESTS];
    uint16_t digest_urls[MODEL_DIGESTS];
    uint8_t digest_verdicts[MODEL_DIGESTS];
    size_t n_digests;
    uint64_t digest_epoch;
    uint64_t limit; /* the memory limit in force, which grows when a set does not fit any more */
} model_world;

/* What the runs have shown: they would not be worth much if some of it never came up. Shared between processes. */
typedef struct model_shown {
    uint64_t seed, steps, sequences;
    uint64_t refused, failed, killed, powerless; /* calls that met such a fault; power failures */
    uint64_t errors;                             /* calls that returned an error */
    uint64_t found_less;                         /* folders in which something committed was missing, rightly */
    uint64_t calls[64];                          /* by number of the call */
    char sentence[4096];                         /* of the failure */
} model_shown;

extern model_shown *model_shown_now;

/* Ends the process: the model and the set disagree. */
_Noreturn void model_fail(const model_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define model_check(world, condition, ...)                                                                             \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            model_fail(world, __VA_ARGS__);                                                                            \
    } while (0)

/* Adds to the trace. */
void model_say(model_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
extern bool model_speaks; /* prints the trace at once */

uint64_t model_below(model_world *world, uint64_t limit);
bool model_chance(model_world *world, unsigned of_100);

/* ---- faults (faults.c) ---- */

/* Waits until no thread of the library has anything to do. */
void model_settle(void);
/* Plans a fault for the next call, or none. */
void model_arm(model_world *world);
/* Ends it, and notes in `incident` what it did. Passes the result through and puts it into the trace. */
int model_disarm(model_world *world, const char *call, int code);
#define MODEL_CALL(world, call) (model_arm(world), model_disarm(world, #call, call))
/* The same for calls that are not to fail. */
bool model_is_excused(const model_world *world, int code);
/* Fails unless the code is VIDI_OK or above, or an error with an excuse. */
void model_check_excuse(const model_world *world, const char *call, int code);

/* ---- comparisons (views.c, folders.c) ---- */

/* Compares everything with the model: the open set, what it writes, readers, and copies of the folder. */
void model_compare(model_world *world);
/* After the set was opened for writing: compares, and takes over what was found. */
void model_take_over(model_world *world);
/* The number of times each URL is in a set, as far as it tells: 0 or 1 if it does not count. */
void model_look(model_world *world, const vidi_set *set, const char *how, uint8_t verdicts[MODEL_URLS],
                uint64_t times[MODEL_URLS]);

/* Is the URL an element like any other to this set, even if it is invalid? */
bool model_is_taken(const model_world *world, size_t url);
/* A spelling of it at random. */
vidi_str model_spelling(model_world *world, size_t url);
/* How often the URL is in the open set, according to the model. */
uint8_t model_times(const model_world *world, size_t url);
/* The text of a note follows from its number. Some are empty, as that of note 0. Returns its length. */
size_t model_note_text(uint64_t seed, uint32_t number, char text[VIDI_NOTE_MAX]);

/* ---- life (life.c) ---- */

extern const model_kind model_kinds[];
extern const size_t model_n_kinds;

void model_begin(model_world *world, uint64_t seed);
void model_end(model_world *world);
void model_access(const model_world *world, vidi_access *access, unsigned flags);
/* Makes or opens the set, meeting faults on the way, until that succeeds. */
void model_open(model_world *world);
void model_close(model_world *world);
void model_close_reader(model_world *world);
/* The process has died. `power`: and the power has failed. */
void model_die(model_world *world, bool power);

/* ---- the calls: each makes one call of the interface, or several, with faults, and tells the model ---- */

void model_call_add(model_world *world);
void model_call_add_batch(model_world *world);
void model_call_digest(model_world *world);
void model_call_add_digests(model_world *world);
void model_call_remove(model_world *world);

void model_call_commit(model_world *world);
void model_call_mark(model_world *world);
void model_call_commit_to(model_world *world);
void model_call_commit_note(model_world *world);
void model_call_sync(model_world *world);
void model_call_snapshot(model_world *world);
void model_call_pass_time(model_world *world);
void model_call_reopen(model_world *world);
void model_call_kill(model_world *world);
void model_call_read_beside(model_world *world);

void model_call_rotate(model_world *world);
void model_call_drop_previous(model_world *world);
void model_call_merge(model_world *world);
void model_call_write(model_world *world);
void model_call_read(model_world *world);
void model_call_copy(model_world *world);
void model_call_open_wrongly(model_world *world);

void model_call_together(model_world *world);

void model_call_look(model_world *world);
void model_call_inspect(model_world *world);
void model_call_tend(model_world *world);

/* Makes one of them at random. */
void model_make_call(model_world *world);

#endif
