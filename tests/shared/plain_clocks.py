"""Decaying draws by exponential clocks in plain Python, with the numbers of the library's draws."""

import numpy as np

from dualgap.samplings import clocks


def plain_draws(weights, count, factor, rng):
    """``draw_decaying``; only how late clocks are listened to is the library's."""
    used = [i for i, weight in enumerate(weights) if weight > 0.0]
    rates, drawn = np.array([weights[i] for i in used]), []
    while len(drawn) < count:
        rates = rates / rates.max()
        wanted = count - len(drawn)
        horizon = clocks._horizon(rates, rates.view(np.int64), wanted, factor)
        first = rng.standard_exponential(len(rates))
        later = list(rng.standard_exponential(wanted + wanted // 4 + 64))
        rung = []
        for i in range(len(rates)):
            time, rate = first[i] / rates[i], rates[i]
            while time <= horizon:
                rung.append((time, i))
                if len(rung) > len(later):
                    later += list(rng.standard_exponential(len(later)))
                rate /= factor
                time += later[len(rung) - 1] / rate
        drawn += [used[i] for _, i in sorted(rung)[:wanted]]
        for _, i in rung:
            rates[i] /= factor
    return drawn
