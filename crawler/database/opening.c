/*
 * Opens the database's file: makes it, or finds out whether it is one of ours, and tells SQLite how to treat it.
 *
 * The settings. WAL: readers do not stand in the way of the crawl, nor it in theirs. synchronous=FULL: each commit
 * syncs. secure_delete off: some systems switch it on, and blocks that were dropped would be overwritten with zeros.
 * The cache is small, because what is written is mostly appended, and memory must not grow with the crawl. The log is
 * copied into the database (a checkpoint) each 32 MiB, so that pages which change with each commit are copied once for
 * many commits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "crawler/base/sql.h"
#include "crawler/database/checked_file.h"
#include "crawler/database/database_state.h"

enum { BUSY_MS = 5000 };

static const char making[] = "PRAGMA page_size = 16384; PRAGMA auto_vacuum = NONE;"; /* CHECKED_PAGE */
static const char settings[] = "PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;"
                               "PRAGMA cache_size = -8192; PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 2048;"
                               "PRAGMA journal_size_limit = 67108864;";

static int refuse(char *why, int code, const char *path, const char *what)
{
    snprintf(why, DB_WHY, "%.160s %s", path, what);
    return code;
}

/* With SQLite's own sentence. */
static int refuse_sql(char *why, int code, const char *path, sqlite3 *db)
{
    snprintf(why, DB_WHY, "%.160s: %.90s", path, db ? sql_message(db) : "out of memory");
    return code;
}

/* ---- the file ---- */

/* True if a file beside the database has something in it: the log ("-wal"), or, while it is made, "-journal". */
static bool has_beside(const char *path, const char *ending)
{
    char name[4096];
    struct stat is;
    int n = snprintf(name, sizeof name, "%s%s", path, ending);
    return n > 0 && (size_t)n < sizeof name && stat(name, &is) == 0 && is.st_size > 0;
}

static int make_file(const char *path, char *why)
{
    int handle = (int)TEMP_FAILURE_RETRY(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    int failed = handle < 0 ? errno : file_sync_folder_of(path);
    if (handle >= 0)
        close(handle);
    if (!failed)
        return VIDI_OK;
    snprintf(why, DB_WHY, "%.160s: %.90s", path, strerrordesc_np(failed));
    return failed == ENOSPC ? VIDI_ELIMIT : VIDI_EIO;
}

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/*
 * True if the file is shorter than its first page says. SQLite does not see that part of the last page is missing. The
 * page's number of pages counts if two other numbers agree (SQLite's file format, section 1.3.8). Without a log, it is
 * up to date.
 */
static bool is_cut(const char *path, uint64_t bytes)
{
    unsigned char head[100];
    int handle = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC));
    bool whole = handle >= 0 && file_read_at(handle, head, sizeof head, 0) == (ssize_t)sizeof head;
    if (handle >= 0)
        close(handle);
    if (!whole || memcmp(head, "SQLite format 3", 16) != 0 || number_at(head + 24) != number_at(head + 92))
        return false;
    uint64_t page = (uint64_t)head[16] << 8 | head[17];
    return bytes < (page == 1 ? 65536 : page) * number_at(head + 28);
}

/*
 * Makes the file if it is missing. Refuses what cannot be a database before SQLite sees it, which would overwrite it.
 */
static int check_file(const char *path, enum db_access access, char *why)
{
    struct stat is;
    bool missing = lstat(path, &is) != 0;
    if (missing && errno != ENOENT) {
        snprintf(why, DB_WHY, "%.160s: %.90s", path, strerrordesc_np(errno));
        return VIDI_EIO;
    }
    if (missing && access == DB_READ_ONLY)
        return refuse(why, VIDI_EABSENT, path, "does not exist");
    if (!missing && S_ISLNK(is.st_mode))
        return refuse(why, VIDI_EFORMAT, path, "is a symbolic link; the database must be a file of its own");
    if (!missing && !S_ISREG(is.st_mode))
        return refuse(why, VIDI_EFORMAT, path, "is not a file");
    if ((missing || is.st_size == 0) && has_beside(path, "-wal")) /* SQLite would delete the log */
        return refuse(why, VIDI_EDAMAGED, path, "is missing or empty, but its log (-wal) is there");
    if (!missing && is.st_size == 0 && access == DB_READ_ONLY)
        return refuse(why, VIDI_EFORMAT, path, "is empty");
    bool settled = !missing && !has_beside(path, "-wal") && !has_beside(path, "-journal");
    if (settled && is_cut(path, (uint64_t)is.st_size))
        return refuse(why, VIDI_EDAMAGED, path, "is damaged or incomplete: its end is missing");
    return missing ? make_file(path, why) : VIDI_OK;
}

/* ---- connecting ---- */

static bool is_plain_in_uri(char c)
{
    return !strchr("?#%", c);
}

/*
 * The path as a URI, because SQLite takes a path that begins with "file:" for one anyway. `immutable`: no process
 * changes the file, so that it can be read where nothing can be written beside it.
 */
static int connect_to(sqlite3 **db, const char *path, enum db_access access, bool immutable)
{
    bytes uri = {0};
    int error = bytes_append_text(&uri, path[0] == '/' ? "file://" : "file:./");
    if (!error)
        error = bytes_append_percent(&uri, path, strlen(path), is_plain_in_uri);
    if (!error)
        error = bytes_append(&uri, immutable ? "?immutable=1" : "\0", immutable ? 13 : 1);
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    flags |= access == DB_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    const char *vfs = checked_file_vfs();
    if (!error)
        error = vfs ? sql_code(sqlite3_open_v2(uri.ptr, db, flags, vfs)) : VIDI_EMEMORY;
    bytes_free(&uri);
    if (!error) {
        sqlite3_extended_result_codes(*db, 1);
        sqlite3_busy_timeout(*db, BUSY_MS);
        sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    }
    return error;
}

