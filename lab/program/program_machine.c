/* The machine and the build that the lab measures with, as its reports name them. */
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lab/program/program.h"

extern const char *const cli_commit;   /* made by cmake/Commit.cmake */
extern const char *const cli_compiler; /* these two by lab/CMakeLists.txt */
extern const char *const cli_libraries;

/* The processor's name as Linux gives it; empty: it does not. */
static void find_processor(char *name, size_t room)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    name[0] = 0;
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", strlen("model name")) == 0)
            snprintf(name, room, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file)
        fclose(file);
}

static void find_system(char *text, size_t room)
{
    struct utsname name;
    text[0] = 0;
    if (uname(&name) == 0)
        snprintf(text, room, "%s %s, %s, glibc %s", name.sysname, name.release, name.machine, gnu_get_libc_version());
}

static void find_memory(char *text, size_t room)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    cli_number number;
    text[0] = 0;
    if (pages > 0 && size > 0)
        snprintf(text, room, "%s", cli_human_bytes(&number, (uint64_t)pages * (uint64_t)size));
}

lab_origin lab_machine_find(lab_machine *machine)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    find_processor(machine->processor, sizeof machine->processor);
    find_system(machine->system, sizeof machine->system);
    find_memory(machine->memory, sizeof machine->memory);
    snprintf(machine->cores, sizeof machine->cores, "%ld", cores > 0 ? cores : 1);
    return (lab_origin){.command = "",
                        .commit = cli_commit,
                        .processor = machine->processor,
                        .cores = machine->cores,
                        .memory = machine->memory,
                        .system = machine->system,
                        .compiler = cli_compiler,
                        .libraries = cli_libraries};
}
