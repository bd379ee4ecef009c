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
static size_t weight_of(const fetch_job *of)
{
    const harvest *h = &of->harvest;

    return sizeof *of + h->records.room + h->text.room + h->link_room * sizeof *h->links;
}

/* A seed that leads out of the crawl is a crawl of one page: nearly always a mistake. */
static void warn_of_seed(const crawl *of, const fetch_job *page)
{
    const harvest *h = &page->harvest;

    if (page->url.kind == FRONTIER_SEED && h->redirect.ptr && h->link_count == 0 && h->skipped[HARVEST_SCOPE] > 0)
        crawl_warn(of, "%s redirects to %.*s, which is out of scope: name that as a seed, or use --scope site",
                   page->text, (int)h->redirect.len, h->redirect.ptr);
}

/* False if it could not be read: it must not be committed, because its links would be lost. */
static bool read_one(crawl *of, archive_packer *packer, fetch_job *page)
{
    page->harvested = true;
    int error = harvest_read(&page->harvest, &of->rules, packer, &page->url, page->response);
    if (error) {
        crawl_fail(of, "cannot read %.200s: %s", page->text, vidi_strerror(error));
        return false;
    }
    warn_of_seed(of, page);
    fetch_response_free(page->response);
    page->response = NULL;
    size_t weight = weight_of(page);
    if (weight > page->weight)
        atomic_fetch_add(&of->weight, weight - page->weight);
    else
        atomic_fetch_sub(&of->weight, page->weight - weight);
    page->weight = weight;
    return true;
}

static void read_all(crawl *of, archive_packer *packer)
{
    messages taken = {0}, ready = {0};

    while (message_queue_take(&of->to_parsers, &taken, TAKEN, -1)) {
        message *one;
        while ((one = messages_remove(&taken))) {
            if (read_one(of, packer, (fetch_job *)one))
                messages_add(&ready, one);
            else
                message_free(one);
        }
        crawl_to_storage(of, &ready);
    }
}

static void *run(void *context)
{
    crawl *of = context;
    archive_packer *packer = of->rules.store ? archive_packer_open() : NULL;

    if (of->rules.store && !packer)
        crawl_no_memory(of);
    else
        read_all(of, packer);
    archive_packer_close(packer);
    return NULL;
}

int parsers_start(parsers **made, crawl *of)
{
    unsigned wanted = of->options.threads;
    parsers *all = calloc(1, sizeof *all + wanted * sizeof *all->threads);

    *made = all;
    if (!all)
        return VIDI_EMEMORY;
    all->crawl = of;
    while (all->count < wanted && pthread_create(&all->threads[all->count], NULL, run, of) == 0)
        all->count++;
    return all->count > 0 ? VIDI_OK : VIDI_ESYSTEM;
}

void parsers_join(parsers *of)
{
    if (!of)
        return;
    for (unsigned i = 0; i < of->count; i++)
        pthread_join(of->threads[i], NULL);
    free(of);
}
