// SPDX-License-Identifier: GPL-2.0
/*
 * A virtual TSN network device: pairs of ports with a wire between them, made by a line of text:
 *
 *   echo "p0@a p1@b 1000000000 250000" > /sys/module/tsnport/parameters/link
 *
 * Names, each with the label of its PTP hardware clock (none: one of its own); bit/s; ps of the cable; and, where
 * the second port's differ, its bit/s and ps.
 */

#include <linux/module.h>

#include "capture.h"
#include "clock.h"
#include "gates.h"
#include "impairment.h"
#include "mac.h"
#include "netdev.h"
#include "port.h"
#include "time.h"

static struct dentry *root;
static LIST_HEAD(ports);
static DEFINE_MUTEX(ports_lock);

/* Launch times and gates are now at other moments. */
static void clock_changed(struct tsn_clock *clock)
{
	struct tsn_port *port;

	mutex_lock(&ports_lock);
	list_for_each_entry(port, &ports, list) {
		if (port->clock != clock)
			continue;
		spin_lock_bh(&port->lock);
		tsn_mac_run(port);
		spin_unlock_bh(&port->lock);
	}
	mutex_unlock(&ports_lock);
}

static void free_port(struct tsn_port *port)
{
	if (!port)
		return;
	debugfs_remove(port->folder);
	if (port->dev)
		free_netdev(port->dev);
	tsn_capture_free(&port->tx);
	tsn_capture_free(&port->rx);
	kfree(port->past);
	kfree(port->oper);
	kfree(port->admin);
	kfree(port->impairments);
	kfree(port);
}

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &tsn_netdev_ops;
	dev->ethtool_ops = &tsn_ethtool_ops;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = 9216;
	eth_hw_addr_random(dev);
}

static struct tsn_port *make_port(char *name, u64 rate_bps, u64 delay_ps)
{
	char *label = strchr(name, '@');
	struct tsn_port *port;
	int error = -ENOMEM;

	if (label)
		*label++ = 0;
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return ERR_PTR(error);
	port->rate_bps = rate_bps;
	port->delay_ps = delay_ps;
	port->ring = 2;
	port->initial = ~0u;
	tsn_capture_prepare(&port->tx);
	tsn_capture_prepare(&port->rx);
	tsn_mac_prepare(port);
	port->clock = tsn_clock_get(label ?: name, root, clock_changed);
	if (IS_ERR(port->clock)) {
		error = PTR_ERR(port->clock);
		goto failed;
	}
	port->dev = alloc_netdev_mqs(sizeof(port), name, NET_NAME_USER, setup, TSN_QUEUES, 1);
	if (!port->dev)
		goto failed;
	*(struct tsn_port **)netdev_priv(port->dev) = port;
	SET_NETDEV_DEV(port->dev, &port->clock->card->dev);
	port->folder = debugfs_create_dir(name, root);
	debugfs_create_u32("ring", 0600, port->folder, &port->ring);
	debugfs_create_u32("unguarded", 0600, port->folder, &port->unguarded);
	tsn_capture_folder(&port->tx, "tx", port->folder);
	tsn_capture_folder(&port->rx, "rx", port->folder);
	tsn_gates_folder(port);
	tsn_impair_folder(port);
	return port;
failed:
	free_port(port);
	return ERR_PTR(error);
}

static void unregister(struct tsn_port *port)
{
	unregister_netdev(port->dev);
	tsn_mac_stop(port);
}

static int make_link(char *one, char *other, const u64 *numbers)
{
	struct tsn_port *first, *second;
	int error;

	first = make_port(one, numbers[0], numbers[1]);
	if (IS_ERR(first))
		return PTR_ERR(first);
	second = make_port(other, numbers[2], numbers[3]);
	if (IS_ERR(second)) {
		free_port(first);
		return PTR_ERR(second);
	}
	first->peer = second;
	second->peer = first;
	error = register_netdev(first->dev);
	if (error)
		goto failed;
	error = register_netdev(second->dev);
	if (error) {
		unregister(first);
		goto failed;
	}
	netif_carrier_off(first->dev);
	netif_carrier_off(second->dev);
	list_add_tail(&first->list, &ports);
	list_add_tail(&second->list, &ports);
	return 0;
failed:
	free_port(first);
	free_port(second);
	return error;
}

static int link_set(const char *text, const struct kernel_param *parameter)
{
	char one[IFNAMSIZ + TSN_LABEL], other[IFNAMSIZ + TSN_LABEL];
	u64 numbers[4];
	int found, error;

	if (!root)
		return -EAGAIN;	/* ports are made when the module is there */
	found = sscanf(text, "%31s %31s %llu %llu %llu %llu", one, other, &numbers[0], &numbers[1], &numbers[2],
		       &numbers[3]);
	if (found != 4 && found != 6)
		return -EINVAL;
	if (found == 4) {
		numbers[2] = numbers[0];
		numbers[3] = numbers[1];
	}
	if (!numbers[0] || !numbers[2] || numbers[1] > PSEC_PER_SEC || numbers[3] > PSEC_PER_SEC)
		return -ERANGE;
	mutex_lock(&ports_lock);
	error = make_link(one, other, numbers);
	mutex_unlock(&ports_lock);
	return error;
}

static const struct kernel_param_ops link_ops = { .set = link_set };
module_param_cb(link, &link_ops, NULL, 0200);
MODULE_PARM_DESC(link, "two ports to make: NAME[@CLOCK] NAME[@CLOCK] BIT/S PS [BIT/S PS]");

/* Cards are made with their clocks, and need nothing when they are bound. */
static int card_found(struct platform_device *card)
{
	return 0;
}

static struct platform_driver driver = {
	.probe = card_found,
	.driver = { .name = "tsnport", .suppress_bind_attrs = true },
};

static int __init start(void)
{
	int error = platform_driver_register(&driver);

	if (error)
		return error;
	tsn_time_start();
	root = debugfs_create_dir("tsnport", NULL);
	return 0;
}

static void __exit end(void)
{
	struct tsn_port *port, *next;

	list_for_each_entry(port, &ports, list)
		unregister(port);
	list_for_each_entry_safe(port, next, &ports, list) {
		list_del(&port->list);
		free_port(port);
	}
	tsn_clocks_put();
	platform_driver_unregister(&driver);
	debugfs_remove(root);
}

module_init(start);
module_exit(end);
MODULE_DESCRIPTION("Virtual TSN network device");
MODULE_LICENSE("GPL");
