/*
 * Calls for many URLs: add_many, has_many, update and |=.
 *
 * Nothing is lost by an exception. Everything that can go wrong in Python is done before anything is added: the items
 * are read, every item's text is taken, and the list of answers is made. If the library fails on the way, or a signal
 * interrupts the call, the exception carries the answers so far.
 *
 * What has a length is read as a whole, because its items exist already. An iterator may never have had more than one
 * of them in memory, so it is read in portions, and an error in it leaves the portions before it added.
 *
 * The texts belong to the items, which a list of our own keeps alive while the GIL is released: the caller's could be
 * changed by another thread.
 */
#include "arguments.h"

#include <string.h>

/* Items that are read from an iterator at a time: a few megabytes with their texts. */
#define PORTION ((size_t)1 << 16)

/*
 * A portion is added in pieces. Between two of them signals are looked at. Before each of them the set gets a hint if
 * it may grow by it (hint.c); so that a batch of repeats wastes no memory, pieces are no larger than the set. A set
 * that waits for the disk after each piece gets large ones at once.
 */
#define PIECE_LEAST ((size_t)1 << 10)
#define PIECE_MOST ((size_t)1 << 18)   /* some 20 ms */
#define PIECE_SERVER ((size_t)1 << 14) /* for sets on a server: enough to keep all servers of a cluster busy */

#define LINE 64     /* bytes of a cache line */
#define FETCHED 512 /* bytes of a string that are fetched ahead */

/* A call. */
typedef struct batch {
    bool adds;   /* or looks up */
    uint8_t yes; /* the verdict that is answered True */
    vp_missing missing;
    PyObject *usual;   /* Py_True or Py_False: what most of the last batch got */
    PyObject *answers; /* a list that is full of the usual answer until the end; NULL: nobody asks for answers */
    size_t first;      /* items before this portion */
    /* of the portion: */
    PyObject *items; /* a list of plain texts, with None for each item that is skipped */
    vidi_str *urls;
    uint8_t *verdicts; /* after the URLs, in one allocation */
    size_t n, skipped; /* URLs, and items that were skipped */
} batch;

/* ---- before ---- */

/* Adds the item's number to the sentence of a TypeError; other exceptions stay as they are. */
static void name_item(size_t i, bool is_missing)
{
    PyObject *kind, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
        return;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_Format(kind, "item %zu: %S%s", i, value, is_missing ? "; missing='skip' leaves missing values out" : "");
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/*
 * The strings of a batch lie anywhere in memory, and the library reads them one after the other. So they are fetched
 * ahead; of long ones the beginning.
 */
static void fetch(vidi_str text)
{
    size_t len = text.len < FETCHED ? text.len : FETCHED;
    for (size_t at = 0; at < len + LINE - 1; at += LINE)
        __builtin_prefetch(text.ptr + at);
}

/* Replaces an item by its plain text, or by None if it is skipped. False with an exception. */
static bool make_plain(batch *batch, Py_ssize_t i, PyObject *item)
{
    bool is_missing = vp_is_missing(item);
    bool is_skipped = is_missing && batch->missing == VP_SKIP_MISSING;
    Py_INCREF(item); /* its own code may run, and may drop it from wherever else it is */
    PyObject *plain = is_skipped ? Py_NewRef(Py_None) : vp_plain(item);
    if (!plain)
        name_item(batch->first + (size_t)i, is_missing);
    Py_DECREF(item);
    batch->skipped += is_skipped;
    return plain && PyList_SetItem(batch->items, i, plain) == 0;
}

static bool take_text(batch *batch, Py_ssize_t i)
{
    PyObject *item = PyList_GetItem(batch->items, i);
    if (!PyUnicode_CheckExact(item) && !PyBytes_CheckExact(item)) {
        if (!make_plain(batch, i, item))
            return false;
        item = PyList_GetItem(batch->items, i);
        if (item == Py_None)
            return true;
    }
    if (!vp_text(item, &batch->urls[batch->n]))
        return false;
    fetch(batch->urls[batch->n]);
    batch->verdicts[batch->n++] = VIDI_UNTRIED;
    return true;
}

/* Makes the list of answers longer by a portion. */
static bool add_answers(batch *batch, Py_ssize_t count)
{
    PyObject *one = Py_BuildValue("[O]", batch->usual);
    PyObject *more = one ? PySequence_Repeat(one, count) : NULL;
    Py_ssize_t end = PyList_Size(batch->answers);
    bool done = more && PyList_SetSlice(batch->answers, end, end, more) == 0;

    Py_XDECREF(one);
    Py_XDECREF(more);
    return done;
}

/* Takes the texts of the items, and makes room for answers. Afterwards nothing of Python is needed to add them. */
static bool prepare(batch *batch)
{
    Py_ssize_t count = PyList_Size(batch->items);

    batch->n = batch->skipped = 0;
    if ((size_t)count <= PY_SSIZE_T_MAX / (sizeof *batch->urls + 1))
        batch->urls = PyMem_Malloc((size_t)count * (sizeof *batch->urls + 1));
    if (!batch->urls) {
        PyErr_NoMemory();
        return false;
    }
    batch->verdicts = (uint8_t *)(batch->urls + count);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!take_text(batch, i))
            return false;
    return !batch->answers || add_answers(batch, count);
}

