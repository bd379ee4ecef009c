/*
 * A view that is shown again and again: drawn over the one before on a terminal; otherwise printed whenever it has
 * changed, with an empty line before it. SIGINT and SIGTERM end it, and so does the key q on a terminal.
 */
#ifndef VIDI_CLI_UI_SCREEN_H
#define VIDI_CLI_UI_SCREEN_H

#include "ui/output.h"

typedef struct cli_screen {
    void *context;
    int (*put)(cli_out *out, void *context); /* writes the view. CLI_OK or an exit status */
    /* Looks again, before each view but the first. CLI_GO_ON; CLI_OK: the next view is the last; or an exit status. */
    int (*look)(void *context);
    int wait_ms; /* between two looks; more if they take long: a tenth of the time is spent on them at most */
    bool color;
} cli_screen;

/* Returns the exit status. */
int cli_screen_show(const cli_screen *screen);

#endif
