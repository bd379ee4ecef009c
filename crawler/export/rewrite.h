/*
 * Replaces URLs in a page. Only the values of attributes change; everything else stays byte for byte.
 *
 * Two kinds of pages cannot stay as they are, and are written in UTF-8 with a byte order mark in front: those in
 * encodings whose bytes cannot be told apart one character at a time (UTF-16, and Chinese, Japanese and Korean ones
 * but UTF-8), and those whose encoding only the header of the response has told, because a file has no header.
 */
#ifndef VIDI_CRAWLER_EXPORT_REWRITE_H
#define VIDI_CRAWLER_EXPORT_REWRITE_H

#include "crawler/base/bytes.h"
#include "crawler/html/html.h"

typedef struct rewrite_options {
    vidi_str url;     /* of the page */
    vidi_str charset; /* in its header; ptr NULL: none */
    /*
     * Appends what is to stand in place of link->value: 1 if it did, 0 if the link stays, or an error. `has_base`: what
     * the page says in <base href> is removed.
     */
    int (*choose)(void *context, const html_link *link, bool has_base, bytes *to);
    void *context;
} rewrite_options;

/* Appends the rewritten page. VIDI_OK, VIDI_EMEMORY, VIDI_ELIMIT for pages of 1 GiB and more, or choose's error. */
int rewrite_html(vidi_str page, const rewrite_options *options, bytes *to);

#endif
