/*
 * vidi.canon and vidi.urljoin: functions of URLs that need no set.
 *
 * A canonical form takes longer to make than to apply, so the last few are kept. They are plain C, guarded by the
 * interpreter's lock (GIL): no Python object is in the cache, so it needs no clean-up when the interpreter ends. A form
 * that is in use is never thrown out, because a call with a long URL lets the GIL go.
 */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "vidi/url.h"

enum {
    FORMS = 8,       /* that are kept */
    ROOM = 2048,     /* longer results are written to memory of their own */
    LONG = 64 * 1024 /* from this length on, other threads may run meanwhile */
};

/* ---- canonical forms ---- */

typedef struct form {
    vidi_canon *canon; /* NULL: the entry is free */
    char *profile;
    char *tracking; /* NULL: the list that is compiled in */
    unsigned users;
    bool is_kept; /* in the cache; otherwise its only user frees it */
} form;

static form *forms[FORMS];
static unsigned next_victim;

static void form_free(form *self)
{
    if (!self)
        return;
    vidi_canon_close(self->canon);
    free(self->profile);
    free(self->tracking);
    free(self);
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static form *form_find(const char *profile, const char *tracking)
{
    for (int i = 0; i < FORMS; i++)
        if (forms[i] && is_same(forms[i]->profile, profile) && is_same(forms[i]->tracking, tracking))
            return forms[i];
    return NULL;
}

/* Puts a form into the cache, in the place of one that nobody uses. If all are in use, it stays outside. */
static void form_keep(form *self)
{
    for (int i = 0; i < FORMS && !self->is_kept; i++) {
        form **place = &forms[next_victim++ % FORMS];
        if (*place && (*place)->users)
            continue;
        form_free(*place);
        *place = self;
        self->is_kept = true;
    }
}

static form *form_make(const char *profile, const char *tracking)
{
    form *self = calloc(1, sizeof *self);
    if (!self || !(self->profile = strdup(profile)) || (tracking && !(self->tracking = strdup(tracking)))) {
        form_free(self);
        PyErr_NoMemory();
        return NULL;
    }
    int error;
    VP_RELEASED(error = vidi_canon_create(&self->canon, self->profile, self->tracking, NULL));
    if (error < 0) {
        form_free(self);
        vp_raise(error);
        return NULL;
    }
    return self;
}

/* The canonical form with this name, valid until form_leave. NULL with an exception set. */
static form *form_enter(const char *profile, const char *tracking)
{
    form *self = form_find(profile, tracking);
    if (!self) {
        self = form_make(profile, tracking);
        if (!self)
            return NULL;
        form_keep(self);
    }
    self->users++;
    return self;
}

static void form_leave(form *self)
{
    self->users--;
    if (!self->is_kept)
        form_free(self);
}

/* ---- a URL in, a URL out ---- */

/* A URL to write, and where. With canon NULL it is written as it is, not in a canonical form. */
typedef struct job {
    const vidi_canon *canon;
    vidi_str input;
    const vidi_str *base;
    char *buffer;
    size_t len;
} job;

static int job_write(job *self)
{
    if (self->canon)
        return vidi_url_canon(self->canon, self->input, self->base, self->buffer, &self->len);
    return vidi_url_resolve(*self->base, self->input, self->buffer, &self->len);
}

static int job_run(job *self)
{
    if (self->input.len + (self->base ? self->base->len : 0) < LONG)
        return job_write(self);
    int result;
    VP_RELEASED(result = job_write(self));
    return result;
}

/* The result as an object of the same type as the URL that was passed in. */
static PyObject *result_of(const job *self, int result, bool is_text)
{
    if (result != VIDI_OK)
        return vp_raise(result);
    if (is_text)
        return PyUnicode_DecodeUTF8(self->buffer, (Py_ssize_t)self->len, "surrogateescape");
    return PyBytes_FromStringAndSize(self->buffer, (Py_ssize_t)self->len);
}

static PyObject *answer(job *self, bool is_text)
{
    char room[ROOM];
    self->buffer = room;
    self->len = sizeof room;
    int result = job_run(self);
    if (result != VIDI_ELIMIT || self->len <= sizeof room)
        return result_of(self, result, is_text);
    self->buffer = malloc(self->len);
    if (!self->buffer)
        return PyErr_NoMemory();
    result = job_run(self);
    PyObject *object = result_of(self, result, is_text);
    free(self->buffer);
    return object;
}

/* The answer for objects; base NULL: none. */
static PyObject *answer_for(const vidi_canon *canon, PyObject *url, PyObject *base)
{
    PyObject *plain = vp_plain(url), *plain_base = plain && base ? vp_plain(base) : NULL, *result = NULL;
    vidi_str base_text = {NULL, 0};
    job self = {.canon = canon, .base = base ? &base_text : NULL};
    if (plain && (!base || plain_base) && vp_text(plain, &self.input) && (!base || vp_text(plain_base, &base_text)))
        result = answer(&self, PyUnicode_Check(plain));
    Py_XDECREF(plain);
    Py_XDECREF(plain_base);
    return result;
}

/* ---- vidi.canon ---- */

static const char canon_doc[] =
    "canon(url, profile='whatwg', *, base=None, tracking=None)\n--\n\n"
    "Return the canonical form of a URL: one text for all spellings of a page.\n\n"
    "The result is a str, or bytes if `url` is. Raises InvalidURL, which is a ValueError, if it is not a URL.\n\n"
    "    >>> vidi.canon('HTTP://Example.org:80/a/../b#top')\n"
    "    'http://example.org/b'\n"
    "    >>> vidi.canon('https://example.org/?b=2&utm_source=x&a=1', profile='crawl')\n"
    "    'https://example.org/?a=1&b=2'\n\n"
    "`profile` is a name with rules to switch on or off, such as 'crawl,-sort'; docs/CANON.md lists them. `base` is\n"
    "the page that a relative link was found on. `tracking` replaces the list of parameters that 'crawl' removes, one\n"
    "pattern a line:\n\n"
    "    >>> vidi.canon('?page=2&ref=home', 'crawl', base='http://example.org/list', tracking='ref')\n"
    "    'http://example.org/list?page=2'\n"
    "    >>> vidi.canon('not a URL')\n"
    "    Traceback (most recent call last):\n"
    "    vidi.InvalidURL: ...\n";

static PyObject *canon(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"url", "profile", "base", "tracking", NULL};
    static const vp_signature signature = {"canon", names, 1, 2};
    PyObject *values[VP_ARGUMENTS_MAX];
    const char *profile = "whatwg", *tracking = NULL;
    if (!vp_arguments(&signature, args, count, keywords, values) || !vp_to_words(values[1], "profile", &profile) ||
        !vp_to_words(values[3], "tracking", &tracking))
        return NULL;
    form *form = form_enter(profile ? profile : "whatwg", tracking);
    if (!form)
        return NULL;
    PyObject *result = answer_for(form->canon, values[0], values[2] == Py_None ? NULL : values[2]);
    form_leave(form);
    return result;
}

/* ---- vidi.urljoin ---- */

static const char urljoin_doc[] =
    "urljoin(base, ref)\n--\n\n"
    "Return a link as an absolute URL, the way browsers do; `base` is the URL of the page that it was found on.\n\n"
    "The result is a str, or bytes if `ref` is. Raises InvalidURL if the two do not make a URL.\n\n"
    "    >>> vidi.urljoin('http://example.org/a/b?c', '../d#e')\n"
    "    'http://example.org/d#e'\n"
    "    >>> vidi.urljoin('http://example.org/', b'//example.com')\n"
    "    b'http://example.com/'\n";

static PyObject *urljoin(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"base", "ref", NULL};
    static const vp_signature signature = {"urljoin", names, 2, 2};
    PyObject *values[VP_ARGUMENTS_MAX];
    if (!vp_arguments(&signature, args, count, keywords, values))
        return NULL;
    return answer_for(NULL, values[1], values[0]);
}

const PyMethodDef vp_url_functions[] = {
    {"canon", VP_NAMED(canon), METH_FASTCALL | METH_KEYWORDS, canon_doc},
    {"urljoin", VP_NAMED(urljoin), METH_FASTCALL | METH_KEYWORDS, urljoin_doc},
    {0},
};
