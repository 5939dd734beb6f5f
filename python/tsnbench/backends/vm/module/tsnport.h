/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A virtual TSN network device: pairs of ports with a wire between them.
 *
 * Moments are true time in ps since the module was loaded: the raw monotonic clock, which nothing steers.
 * What a port does happens at exact moments; the timers that work them off may come late and change nothing
 * of that, for a frame counts from the moment at which it was handed over.
 */
#ifndef TSNPORT_H
#define TSNPORT_H

#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/spinlock.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#define TSN_QUEUES 8
#define TSN_LAUNCHES 256	/* frames that wait for their launch times, as in cards that have these */
#define TSN_PREAMBLE 8	/* octets: preamble and start frame delimiter, IEEE 802.3-2022, 3.1.1 */
#define TSN_GAP 12	/* octets between frames, IEEE 802.3-2022, 4.4.2 */
#define TSN_NEVER S64_MAX
#define TSN_LABEL 16
#define TSN_LISTS 32	/* gate control lists of which is known when they were asked for */

/* How far a clock was from true time, at moments that were asked for. */
struct tsn_samples {
	s64 *error_ps;		/* NULL: nothing is noted */
	s64 next_ns;		/* TAI */
	s64 every_ns;
	u32 count;
	u32 filled;
};

/* A PTP hardware clock. Ports with the same label share one. */
struct tsn_clock {
	struct list_head list;
	char label[TSN_LABEL];
	spinlock_t lock;
	s64 from_ps;		/* true time at which it showed ... */
	s64 ns;			/* ... this, ... */
	s64 ps;			/* ... and this beyond, 0 to 999 */
	s64 error;		/* of its oscillator, in 2^-48 */
	s64 adjusted;		/* by its user, in 2^-48 */
	s64 rate;		/* both together: what it gains on true time */
	s32 error_ppb;
	u32 granularity_ns;
	u32 jitter_ns;		/* stamps of PTP are late by a draw up to this: a PHY */
	struct tsn_samples samples;
	struct ptp_clock_info info;
	struct ptp_clock *ptp;
	struct platform_device *card;	/* of which sysfs says the driver, as of any network card */
	struct dentry *folder;
};

/* IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9: a gate control list. */
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

/* What passed a point of a port, as a capture file (pcap with ns). */
struct tsn_capture {
	spinlock_t lock;
	struct page **pages;	/* NULL: nothing is captured */
	u64 octets;
	u64 frames;
	u64 lost;
	bool shown;		/* by the port's clock, not in true time */
};

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

/* main.c */
extern struct dentry *tsn_folder;
s64 tsn_now(void);
s64 tsn_wall_ns(s64 ps);
s64 tsn_tai_ahead(void);
s64 tsn_moment(s64 tai_ns);
s64 tsn_from_wall_ns(s64 ns);
void tsn_arm(struct hrtimer *timer, s64 at_ps);
void tsn_clock_changed(struct tsn_clock *clock);

/* mac.c */
extern const struct net_device_ops tsn_netdev_ops;
void tsn_mac_prepare(struct tsn_port *port);
void tsn_mac_run(struct tsn_port *port);
void tsn_mac_stop(struct tsn_port *port);

/* clock.c */
struct tsn_clock *tsn_clock_get(const char *label);
void tsn_clocks_put(void);
void tsn_clock_show(struct tsn_clock *clock, s64 at_ps, s64 *ns, s64 *ps);
s64 tsn_clock_stamp(struct tsn_clock *clock, s64 at_ps);
s64 tsn_clock_stamp_ptp(struct tsn_clock *clock, s64 at_ps);
void tsn_clock_show_locked(const struct tsn_clock *clock, s64 at_ps, s64 *ns, s64 *ps);
void tsn_clock_rebase(struct tsn_clock *clock, s64 at_ps);
s64 tsn_clock_when(struct tsn_clock *clock, s64 ns);
s64 tsn_clock_span(struct tsn_clock *clock, s64 ps);

/* clock_probe.c */
void tsn_probe_sample(struct tsn_clock *clock, s64 until_ps);
void tsn_probe_folder(struct tsn_clock *clock);

/* gates.c */
s64 tsn_gates_open(struct tsn_port *port, unsigned int queue, s64 from_ps, s64 need_ps);
void tsn_gates_advance(struct tsn_port *port, s64 now_ps);
u32 tsn_gates_max_sdu(const struct tsn_port *port, unsigned int queue);
void tsn_gates_folder(struct tsn_port *port);

/* impairment.c */
bool tsn_impair_node_down(const struct tsn_port *port, s64 from_ps, s64 until_ps);
s64 tsn_impair_next_down(const struct tsn_port *port, s64 after_ps);
void tsn_impair_flushed(struct tsn_port *port, s64 from_ps, s64 until_ps);
bool tsn_impair_frame(struct tsn_port *port, s64 begin_ps, s64 end_ps, u32 octets, s64 *late_ps, s64 *again_ps);
void tsn_impair_lost(struct tsn_port *port);
void tsn_impair_folder(struct tsn_port *port);

/* offload.c */
int tsn_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data);

/* ethtool.c */
extern const struct ethtool_ops tsn_ethtool_ops;

/* capture.c */
void tsn_capture_prepare(struct tsn_capture *capture);
void tsn_capture_write(struct tsn_capture *capture, struct tsn_clock *clock, const struct sk_buff *skb, s64 at_ps);
void tsn_capture_folder(struct tsn_port *port);
void tsn_capture_free(struct tsn_capture *capture);

#endif
