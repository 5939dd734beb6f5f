"""Every case, in the order of the page."""

from twin.case import Case
from twin.cases import faults, gates, hops, hosts, priority, shaped

CASES: tuple[Case, ...] = (
    *priority.CASES,
    *gates.CASES,
    *shaped.CASES,
    *hops.CASES,
    *hosts.CASES,
    *faults.CASES,
)
