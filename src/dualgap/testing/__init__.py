"""Laws that every loss, penalty, sampling and step obeys; for your own ones too."""

from dualgap.testing.laws import check_loss, check_penalty, check_sampling, check_step

__all__ = ["check_loss", "check_penalty", "check_sampling", "check_step"]
