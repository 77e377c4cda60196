"""Certified choices: what fits prove about other strengths of the penalty, and without a sample."""

from dualgap.choices.certified_choice import CertifiedChoice, certified_choice
from dualgap.choices.certified_path import CertifiedPath, certified_path
from dualgap.choices.leave_one_out import LeftOutBounds, leave_one_out

__all__ = [
    "CertifiedChoice",
    "CertifiedPath",
    "LeftOutBounds",
    "certified_choice",
    "certified_path",
    "leave_one_out",
]
