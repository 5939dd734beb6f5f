// SPDX-License-Identifier: GPL-2.0
/*
 * Captures at the wire itself, as files of pcap with ns: out, the first bit of the preamble; in, the last bit.
 *
 * In true time (start: 1), or by the clock of the port, in its ticks (2).
 * They cost no process, and their stamps are those of the wire, not those of a process that reads them later.
 */

#include <linux/vmalloc.h>

#include "capture.h"
#include "clock.h"
#include "time.h"

#define PAGES (128u << 20 >> PAGE_SHIFT)	/* at most, of one capture */
#define SNAP 128u				/* octets of a frame that are kept: plan/frames.py */

struct file_header {
	u32 magic;
	u16 major, minor;
	u32 zone, accuracy, snap, link;
} __packed;

struct frame_header {
	u32 seconds, nanoseconds, kept, octets;
} __packed;

static void put(struct tsn_capture *capture, const void *from, u32 octets)
{
	while (octets) {
		u32 inside = offset_in_page(capture->octets);
		u32 part = min_t(u32, octets, PAGE_SIZE - inside);

		memcpy(page_address(capture->pages[capture->octets >> PAGE_SHIFT]) + inside, from, part);
		from += part;
		octets -= part;
		capture->octets += part;
	}
}

/* Whether there is memory for so much more. */
static bool room(struct tsn_capture *capture, u32 octets)
{
	u64 first = capture->octets >> PAGE_SHIFT, last = (capture->octets + octets - 1) >> PAGE_SHIFT;

	for (; first <= last; first++) {
		if (first >= PAGES)
			return false;
		if (!capture->pages[first])
			capture->pages[first] = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
		if (!capture->pages[first])
			return false;
	}
	return true;
}

void tsn_capture_write(struct tsn_capture *capture, struct tsn_clock *clock, const struct sk_buff *skb, s64 at_ps)
{
	struct frame_header header;
	u8 start[SNAP];
	s64 wall_ns;
	s32 rest;

	if (!READ_ONCE(capture->pages))
		return;
	if (capture->shown)
		wall_ns = tsn_clock_stamp(clock, at_ps) - tsn_tai_ahead();
	else
		wall_ns = tsn_wall_ns(at_ps);
	header.seconds = div_s64_rem(wall_ns, NSEC_PER_SEC, &rest);
	header.nanoseconds = rest;
	header.kept = min(skb->len, SNAP);
	/* The check sequence is on the wire, but not in what is captured of it, as everywhere. */
	header.octets = skb->len;
	if (skb_copy_bits(skb, 0, start, header.kept))
		return;
	spin_lock_bh(&capture->lock);
	if (room(capture, sizeof(header) + header.kept)) {
		put(capture, &header, sizeof(header));
		put(capture, start, header.kept);
		capture->frames++;
	} else {
		capture->lost++;
	}
	spin_unlock_bh(&capture->lock);
}

static int start_get(void *data, u64 *value)
{
	*value = !!((struct tsn_capture *)data)->pages;
	return 0;
}

static int start_set(void *data, u64 value)
{
	const struct file_header header = { 0xa1b23c4d, 2, 4, 0, 0, SNAP, 1 };
	struct tsn_capture *capture = data;
	struct page **pages;

	if (!value || capture->pages)
		return value ? 0 : -EINVAL;
	pages = vzalloc(array_size(PAGES, sizeof(*pages)));
	if (!pages)
		return -ENOMEM;
	spin_lock_bh(&capture->lock);
	capture->shown = value > 1;
	capture->pages = pages;
	if (room(capture, sizeof(header)))
		put(capture, &header, sizeof(header));
	spin_unlock_bh(&capture->lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(start_file, start_get, start_set, "%llu\n");

static ssize_t read(struct file *file, char __user *to, size_t octets, loff_t *from)
{
	struct tsn_capture *capture = file->private_data;
	u64 whole = READ_ONCE(capture->octets);
	u32 inside = offset_in_page(*from);

	if (*from < 0 || *from >= whole)
		return 0;
	octets = min3(octets, (size_t)(whole - *from), (size_t)(PAGE_SIZE - inside));
	if (copy_to_user(to, page_address(capture->pages[*from >> PAGE_SHIFT]) + inside, octets))
		return -EFAULT;
	*from += octets;
	return octets;
}

static const struct file_operations pcap_file = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = read,
	.llseek = default_llseek,
};

void tsn_capture_folder(struct tsn_capture *capture, const char *name, struct dentry *above)
{
	struct dentry *folder = debugfs_create_dir(name, above);

	debugfs_create_file_unsafe("start", 0600, folder, capture, &start_file);
	debugfs_create_file("pcap", 0400, folder, capture, &pcap_file);
	debugfs_create_u64("frames", 0400, folder, &capture->frames);
	debugfs_create_u64("lost", 0400, folder, &capture->lost);
}

void tsn_capture_prepare(struct tsn_capture *capture)
{
	spin_lock_init(&capture->lock);
}

void tsn_capture_free(struct tsn_capture *capture)
{
	u32 page;

	for (page = 0; capture->pages && page < PAGES && capture->pages[page]; page++)
		__free_page(capture->pages[page]);
	vfree(capture->pages);
}
