/*
 * What only --check writes, apart from the edges, and what it asks for at the end: see storage.h.
 *
 * A link that must not be followed cannot be asked for at once: the set would then know its URL, and a link to the same
 * page that may be followed would no longer be new. So it waits in the database until nothing else is left. Then it goes
 * through the set as other links do, and is new only if no other link led there.
 */
#include "crawler/base/list.h"
#include "crawler/crawl/storage/storage.h"

enum { ASKED = 1000 }; /* links that go through the set together */

/* ---- writing ---- */

vidi_str link_text(const harvest_link *link)
{
    return link->is_redirect ? (vidi_str){"(redirect)", 10} : link->text;
}

static int write_nofollow(storage *storage)
{
    batch *b = &storage->batch;
    int error = VIDI_OK;

    for (size_t i = 0; i < b->asked_count && error == VIDI_OK; i++)
        error = db_nofollow_drop(storage->crawl->db, b->asked_keys[i]);
    for (size_t i = 0; i < b->link_count && error == VIDI_OK; i++) {
        const batch_link *from = &b->links[i];
        if (!from->link || !from->link->nofollow)
            continue;
        db_nofollow link = {.key = b->targets[i],
                            .url = from->link->url,
                            .page = from->page->url.id,
                            .depth = from->page->url.depth + 1};
        error = db_nofollow_add(storage->crawl->db, &link);
    }
    return error;
}

static int write_fragments(storage *storage)
{
    batch *b = &storage->batch;
    int error = VIDI_OK;

    for (size_t i = 0; i < b->link_count && error == VIDI_OK; i++) {
        const batch_link *from = &b->links[i];
        if (from->link && from->link->has_fragment)
            error = db_fragment(storage->crawl->db, b->targets[i], from->page->url.id, link_text(from->link),
                                from->link->fragment);
    }
    for (message *one = b->fetch_jobs.first; one && error == VIDI_OK; one = one->next) {
        const fetch_job *page = (fetch_job *)one;
        const bytes *names = &page->harvest.names;
        if (page->harvested && page->harvest.has_names)
            error = db_names(storage->crawl->db, page->url.id, names->len ? bytes_str(names) : (vidi_str){"", 0});
    }
    return error;
}

int link_check_write(storage *storage)
{
    int error = storage->crawl->targets ? write_nofollow(storage) : VIDI_OK;

    return error || !storage->crawl->rules.fragments ? error : write_fragments(storage);
}

/* ---- asking ---- */

static int take_one(void *context, const db_nofollow *link)
{
    batch *b = context;
    frontier_url *url = &b->asked[b->asked_count];

    *url = (frontier_url){
        .url = {NULL, link->url.len}, .depth = link->depth, .kind = FRONTIER_OUTSIDE, .referrer = link->page};
    b->asked_keys[b->asked_count++] = link->key;
    return bytes_append_str(&b->asked_text, link->url);
}

static int take_some(storage *storage)
{
    batch *b = &storage->batch;

    if (!b->asked)
        b->asked = malloc(ASKED * sizeof *b->asked);
    if (!b->asked_keys)
        b->asked_keys = malloc(ASKED * sizeof *b->asked_keys);
    if (!b->asked || !b->asked_keys)
        return VIDI_EMEMORY;
    int error = db_nofollow_read(storage->crawl->db, ASKED, take_one, b);
    const char *at = b->asked_text.ptr;
    for (size_t i = 0; i < b->asked_count; i++) {
        b->asked[i].url.ptr = at;
        at += b->asked[i].url.len;
    }
    return error;
}

int link_check_ask(storage *storage, bool *asked)
{
    bool turns_are_over = storage->continuous.left == 0;
    int error = storage->crawl->targets && turns_are_over ? take_some(storage) : VIDI_OK;

    *asked = error == VIDI_OK && storage->batch.asked_count > 0;
    return *asked ? storage_commit(storage) : error;
}
