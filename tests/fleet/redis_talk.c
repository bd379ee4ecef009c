/*
 * Talks to a server or cluster as the fleet does, for scripts: redis_talk ADDRESS [NAME=VALUE...]
 *
 * Options: wait, connect, reply, patience (numbers), ca, cert, key (files). Standard input has a command a line: flags,
 * a space, and words with spaces between them. Flags are 'r' (repeatable), 'w' (writes), 'a' (any node; otherwise the
 * second word is the key), or '-'. An empty line runs the commands so far. For each command a line is printed, "REPEATED "
 * before it if it was sent again, and then a line "= CODE SENTENCE". "nodes" alone prints how many there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/redis/redis.h"

enum { WORDS = 64, CALLS = 100000 };

static redis_call *calls;
static size_t count;

static void print_reply(const redis_reply *reply)
{
    if (!reply)
        printf("none");
    else if (reply->type == REDIS_NIL)
        printf("nil");
    else if (reply->type == REDIS_INTEGER)
        printf("%lld", (long long)reply->integer);
    else if (reply->type == REDIS_ERROR)
        printf("-%s", reply->text.ptr);
    else if (reply->type == REDIS_TEXT)
        printf("%s", reply->text.len < 200 ? reply->text.ptr : "(long)");
    else {
        printf("[");
        for (size_t i = 0; i < reply->count; i++) {
            printf(i ? " " : "");
            print_reply(&reply->items[i]); /* replies are not deep */
        }
        printf("]");
    }
}

static void add_call(char *line)
{
    vidi_str *words = calloc(WORDS, sizeof *words);
    redis_call *call = &calls[count++];
    char *flags = strtok(line, " "), *word;
    *call = (redis_call){.words = words, .slot = REDIS_ANY_NODE};
    while ((word = strtok(NULL, " ")) && call->count < WORDS) {
        char *copy = strdup(word);
        words[call->count++] = (vidi_str){copy, strlen(copy)};
    }
    call->repeatable = strchr(flags, 'r') != NULL;
    call->writes = strchr(flags, 'w') != NULL;
    if (!strchr(flags, 'a') && call->count > 1)
        call->slot = redis_slot(words[1]);
}

static void run(redis_client *client)
{
    int error = redis_run(client, calls, count);
    for (size_t i = 0; i < count; i++) {
        printf(calls[i].repeated ? "REPEATED " : "");
        print_reply(calls[i].reply);
        printf("\n");
        for (size_t k = 0; k < calls[i].count; k++)
            free((char *)calls[i].words[k].ptr);
        free((void *)calls[i].words);
    }
    count = 0;
    printf("= %d %s\n", error, error ? redis_why(client) : "");
    fflush(stdout);
}

static void option(redis_options *options, char *text)
{
    char *value = strchr(text, '=');
    long long number = value ? strtoll(value + 1, NULL, 10) : 0;
    if (!value)
        exit(2);
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
        exit(2);
}

int main(int argc, char **argv)
{
    redis_options options = {0};
    redis_client *client;
    char why[REDIS_WHY], *name, line[65536];

    for (int i = 2; i < argc; i++)
        option(&options, argv[i]);
    calls = calloc(CALLS, sizeof *calls);
    int error = redis_open(&client, argc > 1 ? argv[1] : "", &options, &name, why);
    printf("= %d %s\n", error, error ? why : name);
    fflush(stdout);
    while (!error && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!line[0])
            run(client);
        else if (!strcmp(line, "nodes"))
            printf("%zu %d\n", redis_nodes(client), redis_is_cluster(client));
        else if (count < CALLS)
            add_call(line);
        fflush(stdout);
    }
    if (!error) {
        redis_close(client);
        free(name);
    }
    free(calls);
    return error != 0;
}
