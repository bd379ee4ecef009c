/*
 * new(): a lazy iterator of the URLs that are new.
 *
 * A crawler that is interrupted while it handles a URL must get that URL again. So a set that commits by itself looks a
 * URL up, hands it out, and adds it only when the next one is asked for: then the last one has been handled. In between
 * it is pending. If the iterator is closed or dropped, because the handling raised an exception for example, the
 * pending URL is not added. A set with manual_commit=True has staging for that: there a URL is added at once, and the
 * caller commits.
 *
 * Two iterators of one set never hand out the same URL at the same time: an iterator skips URLs that are pending in
 * another one. For that, the lookup and the note that a URL is pending are one step, without releasing the GIL, and a
 * URL stays pending until it has been added.
 *
 * A set on a server is shared with other processes, so there a URL is claimed when it is handed out, and committed when
 * the next one is asked for. The server gives a claim to one process only, and forgets it when its lease ends. All
 * iterators of a set claim under one name, so which of them has a URL is looked up here as well.
 *
 * An exception loses nothing either: an item that was taken from the iterable and could not be looked up, and a pending
 * one that could not be added, are tried again when the next one is asked for. Items that are not URLs at all are
 * skipped, or the iterator would never get past them.
 */
#include "arguments.h"

#include <string.h>

#include "vidi/url.h"

/* Items that are skipped between two looks at signals. */
#define SKIPPED 4096

struct new_object {
    PyObject_HEAD set_object *set;
    PyObject *source;  /* the iterator that items come from; NULL at its end */
    PyObject *taken;   /* from the source, and not yet looked up */
    PyObject *pending; /* the text of the item that was handed out and is not yet added */
    char *form;        /* the canonical form of the pending URL, made when another iterator asks; else NULL */
    size_t form_len;
    vp_missing missing;
    bool is_running;
    bool is_cut_off;            /* the last call to a server had no answer */
    new_object *before, *after; /* all iterators of the set with a pending URL */
};

/* ---- pending URLs ---- */

static void set_pending(new_object *self, PyObject *plain)
{
    new_object *first = self->set->pending;
    self->pending = Py_NewRef(plain);
    self->before = NULL;
    self->after = first;
    if (first)
        first->before = self;
    self->set->pending = self;
}

static void drop_pending(new_object *self)
{
    if (!self->pending)
        return;
    if (self->before)
        self->before->after = self->after;
    else
        self->set->pending = self->after;
    if (self->after)
        self->after->before = self->before;
    self->before = self->after = NULL;
    PyMem_Free(self->form);
    self->form = NULL;
    Py_CLEAR(self->pending);
}

/*
 * The canonical form, preceded by a byte that tells URLs from other bytes, in memory that the caller frees. NULL with
 * an exception.
 */
static char *form_of(const vidi_canon *canon, vidi_str url, size_t *len)
{
    size_t room = url.len + 64;
    for (;;) {
        char *form = PyMem_Malloc(room + 1);
        if (!form)
            return (void *)PyErr_NoMemory();
        *len = room;
        int verdict = vidi_url_canon(canon, url, NULL, form + 1, len);
        if (verdict == VIDI_OK || verdict == VIDI_INVALID) {
            form[0] = verdict == VIDI_OK ? 1 : 0;
            if (verdict == VIDI_INVALID)
                memcpy(form + 1, url.ptr, *len = url.len);
            ++*len;
            return form;
        }
        PyMem_Free(form);
        if (verdict != VIDI_ELIMIT || *len <= room)
            return (void *)vp_raise(verdict);
        room = *len;
    }
}

static bool know_form(new_object *self, const vidi_canon *canon)
{
    vidi_str url;
    return self->form || (vp_text(self->pending, &url) && (self->form = form_of(canon, url, &self->form_len)) != NULL);
}

/* 1 if the URL is pending in an iterator of the set, 0 if not, -1 with an exception. Runs no Python code. */
static int is_pending(const set_object *owner, vidi_str url)
{
    const vidi_canon *canon = owner->cluster ? vidi_cluster_canon_of(owner->cluster) : vidi_canon_of(owner->set);
    int found = 0;
    size_t len;
    if (!owner->pending)
        return 0;
    char *form = form_of(canon, url, &len);
    if (!form)
        return -1;
    for (new_object *other = owner->pending; other && found == 0; other = other->after) {
        if (!know_form(other, canon))
            found = -1;
        else if (other->form_len == len && memcmp(other->form, form, len) == 0)
            found = 1;
    }
    PyMem_Free(form);
    return found;
}

static int answered(new_object *self, int error)
{
    self->is_cut_off = error == VIDI_EIO || error == VIDI_EBUSY;
    return error;
}

