"""The positions of nodes in a drawing: distances on paper resemble distances in hops, by stress majorisation.

Gansner, Koren, North: Graph Drawing by Stress Majorization (2004). Deterministic: it starts from a circle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from tsnbench.libraries import numpy as np

MOST_NODES = 200
"""A drawing with more nodes is unreadable."""


def hop_distances(nodes: int, links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Links on the shortest path between any two nodes; separate parts are put side by side."""
    near: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    rows = _rows(near, range(nodes))
    apart = max((distance for row in rows for distance in row), default=0) + 1
    return [[apart if distance < 0 else distance for distance in row] for row in rows]


def _rows(near: Sequence[Sequence[int]], starts: Iterable[int]) -> list[list[int]]:
    """The number of links from each start to every node; -1 where there is no path."""
    rows = []
    for start in starts:
        row = [-1] * len(near)
        row[start] = 0
        todo = deque([start])
        while todo:
            at = todo.popleft()
            for node in near[at]:
                if row[node] < 0:
                    row[node] = row[at] + 1
                    todo.append(node)
        rows.append(row)
    return rows


def place(nodes: int, links: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Coordinates in units of one link, the longest extent horizontal."""
    if nodes < 2:
        return [(0.0, 0.0)] * nodes
    ends = [node for node in range(nodes) if sum(node in link for link in set(links)) == 1]
    along = hop_distances(nodes, links)[ends[0]] if len(ends) == 2 else []
    if sorted(along) == list(range(nodes)):
        return [(distance - (nodes - 1) / 2, 0.0) for distance in along]
    hops = np.array(hop_distances(nodes, links), dtype=float)
    wanted = hops + np.eye(nodes)
    weight = wanted**-2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian)
    turn = 2 * np.pi * np.arange(nodes) / nodes
    # The layout begins with the two main directions of the distances (classical scaling), so that a long
    # network is straight. A circle is added to separate nodes that would coincide, such as leaves of a star.
    centring = np.eye(nodes) - 1 / nodes
    strength, direction = np.linalg.eigh(centring @ (hops**2) @ centring / -2)
    main = direction[:, -2:] * np.sqrt(np.maximum(strength[-2:], 0))
    at = main + np.column_stack([np.cos(turn), np.sin(turn) * 1.1]) * 0.5
    for _ in range(300):
        offset = at[:, None, :] - at[None, :, :]
        length = np.sqrt((offset**2).sum(axis=2))
        np.fill_diagonal(length, 1.0)
        pull = -weight * wanted / np.maximum(length, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        moved = inverse @ pull @ at
        still = float(np.abs(moved - at).max()) < 1e-6
        at = moved
        if still:
            break
    at -= at.mean(axis=0)
    _, _, axes = np.linalg.svd(at, full_matrices=False)
    at = at @ axes.T
    # The orientation is always the same: the first node is on the left and not below the middle.
    at[:, 0] *= -1 if at[0, 0] > 0 else 1
    at[:, 1] *= -1 if at[0, 1] < -1e-9 else 1
    return [(round(float(x), 4), round(float(y), 4)) for x, y in at]


PIVOTS = 40


def sketch(nodes: int, links: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Coordinates of a large network, fast: distances to a few nodes decide, and leaves surround their node.

    Brandes, Pich: Eigensolver Methods for Progressive Multidimensional Scaling of Large Data (2006). Each
    pivot is the node that is farthest from those before.
    """
    near: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in set(links):
        near[a].append(b)
        near[b].append(a)
    rows: list[list[int]] = []
    least = np.full(nodes, np.inf)
    pivot = 0
    for _ in range(min(PIVOTS, nodes)):
        row = _rows(near, [pivot])[0]
        apart = max(row) + 1
        rows.append([apart if distance < 0 else distance for distance in row])
        least = np.minimum(least, rows[-1])
        pivot = int(least.argmax())
    squares = np.array(rows, dtype=float).T ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    at = left[:, :2] * np.sqrt(strength[:2] * np.sqrt(len(rows) / nodes))
    # The usual length of a link is the unit.
    lengths = [float(np.hypot(*(at[a] - at[b]))) for a, b in set(links)]
    at /= np.median(lengths) if lengths and np.median(lengths) > 0 else 1.0
    for node in range(nodes):
        leaves = sorted(other for other in near[node] if len(near[other]) == 1)
        for number, leaf in enumerate(leaves):
            turn = 2 * np.pi * number / len(leaves) + 0.5
            at[leaf] = at[node] + 0.45 * np.array([np.cos(turn), np.sin(turn)])
    return [(round(float(x), 4), round(float(y), 4)) for x, y in at]
