// SPDX-License-Identifier: GPL-2.0
/* What ethtool is told: the link's true speed (cbs and taprio go by it), queues in use, stamps, counters. */

#include <linux/ptp_clock_kernel.h>

#include "netdev.h"
#include "port.h"

static const char *const COUNTERS[] = { "frames", "octets", "late", "oversize" };

static struct tsn_port *of(struct net_device *dev)
{
	return *(struct tsn_port **)netdev_priv(dev);
}

static int link_settings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_zero_link_mode(settings, advertising);
	settings->base.speed = max_t(u64, 1, div_u64(of(dev)->rate_bps, 1000000));
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* As if the link had been negotiated anew: for a moment there is none, then both directions have the rate. */
static int set_link_settings(struct net_device *dev, const struct ethtool_link_ksettings *settings)
{
	struct tsn_port *ends[] = { of(dev), of(dev)->peer };
	int end;

	if (settings->base.autoneg != AUTONEG_DISABLE || settings->base.duplex != DUPLEX_FULL ||
	    !settings->base.speed || settings->base.speed > SPEED_10000)
		return -EINVAL;
	for (end = 0; end < ARRAY_SIZE(ends); end++) {
		bool up = netif_carrier_ok(ends[end]->dev);

		netif_carrier_off(ends[end]->dev);
		spin_lock_bh(&ends[end]->lock);
		ends[end]->rate_bps = (u64)settings->base.speed * 1000000;
		spin_unlock_bh(&ends[end]->lock);
		if (up)
			netif_carrier_on(ends[end]->dev);
	}
	return 0;
}

static int stamps(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = ptp_clock_index(of(dev)->clock->ptp);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

static void channels(struct net_device *dev, struct ethtool_channels *found)
{
	found->max_combined = TSN_QUEUES;
	found->combined_count = dev->real_num_tx_queues;
}

static int set_channels(struct net_device *dev, struct ethtool_channels *asked)
{
	return netif_set_real_num_tx_queues(dev, asked->combined_count);
}

static int count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? TSN_QUEUES * ARRAY_SIZE(COUNTERS) + 3 : -EOPNOTSUPP;
}

static void strings(struct net_device *dev, u32 set, u8 *data)
{
	int queue, place;

	if (set != ETH_SS_STATS)
		return;
	for (queue = 0; queue < TSN_QUEUES; queue++)
		for (place = 0; place < ARRAY_SIZE(COUNTERS); place++)
			ethtool_sprintf(&data, "queue_%d_%s", queue, COUNTERS[place]);
	ethtool_puts(&data, "tx_stamped");
	ethtool_puts(&data, "tx_not_captured");
	ethtool_puts(&data, "rx_not_captured");
}

static void counters(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct tsn_port *port = of(dev);
	int queue;

	spin_lock_bh(&port->lock);
	for (queue = 0; queue < TSN_QUEUES; queue++) {
		*data++ = port->queue[queue].frames;
		*data++ = port->queue[queue].octets;
		*data++ = port->queue[queue].late;
		*data++ = port->queue[queue].oversize;
	}
	*data++ = port->stamped;
	*data++ = port->tx.lost;
	*data++ = port->rx.lost;
	spin_unlock_bh(&port->lock);
}

const struct ethtool_ops tsn_ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = link_settings,
	.set_link_ksettings = set_link_settings,
	.get_ts_info = stamps,
	.get_channels = channels,
	.set_channels = set_channels,
	.get_sset_count = count,
	.get_strings = strings,
	.get_ethtool_stats = counters,
};
