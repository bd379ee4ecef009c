/*
 * A story: lives of the program that share a state, one after the other, each fed with the same input from the beginning.
 * After each life the checker judges.
 */
#ifndef TESTS_CLI_LIVES_STORY_H
#define TESTS_CLI_LIVES_STORY_H

#include "checker.h"
#include "life.h"
#include "support/random.h"

typedef struct story {
    life_place place;
    const char *kind, *sync;
    life_way way;
    unsigned leap_ms, threads;
    uint64_t seed; /* printed when something fails */
    test_random random;
    text input;
    text *handed; /* a text per life with a consumer, or the output file */
    size_t texts;
    text fresh; /* what the last judgement found: the next life will print just that */
    uint64_t lives;
    fate fate; /* of the last life that had one */
    size_t poured;
    bool acks_to_fifo;
    uint64_t torn; /* lives after which >> FILE did not end with a line */
    bool made;     /* the state was there after one of the lives */
    checker_report report;
} story;

/* Sums over stories, for a line at the end. */
typedef struct story_sums {
    uint64_t stories, lives, killed, failed, consumers_died, snapshots, calls, twice, again, torn;
} story_sums;

enum {
    STORY_ON_DISK = 1,   /* where syncs cost something */
    STORY_LONG_LINES = 2 /* each longer than what the program or a pipe takes at once, and committed and synced alone */
};

void story_begin(story *self, life_way way, uint64_t seed, unsigned flags);

/* The state and the output lie in this folder. */
void story_move(story *self, const char *folder);

/* One life without a judgement. */
void story_live(story *self, const life *plan, life_end *end);

/* A life with the story's settings, and nothing that happens to it. */
life story_plain_life(const story *self);

/* What the checker says now, or if these lines were fresh. */
void story_judge(story *self);
void story_judge_with(story *self, checker_text fresh);

/* A life, and everything that was promised about what it leaves behind. Returns how often its fate struck. */
uint64_t story_live_well(story *self, const life *plan, story_sums *sums);

/* A last life that nothing happens to: then everything was handed over. */
void story_end_well(story *self, story_sums *sums);
void story_free(story *self);

/* ">> FILE" and so on. */
const char *story_way(life_way way);

/* Which story, which life, and how to repeat it: for messages. */
const char *story_name(const story *self);

#endif
