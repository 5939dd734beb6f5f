/* SPDX-License-Identifier: GPL-2.0 */
/* IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9: gate control lists. */
#ifndef TSNPORT_GATES_H
#define TSNPORT_GATES_H

#include "port.h"

struct tsn_gates {
	s64 asked_ns;		/* by the port's clock */
	s64 start_ns;		/* by the port's clock: ConfigChangeTime */
	s64 cycle_ns;
	s64 extension_ns;
	u32 max_sdu[TSN_QUEUES];	/* octets, 0: any */
	unsigned int count;
	struct {
		u32 open;	/* bit per queue */
		s64 ns;
	} entry[];
};

s64 tsn_gates_open(struct tsn_port *port, unsigned int queue, s64 from_ps, s64 need_ps);
void tsn_gates_advance(struct tsn_port *port, s64 now_ps);
u32 tsn_gates_max_sdu(const struct tsn_port *port, unsigned int queue);
void tsn_gates_folder(struct tsn_port *port);

#endif
