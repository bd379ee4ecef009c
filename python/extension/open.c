/* Making and opening sets: what the arguments of vidi.Set(...) and vidi.Set.create(...) mean. */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "vidi/url.h"

bool vp_path(PyObject *object, PyObject **path)
{
    *path = NULL;
    return !object || object == Py_None || PyUnicode_FSConverter(object, path);
}

/* ---- how a set is made ---- */

/* What the arguments of a call say, with the text that `options` points to. */
typedef struct request {
    vidi_options options;
    vp_use use;
    set_object *like;
    const char *asked_kind; /* by the caller, and not by the planner */
    vidi_plan_entry plan;
    PyObject *path; /* owns options.path */
    bool is_on_server;
    uint64_t shards; /* 0: not given */
} request;

static bool to_key(PyObject *object, const unsigned char **key)
{
    if (!object || object == Py_None)
        return true;
    if (!PyBytes_Check(object))
        return vp_refuse_type(object, "key", "bytes");
    if (PyBytes_Size(object) != VIDI_KEY_BYTES) {
        vp_raise_sentence(VIDI_EOPTION, "key must have 16 bytes");
        return false;
    }
    *key = (const unsigned char *)PyBytes_AsString(object);
    return true;
}

/*
 * Takes over what the planner has chosen. Its parameters are those of a whole set, and contain the capacity and the error
 * rate. The shards of a set on a server are smaller, so there the rate alone is taken.
 */
static void take_plan(request *request)
{
    vidi_options *options = &request->options;
    options->kind = request->plan.kind;
    options->error = request->is_on_server ? request->plan.error : 0;
    if (request->is_on_server)
        return;
    options->params = request->plan.params;
    options->capacity = 0;
}

/* Lets the planner choose kind and parameters, so that no more than `lost` pages are lost on the way to `capacity`. */
static bool plan(request *request, double lost)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_options *options = &request->options;
    size_t n = 1;
    if (!options->capacity) {
        vp_raise_sentence(VIDI_EOPTION, "lost needs capacity: the losses depend on the number of URLs");
        return false;
    }
    want.kind = options->kind;
    want.params = options->params;
    want.urls = options->capacity;
    want.error = options->error;
    want.lost = lost;
    want.exact = lost == 0;
    int error = vidi_plan(&want, &request->plan, &n);
    if (error < 0) {
        vp_raise(error);
        return false;
    }
    take_plan(request);
    return true;
}

/* With `like`, everything that the two sets must have in common comes from the other one. */
static bool leaves_to_like(const request *request, const PyObject *lost)
{
    const vidi_options *options = &request->options;
    if (!request->like || !(options->kind || options->params || options->capacity || options->error > 0 ||
                            options->canon || options->tracking || lost))
        return true;
    vp_raise_sentence(VIDI_EOPTION, "like brings kind, params, capacity, error, canon and tracking; leave them out");
    return false;
}

enum {
    PATH,
    URLS,
    KIND,
    PARAMS,
    CAPACITY,
    ERROR,
    LOST,
    CANON,
    TRACKING,
    KEY,
    LIKE,
    HEADROOM,
    KEEP_PREVIOUS,
    SHARDS, /* of create() alone */
    NAMES
};

static bool take_options(PyObject *const values[NAMES], request *request)
{
    vidi_options *options = &request->options;
    PyObject *lost_object = values[LOST] == Py_None ? NULL : values[LOST];
    PyObject *like = values[LIKE] == Py_None ? NULL : values[LIKE];
    bool keep = false;
    double lost = 0;
    request->like = like ? vp_set(like) : NULL;
    bool taken = (!like || request->like) && vp_to_words(values[KIND], "kind", &options->kind) &&
                 vp_to_words(values[PARAMS], "params", &options->params) &&
                 vp_to_count(values[CAPACITY], "capacity", &options->capacity) &&
                 vp_to_real(values[ERROR], "error", &options->error) && vp_to_real(lost_object, "lost", &lost) &&
                 vp_to_words(values[CANON], "canon", &options->canon) &&
                 vp_to_words(values[TRACKING], "tracking", &options->tracking) && to_key(values[KEY], &options->key) &&
                 vp_to_real(values[HEADROOM], "headroom", &options->headroom) &&
                 vp_to_bool(values[KEEP_PREVIOUS], &keep) && vp_to_count(values[SHARDS], "shards", &request->shards);
    options->flags = keep ? VIDI_KEEP_PREVIOUS : 0;
    request->asked_kind = options->kind;
    return taken && leaves_to_like(request, lost_object) && (!lost_object || plan(request, lost));
}

