// SPDX-License-Identifier: GPL-2.0
/*
 * What goes wrong at a port and on the wire behind it, from when to when; known beforehand, so no moment is missed.
 *
 *   echo "0 loss FROM UNTIL SEED STREAM SHARE" > /sys/kernel/debug/tsnport/p0/faults
 *
 * One line per fault: the number under which it is counted, its kind, wall time in ns (until: exclusive), and what
 * its draws are named by. They are the simulator's: ChaCha8 with the seed as its key. Shares are in parts per million.
 *
 *   cut                                 nothing arrives that is on the wire then
 *   down                                the same, and what waits in the port is lost
 *   loss SHARE                          frames, each by itself
 *   bursts TO_BAD TO_GOOD GOOD BAD      Gilbert and Elliott: chances of the states, shares lost in them
 *   bits SPARED                         bit errors: how likely an octet has none, of 2^64
 *   delay LEAST MORE SHARE ORDER SCALE  ns, uniform up to so many more; whether nothing overtakes; times so much
 *   double SHARE AFTER                  frames come twice, so many ns apart
 */

#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "impairment.h"
#include "port.h"
#include "time.h"

#define WHOLE 1000000ull
#define MOST 64
#define WORDS 5

enum kind { CUT, DOWN, LOSS, BURSTS, BITS, DELAY, DOUBLE };
static const char *const KINDS[] = { "cut", "down", "loss", "bursts", "bits", "delay", "double" };

struct draws {
	u64 seed, stream, block;
	u32 words[16];
	unsigned int used;
};

struct fault {
	unsigned int number;
	enum kind kind;
	s64 from_ps, until_ps;
	u64 word[WORDS];
	struct draws draws;
	bool bad;
	u64 affected;
};

struct tsn_impairments {
	unsigned int count;
	u64 lost;
	s64 latest_ps;	/* last bit of the last frame, where a delay keeps order */
	struct fault fault[MOST];
};

