/*
 * Jobs that cannot be done now, or ever, and connections that are lost: see jobs.h.
 */
#include <stdio.h>

#include "fleet/redis/client.h"

void client_give_up(redis_client *client, job_list *list)
{
    while (job_take(list))
        client->left--;
}

void client_fail(redis_client *client, int error, const char *why)
{
    if (!client->error) {
        client->error = error;
        if (why != client->why)
            snprintf(client->why, sizeof client->why, "%s", why);
    }
    client_give_up(client, &client->waiting);
    for (size_t i = 0; i < client->nodes.count; i++)
        client_give_up(client, &client->nodes.all[i]->queue);
}

void client_fail_memory(redis_client *client)
{
    client_fail(client, VIDI_EMEMORY, "there is no memory left for commands and replies");
}

void client_suffer(redis_client *client, job *job, int error, const char *why)
{
    char sentence[REDIS_WHY];
    if (!job->trouble)
        job->trouble = client->now;
    job->ask = NULL;
    job->tries++;
    job->due = client->now + client_pause(client, job->tries);
    job_append(&client->waiting, job);
    if (client->error) {
        client_give_up(client, &client->waiting);
    } else if (client->now - job->trouble >= client->patience_ms) {
        snprintf(sentence, sizeof sentence, "%.400s (tried for %lld ms)", why, (long long)(client->now - job->trouble));
        client_fail(client, error, sentence);
    }
}

void client_finish(redis_client *client, job *job, const redis_reply *reply)
{
    job->call->reply = reply;
    client->left--;
}

void client_send_again(redis_client *client, job *job, const char *why)
{
    if (job->call->repeatable && !client->error) {
        job->call->repeated = true;
        client_suffer(client, job, VIDI_EIO, why);
        return;
    }
    char sentence[REDIS_WHY];
    vidi_str word = job->call->words[0];
    snprintf(sentence, sizeof sentence, "%.400s; whether %.*s was executed is not known", why,
             word.len < 40 ? (int)word.len : 40, word.ptr);
    client->left--;
    client_fail(client, VIDI_EIO, sentence);
}

/* Commands that were answered or handed over may have been executed; those that were not, have not. */
void client_lose(redis_client *client, node *node)
{
    uint64_t handed = node->link.handed;
    job_list sent = {0}, unsent = {0}, queue = node->queue;
    job *each;

    connection_close(&node->link);
    while ((each = job_take(&node->answered)))
        job_append(&sent, each);
    while (node->flights_count > 0) {
        flight lost = node_take_flight(node);
        if (lost.kind == FLIGHT_CALL)
            job_append(lost.end > handed ? &unsent : &sent, lost.job);
    }
    node->queue = (job_list){0};
    node->writing = (writing){0};
    node->failures++;
    node->rests_until = client->now + client_pause(client, node->failures);
    if (node == client->slots_node) {
        client->slots_node = NULL;
        client->slots_sent = false;
        client->slots_due = client->now;
        client->slots_failed++;
        client->slots_turn++;
    }
    if (client->mode == MODE_UNKNOWN)
        snprintf(client->why, sizeof client->why, "%s", node->link.why);
    client_want_slots(client, node);
    while ((each = job_take(&sent)))
        client_send_again(client, each, node->link.why);
    while ((each = job_take(&unsent)))
        client_suffer(client, each, VIDI_EIO, node->link.why);
    while ((each = job_take(&queue)))
        client_suffer(client, each, VIDI_EIO, node->link.why);
}
