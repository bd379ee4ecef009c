/*
 * site_server: the test site as a program, for trying things by hand and for tests of the program.
 *
 *     site_server [--pages N] [--hosts N] [--seed N] [--body BYTES] [--tree] [--folder PATH] [--traps] [--log FILE]
 *                 [--truth FILE]
 *
 * Prints a line for each seed and ends when its input ends. --truth writes a line for each page: URL, status, reason and
 * depth, with a tab between; pages that must not be visited are left out.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worlds.h"

typedef struct arguments {
    world_web web;
    const char *folder, *log, *truth;
    bool traps;
} arguments;

static int usage(void)
{
    fprintf(stderr, "usage: site_server [--pages N] [--hosts N] [--seed N] [--body BYTES] [--tree] [--folder PATH] "
                    "[--traps] [--log FILE] [--truth FILE]\n");
    return 2;
}

static bool read_arguments(arguments *into, char **at)
{
    for (; *at; at++) {
        const char *name = *at, *value = at[1] ? at[1] : "";
        if (strcmp(name, "--traps") == 0) {
            into->traps = true;
            continue;
        }
        if (strcmp(name, "--tree") == 0) {
            into->web.tree = true;
            continue;
        }
        if (strcmp(name, "--pages") == 0)
            into->web.pages = strtoull(value, NULL, 10);
        else if (strcmp(name, "--hosts") == 0)
            into->web.hosts = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--seed") == 0)
            into->web.seed = strtoull(value, NULL, 10);
        else if (strcmp(name, "--body") == 0)
            into->web.body = strtoull(value, NULL, 10);
        else if (strcmp(name, "--folder") == 0)
            into->folder = value;
        else if (strcmp(name, "--log") == 0)
            into->log = value;
        else if (strcmp(name, "--truth") == 0)
            into->truth = value;
        else
            return false;
        if (!*++at)
            return false;
    }
    return into->web.hosts > 0 && into->web.hosts <= 200;
}

static void write_truth(site *site, const world_web *web, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(2);
    }
    site_walk(site, web->made, web->hosts, -1);
    for (size_t i = 0; i < site->page_count; i++) {
        const site_page *page = site->pages[i];
        if (page->reached)
            fprintf(file, "%s\t%d\t%s\t%u\n", page->url, page->status, page->reason ? page->reason : "", page->depth);
    }
    fclose(file);
}

int main(int count, char **values)
{
    arguments given = {.web = {.hosts = 1, .pages = 100, .seed = 1}};
    char byte;
    (void)count;
    if (!read_arguments(&given, values + 1))
        return usage();
    site *site = site_open(given.web.hosts);
    if (given.folder) {
        site->maker = world_folder;
        site->maker_context = (void *)(uintptr_t)given.folder;
        printf("http://%s:%d/\n", site_host_name(1), site->port);
    } else {
        world_web_make(site, &given.web);
        site->maker = given.traps ? world_traps : NULL;
        for (unsigned i = 0; i < given.web.hosts; i++)
            printf("%s\n", given.web.made[i]->url);
    }
    if (given.truth && given.web.made)
        write_truth(site, &given.web, given.truth);
    if (given.log)
        site->log_file = open(given.log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    site_serve(site);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    site_close(site);
    free(given.web.made);
    return 0;
}
