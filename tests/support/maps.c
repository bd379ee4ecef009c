#include "support/maps.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"

void test_map_make(test_map *map, const unsigned char *data, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page * page;
    map->size = size;
    map->whole = pages + page;
    map->bytes = mmap(NULL, map->whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map->bytes != MAP_FAILED);
    memcpy(map->bytes, data, size);
    assert_int_equal(mprotect(map->bytes, pages, PROT_READ), 0);
    assert_int_equal(mprotect(map->bytes + pages, page, PROT_NONE), 0);
}

void test_map_free(test_map *map)
{
    munmap(map->bytes, map->whole);
    memset(map, 0, sizeof *map);
}

void test_map_flip(test_map *map, size_t bit)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *at = map->bytes + bit / 8 / page * page;
    assert_int_equal(mprotect(at, page, PROT_READ | PROT_WRITE), 0);
    map->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    assert_int_equal(mprotect(at, page, PROT_READ), 0);
}

vidi_set *test_map_set(const test_map *map)
{
    vidi_set *set;
    int code = vidi__set_map(&set, map->bytes, map->size, NULL);
    check(code == VIDI_OK, "vidi__set_map: %d, %s", code, vidi_message());
    return set;
}