/* ---- comparing an existing set with the arguments ---- */

static bool refuse(const char *what, const char *has, const char *asked)
{
    char sentence[512];
    snprintf(sentence, sizeof sentence, "the set %s %s, not %s; leave that out, or use another path", what, has, asked);
    vp_raise_sentence(VIDI_EDIFFERS, sentence);
    return false;
}

/* A canonical form that is asked for without a version is that of the set. */
static const char *with_version(const char *asked, const char *own, char *room, size_t size)
{
    size_t name = strcspn(asked, "/,");
    if (asked[name] == '/' || strcspn(own, "/,") != name || strncmp(asked, own, name) != 0)
        return asked;
    int length = snprintf(room, size, "%.*s%s", (int)strcspn(own, ","), own, asked + name);
    return length > 0 && (size_t)length < size ? room : asked;
}

static bool has_form(const vidi_options *options, const char *own)
{
    char room[512];
    const char *asked = options->canon ? with_version(options->canon, own, room, sizeof room) : NULL;
    vidi_canon *form;
    int error = vidi_canon_create(&form, asked, options->tracking, NULL);
    if (error < 0) {
        vp_raise(error);
        return false;
    }
    bool fits = strcmp(vidi_canon_name(form), own) == 0 || refuse("has the canonical form", own, vidi_canon_name(form));
    vidi_canon_close(form);
    return fits;
}

/*
 * A set that existed keeps its size and parameters. But another kind or another canonical form than the caller names
 * would give other answers than expected.
 */
static bool fits(const vidi_stats *stats, const request *request)
{
    if (request->asked_kind && strcmp(request->asked_kind, stats->kind) != 0)
        return refuse("is of kind", stats->kind, request->asked_kind);
    return (!request->options.canon && !request->options.tracking) || has_form(&request->options, stats->canon);
}

/* ---- opening ---- */

static bool folder_fits(const vidi_set *set, const request *request)
{
    vidi_stats stats = {.size = sizeof stats};
    int error = vidi_stat(set, &stats);
    if (error < 0)
        vp_raise(error);
    return error >= 0 && fits(&stats, request);
}

/* Asks the servers only if the caller asks for something. */
static bool cluster_fits(vidi_cluster *cluster, const request *request)
{
    vidi_stats stats = {.size = sizeof stats};
    int error;
    if (!request->asked_kind && !request->options.canon && !request->options.tracking)
        return true;
    VP_RELEASED(error = vidi_cluster_stat(cluster, &stats, NULL));
    if (error < 0)
        vp_raise_on_server(error);
    return error >= 0 && fits(&stats, request);
}

typedef struct opening {
    vidi_set *set;
    vidi_options *options;
    bool makes; /* a set that must not be there yet */
} opening;

/* Without the GIL. */
static int open_set(opening *self)
{
    const vidi_options *options = self->options;
    if (options->access->flags & VIDI_READ_ONLY)
        return vidi_open(&self->set, options->path, options->access);
    return options->path && !self->makes ? vidi_open_or_create(&self->set, options) : vidi_create(&self->set, options);
}

/* A vp_task: opens a set that is made like this one. */
static int open_like(const vidi_set *like, void *context)
{
    opening *self = context;
    self->options->like = like;
    return open_set(self);
}

/* In memory or in a folder. NULL with an exception. */
static vidi_set *open_here(request *request, bool makes)
{
    opening opening = {NULL, &request->options, makes};
    int error;
    if (request->use.access.flags & VIDI_READ_ONLY && !request->options.path) {
        vp_raise_sentence(VIDI_EOPTION, "read_only needs the path of a set that exists");
        return NULL;
    }
    if (request->like) {
        VP_EITHER(request->like, error, open_like(set, &opening), vp_run_first_shard(cluster, open_like, &opening));
        if (error < 0)
            return (void *)vp_fail(request->like, error);
    } else {
        VP_RELEASED(error = open_set(&opening));
        if (error < 0)
            return (void *)vp_raise(error);
    }
    if (!request->options.path || makes || folder_fits(opening.set, request))
        return opening.set;
    VP_RELEASED(vidi_close(opening.set));
    return NULL;
}

