/*
 * Heartbeats: see heartbeat.h. A script does it in one step, by the server's clock.
 */
#include "fleet/members/heartbeat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 256, ROW = 160, MOST = 100000 };

/*
 * Keys: table. Arguments: "join", "send", "leave" or "look"; the member; lease; the rest of its row.
 *
 * A sender that has adopted a version which the table has not reached comes from before a failover that has forgotten
 * it: it adopts the next one anew, which is greater than both. A million milliseconds are more than the clocks of two
 * servers may differ by, so after a failover versions are greater than those that were forgotten.
 */
static const char script[] =
    "local time = redis.call('TIME')\n"
    "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
    "local what, name, lease, rest, changed = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], false\n"
    "local rows, there = {}, {}\n"
    "local function number(n) return string.format('%.0f', n) end\n"
    "local function set(field, value) redis.call('HSET', KEYS[1], field, value) end\n"
    "local all = redis.call('HGETALL', KEYS[1])\n"
    "local version, steady, seen, server, history = 0, now, now, false, 0\n"
    "local shortest, longest = lease > 0 and lease or math.huge, lease\n"
    "for i = 1, #all, 2 do\n"
    "  local field, value = all[i], all[i + 1]\n"
    "  local ends, its = string.match(value, '^(%d+) (%d+) ')\n"
    "  if field == '*version' then version = tonumber(value)\n"
    "  elseif field == '*history' then history = tonumber(value)\n"
    "  elseif field == '*server' then server = value\n"
    "  elseif field == '*clock' then steady, seen = tonumber(ends), tonumber(its)\n"
    "  elseif ends then\n"
    "    rows[#rows + 1] = {field, tonumber(ends), tonumber(its), value}\n"
    "    longest = math.max(longest, tonumber(its))\n"
    "    shortest = math.min(shortest, tonumber(its))\n"
    "  end\n"
    "end\n"
    "local passed = math.max(now - seen, 0)\n"
    "if what ~= 'look' then passed = math.min(passed, math.floor(shortest / 4)) end\n"
    "steady = steady + passed\n"
    "for _, row in ipairs(rows) do\n"
    "  if row[2] + row[3] / 4 < steady then\n"
    "    if what ~= 'look' then redis.call('HDEL', KEYS[1], row[1]) end\n"
    "    changed = true\n"
    "  elseif row[1] ~= 'failover' then\n"
    "    there[#there + 1] = row[1]\n"
    "    there[#there + 1] = row[4]\n"
    "  end\n"
    "end\n"
    "if what == 'look' then\n"
    "  there[#there + 1] = '*version'\n"
    "  there[#there + 1] = number(version)\n"
    "  return there\n"
    "end\n"
    "local info = redis.pcall('INFO', 'replication')\n"
    "local id = type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or '?'\n"
    "if id ~= server then\n"
    "  set('*server', id)\n"
    "  if server and (#rows > 0 or now - seen < lease + lease / 4) then\n"
    "    history, changed, version = history + 1, true, version + 1000000\n"
    "    set('*history', number(history))\n"
    "    set('failover', number(steady + longest) .. ' ' .. number(longest) .. ' 0 0 0 1')\n"
    "  end\n"
    "end\n"
    "local own = redis.call('HGET', KEYS[1], name)\n"
    "if what == 'leave' then\n"
    "  changed = redis.call('HDEL', KEYS[1], name) == 1 or changed\n"
    "elseif what == 'join' or own then\n"
    "  local adopted, others = string.match(rest, '^(%d+)( .*)$')\n"
    "  if tonumber(adopted) > version then\n"
    "    version, rest, changed = tonumber(adopted), '0' .. others, true\n"
    "  end\n"
    "  changed = changed or not own or string.sub(own, -1) ~= string.sub(rest, -1)\n"
    "  set(name, number(steady + lease) .. ' ' .. number(lease) .. ' ' .. rest)\n"
    "end\n"
    "set('*clock', number(steady) .. ' ' .. number(now) .. ' ')\n"
    "if changed then set('*version', number(math.max(version + 1, now))) end\n"
    "return redis.call('HGETALL', KEYS[1])";

/* ---- reading ---- */

