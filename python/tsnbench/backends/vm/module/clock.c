// SPDX-License-Identifier: GPL-2.0
/* PTP hardware clocks: an oscillator with a true error, steered by the process that has the device open. */

#include <linux/random.h>
#include <linux/vmalloc.h>

#include "tsnport.h"

#define ONE 48	/* rates are counted in 2^-48 */
#define MOST_PPB 10000000	/* beyond this the arithmetic ends */
#define FARTHEST_NS (8LL * 1000 * 1000 * NSEC_PER_SEC)

static LIST_HEAD(clocks);

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
void tsn_clock_show_locked(const struct tsn_clock *clock, s64 at_ps, s64 *ns, s64 *ps)
{
	s64 passed = at_ps - clock->from_ps;

	*ns = clock->ns + floor_div(clock->ps + passed + scaled(passed, clock->rate), 1000, ps);
}

/* From a moment on by other numbers; without a jump. Its lock is held. */
void tsn_clock_rebase(struct tsn_clock *clock, s64 now_ps)
{
	s64 ns, ps;

	tsn_probe_sample(clock, now_ps);
	tsn_clock_show_locked(clock, now_ps, &ns, &ps);
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
	tsn_clock_show_locked(clock, at_ps, ns, ps);
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
	tsn_clock_show_locked(clock, at_ps, &ns, &ps);
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

static struct tsn_clock *of(struct ptp_clock_info *info)
{
	return container_of(info, struct tsn_clock, info);
}

static int adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct tsn_clock *clock = of(info);
	unsigned long flags;

	spin_lock_irqsave(&clock->lock, flags);
	/* 2^-16 ppm. */
	clock->adjusted = div_s64((s64)scaled_ppm << 32, 1000000);
	tsn_clock_rebase(clock, tsn_now());
	spin_unlock_irqrestore(&clock->lock, flags);
	tsn_clock_changed(clock);
	return 0;
}

static int adjtime(struct ptp_clock_info *info, s64 by_ns)
{
	struct tsn_clock *clock = of(info);
	unsigned long flags;

	spin_lock_irqsave(&clock->lock, flags);
	tsn_clock_rebase(clock, tsn_now());
	clock->ns += by_ns;
	spin_unlock_irqrestore(&clock->lock, flags);
	tsn_clock_changed(clock);
	return 0;
}

static int gettimex(struct ptp_clock_info *info, struct timespec64 *shown, struct ptp_system_timestamp *system)
{
	s64 now_ps;

	ptp_read_system_prets(system);
	now_ps = tsn_now();
	ptp_read_system_postts(system);
	*shown = ns_to_timespec64(tsn_clock_stamp(of(info), now_ps));
	return 0;
}

static int settime(struct ptp_clock_info *info, const struct timespec64 *to)
{
	struct tsn_clock *clock = of(info);
	unsigned long flags;

	spin_lock_irqsave(&clock->lock, flags);
	tsn_clock_rebase(clock, tsn_now());
	clock->ns = timespec64_to_ns(to);
	clock->ps = 0;
	spin_unlock_irqrestore(&clock->lock, flags);
	tsn_clock_changed(clock);
	return 0;
}

static const struct ptp_clock_info operations = {
	.owner = THIS_MODULE,
	.name = "tsnport",
	.max_adj = MOST_PPB,
	.adjfine = adjfine,
	.adjtime = adjtime,
	.gettimex64 = gettimex,
	.settime64 = settime,
};

/* What a test may do to a clock behind its users' backs. */
static int error_get(void *data, u64 *value)
{
	*value = (s64)((struct tsn_clock *)data)->error_ppb;
	return 0;
}

