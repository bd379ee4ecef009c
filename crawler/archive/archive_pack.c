/*
 * Packing: an exchange becomes a response record and a request record that names it.
 */
#include "crawler/archive/warc_record.h"

static int pack_response(archive_packer *packer, const archive_exchange *exchange, const char *id, bytes *to)
{
    warc_record record = {.type = "response",
                          .id = id,
                          .date = exchange->date,
                          .target = exchange->url,
                          .address = exchange->address,
                          .protocol = exchange->protocol,
                          .payload_digest = exchange->digest,
                          .content_type = "application/http;msgtype=response",
                          .block = {exchange->head, exchange->body}};

    return warc_pack(packer, &record, to);
}

static int pack_request(archive_packer *packer, const archive_exchange *exchange, const char *response, bytes *to)
{
    char id[WARC_ID_ROOM];
    int error = warc_id(packer, id);
    warc_record record = {.type = "request",
                          .id = id,
                          .date = exchange->date,
                          .target = exchange->url,
                          .address = exchange->address,
                          .protocol = exchange->protocol,
                          .concurrent_to = response,
                          .content_type = "application/http;msgtype=request",
                          .block = {exchange->request}};

    return error ? error : warc_pack(packer, &record, to);
}

int archive_pack(archive_packer *packer, const archive_exchange *exchange, bytes *to, size_t *response)
{
    char id[WARC_ID_ROOM];
    size_t before = to->len;
    int error = warc_id(packer, id);

    *response = 0;
    if (!error)
        error = pack_response(packer, exchange, id, to);
    size_t length = to->len - before;
    if (!error && exchange->request.len)
        error = pack_request(packer, exchange, id, to);
    if (error)
        to->len = before;
    else
        *response = length;
    return error;
}
