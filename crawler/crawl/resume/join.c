/*
 * Joining a fleet, when the database is open and nothing else is: what the fleet must agree on, and which folder
 * belongs to which fleet. The database has
 *
 *   fleet          the address, as it may be shown
 *   fleet_set      the id of the fleet's set
 *   fleet_folder   the folder's own id, by which its claims are recognised in the next run
 *   fleet_visit    the fleet's number of the newest visit
 *   seeds_sent     the fleet's number of the visit for which all seeds were handed over; 0: there are new ones
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "crawler/crawl/resume/resume.h"

enum { FOLDER_DIGITS = 16 };

/* ---- what all processes must agree on ---- */

static int compare_seeds(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The seeds decide what belongs to the crawl, unless everything does. They may be many: a digest says whether they are
 * the same. */
static int describe_seeds(const crawl *crawl, bytes *to)
{
    static const unsigned char key[VIDI_KEY_BYTES] = {0};
    char **sorted = calloc(crawl->seed_count + 1, sizeof *sorted);
    uint64_t digest[2] = {0}, sum = 0, count = 0;

    if (!sorted)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < crawl->seed_count; i++)
        sorted[i] = crawl->seed_texts[i];
    qsort(sorted, crawl->seed_count, sizeof *sorted, compare_seeds);
    for (size_t i = 0; i < crawl->seed_count; i++) {
        if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0)
            continue;
        vidi_keyed_hash(key, (vidi_str){sorted[i], strlen(sorted[i])}, digest);
        sum += digest[0];
        count++;
    }
    free(sorted);
    return bytes_append_format(to, "seeds %" PRIu64 " %016" PRIx64 "\n", count, sum);
}

static int describe_list(bytes *to, const char *name, const char *const *list, size_t count)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < count && error == VIDI_OK; i++)
        error = bytes_append_format(to, "%s %s\n", name, list[i]);
    return error;
}

static int describe_numbers(const crawl_options *o, bytes *to)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"depth", o->max_depth},
                   {"max-host-pages", (int64_t)o->max_host_pages},
                   {"max-queries", (int64_t)o->max_queries},
                   {"max-url", (int64_t)o->max_url},
                   {"max-repeat", o->max_repeat},
                   {"max-redirects", o->max_hops},
                   {"max-body", (int64_t)o->max_body},
                   {"max-unpacked", (int64_t)o->max_unpacked},
                   {"resources", o->resources + o->requisites},
                   {"no-sitemaps", o->no_sitemaps},
                   {"delay", o->delay},
                   {"per-host", o->per_host},
                   {"ignore-robots", o->ignore_robots}};
    int error = VIDI_OK;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && error == VIDI_OK; i++)
        error = bytes_append_format(to, "%s %" PRId64 "\n", numbers[i].name, numbers[i].value);
    return error;
}

/* Lines of an option's name and its value. What only one process needs to know, such as --threads, is not in it. */
static int describe_rules(const crawl *crawl, bytes *to)
{
    static const char *const reaches[] = {"host", "site", "prefix", "any"};
    const crawl_options *o = &crawl->options;
    int error = bytes_append_format(to, "scope %s\n", reaches[o->reach]);

    if (error == VIDI_OK && o->reach != SCOPE_ANY)
        error = describe_seeds(crawl, to);
    if (error == VIDI_OK && o->reach == SCOPE_ANY)
        error = bytes_append_format(
            to, "site-budget %" PRIu64 "..%" PRIu64 "\nmax-sites %" PRIu64 "\nmax-address-sites %" PRIu64 "\n",
            o->site_least, o->site_most, o->max_sites, o->max_address_sites);
    if (error == VIDI_OK)
        error = describe_list(to, "include", o->include, o->include_count);
    if (error == VIDI_OK)
        error = describe_list(to, "exclude", o->exclude, o->exclude_count);
    if (error == VIDI_OK)
        error = describe_numbers(o, to);
    if (error == VIDI_OK)
        error = bytes_append_format(to, "agent %s\ncontact %s\nuser-agent %s\n", o->agent,
                                    o->contact ? o->contact : "-", o->user_agent ? o->user_agent : "-");
    return error ? error : bytes_append(to, "", 1);
}

