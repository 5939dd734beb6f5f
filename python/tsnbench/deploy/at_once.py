"""The same request to several devices at the same time: each of them takes its time to answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tsnbench.errors import BackendError, InputError

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Failure = BackendError | InputError


def at_once(what: Callable[[Asked], Answer], devices: Sequence[Asked]) -> list[Answer | Failure]:
    """What each of them answers, in their order, or why it does not."""

    def ask(one: Asked) -> Answer | Failure:
        try:
            return what(one)
        except (BackendError, InputError) as error:
            return error

    if len(devices) < 2:
        return [ask(one) for one in devices]
    with ThreadPoolExecutor(len(devices)) as pool:
        return list(pool.map(ask, devices))