/* Says what becomes of the URL that is claimed. If somebody else has it by now, it is theirs. */
static int finish(new_object *self, vidi_str url, enum vidi_finish how)
{
    int error;
    VP_ON_SERVER(self->set, error, vidi_cluster_finish(cluster, self->set->claimer, &url, 1, how, NULL));
    return answered(self, error);
}

/* Adds the pending URL, which has been handled. False with an exception; then it stays pending. */
static bool add_pending(new_object *self)
{
    vidi_str url;
    if (!self->pending)
        return true;
    int verdict = VP_RAISED;
    if (vp_text(self->pending, &url))
        verdict = self->set->is_on_server ? finish(self, url, VIDI_FINISH_COMMIT) : vp_add(self->set, url);
    if (verdict < 0) {
        vp_fail(self->set, verdict);
        return false;
    }
    drop_pending(self);
    return true;
}

/*
 * The URL that was handed out was not handled. On a server others can have it at once; or, if the server is away, when
 * the lease ends.
 */
static void give_up_pending(new_object *self)
{
    PyObject *kind, *value, *trace;
    vidi_str url;
    if (self->pending && self->set->cluster && self->set->generation == vp_generation && !self->is_cut_off) {
        PyErr_Fetch(&kind, &value, &trace);
        if (vp_text(self->pending, &url))
            (void)finish(self, url, VIDI_FINISH_DROP);
        PyErr_Restore(kind, value, trace);
    }
    drop_pending(self);
}

/* ---- looking for the next ---- */

/* Takes an item from the source unless there is one. False at the end, or with an exception. */
static bool take(new_object *self)
{
    if (!self->taken && self->source) {
        self->taken = PyIter_Next(self->source);
        if (!self->taken && !PyErr_Occurred())
            Py_CLEAR(self->source);
    }
    return self->taken != NULL;
}

/* Looks the URL up, and makes it pending if it is new: VIDI_SEEN also if it is pending elsewhere. */
static int look_up(new_object *self, PyObject *plain, vidi_str url)
{
    vidi_set *set = vp_opened(self->set);
    int verdict = set ? vidi_has(set, url) : VP_RAISED;
    if (verdict == VIDI_SEEN)
        return vp_add(self->set, url); /* kinds that count store repeats, and the statistics do */
    if (verdict != VIDI_NEW)
        return verdict;
    int elsewhere = is_pending(self->set, url);
    if (elsewhere < 0)
        return VP_RAISED;
    if (elsewhere)
        return VIDI_SEEN;
    set_pending(self, plain);
    return VIDI_NEW;
}

/*
 * Claims the URL on the server, and makes it pending if it is new. It is pending already while the server is asked, for
 * other iterators. A claim under this name is that of a call whose reply was lost.
 */
static int claim(new_object *self, PyObject *plain, vidi_str url)
{
    set_object *set = self->set;
    vidi_claim claim = {.url = url, .payload = {"", 0}};
    int error;
    if (!vp_is_usable(set) || !vp_name_claimer(set))
        return VP_RAISED;
    int elsewhere = is_pending(set, url);
    if (elsewhere)
        return elsewhere < 0 ? VP_RAISED : VIDI_SEEN;
    set_pending(self, plain);
    VP_ON_SERVER(set, error, vidi_cluster_claim(cluster, set->claimer, set->lease_ms, &claim, 1, VIDI_CLAIM_AGAIN));
    if (error == VIDI_OK && claim.verdict == VIDI_NEW)
        return VIDI_NEW;
    drop_pending(self);
    answered(self, error);
    return error != VIDI_OK ? error : claim.verdict == VIDI_HELD ? VIDI_SEEN : claim.verdict;
}

/* Asks the set about the item that was taken. */
static int ask(new_object *self, PyObject *plain, vidi_str url)
{
    if (self->set->is_manual)
        return vp_add(self->set, url);
    return self->set->is_on_server ? claim(self, plain, url) : look_up(self, plain, url);
}

/* Decides about the item that was taken: 1 to hand it out, 0 to skip it, or -1 with an exception. */
static int decide(new_object *self)
{
    set_object *set = self->set;
    vidi_str url;
    if (self->missing == VP_SKIP_MISSING && vp_is_missing(self->taken))
        return 0;
    PyObject *plain = vp_plain(self->taken);
    if (!plain || !vp_text(plain, &url)) {
        Py_XDECREF(plain);
        Py_CLEAR(self->taken);
        return -1;
    }
    int verdict = ask(self, plain, url);
    Py_DECREF(plain); /* runs no code: it is of exactly that type, or the item itself */
    if (verdict == VIDI_NEW || verdict == VIDI_SEEN)
        return verdict == VIDI_NEW;
    if (verdict == VIDI_INVALID && set->access.invalid == VIDI_DROP_INVALID)
        return 0;
    vp_fail(set, verdict);
    if (verdict == VIDI_INVALID)
        Py_CLEAR(self->taken);
    return -1;
}

