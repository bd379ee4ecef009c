/*
 * Commands to the server: see wire.h.
 */
#include "fleet/links/fleet_inside.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_PATIENCE = 60000 }; /* milliseconds */

int wire_failed(wire *wire, int error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(wire->why, sizeof wire->why, format, args);
    va_end(args);
    return error;
}

int wire_set_failed(wire *wire, int error)
{
    return wire_failed(wire, error == VIDI_EBUSY ? VIDI_EIO : error, "%s", vidi_cluster_message());
}

/* ---- patience ---- */

patience wire_patience(const wire *wire)
{
    return (patience){fleet_now() + wire->patience_ms};
}

bool wire_try_again(const wire *wire, const patience *patience, int error)
{
    return error == VIDI_EIO && fleet_now() < patience->until && !atomic_load(&wire->hurry);
}

void wire_hurry(wire *wire)
{
    atomic_store(&wire->hurry, true);
    redis_hurry(wire->client, WIRE_PATIENCE);
    if (wire->cluster)
        vidi_cluster_hurry(wire->cluster, WIRE_PATIENCE);
}

/* ---- opening ---- */

static int name_keys(wire *wire)
{
    struct {
        char *key;
        const char *last;
    } keys[] = {{wire->record, "fleet"}, {wire->lives, "lives"}, {wire->quiet, "quiet"}, {wire->figures, "figures"}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int length = snprintf(keys[i].key, WIRE_KEY, "{%s}:%s", wire->name, keys[i].last);
        if (length < 0 || length >= WIRE_KEY - FLEET_NAME)
            return wire_failed(wire, VIDI_EARGUMENT, "the set's name is too long for a fleet");
    }
    wire->slot = redis_slot((vidi_str){wire->record, strlen(wire->record)});
    return VIDI_OK;
}

int wire_open(wire *wire, const char *address, const vidi_cluster_access *access, bool with_set)
{
    vidi_cluster_access plain = *access;
    int64_t most = access->patience_ms > 0 ? access->patience_ms : USUAL_PATIENCE;
    redis_options how = {.wait_replicas = access->wait_replicas,
                         .reply_ms = access->reply_ms,
                         .patience_ms = most < WIRE_PATIENCE ? most : WIRE_PATIENCE,
                         .ca_file = access->ca_file,
                         .cert_file = access->cert_file,
                         .key_file = access->key_file};

    wire->patience_ms = most;
    plain.patience_ms = how.patience_ms;
    plain.flags = VIDI_MANUAL_COMMIT;
    plain.owner = NULL;
    int error = redis_open(&wire->client, address, &how, &wire->name, wire->why);
    if (error == VIDI_OK)
        error = name_keys(wire);
    if (error == VIDI_OK && with_set) {
        error = vidi_cluster_open(&wire->cluster, address, &plain);
        error = error ? wire_set_failed(wire, error) : VIDI_OK;
    }
    return error;
}

void wire_close(wire *wire)
{
    vidi_cluster_close(wire->cluster);
    redis_close(wire->client);
    free(wire->name);
    wire->cluster = NULL;
    wire->client = NULL;
    wire->name = NULL;
}

void wire_stream(const wire *wire, const char *life, char key[WIRE_KEY])
{
    snprintf(key, WIRE_KEY, "{%s}:links:%s", wire->name, life);
}

/* ---- commands ---- */

void command_bytes(command *command, vidi_str bytes)
{
    if (command->count == WIRE_WORDS)
        command->overflow = true;
    else
        command->words[command->count++] = bytes;
}

void command_text(command *command, const char *text)
{
    command_bytes(command, (vidi_str){text, strlen(text)});
}

void command_begin(command *command, const char *name)
{
    command->count = command->number_count = 0;
    command->overflow = false;
    command_text(command, name);
}

void command_number(command *command, uint64_t number)
{
    if (command->number_count == sizeof command->numbers / sizeof *command->numbers) {
        command->overflow = true;
        return;
    }
    char *text = command->numbers[command->number_count++];
    snprintf(text, sizeof *command->numbers, "%" PRIu64, number);
    command_text(command, text);
}

void command_script(command *command, const char *script, unsigned keys)
{
    command_begin(command, "EVAL");
    command_text(command, script);
    command_number(command, keys);
}

redis_call wire_call(const wire *wire, const command *command, int writes)
{
    return (redis_call){.words = command->words,
                        .count = command->count,
                        .slot = wire->slot,
                        .repeatable = true,
                        .writes = writes == WIRE_WRITES};
}

int wire_run(wire *wire, redis_call *calls, size_t n)
{
    int error = redis_run(wire->client, calls, n);

    for (size_t i = 0; i < n; i++)
        wire->lost_reply = wire->lost_reply || calls[i].repeated;
    if (error)
        return wire_failed(wire, error == VIDI_EBUSY ? VIDI_EIO : error, "%s", redis_why(wire->client));
    for (size_t i = 0; i < n; i++) {
        const redis_reply *reply = calls[i].reply;
        if (reply->type == REDIS_ERROR)
            return wire_failed(wire, VIDI_EIO, "the server refused a command of the fleet: %.*s", (int)reply->text.len,
                               reply->text.ptr);
    }
    return VIDI_OK;
}

int wire_ask(wire *wire, const command *command, int writes, const redis_reply **reply)
{
    redis_call call = wire_call(wire, command, writes);

    if (command->overflow)
        return wire_failed(wire, VIDI_EARGUMENT, "a command of the fleet is too long");
    int error = wire_run(wire, &call, 1);
    if (reply)
        *reply = call.reply;
    return error;
}

/* ---- replies ---- */

bool reply_text_is(const redis_reply *reply, const char *text)
{
    return reply && reply->type == REDIS_TEXT && reply->text.len == strlen(text) &&
           memcmp(reply->text.ptr, text, reply->text.len) == 0;
}

bool reply_copy(const redis_reply *reply, char *to, size_t room)
{
    if (!reply || reply->type != REDIS_TEXT || reply->text.len >= room || memchr(reply->text.ptr, 0, reply->text.len))
        return false;
    memcpy(to, reply->text.ptr, reply->text.len);
    to[reply->text.len] = 0;
    return true;
}

const redis_reply *reply_item(const redis_reply *reply, size_t index)
{
    return reply && reply->type == REDIS_ARRAY && index < reply->count ? &reply->items[index] : NULL;
}
