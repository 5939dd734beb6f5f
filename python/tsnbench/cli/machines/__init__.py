"""Commands for the machines of a run: this one, hosts of a lab, and network devices."""
