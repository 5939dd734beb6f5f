#!/bin/sh
saved=${1:?expected the folder that tuning.sh filled}
# interrupts of eth1 on isolated cores
if [ -e "$saved/5" ]; then while read -r irq mask; do echo "$mask" > "/proc/irq/$irq/smp_affinity"; done < "$saved/5"; fi
# no throttling of real-time threads
if [ -e "$saved/4" ]; then echo "$(cat "$saved/4")" > /proc/sys/kernel/sched_rt_runtime_us; fi
# a core of one's own
if [ -e "$saved/3" ]; then echo "$(cat "$saved/3")" > /sys/devices/system/cpu/smt/control; fi
# no frequencies above nominal
if [ -e "$saved/2" ]; then echo "$(cat "$saved/2")" > /sys/devices/system/cpu/intel_pstate/no_turbo; fi
# frequencies that do not follow the load
if [ -e "$saved/1" ]; then while IFS=: read -r file value; do echo "$value" > "$file"; done < "$saved/1"; fi
