/* Making and opening sets: what the arguments of vidi.Set(...) mean. */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "vidi/url.h"

bool vp_path(PyObject *object, PyObject **path)
{
    *path = NULL;
    return !object || object == Py_None || PyUnicode_FSConverter(object, path);
}

/* ---- how a set is used ---- */

/* Which of the three words it is. */
static bool to_choice(PyObject *object, const char *name, const char *const words[3], uint32_t *value)
{
    char sentence[160];
    const char *word = NULL;
    if (!vp_to_words(object, name, &word))
        return false;
    for (uint32_t i = 0; word && i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *value = i;
            return true;
        }
    snprintf(sentence, sizeof sentence, "%s is '%s', '%s' or '%s', not %.60s%s%.1s", name, words[0], words[1], words[2],
             word ? "'" : "None", word ? word : "", word ? "'" : "");
    vp_raise_sentence(VIDI_EOPTION, sentence);
    return false;
}

static bool to_flag(PyObject *object, uint32_t flag, uint32_t *flags)
{
    bool is_on = false;
    if (!vp_to_bool(object, &is_on))
        return false;
    *flags |= is_on ? flag : 0;
    return true;
}

/* The words stand at the numbers of vidi_invalid_policy and vidi_sync_policy. */
static bool take_access(const char *name, PyObject *value, vidi_access *access)
{
    static const char *const invalid[] = {"keep", "drop", "fail"};
    static const char *const sync[] = {"everysec", "always", "no"};
    if (strcmp(name, "memory_limit") == 0)
        return vp_to_count(value, name, &access->memory_limit);
    if (strcmp(name, "invalid") == 0)
        return to_choice(value, name, invalid, &access->invalid);
    if (strcmp(name, "sync") == 0)
        return to_choice(value, name, sync, &access->sync);
    if (strcmp(name, "manual_commit") == 0)
        return to_flag(value, VIDI_MANUAL_COMMIT, &access->flags);
    if (strcmp(name, "read_only") == 0)
        return to_flag(value, VIDI_READ_ONLY, &access->flags);
    if (strcmp(name, "accept_damage") == 0)
        return to_flag(value, VIDI_ACCEPT_DAMAGE, &access->flags);
    if (strcmp(name, "owner") == 0)
        return vp_to_words(value, name, &access->owner);
    PyErr_Format(PyExc_TypeError, "a set has no option '%s'", name);
    return false;
}

bool vp_access(PyObject *keywords, vidi_access *access)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;

    *access = (vidi_access)VIDI_ACCESS_INIT;
    access->allocator = vp_allocator();
    while (keywords && PyDict_Next(keywords, &position, &name, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!text || !take_access(text, value, access))
            return false;
    }
    return true;
}

/* ---- how a set is made ---- */

/* What the arguments of a call say, with the text that `options` points to. */
typedef struct request {
    vidi_options options;
    vidi_access access;
    set_object *like;
    const char *asked_kind; /* by the caller, and not by the planner */
    vidi_plan_entry plan;
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
    options->kind = request->plan.kind;
    options->params = request->plan.params;
    options->capacity = 0; /* the parameters contain it, and the error rate */
    options->error = 0;
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

enum { PATH, URLS, KIND, PARAMS, CAPACITY, ERROR, LOST, CANON, TRACKING, KEY, LIKE, HEADROOM, KEEP_PREVIOUS, NAMES };

static bool take_options(PyObject *const values[NAMES], request *request)
{
    vidi_options *options = &request->options;
    PyObject *lost_object = values[LOST] == Py_None ? NULL : values[LOST];
    PyObject *like = values[LIKE] == Py_None ? NULL : values[LIKE];
    double lost = 0;
    *options = (vidi_options)VIDI_OPTIONS_INIT;
    options->access = &request->access;
    request->like = like ? vp_set(like) : NULL;
    bool taken = (!like || request->like) && vp_to_words(values[KIND], "kind", &options->kind) &&
                 vp_to_words(values[PARAMS], "params", &options->params) &&
                 vp_to_count(values[CAPACITY], "capacity", &options->capacity) &&
                 vp_to_real(values[ERROR], "error", &options->error) && vp_to_real(lost_object, "lost", &lost) &&
                 vp_to_words(values[CANON], "canon", &options->canon) &&
                 vp_to_words(values[TRACKING], "tracking", &options->tracking) && to_key(values[KEY], &options->key) &&
                 vp_to_real(values[HEADROOM], "headroom", &options->headroom) &&
                 to_flag(values[KEEP_PREVIOUS], VIDI_KEEP_PREVIOUS, &options->flags);
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
static bool fits(const vidi_set *set, const request *request)
{
    vidi_stats stats = {.size = sizeof stats};
    int error = vidi_stat(set, &stats);
    if (error < 0) {
        vp_raise(error);
        return false;
    }
    if (request->asked_kind && strcmp(request->asked_kind, stats.kind) != 0)
        return refuse("is of kind", stats.kind, request->asked_kind);
    return (!request->options.canon && !request->options.tracking) || has_form(&request->options, stats.canon);
}

/* ---- opening ---- */

/* Without the GIL. */
static int open_set(vidi_set **set, const vidi_options *options)
{
    if (options->access->flags & VIDI_READ_ONLY)
        return vidi_open(set, options->path, options->access);
    return options->path ? vidi_open_or_create(set, options) : vidi_create(set, options);
}

static vidi_set *open_request(request *request)
{
    vidi_set *set = NULL;
    int error;
    if (request->access.flags & VIDI_READ_ONLY && !request->options.path) {
        vp_raise_sentence(VIDI_EOPTION, "read_only needs the path of a set that exists");
        return NULL;
    }
    if (request->like && !(request->options.like = vp_enter(request->like)))
        return NULL;
    VP_RELEASED(error = open_set(&set, &request->options));
    if (request->like)
        vp_leave(request->like);
    if (error < 0)
        return (void *)vp_raise(error);
    if (!request->options.path || fits(set, request))
        return set;
    VP_RELEASED(vidi_close(set));
    return NULL;
}

/* "http://…" could name a folder, but nobody means that. */
static bool looks_like_url(PyObject *path)
{
    PyObject *text = PyUnicode_Check(path) ? PyUnicode_AsEncodedString(path, "utf-8", "replace") : Py_NewRef(path);
    const char *at = text && PyBytes_Check(text) ? PyBytes_AsString(text) : "";
    size_t scheme = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    bool found = scheme > 0 && strncmp(at + scheme, "://", 3) == 0;
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

int vp_set_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"path",  "urls",     "kind", "params", "capacity", "error",         "lost",
                                        "canon", "tracking", "key",  "like",   "headroom", "keep_previous", NULL};
    static const vp_signature signature = {"Set", names, 0, 1};
    PyObject *values[NAMES], *rest, *path = NULL;
    request request;
    vidi_set *set = NULL;
    if (!vp_arguments_and_rest(&signature, args, keywords, values, &rest))
        return -1;
    if (tell_path_from_urls(args, values) && vp_access(rest, &request.access) && take_options(values, &request) &&
        vp_path(values[PATH], &path)) {
        request.options.path = path ? PyBytes_AsString(path) : NULL;
        set = open_request(&request);
    }
    bool done = set && vp_adopt((set_object *)self, set, request.options.path, &request.access) &&
                fill((set_object *)self, values[URLS]);
    Py_XDECREF(path);
    Py_DECREF(rest);
    return done ? 0 : -1;
}
