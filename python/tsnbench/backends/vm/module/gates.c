// SPDX-License-Identifier: GPL-2.0
/* When a queue's gate is open, by the port's clock. IEEE 802.1Q-2022, 8.6.8.4, 8.6.9. */

#include <linux/seq_file.h>

#include "clock.h"
#include "gates.h"
#include "port.h"
#include "time.h"

/* Which gates are open from a moment of the port's clock on, and until when they stay so. */
static u32 state(const struct tsn_port *port, s64 ns, s64 *until_ns)
{
	const struct tsn_gates *list = port->oper, *next = port->admin;
	s64 change, begin, end, rest;
	unsigned int place;

	if (list && port->past && ns < list->start_ns) {
		next = list;
		list = port->past;
	}
	change = next ? next->start_ns : TSN_NEVER;
	if (next && ns >= change) {
		list = next;
		next = NULL;
		change = TSN_NEVER;
	}
	if (!list || ns < list->start_ns) {
		*until_ns = list ? list->start_ns : change;
		return port->initial;
	}
	div64_u64_rem(ns - list->start_ns, list->cycle_ns, (u64 *)&rest);
	begin = ns - rest;
	/* The last cycle is made longer rather than followed by a piece of one. */
	if (next && change <= begin + list->extension_ns && begin > list->start_ns && begin >= next->asked_ns)
		begin -= list->cycle_ns;
	end = begin + list->cycle_ns;
	if (next && change <= end + list->extension_ns)
		end = change;
	for (place = 0; place < list->count; place++) {
		begin += list->entry[place].ns;
		if (ns < begin && place + 1 < list->count) {
			*until_ns = min(begin, end);
			return list->entry[place].open;
		}
	}
	*until_ns = end;
	return list->entry[list->count - 1].open;
}

/* From when on a queue may send for so long, not before a moment. */
s64 tsn_gates_open(struct tsn_port *port, unsigned int queue, s64 from_ps, s64 need_ps)
{
	unsigned int steps = 4;
	s64 ns, ps, at, begin_ns = 0, begin_ps = 0;
	bool open = false;

	if (!port->oper && !port->admin)
		return from_ps;
	if (from_ps == TSN_NEVER)
		return from_ps;
	if (port->oper)
		steps += 2 * port->oper->count;
	if (port->admin)
		steps += 2 * port->admin->count;
	need_ps = port->unguarded ? 1 : tsn_clock_span(port->clock, need_ps);
	tsn_clock_show(port->clock, from_ps, &ns, &ps);
	for (at = ns; steps--; ) {
		s64 until;
		u32 mask = state(port, at, &until);

		if (mask >> queue & 1) {
			if (!open) {
				begin_ns = at;
				begin_ps = at == ns ? ps : 0;
			}
			open = true;
			if (until == TSN_NEVER || (until - begin_ns) * 1000 - begin_ps >= need_ps)
				return begin_ns == ns ? from_ps : tsn_clock_when(port->clock, begin_ns);
		} else {
			open = false;
		}
		if (until == TSN_NEVER)
			break;
		at = until;
	}
	return TSN_NEVER;
}

/* A list whose time has come takes the other one's place. */
void tsn_gates_advance(struct tsn_port *port, s64 now_ps)
{
	s64 ns, ps;

	if (likely(!port->admin))
		return;
	tsn_clock_show(port->clock, now_ps, &ns, &ps);
	if (ns < port->admin->start_ns)
		return;
	kfree(port->past);
	port->past = port->oper;
	port->oper = port->admin;
	port->admin = NULL;
}

u32 tsn_gates_max_sdu(const struct tsn_port *port, unsigned int queue)
{
	const struct tsn_gates *list = port->admin ?: port->oper;

	return list ? list->max_sdu[queue] : 0;
}

/* Each list that was asked for: when, from when on it is in force, and whether that was too late. */
static int lists_show(struct seq_file *file, void *unused)
{
	struct tsn_port *port = file->private;
	unsigned int place;

	spin_lock_bh(&port->lock);
	for (place = 0; place < min_t(unsigned int, port->lists, TSN_LISTS); place++)
		seq_printf(file, "%lld %lld %d\n", port->asked[place].asked_ns, port->asked[place].start_ns,
			   port->asked[place].late);
	spin_unlock_bh(&port->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lists);

void tsn_gates_folder(struct tsn_port *port)
{
	debugfs_create_u32("initial", 0600, port->folder, &port->initial);
	debugfs_create_file("lists", 0400, port->folder, port, &lists_fops);
}
