"""What the rounds of Newton steps ask of a method: it moves coefficients, they decide and prove."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from dualgap.distributed.schemes.exchanges import Exchanges
from dualgap.linalg.validate import Floats


class Moves(ABC):
    """A method of one machine on sums over partitions, with its state in one run.

    ``staged``: whether kinks are rounded off, so that dual variables matter to the next steps.
    """

    exchanges: Exchanges
    staged = False

    @property
    @abstractmethod
    def w(self) -> Floats:
        """The present coefficients, flat."""

    @property
    @abstractmethod
    def u(self) -> Floats:
        """u of the slopes there."""

    @property
    @abstractmethod
    def losses(self) -> float:
        """The sum of losses there."""

    @abstractmethod
    def advance(self) -> bool:
        """Make a step; returns whether coefficients have moved."""

    def end_stage(self) -> bool:
        """End a stage that is solved well enough; returns whether there was one."""
        return False

    @abstractmethod
    def expected_gap(self) -> float:
        """About the gap of the present coefficients, once the dual variables are feasible."""

    @abstractmethod
    def adopt(self) -> None:
        """Make the slopes at the present coefficients the dual variables of the partitions."""

    @abstractmethod
    def refresh(self) -> None:
        """Ask again for the sums at the present coefficients."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""

    @abstractmethod
    def resume(self, state: dict[str, Any]) -> None:
        """Continue from what a checkpoint has kept."""
