"""The data sets of the papers: their published shapes, and the files that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["flags", "categories", "text", "scaled", "shares", "signed"]
PACKINGS = ("", ".bz2", ".gz", ".xz")


def stem(file: str) -> str:
    """The name of a file without what says how it is written and packed."""
    for packing in PACKINGS[1:]:
        file = file.removesuffix(packing)
    return file.removesuffix(".svm")


@dataclass(frozen=True)
class Entry:
    """A data set as published. ``candidates`` are stems of files, the set's own file first."""

    name: str
    n: int
    d: int
    density: float
    candidates: tuple[str, ...]
    kind: Kind  # what the features are, which a stand-in imitates
    positive: float  # the share of the larger label
    task: str = "two classes"
    nnz: int | None = None
    files: tuple[str, ...] = ()  # on the LIBSVM site, tried in turn
    hashes: Mapping[str, str] = field(default_factory=dict)  # of files there, "algorithm:digest"
    notes: Mapping[str, str] = field(default_factory=dict)  # how a candidate differs from the set

    @property
    def own(self) -> str:
        """The stem of the file that is the set itself."""
        return self.candidates[0]


_RCV1_SUBSETS = "other documents of RCV1 in the same 47,236 features, 23,749 rows"

_ENTRIES = (
    Entry(
        "w8a", 49_749, 300, 0.03883, ("w8a",), "flags", 0.03,
        nnz=579_586, files=("w8a",),
    ),
    Entry(
        "ijcnn1", 49_990, 22, 0.5909, ("ijcnn1",), "scaled", 0.097,
        nnz=649_869, files=("ijcnn1.bz2",),  # one more with a zero that is spelt out
    ),
    Entry(
        "mushrooms", 8_124, 112, 0.1875, ("mushrooms",), "categories", 0.5,
        nnz=170_604, files=("mushrooms",),
    ),
    Entry(
        "cov1", 581_012, 54, 0.2212,
        ("covtype.libsvm.binary.scale", "covtype.binary.scale01"), "scaled", 0.488,
        files=("covtype.libsvm.binary.scale.bz2",),
        # MD5 by epfml/pax (pax/tasks/datasets/libsvm.py), which checks each download against it.
        hashes={"covtype.libsvm.binary.scale.bz2": "md5:d95f45e15c284005c2c7a4c82e4be102"},
        notes={
            "covtype.binary.scale01": "the same set rebuilt from UCI's Covertype, columns scaled to"
            " [0, 1]",
        },
    ),
    Entry("dorothea", 800, 100_000, 0.0091, ("dorothea",), "flags", 0.0975),
    Entry(
        "ionosphere", 351, 34, 0.88, ("ionosphere_scale", "ionosphere"), "signed", 0.64,
        files=("ionosphere_scale",),
        notes={"ionosphere": "UCI's values, which lie in [-1, 1] but are not rescaled by column"},
    ),
    Entry(
        "rcv1", 20_242, 47_236, 0.00157, ("rcv1_train.binary", "rcv1_subsets.binary"), "text", 0.52,
        files=("rcv1_train.binary.bz2",),
        hashes={"rcv1_train.binary.bz2": "md5:1aeda848408e621468c0fe6944d9382f"},  # by epfml/pax
        notes={"rcv1_subsets.binary": _RCV1_SUBSETS + " instead of 20,242"},
    ),
    Entry(
        "news20", 19_996, 1_355_191, 0.000336, ("news20.binary", "news20.binary.rebuilt"), "text",
        0.5,
        files=("news20.binary.bz2",),
        notes={
            "news20.binary.rebuilt": "rebuilt from the 19,997 messages of 20 Newsgroups with"
            " features of its own (1,402,644 words and pairs of words)",
        },
    ),
    Entry(
        "astro-ph", 29_882, 99_757, 0.0008, ("astro-ph", "imdb-tfidf"), "text", 0.5,
        notes={
            "imdb-tfidf": "not astro-ph, which is not public, but film reviews: text of like shape,"
            " 25,000 x 48,071",
        },
    ),
    Entry(
        "ccat", 781_265, 47_236, 0.0016, ("ccat", "rcv1_test.binary", "rcv1_subsets.binary"),
        "text", 0.47,
        notes={
            "rcv1_test.binary": "677,399 of the 781,265 documents, with CCAT and ECAT against GCAT"
            " and MCAT",
            "rcv1_subsets.binary": _RCV1_SUBSETS + " instead of 781,265, with CCAT and ECAT against"
            " GCAT and MCAT",
        },
    ),
    Entry(
        "webspam", 350_000, 254, 0.3352, ("webspam_wc_normalized_unigram", "ijcnn1"), "shares",
        0.61,
        files=("webspam_wc_normalized_unigram.svm.xz", "webspam_wc_normalized_unigram.svm.bz2"),
        notes={
            "ijcnn1": "not webspam but another dense set, with far fewer features (22, not 254) and"
            " rows",
        },
    ),
)  # fmt: skip

ENTRIES: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
ALIASES = {"covtype": "cov1"}


def names() -> list[str]:
    """The data sets of the papers, which ``load`` knows where to find."""
    return list(ENTRIES)
