#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void *must(void *memory)
{
    if (!memory) {
        fprintf(stderr, "the test site has no memory left\n");
        exit(2);
    }
    return memory;
}

void *site_memory(size_t bytes)
{
    return must(calloc(1, bytes ? bytes : 1));
}

char *site_copy(const char *text)
{
    return must(strdup(text));
}

static void reserve(site_text *to, size_t more)
{
    if (to->room - to->length > more)
        return;
    to->room = to->room * 2 + more + 64;
    to->at = must(realloc(to->at, to->room));
}

void site_text_add(site_text *to, const void *bytes, size_t length)
{
    reserve(to, length);
    if (length)
        memcpy(to->at + to->length, bytes, length);
    to->length += length;
    to->at[to->length] = 0;
}

void site_text_put(site_text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    reserve(to, (size_t)length);
    va_start(arguments, format);
    vsnprintf(to->at + to->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    to->length += (size_t)length;
}

void site_text_free(site_text *text)
{
    free(text->at);
    *text = (site_text){0};
}

bool site_text_load(site_text *to, const char *path)
{
    char piece[65536];
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        site_text_add(to, piece, got);
    return fclose(file) == 0;
}

void site_gzip(site_text *to, const void *bytes, size_t length)
{
    enum { GZIP = 15 + 16 };
    z_stream stream = {0};
    if (deflateInit2(&stream, 9, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        must(NULL);
    size_t room = deflateBound(&stream, length);
    reserve(to, room);
    stream.next_in = (Bytef *)(size_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = (Bytef *)to->at + to->length;
    stream.avail_out = (uInt)room;
    deflate(&stream, Z_FINISH);
    to->length += stream.total_out;
    to->at[to->length] = 0;
    deflateEnd(&stream);
}

/*
 * RFC 7932, from the lowest bit on: a window of 64 KiB (0), not the last block (0), a length of four digits (00), the
 * length less one (16 bits), not compressed (1), and up to the next byte zeros. Behind the bytes the last block (1),
 * which is empty (1).
 */
void site_brotli(site_text *to, const void *bytes, size_t length)
{
    enum { MOST = 1 << 16, PLAIN = 1 << 20, END = 3 };
    size_t head = (length - 1) << 4 | PLAIN;
    if (length < 1 || length > MOST)
        must(NULL);
    site_text_add(to, (const char[]){(char)head, (char)(head >> 8), (char)(head >> 16)}, 3);
    site_text_add(to, bytes, length);
    site_text_add(to, (const char[]){END}, 1);
}
