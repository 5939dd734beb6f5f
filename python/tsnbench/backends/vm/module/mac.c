// SPDX-License-Identifier: GPL-2.0
/* What a port sends and when, and what its peer then gets. IEEE 802.3-2022, 4.2; 802.1Q-2022, 8.6.8. */

#include "capture.h"
#include "clock.h"
#include "gates.h"
#include "impairment.h"
#include "mac.h"
#include "port.h"
#include "time.h"

/* The next frame: the one that may begin first; at the same moment, of the highest queue. */
static struct sk_buff *choose(struct tsn_port *port, s64 *begin_ps)
{
	struct sk_buff *chosen = NULL;
	int number;

	for (number = TSN_QUEUES - 1; number >= 0; number--) {
		struct sk_buff *skb = skb_peek(&port->queue[number].ring);
		struct tsn_note *note;
		s64 at;

		if (!skb)
			continue;
		note = tsn_note(skb);
		at = max(note->ready_ps, port->free_ps);
		if (note->launch_ns)
			at = max(at, tsn_clock_when(port->clock, note->launch_ns));
		at = tsn_gates_open(port, number, at,
				    tsn_duration(port, TSN_PREAMBLE + skb->len + ETH_FCS_LEN));
		if (at != TSN_NEVER && (!chosen || at < *begin_ps)) {
			chosen = skb;
			*begin_ps = at;
		}
	}
	return chosen;
}

static void begin(struct tsn_port *port, struct sk_buff *skb, s64 at_ps)
{
	struct tsn_note *note = tsn_note(skb);
	u32 octets = TSN_PREAMBLE + skb->len + ETH_FCS_LEN;

	__skb_unlink(skb, &port->queue[note->queue].ring);
	note->begin_ps = at_ps;
	port->sending = skb;
	port->end_ps = at_ps + tsn_duration(port, octets);
	port->free_ps = at_ps + tsn_duration(port, octets + TSN_GAP);
	/* A node that goes down meanwhile does not say that it sent. */
	if (!tsn_impair_node_down(port, at_ps, at_ps + tsn_duration(port, TSN_PREAMBLE)))
		tsn_capture_write(&port->tx, port->clock, skb, at_ps);
}

static void deliver(struct tsn_port *port, struct sk_buff *skb)
{
	s64 arrives_ps = tsn_note(skb)->arrives_ps;

	tsn_capture_write(&port->rx, port->clock, skb, arrives_ps);
	dev_sw_netstats_rx_add(port->dev, skb->len);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->protocol = eth_type_trans(skb, port->dev);
	netif_rx(skb);
}

/* Everything that has arrived goes up; the timer is for what has not. */
static void arrive(struct tsn_port *port)
{
	struct sk_buff *skb;

	spin_lock(&port->arriving);
	while ((skb = skb_peek(&port->wire))) {
		if (tsn_note(skb)->arrives_ps > tsn_now()) {
			tsn_arm(&port->arrival, tsn_note(skb)->arrives_ps);
			break;
		}
		__skb_unlink(skb, &port->wire);
		deliver(port, skb);
	}
	spin_unlock(&port->arriving);
}

/* A frame of its own for the peer: the sender's stamps lie in the memory that the sender's copies share. */
static void hand_over(struct tsn_port *port, struct sk_buff *sent, s64 late_ps)
{
	struct tsn_port *peer = port->peer;
	struct tsn_note *note = tsn_note(sent);
	struct sk_buff *skb, *before;
	s64 arrives_ps = port->end_ps + port->delay_ps + late_ps;

	if (tsn_impair_node_down(peer, arrives_ps, arrives_ps)) {
		tsn_impair_lost(port);
		return;
	}
	skb = netdev_alloc_skb_ip_align(peer->dev, sent->len);
	if (!skb) {
		peer->dev->stats.rx_dropped++;
		return;
	}
	skb_copy_bits(sent, 0, skb_put(skb, sent->len), sent->len);
	tsn_note(skb)->arrives_ps = arrives_ps;
	if (peer->stamps.rx_filter != HWTSTAMP_FILTER_NONE) {
		s64 point_ps = note->begin_ps + tsn_duration(port, TSN_PREAMBLE) + port->delay_ps + late_ps;

		skb_hwtstamps(skb)->hwtstamp = ns_to_ktime(tsn_clock_stamp_ptp(peer->clock, point_ps));
	}
	spin_lock(&peer->arriving);
	/* What is held back on a bad cable is overtaken. */
	before = skb_peek_tail(&peer->wire);
	while (before && tsn_note(before)->arrives_ps > arrives_ps)
		before = skb_queue_is_first(&peer->wire, before) ? NULL : skb_queue_prev(&peer->wire, before);
	if (before)
		__skb_queue_after(&peer->wire, before, skb);
	else
		__skb_queue_head(&peer->wire, skb);
	spin_unlock(&peer->arriving);
	arrive(peer);
}

static void to_peer(struct tsn_port *port, struct sk_buff *sent)
{
	s64 late_ps, again_ps;

	if (!port->peer || !netif_running(port->peer->dev) || !netif_carrier_ok(port->dev)) {
		port->dev->stats.tx_carrier_errors++;
		return;
	}
	if (!tsn_impair_frame(port, tsn_note(sent)->begin_ps, port->end_ps, sent->len + ETH_FCS_LEN, &late_ps, &again_ps))
		return;
	hand_over(port, sent, late_ps);
	if (again_ps != TSN_NEVER)
		hand_over(port, sent, late_ps + again_ps);
}

