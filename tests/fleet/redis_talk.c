/*
 * Talks to a server or cluster as the fleet does, for scripts: redis_talk ADDRESS [NAME=VALUE...]
 *
 * Options: wait, connect, reply, patience (numbers), ca, cert, key (files). It prints "= CODE SENTENCE" for redis_open.
 * Standard input has a command a line, as talk.h describes them. An empty line runs the commands so far: then a line comes
 * for each reply, and a line "= CODE SENTENCE". The line "nodes" prints how many primaries there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/talk.h"

static void run(talk *talk, redis_client *client)
{
    bytes replies = {0};
    int error = talk_run(talk, client, &replies, "\n");
    fwrite(replies.ptr, 1, replies.len, stdout);
    printf("= %d %s\n", error, error ? redis_why(client) : "");
    bytes_free(&replies);
}

static bool option(redis_options *options, char *text)
{
    char *value = strchr(text, '=');
    long long number = value ? strtoll(value + 1, NULL, 10) : 0;
    if (!value)
        return false;
    *value++ = 0;
    if (!strcmp(text, "wait"))
        options->wait_replicas = (uint32_t)number;
    else if (!strcmp(text, "connect"))
        options->connect_ms = number;
    else if (!strcmp(text, "reply"))
        options->reply_ms = number;
    else if (!strcmp(text, "patience"))
        options->patience_ms = number;
    else if (!strcmp(text, "ca"))
        options->ca_file = value;
    else if (!strcmp(text, "cert"))
        options->cert_file = value;
    else if (!strcmp(text, "key"))
        options->key_file = value;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    redis_options options = {0};
    redis_client *client;
    talk talk = {0};
    char why[REDIS_WHY], *name, line[65536];

    for (int i = 2; i < argc; i++)
        if (!option(&options, argv[i]))
            return 2;
    int error = redis_open(&client, argc > 1 ? argv[1] : "", &options, &name, why);
    printf("= %d %s\n", error, error ? why : name);
    fflush(stdout);
    while (!error && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!line[0])
            run(&talk, client);
        else if (!strcmp(line, "nodes"))
            printf("%zu\n", redis_nodes(client));
        else
            talk_add(&talk, line);
        fflush(stdout);
    }
    if (!error) {
        redis_close(client);
        free(name);
    }
    return error ? 3 : 0; /* 1 is the sanitizer's */
}
