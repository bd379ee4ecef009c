/* Crawls of the same site under one policy, with sets of kind `classic`. See revisits.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/revisits/revisits.h"

double lab_revisits_bits(const lab_revisits *revisits)
{
    return floor((double)revisits->pages * revisits->bits / revisits->policy.filters);
}

unsigned lab_revisits_k(const lab_revisits *revisits)
{
    return (unsigned)fmax(1, round(revisits->bits / revisits->policy.filters * log(2)));
}

unsigned lab_revisits_period(const lab_revisits *revisits, unsigned crawls)
{
    return revisits->policy.every ? revisits->policy.every : crawls;
}

/* ---- the world ---- */

int lab_revisits_world_make(lab_revisits_world *world, const lab_settings *settings, uint64_t run, uint64_t pages,
                            uint64_t replaced)
{
    *world = (lab_revisits_world){.settings = settings, .run = run};
    LAB_TRY(LAB_NEW(world->pages, pages));
    LAB_TRY(LAB_NEW(world->order, pages));
    LAB_TRY(LAB_NEW(world->queue, pages));
    LAB_TRY(LAB_NEW(world->verdicts, pages));
    LAB_TRY(LAB_NEW(world->lost, pages));
    LAB_TRY(LAB_NEW(world->times, pages));
    return lab_texts_make(&world->texts, settings, run, 0, pages + (LAB_REVISITS_MOST - 1) * replaced);
}

/* ---- one crawl ---- */

/* The filter with which a crawl begins: another epoch, or the same filter made anew. */
static int begin(vidi_set **set, const lab_revisits_world *world, const lab_revisits *revisits)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    char params[64];
    next.capacity = revisits->pages;
    if (*set && !revisits->policy.same_salts)
        return vidi_rotate(*set, &next);
    vidi_close(*set);
    snprintf(params, sizeof params, "m=%.0f,k=%u", lab_revisits_bits(revisits), lab_revisits_k(revisits));
    return lab_set_make(set, world->settings, world->run, "classic", params, revisits->pages);
}

/* Puts new pages into random places, which are then order[0] to order[replaced - 1]. */
static void replace(lab_revisits_world *world, const lab_revisits *revisits, unsigned crawl)
{
    uint64_t next = revisits->pages + (crawl - 1) * revisits->replaced;
    lab_shuffle(world->order, revisits->pages, world->settings->seed, world->run, LAB_REVISITS_MOST + crawl);
    for (uint64_t i = 0; i < revisits->replaced; i++)
        world->pages[world->order[i]] = (uint32_t)(next + i);
}

/* Looks up the pages in the first `count` places of the order, and adds those that are new. */
static int ask(vidi_set *set, lab_revisits_world *world, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        world->queue[i] = world->texts.urls[world->pages[world->order[i]]];
    LAB_TRY(vidi_add_batch(set, world->queue, count, world->verdicts, NULL));
    for (uint64_t i = 0; i < count; i++)
        world->lost[world->order[i]] = world->verdicts[i] == VIDI_SEEN;
    return VIDI_OK;
}

static void put_in_order(lab_revisits_world *world, const lab_revisits *revisits, unsigned crawl)
{
    if (revisits->policy.same_order)
        for (uint64_t i = 0; i < revisits->pages; i++)
            world->order[i] = (uint32_t)i;
    else
        lab_shuffle(world->order, revisits->pages, world->settings->seed, world->run, crawl + 1);
}

static double count_lost(lab_revisits_world *world, uint64_t pages)
{
    uint64_t missed = 0;
    for (uint64_t i = 0; i < pages; i++) {
        missed += world->lost[i];
        world->times[i] += world->lost[i];
    }
    return (double)missed;
}

/* While a filter lasts, its crawls look up new pages only: the others are on the crawler's list, or lost. */
static int crawl_once(vidi_set **set, lab_revisits_world *world, const lab_revisits *revisits, unsigned crawl,
                      unsigned period)
{
    if (crawl > 0)
        replace(world, revisits, crawl);
    if (crawl % period != 0)
        return revisits->replaced ? ask(*set, world, revisits->replaced) : VIDI_OK;
    put_in_order(world, revisits, crawl);
    LAB_TRY(begin(set, world, revisits));
    return ask(*set, world, revisits->pages);
}

int lab_revisits_crawl(lab_revisits_world *world, const lab_revisits *revisits, unsigned crawls, lab_after_crawl *after,
                       void *context)
{
    unsigned period = lab_revisits_period(revisits, crawls);
    LAB_OWN(lab_close) vidi_set *set = NULL;
    memset(world->lost, 0, revisits->pages);
    memset(world->times, 0, revisits->pages);
    for (uint64_t i = 0; i < revisits->pages; i++)
        world->pages[i] = (uint32_t)i;
    for (unsigned crawl = 0; crawl < crawls; crawl++) {
        LAB_TRY(crawl_once(&set, world, revisits, crawl, period));
        after(world, crawl + 1, count_lost(world, revisits->pages), context);
    }
    return VIDI_OK;
}
