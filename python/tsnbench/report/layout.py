"""The positions of nodes in a drawing: distances on paper resemble distances in hops, by stress majorisation.

Gansner, Koren, North: Graph Drawing by Stress Majorization (2004). Deterministic: it starts from a circle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

MOST_NODES = 200
"""A drawing with more nodes is unreadable."""


def hop_distances(nodes: int, links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Links on the shortest path between any two nodes; separate parts are put side by side."""
    near: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    rows = []
    for start in range(nodes):
        row = [-1] * nodes
        row[start] = 0
        todo = deque([start])
        while todo:
            at = todo.popleft()
            for node in near[at]:
                if row[node] < 0:
                    row[node] = row[at] + 1
                    todo.append(node)
        rows.append(row)
    apart = max((distance for row in rows for distance in row), default=0) + 1
    return [[apart if distance < 0 else distance for distance in row] for row in rows]


def place(nodes: int, links: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Coordinates in units of one link, the longest extent horizontal."""
    import numpy as np

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