/* The last bit is out. */
static void finish(struct tsn_port *port)
{
	struct sk_buff *skb = port->sending;
	struct tsn_note *note = tsn_note(skb);
	struct tsn_queue *queue = &port->queue[note->queue];

	if (skb_shinfo(skb)->tx_flags & SKBTX_IN_PROGRESS) {
		struct skb_shared_hwtstamps stamps = {};
		s64 point_ps = note->begin_ps + tsn_duration(port, TSN_PREAMBLE);

		stamps.hwtstamp = ns_to_ktime(tsn_clock_stamp_ptp(port->clock, point_ps));
		skb_tstamp_tx(skb, &stamps);
		port->stamped++;
	}
	port->sending = NULL;
	queue->frames++;
	queue->octets += skb->len + ETH_FCS_LEN;
	queue->used--;
	dev_sw_netstats_tx_add(port->dev, 1, skb->len);
	to_peer(port, skb);
	dev_consume_skb_any(skb);
	netif_tx_wake_queue(netdev_get_tx_queue(port->dev, note->queue));
}

/* A frame that was to wait for a moment, as its node goes down before that. */
static bool flush(struct tsn_port *port, struct sk_buff *skb, s64 until_ps)
{
	struct tsn_note *note = tsn_note(skb);
	struct tsn_queue *queue = &port->queue[note->queue];

	if (!tsn_impair_node_down(port, note->ready_ps, until_ps))
		return false;
	tsn_impair_flushed(port, note->ready_ps, until_ps);
	__skb_unlink(skb, &queue->ring);
	queue->used--;
	kfree_skb(skb);
	netif_tx_wake_queue(netdev_get_tx_queue(port->dev, note->queue));
	return true;
}

/* What waits in a node is lost when it goes down; then it is looked at again. */
static void flush_all(struct tsn_port *port, s64 now_ps)
{
	struct sk_buff *skb, *next;
	bool waiting = false;
	int number;

	for (number = 0; number < TSN_QUEUES; number++)
		skb_queue_walk_safe(&port->queue[number].ring, skb, next)
			waiting |= !flush(port, skb, now_ps);
	if (waiting && tsn_impair_next_down(port, now_ps) != TSN_NEVER)
		tsn_arm(&port->timer, tsn_impair_next_down(port, now_ps));
}

/* Works off all that is due. The port is locked. */
void tsn_mac_run(struct tsn_port *port)
{
	for (;;) {
		s64 now_ps = tsn_now();
		struct sk_buff *skb;
		s64 at_ps;

		if (port->sending) {
			if (port->end_ps > now_ps) {
				tsn_arm(&port->timer, port->end_ps);
				return;
			}
			finish(port);
		}
		tsn_gates_advance(port, now_ps);
		skb = choose(port, &at_ps);
		if (skb && at_ps <= now_ps) {
			if (!port->impairments || !flush(port, skb, at_ps))
				begin(port, skb, at_ps);
			continue;
		}
		if (port->impairments)
			flush_all(port, now_ps);
		skb = choose(port, &at_ps);
		if (skb && at_ps < tsn_impair_next_down(port, now_ps))
			tsn_arm(&port->timer, at_ps);
		return;
	}
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct tsn_port *port = container_of(timer, struct tsn_port, timer);

	spin_lock(&port->lock);
	tsn_mac_run(port);
	spin_unlock(&port->lock);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart on_arrival(struct hrtimer *timer)
{
	arrive(container_of(timer, struct tsn_port, arrival));
	return HRTIMER_NORESTART;
}

/* Nothing is kept of what a port has when it goes down. */
void tsn_mac_stop(struct tsn_port *port)
{
	int number;

	hrtimer_cancel(&port->timer);
	hrtimer_cancel(&port->arrival);
	spin_lock_bh(&port->lock);
	for (number = 0; number < TSN_QUEUES; number++) {
		port->dev->stats.tx_dropped += skb_queue_len(&port->queue[number].ring);
		__skb_queue_purge(&port->queue[number].ring);
		port->queue[number].used = 0;
	}
	if (port->sending)
		port->dev->stats.tx_dropped++;
	kfree_skb(port->sending);
	port->sending = NULL;
	spin_lock(&port->arriving);
	port->dev->stats.rx_dropped += skb_queue_len(&port->wire);
	__skb_queue_purge(&port->wire);
	spin_unlock(&port->arriving);
	spin_unlock_bh(&port->lock);
}

void tsn_mac_prepare(struct tsn_port *port)
{
	int number;

	spin_lock_init(&port->lock);
	spin_lock_init(&port->arriving);
	__skb_queue_head_init(&port->wire);
	for (number = 0; number < TSN_QUEUES; number++)
		__skb_queue_head_init(&port->queue[number].ring);
	hrtimer_init(&port->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	port->timer.function = on_timer;
	hrtimer_init(&port->arrival, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	port->arrival.function = on_arrival;
}
