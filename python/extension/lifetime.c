/*
 * The life of a set: which calls use it, and how it is closed.
 *
 * Calls that keep the GIL need not be counted: close() needs the GIL, too. Calls that release it are counted, and
 * close() waits until the last of them has left. Counts change with the GIL held; once a close has begun they change
 * with `door` locked as well, so that close() can wait for them without the GIL.
 *
 * A child inherits sets by fork(). It has a copy of the parent's memory, maybe taken in the middle of a call, and none
 * of its threads: such a set can be neither used nor closed there. It is noticed by a number that every fork raises in
 * the child, because asking for the process id at every call would take a system call.
 */
#include "extension.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t somebody_left = PTHREAD_COND_INITIALIZER;
static set_object *open_sets; /* those in folders and on servers */

unsigned vp_generation = 1;

static void in_the_child(void)
{
    vp_generation++;
    door = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* a thread of the parent may have held it */
    somebody_left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    open_sets = NULL;
}

bool vp_fork_init(void)
{
    static bool is_registered;
    if (!is_registered && pthread_atfork(NULL, NULL, in_the_child) != 0) {
        PyErr_NoMemory();
        return false;
    }
    is_registered = true;
    return true;
}

/* It is open, or about to be closed. */
static bool has_set(const set_object *self)
{
    return self->set || self->cluster;
}

bool vp_is_inherited(const set_object *self)
{
    return has_set(self) && self->made_in != vp_generation;
}

vidi_set *vp_refuse(set_object *self)
{
    if (vp_is_inherited(self))
        vp_raise_forked();
    else if (self->generation != vp_generation)
        vp_raise_closed();
    else if (self->is_on_server)
        vp_raise_sentence(VIDI_ECANNOT, "a set on a server cannot do that, only one in memory or in a folder");
    else
        vp_raise_sentence(VIDI_ECANNOT, "only a set on a server can do that, not one in memory or in a folder");
    return NULL;
}

vidi_set *vp_enter(set_object *self)
{
    vidi_set *set = vp_opened(self);
    if (set)
        self->users++;
    return set;
}

vidi_cluster *vp_enter_cluster(set_object *self)
{
    if (self->generation != vp_generation || !self->cluster)
        return (void *)vp_refuse(self);
    self->users++;
    return self->cluster;
}

bool vp_enter_either(set_object *self)
{
    bool is_usable = vp_is_usable(self);
    if (is_usable)
        self->users++;
    return is_usable;
}

void vp_leave(set_object *self)
{
    if (self->generation) {
        self->users--;
        return;
    }
    pthread_mutex_lock(&door);
    self->users--;
    pthread_cond_broadcast(&somebody_left);
    pthread_mutex_unlock(&door);
}

/* ---- opening ---- */

static void enlist(set_object *self)
{
    self->previous = NULL;
    self->next = open_sets;
    if (open_sets)
        open_sets->previous = self;
    open_sets = self;
}

static void delist(set_object *self)
{
    if (self->previous)
        self->previous->next = self->next;
    else if (open_sets == self)
        open_sets = self->next;
    if (self->next)
        self->next->previous = self->previous;
    self->previous = self->next = NULL;
}

static void close_without_gil(vp_handle handle)
{
    VP_RELEASED((vidi_close(handle.set), vidi_cluster_close(handle.cluster)));
}

/* Looks how large the set is. One that was made for a number of URLs needs no hints, and servers take none. */
static void prepare_hints(set_object *self, const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    bool is_known = set && vidi_stat(set, &stats) == VIDI_OK && stats.capacity == 0;
    self->added = stats.count;
    self->hint_at = is_known ? vp_first_hint(stats.count) : UINT64_MAX;
}