/* ---- the folder ---- */

static bool is_there(crawl *crawl, const char *name, int *error)
{
    bytes text = {0};

    *error = db_get_text(crawl->db, name, &text);
    bytes_free(&text);
    if (*error && *error != VIDI_EABSENT)
        return false;
    bool there = *error == VIDI_OK;
    *error = VIDI_OK;
    return there;
}

/* A folder is either of a crawl by one process, or of one fleet. */
static int check_folder(crawl *crawl, char *why)
{
    const char *folder = crawl->options.folder;
    bytes address = {0};
    int error;
    bool begun = is_there(crawl, "kind", &error);

    if (error)
        return crawl_explain_db(crawl, error, why);
    error = db_get_text(crawl->db, "fleet", &address);
    if (error == VIDI_OK && !crawl->options.fleet)
        error = crawl_explain(why, VIDI_EDIFFERS,
                              "the crawl in %s belongs to the fleet of %.*s: give --fleet, or another --state", folder,
                              (int)address.len, address.ptr);
    else if (error == VIDI_EABSENT && crawl->options.fleet && begun)
        error = crawl_explain(
            why, VIDI_EDIFFERS,
            "the crawl in %s was begun without --fleet, and cannot join one; give --state another folder", folder);
    else if (error && error != VIDI_EABSENT)
        crawl_explain_db(crawl, error, why);
    bytes_free(&address);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* The id of the folder; drawn if it has none. */
static int folder_id(crawl *crawl, char id[FLEET_FOLDER + 1])
{
    unsigned char drawn[FOLDER_DIGITS / 2];
    bytes known = {0};
    int error = db_get_text(crawl->db, "fleet_folder", &known);

    if (error == VIDI_OK)
        snprintf(id, FLEET_FOLDER + 1, "%.*s", (int)known.len, known.ptr);
    bytes_free(&known);
    if (error != VIDI_EABSENT)
        return error;
    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return VIDI_ESYSTEM;
    for (size_t i = 0; i < sizeof drawn; i++)
        snprintf(id + 2 * i, 3, "%02x", drawn[i]);
    error = db_begin(crawl->db);
    if (error == VIDI_OK)
        error = db_fleet_open(crawl->db);
    if (error == VIDI_OK)
        error = db_set_text(crawl->db, "fleet_folder", (vidi_str){id, FOLDER_DIGITS});
    if (error == VIDI_OK)
        error = db_commit(crawl->db);
    if (error)
        db_rollback(crawl->db);
    return error;
}

/* Notes which fleet the folder belongs to, or compares. */
static int bind_folder(crawl *crawl, uint64_t set_id, char *why)
{
    const char *shown = crawl->options.fleet_shown ? crawl->options.fleet_shown : crawl->options.fleet;
    int64_t known = 0;
    int error = db_get(crawl->db, "fleet_set", &known);

    if (error == VIDI_OK && (uint64_t)known != set_id)
        return crawl_explain(
            why, VIDI_EDIFFERS,
            "the crawl in %s belongs to another fleet, or to one whose set was made anew; give --state "
            "another folder",
            crawl->options.folder);
    if (error == VIDI_OK || error == VIDI_EABSENT)
        error = db_begin(crawl->db);
    if (error == VIDI_OK)
        error = db_set(crawl->db, "fleet_set", (int64_t)set_id);
    if (error == VIDI_OK)
        error = db_set_text(crawl->db, "fleet", (vidi_str){shown, strlen(shown)});
    if (error == VIDI_OK)
        error = db_commit(crawl->db);
    if (error) {
        crawl_explain_db(crawl, error, why);
        db_rollback(crawl->db);
    }
    return error;
}

/* ---- the fleet ---- */

/* From threads of the fleet. */
static void wake(void *context)
{
    message_queue_wake(&((crawl *)context)->to_storage);
}

static void warn(void *context, const char *sentence)
{
    crawl_warn(context, "%s", sentence);
}

static int open_fleet(crawl *crawl, const char *rules, char *why)
{
    const crawl_options *o = &crawl->options;
    char id[FLEET_FOLDER + 1] = "", said[FLEET_WHY] = "";
    fleet_options wanted = {.address = o->fleet,
                            .access = VIDI_CLUSTER_ACCESS_INIT,
                            .folder = id,
                            .rules = rules,
                            .lease_ms = o->fleet_lease,
                            .wake = wake,
                            .warn = warn,
                            .context = crawl};
    int error = folder_id(crawl, id);

    if (error == VIDI_ESYSTEM)
        return crawl_explain(why, error, "no random numbers: %s", strerrordesc_np(errno));
    if (error)
        return crawl_explain_db(crawl, error, why);
    wanted.access.wait_replicas = o->fleet_replicas;
    wanted.access.ca_file = o->fleet_ca;
    wanted.access.cert_file = o->fleet_cert;
    wanted.access.key_file = o->fleet_key;
    error = fleet_open(&crawl->fleet, &wanted, said);
    return error ? crawl_explain(why, error, "%s", said) : VIDI_OK;
}

/* The process's own set has the canonical form of the fleet's, so that both mean the same pages. */
static int take_canon(crawl *crawl, const char *canon, char *why)
{
    vidi_options *set = &crawl->options.set;
    vidi_canon *wanted = NULL;

    snprintf(crawl->fleet_canon, sizeof crawl->fleet_canon, "%s", canon);
    if (!set->canon && !set->tracking)
        set->canon = crawl->fleet_canon;
    int error = vidi_canon_create(&wanted, set->canon, set->tracking, NULL);
    if (error)
        return crawl_explain(why, error, "%s", vidi_message());
    if (strcmp(vidi_canon_name(wanted), canon) != 0)
        error = crawl_explain(why, VIDI_EDIFFERS, "the fleet's set uses --canon %s and cannot be used with %s", canon,
                              vidi_canon_name(wanted));
    vidi_canon_close(wanted);
    return error;
}

static int look_at_set(crawl *crawl, char *why)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_cluster_stats more = {.size = sizeof more};
    int error = fleet_stat(crawl->fleet, &stats, &more);

    if (error)
        return crawl_explain(why, error, "%s", fleet_why(crawl->fleet));
    error = bind_folder(crawl, more.set_id, why);
    return error ? error : take_canon(crawl, stats.canon, why);
}