/* ---- after ---- */

static PyObject *answer_of(uint8_t verdict, uint8_t yes)
{
    if (verdict == yes)
        return Py_True;
    return verdict == VIDI_UNTRIED ? Py_None : Py_False;
}

/* Allocates nothing, so that it cannot fail. */
static void fill_answers(const batch *batch)
{
    for (size_t i = 0, url = 0; i < batch->n + batch->skipped; i++) {
        bool is_skipped = batch->skipped && PyList_GetItem(batch->items, (Py_ssize_t)i) == Py_None;
        PyObject *answer = is_skipped ? Py_False : answer_of(batch->verdicts[url++], batch->yes);
        if (answer != batch->usual) {
            Py_INCREF(answer);
            PyList_SetItem(batch->answers, (Py_ssize_t)(batch->first + i), answer);
        }
    }
}

/* Gives the exception the answers so far. If that fails, too, the first exception is the one that matters. */
static void attach_answers(PyObject *answers)
{
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    if (value && PyObject_SetAttrString(value, "answers", answers) < 0)
        PyErr_Clear();
    PyErr_Restore(kind, value, trace);
}

/* ---- a portion ---- */

/* How many of the rest are next. */
static size_t piece_of(const set_object *self, const batch *batch, size_t first)
{
    size_t rest = batch->n - first, most = self->is_on_server ? PIECE_SERVER : PIECE_MOST;
    if (batch->adds && !self->may_sleep && self->added < most)
        most = self->added < PIECE_LEAST ? PIECE_LEAST : (size_t)self->added;
    return rest < most ? rest : most;
}

static void count_new(set_object *self, const uint8_t *verdicts, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += verdicts[i] == VIDI_NEW;
    self->added += count;
    self->mostly_new = count > n / 2;
}

static bool call_piece(set_object *self, const batch *batch, size_t first, size_t n)
{
    const vidi_str *urls = batch->urls + first;
    uint8_t *verdicts = batch->verdicts + first;
    int error;
    if (batch->adds)
        vp_hint_if_due(self, self->added + n);
    if (batch->adds)
        VP_EITHER(self, error, vidi_add_batch(set, urls, n, verdicts, NULL),
                  vidi_cluster_add_batch(cluster, urls, n, verdicts, NULL));
    else
        VP_EITHER(self, error, vidi_has_batch(set, urls, n, verdicts),
                  vidi_cluster_has_batch(cluster, urls, n, verdicts));
    if (error != VIDI_OK)
        vp_fail(self, error);
    else if (batch->adds)
        count_new(self, verdicts, n);
    return error == VIDI_OK;
}

