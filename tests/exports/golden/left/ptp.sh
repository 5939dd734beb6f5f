#!/bin/sh
# The kernel's CLOCK_TAI is CLOCK_REALTIME and the offset that ptp4l has learned.
ptp4l -f ptp4l.conf -m &
phc2sys -f phc2sys.conf -a -rr -m &
wait
