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
"""Residuals of a momentum observer: their statistics, and contacts."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays, sphere_points, true_runs
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError, EstimationError, UnknownNameError
from robot_identification.estimation.estimate import covariance_root
from robot_identification.online import momentum

SETTLING = 5.0
"""Number of time constants of the observer whose samples are discarded after a start: its initial
error has then decayed to 0.7 %."""
MIN_SECONDS = 5.0
"""[s] Shortest motion without contact from which statistics are computed."""
PEAKS = 0.9
"""Quantile of the residual's peaks above which an exponential tail is fitted: far enough from the
centre of the distribution, with a tenth of the peaks left for the fit."""
HOUR = 3600.0    # [s]
BREAKAWAY = 1.25
"""Largest friction at rest over the friction of the model at the speed `REST`: friction rises
towards rest (Stribeck) and from day to day by some 10 % each."""
OWN = 1.1
"""Margin of the threshold above the largest residual without contact: `ContactObserver` computes
the uncertainty of the model twenty times a second only."""
CHANGE = 0.2
"""Largest relative change of friction between the identification and a day of work: temperature
changes it by 15 %, and a fifth of it is the part of a Stribeck curve that the model may lack."""
PRESLIDING = 3e-3
"""[rad or m] Travel after rest or a reversal in which friction builds up: gears and bearings slide
after some thousandths of a radian; until then friction may still act in the former direction."""
SLOW = 0.1
"""[rad/s or m/s] Speed towards which residuals of slow motion decay to those of fast motion."""
RESTED = 0.1
"""[s] Time for which every joint is slower than `REST` before the arm counts as resting: the
observer has then forgotten the motion, and friction only changes with the external torque."""
LAG = 6e-3
"""[s] Delay of measured torques that the model may not know: cycles of a drive and of a driver,
and filters. Where the torque changes by T at once, the residual differs by up to
2 pi `bandwidth` `LAG` T."""
PAUSES = 10
"""Fewest pauses of a reference from which friction at rest is learnt."""
HOLD = 0.05
"""[s] Time after slow motion during which friction at rest is still in the smoothed speed and
effort: the length of the window that smooths joint states, and some samples."""


class FrictionAllowance:
    """
    Largest external torque of each joint that friction or a delay may imitate.

    A joint at rest may hold any torque up to its static friction, so that this is a bound and not
    a standard deviation. After rest or a reversal friction may even act in the direction of
    motion, until the joint has travelled by some `PRESLIDING`. The bound is kept for `HOLD`, and
    then fades as the observer's low-pass forgets it. In motion it is `CHANGE` of the friction.
    While the whole arm rests, the bound is the friction that a reference showed at rest, if it had
    pauses, and `CHANGE` of it. A delay of the torque counts as `LAG` times its derivative, which
    passes the low-pass of the observer.

    Parameters
    ----------
    bandwidth
        Cut-off frequency of the observer [Hz].
    rest_friction
        As in `ResidualStatistics`; None if unknown.

    Attributes
    ----------
    share
        Bound at rest over the friction of the model at the speed `REST`, (n,) or one value.

    """

    def __init__(self, bandwidth: float, rest_friction: Array | None = None) -> None:
        self._rate, self._known = 2 * np.pi * bandwidth, rest_friction is not None
        self.share = BREAKAWAY if rest_friction is None else (1 + CHANGE) * rest_friction
        self.reset()

    @property
    def resting(self) -> bool:
        """Whether all joints have been slower than `REST` for `RESTED`."""
        return self._t - self._moved > RESTED

    def reset(self) -> None:
        """Begin again, after a gap in the joint states."""
        self._t = self._moved = -np.inf
        self._level = np.zeros(0)

    def step(self, t: float, v: Array, tau: Array, friction: Array) -> Array:
        """
        Return the allowance at a joint state, (n,) [N m or N].

        Parameters
        ----------
        t
            Stamp [s].
        v, tau, friction
            Velocities and torques of the joints, and magnitudes of their friction from
            `uncertainty`, (n,).

        """
        speed, forward = np.abs(v), np.sign(v)
        if not len(self._level):
            self._t = self._moved = t
            self._forward, self._torque = forward, tau
            self._level = self._travel = np.zeros(len(v))
            self._until = np.full(len(v), -np.inf)
        step = max(t - self._t, 0.0)
        self._moved = t if np.any(speed >= momentum.REST) else self._moved
        begins = (speed < momentum.REST) | (forward * self._forward < 0)
        self._travel = np.where(begins, 0.0, self._travel + speed * step)
        unknown = np.exp(-self._travel / PRESLIDING)
        moving = CHANGE + (BREAKAWAY - 1) * np.exp(-speed / SLOW)
        # the model already shows friction
        static = BREAKAWAY + np.minimum(speed / momentum.REST, 1.0)
        bound = friction * (moving + (static - moving) * unknown)
        faded = self._level * np.where(t > self._until, np.exp(-self._rate * step), 1.0)
        if self._known and t - self._moved > RESTED:
            bound = friction * (self.share + np.minimum(speed / momentum.REST, 1.0))
        else:
            self._until = np.where(bound >= faded, t + HOLD, self._until)
        self._t, self._forward, self._level = t, forward, np.maximum(bound, faded)
        self._torque = tau + (self._torque - tau) * np.exp(-self._rate * step)
        return self._level + LAG * self._rate * np.abs(tau - self._torque)


@dataclass(frozen=True, eq=False)
class ResidualStatistics(ReadOnlyArrays):
    """
    Statistics of a momentum observer's residual without contact.

    Parameters
    ----------
    bias, deviation
        Mean and standard deviation of each joint's residual, (n,) [N m or N]; the standard
        deviation is infinite where the effort is not measured.
    slow_deviation
        Root mean square of the residual in slow motion and at rest beyond the allowance for
        friction, at least `deviation`, (n,) [N m or N].
    rest_friction
        Largest mean residual that pauses of the whole arm may have, over the friction of the model
        at the speed `REST`, (n,) [-]: the largest one of the reference, and as much above it as
        the second largest one is below it (Robson and Whitlock); None if there are fewer than
        `PAUSES` pauses.
    rest_deviation
        Standard deviation of the residual within these pauses, (n,) [N m or N]; None without them.
    crossings
        Rate at which each residual crosses its mean upwards, (n,) [Hz].
    tail
        Mean height of the peaks above `knee`, minus `knee`, in standard deviations.
    knee
        90 % quantile of the peaks of all joints, in standard deviations.
    peak_rate
        Rate of peaks above `knee`, of all joints together [Hz].
    directions
        Factor D of the covariance D'D of the model's standard parameters, (r, p); None if the
        covariance is unknown.
    highest
        Largest residual beyond the allowance for friction at rest, in standard deviations.
    seconds
        Duration of the motion [s].

    """

    bias: Array
    deviation: Array
    slow_deviation: Array
    crossings: Array
    tail: float
    knee: float
    peak_rate: float
    directions: Array | None
    highest: float
    seconds: float
    rest_friction: Array | None = None
    rest_deviation: Array | None = None

    def threshold(self, alarms_per_hour: float = 1.0) -> float:
        """
        Return the threshold of contact, in standard deviations of the external torque.

        It is the largest of three. The first follows, for the accepted rate of false alarms, from
        Rice's formula for a Gaussian process with the measured crossing rates. The second follows
        from an exponential tail fitted to the peaks, because friction errors make high peaks more
        frequent than in a Gaussian process. The third is the largest value in the recording
        without contact, with a margin: a threshold must not alarm on the recording from which it
        was derived.

        Parameters
        ----------
        alarms_per_hour
            Accepted rate of false alarms of all joints together.

        Raises
        ------
        ConfigurationError
            The rate is not positive.

        References
        ----------
        S. O. Rice, "Mathematical analysis of random noise", Bell System Technical J. 24, 1945.

        """
        if not alarms_per_hour > 0:
            raise ConfigurationError(f'the rate of false alarms must be positive, not '
                                     f'{alarms_per_hour:g} per hour')
        rate = alarms_per_hour / HOUR
        gaussian = np.sqrt(2 * np.log(max(2 * float(self.crossings.sum()) / rate, 1.0)))
        heavy = self.knee + self.tail * np.log(max(self.peak_rate / rate, 1.0))
        return float(max(gaussian, heavy, OWN * self.highest))

    def uncertainty(self, model: IdentifiedModel, q: Array, v: Array) -> tuple[Array, Array]:
        """
        Return the contributions of parameters and friction to the uncertainty of external torques.

        They are arguments of `deviations` and of `FrictionAllowance`. They change slowly along a
        motion, so a control loop can compute them at a lower rate.

        Parameters
        ----------
        model
            The model of the observer.
        q, v
            Positions and velocities, (N, n) [rad or m, per s].

        Returns
        -------
        tuple
            Variance of the predicted torques due to the covariance of the model's parameters,
            (N, n) [N^2 m^2 or N^2], and magnitude of the friction at the speeds v, or at `REST`
            if they are lower, (N, n) [N m or N].

        """
        zero, load = np.zeros_like(q), momentum.holding_torque(model, q)
        variance = zero
        if self.directions is not None:
            columns = model.structure.columns(q, v, zero, load, model.structure.sliding_state(v))
            variance = np.sum((columns @ self.directions.T) ** 2, axis=2)
        speed = np.maximum(np.abs(v), momentum.REST)
        friction = np.abs(momentum.model_friction(model, q, speed, load)
                          - momentum.model_friction(model, q, -speed, load)) / 2
        return variance, friction

    def deviations(self, v: Array, variance: Array, resting: Array | bool = False) -> Array:
        """
        Return the standard deviations of the external torques, (N, n) [N m or N].

        The variance is the sum of that of the residual without contact, which is larger in slow
        motion, and that due to the covariance of the model's parameters. While the arm rests, it
        is that of the residual within pauses, if the reference had any: errors of the model are
        constant then, and a part of the friction at rest that the reference showed.

        Parameters
        ----------
        v
            Velocities, (N, n) [rad/s or m/s].
        variance
            Result of `uncertainty`.
        resting
            Whether the arm rests (`FrictionAllowance.resting`), (N, 1) or one value.

        """
        slow = np.exp(-np.abs(v) / SLOW)
        with np.errstate(invalid='ignore'):    # joints without measured efforts
            more = np.nan_to_num(self.slow_deviation - self.deviation)
        std = np.sqrt((self.deviation + slow * more) ** 2 + variance)
        return std if self.rest_deviation is None else np.where(resting, self.rest_deviation, std)


def calibrate_residuals(observer: momentum.MomentumObserver, t: ArrayLike, q: ArrayLike,
                        v: ArrayLike, tau: ArrayLike,
                        covariance: Array | None = None) -> ResidualStatistics:
    """
    Return the statistics of a momentum observer's residual in a recording without contact.

    Parameters
    ----------
    observer
        The observer; the statistics are valid for its bandwidth.
    t, q, v, tau
        Stamps (N,) [s], positions, velocities and torques (N, n) of a recording without contact.
    covariance
        Covariance of the standard parameters, for instance `result.consistent.covariance`; None
        selects the one stored in the model file.

    Raises
    ------
    EstimationError
        The motion is too short.
    ModelFileError
        The covariance in the model file is damaged.

    Examples
    --------
    >>> statistics = calibrate_residuals(MomentumObserver(model), t, q, v, tau)    # doctest: +SKIP
    >>> observer = ContactObserver(MomentumObserver(model), statistics)    # doctest: +SKIP

    """
    t, q, v, tau = (np.asarray(x, dtype=float) for x in (t, q, v, tau))
    residual = observer.run(t, q, v, tau)
    starts = observer.segment_starts(t)
    since = t - np.repeat(t[starts], np.diff([*starts, len(t)]))
    kept = since > SETTLING / (2 * np.pi * observer.bandwidth)
    moving = np.abs(v) > momentum.REST
    seconds = float(np.sum(kept) * np.median(np.diff(t))) if len(t) > 1 else 0.0
    if seconds < MIN_SECONDS:
        raise EstimationError(f'{seconds:.1f} s of motion without contact is too little to '
                              f'calibrate the residual; record at least {MIN_SECONDS:g} s')
    counted = moving[kept] | ~moving[kept].any(axis=0)
    bias = residual[kept].mean(axis=0, where=counted)
    std = np.where(observer.model.arm.measured,
                   np.maximum(residual[kept].std(axis=0, where=counted), 1e-12), np.inf)
    upwards = np.sum(np.diff((residual[kept] >= bias).astype(int), axis=0) > 0, axis=0) / seconds
    statistics = ResidualStatistics(
        bias, std, std, upwards, tail=0.5, knee=1.0, peak_rate=1 / seconds, highest=0.0,
        directions=observer.model.uncertain_directions if covariance is None
        else covariance_root(covariance), seconds=seconds)
    variance, friction = statistics.uncertainty(observer.model, q, v)
    allowed, resting = _allowed(observer, (t, v, tau), friction, None)
    excess = np.maximum(np.abs(residual - bias) - allowed, 0.0)
    slow = kept[:, None] & (np.abs(v) < SLOW)
    rms = np.sqrt(np.sum(np.where(slow, excess, 0.0) ** 2, axis=0)
                  / np.maximum(slow.sum(axis=0), 1))
    held, within = _rest_statistics(residual - bias, friction, resting & kept)
    statistics = replace(
        statistics, slow_deviation=np.maximum(std, rms), rest_friction=held,
        rest_deviation=None if within is None else np.where(np.isfinite(std), within, np.inf))
    allowed, resting = _allowed(observer, (t, v, tau), friction, held)
    excess = np.maximum(np.abs(residual - bias) - allowed, 0.0)
    size = (excess / statistics.deviations(v, variance, resting[:, None]))[kept]
    before, here, after = size[:-2], size[1:-1], size[2:]
    peaks = here[(here >= before) & (here > after)]
    if not len(peaks):
        return statistics
    knee = float(np.quantile(peaks, PEAKS))
    beyond = peaks[peaks > knee]
    tail = float(np.mean(beyond - knee)) if len(beyond) else statistics.tail
    return replace(statistics, tail=tail, knee=knee, peak_rate=max(len(beyond), 1) / seconds,
                   highest=float(size.max()))


def _rest_statistics(residual: Array, friction: Array, resting: Array
                     ) -> tuple[Array | None, Array | None]:
    """
    Return `rest_friction` and `rest_deviation` from the pauses; None if there are few.

    References
    ----------
    D. S. Robson, J. H. Whitlock, "Estimation of a truncation point", Biometrika 51(1/2), 1964.

    """
    pauses = true_runs(resting)
    if len(pauses) < PAUSES:
        return None, None
    means = np.array([residual[pause].mean(axis=0) for pause in pauses])
    held = np.array([friction[pause].mean(axis=0) for pause in pauses])
    within = np.concatenate([residual[pause] - mean for pause, mean in zip(pauses, means)])
    count = max(len(within) - len(pauses), 1)
    second, first = np.sort(np.abs(means) / np.maximum(held, 1e-12), axis=0)[-2:]
    return (2 * first - second,
            np.maximum(np.sqrt(np.sum(within ** 2, axis=0) / count), 1e-12))


def _allowed(observer: momentum.MomentumObserver, states: tuple[Array, Array, Array],
             friction: Array, rest_friction: Array | None) -> tuple[Array, Array]:
    """Return the allowances of a recording, (N, n) [N m or N], and where the arm rests, (N,)."""
    t, v, tau = states
    allowance = FrictionAllowance(observer.bandwidth, rest_friction)
    starts, resting = set(observer.segment_starts(t)), np.zeros(len(t), dtype=bool)
    allowed = np.empty_like(v)
    for k in range(len(t)):
        if k in starts:
            allowance.reset()
        allowed[k] = allowance.step(float(t[k]), v[k], tau[k], friction[k])
        resting[k] = allowance.resting
    return allowed, resting


SINGULAR = 1e-3
"""Singular value of the weighted Jacobian, relative to the largest, below which a direction of the
wrench is taken to cause no joint torque: an external force in it cannot be measured."""
REFRESH = 0.05
"""[s] Period of updating the uncertainty due to the model. It takes longer to compute than a step
of the observer and changes little in this time."""


DIRECTIONS = 200
"""Number of directions in which the detectable force is computed."""


@dataclass(frozen=True, eq=False)
class Wrench(ReadOnlyArrays):
    """
    External force and moment on a frame of the arm, usually the tool.

    Parameters
    ----------
    values
        Force, then moment about the frame's origin, in the axes of the base, (6,) [N, N m].
    covariance
        Covariance of the values, (6, 6); infinite on the diagonal where a component is not
        determined by joint torques.
    rank
        Number of directions of the wrench that cause joint torques, at most 6.

    """

    values: Array
    covariance: Array
    rank: int


@dataclass(frozen=True, eq=False)
class ExternalTorque(ReadOnlyArrays):
    """
    External torques at one joint state.

    Parameters
    ----------
    torque, deviation
        Torque of each joint and its standard deviation, (n,) [N m or N]; NaN and infinite where
        the effort is not measured. The deviation includes the friction that may hold a joint.
    contact
        Whether the external torque of any joint exceeds the threshold.
    joints
        Whether the external torque of each joint exceeds the threshold, (n,) bool.
    limit
        Largest magnitude of each joint's external torque that is not contact, (n,) [N m or N].

    """

    torque: Array
    deviation: Array
    contact: bool
    joints: Array
    limit: Array


class ContactObserver:
    """
    Contact detector: compares external torques with a threshold for a given rate of false alarms.

    Parameters
    ----------
    observer
        Momentum observer of the external torques.
    statistics
        Statistics of the observer's residual without contact, from `calibrate_residuals`.
    alarms_per_hour
        Accepted rate of false alarms.
    gap
        Time between joint states above which the observer is reset [s]. Without the reset, the
        change of momentum within the gap would appear as contact.

    Examples
    --------
    >>> statistics = calibrate_residuals(MomentumObserver(model), t, q, v, tau)    # doctest: +SKIP
    >>> observer = ContactObserver(MomentumObserver(model), statistics)    # doctest: +SKIP
    >>> observer.step(0.0, q[0], v[0], tau[0]).contact    # doctest: +SKIP
    False

    """

    def __init__(self, observer: momentum.MomentumObserver, statistics: ResidualStatistics,
                 alarms_per_hour: float = 1.0, gap: float = momentum.GAP) -> None:
        self.observer, self.statistics, self.gap = observer, statistics, gap
        self.threshold = statistics.threshold(alarms_per_hour)
        self._since = self._last = -np.inf
        self._allowance = FrictionAllowance(observer.bandwidth, statistics.rest_friction)

    def limits(self, q: ArrayLike) -> tuple[Array, Array]:
        """
        Return the external torques above which contact is detected, at rest and in fast motion.

        Parameters
        ----------
        q
            Joint positions, (n,) [rad or m].

        Returns
        -------
        tuple
            Limits at rest and in motion, (n,) [N m or N] each; infinite where the effort is not
            measured.

        """
        model, q = self.observer.model, np.asarray(q, dtype=float)[None]
        fast, still, statistics = np.full_like(q, 10 * SLOW), np.zeros_like(q), self.statistics
        variance, friction = statistics.uncertainty(model, q, still)
        shares = (still, self._allowance.share), (fast, CHANGE)
        return tuple(self.threshold * statistics.deviations(v, variance, v is still)[0]
                     + share * friction[0] for v, share in shares)

    def step(self, t: float, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ExternalTorque:
        """
        Return the external torque at a joint state.

        The observer is reset after a gap, or if the clock was set back.

        Parameters
        ----------
        t
            Stamp [s].
        q, v, tau
            Positions, velocities and torques of the joints, (n,) each.

        Raises
        ------
        ConfigurationError
            The stamp is repeated, or a value is not finite.

        """
        if t < self._last or t - self._last > self.gap:
            self.observer.reset()
            self._allowance.reset()
        torque = self.observer.step(t, q, v, tau) - self.statistics.bias
        self._last, speed = t, np.asarray(v, dtype=float)
        if not 0 <= t - self._since < REFRESH:
            self._since, self._uncertainty = t, self.statistics.uncertainty(
                self.observer.model, np.asarray(q, dtype=float)[None], speed[None])
        variance, friction = self._uncertainty
        allowed = self._allowance.step(t, speed, np.asarray(tau, dtype=float), friction[0])
        std = self.statistics.deviations(speed, variance, self._allowance.resting)[0]
        limit = self.threshold * std + allowed
        joints = np.abs(torque) > limit
        torque = np.where(np.isfinite(std), torque, np.nan)
        return ExternalTorque(torque, np.hypot(std, allowed), bool(joints.any()), joints, limit)


def detectable_force(arm: Arm, q: ArrayLike, limit: ArrayLike, frame: str | None = None) -> float:
    """
    Return the force on a frame that is detected in half of all directions [N].

    A force F in the direction u causes the joint torques J'u F, and is detected where one of them
    exceeds its limit.

    Parameters
    ----------
    arm, q, frame
        As for `tool_wrench`.
    limit
        Largest external torque of each joint that is not contact, (n,) [N m or N], for instance
        `ExternalTorque.limit`.

    Raises
    ------
    UnknownNameError
        The URDF has no such frame.

    """
    jacobian = _frame_jacobian(arm, np.asarray(q, dtype=float), frame)[:3]
    reach = np.max(np.abs(sphere_points(DIRECTIONS) @ jacobian)
                   / np.asarray(limit, dtype=float), axis=1)
    return float(1 / np.median(reach))


def _frame_jacobian(arm: Arm, q: Array, frame: str | None) -> Array:
    """Return the Jacobian (6, n) of a frame in the axes of the base; of the tool for None."""
    model = arm.model
    names = [f.name for f in model.frames]
    if frame is not None and frame not in names:
        raise UnknownNameError('frame', frame, names)
    index = arm.tool if frame is None else names.index(frame)
    return np.asarray(pin.computeFrameJacobian(model, model.createData(), q, index,
                                               pin.LOCAL_WORLD_ALIGNED))


def tool_wrench(arm: Arm, q: ArrayLike, torque: ArrayLike, deviation: ArrayLike,
                frame: str | None = None) -> Wrench:
    """
    Return the wrench on a frame that explains external joint torques tau = J' wrench.

    J (6, n) is the Jacobian of the frame. Weighted least squares determines the wrench in the
    directions that cause joint torques. Components that are not determined have infinite variance.

    Parameters
    ----------
    arm
        The arm.
    q
        Joint positions, (n,) [rad or m].
    torque, deviation
        External torques and their standard deviations, (n,); infinite where a torque is unknown.
    frame
        Name of a frame of the URDF (link or joint); None selects the last link (`Arm.tool`).

    Raises
    ------
    UnknownNameError
        The URDF has no such frame.

    Examples
    --------
    >>> external = observer.step(t, q, v, tau)    # doctest: +SKIP
    >>> tool_wrench(arm, q, external.torque, external.deviation).values    # doctest: +SKIP

    """
    jacobian = _frame_jacobian(arm, np.asarray(q, dtype=float), frame)
    weight = 1 / np.maximum(np.asarray(deviation, dtype=float), 1e-12)
    left, sizes, right = np.linalg.svd((jacobian * weight).T, full_matrices=True)
    rank = int(np.sum(sizes > SINGULAR * sizes[0]))
    inverse = right[:rank].T / sizes[:rank]
    unobservable = np.any(np.abs(right[rank:]) > 1e-6, axis=0)    # (6,)
    covariance = inverse @ inverse.T + np.diag(np.where(unobservable, np.inf, 0.0))
    scaled = np.where(weight > 0, np.asarray(torque, dtype=float), 0.0) * weight
    return Wrench(inverse @ (left.T[:rank] @ scaled), covariance, rank)
