// SPDX-License-Identifier: GPL-2.0
/* What tc hands to the device: mqprio's queues, taprio's gate control lists, etf's launch times. */

#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#include "clock.h"
#include "gates.h"
#include "mac.h"
#include "netdev.h"
#include "port.h"
#include "time.h"

static int caps(struct tc_query_caps_base *base)
{
	switch (base->type) {
	case TC_SETUP_QDISC_TAPRIO: {
		struct tc_taprio_caps *found = base->caps;

		found->supports_queue_max_sdu = true;
		found->gate_mask_per_txq = true;
		return 0;
	}
	case TC_SETUP_QDISC_MQPRIO: {
		struct tc_mqprio_caps *found = base->caps;

		found->validate_queue_counts = true;
		return 0;
	}
	default:
		return -EOPNOTSUPP;
	}
}

static void gates_put(struct tsn_port *port, struct tsn_gates *list)
{
	bool late;
	s64 ns, ps;

	spin_lock_bh(&port->lock);
	if (list) {
		tsn_gates_advance(port, tsn_now());
		kfree(port->admin);
		tsn_clock_show(port->clock, tsn_now(), &ns, &ps);
		list->asked_ns = ns;
		late = list->start_ns < ns && port->oper;
		/* A base time that has passed means the next cycle that begins. 8.6.9.1.1. */
		if (list->start_ns < ns)
			list->start_ns += DIV64_U64_ROUND_UP(ns - list->start_ns, list->cycle_ns) * list->cycle_ns;
		port->admin = list;
		if (port->lists < TSN_LISTS) {
			port->asked[port->lists].asked_ns = ns;
			port->asked[port->lists].start_ns = list->start_ns;
			port->asked[port->lists].late = late;
		}
		port->lists++;
	} else {
		kfree(port->admin);
		kfree(port->oper);
		kfree(port->past);
		port->past = NULL;
		port->admin = NULL;
		port->oper = NULL;
	}
	tsn_mac_run(port);
	spin_unlock_bh(&port->lock);
}

static int taprio(struct tsn_port *port, struct tc_taprio_qopt_offload *asked)
{
	struct tsn_gates *list;
	unsigned int place, tc;

	switch (asked->cmd) {
	case TAPRIO_CMD_DESTROY:
		gates_put(port, NULL);
		return 0;
	case TAPRIO_CMD_REPLACE:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!asked->num_entries || !asked->cycle_time) {
		NL_SET_ERR_MSG(asked->extack, "an empty gate control list");
		return -EINVAL;
	}
	list = kzalloc(struct_size(list, entry, asked->num_entries), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	list->start_ns = ktime_to_ns(asked->base_time);
	list->cycle_ns = asked->cycle_time;
	list->extension_ns = asked->cycle_time_extension;
	list->count = asked->num_entries;
	for (place = 0; place < list->count; place++) {
		if (asked->entries[place].command != TC_TAPRIO_CMD_SET_GATES) {
			NL_SET_ERR_MSG(asked->extack, "no frame is preempted: gates can be set, not held or released");
			kfree(list);
			return -EOPNOTSUPP;
		}
		list->entry[place].open = asked->entries[place].gate_mask;
		list->entry[place].ns = asked->entries[place].interval;
	}
	for (tc = 0; tc < netdev_get_num_tc(port->dev); tc++) {
		struct netdev_tc_txq own = port->dev->tc_to_txq[tc];
		unsigned int queue;

		for (queue = own.offset; queue < own.offset + own.count && queue < TSN_QUEUES; queue++)
			list->max_sdu[queue] = asked->max_sdu[tc];
	}
	gates_put(port, list);
	return 0;
}

static int mqprio(struct net_device *dev, struct tc_mqprio_qopt_offload *asked)
{
	struct tc_mqprio_qopt *own = &asked->qopt;
	int tc;

	if (!own->num_tc) {
		netdev_reset_tc(dev);
		return 0;
	}
	own->hw = TC_MQPRIO_HW_OFFLOAD_TCS;
	netdev_set_num_tc(dev, own->num_tc);
	for (tc = 0; tc < own->num_tc; tc++)
		netdev_set_tc_queue(dev, tc, own->count[tc], own->offset[tc]);
	return 0;
}

static int etf(struct tsn_port *port, struct tc_etf_qopt_offload *asked)
{
	if (asked->queue < 0 || asked->queue >= TSN_QUEUES)
		return -EINVAL;
	spin_lock_bh(&port->lock);
	port->queue[asked->queue].launch = asked->enable;
	spin_unlock_bh(&port->lock);
	return 0;
}

int tsn_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data)
{
	struct tsn_port *port = *(struct tsn_port **)netdev_priv(dev);

	switch (type) {
	case TC_QUERY_CAPS:
		return caps(data);
	case TC_SETUP_QDISC_TAPRIO:
		return taprio(port, data);
	case TC_SETUP_QDISC_MQPRIO:
		return mqprio(dev, data);
	case TC_SETUP_QDISC_ETF:
		return etf(port, data);
	default:
		return -EOPNOTSUPP;
	}
}
