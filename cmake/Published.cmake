# Turns lab/published/*.csv, with lines "experiment,row,column,published", into an array of C structs.
file(GLOB published_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lab/published/*.csv)
set(published_source ${PROJECT_BINARY_DIR}/published.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${published_files})

set(published_lines "")
foreach(published_file ${published_files})
    file(STRINGS ${published_file} lines REGEX "^[^#]")
    list(POP_FRONT lines) # the column headings
    list(TRANSFORM lines REPLACE "^([^,]+),([^,]+),([^,]+),([^,]+)$" "    {\"\\1\", \"\\2\", \"\\3\", \"\\4\"},\n")
    list(APPEND published_lines ${lines})
endforeach()
list(JOIN published_lines "" published_lines)
file(CONFIGURE OUTPUT ${published_source} @ONLY CONTENT
"/* Made from the files in lab/published by cmake/Published.cmake. */
#include \"lab/engine/lab.h\"

const lab_published lab_published_all[] = {
@published_lines@    {0, 0, 0, 0},
};
")
