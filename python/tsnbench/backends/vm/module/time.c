// SPDX-License-Identifier: GPL-2.0
/* True time since the module was loaded, and the system's clocks, had nobody steered them since. */

#include <linux/timekeeping.h>

#include "time.h"

static s64 loaded_raw_ns, loaded_wall_ns;

void tsn_time_start(void)
{
	struct system_time_snapshot now;

	/* Both of the same instant. */
	ktime_get_snapshot(&now);
	loaded_raw_ns = ktime_to_ns(now.raw);
	loaded_wall_ns = ktime_to_ns(now.real);
}

s64 tsn_now(void)
{
	return ((s64)ktime_get_raw_ns() - loaded_raw_ns) * 1000;
}

/* TAI less UTC, whole seconds; two readings are a moment apart. */
s64 tsn_tai_ahead(void)
{
	s64 real_ns = ktime_get_real_ns();

	return div_s64(ktime_to_ns(ktime_get_clocktai()) - real_ns + NSEC_PER_SEC / 2, NSEC_PER_SEC) * NSEC_PER_SEC;
}

/* When TAI says so, had nobody steered it since. */
s64 tsn_moment(s64 tai_ns)
{
	return (tai_ns - tsn_tai_ahead() - loaded_wall_ns) * 1000;
}

/* On CLOCK_REALTIME, had nobody steered it since. */
s64 tsn_wall_ns(s64 ps)
{
	return loaded_wall_ns + div_s64(ps, 1000);
}

s64 tsn_from_wall_ns(s64 ns)
{
	return (ns - loaded_wall_ns) * 1000;
}

void tsn_arm(struct hrtimer *timer, s64 at_ps)
{
	s64 ahead = at_ps - tsn_now();

	hrtimer_start(timer, ns_to_ktime(ahead > 0 ? div_s64(ahead + 999, 1000) : 0), HRTIMER_MODE_REL_SOFT);
}