/* The number or text that a statement gives first. */
static int ask_number(sqlite3 *db, const char *text, int64_t *number)
{
    sqlite3_stmt *ask = NULL;
    int error = sql_prepare(db, &ask, text);
    if (!error) {
        int result = sqlite3_step(ask);
        error = result == SQLITE_DONE ? VIDI_EIO : sql_code(result);
        *number = result == SQLITE_ROW ? sqlite3_column_int64(ask, 0) : 0;
    }
    sqlite3_finalize(ask);
    return error;
}

/* ---- what it is ---- */

/* Refuses databases of other programs. *is_new: it has no tables yet. */
static int identify(sqlite3 *db, const char *path, bool *is_new, char *why)
{
    int64_t tables = 0, application = 0, version = 0;
    int error = ask_number(db, "SELECT count(*) FROM sqlite_schema", &tables);
    if (!error)
        error = ask_number(db, "PRAGMA application_id", &application);
    if (!error)
        error = ask_number(db, "PRAGMA user_version", &version);
    int reserved = -1;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    *is_new = tables == 0 && application == 0;
    if (error == VIDI_EFORMAT)
        return refuse(why, error, path, "is not a database");
    if (error == VIDI_EDAMAGED)
        return refuse(why, error, path, "is damaged or incomplete");
    if (error)
        return refuse_sql(why, error, path, db);
    if (!*is_new && application != DB_APPLICATION)
        return refuse(why, VIDI_EFORMAT, path, "is a database of another program");
    if (!*is_new && version > DB_VERSION)
        return refuse(why, VIDI_EFORMAT, path, "was made by a newer version of vidi");
    if (!*is_new && reserved != CHECKED_RESERVED)
        return refuse(why, VIDI_EDAMAGED, path, "is damaged: its pages have no room for checksums");
    return VIDI_OK;
}

/* In WAL mode there is a file that processes share; some file systems cannot do that. */
static int switch_to_wal(sqlite3 *db, const char *path, char *why)
{
    sqlite3_stmt *ask = NULL;
    int error = sql_prepare(db, &ask, "PRAGMA journal_mode = WAL");
    int result = error ? SQLITE_DONE : sqlite3_step(ask);
    bool done = result == SQLITE_ROW && sqlite3_stricmp(sql_text(ask, 0).ptr, "wal") == 0;
    if (!done && result == SQLITE_ROW)
        error = refuse(why, VIDI_EIO, path, "is on a file system that cannot share memory between processes");
    else if (!done)
        error = refuse_sql(why, error ? error : sql_code(result), path, db);
    sqlite3_finalize(ask);
    return error;
}

static int make_tables(sqlite3 *db)
{
    char identity[128];
    snprintf(identity, sizeof identity, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;", DB_APPLICATION,
             DB_VERSION);
    frontier *urls = NULL;
    int error = sql_execute(db, "BEGIN IMMEDIATE");
    if (!error)
        error = sql_execute(db, db_tables);
    if (!error)
        error = frontier_open(&urls, db, false); /* makes its tables */
    frontier_close(urls);
    return error ? error : sql_execute(db, identity);
}

static int prepare_to_write(sqlite3 *db, const char *path, bool is_new, char *why)
{
    int error = is_new ? sql_execute(db, making) : VIDI_OK, reserved = CHECKED_RESERVED;
    if (!error && is_new)
        error = sql_code(sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved));
    if (error)
        return refuse_sql(why, error, path, db);
    error = switch_to_wal(db, path, why);
    if (error)
        return error;
    error = sql_execute(db, settings);
    if (!error && is_new)
        error = make_tables(db);
    return error ? refuse_sql(why, error, path, db) : VIDI_OK;
}

/* Where nothing can be written beside it, a database that was closed in good order can still be read. */
static int connect_to_read(sqlite3 **db, const char *path, char *why)
{
    int64_t ignored;
    int error = connect_to(db, path, DB_READ_ONLY, false);
    if (!error && ask_number(*db, "SELECT count(*) FROM sqlite_schema", &ignored) == VIDI_EIO &&
        !has_beside(path, "-wal")) {
        sqlite3_close(*db);
        *db = NULL;
        error = connect_to(db, path, DB_READ_ONLY, true);
    }
    return error ? refuse_sql(why, error, path, *db) : VIDI_OK;
}

int db_open_database(sqlite3 **db, const char *path, enum db_access access, bool *has_log, char *why)
{
    bool is_new = false;
    *db = NULL;
    *has_log = has_beside(path, "-wal");
    int error = check_file(path, access, why);
    if (error)
        return error;
    if (access == DB_READ_ONLY) {
        error = connect_to_read(db, path, why);
    } else {
        error = connect_to(db, path, access, false);
        if (error)
            refuse_sql(why, error, path, *db);
    }
    if (!error)
        error = identify(*db, path, &is_new, why);
    if (error)
        return error;
    if (access == DB_WRITE)
        return prepare_to_write(*db, path, is_new, why);
    return is_new ? refuse(why, VIDI_EFORMAT, path, "has no tables yet") : VIDI_OK;
}
