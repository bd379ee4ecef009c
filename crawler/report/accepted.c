/*
 * The list of --accept: statuses that count as fine although a link check would report them.
 */
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "crawler/report/report_state.h"

enum { LEAST = 100, MOST = 999, ROOM = 4096 }; /* all statuses take less */

/* Three digits from *at on. -1: they are no status. */
static int read_status(const char **at)
{
    int status = 0;

    for (const char *end = *at + 3; *at < end; ++*at) {
        if (!ascii_is_digit(**at))
            return -1;
        status = status * 10 + (**at - '0');
    }
    return status < LEAST ? -1 : status;
}

bool report_accepted_read(report_accepted *into, const char *list)
{
    *into = (report_accepted){.bits = {0}};
    if (!*list || strlen(list) >= ROOM)
        return !*list;
    for (const char *at = list;; at++) {
        int from = read_status(&at), to = from;
        if (from >= 0 && *at == '-') {
            at++;
            to = read_status(&at);
        }
        if (from < 0 || to < from || (*at && *at != ','))
            return false;
        for (int status = from; status <= to; status++)
            into->bits[status / 64] |= UINT64_C(1) << status % 64;
        if (!*at)
            return true;
    }
}

bool report_accepts(const report_accepted *accepted, int status)
{
    return status >= LEAST && status <= MOST && (accepted->bits[status / 64] >> status % 64 & 1);
}

int report_accepted_load(report *report)
{
    char list[ROOM];
    int error = report_meta(report, "accept", list, sizeof list);

    if (error || report_accepted_read(&report->accepted, list))
        return error;
    snprintf(report->error, sizeof report->error, "the database is damaged: its list of --accept cannot be read");
    return VIDI_EDAMAGED;
}
