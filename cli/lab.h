/* How what the lab has found is printed: lab_forms.c. */
#ifndef VIDI_CLI_LAB_H
#define VIDI_CLI_LAB_H

#include "lab/study.h"
#include "output.h"

typedef enum lab_form { LAB_TABLE, LAB_CSV, LAB_JSON, LAB_RAW } lab_form;

/* CLI_OK or CLI_ERROR, if memory ran out. */
int lab_print(cli_out *out, lab_form form, const lab_book *book);

/* One line on a configuration: "jenkins, k = 3, M = 2, 2 filters, incremental". */
const char *lab_config_text(const lab_config *config, char *text, size_t room);

#endif
