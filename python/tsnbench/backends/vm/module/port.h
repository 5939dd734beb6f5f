/* SPDX-License-Identifier: GPL-2.0 */
/* A port: its queues, what it sends, what is on the wire towards it. */
#ifndef TSNPORT_PORT_H
#define TSNPORT_PORT_H

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>

#include "capture.h"
#include "clock.h"

#define TSN_QUEUES 8
#define TSN_PREAMBLE 8	/* octets: preamble and start frame delimiter, IEEE 802.3-2022, 3.1.1 */
#define TSN_GAP 12	/* octets between frames, IEEE 802.3-2022, 4.4.2 */
#define TSN_LISTS 32	/* gate control lists of which is known when they were asked for */

struct tsn_queue {
	struct sk_buff_head ring;
	unsigned int used;	/* frames in the ring, and the one that is being sent */
	bool launch;		/* frames have a launch time (etf offload) */
	u64 frames;
	u64 octets;
	u64 late;		/* frames whose launch time had passed */
	u64 oversize;
};

struct tsn_port {
	struct list_head list;
	struct net_device *dev;
	struct tsn_port *peer;
	struct tsn_clock *clock;
	u64 rate_bps;
	s64 delay_ps;		/* of the wire towards the peer */
	u32 ring;		/* frames that a queue holds, with the one that is being sent */
	u32 unguarded;		/* whether a frame may begin that does not end before its gate closes */
	spinlock_t lock;	/* of all that follows */
	struct tsn_queue queue[TSN_QUEUES];
	struct hrtimer timer;
	struct sk_buff *sending;
	s64 end_ps;		/* when the last bit of what is being sent is out */
	s64 free_ps;		/* when the next frame may begin */
	struct tsn_gates *past;	/* what was in force before: for who works off earlier moments late */
	struct tsn_gates *oper;
	struct tsn_gates *admin;
	u32 initial;		/* gates that are open before any list, bit per queue: AdminGateStates */
	struct {
		s64 asked_ns, start_ns;
		bool late;	/* ConfigChangeError */
	} asked[TSN_LISTS];
	unsigned int lists;
	struct tsn_impairments *impairments;	/* NULL: nothing goes wrong */
	struct kernel_hwtstamp_config stamps;
	spinlock_t arriving;	/* of what follows */
	struct sk_buff_head wire;
	struct hrtimer arrival;
	u64 stamped;
	struct tsn_capture tx;
	struct tsn_capture rx;
	struct dentry *folder;
};

/* What a port notes of a frame while it has it. */
struct tsn_note {
	s64 ready_ps;		/* handed over */
	s64 begin_ps;		/* first bit of the preamble out */
	s64 launch_ns;		/* by the port's clock; 0: at once */
	s64 arrives_ps;		/* last bit in, at the peer */
	u32 queue;
};

static inline struct tsn_note *tsn_note(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct tsn_note) > sizeof(skb->cb));
	return (struct tsn_note *)skb->cb;
}

/* How long so many octets take on a port's wire. */
static inline s64 tsn_duration(const struct tsn_port *port, u32 octets)
{
	return div64_u64((u64)octets * 8 * PSEC_PER_SEC, port->rate_bps);
}

#endif
