/*
 * libcurl is loaded when the first downloader is opened, not when the program starts: with it come some 25 further
 * libraries, which would double the time that every start of vidi takes, also of commands that fetch nothing.
 */
#ifndef VIDI_CRAWLER_FETCH_LIBCURL_H
#define VIDI_CRAWLER_FETCH_LIBCURL_H

/* Loads it, once. Any thread may call it. VIDI_OK, or VIDI_ECANNOT if the library is missing or too old. */
int libcurl_load(void);

#endif
