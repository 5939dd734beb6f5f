/* SPDX-License-Identifier: GPL-2.0 */
/* What passed a point of a port, as a capture file (pcap with ns). */
#ifndef TSNPORT_CAPTURE_H
#define TSNPORT_CAPTURE_H

#include <linux/debugfs.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "clock.h"

struct tsn_capture {
	spinlock_t lock;
	struct page **pages;	/* NULL: nothing is captured */
	u64 octets;
	u64 frames;
	u64 lost;
	bool shown;		/* by the port's clock, not in true time */
};

void tsn_capture_prepare(struct tsn_capture *capture);
void tsn_capture_write(struct tsn_capture *capture, struct tsn_clock *clock, const struct sk_buff *skb, s64 at_ps);
void tsn_capture_folder(struct tsn_capture *capture, const char *name, struct dentry *above);
void tsn_capture_free(struct tsn_capture *capture);

#endif
