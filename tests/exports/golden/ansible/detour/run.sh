#!/bin/sh
# run.sh EPOCH: captures, then the talker. EPOCH is the Plan's zero in ns of CLOCK_TAI.
epoch=${1:?expected the zero of the Plan in ns of CLOCK_TAI}
now() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_TAI))'; }
captures=
trap 'kill $captures 2> /dev/null; wait' EXIT
[ "$(now)" -lt "$epoch" ] || { echo "the zero of the Plan has passed" >&2; exit 1; }
sleep $(( (epoch + 120000000 - $(now)) / 1000000000 + 3 ))
