#!/bin/sh
# run.sh EPOCH: captures, then the talker. EPOCH is the Plan's zero in ns of CLOCK_TAI.
epoch=${1:?expected the zero of the Plan in ns of CLOCK_TAI}
now() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_TAI))'; }
captures=
trap 'kill $captures 2> /dev/null; wait' EXIT
tcpdump -i eth1 -j adapter_unsynced --time-stamp-precision=nano -s 128 -U --immediate-mode -w results/eth1.pcap 2> results/eth1.txt & captures="$captures $!"
until grep -qs "listening on" results/eth1.txt; do kill -0 $! 2> /dev/null || { cat results/eth1.txt >&2; exit 1; }; sleep 0.1; done
[ "$(now)" -lt "$epoch" ] || { echo "the zero of the Plan has passed" >&2; exit 1; }
./tsnbench-traffic talk plan.json --node 0 --port 0=eth1 --epoch "$epoch" --log results/talk.txt & talker=$!
sleep $(( (epoch + 120000000 - $(now)) / 1000000000 + 3 ))
wait $talker