static bool copy_text(const redis_reply *reply, char *to, size_t room)
{
    if (reply->type != REDIS_TEXT || reply->text.len >= room || memchr(reply->text.ptr, 0, reply->text.len))
        return false;
    memcpy(to, reply->text.ptr, reply->text.len);
    to[reply->text.len] = 0;
    return true;
}

/* Numbers with single spaces between them, and nothing else. */
static bool read_numbers(const char *text, uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        numbers[i] = strtoull(text, &end, 10);
        if (*end != (i + 1 < n ? ' ' : 0))
            return false;
        text = end + 1;
    }
    return true;
}

static bool read_pair(const redis_reply *field, const redis_reply *value, member_table *table)
{
    member *row = &table->rows[table->count];
    uint64_t n[6];
    char text[ROW];

    *row = (member){.name = ""};
    if (!copy_text(field, row->name, sizeof row->name) || !copy_text(value, text, sizeof text))
        return false;
    if (strcmp(row->name, "*version") == 0)
        return read_numbers(text, &table->version, 1);
    if (strcmp(row->name, "*history") == 0)
        return read_numbers(text, &table->history, 1);
    if (*row->name == '*')
        return true;
    if (!*row->name || !read_numbers(text, n, 6) || n[4] > 1 || n[5] > 1)
        return false;
    row->adopted = n[2];
    row->activity = n[3];
    row->idle = n[4] == 1;
    row->leaving = n[5] == 1;
    table->count++;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const member *left = a, *right = b;

    return strcmp(left->name, right->name);
}

static int read_table(const redis_reply *reply, member_table *table)
{
    if (reply->type != REDIS_ARRAY || reply->count % 2 || reply->count > MOST)
        return VIDI_EDAMAGED;
    table->rows = calloc(reply->count / 2 + 1, sizeof *table->rows);
    if (!table->rows)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < reply->count; i += 2)
        if (!read_pair(&reply->items[i], &reply->items[i + 1], table))
            return VIDI_EDAMAGED;
    qsort(table->rows, table->count, sizeof *table->rows, by_name);
    return table->count > 0 && table->version == 0 ? VIDI_EDAMAGED : VIDI_OK;
}

void member_table_free(member_table *table)
{
    free(table->rows);
    *table = (member_table){0};
}

/* ---- sending ---- */

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static int ask(redis_client *client, const char *set, const char *what, const member *row, int64_t lease_ms,
               member_table *table)
{
    char key[KEY], lease[24], rest[ROW];

    *table = (member_table){0};
    if (snprintf(key, sizeof key, "{%s}:members", set) >= (int)sizeof key)
        return VIDI_EARGUMENT;
    snprintf(lease, sizeof lease, "%" PRId64, lease_ms);
    snprintf(rest, sizeof rest, "%" PRIu64 " %" PRIu64 " %d %d", row->adopted, row->activity, row->idle, row->leaving);
    const vidi_str words[] = {text_of("EVAL"), text_of(script),    text_of("1"),   text_of(key),
                              text_of(what),   text_of(row->name), text_of(lease), text_of(rest)};
    redis_call call = {.words = words,
                       .count = sizeof words / sizeof *words,
                       .slot = redis_slot(text_of(key)),
                       .repeatable = true,
                       .writes = strcmp(what, "look") != 0};
    int error = redis_run(client, &call, 1);
    if (error == VIDI_OK)
        error = read_table(call.reply, table);
    if (error)
        member_table_free(table);
    return error;
}

int heartbeat_join(redis_client *client, const char *set, const member *row, int64_t lease_ms, member_table *table)
{
    return ask(client, set, "join", row, lease_ms, table);
}

int heartbeat_send(redis_client *client, const char *set, const member *row, int64_t lease_ms, member_table *table)
{
    return ask(client, set, "send", row, lease_ms, table);
}

int heartbeat_look(redis_client *client, const char *set, member_table *table)
{
    const member nobody = {.name = ""};

    return ask(client, set, "look", &nobody, 0, table);
}

int heartbeat_leave(redis_client *client, const char *set, const char *name)
{
    member row = {.name = ""};
    member_table table;

    if (strlen(name) >= sizeof row.name)
        return VIDI_EARGUMENT;
    memcpy(row.name, name, strlen(name));
    int error = ask(client, set, "leave", &row, 0, &table);
    member_table_free(&table);
    return error;
}