/*
 * All processes of a fleet are in the same visit, whose number its record has. The next one begins there, and then in
 * each folder when it is opened.
 */
static int find_visit(crawl *crawl, char *why)
{
    int64_t here = 0;
    int error = db_get(crawl->db, "fleet_visit", &here);

    if (error && error != VIDI_EABSENT)
        return crawl_explain_db(crawl, error, why);
    if (crawl->options.revisit && here > 0) {
        error = fleet_begin_visit(crawl->fleet, (uint64_t)here + 1);
        if (error == VIDI_EBUSY)
            crawl_warn(crawl,
                       "the fleet has not finished visit %" PRId64
                       ": continuing it; --revisit begins the next one after it",
                       here);
        else if (error)
            return crawl_explain(why, error, "%s", fleet_why(crawl->fleet));
    }
    crawl->fleet_visit = fleet_visit(crawl->fleet);
    crawl->fleet_begins = here > 0 && (uint64_t)here < crawl->fleet_visit;
    if ((uint64_t)here > crawl->fleet_visit)
        return crawl_explain(why, VIDI_EDIFFERS,
                             "%s is in visit %" PRId64 " of the fleet, which itself is in visit %" PRIu64,
                             crawl->options.folder, here, crawl->fleet_visit);
    return VIDI_OK;
}

int join_fleet(crawl *crawl, char *why)
{
    bytes rules = {0};
    int error = check_folder(crawl, why);

    if (error || !crawl->options.fleet)
        return error;
    error = describe_rules(crawl, &rules);
    if (error == VIDI_OK)
        error = open_fleet(crawl, rules.ptr, why);
    bytes_free(&rules);
    if (error == VIDI_OK)
        error = look_at_set(crawl, why);
    return error ? error : find_visit(crawl, why);
}

int join_write(crawl *crawl, bool begins)
{
    int error = begins ? db_untold_clear(crawl->db) : VIDI_OK;

    return error ? error : db_set(crawl->db, "fleet_visit", (int64_t)crawl->fleet_visit);
}
