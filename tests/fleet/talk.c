/*
 * Commands and replies as text: see talk.h.
 */
#include "fleet/talk.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 200 };

/* Replies of tests are not deep. */
static void show(bytes *to, const redis_reply *reply)
{
    if (!reply)
        bytes_append_text(to, "none");
    else if (reply->type == REDIS_NIL)
        bytes_append_text(to, "nil");
    else if (reply->type == REDIS_INTEGER)
        bytes_append_format(to, "%lld", (long long)reply->integer);
    else if (reply->type == REDIS_ARRAY) {
        for (size_t i = 0; i < reply->count; i++) {
            bytes_append_text(to, i ? " " : "[");
            show(to, &reply->items[i]);
        }
        bytes_append_text(to, reply->count ? "]" : "[]");
    } else {
        bytes_append_text(to, reply->type == REDIS_ERROR ? "-" : "");
        bytes_append_text(to, reply->text.len < SHOWN ? reply->text.ptr : "(long)");
    }
}

static vidi_str make_word(const char *text, size_t n)
{
    size_t length = text[0] == '(' ? strtoul(text + 1, NULL, 10) : n;
    char *word = malloc(length + 1);
    if (word && text[0] == '(')
        memset(word, 'x', length);
    else if (word)
        memcpy(word, text, n);
    return (vidi_str){word, word ? length : 0};
}

void talk_add(talk *talk, const char *line)
{
    size_t flags = strcspn(line, " "), most = strlen(line) / 2 + 1;
    redis_call *grown = realloc(talk->calls, (talk->count + 1) * sizeof *grown);
    vidi_str *words = calloc(most, sizeof *words);
    if (!grown || !words)
        abort();
    redis_call *call = &grown[talk->count++];
    talk->calls = grown;
    *call = (redis_call){.words = words,
                         .slot = REDIS_ANY_NODE,
                         .repeatable = memchr(line, 'r', flags) != NULL,
                         .writes = memchr(line, 'w', flags) != NULL};
    bool any = memchr(line, 'a', flags) != NULL;
    for (line += flags; *line; line += strcspn(line, " ")) {
        line += strspn(line, " ");
        if (*line)
            words[call->count++] = make_word(line, strcspn(line, " "));
    }
    if (!any && call->count > 1)
        call->slot = redis_slot(words[1]);
}

int talk_run(talk *talk, redis_client *client, bytes *replies, const char *end)
{
    int error = redis_run(client, talk->calls, talk->count);
    for (size_t i = 0; i < talk->count; i++) {
        redis_call *call = &talk->calls[i];
        bytes_append_text(replies, call->repeated ? "REPEATED " : "");
        show(replies, call->reply);
        bytes_append_text(replies, end);
        for (size_t k = 0; k < call->count; k++)
            free((char *)call->words[k].ptr);
        free((void *)call->words);
    }
    free(talk->calls);
    *talk = (struct talk){0};
    return error;
}