/* NULL with an exception. */
static vidi_cluster *open_on_server(request *request, bool makes)
{
    const char *address = request->options.path;
    if (makes && !vp_cluster_create(address, &request->options, request->shards, &request->use))
        return NULL;
    vidi_cluster *cluster = vp_cluster_open(address, &request->use);
    if (!cluster || makes || cluster_fits(cluster, request))
        return cluster;
    VP_RELEASED(vidi_cluster_close(cluster));
    return NULL;
}

/* Neither set with an exception. */
static vp_handle open_request(request *request, bool makes)
{
    vp_handle handle = {NULL, NULL};
    if (request->is_on_server)
        handle.cluster = open_on_server(request, makes);
    else
        handle.set = open_here(request, makes);
    return handle;
}

/* The address as it may be shown, or the path. */
static const char *shown_path(const request *request, char room[VIDI_CLUSTER_ADDRESS_ROOM])
{
    if (!request->is_on_server)
        return request->options.path;
    vidi_cluster_show_address(request->options.path, room);
    return room;
}

/* ---- the arguments ---- */

/* "http://…" could name a folder, but nobody means that. "redis://…" is the address of a set. */
static bool looks_like_url(PyObject *path)
{
    PyObject *text = PyUnicode_Check(path) ? PyUnicode_AsEncodedString(path, "utf-8", "replace") : Py_NewRef(path);
    const char *at = text && PyBytes_Check(text) ? PyBytes_AsString(text) : "";
    size_t scheme = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    bool found = scheme > 0 && strncmp(at + scheme, "://", 3) == 0 && !vidi_cluster_is_address(at);
    Py_XDECREF(text);
    return found;
}

/* An argument without a name is a path or, as for Python's own set, an iterable of URLs. False with an exception. */
static bool tell_path_from_urls(PyObject *args, PyObject *values[NAMES])
{
    PyObject *first = values[PATH];
    if (PyTuple_Size(args) == 0 || first == Py_None || values[URLS] || PyObject_HasAttrString(first, "__fspath__"))
        return true;
    if (PyUnicode_Check(first) || PyBytes_Check(first)) {
        if (!looks_like_url(first))
            return true;
        vp_raise_sentence(VIDI_EOPTION, "the first argument is a URL, but a folder or an iterable of URLs is needed; "
                                        "a set with this URL is vidi.Set([url])");
        return false;
    }
    if (PyObject_TypeCheck(first, vp_set_type)) {
        PyErr_SetString(PyExc_TypeError,
                        "a set is copied by its copy(), and made to fit another one by vidi.Set.like()");
        return false;
    }
    if (!vp_refuse_single(first))
        return false;
    if (!PyType_GetSlot(Py_TYPE(first), Py_tp_iter) && !PySequence_Check(first))
        return vp_refuse_type(first, "path", "a path or an iterable of URLs");
    values[URLS] = first;
    values[PATH] = NULL;
    return true;
}

/* Adds the first URLs. If that fails the set is closed, so that its folder is free. */
static bool fill(set_object *self, PyObject *urls)
{
    PyObject *kind, *value, *trace;
    if (!urls || urls == Py_None || vp_update(self, urls, VP_FAIL_MISSING))
        return true;
    PyErr_Fetch(&kind, &value, &trace);
    if (!vp_close(self))
        PyErr_Clear();
    PyErr_Restore(kind, value, trace);
    return false;
}

/* Takes everything that the arguments say. False with an exception; request_end() follows in both cases. */
static bool request_take(request *request, PyObject *args, PyObject *values[NAMES], PyObject *rest)
{
    *request = (struct request){.options = VIDI_OPTIONS_INIT};
    request->options.access = &request->use.access;
    if (!tell_path_from_urls(args, values) || !vp_path(values[PATH], &request->path))
        return false;
    request->options.path = request->path ? PyBytes_AsString(request->path) : NULL;
    request->is_on_server = request->path && vidi_cluster_is_address(request->options.path);
    return vp_take_use(rest, &request->use) &&
           (request->is_on_server ? vp_fits_servers(&request->use) : vp_fits_folders(&request->use)) &&
           take_options(values, request);
}

