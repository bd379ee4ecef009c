/*
 * Tables of members as text, and sites that belong to whom a test says.
 */
#ifndef TESTS_FLEET_MEMBERS_TABLES_H
#define TESTS_FLEET_MEMBERS_TABLES_H

#include <stdio.h>
#include <string.h>

#include "fleet/members/members.h"
#include "support/check.h"

enum { TABLE_ROWS = 16 };

typedef struct planned_table {
    member_table table;
    member rows[TABLE_ROWS];
} planned_table;

/*
 * "a=3 b=0- c=2*7": a has adopted version 3; b has adopted nothing and is leaving; c has adopted 2, is idle and its
 * activity is 7. In the order of their names.
 */
static inline const member_table *table_of(planned_table *made, uint64_t version, const char *text)
{
    *made = (planned_table){.table = {.version = version, .rows = made->rows}};
    while (*text) {
        member *row = &made->rows[made->table.count++];
        unsigned long long adopted = 0, activity = 0;
        int length = 0;
        assert_true(made->table.count <= TABLE_ROWS);
        assert_int_equal(sscanf(text, "%63[^=]=%llu%n", row->name, &adopted, &length), 2);
        text += length;
        row->adopted = adopted;
        row->leaving = *text == '-';
        text += row->leaving;
        row->idle = *text == '*' && sscanf(text, "*%llu%n", &activity, &length) == 1;
        row->activity = activity;
        text += row->idle ? length : 0;
        text += strspn(text, " ");
    }
    return &made->table;
}

/* The index-th site of the first member that belongs to each of them in turn when those before it are gone. */
static inline uint64_t site_of(const char *const *order, size_t count, uint64_t index)
{
    for (uint64_t i = 0;; i++) {
        char name[32];
        planned_table all = {.table = {.version = 1, .rows = all.rows, .count = count}};
        uint64_t site =
            members_site((vidi_str){name, (size_t)snprintf(name, sizeof name, "site-%llu", (unsigned long long)i)});
        size_t wins = 0;
        for (size_t k = 0; k < count; k++)
            snprintf(all.rows[k].name, MEMBER_NAME, "%s", order[k]);
        while (wins < count && member_table_owner(&all.table, site) == wins)
            all.rows[wins++].leaving = true;
        if (wins == count && index-- == 0)
            return site;
    }
}

#endif
