"""Every public name of 0.1 can still be imported from where it was."""

import ast
import importlib
import pathlib
import subprocess
import sys
import warnings

import pytest

import dualgap
from dualgap import estimators

# What ``__all__`` of the public modules and the pages on the API of 0.1 had.
PUBLIC = """
dualgap: Certificate CertificateSum CertifiedClassifier CertifiedRegressor ElasticNet ElasticNetCV
    HuberRegression Lasso LassoCV LinearSVC LinearSVR LogisticRegression LogisticRegressionCV
    PoissonRegressor Problem QuantileRegressor Recording Ridge RidgeCV RidgeClassifier Solution
    certify datasets distributed enet_path estimators lasso_path load_model logistic_path losses
    methods penalties plots report samplings save_model solve steps theory
dualgap.datasets: CSRWriter Dataset DatasetDamagedError DatasetNotFoundError convert load locate
    names open_folder
dualgap.distributed: Partitioned fit from_dask from_dataframe from_libsvm solve
dualgap.estimators: CertifiedClassifier CertifiedRegressor ElasticNet ElasticNetCV HuberRegression
    Lasso LassoCV LinearSVC LinearSVR LogisticRegression LogisticRegressionCV PoissonRegressor
    QuantileRegressor Ridge RidgeCV RidgeClassifier enet_path lasso_path logistic_path
dualgap.losses: REGISTRY EpsilonInsensitive Hinge Huber Logistic MulticlassHinge Poisson Quantile
    SmoothedHinge Softmax Squared SquaredEpsilonInsensitive SquaredHinge
dualgap.methods: METHODS Method describe suitable
dualgap.penalties: REGISTRY Box ElasticNet L1 L2 NonNegative Weighted
dualgap.plots: ConvergenceDisplay PathDisplay SamplingDisplay
dualgap.report: write
dualgap.samplings: AdaGap AdaUniform Adaptive Arbitrary Custom Distributed Full GapPerEpoch
    Importance Norms Permutation Product Residue ResidueDecay Sampling Scores SetSampling Sets
    StepRule SupportSet TauNice Uniform eso
dualgap.steps: APCG ASDCA AccProxSDCA AverageGradient Coordinate DisDCA FullGradient LBFGS Newton
    ProximalPoint Quartz SAG SPDC Setting Step Sweeps WorkingSet
dualgap.testing: check_eso check_loss check_penalty check_sampling check_step
dualgap.theory: REGIMES adaptive_gaps adaptive_rate average_sparsity batch_iterations best_sigma
    burn_in contraction coordinate_scores disdca_iterations distributed_sparsity distributed_speedup
    dual_residues expected_decrease gap_iterations gapwise_spread is_covered iterations
    leading_factor mean_rate mixed_iterations nonuniformity optimal_probabilities
    perturbation_constant perturbed_iterations predicted_speedup quartz_is_ahead rate sparse_rounds
    spdc_iterations spdc_passes speedup spread suboptimality tau_nice_speedup
"""

# Names that the pages of 0.1 used from modules that have moved since.
SHOWN = """
dualgap._compile: kernel
dualgap._rules: prox
dualgap._scalar: clip xlogx
dualgap.auto: choose
dualgap.certificate: Certificate Pair evaluate prove
dualgap.loop: Snapshot
dualgap.model_file: ModelFileError
dualgap.path: grid lambda_max path
dualgap.recording: Recording
dualgap.screening: proven_zero
dualgap.solution: History Solution Status
dualgap.steps.base: Setting Step
dualgap.steps.full_pass: FullPass FullPassRun
dualgap.steps.start: Start
dualgap.terms: conj_slopes feature_terms sample_terms slopes total
"""

# What pickled estimators and solutions of 0.1 refer to.
PICKLED = """
dualgap.certificate: Certificate
dualgap.estimators.certified: CertifiedClassifier CertifiedRegressor
dualgap.estimators.cv: ElasticNetCV LassoCV
dualgap.estimators.lasso: ElasticNet Lasso
dualgap.estimators.logistic: LogisticRegression
dualgap.estimators.logistic_cv: LogisticRegressionCV
dualgap.estimators.poisson: PoissonRegressor
dualgap.estimators.ridge: Ridge RidgeClassifier
dualgap.estimators.ridge_cv: RidgeCV
dualgap.estimators.robust: HuberRegression QuantileRegressor
dualgap.estimators.svm: LinearSVC LinearSVR
dualgap.radius: Radius
dualgap.solution: History Solution Status
"""


def names_in(table):
    module = None
    for word in table.split():
        if word.endswith(":"):
            module = word[:-1]
        else:
            yield module, word


@pytest.mark.parametrize(("module", "name"), [*names_in(PUBLIC + SHOWN + PICKLED)])
def test_a_name_of_0_1(module, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = importlib.import_module(module)
    assert hasattr(found, name)


def test_moved_modules_are_the_new_ones_and_say_so():
    code = """
import importlib, warnings
import dualgap
from dualgap._moved import KEPT, MOVED
for old, new in MOVED.items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = importlib.import_module(old)
    assert module is importlib.import_module(new), old
    messages = [str(each.message) for each in caught]
    warned = any(f"{old} has moved: import {new} instead" in words for words in messages)
    assert warned is (old not in KEPT), messages
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_of_the_package():
    assert set(dir(dualgap)) == set(dualgap.__all__)
    assert len(set(dualgap.__all__)) == len(dualgap.__all__)
    assert set(estimators.__all__) <= set(dualgap.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dualgap.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        estimators.nothing  # noqa: B018


def test_the_package_is_imported_without_scikit_learn():
    code = "import sys, dualgap; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_type_checkers_see_every_estimator():
    tree = ast.parse(pathlib.Path(estimators.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.asname: node.module.removeprefix("dualgap.estimators.")
        for node in block.body
        for alias in node.names
    }
    assert imported == estimators.MODULES
