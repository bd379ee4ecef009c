/*
 * A counting allocator, for tests that look for leaks: _vidi._meter(True) makes sets that are made later use it, and
 * _vidi._metered() tells how many bytes they hold. It touches no Python object, because it runs while sets are locked.
 */
#include "extension.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_llong outstanding;
static bool is_metered;

static void *allocate(void *Py_UNUSED(context), size_t bytes, size_t alignment)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
        return NULL;
    atomic_fetch_add(&outstanding, (long long)bytes);
    return memory;
}

static void release(void *Py_UNUSED(context), void *memory, size_t bytes, size_t Py_UNUSED(alignment))
{
    if (memory)
        atomic_fetch_sub(&outstanding, (long long)bytes);
    free(memory);
}

const vidi_allocator *vp_allocator(void)
{
    static const vidi_allocator counting = {sizeof counting, allocate, NULL, release, NULL};
    return is_metered ? &counting : NULL;
}

static PyObject *meter(PyObject *Py_UNUSED(module), PyObject *on)
{
    int truth = PyObject_IsTrue(on);
    if (truth < 0)
        return NULL;
    is_metered = truth;
    Py_RETURN_NONE;
}

static PyObject *metered(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromLongLong(atomic_load(&outstanding));
}

const PyMethodDef vp_meter_functions[] = {
    {"_meter", meter, METH_O, "_meter($module, on, /)\n--\n\nCount the memory of sets that are made from now on."},
    {"_metered", metered, METH_NOARGS, "_metered($module, /)\n--\n\nThe bytes that counted sets hold."},
    {0},
};
