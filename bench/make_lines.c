/*
 * vidi-lines N [SHARE]: prints N URLs, one a line, the input of bench/stream.sh. SHARE per cent of them (40 by default)
 * repeat an earlier one. Every run prints the same.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "urls.h"

enum { CHUNK = 4096, SEED = 20 };

int main(int argc, char **argv)
{
    static char text[CHUNK * (URL_ROOM + 1)];
    uint64_t n = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 0, share = argc > 2 ? strtoull(argv[2], NULL, 10) : 40;
    uint64_t fresh = 0, at = 0;
    url_chunk chunk;

    if (n == 0 || share > 99) {
        fprintf(stderr, "usage: vidi-lines N [SHARE]\n");
        return 2;
    }
    if (url_chunk_open(&chunk, CHUNK) != 0)
        return 1;
    while (at < n) {
        size_t room = n - at < CHUNK ? (size_t)(n - at) : CHUNK, used = 0;
        for (size_t i = 0; i < room; i++, at++) {
            uint64_t draw = url_mix(at);
            bool repeat = fresh > 0 && draw % 100 < share;
            chunk.numbers[i] = repeat ? url_mix(draw) % fresh : fresh++;
        }
        url_chunk_fill(&chunk, SEED, room);
        for (size_t i = 0; i < room; i++) {
            for (size_t j = 0; j < chunk.urls[i].len; j++)
                text[used++] = chunk.urls[i].ptr[j];
            text[used++] = '\n';
        }
        if (fwrite(text, 1, used, stdout) != used)
            return 1;
    }
    url_chunk_close(&chunk);
    return fflush(stdout) == 0 ? 0 : 1;
}
