/*
 * vidi-bloom-lines N: a simple program with libbloom, for bench/stream.sh to compare vidi with. It prints each line of
 * standard input that is not yet in its filter, which is made for N lines at an error rate of 1e-6.
 */
#include <bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

int main(int argc, char **argv)
{
    struct bloom bloom;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (argc != 2 || bloom_init(&bloom, (int)strtod(argv[1], NULL), 1e-6)) {
        fprintf(stderr, "usage: vidi-bloom-lines N\n");
        return 2;
    }
    while ((length = getline(&line, &room, stdin)) > 0)
        if (bloom_add(&bloom, line, (int)length) == 0)
            fwrite(line, 1, (size_t)length, stdout);
    free(line);
    bloom_free(&bloom);
    return fflush(stdout) == 0 ? 0 : 1;
}
