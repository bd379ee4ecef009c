/*
 * The Python extension vidi._vidi: what its files share. It uses the public headers of the library, and of Python the
 * limited interface of version 3.10, so that one binary serves all later versions.
 *
 * A vidi.Set is one of two things: a vidi_set, in memory or in a folder, or a vidi_cluster, which spans a server or a
 * cluster of servers. Calls that both can do go through VP_EITHER. All others ask vp_opened(), VP_CALL or vp_enter() for
 * the vidi_set, and these raise CannotError if there is none.
 *
 * The global interpreter lock (GIL) protects the fields of a set_object. Rules that keep this true, and Python alive:
 *
 *  - A call that keeps the GIL asks vp_opened() for the set, last of all: no Python code may run between vp_opened()
 *    and the library's function, or the set might be closed in between. vp_text() runs none; vp_plain(), comparing,
 *    calling and making objects that the garbage collector tracks may.
 *  - A call that releases the GIL goes through VP_CALL, or vp_enter() and vp_leave(), with no Python code in between:
 *    close() waits for those that have entered, and would wait for itself.
 *  - Calls that wait for a server always release the GIL.
 *  - Visitors, sinks and allocators run while the set is locked. They touch no Python object.
 *  - vp_raise() comes before any other function of the library, because the next failure replaces the sentence. After
 *    VP_EITHER it is vp_fail(): the two sorts of set have sentences of their own.
 *
 * The extension lives in the main interpreter alone: sets and exception classes are not shared with sub-interpreters.
 */
#ifndef VIDI_PYTHON_EXTENSION_H
#define VIDI_PYTHON_EXTENSION_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030A0000
#endif
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <vidi/cluster.h>
#include <vidi/vidi.h>

typedef struct new_object new_object;

/* How a set is used, from the keywords of a call. */
typedef struct vp_use {
    vidi_access access;
    vidi_cluster_access on_server;
    const char *of_folders, *of_servers; /* a keyword that was given and that only one sort of set has; NULL: none */
} vp_use;

/* An open set: one of the two is not NULL. */
typedef struct vp_handle {
    vidi_set *set;
    vidi_cluster *cluster;
} vp_handle;

/* A vidi.Set. It holds no Python object, so it is never part of a reference cycle. */
typedef struct set_object {
    PyObject_HEAD PyObject *weak_references;
    vidi_set *set;         /* NULL: on a server, never opened, or closed */
    vidi_cluster *cluster; /* NULL: not on a server, never opened, or closed */
    bool is_on_server;     /* still true after close() */
    unsigned generation;   /* vp_generation if the set may be used; 0 once close() has begun, and before it is opened */
    unsigned made_in;      /* the generation of the process that opened it */
    unsigned users;        /* calls between vp_enter and vp_leave */
    bool may_sleep;        /* a single add waits for the disk or a server */
    bool mostly_new;       /* most URLs of the last batch were new */
    bool is_manual;        /* opened with manual_commit=True, in a folder or on a server */
    vidi_access access;    /* as it was opened; the allocator is NULL here */
    char *claimer;         /* on a server: the name under which new() claims URLs; NULL: it has claimed none */
    int64_t lease_ms;      /* on a server: of these claims */
    char *path;            /* the folder, or the address without its password; NULL: in memory */
    uint64_t added;        /* URLs in the set, as far as this object knows */
    uint64_t hint_at;      /* when `added` reaches this, vp_hint tells the set to grow to more */
    new_object *pending;   /* iterators of new() that wait until their last URL is handled */
    struct set_object *previous, *next; /* all open sets, for the end of the process */
} set_object;

extern PyTypeObject *vp_set_type;

/* ---- text.c ---- */

/*
 * A str or bytes with the text of a URL: the object itself if it is one, otherwise a new object, of exactly that type.
 * A new reference, or NULL with an exception: a TypeError that names the type, or what the object's own code raises.
 */
PyObject *vp_plain(PyObject *object);
/*
 * The bytes of a str, in UTF-8, or of a bytes object; they belong to the object. False with an exception, such as a
 * UnicodeEncodeError for surrogates. Runs no Python code.
 */
