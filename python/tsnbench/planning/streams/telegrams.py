"""TRDP telegrams of flows. IEC 61375-2-3, Annex A."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tsnbench.planning.draft import Flow
from tsnbench.planning.parts import without_none
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import TelegramKind, Trdp


class Replies(NamedTuple):
    """The answers to streams with telegrams."""

    com_ids: dict[str, int]
    """By stream the identifier of its first reply."""
    confirmed: set[str]
    """The streams whose telegrams are confirmed."""

    @classmethod
    def of(cls, scenario: model.Scenario) -> Replies:
        found = cls({}, set())
        for stream in scenario.streams.values():
            if stream.trdp is not None and stream.replies_to is not None:
                found.com_ids.setdefault(stream.replies_to, stream.trdp.com_id)
                if stream.trdp.pattern == "confirm":
                    found.confirmed.add(stream.replies_to)
        return found


def trdp_document(flow: Flow, trdp: model.Trdp, replies: Replies) -> Trdp:
    """The telegram of a flow; values that ``crates/plan`` takes as 0 are absent."""
    kind: TelegramKind | None = None
    time_out, reply_com_id = trdp.time_out, None
    if trdp.is_message:
        kind, time_out = _message(trdp, flow.group in replies.confirmed)
    elif trdp.pattern == "pull" and flow.answers is None:
        kind, reply_com_id = "request", replies.com_ids.get(flow.group, 0)
    elif trdp.pattern == "pull":
        kind = "reply"
    return without_none(
        {
            "com_id": trdp.com_id,
            "kind": kind,
            "reply_com_id": reply_com_id,
            "header_octets": trdp.header_octets,
            "data_set_octets": trdp.data_set,
            "time_out_ns": time_out,
            "reply_status": trdp.reply_status or None,
            "etb_topo_count": trdp.etb_topo_count or None,
            "op_trn_topo_count": trdp.op_trn_topo_count or None,
            "service_id": trdp.service_id or None,
        }
    )


def _message(trdp: model.Trdp, is_confirmed: bool) -> tuple[TelegramKind, int]:
    """Kind of a telegram of message data, and how long its sender waits; whole microseconds, rounded up."""
    kinds: dict[str, TelegramKind] = {
        "notify": "message-notify",
        "request": "message-request",
        "reply": "message-reply-query" if is_confirmed else "message-reply",
        "confirm": "message-confirm",
        "error": "message-error",
    }
    waits = {"request": trdp.reply_time_out, "reply": trdp.confirm_time_out if is_confirmed else 0}
    return kinds[trdp.pattern], -(-waits.get(trdp.pattern, 0) // 1_000) * 1_000
