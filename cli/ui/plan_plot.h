/*
 * A drawing for `vidi plan`: how the losses of each kind change with the memory.
 */
#ifndef VIDI_CLI_UI_PLAN_PLOT_H
#define VIDI_CLI_UI_PLAN_PLOT_H

#include "ui/output.h"

/*
 * Draws expected pages lost against memory, on logarithmic axes, for each of the n kinds that were planned and for as
 * many URLs as the first plan is for. Of the request `want`, only params and url_bytes are used. Draws nothing if the
 * terminal is too narrow.
 */
void cli_plot(cli_out *out, const vidi_plan_request *want, const vidi_plan_entry *plans, size_t n, bool color);

#endif
