"""Fit a logistic model. Its features are called signs here: a row is the set of the names of the signs that it has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from affidavit._paths.classify import to_probability

RIDGE = 0.7  # the ridge: how strongly weights are pulled towards zero
REFINING_RIDGE = 50.0  # how strongly they are pulled towards the shipped weights, if those are refined
ROUNDS = 25  # the rounds of Newton's method

Table = dict[str, float]


def fit_logistic(
    rows: Iterable[tuple[Sequence[str], bool, float]], start: Mapping[str, float], shipped: Table | None = None
) -> Table:
    """Return the weight of each sign: maximise the likelihood with a ridge, by Newton's method.

    The weight under the empty name is the constant, which counts for every row.

    start: the weights to begin with. Weights near the result save time.
    shipped: the weights to refine; None to fit all weights anew.
    """
    total: dict[tuple[tuple[int, ...], float, bool], float] = defaultdict(float)
    numbers: dict[str, int] = {"": 0}
    for signs, is_data, weight in rows:
        indexes = tuple(sorted({0, *(numbers.setdefault(sign, len(numbers)) for sign in signs)}))
        total[indexes, 0.0, is_data] += weight
    ridge, centre = (RIDGE, {}) if shipped is None else (REFINING_RIDGE, shipped)
    centres = [centre.get(sign, 0.0) for sign in numbers]
    table = [start.get(sign, 0.0) for sign in numbers]
    for _ in range(ROUNDS):
        step = _newton_step(total, table, ridge, centres)
        table = [weight + change for weight, change in zip(table, step, strict=True)]
        if max(map(abs, step)) < 1e-4:
            break
    return {**centre, **{sign: table[index] for sign, index in numbers.items()}}


def fit_new_signs(rows: Iterable[tuple[Sequence[str], bool, float]], shipped: Table) -> Table:
    """Return the shipped weights unchanged, and a fitted weight for each sign that has none."""
    total: dict[tuple[tuple[int, ...], float, bool], float] = defaultdict(float)
    numbers: dict[str, int] = {}
    for signs, is_data, weight in rows:
        indexes = tuple(sorted({numbers.setdefault(sign, len(numbers)) for sign in signs if sign not in shipped}))
        if indexes:
            fixed_sum = sum(shipped.get(sign, 0.0) for sign in {"", *signs})
            total[indexes, fixed_sum, is_data] += weight
    table = [0.0] * len(numbers)
    for _ in range(ROUNDS):
        step = _newton_step(total, table, RIDGE, [0.0] * len(numbers), has_constant=False)
        table = [weight + change for weight, change in zip(table, step, strict=True)]
        if max(map(abs, step), default=0.0) < 1e-4:
            break
    return {**shipped, **{sign: table[index] for sign, index in numbers.items()}}


def _newton_step(
    total: Mapping[tuple[tuple[int, ...], float, bool], float],
    table: Sequence[float],
    ridge: float,
    centres: Sequence[float],
    *,
    has_constant: bool = True,
) -> list[float]:
    """Return the change of each weight.

    total: the total weight of all equal rows. Its key has the indexes of their signs, the sum of the weights that are
        not fitted, and the label (whether they are data).
    has_constant: whether the first weight is the constant, which nothing pulls towards zero.
    """
    size = len(table)
    gradient = [ridge * (centre - weight) for weight, centre in zip(table, centres, strict=True)]
    if has_constant:
        gradient[0] = 0.0
    hessian = [[0.0] * size for _ in range(size)]
    for index in range(size):
        hessian[index][index] = ridge if index or not has_constant else 1e-6
    for (indexes, fixed_sum, is_data), weight in total.items():
        probability = to_probability(fixed_sum + sum(table[index] for index in indexes))
        slope, curve = weight * (is_data - probability), weight * probability * (1 - probability)
        for position, index in enumerate(indexes):
            gradient[index] += slope
            row = hessian[index]
            for column in indexes[position:]:
                row[column] += curve
    for index in range(size):
        for column in range(index):
            hessian[index][column] = hessian[column][index]
    return _solve(hessian, gradient)


def _solve(matrix: list[list[float]], vector: list[float]) -> list[float]:
    """Solve by Gaussian elimination; the matrix is positive definite."""
    size = len(vector)
    rows = [[*row, value] for row, value in zip(matrix, vector, strict=True)]
    for pivot in range(size):
        pivot_row = rows[pivot]
        for index in range(pivot + 1, size):
            row = rows[index]
            if row[pivot]:
                factor = row[pivot] / pivot_row[pivot]
                for column in range(pivot, size + 1):
                    row[column] -= factor * pivot_row[column]
    solution = [0.0] * size
    for pivot in reversed(range(size)):
        rest = sum(rows[pivot][column] * solution[column] for column in range(pivot + 1, size))
        solution[pivot] = (rows[pivot][size] - rest) / rows[pivot][pivot]
    return solution
