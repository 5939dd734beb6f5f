/* SPDX-License-Identifier: GPL-2.0 */
/* What a port sends and when. */
#ifndef TSNPORT_MAC_H
#define TSNPORT_MAC_H

#include "port.h"

void tsn_mac_prepare(struct tsn_port *port);
void tsn_mac_run(struct tsn_port *port);
void tsn_mac_stop(struct tsn_port *port);

#endif
