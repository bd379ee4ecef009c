/*
 * Lists of jobs, and what errors of servers mean: see jobs.h.
 */
#include "fleet/redis/jobs.h"

#include <string.h>

void job_append(job_list *list, job *job)
{
    job->next = NULL;
    if (list->last)
        list->last->next = job;
    else
        list->first = job;
    list->last = job;
}

job *job_take(job_list *list)
{
    job *first = list->first;
    if (first) {
        list->first = first->next;
        list->last = list->first ? list->last : NULL;
        first->next = NULL;
    }
    return first;
}

fault fault_of(vidi_str error)
{
    static const struct {
        const char *word;
        fault fault;
    } known[] = {
        {"MOVED", FAULT_MOVED},       {"ASK", FAULT_ASK}, {"TRYAGAIN", FAULT_LATER}, /* a slot is on its way */
        {"LOADING", FAULT_LATER},                                                    /* after a start */
        {"BUSY", FAULT_LATER},                                                       /* a script runs */
        {"NOREPLICAS", FAULT_LATER},                                                 /* min-replicas-to-write */
        {"LOADING", FAULT_SLOTS},     /* after a start; another server may have taken over */
        {"CLUSTERDOWN", FAULT_SLOTS}, /* slots without a server, or a minority of servers */
        {"MASTERDOWN", FAULT_ROLE},   /* a replica without a link to its primary */
        {"READONLY", FAULT_ROLE},     /* a replica */
        {"UNBLOCKED", FAULT_ROLE},    /* it has become a replica while it waited */
    };
    size_t n = 0;
    while (n < error.len && error.ptr[n] != ' ')
        n++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].word) == n && memcmp(known[i].word, error.ptr, n) == 0)
            return known[i].fault;
    return FAULT_FINAL;
}