static void request_end(request *request)
{
    Py_CLEAR(request->path);
}

int vp_set_init(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"path",  "urls",     "kind", "params", "capacity", "error",         "lost",
                                        "canon", "tracking", "key",  "like",   "headroom", "keep_previous", NULL};
    static const vp_signature signature = {"Set", names, 0, 1};
    set_object *self = (set_object *)object;
    PyObject *values[NAMES] = {NULL}, *rest;
    char room[VIDI_CLUSTER_ADDRESS_ROOM];
    vp_handle handle = {NULL, NULL};
    request request;
    if (!vp_arguments_and_rest(&signature, args, keywords, values, &rest))
        return -1;
    if (request_take(&request, args, values, rest))
        handle = open_request(&request, false);
    bool done = (handle.set || handle.cluster) && vp_adopt(self, handle, shown_path(&request, room), &request.use) &&
                fill(self, values[URLS]);
    request_end(&request);
    Py_DECREF(rest);
    return done ? 0 : -1;
}

/* ---- create ---- */

static const char create_doc[] =
    "create($type, /, path, *, urls=None, kind=None, params=None, capacity=0, error=0.0, lost=None, canon=None,\n"
    "       tracking=None, key=None, like=None, headroom=0.0, keep_previous=False, shards=0, **access)\n--\n\n"
    "Make a set in a folder or on a server, where there must be none yet, and open it.\n\n"
    "Set('crawl.vidi') makes a set if there is none; Set('redis://…') never does: an empty set in place of one that\n"
    "cannot be found would call all URLs new. So each set on a server is made once, by this method or by `vidi "
    "init`:\n\n"
    "    seen = vidi.Set.create('redis://node1,node2/shop', capacity=1e8)\n\n"
    "shards          on a server: how many keys the set is split into, for ever; 0: one for each 8 MiB of the\n"
    "                capacity, or, without a capacity, 16 in a cluster and 1 on a single server\n\n"
    "The others are those of Set. If there is a set already, that is ExistsError, a FileExistsError:\n\n"
    "    >>> with vidi.Set.create('new.vidi') as s:\n"
    "    ...     s.add('http://example.org/')\n"
    "    True\n"
    "    >>> vidi.Set.create('new.vidi')  # doctest: +IGNORE_EXCEPTION_DETAIL\n"
    "    Traceback (most recent call last):\n"
    "    vidi.ExistsError: …\n";

static bool may_create(const request *request)
{
    const char *wrong = NULL;
    if (!request->path)
        wrong = "create() needs a path or an address; vidi.Set() makes a set in memory";
    else if (request->use.access.flags & VIDI_READ_ONLY)
        wrong = "create() makes an empty set, which is of no use with read_only";
    else if (request->is_on_server && request->like)
        wrong = "a set on a server is not made like another one; pass key, and the options of the other one";
    else if (!request->is_on_server && request->shards)
        wrong = "shards is for sets on a server; leave it out";
    if (wrong)
        vp_raise_sentence(VIDI_EOPTION, wrong);
    return !wrong;
}

static PyObject *create(PyObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"path",  "urls",     "kind",          "params",   "capacity",
                                        "error", "lost",     "canon",         "tracking", "key",
                                        "like",  "headroom", "keep_previous", "shards",   NULL};
    static const vp_signature signature = {"create", names, 1, 1};
    PyObject *values[NAMES], *rest, *object = NULL;
    char room[VIDI_CLUSTER_ADDRESS_ROOM];
    vp_handle handle = {NULL, NULL};
    request request;
    if (!vp_arguments_and_rest(&signature, args, keywords, values, &rest))
        return NULL;
    if (request_take(&request, args, values, rest) && may_create(&request))
        handle = open_request(&request, true);
    if (handle.set || handle.cluster)
        object = vp_wrap((PyTypeObject *)type, handle, shown_path(&request, room), &request.use);
    if (object && !fill((set_object *)object, values[URLS]))
        Py_CLEAR(object);
    request_end(&request);
    Py_DECREF(rest);
    return object;
}

const PyMethodDef vp_open_methods[] = {
    {"create", VP_NAMED(create), METH_VARARGS | METH_KEYWORDS | METH_CLASS, create_doc},
    {0},
};
