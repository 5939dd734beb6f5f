"""Two talkers, one bridge; ``SHAPER`` stands for the shaping of the last port."""

STAR = """
name: star
duration: 20 ms
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: 100 Mbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, payload: 100 B}
  files: {from: disk, to: robot, pcp: 0, period: 200 us, payload: 1000 B}
shapers:
  switch -> robot: SHAPER
"""
GATES = """
    queues: {classes: {6: 1, 0: 0}}
    gates: {cycle: 1 ms, entries: [{open: [6], for: 200 us}, {open: [0], for: 800 us}]}
"""
