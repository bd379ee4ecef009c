/*
 * libcurl is loaded when the first downloader is opened, not when the program starts: with it come some 25 further
 * libraries, which would double the time that every start of vidi takes, also of commands that fetch nothing.
 */
#ifndef VIDI_CRAWLER_FETCH_LIBCURL_H
#define VIDI_CRAWLER_FETCH_LIBCURL_H

#include <stdbool.h>
#include <stddef.h>

/* Loads it, once. Any thread may call it. VIDI_OK, or VIDI_ECANNOT if the library is missing or too old. */
int libcurl_load(void);

/*
 * Has a function called for what OpenSSL receives and sends, piece by piece; the arguments are those of its
 * SSL_CTX_set_msg_callback. `ssl_ctx` is what CURLOPT_SSL_CTX_FUNCTION gets. Only if libcurl_watches_records.
 */
typedef void libcurl_on_record(int is_sent, int version, int type, const void *bytes, size_t n, void *ssl,
                               void *context);
bool libcurl_watches_records(void);
void libcurl_watch_records(void *ssl_ctx, libcurl_on_record *call, void *context);

#endif
