#!/bin/sh
saved=${1:?expected the folder that tuning.sh filled}
# interrupts
if [ -e "$saved/5" ]; then while read -r irq mask; do echo "$mask" > "/proc/irq/$irq/smp_affinity"; done < "$saved/5" && rm "$saved/5"; fi
# throttling
if [ -e "$saved/4" ]; then echo "$(cat "$saved/4")" > /proc/sys/kernel/sched_rt_runtime_us && rm "$saved/4"; fi
# smt
if [ -e "$saved/3" ]; then echo "$(cat "$saved/3")" > /sys/devices/system/cpu/smt/control && rm "$saved/3"; fi
# turbo
if [ -e "$saved/2" ]; then echo "$(cat "$saved/2")" > /sys/devices/system/cpu/intel_pstate/no_turbo && rm "$saved/2"; fi
# governor
if [ -e "$saved/1" ]; then while IFS=: read -r file value; do echo "$value" > "$file"; done < "$saved/1" && rm "$saved/1"; fi
