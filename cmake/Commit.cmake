# The commit that the program was built from, which reports name: `cmake -P`, at every build. Empty where there is no
# git, or no repository around the source, as with a tarball. VIDI_COMMIT says it instead.
cmake_minimum_required(VERSION 3.25)
set(commit "${VIDI_COMMIT}")
if(commit STREQUAL "")
    find_program(git git)
    if(git AND EXISTS ${SOURCE}/.git)
        execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE commit
            OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
# Written only if it has changed.
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"/* Made by cmake/Commit.cmake. */
extern const char *const cli_commit;
const char *const cli_commit = \"@commit@\";
")