static inline bool vp_text(PyObject *plain, vidi_str *text);
/* The same, for what vp_text does not do inline. */
bool vp_text_of_any(PyObject *plain, vidi_str *text);

/* True for what tables have in place of a value: None, NaN, and pandas' NA and NaT. */
bool vp_is_missing(PyObject *object);

/* Raises a TypeError, in place of an exception that is set: "NAME must be WANTED, not int". Returns false. */
bool vp_refuse_type(PyObject *object, const char *name, const char *wanted);
/* A single URL is an iterable, too, of its letters or parts, but nobody means that: false with a TypeError. */
bool vp_refuse_single(PyObject *urls);

/* ---- single.c ---- */

/* vidi_add, without the GIL if it may have to wait. Runs no Python code in this thread. */
int vp_add(set_object *self, vidi_str url);
/* The slot of `url in set`. */
int vp_set_contains(PyObject *self, PyObject *url);

/* ---- batch.c ---- */

/* What to do with missing values among the URLs. */
typedef enum vp_missing { VP_FAIL_MISSING, VP_SKIP_MISSING } vp_missing;
/* Takes the argument `missing`: "fail" or "skip". NULL leaves it alone. */
bool vp_to_missing(PyObject *object, vp_missing *missing);
/* Adds all URLs of an iterable, or of another set. False with an exception. */
bool vp_update(set_object *self, PyObject *urls, vp_missing missing);
/* The slot of `set |= urls`. */
PyObject *vp_set_or(PyObject *self, PyObject *urls);

/* ---- rotate_merge.c ---- */

/* Adds everything that another set holds. False with an exception. */
bool vp_merge(set_object *self, set_object *other, unsigned flags);

/* ---- new_iterator.c ---- */

bool vp_new_init(void);

/* ---- errors.c ---- */

/* Instead of a verdict or an error of the library: an exception is set. */
#define VP_RAISED INT_MIN

/*
 * Raises the exception of a code of the library, VIDI_INVALID among them, with vidi_message(); returns NULL.
 * VIDI_EABSENT is a FileNotFoundError: what is missing is a folder or a file. After VP_RAISED the exception stays.
 */
PyObject *vp_raise(int error);
/* None for VIDI_OK, otherwise vp_raise. */
PyObject *vp_none(int error);
/* Raises the exception of a code with a sentence of our own; returns NULL. */
PyObject *vp_raise_sentence(int error, const char *sentence);
/*
 * As vp_raise and vp_none, after VP_EITHER or VP_ON_SERVER: a set on a server has sentences of its own. VP_OF_COPY(error)
 * is an error of a vidi_set that was made from it.
 */
enum { VP_COPY_ERRORS = -1000 };
#define VP_OF_COPY(error) ((error) < 0 ? (error) + VP_COPY_ERRORS : (error))
PyObject *vp_fail(const set_object *self, int error);
PyObject *vp_fail_or_none(const set_object *self, int error);
/* The same for a call of vidi/cluster.h that no object has made. */
PyObject *vp_raise_on_server(int error);
/* Raises the KeyError for a URL that is not in the set; returns NULL. */
PyObject *vp_raise_absent(const set_object *self);
/* For calls on a set that is closed, or was inherited by a child of fork(). */
PyObject *vp_raise_closed(void);
PyObject *vp_raise_forked(void);
/* Imports the classes; false with an exception. */
bool vp_errors_init(void);

/* ---- lifetime.c ---- */

/* Counts the fork()s between the first process and this one; begins with 1. */
extern unsigned vp_generation;
/* False with an exception. */
bool vp_fork_init(void);
/* False with an exception if the set is closed or another process's. */
static inline bool vp_is_usable(set_object *self);
/* The set, or NULL with an exception; also if the set is on a server. For calls that keep the GIL. */
static inline vidi_set *vp_opened(set_object *self);
/* The same for calls that release the GIL: if it returns the set, vp_leave must follow, with the GIL held. */
vidi_set *vp_enter(set_object *self);
/* The same for a set on a server; if it is not on one, NULL with an exception. */
vidi_cluster *vp_enter_cluster(set_object *self);
/* The same for either: false with an exception. */
bool vp_enter_either(set_object *self);
void vp_leave(set_object *self);
/* Raises why the set cannot be used; returns NULL. */
vidi_set *vp_refuse(set_object *self);
/* The set was open when this process was forked, so it belongs to the parent. */
bool vp_is_inherited(const set_object *self);

