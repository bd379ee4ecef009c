# Turns the patterns of data/tracking.txt into an array of C strings.
set(tracking_list ${PROJECT_SOURCE_DIR}/data/tracking.txt)
set(tracking_source ${PROJECT_BINARY_DIR}/tracking.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tracking_list})

file(STRINGS ${tracking_list} tracking_lines REGEX "^[^# ]")
list(TRANSFORM tracking_lines TOLOWER)
list(TRANSFORM tracking_lines REPLACE "(.+)" "    \"\\1\",\n")
list(JOIN tracking_lines "" tracking_lines)
file(CONFIGURE OUTPUT ${tracking_source} @ONLY CONTENT
"/* Made from data/tracking.txt by cmake/Tracking.cmake. */
#include \"vidi/vidi.h\"

extern const char *const vidi__tracking_lines[];
extern vidi_str vidi__tracking_room[];
extern const size_t vidi__tracking_count;

const char *const vidi__tracking_lines[] = {
@tracking_lines@};
const size_t vidi__tracking_count = sizeof vidi__tracking_lines / sizeof *vidi__tracking_lines;
vidi_str vidi__tracking_room[2 * (sizeof vidi__tracking_lines / sizeof *vidi__tracking_lines)];
")