static bool call_all(set_object *self, const batch *batch)
{
    if (!vp_is_usable(self)) /* also if there is nothing to do */
        return false;
    for (size_t i = 0, n; i < batch->n; i += n) {
        n = piece_of(self, batch, i);
        if ((i > 0 && PyErr_CheckSignals() < 0) || !call_piece(self, batch, i, n))
            return false;
    }
    return true;
}

/* Answers the items and drops the reference to them; NULL: reading them has failed. */
static bool call_portion(set_object *self, batch *batch, PyObject *items)
{
    bool done = false;
    batch->items = items;
    batch->urls = NULL;
    if (items && prepare(batch)) {
        done = call_all(self, batch);
        if (batch->answers)
            fill_answers(batch);
        batch->first += batch->n + batch->skipped;
    }
    PyMem_Free(batch->urls);
    Py_XDECREF(items);
    return done;
}

/* ---- the call ---- */

/* The next items of an iterator; NULL with an exception. */
static PyObject *read_portion(PyObject *iterator)
{
    PyObject *items = PyList_New(0), *item = NULL;
    for (size_t i = 0; items && i < PORTION && (item = PyIter_Next(iterator)) != NULL; i++) {
        if (PyList_Append(items, item) < 0)
            Py_CLEAR(items);
        Py_DECREF(item);
    }
    if (!item && PyErr_Occurred())
        Py_CLEAR(items);
    return items;
}

static bool call_portions(set_object *self, batch *batch, PyObject *urls)
{
    PyObject *iterator = PyObject_GetIter(urls);
    bool goes_on = iterator != NULL;
    size_t end = 0;
    for (; goes_on && batch->first == end; end += PORTION)
        goes_on = (end == 0 || PyErr_CheckSignals() == 0) && call_portion(self, batch, read_portion(iterator));
    Py_XDECREF(iterator);
    return goes_on;
}

/* True if an object knows its length. Runs no Python code. */
static bool has_length(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    return PyType_GetSlot(type, Py_sq_length) || PyType_GetSlot(type, Py_mp_length);
}

static bool call_many(PyObject *self, PyObject *urls, batch *batch)
{
    set_object *set = (set_object *)self;
    bool done = vp_refuse_single(urls) &&
                (has_length(urls) ? call_portion(set, batch, PySequence_List(urls)) : call_portions(set, batch, urls));
    if (!done && batch->answers && PyList_Size(batch->answers))
        attach_answers(batch->answers);
    return done;
}

bool vp_to_missing(PyObject *object, vp_missing *missing)
{
    const char *word = NULL;
    if (!object)
        return true;
    if (!vp_to_words(object, "missing", &word))
        return false;
    *missing = word && strcmp(word, "skip") == 0 ? VP_SKIP_MISSING : VP_FAIL_MISSING;
    if (word && (*missing == VP_SKIP_MISSING || strcmp(word, "fail") == 0))
        return true;
    vp_raise_sentence(VIDI_EOPTION, "missing must be 'fail' or 'skip'");
    return false;
}

/* add_many and has_many: one argument, and the keyword `missing`. */
static PyObject *answer_many(PyObject *self, const char *name, PyObject *const *args, Py_ssize_t count,
                             PyObject *keywords, batch batch)
{
    static const char *const names[] = {"urls", "missing", NULL};
    const vp_signature signature = {name, names, 1, 1};
    PyObject *values[VP_ARGUMENTS_MAX];
    if (!vp_arguments(&signature, args, count, keywords, values) || !vp_to_missing(values[1], &batch.missing))
        return NULL;
    batch.answers = PyList_New(0);
    if (batch.answers && !call_many(self, values[0], &batch))
        Py_CLEAR(batch.answers);
    return batch.answers;
}

