/*
 * A drawing for `vidi plan`: what more memory buys, or less of it costs.
 */
#ifndef VIDI_CLI_UI_PLAN_PLOT_H
#define VIDI_CLI_UI_PLAN_PLOT_H

#include "ui/output.h"

/*
 * Expected pages lost against memory, both in powers, for each of the n kinds that were planned and for as many URLs as
 * the first of them is for. `want` is what was asked; of it the parameters count. Nothing if the terminal is too small.
 */
void cli_plot(cli_out *out, const vidi_plan_request *want, const vidi_plan_entry *plans, size_t n, bool color);

#endif
