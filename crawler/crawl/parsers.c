/*
 * The threads that read responses: unpack them, find links, pack records for the archive. All of that is harvest_read,
 * a pure function; this file has the threads around it.
 */
#include <stdlib.h>

#include "crawler/crawl/crawl_state.h"

enum { TAKEN = 16 }; /* fetch jobs that a parser takes at a time */

struct parsers {
    crawl *crawl;
    unsigned count;
    pthread_t threads[];
};

/* Memory that the fetch job holds on to. */
static size_t weight_of(const fetch_job *job)
{
    const harvest *h = &job->harvest;

    return sizeof *job + h->records.room + h->text.room + h->link_room * sizeof *h->links;
}

/* A seed that leads out of the crawl is a crawl of one page: nearly always a mistake. */
static void warn_of_seed(const crawl *crawl, const fetch_job *page)
{
    const harvest *h = &page->harvest;

    if (page->url.kind == FRONTIER_SEED && h->redirect.ptr && h->link_count == 0 && h->skipped[HARVEST_SCOPE] > 0)
        crawl_warn(crawl, "%s redirects to %.*s, which is out of scope: name that as a seed, or use --scope site",
                   page->text, (int)h->redirect.len, h->redirect.ptr);
}

/* False if it could not be read: it must not be committed, because its links would be lost. */
static bool read_one(crawl *crawl, archive_packer *packer, fetch_job *page)
{
    page->harvested = true;
    int error = harvest_read(&page->harvest, &crawl->rules, packer, &page->url, page->response);
    if (error) {
        crawl_fail(crawl, "cannot read %.200s: %s", page->text, vidi_strerror(error));
        return false;
    }
    warn_of_seed(crawl, page);
    fetch_response_free(page->response);
    page->response = NULL;
    size_t weight = weight_of(page);
    if (weight > page->weight)
        atomic_fetch_add(&crawl->weight, weight - page->weight);
    else
        atomic_fetch_sub(&crawl->weight, page->weight - weight);
    page->weight = weight;
    return true;
}

static void read_all(crawl *crawl, archive_packer *packer)
{
    messages taken = {0}, ready = {0};

    while (message_queue_take(&crawl->to_parsers, &taken, TAKEN, -1)) {
        message *one;
        while ((one = messages_remove(&taken))) {
            if (read_one(crawl, packer, (fetch_job *)one))
                messages_add(&ready, one);
            else
                message_free(one);
        }
        crawl_to_storage(crawl, &ready);
    }
}

static void *run(void *context)
{
    crawl *crawl = context;
    archive_packer *packer = crawl->rules.store ? archive_packer_open() : NULL;

    if (crawl->rules.store && !packer)
        crawl_no_memory(crawl);
    else
        read_all(crawl, packer);
    archive_packer_close(packer);
    return NULL;
}

int parsers_start(parsers **made, crawl *crawl)
{
    unsigned wanted = crawl->options.threads;
    parsers *all = calloc(1, sizeof *all + wanted * sizeof *all->threads);

    *made = all;
    if (!all)
        return VIDI_EMEMORY;
    all->crawl = crawl;
    while (all->count < wanted && pthread_create(&all->threads[all->count], NULL, run, crawl) == 0)
        all->count++;
    return all->count > 0 ? VIDI_OK : VIDI_ESYSTEM;
}

void parsers_join(parsers *parsers)
{
    if (!parsers)
        return;
    for (unsigned i = 0; i < parsers->count; i++)
        pthread_join(parsers->threads[i], NULL);
    free(parsers);
}
