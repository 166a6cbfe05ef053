# Copyright 2026 The robot_identification authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""Lack of fit: residuals against noise and uncertainty, and axes along which effects show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, orthonormal_basis
from robot_identification.regression.blocked_regression import autocorrelation_factor, f_test
from robot_identification.validation.checks import check
from robot_identification.validation.checks.residual_regression import ResidualRegression

_EXCESS = 2.0
"""Error over its expected size above which a model is doubtful. On clean recordings of two
simulated plants the ratio reaches 1.8 where the error exceeds 2 % of the torque; UR10e: 1.3."""
_NOTICEABLE, _OF_JOINT = 0.02, 0.15
"""Smaller errors raise no alarm: fractions of the torque of all joints, and of the joint's own.
Wrists of simulated arms with a friction that the model lacks reach 10 % of their own torque."""
_MOST = 0.75
"""Fraction of the arm's squared residual beyond all parameters that an effect must explain for an
alarm: without it this residual would be halved, and on other motion it may double."""
_DRIFT = 0.1
"""Slow effects count as noise below this fraction of the torque of the joint and `_NOTICEABLE` of
that of the arm; those of an LWR4+ reach 7 % of the torque of its first joint."""
_CLEAR = 0.5
"""Fraction of what no parameter fits that an effect must explain to count as the cause."""
_CONTRADICTION = (
    '; the recordings contradict each other or themselves: the effort drifts, something pushed '
    'the arm, load or temperature changed, or the model lacks an effect; look at the residuals in '
    'the report, and record again')
_LEVEL = 0.01
"""Significance level of all axes and joints of one identification together."""
_RECORDINGS = 2
"""Number of recordings, fitted and held out, for which the level holds."""
_MAX_ROWS = 5000
"""Largest number of samples at which friction is compared."""
_SINGULAR = 1e-6
_SPARE = 20
"""Smallest number of independent rows beside those that the parameters take."""
_SLOW = 6
"""Number of cosines over the whole recording, the slowest with half a period."""
_WAVES = np.arange(1.0, 41.0)
"""[1/rad or 1/m] Wave numbers of ripple that are tried."""
_FREQUENCIES = np.arange(0.5, 8.0, 0.125)
"""[Hz] Frequencies of disturbances that are tried."""
_PARTS = np.arange(1, 8) / 8
"""Fractions of the recording after which a step may occur."""


@dataclass(frozen=True)
class JointMotion:
    """
    Signals of one joint at the rows of a residual regression.

    Parameters
    ----------
    t, q, v, direction
        Stamps [s], position, velocity and its sign, (rows,).
    torque, slope
        Torque of the model [N m or N] and its time derivative, (rows,).
    others
        Torques of the model at the other joints, (rows, n - 1).

    """

    t: Array
    q: Array
    v: Array
    direction: Array
    torque: Array
    slope: Array
    others: Array

    @property
    def elapsed(self) -> Array:
        """Elapsed fraction of the recording, 0 to 1, (rows,)."""
        return (self.t - self.t[0]) / (self.t[-1] - self.t[0])

    @property
    def slow(self) -> Array:
        """The slowest cosines over the recording, (rows, _SLOW)."""
        return np.cos(np.pi * self.elapsed[:, None] * np.arange(1, _SLOW + 1))


@dataclass(frozen=True)
class ResidualAxis:
    """
    An axis of the table: an effect that the model may lack.

    Parameters
    ----------
    name
        What the residual varies with, to complete 'varies with'.
    cause
        Probable causes, and what to do.
    columns
        Returns alternative groups of columns, (rows, k) each, of which the best counts.
    of_recording
        Whether the effect belongs to the recording and not to the arm, so that it does not count
        as noise of the arm.

    """

    name: str
    cause: str
    columns: Callable[[JointMotion], Sequence[Array]]
    of_recording: bool = False


