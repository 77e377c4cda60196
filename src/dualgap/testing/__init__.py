"""Laws that every loss, penalty, sampling and step obeys, including your own.

Each check raises AssertionError with a sentence that says which law is broken, and where.
"""

from dualgap.testing.eso_laws import check_eso
from dualgap.testing.loss_laws import check_loss
from dualgap.testing.penalty_laws import check_penalty
from dualgap.testing.sampling_laws import check_sampling
from dualgap.testing.step_laws import check_step

__all__ = ["check_eso", "check_loss", "check_penalty", "check_sampling", "check_step"]
