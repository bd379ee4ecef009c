/*
 * The smallest useful program: prints each line of its input the first time it appears. It works in batches, and prints
 * at the end how many pages it expects to have lost.
 *
 *     cc dedup.c $(pkg-config --cflags --libs vidi) -o dedup && ./dedup < urls.txt > new.txt
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vidi/vidi.h>

#define BATCH 1024
#define LINE_MAX_BYTES 4096

/* Adds the whole batch at once and prints the URLs that are new. */
static int flush(vidi_set *set, const vidi_str *lines, size_t n)
{
    uint8_t verdicts[BATCH];
    int code = vidi_add_batch(set, lines, n, verdicts, NULL);
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] == VIDI_NEW)
            printf("%.*s\n", (int)lines[i].len, lines[i].ptr);
    return code;
}

static int run(vidi_set *set, char (*room)[LINE_MAX_BYTES])
{
    vidi_str lines[BATCH];
    size_t n = 0;
    int code = VIDI_OK;
    while (code == VIDI_OK && fgets(room[n], LINE_MAX_BYTES, stdin)) {
        lines[n] = (vidi_str){room[n], strcspn(room[n], "\n")};
        if (++n < BATCH)
            continue;
        code = flush(set, lines, n);
        n = 0;
    }
    return code == VIDI_OK ? flush(set, lines, n) : code;
}

int main(void)
{
    char(*room)[LINE_MAX_BYTES] = malloc((size_t)BATCH * LINE_MAX_BYTES);
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set = NULL;
    int code = room ? vidi_create(&set, NULL) : VIDI_EMEMORY;
    if (code == VIDI_OK)
        code = run(set, room);
    if (code == VIDI_OK)
        code = vidi_stat(set, &stats);
    if (code < 0)
        fprintf(stderr, "dedup: %s\n", vidi_message());
    else
        fprintf(stderr, "%llu URLs in %llu bytes; expected pages lost: %g\n", (unsigned long long)stats.count,
                (unsigned long long)stats.memory_bytes, stats.expected_lost);
    vidi_close(set);
    free(room);
    return code < 0;
}
