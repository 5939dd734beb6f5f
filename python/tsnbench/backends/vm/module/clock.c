// SPDX-License-Identifier: GPL-2.0
/* What a clock shows at which moment: an oscillator with a true error, and what its user adjusts. */

#include <linux/random.h>

#include "clock.h"
#include "time.h"

#define ONE 48	/* rates are counted in 2^-48 */
#define FARTHEST_NS (8LL * 1000 * 1000 * NSEC_PER_SEC)

static s64 scaled(s64 value, s64 rate)
{
	u64 part = mul_u64_u64_shr(abs(value), abs(rate), ONE);

	return (value < 0) != (rate < 0) ? -(s64)part : (s64)part;
}

static s64 floor_div(s64 value, s64 by, s64 *rest)
{
	s64 whole = div64_s64(value, by);

	*rest = value - whole * by;
	if (*rest < 0) {
		*rest += by;
		whole--;
	}
	return whole;
}

/* Its lock is held. */
static void show(const struct tsn_clock *clock, s64 at_ps, s64 *ns, s64 *ps)
{
	s64 passed = at_ps - clock->from_ps;

	*ns = clock->ns + floor_div(clock->ps + passed + scaled(passed, clock->rate), 1000, ps);
}

/* All that was to be noted up to a moment, by the line until then; its lock is held. */
void tsn_clock_sample(struct tsn_clock *clock, s64 until_ps)
{
	struct tsn_samples *samples = &clock->samples;

	while (samples->error_ps && samples->filled < samples->count) {
		s64 at_ps = tsn_moment(samples->next_ns), ns, ps;

		if (at_ps > until_ps)
			break;
		show(clock, at_ps, &ns, &ps);
		samples->error_ps[samples->filled++] = (ns - samples->next_ns) * 1000 + ps;
		samples->next_ns += samples->every_ns;
	}
}

/* From a moment on by other numbers; without a jump. Its lock is held. */
void tsn_clock_rebase(struct tsn_clock *clock, s64 now_ps)
{
	s64 ns, ps;

	tsn_clock_sample(clock, now_ps);
	show(clock, now_ps, &ns, &ps);
	clock->from_ps = now_ps;
	clock->ns = ns;
	clock->ps = ps;
	clock->rate = clock->error + clock->adjusted + scaled(clock->error, clock->adjusted);
}

/* What the clock shows at a moment, to the ps. */
void tsn_clock_show(struct tsn_clock *clock, s64 at_ps, s64 *ns, s64 *ps)
{
	unsigned long flags;

	spin_lock_irqsave(&clock->lock, flags);
	show(clock, at_ps, ns, ps);
	spin_unlock_irqrestore(&clock->lock, flags);
}

/* What can be read of it: whole ticks. */
s64 tsn_clock_stamp(struct tsn_clock *clock, s64 at_ps)
{
	s64 ns, ps, rest;

	tsn_clock_show(clock, at_ps, &ns, &ps);
	floor_div(ns, READ_ONCE(clock->granularity_ns), &rest);
	return ns - rest;
}

/* What a PTP message is stamped with. */
s64 tsn_clock_stamp_ptp(struct tsn_clock *clock, s64 at_ps)
{
	u32 jitter_ns = READ_ONCE(clock->jitter_ns);

	return tsn_clock_stamp(clock, at_ps + (jitter_ns ? get_random_u32_below(jitter_ns * 1000 + 1) : 0));
}

/* The moment at which it shows so many ns. */
s64 tsn_clock_when(struct tsn_clock *clock, s64 wanted_ns)
{
	s64 rate, slower, ahead, at_ps, ns, ps;
	unsigned long flags;

	spin_lock_irqsave(&clock->lock, flags);
	ahead = wanted_ns - clock->ns;
	if (abs(ahead) > FARTHEST_NS) {
		spin_unlock_irqrestore(&clock->lock, flags);
		return ahead > 0 ? TSN_NEVER : 0;
	}
	ahead = ahead * 1000 - clock->ps;
	rate = clock->rate;
	/* 1 - 1 / (1 + rate), as far as it counts. */
	slower = rate - scaled(rate, rate) + scaled(scaled(rate, rate), rate);
	at_ps = clock->from_ps + ahead - scaled(ahead, slower);
	show(clock, at_ps, &ns, &ps);
	/* It must not show less by the last ps. */
	if (ns < wanted_ns)
		at_ps += (wanted_ns - ns) * 1000 - ps;
	spin_unlock_irqrestore(&clock->lock, flags);
	return at_ps;
}

/* How long the clock finds what truly takes so long. */
s64 tsn_clock_span(struct tsn_clock *clock, s64 ps)
{
	return ps + scaled(ps, READ_ONCE(clock->rate));
}
