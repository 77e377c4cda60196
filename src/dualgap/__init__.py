"""Linear models with a proof: every fit comes with a bound on how far it is from the best one."""

from dualgap import datasets, losses, methods, penalties, samplings, steps, theory
from dualgap.certificate import Certificate
from dualgap.certifying import CertificateSum, certify
from dualgap.problem import Problem
from dualgap.solution import Solution
from dualgap.solve import solve

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "CertificateSum",
    "Problem",
    "Solution",
    "certify",
    "datasets",
    "losses",
    "methods",
    "penalties",
    "samplings",
    "solve",
    "steps",
    "theory",
]
