/*
 * Ports of services that could misread an HTTP request as their own protocol: the Fetch Standard, section 2.9, "port
 * blocking".
 */
#include "crawler/scope/scope.h"

/* Ascending. */
static const uint16_t bad_ports[] = {0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,
                                     37,   42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,  109,
                                     110,  111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,  389,
                                     427,  465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,  556,
                                     563,  587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045,
                                     4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};

bool scope_port_is_bad(int port)
{
    size_t low = 0, high = sizeof bad_ports / sizeof bad_ports[0];

    if (port == 80 || port == 443)
        return false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (bad_ports[middle] == port)
            return true;
        if (bad_ports[middle] < port)
            low = middle + 1;
        else
            high = middle;
    }
    return port < 0 || port > UINT16_MAX;
}