def hat_functions(x: Array, count: int) -> Array:
    """Return evenly spaced piecewise linear functions over the range of x (rows,), (rows, k)."""
    low, high = np.quantile(x, [0.001, 0.999])
    knots = np.linspace(low, high, count)
    width = knots[1] - knots[0]
    if not width > 0:
        return np.zeros((len(x), 0))
    return np.maximum(0.0, 1 - np.abs(np.clip(x, low, high)[:, None] - knots) / width)


def _waves(x: Array, numbers: Array) -> list[Array]:
    """Return sine and cosine of x times each number, (rows, 2) each."""
    return [np.column_stack([np.sin(k * x), np.cos(k * x)]) for k in numbers]


_FRICTION = 'try --estimator auto, which compares friction models'
AXES = (
    ResidualAxis(
        'time', 'the zero of the effort drifts, or something pushed the arm for a while: '
        'record again with a warm drive and a free arm', lambda m: [m.slow], of_recording=True),
    ResidualAxis(
        'time, in a step', 'the zero of the effort or of an encoder jumped, or the load changed: '
        'look at the residuals in the report, and record again',
        lambda m: [(m.elapsed[:, None] > part).astype(float) for part in _PARTS],
        of_recording=True),
    ResidualAxis(
        'time, in proportion to the torque', 'the gain of the effort drifts: record again with a '
        'warm drive', lambda m: [m.torque[:, None] * m.slow[:, :3]]),
    ResidualAxis(
        'time, in proportion to the friction', 'friction warms up: move the arm for some minutes '
        'before the recording', lambda m: [m.direction[:, None] * np.column_stack(
            [m.slow[:, :3], np.exp(-5 * m.elapsed)])]),
    ResidualAxis(
        'position', 'a spring, a cable, a stop or the zero of an encoder is not modelled',
        lambda m: [hat_functions(m.q, 14)]),
    ResidualAxis(
        'position, in waves', 'ripple of the gear or the motor, or an eccentric encoder',
        lambda m: _waves(m.q, _WAVES)),
    ResidualAxis(
        'position and direction', 'friction depends on the posture, or cables have hysteresis; '
        + _FRICTION, lambda m: [m.direction[:, None] * hat_functions(m.q, 7)]),
    ResidualAxis(
        'velocity', 'the friction model does not fit; ' + _FRICTION,
        lambda m: [hat_functions(m.v, 12)]),
    ResidualAxis(
        'load', 'friction depends on the load, or the effort is not proportional to the torque '
        '(saturation, dead zone): check gain, zero and limits of the effort sensor',
        lambda m: [np.column_stack([np.abs(m.torque) * m.direction,
                                    hat_functions(m.torque, 8)])]),
    ResidualAxis(
        'rate of change of the torque', 'positions and efforts are delayed or filtered '
        'differently: try --delay, and compare the filters of the drive',
        lambda m: [np.column_stack([m.slope, np.gradient(m.slope)])]),
    ResidualAxis(
        'torque of other joints', 'efforts of joints are exchanged, coupled or mixed: check the '
        'order of the joints, and the coupling in the robot YAML', lambda m: [m.others]),
    ResidualAxis(
        'a fixed frequency', 'a vibration or an electrical disturbance',
        lambda m: _waves(m.t, 2 * np.pi * _FREQUENCIES)),
)
"""The axes of the lack-of-fit test, in the order of the documentation."""


@dataclass(frozen=True, eq=False)
class _Effect:
    """Effect along an axis in the residual of a joint: its energy, its fraction, the axis."""

    fraction: float
    energy: float
    joint: int
    axis: ResidualAxis


@dataclass(frozen=True, eq=False)
class _JointFit:
    """
    Mean squares of the torques of one joint, [(N m)^2 or N^2].

    Parameters
    ----------
    torque, residual
        Measured torque, and residual of the model.
    rest
        Residual after all parameters of the joint are fitted to this recording alone.
    expected
        Residual that is expected of a correct model.
    effects
        The significant effects in the rest, largest fraction first.

    """

    torque: float
    residual: float
    rest: float
    expected: float
    effects: tuple[_Effect, ...]

    @property
    def excess(self) -> float:
        """Error over the expected one."""
        return float(np.sqrt(self.residual / self.expected))