static PyObject *advance(new_object *self)
{
    for (unsigned skipped = 1; add_pending(self) && take(self); skipped++) {
        int is_new = decide(self);
        if (is_new < 0)
            return NULL;
        PyObject *item = self->taken;
        self->taken = NULL;
        if (is_new)
            return item;
        Py_DECREF(item);
        if (skipped % SKIPPED == 0 && PyErr_CheckSignals() < 0)
            return NULL;
    }
    return NULL;
}

static PyObject *next(PyObject *object)
{
    new_object *self = (new_object *)object;
    if (!self->set)
        return NULL;
    if (self->is_running) {
        PyErr_SetString(PyExc_ValueError, "the iterator of new URLs is already running");
        return NULL;
    }
    self->is_running = true;
    PyObject *item = advance(self);
    self->is_running = false;
    return item;
}

/* ---- the type ---- */

static int clear(PyObject *object)
{
    new_object *self = (new_object *)object;
    if (self->set)
        give_up_pending(self);
    Py_CLEAR(self->taken);
    Py_CLEAR(self->source);
    Py_CLEAR(self->set);
    return 0;
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    new_object *self = (new_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->set);
    Py_VISIT(self->source);
    Py_VISIT(self->taken);
    Py_VISIT(self->pending);
    return 0;
}

static void dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyObject *close_iterator(PyObject *object, PyObject *Py_UNUSED(none))
{
    new_object *self = (new_object *)object;
    if (self->is_running) {
        PyErr_SetString(PyExc_ValueError, "the iterator of new URLs is running");
        return NULL;
    }
    clear(object);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"close", close_iterator, METH_NOARGS,
     "close($self, /)\n--\n\nEnd the iteration. The URL that was handed out last is not added to the set.\n"},
    {0},
};

static const char type_doc[] = "An iterator of the URLs that a set has not seen; Set.new() makes it.";

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)type_doc}, {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next},        {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},          {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},      {0, NULL},
};

static PyType_Spec spec = {
    .name = "vidi.NewURLs",
    .basicsize = sizeof(new_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

static PyTypeObject *type;

bool vp_new_init(void)
{
    return type || (type = (PyTypeObject *)PyType_FromSpec(&spec)) != NULL;
}

static PyObject *new_urls(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"urls", "missing", NULL};
    static const vp_signature signature = {"new", names, 1, 1};
    set_object *set = (set_object *)object;
    PyObject *values[VP_ARGUMENTS_MAX];
    vp_missing missing = VP_FAIL_MISSING;

    if (!vp_arguments(&signature, args, count, keywords, values) || !vp_to_missing(values[1], &missing) ||
        !vp_is_usable(set))
        return NULL;
    if (set->access.flags & VIDI_READ_ONLY)
        return vp_raise_sentence(VIDI_ECANNOT, "the set is read-only, and new() adds the URLs; has_many() does not");
    PyObject *source = vp_refuse_single(values[0]) ? PyObject_GetIter(values[0]) : NULL;
    if (!source)
        return NULL;
    new_object *self = PyObject_GC_New(new_object, type);
    if (!self) {
        Py_DECREF(source);
        return NULL;
    }
    memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    Py_INCREF(object);
    self->set = set;
    self->source = source;
    self->missing = missing;
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

static const char new_doc[] =
    "new($self, /, urls, *, missing='fail')\n--\n\n"
    "Return a lazy iterator of those URLs of an iterable that the set has not seen.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> for url in s.new(['http://example.org/', 'http://example.org', 'http://example.org/a']):\n"
    "    ...     print(url)\n"
    "    http://example.org/\n"
    "    http://example.org/a\n\n"
    "A URL is added when the next one is asked for. So if handling it raises an exception, or the\n"
    "process is killed, the URL is new the next time:\n\n"
    "    >>> for url in s.new(['http://example.org/b']):\n"
    "    ...     break\n"
    "    >>> 'http://example.org/b' in s\n"
    "    False\n\n"
    "With manual_commit=True it is added at once, and commit() says that it was handled. With missing='skip' None,\n"
    "NaN and pandas' NA and NaT are left out.\n\n"
    "From a set on a server, each URL goes to one process only, as long as it takes no longer than the lease.\n";

const PyMethodDef vp_new_methods[] = {
    {"new", VP_NAMED(new_urls), METH_FASTCALL | METH_KEYWORDS, new_doc},
    {0},
};