static PyObject *add_many(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    PyObject *usual = ((set_object *)self)->mostly_new ? Py_True : Py_False;
    return answer_many(self, "add_many", args, count, keywords, (batch){true, VIDI_NEW, .usual = usual});
}

static PyObject *has_many(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    return answer_many(self, "has_many", args, count, keywords, (batch){false, VIDI_SEEN, .usual = Py_False});
}

/* ---- update ---- */

bool vp_update(set_object *self, PyObject *urls, vp_missing missing)
{
    batch batch = {true, VIDI_NEW, missing, .usual = Py_False};
    if (!PyObject_TypeCheck(urls, vp_set_type))
        return call_many((PyObject *)self, urls, &batch);
    return vp_merge(self, (set_object *)urls, 0);
}

PyObject *vp_set_or(PyObject *self, PyObject *urls)
{
    return vp_update((set_object *)self, urls, VP_FAIL_MISSING) ? Py_NewRef(self) : NULL;
}

static PyObject *update(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *word = keywords ? PyDict_GetItemString(keywords, "missing") : NULL;
    vp_missing missing = VP_FAIL_MISSING;

    if (keywords && PyDict_Size(keywords) > (word ? 1 : 0)) {
        PyErr_SetString(PyExc_TypeError, "update() has one keyword argument, missing");
        return NULL;
    }
    if (!vp_to_missing(word, &missing) || !vp_is_usable((set_object *)self))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++)
        if (!vp_update((set_object *)self, PyTuple_GetItem(args, i), missing))
            return NULL;
    Py_RETURN_NONE;
}

static const char add_many_doc[] =
    "add_many($self, /, urls, *, missing='fail')\n--\n\n"
    "Add many URLs, in their order; return a list with True for each that is new, False for the others.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add_many(['http://example.org/', 'http://example.org/a', 'http://example.org/'])\n"
    "    [True, True, False]\n\n"
    "This is much faster than single calls, and other threads run meanwhile. An item that is not a URL by its\n"
    "type, such as a number, is a TypeError. With missing='skip' the missing values of a table, which are None,\n"
    "NaN and pandas' NA and NaT, are left out and answered False:\n\n"
    "    >>> s.add_many(['http://example.org/b', None, float('nan')], missing='skip')\n"
    "    [True, False, False]\n\n"
    "A list, and anything else that has a length, is looked at from beginning to end before anything is added:\n"
    "after a TypeError the set is as it was. Generators and other iterators are read in portions of 65,536, so\n"
    "an error in one leaves the portions before it added. If the call fails after something was added, because\n"
    "memory runs out for example, the exception's attribute `answers` is the list so far, with None for URLs\n"
    "that were not tried.\n";

static const char has_many_doc[] =
    "has_many($self, /, urls, *, missing='fail')\n--\n\n"
    "Look many URLs up; return a list with True for each that is in the set. Nothing is added.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> s.has_many(['http://example.org/', 'http://example.org/a'])\n"
    "    [True, False]\n\n"
    "The items are read as add_many() reads them; with missing='skip', missing values are answered False.\n";

static const char update_doc[] =
    "update($self, /, *urls, missing='fail')\n--\n\n"
    "Add all URLs of some iterables, which are read as add_many() reads them; `s |= urls` does the same.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.update(['http://example.org/'], (f'http://example.org/{n}' for n in range(3)))\n"
    "    >>> s |= {'http://example.org/a'}\n"
    "    >>> len(s)\n"
    "    5\n\n"
    "Another vidi.Set is merged into this one, as merge() does it, so the two must fit together.\n";

const PyMethodDef vp_batch_methods[] = {
    {"add_many", VP_NAMED(add_many), METH_FASTCALL | METH_KEYWORDS, add_many_doc},
    {"has_many", VP_NAMED(has_many), METH_FASTCALL | METH_KEYWORDS, has_many_doc},
    {"update", VP_NAMED(update), METH_VARARGS | METH_KEYWORDS, update_doc},
    {0},
};