def measure_lack_of_fit(data: check.CheckInput) -> check.Measurement | None:
    """
    Compare the residuals with noise and uncertainty, and search them for effects along the axes.

    The residual of each joint is compared with the rest that remains when all its parameters are
    fitted to this recording alone, plus the variance of the model's torque, and that of friction
    at speeds above those of training. A correct model leaves no more. A model from faulty data
    leaves more on other data, whatever the fault is. Rows in which the joint rests do not count,
    because static friction takes any value up to the breakaway torque.

    Effects along the axes are found by F tests, with the number of independent rows reduced by the
    autocorrelation of the rest, and with Bonferroni's correction for all axes, joints and
    recordings.
    """
    regression = data.model_regression
    deviation = regression.torque_deviation(data.model.uncertain_directions)
    beyond, band = _friction_beyond(data), data.model.band
    training = np.zeros(len(beyond)) if band is None else band.rest
    total = float(np.sum(regression.level ** 2))
    smallest = _NOTICEABLE ** 2 * total
    fits = {j: fit for j in regression.loaded_joints()
            if (fit := _fit_joint(regression, j, deviation[:, j], beyond[j], training[j],
                                  smallest))}
    if not fits:
        return None
    residual, rest = (sum(getattr(fit, name) for fit in fits.values())
                      for name in ('residual', 'rest'))
    # what is uncertain at one joint explains no more than the residual of that joint
    excess = float(np.sqrt(residual / sum(
        min(fit.expected, max(fit.residual, 1e-300)) for fit in fits.values())))
    names = regression.joint_names

    wrong = [j for j, fit in fits.items()
             if fit.excess > _EXCESS and fit.residual > _OF_JOINT ** 2 * fit.torque]
    if excess > _EXCESS and residual > smallest:
        wrong.append(max(fits, key=lambda j: fits[j].residual - fits[j].rest))
    effects = [effect for fit in fits.values() for effect in fit.effects]
    lacking = [each for each in effects if each.energy > max(_MOST * rest, smallest)]
    worst = max(wrong or fits, key=lambda j: fits[j].residual if wrong else fits[j].excess)
    text = (f'the error is {np.sqrt(residual / total):.1%} of the torque, {excess:.1f} times what '
            'noise and the uncertainty of the parameters explain')
    shown, advice = effects, ''
    if wrong:
        fit = fits[worst]
        text += (f', most at {names[worst]} ({np.sqrt(fit.residual / fit.torque):.1%} of its '
                 'torque)')
        shown = [each for each in fit.effects if each.fraction > _CLEAR]
        advice = f'; {shown[0].axis.cause}' if shown else _CONTRADICTION
    elif lacking:
        shown = [max(lacking, key=lambda each: each.energy)]
        worst, advice = shown[0].joint, f'; {shown[0].axis.cause}'
    if shown:
        effect = shown[0] if wrong else max(shown, key=lambda each: each.energy)
        text += (f'; an effect of {np.sqrt(effect.energy / fits[effect.joint].torque):.1%} of the '
                 f'torque of {names[effect.joint]} varies with {effect.axis.name}')
    return check.Measurement(excess, _EXCESS, '-', text, advice,
                             names[worst] if wrong or lacking else '', bool(wrong or lacking))


