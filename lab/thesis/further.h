/* Experiments that carry out the further work of the thesis (chapter 7 and section 6.4), and what they share. */
#ifndef VIDI_LAB_THESIS_FURTHER_H
#define VIDI_LAB_THESIS_FURTHER_H

#include <sys/types.h>

#include "lab/engine/study.h"
#include "lab/urls/run_urls.h"

/* ---- URLs: further_site.c ---- */

/* settings->urls divided by `part`; but all of them if there are few. */
uint64_t lab_further_urls(const lab_settings *settings, uint64_t part);

/*
 * The first `wanted` URLs of the largest site among the texts, in their order; if there are too few, those of the next
 * largest site follow. A site is a host.
 */
int lab_site_choose(const lab_texts *texts, uint64_t wanted, vidi_str *site);

/* ---- members in separate processes: further_members.c ---- */

typedef struct lab_members {
    unsigned count;
    int sockets[LAB_MEMBERS_MAX];
    pid_t processes[LAB_MEMBERS_MAX]; /* 0: it has ended and was waited for */
    uint64_t messages;                /* requests and answers */
    char *request;
    uint8_t *answers; /* [member * LAB_BATCH_MAX + URL] */
} lab_members;

enum { LAB_BATCH_MAX = 4096 };

/*
 * Starts `count` processes. Each has one member of the spatial set that lab_set_make would make with the same
 * parameters and F. Call lab_members_stop in every case: it ends all processes and waits for them, and returns an error
 * if one of them failed. No other thread may be running: see fork(2).
 */
int lab_members_start(lab_members *members, const lab_settings *settings, uint64_t run, unsigned count,
                      const char *params, uint64_t capacity);
int lab_members_stop(lab_members *members);

/* Send at most LAB_BATCH_MAX URLs to all members at once and combine their answers. Fail if a member has died. */
int lab_members_add(lab_members *members, const vidi_str *urls, size_t count, uint8_t *verdicts);
int lab_members_ask(lab_members *members, const vidi_str *urls, size_t count, uint8_t *verdicts);

#endif
