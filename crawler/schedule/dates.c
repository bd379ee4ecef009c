/*
 * Whether the dates that a server gives can be believed. Many servers send the time of the response, or that of a file
 * that everything is made from; a wrong date would make a page look busier, or quieter, than any number of visits.
 */
#include "crawler/schedule/schedule.h"

enum { WRONG_MOST = 4 }; /* after this many wrong dates the number of right ones needed grows no further */

date_verdict date_judge(const page_visit *visit, int64_t resolution)
{
    if (visit->modified < 0 || visit->previous_modified < 0)
        return DATE_SILENT;
    if (visit->modified > visit->now + DATE_SLACK || visit->modified < visit->previous_modified)
        return DATE_WRONG;
    bool moved = visit->modified > visit->previous_modified;
    if (!visit->changed)
        return moved ? DATE_WRONG : DATE_RIGHT;
    /* The last moment that the date can mean. */
    if (visit->modified + resolution + DATE_SLACK < visit->previous)
        return DATE_WRONG;
    return moved ? DATE_RIGHT : DATE_SILENT; /* changed twice within the resolution */
}

static unsigned rights_needed(const date_trust *trust)
{
    return (unsigned)DATE_RIGHTS << (trust->wrong < WRONG_MOST ? trust->wrong : WRONG_MOST);
}

void date_trust_add(date_trust *trust, date_verdict verdict, bool changed)
{
    if (verdict == DATE_RIGHT) {
        if (trust->right < rights_needed(trust))
            trust->right++;
        trust->moved |= changed;
    }
    if (verdict == DATE_WRONG)
        *trust = (date_trust){.wrong = trust->wrong < WRONG_MOST ? (uint8_t)(trust->wrong + 1) : WRONG_MOST};
}

bool date_trusted(const date_trust *trust)
{
    return trust->moved && trust->right >= rights_needed(trust);
}
