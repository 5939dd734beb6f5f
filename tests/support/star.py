"""Small scenarios: a star with two talkers, and two bridges with faults."""

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
FAULTY = """
name: faulty
duration: 200 ms
network:
  stations: [talker, other, one, two, three]
  bridges: [left, right]
  links:
    rate: 100 Mbit/s
    cable: 5 m
    between: [talker -- left, other -- left, left -- right, right -- one, right -- two, left -- three]
streams:
  group: {from: talker, to: [one, two], pcp: 6, period: 1 ms, offset: 500 us, payload: 100 B}
  plain: {from: other, to: three, pcp: 0, period: 2 ms, offset: 700 us, payload: 400 B}
faults: [FAULTS]
taps: [left -> right]
"""
DOWN = "{down: left -> right, at: 40 ms, for: 20 ms}"
CABLES = (
    "{loss: 100 %, on: talker -> left, at: 100 ms, for: 10 ms}, "
    "{delay: 500 us, on: other -> left, at: 50 ms, for: 50 ms}, "
    "{duplicate: 100 %, after: 0 ns, on: other -> left, at: 150 ms, for: 20 ms}"
)