/* Runs a statement without the GIL. It must not touch a Python object, nor leave by return or goto. */
#define VP_RELEASED(statement)                                                                                         \
    do {                                                                                                               \
        PyThreadState *vp_thread = PyEval_SaveThread();                                                                \
        statement;                                                                                                     \
        PyEval_RestoreThread(vp_thread);                                                                               \
    } while (0)

/*
 * Assigns the result of a call of the library, which gets the object's set as `set`, without the GIL; or VP_RAISED if
 * the set cannot be used.
 */
#define VP_CALL(object, result, call)                                                                                  \
    do {                                                                                                               \
        vidi_set *set = vp_enter((set_object *)(object));                                                              \
        (result) = VP_RAISED;                                                                                          \
        if (set) {                                                                                                     \
            VP_RELEASED((result) = (call));                                                                            \
            vp_leave((set_object *)(object));                                                                          \
        }                                                                                                              \
    } while (0)

/* The same for calls that only sets on a server have; they get `cluster`. */
#define VP_ON_SERVER(object, result, call)                                                                             \
    do {                                                                                                               \
        vidi_cluster *cluster = vp_enter_cluster((set_object *)(object));                                              \
        (result) = VP_RAISED;                                                                                          \
        if (cluster) {                                                                                                 \
            VP_RELEASED((result) = (call));                                                                            \
            vp_leave((set_object *)(object));                                                                          \
        }                                                                                                              \
    } while (0)

/* The same for calls that all sets have: `on_set` gets `set`, `on_server` gets `cluster`. Errors go to vp_fail(). */
#define VP_EITHER(object, result, on_set, on_server)                                                                   \
    do {                                                                                                               \
        vidi_set *set = ((set_object *)(object))->set;                                                                 \
        vidi_cluster *cluster = ((set_object *)(object))->cluster;                                                     \
        (void)cluster;                                                                                                 \
        (result) = VP_RAISED;                                                                                          \
        if (vp_enter_either((set_object *)(object))) {                                                                 \
            VP_RELEASED((result) = set ? (on_set) : (on_server));                                                      \
            vp_leave((set_object *)(object));                                                                          \
        }                                                                                                              \
    } while (0)

/*
 * Makes an object of a type, which is vidi.Set or derives from it, around an open set; __init__ is not called. path is
 * NULL for a set in memory. The set is the object's from then on: it is closed if this fails.
 */
PyObject *vp_wrap(PyTypeObject *type, vp_handle handle, const char *path, const vp_use *use);
/* The same for an object that exists and has no set. */
bool vp_adopt(set_object *self, vp_handle handle, const char *path, const vp_use *use);
/* Closes the set: false with an exception if the last sync failed; it is closed all the same. */
bool vp_close(set_object *self);
/* Closes all sets in folders and on servers, at the end of the process. */
PyObject *vp_close_all(PyObject *module, PyObject *unused);

/* ---- hint.c ---- */

/* The number of URLs at which a set gets its first hint, if it had this many when it was opened. */
uint64_t vp_first_hint(uint64_t urls);
/* Prepares the set for this many URLs, which it has or will have soon. Runs no Python code. */
void vp_hint(set_object *self, uint64_t urls);
/* The same, if it is time. */
static inline void vp_hint_if_due(set_object *self, uint64_t urls);

/* ---- open.c ---- */

/*
 * A path as bytes of the file system (a new reference to a bytes object), or *path is NULL for None and NULL; false
 * with an exception.
 */
bool vp_path(PyObject *object, PyObject **path);
int vp_set_init(PyObject *object, PyObject *args, PyObject *keywords);

/* ---- access.c ---- */

/*
 * Takes the keywords memory_limit, invalid, sync, manual_commit, read_only, accept_damage, owner, lease, patience,
 * wait_replicas, ca_file, cert_file and key_file. False with an exception.
 */
