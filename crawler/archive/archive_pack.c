/*
 * Packing: an exchange becomes a response record, or a revisit record, and a request record that names it.
 */
#include "crawler/archive/warc_record.h"

#define PROFILE "http://netpreserve.org/warc/1.1/revisit/"

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

/*
 * The head of a response of 304 is left out: players would show it in place of the original's, and it has neither
 * Content-Type nor Content-Encoding.
 */
int archive_pack_revisit(archive_packer *packer, const archive_exchange *exchange, const unsigned char id[ARCHIVE_ID],
                         const archive_original *original, bytes *to)
{
    bool same_payload = exchange->head.len > 0;
    char text[ARCHIVE_ID_ROOM];
    warc_record record = {.type = "revisit",
                          .id = text,
                          .date = exchange->date,
                          .target = exchange->url,
                          .address = exchange->address,
                          .protocol = exchange->protocol,
                          .payload_digest = exchange->digest,
                          .profile = same_payload ? PROFILE "identical-payload-digest" : PROFILE "server-not-modified",
                          .original = original,
                          .content_type = same_payload ? "application/http;msgtype=response" : NULL,
                          .block = {exchange->head}};

    archive_id_text(id, text);
    return warc_pack(packer, &record, to);
}

static int pack_request(archive_packer *packer, const archive_exchange *exchange, const char *response, bytes *to)
{
    unsigned char id[ARCHIVE_ID];
    char text[ARCHIVE_ID_ROOM];
    int error = archive_id(packer, id);
    warc_record record = {.type = "request",
                          .id = text,
                          .date = exchange->date,
                          .target = exchange->url,
                          .address = exchange->address,
                          .protocol = exchange->protocol,
                          .concurrent_to = response,
                          .content_type = "application/http;msgtype=request",
                          .block = {exchange->request}};

    if (error)
        return error;
    archive_id_text(id, text);
    return warc_pack(packer, &record, to);
}

int archive_pack(archive_packer *packer, const archive_exchange *exchange, bytes *to, size_t *response,
                 unsigned char id[ARCHIVE_ID])
{
    char text[ARCHIVE_ID_ROOM];
    size_t before = to->len;
    int error = archive_id(packer, id);

    *response = 0;
    archive_id_text(id, text);
    if (!error)
        error = pack_response(packer, exchange, text, to);
    size_t length = to->len - before;
    if (!error && exchange->request.len)
        error = pack_request(packer, exchange, text, to);
    if (error)
        to->len = before;
    else
        *response = length;
    return error;
}
