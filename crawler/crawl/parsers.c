/*
 * The threads that read responses: unpack them, find links, pack records for the archive. All of that is harvest_read,
 * a pure function; this file has the threads around it. After a 304, the stored response is read instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

    return sizeof *job + h->records.room + h->head.room + h->text.room + h->names.room +
           h->link_room * sizeof *h->links;
}

/* A seed that leads out of the crawl is a crawl of one page: nearly always a mistake. */
static void warn_of_seed(const crawl *crawl, const fetch_job *page)
{
    const harvest *h = &page->harvest;

    if (page->url.kind == FRONTIER_SEED && h->redirect.ptr && h->link_count == 0 && h->skipped[HARVEST_SCOPE] > 0)
        crawl_warn(crawl, "%s redirects to %.*s, which is out of scope: name that as a seed, or use --scope site",
                   page->text, (int)h->redirect.len, h->redirect.ptr);
}

/* Links to the page itself and redirects are no recommendation. If there is no memory for a key, it is not counted. */
static void count_links(const crawl *crawl, const fetch_job *page)
{
    const harvest *h = &page->harvest;
    uint64_t key;

    for (size_t i = 0; i < h->link_count; i++) {
        vidi_str url = h->links[i].url;
        bool itself = url.len == page->url.url.len && memcmp(url.ptr, page->url.url.ptr, url.len) == 0;
        if (!itself && !h->links[i].is_redirect && url_keys_make(crawl->keys, &url, 1, &key) == VIDI_OK)
            link_counts_add(crawl->link_counts, key);
    }
}

/* ---- pages that have not changed ---- */

/* What a thread reads responses with. */
typedef struct parser {
    crawl *crawl;
    archive_packer *packer; /* NULL: nothing is stored */
    archive_reader *stored; /* NULL: not opened yet */
} parser;

static bool was_asked_if_changed(const fetch_job *page)
{
    return page->status == 304 && page->known;
}

static int open_archive(parser *self)
{
    char *folder;

    if (self->stored)
        return VIDI_OK;
    if (asprintf(&folder, "%s/archive", self->crawl->options.folder) < 0)
        return VIDI_EMEMORY;
    int error = archive_reader_open(&self->stored, folder, ARCHIVE_EVERYWHERE);
    free(folder);
    return error;
}

/* Reads the body that the page had, and the head that came with it, as a response. 1: here it is. */
static int read_stored(parser *self, const fetch_job *page, fetch_response *to)
{
    archive_record record;
    const known_page *known = page->known;
    int error = open_archive(self);
    int result = error ? error : archive_reader_at(self->stored, known->body_at.file, known->body_at.offset, &record);

    if (result == 1 && (!record.body.ptr || bytes_append_str(&to->body, record.body) != VIDI_OK))
        result = record.body.ptr ? VIDI_EMEMORY : VIDI_EDAMAGED;
    if (result == 1 && known->row != known->body)
        result = archive_reader_at(self->stored, known->head_at.file, known->head_at.offset, &record);
    if (result == 1 && bytes_append_str(&to->head, record.head) != VIDI_OK)
        result = VIDI_EMEMORY;
    to->status = 200;
    return result;
}

/* What the response of 304 says itself. Validators that it does not repeat are still good. */
static void take_own(const crawl *crawl, fetch_job *page)
{
    harvest *into = &page->harvest;
    const known_page *known = page->known;

    snprintf(into->etag, sizeof into->etag, "%s", known->etag ? known->etag : "");
    snprintf(into->modified, sizeof into->modified, "%s", known->modified ? known->modified : "");
    harvest_unchanged(into, &crawl->rules, page->response);
}

/*
 * The links of a page that has not changed are those of the body that is stored. VIDI_EDAMAGED: that cannot be read, so
 * the page must be requested whole.
 */
static int read_unchanged(parser *self, fetch_job *page)
{
    fetch_response stored = {0};
    int result = read_stored(self, page, &stored);

    if (result == 1) {
        page->harvested = true;
        result = harvest_read(&page->harvest, &self->crawl->rules, NULL, &page->url, &stored);
        take_own(self->crawl, page);
    }
    bytes_free(&stored.head);
    bytes_free(&stored.body);
    return result;
}

/* The fetcher requests it once more. */
static void request_whole(crawl *crawl, fetch_job *page)
{
    messages again = {0};

    if (!atomic_exchange(&crawl->distrusts_archive, true))
        crawl_warn(crawl,
                   "the archive is damaged ('vidi crawl check' tells where): pages that have not changed are requested "
                   "whole");
    fetch_response_free(page->response);
    page->response = NULL;
    page->status = 0;
    atomic_fetch_sub(&crawl->weight, page->weight);
    atomic_fetch_sub(&crawl->fetch_jobs, 1);
    messages_add(&again, &page->message);
    if (!message_queue_put(&crawl->to_fetcher, &again))
        messages_free(&again);
    fetch_wake(crawl->downloader);
    crawl_handled(crawl, 1);
}

/* ---- reading ---- */

/* A page that could not be read must not be committed, because its links would be lost: false. */
static bool read_one(parser *self, fetch_job *page)
{
    crawl *crawl = self->crawl;
    int error;

    if (was_asked_if_changed(page)) {
        error = read_unchanged(self, page);
        if (error == VIDI_EDAMAGED || error == VIDI_EIO) {
            request_whole(crawl, page);
            return false;
        }
    } else {
        page->harvested = true;
        error = harvest_read(&page->harvest, &crawl->rules, self->packer, &page->url, page->response);
    }
    if (error) {
        crawl_fail(crawl, "cannot read %.200s: %s", page->text, vidi_strerror(error));
        message_free(&page->message);
        return false;
    }
    warn_of_seed(crawl, page);
    if (crawl->link_counts)
        count_links(crawl, page);
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

static void read_all(parser *self)
{
    crawl *crawl = self->crawl;
    messages taken = {0}, ready = {0};

    while (message_queue_take(&crawl->to_parsers, &taken, TAKEN, -1)) {
        message *one;
        while ((one = messages_remove(&taken)))
            if (read_one(self, (fetch_job *)one))
                messages_add(&ready, one);
        crawl_to_storage(crawl, &ready);
    }
}

static void *run(void *context)
{
    crawl *crawl = context;
    parser self = {.crawl = crawl, .packer = crawl->rules.store ? archive_packer_open() : NULL};

    if (crawl->rules.store && !self.packer)
        crawl_no_memory(crawl);
    else
        read_all(&self);
    archive_packer_close(self.packer);
    archive_reader_close(self.stored);
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
