/*
 * A decoder for one content coding, fed from memory a step at a time.
 */
#ifndef VIDI_CRAWLER_HTTP_HTTP_DECODER_H
#define VIDI_CRAWLER_HTTP_HTTP_DECODER_H

#include "common/inflate.h"

typedef enum http_coding {
    HTTP_IDENTITY,
    HTTP_GZIP,
    HTTP_ZLIB, /* what deflate is by RFC 9110 */
    HTTP_RAW,  /* what many servers send instead */
    HTTP_BROTLI,
    HTTP_ZSTD,
    HTTP_OTHER /* one that this build cannot decode */
} http_coding;

typedef struct http_decoder {
    http_coding coding;
    void *state; /* the library's */
} http_decoder;

/* False: no memory. */
bool http_decoder_open(http_decoder *decoder, http_coding coding);
void http_decoder_close(http_decoder *decoder);

/* As inflater_step. */
inflate_result http_decoder_step(http_decoder *decoder, inflate_window *window);

/* After INFLATE_ENDS: true if the rest continues the content, and begins with it. gzip has members, zstd frames. */
bool http_decoder_continues(http_decoder *decoder, const inflate_window *rest);

#endif
