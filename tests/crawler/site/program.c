#include "program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power.h"
#include "support/check.h"

void program_begin(program *self, site *web, site_page *const *seeds, size_t count)
{
    memset(self, 0, sizeof *self);
    self->web = web;
    self->seeds = seeds;
    self->seed_count = count;
    test_folder_new(self->folder, false);
    test_path(self->world, self->folder, "world");
    test_path(self->mirror, self->folder, "mirror");
    test_path(self->messages, self->folder, "messages");
    test_path(self->counter, self->folder, "counter");
    test_path(self->state, self->world, "state");
    test_path(self->lines, self->world, "lines");
    check(mkdir(self->world, 0700) == 0 && mkdir(self->state, 0700) == 0, "cannot make %s", self->state);
    test_file_write(self->folder, "counter", &(uint64_t){0}, sizeof(uint64_t));
}

void program_end(program *self)
{
    test_folder_remove(self->folder);
}

child_plan program_plan(const program *self)
{
    child_plan plan = {.err = self->messages, .out = self->messages};
    const char *vidi = child_built("vidi");
    check(vidi != NULL, "the program is not built");
    child_add(&plan, vidi, "crawl", "--state", self->state, "--jsonl", self->lines, "--delay", "0", "--per-host", "8",
              "--connections", "16", "--retries", "0", "--allow-net", "127.0.1.0/24", "-q", NULL);
    for (size_t i = 0; i < self->seed_count; i++)
        child_add(&plan, self->seeds[i]->url, NULL);
    return plan;
}

static void set(program *self, child_plan *plan, const char *name, const char *value)
{
    char *to = self->variables[self->variable_count++ % 8];
    snprintf(to, sizeof self->variables[0], "%s=%s", name, value);
    child_set(plan, to);
}

void program_power(program *self, child_plan *plan, const char *name, const char *value)
{
    const char *library = child_built("tests/libpower.so");
    check(library != NULL, "libpower.so is not built");
    self->variable_count = 0;
    set(self, plan, "LD_PRELOAD", library);
    set(self, plan, POWER_FOLDER, self->world);
    set(self, plan, POWER_COUNT, self->counter);
    if (access(self->mirror, F_OK) == 0)
        set(self, plan, POWER_MIRROR, self->mirror);
    if (name)
        set(self, plan, name, value);
    test_file_write(self->folder, "counter", &(uint64_t){0}, sizeof(uint64_t));
}

uint64_t program_calls(const program *self)
{
    uint64_t calls = 0;
    FILE *file = fopen(self->counter, "rb");
    check(file && fread(&calls, sizeof calls, 1, file) == 1, "no counter");
    fclose(file);
    return calls;
}

char *program_messages(const program *self)
{
    site_text text = {0};
    site_text_load(&text, self->messages);
    site_text_add(&text, "", 0);
    return text.at;
}

void program_judge(const program *self, judgement *result, unsigned flags)
{
    judge_crawl(result, self->web, self->state, self->lines, flags, NULL, NULL);
}

void program_must_be_right(const program *self, unsigned flags, const char *story)
{
    judgement result;
    program_judge(self, &result, flags);
    uint64_t faults = judge_faults(&result, flags);
    char *said = faults ? program_messages(self) : NULL;
    check(faults == 0,
          "%s: %llu faults (%llu of %llu right, %llu wrong, %llu missing, %llu unexpected, %llu repeated, %llu without "
          "outcome): %s; %s; it said: %.300s",
          story, (unsigned long long)faults, (unsigned long long)result.right, (unsigned long long)result.expected,
          (unsigned long long)result.wrong, (unsigned long long)result.missing, (unsigned long long)result.unexpected,
          (unsigned long long)result.repeated, (unsigned long long)result.check.unanswered, result.first,
          result.check.first, said);
    free(said);
}
