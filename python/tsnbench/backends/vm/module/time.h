/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moments are true time in ps since the module was loaded: the raw monotonic clock, which nothing steers.
 * What a port does happens at exact moments; the timers that work them off may come late and change nothing
 * of that, for a frame counts from the moment at which it was handed over.
 */
#ifndef TSNPORT_TIME_H
#define TSNPORT_TIME_H

#include <linux/hrtimer.h>
#include <linux/types.h>

#define TSN_NEVER S64_MAX

void tsn_time_start(void);
s64 tsn_now(void);
s64 tsn_wall_ns(s64 ps);
s64 tsn_tai_ahead(void);
s64 tsn_moment(s64 tai_ns);
s64 tsn_from_wall_ns(s64 ns);
void tsn_arm(struct hrtimer *timer, s64 at_ps);

#endif
