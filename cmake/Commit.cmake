# Finds the commit that the program is built from, for reports. Runs at every build, with `cmake -P`. It is empty
# without git or outside a repository, as in a tarball. VIDI_COMMIT overrides it.
cmake_minimum_required(VERSION 3.25)
set(commit "${VIDI_COMMIT}")
if(commit STREQUAL "")
    find_program(git git)
    if(git AND EXISTS ${SOURCE}/.git)
        execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE commit
            OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
# The file is written only if the commit has changed.
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"/* Made by cmake/Commit.cmake. */
extern const char *const cli_commit;
const char *const cli_commit = \"@commit@\";
")
