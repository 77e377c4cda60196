"""Numbers and categories side by side: a category is a code, not a row of zeros with a one.

Each level of a categorical column is a feature that is 1 where a sample has that level. Stored are
the place of that feature for each sample and column, four bytes, where a row of a CSR matrix takes
twelve; numbers are rows of a dense matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

_EXPANDED = ("data", "indices", "indptr")


class CodedMatrix(sp.csr_array):  # type: ignore[misc]
    """A CSR array whose arrays are made when something asks for them, which fits mostly do not.

    Features are the columns of ``numbers``, then all levels. ``codes`` has the feature of each
    sample and categorical column, so that it rises along each row; ``starts`` has the first feature
    of each of these columns, and the number of all features.
    """

    numbers: np.ndarray[Any, Any]
    codes: np.ndarray[Any, Any]
    starts: tuple[int, ...]

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return sp.csr_array(*args, **options)  # what SciPy derives from it is a plain one

    @classmethod
    def of(cls, numbers: Any, codes: Any, starts: tuple[int, ...]) -> CodedMatrix:
        """Numbers of shape (n, q) in float32 or float64, and codes of shape (n, k)."""
        matrix = object.__new__(cls)
        sp.csr_array.__init__(matrix, (len(codes), starts[-1]))
        for name in _EXPANDED:
            del matrix.__dict__[name]
        matrix.numbers = np.ascontiguousarray(numbers)
        matrix.codes = np.ascontiguousarray(codes, dtype=np.uint32)
        matrix.starts = starts
        return matrix

    @property
    def is_expanded(self) -> bool:
        """Whether something has asked for the arrays of a CSR matrix."""
        return "data" in self.__dict__

    def __getattr__(self, name: str) -> Any:
        if name not in _EXPANDED or "codes" not in self.__dict__:
            raise AttributeError(name)
        plain = self.plain()
        self.data, self.indices, self.indptr = plain.data, plain.indices, plain.indptr
        return self.__dict__[name]

    def plain(self) -> Any:
        """A CSR array that has nothing in common with this one."""
        (n, k), q = self.codes.shape, self.numbers.shape[1]
        whole = np.int32 if n * (q + k) < 1 << 31 else np.int64
        indices, data = np.empty((n, q + k), whole), np.ones((n, q + k), self.dtype)
        indices[:, :q], indices[:, q:] = np.arange(q), self.codes
        data[:, :q] = self.numbers
        bounds = np.arange(0, n * (q + k) + 1, q + k, dtype=whole)
        return sp.csr_array((data.ravel(), indices.ravel(), bounds), shape=self.shape)

    @property
    def dtype(self) -> Any:
        return self.numbers.dtype if "numbers" in self.__dict__ else self.data.dtype

    @property
    def nnz(self) -> int:
        return int(self.numbers.size + self.codes.size) if "codes" in self.__dict__ else 0

    def tocsr(self, copy: bool = False) -> Any:
        return self.plain() if copy else self

    def tocsc(self, copy: bool = False) -> Any:
        return self.plain().tocsc()

    def copy(self) -> CodedMatrix:
        return CodedMatrix.of(self.numbers.copy(), self.codes.copy(), self.starts)

    def with_numbers(self, numbers: Any) -> CodedMatrix:
        """The same categories beside other numbers."""
        return CodedMatrix.of(numbers, self.codes, self.starts)

    def __reduce__(self) -> Any:
        return CodedMatrix.of, (self.numbers, self.codes, self.starts)

    def __getitem__(self, key: Any) -> Any:
        rows, *rest = key if isinstance(key, tuple) else (key,)
        whole = [one is Ellipsis or (isinstance(one, slice) and one == slice(None)) for one in rest]
        if all(whole) and len(rest) < 2 and (isinstance(rows, slice) or np.ndim(rows) == 1):
            return CodedMatrix.of(self.numbers[rows], self.codes[rows], self.starts)
        return super().__getitem__(key)

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, np.ndarray):
            return super().__matmul__(other)
        q = self.numbers.shape[1]
        out = self.numbers @ other[:q]
        for codes in self.codes.T:
            out = out + other[codes]
        return out

    def __rmatmul__(self, other: Any) -> Any:
        if not (isinstance(other, np.ndarray) and other.ndim == 1):
            return super().__rmatmul__(other)
        k, q = self.codes.shape[1], self.numbers.shape[1]
        sums = np.bincount(self.codes.ravel(), np.repeat(other, k), self.shape[1])
        sums[:q] = other @ self.numbers
        return sums
