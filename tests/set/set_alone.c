/*
 * A set in memory needs nothing of files: this program is linked with the objects of lib/ without durable and store
 * (tests/CMakeLists.txt). It speaks TAP by itself, because the test support would bring the whole library along.
 */
#include <stdio.h>

#include "set/set.h"

static int number;

static void check(int holds, const char *promise)
{
    printf("%sok %d - %s\n", holds ? "" : "not ", ++number, promise);
}

int main(void)
{
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_str url = {"http://example.com/", 19}, same = {"HTTP://EXAMPLE.com:80/", 22};
    check(vidi__set_create(&set, &options, &access) == VIDI_OK, "a set is made without the code for folders");
    check(vidi_add(set, url) == VIDI_NEW && vidi_add(set, same) == VIDI_SEEN, "it answers");
    check(vidi_remove(set, url) == VIDI_OK && vidi_has(set, url) == VIDI_NEW, "it forgets");
    check(vidi_rotate(set, NULL) == VIDI_OK, "it rotates");
    vidi_close(set);
    printf("1..%d\n", number);
    return 0;
}
