/*
 * Bodies are stored once. A response whose body the archive has already, from this visit or an earlier one, from this
 * URL or another one, becomes a revisit record, and so does a response of 304.
 *
 * The parsers pack each response, because they do not know what is stored. This thread knows: the database has the bodies
 * of committed batches, and the batch those before this page. What has been decided stays with the page, so that a
 * transaction that is tried again writes the same rows.
 *
 * The table `payloads` is sorted by digests, which have no order in time: a batch would change a page of it for nearly
 * every row. So rows wait in memory and are written by tens of thousands, sorted. If a crash takes them, the table is made
 * again from the outcomes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/crawl/storage/storage.h"

enum { WAITING = 1 << 16 }; /* rows that wait: 2 MB */

/* A page of this batch that has the body, and comes earlier. */
static bool find_in_batch(const batch *batch, const char *digest, db_payload *found)
{
    const fetch_job *page = id_map_get(&batch->payloads, db_payload_key(digest));

    if (!page || strcmp(page->harvest.digest, digest) != 0)
        return false;
    *found = (db_payload){.row = page->url.id, .url = page->url.url, .date = page->date};
    memcpy(found->record, page->harvest.record, sizeof found->record);
    return true;
}

/* VIDI_EABSENT: the body is not stored, or what is stored cannot be trusted. */
static int find(storage *storage, const fetch_job *page, db_payload *found)
{
    const harvest *h = &page->harvest;

    if (h->unchanged)
        return db_payload_find(storage->crawl->db, page->known->body, h->digest, found);
    if (h->head.len == 0 || atomic_load(&storage->crawl->distrusts_archive))
        return VIDI_EABSENT;
    if (find_in_batch(&storage->batch, h->digest, found))
        return VIDI_OK;
    uint64_t row = (uintptr_t)id_map_get(&storage->payloads, db_payload_key(h->digest));
    return db_payload_find(storage->crawl->db, row, h->digest, found);
}

static int pack(storage *storage, fetch_job *page, const db_payload *found)
{
    harvest *h = &page->harvest;
    int error = VIDI_OK;
    archive_original original = {.id = found->record, .url = found->url, .date = found->date};
    archive_exchange exchange = {.url = page->url.url,
                                 .date = page->date,
                                 .address = *h->address ? h->address : NULL,
                                 .protocol = h->protocol,
                                 .head = bytes_str(&h->head),
                                 .digest = h->digest};

    if (!storage->packer)
        storage->packer = archive_packer_open();
    if (!storage->packer)
        return VIDI_EMEMORY;
    if (h->unchanged)
        error = archive_id(storage->packer, h->record);
    return error ? error : archive_pack_revisit(storage->packer, &exchange, h->record, &original, &storage->revisit);
}

int payloads_records(storage *storage, fetch_job *page, vidi_str *records)
{
    harvest *h = &page->harvest;
    db_payload found;
    int error = h->records.len > 0 || h->unchanged ? find(storage, page, &found) : VIDI_EABSENT;

    storage->revisit.len = 0;
    *records = bytes_str(&h->records);
    if (error == VIDI_EABSENT)
        return VIDI_OK;
    if (error == VIDI_OK)
        error = pack(storage, page, &found);
    size_t length = storage->revisit.len;
    if (error == VIDI_OK && !h->unchanged) /* the request names the response by its id, which the revisit record has */
        error =
            bytes_append(&storage->revisit, h->records.ptr + h->response_length, h->records.len - h->response_length);
    if (error)
        return error;
    page->body = h->unchanged ? page->known->row : found.row;
    h->response_length = length;
    *records = bytes_str(&storage->revisit);
    return VIDI_OK;
}

/* ---- the table ---- */

static int wait_for_table(storage *storage, uint64_t key, uint64_t row)
{
    return id_map_put(&storage->payloads, key, (void *)(uintptr_t)row);
}

int payloads_note(storage *storage, fetch_job *page)
{
    const harvest *h = &page->harvest;
    uint64_t key = db_payload_key(h->digest);

    if (page->body || h->head.len == 0)
        return VIDI_OK;
    int error = id_map_put(&storage->batch.payloads, key, page);
    return error ? error : wait_for_table(storage, key, page->url.id);
}

static int by_id(const void *a, const void *b)
{
    uint64_t left = ((const id_entry *)a)->id, right = ((const id_entry *)b)->id;

    return (left > right) - (left < right);
}

static int write_table(storage *storage)
{
    const id_map *map = &storage->payloads;
    id_entry *sorted = malloc((map->count + 1) * sizeof *sorted);
    size_t count = 0;
    int error = sorted ? VIDI_OK : VIDI_EMEMORY;

    for (size_t i = 0; i < map->room && !error; i++)
        if (map->entries[i].id)
            sorted[count++] = map->entries[i];
    if (!error)
        qsort(sorted, count, sizeof *sorted, by_id);
    for (size_t i = 0; i < count && !error; i++)
        error = db_payload_add(storage->crawl->db, sorted[i].id, (uintptr_t)sorted[i].value);
    free(sorted);
    return error;
}

int payloads_write(storage *storage)
{
    storage->payloads_written = storage->payloads.count >= WAITING || storage->crawl->ends;
    return storage->payloads_written ? write_table(storage) : VIDI_OK;
}

void payloads_conclude(storage *storage)
{
    if (storage->payloads_written)
        id_map_clear(&storage->payloads);
    storage->payloads_written = false;
}

static int add_stored(void *context, uint64_t row, vidi_str digest)
{
    storage *storage = context;
    char text[40];

    snprintf(text, sizeof text, "%.*s", (int)digest.len, digest.ptr);
    int error = wait_for_table(storage, db_payload_key(text), row);
    if (!error && storage->payloads.count >= WAITING) {
        error = write_table(storage);
        id_map_clear(&storage->payloads);
    }
    return error;
}

int payloads_open(storage *storage)
{
    crawl_db *db = storage->crawl->db;

    if (!storage->crawl->archive || !db_is_doubtful(db))
        return VIDI_OK;
    int error = db_begin(db);
    if (!error)
        error = db_payloads(db, add_stored, storage);
    if (!error)
        error = db_commit(db);
    if (error)
        db_rollback(db);
    return error;
}

void payloads_free(storage *storage)
{
    archive_packer_close(storage->packer);
    bytes_free(&storage->revisit);
    id_map_free(&storage->payloads);
}
