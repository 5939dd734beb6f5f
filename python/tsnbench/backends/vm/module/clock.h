/* SPDX-License-Identifier: GPL-2.0 */
/* A PTP hardware clock: what it shows when, who steers it, and what a test does to it. */
#ifndef TSNPORT_CLOCK_H
#define TSNPORT_CLOCK_H

#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/platform_device.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/spinlock.h>

#define TSN_LABEL 16

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
	void (*changed)(struct tsn_clock *clock);	/* it shows something else than was expected */
};

/* clock.c */
void tsn_clock_show(struct tsn_clock *clock, s64 at_ps, s64 *ns, s64 *ps);
s64 tsn_clock_stamp(struct tsn_clock *clock, s64 at_ps);
s64 tsn_clock_stamp_ptp(struct tsn_clock *clock, s64 at_ps);
void tsn_clock_sample(struct tsn_clock *clock, s64 until_ps);
void tsn_clock_rebase(struct tsn_clock *clock, s64 at_ps);
s64 tsn_clock_when(struct tsn_clock *clock, s64 ns);
s64 tsn_clock_span(struct tsn_clock *clock, s64 ps);

/* clock_probe.c */
void tsn_probe_folder(struct tsn_clock *clock);

/* clock_device.c */
struct tsn_clock *tsn_clock_get(const char *label, struct dentry *above, void (*changed)(struct tsn_clock *clock));
void tsn_clocks_put(void);

#endif
