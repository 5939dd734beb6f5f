// SPDX-License-Identifier: GPL-2.0
/* PTP hardware clocks: each on a card of its own, steered by the process that has the device open. */

#include <linux/module.h>
#include <linux/vmalloc.h>

#include "clock.h"
#include "time.h"

#define MOST_PPB 10000000	/* beyond this the arithmetic of rates ends */

static LIST_HEAD(clocks);

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
	clock->changed(clock);
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
	clock->changed(clock);
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
	clock->changed(clock);
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
	clock->changed(clock);
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
struct tsn_clock *tsn_clock_get(const char *label, struct dentry *above, void (*changed)(struct tsn_clock *clock))
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
	clock->changed = changed;
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
	clock->folder = debugfs_create_dir(name, above);
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
