// SPDX-License-Identifier: GPL-2.0
/* What Linux's network stack hands to a port: frames, its state, how frames are stamped. */

#include <linux/if_vlan.h>

#include "clock.h"
#include "gates.h"
#include "mac.h"
#include "netdev.h"
#include "port.h"
#include "time.h"

#define LAUNCHES 256	/* frames that wait for their launch times, as in cards that have these */

static netdev_tx_t start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct tsn_port *port = *(struct tsn_port **)netdev_priv(dev);
	u32 number = skb_get_queue_mapping(skb);
	struct tsn_queue *queue = &port->queue[number];
	struct tsn_note *note = tsn_note(skb);
	u32 largest;

	if (skb_put_padto(skb, ETH_ZLEN)) {
		dev->stats.tx_dropped++;
		return NETDEV_TX_OK;
	}
	spin_lock_bh(&port->lock);
	largest = tsn_gates_max_sdu(port, number);
	if (largest && skb->len > largest + ETH_HLEN + (eth_type_vlan(eth_hdr(skb)->h_proto) ? VLAN_HLEN : 0)) {
		queue->oversize++;
		dev->stats.tx_dropped++;
		spin_unlock_bh(&port->lock);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	if (port->stamps.tx_type == HWTSTAMP_TX_ON && skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP)
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	skb_tx_timestamp(skb);
	memset(note, 0, sizeof(*note));
	note->queue = number;
	note->ready_ps = tsn_now();
	if (queue->launch && skb->tstamp) {
		note->launch_ns = ktime_to_ns(skb->tstamp);
		if (tsn_clock_when(port->clock, note->launch_ns) < note->ready_ps)
			queue->late++;
	}
	__skb_queue_tail(&queue->ring, skb);
	if (++queue->used >= (queue->launch ? LAUNCHES : port->ring))
		netif_tx_stop_queue(netdev_get_tx_queue(dev, number));
	tsn_mac_run(port);
	spin_unlock_bh(&port->lock);
	return NETDEV_TX_OK;
}

/* Without traffic classes all frames are equal, and stay in order. */
static u16 select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *other)
{
	return netdev_get_num_tc(dev) ? netdev_pick_tx(dev, skb, other) : 0;
}

static void link_state(struct tsn_port *port)
{
	bool up = port->peer && netif_running(port->dev) && netif_running(port->peer->dev);
	struct tsn_port *ends[] = { port, port->peer };
	int end;

	for (end = 0; end < ARRAY_SIZE(ends); end++) {
		if (!ends[end])
			continue;
		if (up)
			netif_carrier_on(ends[end]->dev);
		else
			netif_carrier_off(ends[end]->dev);
	}
}

static int open(struct net_device *dev)
{
	link_state(*(struct tsn_port **)netdev_priv(dev));
	netif_tx_start_all_queues(dev);
	return 0;
}

static int stop(struct net_device *dev)
{
	struct tsn_port *port = *(struct tsn_port **)netdev_priv(dev);

	netif_tx_stop_all_queues(dev);
	netif_carrier_off(dev);
	if (port->peer)
		netif_carrier_off(port->peer->dev);
	tsn_mac_stop(port);
	return 0;
}

static int hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *config)
{
	*config = (*(struct tsn_port **)netdev_priv(dev))->stamps;
	return 0;
}

static int hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *config,
			struct netlink_ext_ack *extack)
{
	struct tsn_port *port = *(struct tsn_port **)netdev_priv(dev);

	if (config->tx_type != HWTSTAMP_TX_OFF && config->tx_type != HWTSTAMP_TX_ON) {
		NL_SET_ERR_MSG(extack, "frames are stamped, not written to: no one-step");
		return -ERANGE;
	}
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;
	spin_lock_bh(&port->lock);
	port->stamps.tx_type = config->tx_type;
	port->stamps.rx_filter = config->rx_filter;
	spin_unlock_bh(&port->lock);
	return 0;
}

const struct net_device_ops tsn_netdev_ops = {
	.ndo_open = open,
	.ndo_stop = stop,
	.ndo_start_xmit = start_xmit,
	.ndo_select_queue = select_queue,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_setup_tc = tsn_setup_tc,
	.ndo_hwtstamp_get = hwtstamp_get,
	.ndo_hwtstamp_set = hwtstamp_set,
};
