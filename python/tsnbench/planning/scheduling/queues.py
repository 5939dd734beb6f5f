"""Queues of scheduled streams: one for each priority that they have, or may be given.

While a frame waits in a queue, no other scheduled frame passes it: more queues let more of them wait.
IEEE 802.1Q-2022, 8.6.6.
"""

from __future__ import annotations

from collections.abc import Iterable

from tsnbench.planning.draft import Draft, Flow


def queues_of(draft: Draft, flows: Iterable[Flow]) -> list[int]:
    """Each queue's PCP: those that the scenario offers, or those that streams have, the highest first."""
    return queues_beside(draft, flows, ())


def queues_beside(draft: Draft, flows: Iterable[Flow], pcps: Iterable[int]) -> list[int]:
    """The queues of these flows and of others that have these PCPs."""
    offered = draft.scenario.schedule.pcps
    return list(offered) or sorted({*pcps, *(flow.stream.pcp for flow in flows)}, reverse=True)


def give_queue(draft: Draft, flow: Flow, pcp: int) -> None:
    """Gives its frames the PCP of their queue."""
    if flow.stream.pcp == pcp:
        return
    if flow.stream.vid is None:
        hint = "give it a VLAN, or leave it out of the scheduled streams"
        draft.problem(f"streams.{flow.group}", "a tagged stream, where PCPs are planned", "vlan: none", hint)
        return
    flow.stream = flow.stream.model_copy(update={"pcp": pcp})
