/*
 * Heartbeats for scripts: beat ADDRESS [NAME LEASE]
 *
 * With a name it is a member: it joins, sends a heartbeat every 10 ms, adopts what it sees, and prints a line for each
 * answer: "VERSION SETTLED OUT MEMBERS". When it is out, it ends.
 *
 * Otherwise it reads a command a line, and prints "CODE VERSION HISTORY" and the rows, as "NAME:ADOPTED:ACTIVITY:IDLE:LEAVING":
 *
 *   join NAME LEASE ADOPTED ACTIVITY IDLE LEAVING
 *   send NAME LEASE ADOPTED ACTIVITY IDLE LEAVING
 *   leave NAME
 *   look
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "fleet/members/heartbeat.h"

static int64_t now(void)
{
    return (int64_t)(clock_read(CLOCK_BOOTTIME) / 1000000);
}

static void print(int code, const member_table *table)
{
    printf("%d %" PRIu64 " %" PRIu64, code, table->version, table->history);
    for (size_t i = 0; i < table->count; i++)
        printf(" %s:%" PRIu64 ":%" PRIu64 ":%d:%d", table->rows[i].name, table->rows[i].adopted,
               table->rows[i].activity, table->rows[i].idle, table->rows[i].leaving);
    printf("\n");
    fflush(stdout);
}

static void obey(redis_client *client, const char *set, const char *line)
{
    member row = {.name = ""};
    member_table table = {0};
    char what[8] = "";
    int64_t lease = 0;
    int idle = 0, leaving = 0, code;

    sscanf(line, "%7s %63s %" SCNd64 " %" SCNu64 " %" SCNu64 " %d %d", what, row.name, &lease, &row.adopted,
           &row.activity, &idle, &leaving);
    row.idle = idle;
    row.leaving = leaving;
    if (!strcmp(what, "join"))
        code = heartbeat_join(client, set, &row, lease, &table);
    else if (!strcmp(what, "send"))
        code = heartbeat_send(client, set, &row, lease, &table);
    else if (!strcmp(what, "leave"))
        code = heartbeat_leave(client, set, row.name);
    else
        code = heartbeat_look(client, set, &table);
    print(code, &table);
    member_table_free(&table);
}

static int be_member(redis_client *client, const char *set, const char *name, int64_t lease)
{
    members *self;
    bool joined = false;

    if (members_make(&self, name, lease) != VIDI_OK)
        return 1;
    while (!members_is_out(self)) {
        member row = {.name = "", .adopted = members_adopted(self)};
        member_table table = {0};
        int64_t sent = now();
        snprintf(row.name, sizeof row.name, "%s", name);
        int code = (joined ? heartbeat_send : heartbeat_join)(client, set, &row, lease, &table);
        if (code == VIDI_OK && members_update(self, &table, sent, now()) == VIDI_OK) {
            joined = true;
            members_adopt(self, table.version);
            printf("%" PRIu64 " %" PRIu64 " %d %zu\n", members_version(self), members_settled(self),
                   members_is_out(self), table.count);
            fflush(stdout);
        }
        member_table_free(&table);
        usleep(10000);
    }
    members_free(self);
    return 0;
}

int main(int argc, char **argv)
{
    redis_options options = {0};
    redis_client *client;
    char why[REDIS_WHY], *set, line[512];
    int code = 0;

    if (argc < 2 || redis_open(&client, argv[1], &options, &set, why) != VIDI_OK)
        return 2;
    if (argc == 4)
        code = be_member(client, set, argv[2], strtoll(argv[3], NULL, 10));
    else
        while (fgets(line, sizeof line, stdin))
            obey(client, set, line);
    redis_close(client);
    free(set);
    return code;
}
