/* SPDX-License-Identifier: GPL-2.0 */
/* What goes wrong at a port and on the wire behind it. */
#ifndef TSNPORT_IMPAIRMENT_H
#define TSNPORT_IMPAIRMENT_H

#include "port.h"

bool tsn_impair_node_down(const struct tsn_port *port, s64 from_ps, s64 until_ps);
s64 tsn_impair_next_down(const struct tsn_port *port, s64 after_ps);
void tsn_impair_flushed(struct tsn_port *port, s64 from_ps, s64 until_ps);
bool tsn_impair_frame(struct tsn_port *port, s64 begin_ps, s64 end_ps, u32 octets, s64 *late_ps, s64 *again_ps);
void tsn_impair_lost(struct tsn_port *port);
void tsn_impair_folder(struct tsn_port *port);

#endif
