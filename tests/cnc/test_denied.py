"""The log of requests without a decision: a flood takes no room, in memory nor on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cnc.cell import base_of
from tsnbench.cnc import store as stores
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import FullStoreError, Store
from tsnbench.cnc.store.denied import LONGEST, MOST_ADDRESSES, OTHERS, REMEMBERED, Denied, DeniedLog


@dataclass
class Clock:
    at: datetime = field(default_factory=lambda: datetime(2026, 11, 30, 5, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "store", base_of(tmp_path).digest)
    yield made
    made.close()


def test_requests_of_a_client_within_a_minute_are_one_row_for_each_status() -> None:
    log = DeniedLog(now=(clock := Clock()))
    for number in range(5):
        log.note("camera", "192.0.2.7", 403, f"PUT /api/streams/{number}", "The scope of camera is read")
    log.note("camera", "192.0.2.8", 429, "PUT /api/streams/x", "Too many")
    clock.at += timedelta(minutes=1)
    log.note("camera", "192.0.2.8", 403, "GET /api/devices", "The scope of camera is read")
    assert [(row.number, row.at[-6:], row.status, row.asked, row.count) for row in log.last(9)] == [
        (3, "05:01Z", 403, "GET /api/devices", 1),
        (2, "05:00Z", 429, "PUT /api/streams/x", 1),
        (1, "05:00Z", 403, "PUT /api/streams/0", 5),
    ]
    assert [row.number for row in log.last(1)] == [3]


def test_a_flood_of_many_addresses_is_a_few_rows(store: Store) -> None:
    log = DeniedLog(now=Clock())
    for number in range(20_000):
        log.note("", f"2001:db8::{number % 10_000:x}", 401, "GET /" + "a" * 9_999, "\x1b[2J\n" * 999)
        if number % 1_000 == 0:
            log.write(store.keep_denied)
    # A client with a name has its row also then.
    log.note("camera", "192.0.2.7", 401, "GET /", "why")
    log.write(store.keep_denied)
    rows = store.denied(REMEMBERED)
    assert len(rows) == MOST_ADDRESSES + 2
    assert sum(row.count for row in rows) == 20_001
    assert [row.count for row in rows if row.address == OTHERS] == [20_000 - 2 * MOST_ADDRESSES]
    assert all(len(text) <= LONGEST and text.isprintable() for row in rows for text in (row.asked, row.why))


def test_the_oldest_rows_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_DENIED", 20)
    log = DeniedLog(now=(clock := Clock()))
    for _ in range(2):
        for number in range(REMEMBERED):
            log.note(f"c{number}", "192.0.2.7", 403, "GET /", "why")
        clock.at += timedelta(minutes=1)
    assert [row.number for row in log.last(2 * REMEMBERED)] == [*range(2 * REMEMBERED, REMEMBERED, -1)]
    log.write(store.keep_denied)
    assert store.denied(REMEMBERED)[::-1] == log.last(20)
    # More clients than rows in one minute: the first rows are gone, and their clients get others.
    for number in range(REMEMBERED + 1):
        log.note(f"c{number}", "192.0.2.7", 403, "GET /", "why")
    log.note("c0", "192.0.2.7", 403, "GET /", "why")
    assert (log.last(1)[0].client, len(log.last(9_999))) == ("c0", REMEMBERED)


def test_what_a_full_disk_did_not_take_is_written_later() -> None:
    log, kept = DeniedLog(now=Clock()), list[Denied]()

    def full(_: object) -> None:
        raise FullStoreError("full")

    log.note("camera", "192.0.2.7", 403, "GET /", "why")
    with pytest.raises(FullStoreError):
        log.write(full)
    log.note("drive", "192.0.2.7", 403, "GET /", "why")
    log.write(kept.extend)
    assert [row.client for row in kept] == ["camera", "drive"]
    log.write(full)


def test_a_service_goes_on_counting_in_a_store_of_an_earlier_version(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    earlier = Store(tmp_path / "store", base.digest)
    with earlier.database.begin() as execute:
        execute("DROP TABLE denied")
    earlier.close()
    for number in (1, 2):
        service = Service(base_of(tmp_path), Store(tmp_path / "store", base.digest))
        service.denied.note("camera", "192.0.2.7", 403, "GET /", "why")
        assert [row.number for row in service.denied.last(9)] == [*range(number, 0, -1)]
        service.close()