def _friction_beyond(data: check.CheckInput) -> Array:
    """Return the mean square deviation of friction above the speeds of training, (n,)."""
    samples = check.require(data.samples)
    rows = slice(None, None, 1 + len(samples) // _MAX_ROWS)
    q, v, a = samples.q[rows], samples.v[rows], samples.a[rows]
    load = data.model.transmitted_torque(q, v, a)
    beyond = data.model.friction_beyond(q, v, load, data.model.states(q))
    moving = v != 0
    return np.asarray(np.sum(moving * beyond ** 2, axis=0) / np.maximum(moving.sum(axis=0), 1))


def _fit_joint(regression: ResidualRegression, j: int, deviation: Array, beyond: float,
               training: float, smallest: float) -> _JointFit | None:
    """
    Return the mean squares of a joint, and the effects; None if it hardly moves.

    The expected residual is the sum of three variances: the noise, which is the rest without the
    largest noticeable effect of time, as that belongs to the recording; that of the model's torque
    from the covariance of its parameters; and that of friction at speeds above those of training.
    The second is proportional to the residual of the training, which faults in those data increase
    as well. It therefore counts up to the size of the noise, and beyond that only as if the
    residual of the training were the noise.
    """
    moving = regression.not_at_rest(j)
    rows = regression.packed[j][moving, :-1]
    residual = regression.residual[moving, j]
    base = orthonormal_basis(rows, _SINGULAR)
    spare = len(residual) - base.shape[1]
    if spare < _SPARE:
        return None
    rest = residual - base @ (base.T @ residual)
    effects = _find_effects(regression, j, moving, base, rest)
    torque = float(regression.level[j] ** 2)
    passing = max((each.fraction for each in effects if each.axis.of_recording
                   and each.energy > min(smallest, _DRIFT ** 2 * torque)), default=0.0)
    power = float(rest @ rest) / spare
    noise = (1 - passing) * power
    uncertain = float(np.mean(deviation[moving] ** 2))
    scale = min(noise / max(training ** 2, 1e-300), 1.0)
    uncertain = max(min(uncertain, noise), uncertain * scale)
    return _JointFit(torque, float(np.mean(residual ** 2)), power,
                     max(noise + uncertain + float(beyond), 1e-300), effects)


def _find_effects(regression: ResidualRegression, j: int, moving: NDArray[np.bool_], base: Array,
                  rest: Array) -> tuple[_Effect, ...]:
    """Return the significant effects in a joint's residual, largest fraction first."""
    samples, decimate = regression.samples, regression.samples.decimate
    q, v = np.array(samples.q[:, j]), np.array(samples.v[:, j])
    motion = JointMotion(*(values[moving] for values in (
        *map(decimate, (np.array(samples.t), q, v, np.sign(v))), regression.predicted[:, j],
        regression.slope[:, j], np.delete(regression.predicted, j, axis=1))))
    found, energy = [], float(rest @ rest)
    tests = _RECORDINGS * len(AXES) * len(regression.loaded_joints())
    for axis in AXES:
        groups = [orthonormal_basis(_project_out(columns, base), 1e-3)
                  for columns in axis.columns(motion)]
        best = max(groups, key=lambda group: float(np.sum((group.T @ rest) ** 2)))
        remaining = rest - best @ (best.T @ rest)
        explained, count = energy - float(remaining @ remaining), best.shape[1]
        factor = float(autocorrelation_factor([remaining[:, None]], len(rest))[0])
        independent = len(rest) / factor - base.shape[1] - count
        if independent < _SPARE or not count:
            continue
        p = f_test(explained / factor, energy - explained, count, independent)
        if p * tests * len(groups) < _LEVEL:
            found.append(_Effect(explained / energy, explained / len(rest), j, axis))
    return tuple(sorted(found, key=lambda each: -each.fraction))


def _project_out(columns: Array, base: Array) -> Array:
    """Return the residual of columns on an orthonormal basis, (rows, k)."""
    for _ in range(2):    # twice for rounding errors
        columns = columns - base @ (base.T @ columns)
    return columns


CHECK = check.Check(
    'lack of fit', 'Do noise and the uncertainty of the parameters explain the residuals?',
    f'an error above {_NOTICEABLE:.0%} of the torque of the arm, or {_OF_JOINT:.0%} of that of a '
    f'joint, and above {_EXCESS:g} times what the noise of this recording and the uncertainty of '
    f'the parameters explain; or an effect of that size along one axis that explains {_MOST:.0%} '
    f'of what no parameter fits (F tests at a common level of {_LEVEL:.0%})',
    check.RECORDINGS, measure_lack_of_fit)
