/*
 * Runs a fuzz target over files, folders of files and a few built-in inputs, with any compiler, so that bugs found by
 * fuzzing do not come back. Each input is also tried truncated and with single bits changed, at places spread over it.
 * Prints TAP.
 */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

#define PLACES 128
#define INPUT_MAX ((size_t)1 << 20)

static size_t tests;

static void replay(const char *name, const uint8_t *data, size_t size)
{
    printf("# %s, %zu bytes\n", name, size); /* names the input if it crashes */
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    /* Runs the input in a block of exactly its size, so that the sanitizer detects overruns. */
    size_t step = size / PLACES + 1;
    for (size_t at = 0; at < size; at += step) {
        uint8_t *copy = malloc(size);
        if (!copy)
            break;
        memcpy(copy, data, size);
        copy[at] ^= (uint8_t)(1 << at % 8);
        LLVMFuzzerTestOneInput(copy, size);
        free(copy);
        copy = malloc(at + 1);
        if (!copy)
            break;
        memcpy(copy, data, at);
        LLVMFuzzerTestOneInput(copy, at);
        free(copy);
    }
    printf("ok %zu - %s\n", ++tests, name);
}

static void replay_file(const char *path)
{
    static uint8_t data[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("not ok %zu - %s cannot be opened\n", ++tests, path);
        return;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    const char *slash = strrchr(path, '/');
    replay(slash ? slash + 1 : path, data, size);
}

static void replay_path(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        replay_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            replay_file(file);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    static const uint8_t zeros[256];
    uint8_t ones[256];
    memset(ones, 0xff, sizeof ones);
    replay("nothing", zeros, 0);
    replay("zero bytes", zeros, sizeof zeros);
    replay("bytes 255", ones, sizeof ones);
    for (int i = 1; i < argc; i++)
        replay_path(argv[i]);
    printf("1..%zu\n", tests);
    return 0;
}
