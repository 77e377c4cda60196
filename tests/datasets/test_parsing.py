"""Text to numbers: bit for bit what Python makes of each word, and a word for what is wrong."""

import io
import struct

import numpy as np
import pytest

from dualgap.datasets import lines
from dualgap.datasets.parsing.decimal import rounded

rng = np.random.default_rng(0)


def words():
    """Numbers of all sizes and lengths, among them those that are hard to round."""
    bits = rng.integers(0, 2**63, 3000, dtype=np.uint64)
    anything = bits.view(np.float64)
    yield from (repr(float(x)) for x in anything[np.isfinite(anything)])
    yield from (f"{x:.{k}g}" for x in rng.standard_normal(500) for k in (1, 6, 12, 16, 17, 18, 25))
    yield from (f"{x:.8f}" for x in rng.uniform(-1, 1, 500))
    for x in np.exp(rng.uniform(-600, 600, 300)):  # halfway between two numbers, and next to it
        y = np.nextafter(x, np.inf)
        middle = (int(x) + int(y)) // 2 if x > 2**60 else None
        if middle is not None:
            yield from (str(middle), str(middle + 1), f"{middle}e-3")
    yield from (
        "0",
        "-0",
        "0.0",
        "000",
        "1.",
        ".5",
        "-.5e1",
        "+7",
        "1E5",
        "1e+05",
        "1e-400",
        "5e-324",
    )
    yield from (
        "1.7976931348623157e308",
        "2.2250738585072014e-308",
        "9007199254740993",
        "1e22",
        "1e23",
    )
    yield from ("0." + "0" * 400 + "1", "123456789" * 30, "1" + "0" * 300, "18446744073709551616")


def test_numbers_are_rounded_as_python_does_it():
    some = list(words())
    text = "".join(f"{word} 1:{word}\n" for word in some).encode()
    rows = lines.parsed(text, 1)
    expected = np.array([float(word) for word in some])
    for found in (rows.y, rows.values):
        np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))


def test_most_numbers_need_no_help():
    """And what is not told is not guessed."""
    m = rng.integers(2**53, 10**18, 2000, dtype=np.uint64)
    q = rng.integers(-300, 280, 2000)
    found = np.array([rounded(*pair) for pair in zip(m, q)])
    expected = np.array([float(f"{a}e{b}") for a, b in zip(m, q)])
    told = ~np.isnan(found)
    assert told.mean() > 0.99
    np.testing.assert_array_equal(found[told], expected[told])
    assert np.isnan(rounded(np.uint64(2**53 + 1), 0))  # between two numbers
    assert np.isnan(rounded(np.uint64(1), 309))


def test_what_a_line_may_hold():
    text = b"\n# a comment\n+1 qid:3 1:2 +4:5 # more 7:8\r\n\t-1\t2:1e-3\n\n3#4:5\n  \n0.5 1:-0"
    rows = lines.parsed(text, 1)
    np.testing.assert_array_equal(rows.y, [1, -1, 3, 0.5])
    np.testing.assert_array_equal(rows.counts, [2, 1, 0, 1])
    np.testing.assert_array_equal(rows.indices, [1, 4, 2, 1])
    np.testing.assert_array_equal(rows.values, [2, 5, 1e-3, 0])
    assert lines.parsed(b"", 1).y.shape == (0,)
    assert lines.parsed(b"1 0:1e300\n", 1).values[0] == 1e300


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("x 1:1", "must begin with a number, the target, not 'x'"),
        ("1:1 2:2", "must begin with a number, the target, not '1:1'"),
        ("nan 1:1", "must begin with a number"),
        ("1 2", "'2' is not a pair index:value"),
        ("1 2:", "the value '' is not a finite float64"),
        ("1 :2", "the index '' is not a whole number"),
        ("1 a:2", "the index 'a' is not a whole number"),
        ("1 -1:2", "the index '-1' is negative"),
        ("1 1.5:2", "the index '1.5' is not a whole number"),
        ("1 ++1:2", "the index '\\+\\+1' is not a whole number"),
        ("1 99999999999999999999:2", "the index '9{20}' is too large"),
        ("1 3:1 2:1", "the index 2 comes after 3: indices must ascend"),
        ("1 3:1 3:1", "the index 3 comes after 3"),
        ("1 1:nan", "the value 'nan' is not a finite float64"),
        ("1 1:1e999", "the value '1e999' is not a finite float64"),
        ("1 1:1:2", "the value '1:2' is not a finite float64"),
        ("1 1:0x10", "the value '0x10' is not"),
        ("1 1:1e", "the value '1e' is not"),
        ("1 1:--1", "the value '--1' is not"),
        ("1 1:" + "7" * 50 + "x", r"7{30}\.\.\.' is not a finite"),
    ],
)
def test_what_it_may_not(line, says):
    with pytest.raises(ValueError, match=says) as found:
        lines.parsed(f"1 1:1\n\n1 2:2\n{line}\n".encode(), 1)
    assert str(found.value).startswith("line 4: ")


def test_float32_has_its_own_limits():
    assert lines.parsed(b"1 1:1e30\n", 1, np.float32).values.dtype == np.float32
    with pytest.raises(ValueError, match="'1e300' is not a finite float32"):
        lines.parsed(b"1 1:1e300\n", 7, np.float32)
    with pytest.raises(ValueError, match="line 7: the index 0 is below 1"):
        lines.parsed(b"1 0:1\n", 7, first=1)


class Endless(io.RawIOBase):
    """A gigabyte without an end of line, of which little is ever read."""

    asked = 0

    def read(self, size=-1):
        self.asked += size
        return b"1" * size if self.asked <= 1_000_000_000 else b""


def test_a_line_that_is_too_long_is_refused_early():
    endless = Endless()
    with pytest.raises(ValueError, match="line 1 is longer than 64 MB"):
        list(lines.blocks(endless))
    assert endless.asked <= lines.LONGEST + lines.BLOCK


def test_bytes_that_are_no_text():
    with pytest.raises(ValueError, match="zero bytes: this is not text"):
        list(lines.blocks(io.BytesIO(struct.pack("4i", 1, 2, 3, 4))))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_blocks_are_whole_lines(size, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", size)
    text = b"1 1:1\n\n2 2:22222222\n3"
    parts = list(lines.blocks(io.BytesIO(text)))
    assert b"".join(block for _, block in parts) == text
    for number, block in parts:
        assert text.split(b"\n")[number - 1] == block.split(b"\n")[0]