static int error_set(void *data, u64 value)
{
	struct tsn_clock *clock = data;
	unsigned long flags;

	if (abs((s64)value) > MOST_PPB)
		return -ERANGE;
	spin_lock_irqsave(&clock->lock, flags);
	clock->error_ppb = value;
	clock->error = div_s64((s64)value << 39, 1000000000) << 9;
	tsn_clock_rebase(clock, tsn_now());
	spin_unlock_irqrestore(&clock->lock, flags);
	tsn_clock_changed(clock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(error_file, error_get, error_set, "%lld\n");

static int step_set(void *data, u64 value)
{
	return adjtime(&((struct tsn_clock *)data)->info, (s64)value);
}
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(step_file, NULL, step_set, "%lld\n");

static int granularity_get(void *data, u64 *value)
{
	*value = ((struct tsn_clock *)data)->granularity_ns;
	return 0;
}

static int granularity_set(void *data, u64 value)
{
	if (value < 1 || value > 1000000)
		return -ERANGE;
	WRITE_ONCE(((struct tsn_clock *)data)->granularity_ns, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(granularity_file, granularity_get, granularity_set, "%llu\n");

static int jitter_get(void *data, u64 *value)
{
	*value = ((struct tsn_clock *)data)->jitter_ns;
	return 0;
}

static int jitter_set(void *data, u64 value)
{
	if (value > 1000000)
		return -ERANGE;
	WRITE_ONCE(((struct tsn_clock *)data)->jitter_ns, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(jitter_file, jitter_get, jitter_set, "%llu\n");

static int index_get(void *data, u64 *value)
{
	*value = ptp_clock_index(((struct tsn_clock *)data)->ptp);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(index_file, index_get, NULL, "%llu\n");

/* The clock of this label, on a card of its own; made when it is asked for first. It starts with the system's TAI. */
struct tsn_clock *tsn_clock_get(const char *label)
{
	char name[TSN_LABEL + 8];
	struct tsn_clock *clock;
	long error;

	list_for_each_entry(clock, &clocks, list)
		if (!strcmp(clock->label, label))
			return clock;
	clock = kzalloc(sizeof(*clock), GFP_KERNEL);
	if (!clock)
		return ERR_PTR(-ENOMEM);
	strscpy(clock->label, label, sizeof(clock->label));
	spin_lock_init(&clock->lock);
	clock->granularity_ns = 1;
	clock->from_ps = tsn_now();
	clock->ns = tsn_wall_ns(clock->from_ps) + tsn_tai_ahead();
	clock->ps = clock->from_ps % 1000;
	clock->info = operations;
	clock->card = platform_device_register_simple("tsnport", PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(clock->card)) {
		error = PTR_ERR(clock->card);
		goto failed;
	}
	clock->ptp = ptp_clock_register(&clock->info, &clock->card->dev);
	if (IS_ERR_OR_NULL(clock->ptp)) {
		error = clock->ptp ? PTR_ERR(clock->ptp) : -EOPNOTSUPP;
		platform_device_unregister(clock->card);
		goto failed;
	}
	snprintf(name, sizeof(name), "clock-%s", label);
	clock->folder = debugfs_create_dir(name, tsn_folder);
	debugfs_create_file_unsafe("error_ppb", 0600, clock->folder, clock, &error_file);
	debugfs_create_file_unsafe("step_ns", 0200, clock->folder, clock, &step_file);
	debugfs_create_file_unsafe("granularity_ns", 0600, clock->folder, clock, &granularity_file);
	debugfs_create_file_unsafe("jitter_ns", 0600, clock->folder, clock, &jitter_file);
	debugfs_create_file_unsafe("index", 0400, clock->folder, clock, &index_file);
	tsn_probe_folder(clock);
	list_add_tail(&clock->list, &clocks);
	return clock;
failed:
	kfree(clock);
	return ERR_PTR(error);
}

/* All of them; no port has one any more. */
void tsn_clocks_put(void)
{
	struct tsn_clock *clock, *next;

	list_for_each_entry_safe(clock, next, &clocks, list) {
		debugfs_remove(clock->folder);
		ptp_clock_unregister(clock->ptp);
		platform_device_unregister(clock->card);
		list_del(&clock->list);
		vfree(clock->samples.error_ps);
		kfree(clock);
	}
}
