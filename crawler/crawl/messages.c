/*
 * What the threads of a crawl hand to each other: making and freeing it.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/crawl/crawl_state.h"

fetch_job *fetch_job_make(const frontier_url *url, uint64_t block, uint32_t level)
{
    fetch_job *made = calloc(1, sizeof *made + url->url.len + 1);

    if (!made)
        return NULL;
    made->message.kind = MESSAGE_FETCH_JOB;
    made->url = *url;
    memcpy(made->text, url->url.ptr, url->url.len);
    made->url.url = (vidi_str){made->text, url->url.len};
    made->block = block;
    made->level = level;
    return made;
}

void fetch_job_free(fetch_job *job)
{
    if (!job)
        return;
    if (job->response)
        fetch_response_free(job->response);
    if (job->harvested)
        harvest_free(&job->harvest);
    free(job->known);
    cookie_changes_free(job->cookies);
    free(job);
}

static void url_block_free(url_block *block)
{
    for (size_t i = 0; block->known && i < block->count; i++)
        free(block->known[i]);
    bytes_free(&block->text);
    free(block->known);
    free(block->urls);
    free(block);
}

static void host_info_free(host_info *info)
{
    bytes_free(&info->origin);
    bytes_free(&info->robots);
    bytes_free(&info->sitemaps);
    free(info);
}

host_request *host_request_make(message_kind kind, uint64_t host, uint64_t count)
{
    host_request *made = calloc(1, sizeof *made);

    if (made)
        *made = (host_request){.message = {.kind = (int)kind}, .host = host, .count = count};
    return made;
}

void message_free(message *one)
{
    if (!one)
        return;
    switch (one->kind) {
    case MESSAGE_FETCH_JOB:
        fetch_job_free((fetch_job *)one);
        break;
    case MESSAGE_URL_BLOCK:
        url_block_free((url_block *)one);
        break;
    case MESSAGE_HOST_INFO:
        host_info_free((host_info *)one);
        break;
    default:
        bytes_free(&((host_request *)one)->urls);
        free(one);
    }
}

void messages_free(messages *list)
{
    message *one;

    while ((one = messages_remove(list)))
        message_free(one);
}
