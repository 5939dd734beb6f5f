"""Streams that answer others: the values that they take from their request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import Bad, Named, Reading

_FROM_REQUEST = {
    "period": "the period of the request counts",
    "poisson": "each frame of the request releases one answer",
    "arrivals": "each frame of the request releases one answer",
    "saturating": "each frame of the request releases one answer",
    "replay": "each frame of the request releases one answer",
    "offset": "write after: the time from the request to its answer",
    "count": "it has as many flows as its request",
    "scheduled": "only the request can be scheduled",
    "release": "only the request can be scheduled",
    "send": "an answer is sent when its thread runs",
}
"""Keys that a stream cannot have beside ``answers``, each with a hint."""


def requests_first(reading: Reading, streams: dict[Named, Any]) -> Iterator[tuple[Named, Any]]:
    """All streams, each after the stream that it answers; reports those that wait for each other."""
    left = dict(streams)
    while left:
        ready = [name for name, fields in left.items() if _request(fields) not in left]
        for name in ready:
            yield name, left.pop(name)
        if ready:
            continue
        for name, fields in left.items():
            request = fields["answers"]
            hint = "one of the streams that answer each other needs from, to and period in place of answers"
            found = str(request) if request != name else "itself"
            expected = f"a stream that does not wait for {name}"
            reading.problem(request.place, request.path, expected, found, hint)
        return


def _request(fields: Any) -> str | None:
    return None if isinstance(fields, Bad) else fields.get("answers")


def completed(
    net: Net, written: Fields, built: Mapping[str, model.Stream], streams: dict[Named, Any]
) -> Fields | None:
    """The keys of an answer, with ends, period and number of flows of its request; None after a mistake."""
    reading = net.reading
    name: Named = written["answers"]
    for key, hint in _FROM_REQUEST.items():
        written.none_of(reading, [key], "no {key} with answers", hint=hint)
    request = built.get(name)
    if request is None:
        if name not in streams:
            reading.unknown_stream(name, streams)
        return None
    if not isinstance(request.pattern, model.Periodic | model.Answer):
        found = f"{name}, a {request.pattern.kind} one"
        hint = "give it a period"
        reading.problem(name.place, name.path, "a periodic stream, to be answered", found, hint)
        return None
    size = request.size
    if isinstance(size, model.UnitSizes) and max(size.octets) > size.most_per_frame:
        found = f"{name}, with units of up to {max(size.octets)} B"
        hint = f"make its units at most {size.most_per_frame} B"
        reading.problem(name.place, name.path, "a stream whose data units are single frames", found, hint)
        return None
    fields = Fields(written.place, written.path, written.record)
    fields.update(written)
    fields.places, fields.bad = written.places, written.bad
    if "from" not in written:
        if "from" not in written.bad and len(request.listeners) > 1:
            hint = f"write from: {request.listeners[0]}"
            several = f"none, and {name} has {len(request.listeners)} listeners"
            reading.problem(name.place, name.path, "the key from: the listener that answers", several, hint)
            return None
        fields["from"] = Named.at(request.listeners[0], name.place, name.path)
    else:
        talker = written["from"]
        known = net.aliases.get(talker, str(talker))
        if known in net.nodes and known not in request.listeners:
            hint = f"{name} goes to {', '.join(request.listeners[:8])}"
            reading.problem(talker.place, talker.path, f"a listener of {name}, to answer it", known, hint)
            return None
    if "to" not in written and "to" not in written.bad:
        fields["to"] = [Named.at(request.talker, name.place, name.path)]
    fields["period"], fields["count"] = request.pattern.period, request.count
    return fields


_REQUESTS = {"pull": "pull", "reply": "request", "error": "request", "confirm": "reply"}
"""By pattern of TRDP of an answer: the pattern of its request."""
_EXAMPLES = {
    "pull": "{com-id: 1000, pattern: pull, data-set: 14 B}",
    "request": "{com-id: 1000, pattern: request, data-set: 14 B}",
    "reply": "{com-id: 1001, pattern: reply, data-set: 64 B}",
}


def check_telegrams(reading: Reading, streams: dict[Named, Any], built: Mapping[str, model.Stream]) -> None:
    """Reports replies and confirmations of TRDP that answer another kind of stream, and requests without a
    reply."""
    replied = {stream.replies_to for stream in built.values()}
    for name, written in streams.items():
        stream = built.get(name)
        if stream is not None and stream.trdp is not None:
            _check_answer(reading, written, stream, built)
            if not reading.problems and name not in replied:
                _check_replied(reading, written, stream)


def _check_answer(
    reading: Reading, written: Fields, stream: model.Stream, built: Mapping[str, model.Stream]
) -> None:
    """A reply needs a request, and a confirmation needs a reply."""
    assert stream.trdp is not None
    pattern = stream.trdp.pattern
    needed = _REQUESTS.get(pattern)
    if needed is None:
        return
    if not isinstance(stream.pattern, model.Answer):
        if pattern != "pull":
            hint = f"write answers: the stream with pattern: {needed}, in place of from, to and period"
            written.wrong(reading, "trdp", f"answers with pattern: {pattern}", "none", hint)
        return
    request = built.get(stream.pattern.answers)
    if request is not None and (request.trdp is None or request.trdp.pattern != needed):
        asked = stream.pattern.answers
        hint = f"give {asked} trdp: {_EXAMPLES[needed]}"
        what = "reply" if needed == "reply" else "request"
        expected, found = f"an answer to a {what} of TRDP", f"one to {asked}, no {what}"
        written.wrong(reading, "trdp", expected, found, hint)


def _check_replied(reading: Reading, written: Fields, stream: model.Stream) -> None:
    """A request needs a reply, and a time-out of confirmations needs confirmations."""
    assert stream.trdp is not None
    pattern = stream.trdp.pattern
    place, path = written.where("trdp")
    if pattern == "request" or (pattern == "pull" and not isinstance(stream.pattern, model.Answer)):
        reply = "pull" if pattern == "pull" else "reply"
        hint = f"write a stream with answers, whose trdp {'also ' * (reply == 'pull')}has pattern: {reply}"
        reading.problem(place, path, "a request with a reply", "one that no stream answers", hint)
    elif pattern == "reply" and "confirm-time-out" in written["trdp"].places:
        hint = "write a stream with answers and trdp: {pattern: confirm}, or leave confirm-time-out out"
        reading.problem(place, path, "a reply that is confirmed", "one that no stream confirms", hint)