bool vp_take_use(PyObject *keywords, vp_use *use);
/* False with an exception if a keyword was given that only the other sort of set has. */
bool vp_fits_folders(const vp_use *use);
bool vp_fits_servers(const vp_use *use);

/* ---- set.c ---- */

/* The object as a set; NULL with a TypeError that names its type. */
set_object *vp_set(PyObject *object);
bool vp_set_type_init(PyObject *module);

/* ---- stats.c ---- */

/* The statistics of a set; false with an exception. Releases the GIL: the library waits while another thread merges. */
bool vp_stat(set_object *self, vidi_stats *stats);

/* ---- iterate.c ---- */

/* iter(set). */
PyObject *vp_set_iter(PyObject *self);
/* Makes the types of the iterators; false with an exception. */
bool vp_iterate_init(void);

/* ---- cluster/cluster_open.c: sets on a server ---- */

/* Opens the set at an address; NULL with an exception. */
vidi_cluster *vp_cluster_open(const char *address, const vp_use *use);
/* Makes one that is not there yet; false with an exception. */
bool vp_cluster_create(const char *address, const vidi_options *options, uint64_t shards, const vp_use *use);
/* Gives the set a name to claim URLs under, which nobody had before, unless it has one; false with an exception. */
bool vp_name_claimer(set_object *self);

/* ---- cluster/cluster_shards.c: without the GIL ---- */

/* A function of the library that reads a whole set, and what else it needs. It may be called twice: it begins again. */
typedef int vp_task(const vidi_set *set, void *context);
/* Runs a task on a copy of each shard, one after the other; anything but VIDI_OK ends it. */
int vp_run_shards(vidi_cluster *cluster, vp_task *task, void *context);
/* Runs a task on a copy of the first shard. */
int vp_run_first_shard(vidi_cluster *cluster, vp_task *task, void *context);
/* Runs a task on a copy of the whole set in memory. */
int vp_run_joined(vidi_cluster *cluster, vp_task *task, void *context);
/* Makes that copy, which the caller closes. */
int vp_join(vidi_cluster *cluster, vidi_set **joined);

/* ---- mapped.c ---- */

/*
 * Runs a task on a set, which was opened in that way; without the GIL. If the set is mapped, and that is why the task
 * returns VIDI_ECANNOT, the task runs on a copy in memory.
 */
int vp_run_whole(const vidi_set *set, const vidi_access *access, vp_task *task, void *context);
/* The same, but of a mapped set always on a copy. */
int vp_run_copied(const vidi_set *set, const vidi_access *access, vp_task *task, void *context);

/* ---- meter.c ---- */

/* Where new sets get their memory: NULL, which is the library's own, unless it is counted. */
const vidi_allocator *vp_allocator(void);

/* ---- tables of methods, attributes and functions, each with a row of zeros at the end ---- */

extern const PyMethodDef vp_single_methods[], vp_batch_methods[], vp_new_methods[], vp_durable_methods[];
extern const PyGetSetDef vp_durable_attributes[];
extern const PyMethodDef vp_meter_functions[];
extern const PyMethodDef vp_url_functions[], vp_plan_functions[];
extern const PyMethodDef vp_iterate_methods[], vp_stream_methods[], vp_whole_methods[], vp_derive_methods[];
extern const PyGetSetDef vp_stats_attributes[];
extern const PyMethodDef vp_open_methods[], vp_cluster_methods[], vp_claim_methods[];

/* ---- inline, because every add passes here ---- */

static inline bool vp_text(PyObject *plain, vidi_str *text)
{
    Py_ssize_t len;

    if (!PyUnicode_CheckExact(plain))
        return vp_text_of_any(plain, text);
    text->ptr = PyUnicode_AsUTF8AndSize(plain, &len);
    text->len = (size_t)len;
    return text->ptr != NULL;
}

static inline void vp_hint_if_due(set_object *self, uint64_t urls)
{
    if (urls >= self->hint_at)
        vp_hint(self, urls);
}

static inline bool vp_is_usable(set_object *self)
{
    return self->generation == vp_generation || vp_refuse(self);
}

static inline vidi_set *vp_opened(set_object *self)
{
    return self->generation == vp_generation && self->set ? self->set : vp_refuse(self);
}

#endif
