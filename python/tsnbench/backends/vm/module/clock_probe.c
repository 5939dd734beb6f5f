// SPDX-License-Identifier: GPL-2.0
/*
 * What nobody in the network knows of a clock: it is told at which moment to show, run or jump what, and notes
 * how far it was from true time. All moments are TAI in ns, had nobody steered the system's clock.
 *
 *   echo "show MOMENT NS" > clock-N/commands  (runs on from there as fast as it does now)
 *   echo "error MOMENT PPT" > clock-N/commands  (parts of 10^12 by which its oscillator is fast)
 *   echo "step MOMENT NS" > clock-N/commands
 *   echo "sample MOMENT EVERY-NS COUNT" > clock-N/commands; cat clock-N/samples  (ps ahead of true time)
 *
 * What is told late counts from its moment all the same, unless the clock was steered in between.
 */

#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "clock.h"
#include "time.h"

#define MOST_PPT 1000000000	/* 1000 ppm */
#define MOST_SAMPLES (4u << 20)

static int sample(struct tsn_clock *clock, s64 from_ns, s64 every_ns, s64 count)
{
	unsigned long flags;
	s64 *room;

	if (every_ns < 1 || count < 1 || count > MOST_SAMPLES || clock->samples.error_ps)
		return -EINVAL;
	room = vzalloc(array_size(count, sizeof(*room)));
	if (!room)
		return -ENOMEM;
	spin_lock_irqsave(&clock->lock, flags);
	clock->samples = (struct tsn_samples){ .error_ps = room, .next_ns = from_ns, .every_ns = every_ns, .count = count };
	spin_unlock_irqrestore(&clock->lock, flags);
	return 0;
}

/* At a moment, or if its line began later, there. */
static void bend(struct tsn_clock *clock, s64 at_ps)
{
	if (at_ps < clock->from_ps && clock->from_ps <= tsn_now())
		at_ps = clock->from_ps;
	tsn_clock_rebase(clock, at_ps);
}

static int change(struct tsn_clock *clock, const char *what, s64 at_ps, s64 value)
{
	unsigned long flags;
	int failed = 0;

	spin_lock_irqsave(&clock->lock, flags);
	if (!strcmp(what, "show")) {
		bend(clock, at_ps);
		clock->from_ps = at_ps;
		clock->ns = value;
		clock->ps = 0;
	} else if (!strcmp(what, "step")) {
		bend(clock, at_ps);
		clock->ns += value;
	} else if (!strcmp(what, "error") && abs(value) <= MOST_PPT) {
		bend(clock, at_ps);
		/* In 2^-48, as near as that is; 10^12 is 2^12 times 5^12. */
		clock->error = div64_s64(value << 33, 244140625) << 3;
		clock->error_ppb = div_s64(value, 1000);
		tsn_clock_rebase(clock, clock->from_ps);
	} else {
		failed = -EINVAL;
	}
	spin_unlock_irqrestore(&clock->lock, flags);
	if (!failed)
		clock->changed(clock);
	return failed;
}

static ssize_t command(struct file *file, const char __user *from, size_t octets, loff_t *at)
{
	struct tsn_clock *clock = file->private_data;
	char line[96] = {}, what[16];
	s64 moment_ns, value, count;
	int words, failed;

	if (octets >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, octets))
		return -EFAULT;
	words = sscanf(line, "%15s %lld %lld %lld", what, &moment_ns, &value, &count);
	if (words == 4 && !strcmp(what, "sample"))
		failed = sample(clock, moment_ns, value, count);
	else if (words == 3)
		failed = change(clock, what, tsn_moment(moment_ns), value);
	else
		failed = -EINVAL;
	return failed ? failed : octets;
}

static const struct file_operations commands_file = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = command,
	.llseek = noop_llseek,
};

static int samples_show(struct seq_file *file, void *unused)
{
	struct tsn_clock *clock = file->private;
	unsigned long flags;
	u32 place;

	spin_lock_irqsave(&clock->lock, flags);
	tsn_clock_sample(clock, tsn_now());
	spin_unlock_irqrestore(&clock->lock, flags);
	for (place = 0; place < clock->samples.filled; place++)
		seq_printf(file, "%lld\n", clock->samples.error_ps[place]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(samples);

void tsn_probe_folder(struct tsn_clock *clock)
{
	debugfs_create_file("commands", 0200, clock->folder, clock, &commands_file);
	debugfs_create_file("samples", 0400, clock->folder, clock, &samples_fops);
}
