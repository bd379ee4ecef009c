/*
 * The program `vidi crawl` on a test site, as a child that can be killed.
 *
 *   FOLDER/world/state     the state
 *   FOLDER/world/lines     --jsonl
 *   FOLDER/mirror          of what was synced in world (power.h)
 *   FOLDER/messages        what it has printed
 */
#ifndef TESTS_CRAWLER_SITE_PROGRAM_H
#define TESTS_CRAWLER_SITE_PROGRAM_H

#include "child.h"
#include "judge.h"
#include "site.h"
#include "support/folder.h"

typedef struct program {
    site *web;
    site_page *const *seeds;
    size_t seed_count;
    char folder[TEST_PATH], world[TEST_PATH], state[TEST_PATH], lines[TEST_PATH], mirror[TEST_PATH],
        messages[TEST_PATH], counter[TEST_PATH];
    char variables[8][TEST_PATH + 40];
    unsigned variable_count;
} program;

/* Makes the folders, the state's too, which is empty. Nothing is left of an earlier story. */
void program_begin(program *self, site *web, site_page *const *seeds, size_t count);
void program_end(program *self);

/* A fast crawl, without output but lines and messages: add further words and variables as you like. */
child_plan program_plan(const program *self);
/* Loads libpower.so; name is one of its variables, or NULL, and value its value. */
void program_power(program *self, child_plan *plan, const char *name, const char *value);
/* The number of calls that libpower.so has counted in the last life. */
uint64_t program_calls(const program *self);
/* The messages so far; the caller frees. */
char *program_messages(const program *self);

/* Judges the state; site_walk must have been called. */
void program_judge(const program *self, judgement *result, unsigned flags);
/* The same, and fails the test if anything is wrong. The story is named in the message. */
void program_must_be_right(const program *self, unsigned flags, const char *story);

#endif