bool vp_adopt(set_object *self, vp_handle handle, const char *path, const vp_use *use)
{
    const vidi_access *access = &use->access;
    char *copy = path ? strdup(path) : NULL;
    if ((path && !copy) || has_set(self)) {
        free(copy);
        close_without_gil(handle); /* the object may get another set meanwhile; this one is not its own */
        if (path && !copy)
            PyErr_NoMemory();
        else
            PyErr_SetString(PyExc_ValueError, "the set is open already; __init__ can be called once");
        return false;
    }
    free(self->path);
    self->path = copy;
    self->access = *access;
    self->lease_ms = use->on_server.lease_ms;
    self->access.allocator = NULL; /* it may end before the set, and nobody asks */
    self->access.owner = NULL;     /* the same; copies belong to nobody */
    bool is_written = path && !(access->flags & VIDI_READ_ONLY);
    self->is_manual = is_written && access->flags & VIDI_MANUAL_COMMIT;
    self->may_sleep = handle.cluster || (is_written && access->sync == VIDI_SYNC_ALWAYS && !self->is_manual);
    prepare_hints(self, handle.set);
    self->set = handle.set;
    self->cluster = handle.cluster;
    self->is_on_server = handle.cluster != NULL;
    self->generation = self->made_in = vp_generation;
    if (path)
        enlist(self);
    return true;
}

PyObject *vp_wrap(PyTypeObject *type, vp_handle handle, const char *path, const vp_use *use)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    if (!self) {
        close_without_gil(handle);
        return NULL;
    }
    if (!vp_adopt((set_object *)self, handle, path, use))
        Py_CLEAR(self);
    return self;
}

/* ---- closing ---- */

/* Waits until another thread's close() is complete, so that the folder is free when this one returns. */
static void await_closed(set_object *self)
{
    pthread_mutex_lock(&door);
    while (has_set(self))
        pthread_cond_wait(&somebody_left, &door);
    pthread_mutex_unlock(&door);
}

/* How long a set that is being closed waits for a server that does not answer. Its leases end by themselves. */
#define FAREWELL_MS 5000

/* The URLs that new() has handed out and that nobody has dealt with can be handed out again. */
static void end_cluster(vidi_cluster *cluster, const char *claimer)
{
    if (claimer)
        (void)vidi_cluster_abandon(cluster, claimer, NULL); /* if it fails, the leases end by themselves */
    vidi_cluster_close(cluster);
}

/* Without the GIL. vidi_close reports no errors, so the sync before it is the last chance to hear of one. */
static int end(set_object *self, vp_handle handle, char *sentence, size_t room)
{
    if (handle.cluster)
        vidi_cluster_hurry(handle.cluster, FAREWELL_MS); /* also the calls that are waited for */
    pthread_mutex_lock(&door);
    while (self->users)
        pthread_cond_wait(&somebody_left, &door);
    pthread_mutex_unlock(&door);

    if (handle.cluster) {
        end_cluster(handle.cluster, self->claimer);
        return VIDI_OK;
    }
    int error = vidi_sync(handle.set);
    if (error < 0)
        snprintf(sentence, room, "%s", vidi_message());
    vidi_close(handle.set);
    return error;
}

/* With the GIL, so that whoever holds either the GIL or `door` may look at self->set. */
static void tell_closed(set_object *self)
{
    pthread_mutex_lock(&door);
    self->set = NULL;
    self->cluster = NULL;
    pthread_cond_broadcast(&somebody_left);
    pthread_mutex_unlock(&door);
}

bool vp_close(set_object *self)
{
    char sentence[1024];
    int error;
    if (!has_set(self))
        return true;
    if (vp_is_inherited(self)) {
        vp_raise_forked();
        return false;
    }
    if (!self->generation) {
        VP_RELEASED(await_closed(self));
        return true;
    }
    self->generation = 0;
    delist(self);
    vp_handle handle = {self->set, self->cluster};
    VP_RELEASED(error = end(self, handle, sentence, sizeof sentence));
    tell_closed(self);
    if (error < 0)
        vp_raise_sentence(error, sentence);
    return error >= 0;
}

PyObject *vp_close_all(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    while (open_sets) {
        PyObject *set = (PyObject *)open_sets;
        Py_INCREF(set);
        if (!vp_close((set_object *)set))
            PyErr_WriteUnraisable(set);
        Py_DECREF(set);
    }
    Py_RETURN_NONE;
}
