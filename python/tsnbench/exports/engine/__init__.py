"""EnGINE's experiments as scenarios: network, TSN configurations and services of one experiment.

EnGINE describes a campaign in five files (Section IV-B); three of them become a scenario.
"""
