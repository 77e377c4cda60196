"""Storage: the only place that knows how X lies in memory."""

from dualgap.linalg.bordered import Bordered, Extended
from dualgap.linalg.dense import Dense
from dualgap.linalg.sparse import Sparse

__all__ = ["Bordered", "Dense", "Extended", "Sparse"]