static void quarter(u32 *x, int a, int b, int c, int d)
{
	x[a] += x[b];
	x[d] = rol32(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = rol32(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = rol32(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = rol32(x[b] ^ x[c], 7);
}

/* ChaCha of 8 rounds: Bernstein 2008. */
static u64 draw(struct draws *draws)
{
	u64 low, high;

	if (!draws->used) {
		u32 begin[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, (u32)draws->seed,
				  draws->seed >> 32 };
		u32 *x = draws->words;
		int round;

		begin[12] = draws->block;
		begin[13] = draws->block >> 32;
		begin[14] = draws->stream;
		begin[15] = draws->stream >> 32;
		memcpy(x, begin, sizeof(begin));
		for (round = 0; round < 8; round += 2) {
			quarter(x, 0, 4, 8, 12);
			quarter(x, 1, 5, 9, 13);
			quarter(x, 2, 6, 10, 14);
			quarter(x, 3, 7, 11, 15);
			quarter(x, 0, 5, 10, 15);
			quarter(x, 1, 6, 11, 12);
			quarter(x, 2, 7, 8, 13);
			quarter(x, 3, 4, 9, 14);
		}
		for (round = 0; round < 16; round++)
			x[round] += begin[round];
		draws->block++;
	}
	low = draws->words[draws->used];
	high = draws->words[draws->used + 1];
	draws->used = (draws->used + 2) % 16;
	return high << 32 | low;
}

static u64 below(struct draws *draws, u64 bound)
{
	return mul_u64_u64_shr(draw(draws), bound, 64);
}

static bool chance(struct fault *fault, u64 ppm)
{
	return below(&fault->draws, WHOLE) < ppm;
}

/* Whether one of so many octets has an error. */
static bool broken(struct fault *fault, u32 octets)
{
	u64 spared = U64_MAX, octet = fault->word[0];

	for (; octets; octets >>= 1) {
		if (octets & 1)
			spared = mul_u64_u64_shr(spared, octet, 64);
		octet = mul_u64_u64_shr(octet, octet, 64);
	}
	return draw(&fault->draws) >> 11 >= spared >> 11;
}

static bool loses(struct fault *fault, u32 octets)
{
	switch (fault->kind) {
	case LOSS:
		return chance(fault, fault->word[0]);
	case BURSTS:
		fault->bad ^= chance(fault, fault->word[fault->bad]);
		return chance(fault, fault->word[2 + fault->bad]);
	default:
		return broken(fault, octets);
	}
}

/* Whether a port's node is down at any time between two moments, both included. */
bool tsn_impair_node_down(const struct tsn_port *port, s64 from_ps, s64 until_ps)
{
	const struct tsn_impairments *impairments = READ_ONCE(port->impairments);
	unsigned int place;

	for (place = 0; impairments && place < impairments->count; place++) {
		const struct fault *one = &impairments->fault[place];

		if (one->kind == DOWN && one->from_ps <= until_ps && from_ps < one->until_ps)
			return true;
	}
	return false;
}

/* When a port's node next goes down. */
s64 tsn_impair_next_down(const struct tsn_port *port, s64 after_ps)
{
	const struct tsn_impairments *impairments = port->impairments;
	s64 next = TSN_NEVER;
	unsigned int place;

	for (place = 0; impairments && place < impairments->count; place++)
		if (impairments->fault[place].kind == DOWN && impairments->fault[place].from_ps > after_ps)
			next = min(next, impairments->fault[place].from_ps);
	return next;
}

/* A frame that waited is lost when its node goes down. The port is locked. */
void tsn_impair_flushed(struct tsn_port *port, s64 from_ps, s64 until_ps)
{
	struct tsn_impairments *impairments = port->impairments;
	unsigned int place;

	impairments->lost++;
	for (place = 0; place < impairments->count; place++) {
		struct fault *one = &impairments->fault[place];

		if (one->kind == DOWN && one->from_ps <= until_ps && from_ps < one->until_ps) {
			one->affected++;
			return;
		}
	}
}

/* Whether so much of a frame came in before a cut that its receiver knows that there was one. */
static bool begun(const struct tsn_port *port, s64 first_in_ps, s64 cut_ps)
{
	u64 octets;

	if (first_in_ps >= cut_ps)
		return false;
	octets = mul_u64_u64_div_u64(cut_ps - first_in_ps, port->rate_bps, PSEC_PER_SEC) / 8;
	return octets > TSN_PREAMBLE;
}

/*
 * What becomes of a frame on the wire: whether it arrives, how much later than it should, and how much later once more
 * (TSN_NEVER: not). The port is locked. Every fault draws for every frame of its time, so that none changes another's
 * draws.
 */
bool tsn_impair_frame(struct tsn_port *port, s64 begin_ps, s64 end_ps, u32 octets, s64 *late_ps, s64 *again_ps)
{
	struct tsn_impairments *impairments = port->impairments;
	s64 first_in_ps = begin_ps + port->delay_ps, last_in_ps = end_ps + port->delay_ps;
	bool lost = false, damaged = false, keeps_order = false;
	unsigned int place;

	*late_ps = 0;
	*again_ps = TSN_NEVER;
	if (!impairments)
		return true;
	for (place = 0; place < impairments->count; place++) {
		struct fault *one = &impairments->fault[place];

		if (one->kind > DOWN || begin_ps >= one->until_ps || last_in_ps < one->from_ps)
			continue;
		one->affected++;
		if (begun(port, first_in_ps, one->from_ps))
			damaged = true;
		else
			lost = true;
	}
	for (place = 0; place < impairments->count; place++) {
		struct fault *one = &impairments->fault[place];

		if (one->kind < LOSS || one->kind > BITS || begin_ps < one->from_ps || begin_ps >= one->until_ps)
			continue;
		if (loses(one, octets)) {
			one->affected++;
			if (one->kind == BITS)
				damaged = true;
			else
				lost = true;
		}
	}
	for (place = 0; place < impairments->count; place++) {
		struct fault *one = &impairments->fault[place];
		bool held;
		u64 more;

		if (one->kind != DELAY)
			continue;
		keeps_order |= one->word[3];
		if (begin_ps < one->from_ps || begin_ps >= one->until_ps)
			continue;
		held = one->word[2] >= WHOLE || chance(one, one->word[2]);
		more = one->word[1] ? below(&one->draws, one->word[1] * 1000 + 1) : 0;
		if (held) {
			one->affected++;
			*late_ps += (one->word[0] * 1000 + more) * one->word[4];
		}
	}
	for (place = 0; place < impairments->count; place++) {
		struct fault *one = &impairments->fault[place];

		if (one->kind != DOUBLE || begin_ps < one->from_ps || begin_ps >= one->until_ps)
			continue;
		if (chance(one, one->word[0]) && *again_ps == TSN_NEVER && !lost && !damaged) {
			one->affected++;
			*again_ps = one->word[1] * 1000;
		}
	}
	if (keeps_order && !lost) {
		s64 arrival_ps = last_in_ps + *late_ps;

		if (impairments->latest_ps)
			arrival_ps = max(arrival_ps, impairments->latest_ps +
						     tsn_duration(port, TSN_PREAMBLE + octets + TSN_GAP));
		impairments->latest_ps = arrival_ps;
		*late_ps = arrival_ps - last_in_ps;
	}
	if (lost || damaged)
		impairments->lost++;
	return !lost && !damaged;
}

void tsn_impair_lost(struct tsn_port *port)
{
	if (port->impairments)
		port->impairments->lost++;
}

static int add(struct tsn_port *port, const char *text)
{
	struct fault new = {};
	struct tsn_impairments *impairments;
	char kind[16];
	s64 from_ns, until_ns;
	int found, error = 0;

	found = sscanf(text, "%u %15s %lld %lld %llu %llu %llu %llu %llu %llu %llu", &new.number, kind, &from_ns,
		       &until_ns, &new.draws.seed, &new.draws.stream, &new.word[0], &new.word[1], &new.word[2],
		       &new.word[3], &new.word[4]);
	if (found < 6)
		return -EINVAL;
	found = match_string(KINDS, ARRAY_SIZE(KINDS), kind);
	if (found < 0)
		return found;
	new.kind = found;
	new.from_ps = tsn_from_wall_ns(from_ns);
	new.until_ps = tsn_from_wall_ns(until_ns);
	impairments = port->impairments ?: kzalloc(sizeof(*impairments), GFP_KERNEL);
	if (!impairments)
		return -ENOMEM;
	spin_lock_bh(&port->lock);
	if (impairments->count < MOST) {
		impairments->fault[impairments->count] = new;
		smp_store_release(&impairments->count, impairments->count + 1);
	} else {
		error = -ENOSPC;
	}
	WRITE_ONCE(port->impairments, impairments);
	spin_unlock_bh(&port->lock);
	return error;
}

static ssize_t write(struct file *file, const char __user *from, size_t octets, loff_t *at)
{
	char text[256];
	int error;

	if (octets >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, octets))
		return -EFAULT;
	text[octets] = 0;
	error = add(((struct seq_file *)file->private_data)->private, text);
	return error ?: octets;
}

/* Frames that were lost; then per line that was written its number, and in the way of how many frames it was. */
static int show(struct seq_file *file, void *unused)
{
	struct tsn_port *port = file->private;
	unsigned int place;

	spin_lock_bh(&port->lock);
	seq_printf(file, "%llu\n", port->impairments ? port->impairments->lost : 0);
	for (place = 0; port->impairments && place < port->impairments->count; place++)
		seq_printf(file, "%u %llu\n", port->impairments->fault[place].number, port->impairments->fault[place].affected);
	spin_unlock_bh(&port->lock);
	return 0;
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, inode->i_private);
}

static const struct file_operations faults_file = {
	.owner = THIS_MODULE,
	.open = open,
	.read = seq_read,
	.write = write,
	.llseek = seq_lseek,
	.release = single_release,
};

void tsn_impair_folder(struct tsn_port *port)
{
	debugfs_create_file("faults", 0600, port->folder, port, &faults_file);
}
