/*
 * Plans for sets that are spread over the nodes of a cluster, for `vidi plan --cluster`.
 */
#ifndef VIDI_CLI_COMMANDS_PLAN_CLUSTER_H
#define VIDI_CLI_COMMANDS_PLAN_CLUSTER_H

#include "ui/output.h"

typedef struct cli_cluster_request {
    const vidi_plan_request *want;
    const char *command; /* the options by which `vidi init` comes to the best plan; NULL: there are none */
    uint32_t nodes;
    bool json;
} cli_cluster_request;

/* Writes the plans. CLI_OK, or CLI_ERROR with a message. */
int cli_cluster_print(cli_out *out, const cli_cluster_request *request);

#endif
