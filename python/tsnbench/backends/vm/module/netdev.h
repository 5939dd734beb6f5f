/* SPDX-License-Identifier: GPL-2.0 */
/* What Linux's network stack, tc and ethtool call. */
#ifndef TSNPORT_NETDEV_H
#define TSNPORT_NETDEV_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>

/* netdev.c */
extern const struct net_device_ops tsn_netdev_ops;

/* offload.c */
int tsn_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data);

/* ethtool.c */
extern const struct ethtool_ops tsn_ethtool_ops;

#endif
