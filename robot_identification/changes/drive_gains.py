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
"""Identification of drive gains from recordings with and without a known payload."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.changes import joint_fit, torque_columns
from robot_identification.changes.joint_fit import Effect, Equations, JointFit
from robot_identification.changes.motion_run import MotionRun, recorded_runs, top_speed
from robot_identification.dynamics import from_pseudo_inertia, IdentifiedModel, ModelStructure
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.recording import Recording
from robot_identification.signals import process
from scipy.special import ndtri

MASS_DEVIATION, CENTRE_DEVIATION = 0.01, 0.005
"""Standard deviations of a mass from a scale with cables and flange, relative, and of a centre of
mass from a drawing [m]."""
_UNKNOWN_CENTRE = 0.5
"""[m] Standard deviation of a centre of mass that is not given."""
_WEAK = 0.05
"""Relative standard deviation of a gain above which a warning is given."""
_UNDETERMINED = 0.2
"""Relative standard deviation of a gain above which it counts as undetermined."""
_IMPLAUSIBLE = 3.0
"""Ratio to the URDF's torques beyond which the mass of the payload is doubted."""
_ROUNDS, _CONVERGED, _STEP = 30, 1e-4, 3.0
"""Largest number of Gauss-Newton steps, relative step that ends them, and largest factor by which
one changes a gain."""


@dataclass(frozen=True, eq=False)
class GainEstimate(ReadOnlyArrays):
    """
    Torque per current of each drive.

    Parameters
    ----------
    gains
        Torque at the joint for one unit of the recorded effort, (n,) [N m/A or N/A].
    deviations
        Standard deviations of the gains, (n,).
    urdf_ratio
        Torque of the arm with these gains over that of its URDF.

    """

    gains: Array
    deviations: Array
    urdf_ratio: float = 1.0

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Whether the standard deviation exceeds 5 % of the gain, (n,)."""
        return ~(self.deviations <= _WEAK * self.gains)

    @property
    def undetermined(self) -> NDArray[np.bool_]:
        """Whether the standard deviation exceeds 20 % of the gain, (n,)."""
        return ~(self.deviations <= _UNDETERMINED * self.gains)

    @property
    def implausible(self) -> bool:
        """Whether the arm would be more than three times heavier or lighter than its URDF."""
        return not 1 / _IMPLAUSIBLE < self.urdf_ratio < _IMPLAUSIBLE

    @property
    def verdict(self) -> str:
        """The word 'implausible', 'undetermined' or 'weak' (some gains), or 'determined'."""
        return ('implausible' if self.implausible else
                'undetermined' if self.undetermined.any() else
                'weak' if self.weak.any() else 'determined')

    def intervals(self, level: float = 0.95) -> Array:
        """
        Return confidence intervals of the gains, (n, 2) [N m/A or N/A].

        Parameters
        ----------
        level
            Confidence level; the logarithms of the gains are assumed to be normally distributed.

        """
        with np.errstate(over='ignore'):
            factor = np.exp(ndtri((1 + level) / 2) * self.deviations / self.gains)
        return np.column_stack([self.gains / factor, self.gains * factor])


def identify_gains(
    arm: Arm,
    unloaded: Sequence[Recording],
    loaded: Sequence[Recording],
    mass: float,
    *,
    centre: Sequence[float] | None = None,
    friction: str = 'coulomb_viscous',
    mass_deviation: float = MASS_DEVIATION,
    centre_deviation: float = CENTRE_DEVIATION,
    sensor_deviation: float | None = None,
) -> GainEstimate:
    """
    Return the gain of every drive, from recordings with and without a known mass.

    Without a load, currents i determine a model only up to the gains G. A known payload p sets the
    scale: G i = W beta + F f without it, and G i = W beta + F f + W_p p with it. All recordings
    share the parameters beta and what the friction model lacks, f (`friction_shapes`, and a delay
    of each current). The errors of the currents are minimised by Gauss-Newton steps of
    `JointFit`, in which mass, centre and inertia of the payload have prior distributions; each
    gain is a factor of the torque that the equations predict, so that noise of the currents does
    not make it smaller. A gain that is found is that of drive and sensor together; a deviation of
    the sensors that is stated is added, for the gain of the drive alone. Gains are positive;
    the sign of the effort is stated in the robot YAML.

    Parameters
    ----------
    arm
        The arm; its gains are not used.
    unloaded, loaded
        Recordings of the motor currents; the motions may differ.
    mass
        Mass of the payload [kg].
    centre
        Its centre of mass in the frame of the last joint [m], if known.
    friction
        Name of a friction model that is linear in its parameters.
    mass_deviation, centre_deviation
        Standard deviations of the mass, relative, and of each coordinate of the centre [m]; the
        deviations of the gains contain them.
    sensor_deviation
        Standard deviation of the gain of each current sensor [-], for the gain of the drive alone;
        None selects that of the robot file, or 0.

    Raises
    ------
    ConfigurationError
        The mass is not positive, a deviation is negative, a recording has no current, or one with
        payload has the currents of one without.
    EstimationError
        The recordings determine no gain.

    References
    ----------
    M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
    robots", ASME J. Dynamic Systems, Measurement, and Control 136(5), 2014.

    """
    _check_request(arm, unloaded, loaded, mass, (mass_deviation, centre_deviation))
    sensors = torque_columns.sensor_deviations(arm, sensor_deviation, default=0.0)
    model = _unloaded_model(arm, friction)
    point = np.array([*(np.zeros(3) if centre is None else centre), 1.0])
    body = from_pseudo_inertia(mass * np.outer(point, point))
    spread = _UNKNOWN_CENTRE if centre is None else centre_deviation
    prior = np.array([*[np.inf] * arm.n, *[max(x, 1e-9) for x in (
        mass_deviation, *[mass * spread] * 3, *[mass * torque_columns.RADIUS ** 2] * 6)]])
    sign = 1 if arm.effort is None else arm.effort.sign
    runs = _current_runs(model, *(
        [replace(each, tau=sign * np.asarray(each.current), current=None) for each in recordings]
        for recordings in (unloaded, loaded)))
    gains, effect = _solve_gains(model, runs, body, prior)
    deviations = np.hypot(np.sqrt(np.diag(effect.normal_covariance)[:arm.n]), sensors)
    result = GainEstimate(gains, gains * deviations, _urdf_ratio(runs, gains))
    if result.undetermined[list(map(bool, arm.measured))].all():
        raise EstimationError(
            'the recordings do not determine the gain of any drive: check that those with payload '
            'have it; it must act on the joints by gravity or inertia, so use another motion, a '
            'larger mass, or give its centre')
    return result


def _check_request(arm: Arm, unloaded: Sequence[Recording], loaded: Sequence[Recording],
                   mass: float, deviations: tuple[float, float]) -> None:
    """Raise ConfigurationError for what `identify_gains` cannot use."""
    if not mass > 0:
        raise ConfigurationError(f'the mass of the payload must be positive; got {mass}')
    if not (0 <= deviations[0] < 1 and deviations[1] >= 0):
        raise ConfigurationError('the deviations of mass and centre must not be negative, and '
                                 'that of the mass is relative and below 1')
    if len(arm.transmission) != arm.n:
        raise ConfigurationError(f"the drives of '{arm.name}' are coupled; gains of coupled "
                                 f'drives cannot be identified')
    for recording in (*unloaded, *loaded):
        if recording.current is None:
            raise ConfigurationError(f"the recording '{recording.name}' has no motor current")
    for carrying in loaded:
        for empty in unloaded:
            if np.array_equal(np.asarray(carrying.current), np.asarray(empty.current)):
                raise ConfigurationError(
                    f"the recordings '{empty.name}' and '{carrying.name}' have the same currents; "
                    'give one without the payload and another one with it')


def _unloaded_model(arm: Arm, friction: str) -> IdentifiedModel:
    """Return the URDF's arm without friction and gains, with the columns of a friction model."""
    arm = replace(arm, effort=None, source=None)
    structure = ModelStructure.of(arm, friction)
    if structure.friction.nonlinear or structure.friction.needs_load:
        raise ConfigurationError('gains need friction that is linear in its parameters, not '
                                 f"'{friction}': use coulomb_viscous or cube_root")
    none = np.zeros((arm.n, len(structure.friction.parameters)))
    return IdentifiedModel(arm, arm.inertial_parameters, np.zeros(arm.n), friction, none)


def _current_runs(model: IdentifiedModel, unloaded: Sequence[Recording],
                  loaded: Sequence[Recording]) -> list[tuple[MotionRun, Equations]]:
    """
    Return the runs of all recordings, whose torques are currents; those without payload first.

    The equations have the columns that all runs share, and those of the payload as effects.
    """
    runs = [(run, carries) for recordings, carries in ((unloaded, 0.0), (loaded, 1.0))
            for recording in recordings for run in recorded_runs(
                process(recording, model.arm), model)]
    if not {0.0, 1.0} <= {carries for _, carries in runs}:
        raise EstimationError('the recordings are too short to identify gains; record several '
                              'seconds of motion with and without the payload')
    top = top_speed(run for run, _ in runs)
    return [(run, Equations(
        run.torque, run.apply(lambda q, v, a: np.concatenate([
            torque_columns.standard_columns(model, q, v, a),
            torque_columns.friction_shapes(model, q, v, a, top)], axis=2)),
        carries * run.apply(partial(torque_columns.body_torques, model)),
        run.moving(top) & model.arm.measured, joint_fit.time_blocks(run.clock, run.period)))
        for run, carries in runs]


def _solve_gains(model: IdentifiedModel, runs: Sequence[tuple[MotionRun, Equations]], body: Array,
                 prior: Array) -> tuple[Array, Effect]:
    """
    Return the gains (n,), and the estimate of their relative changes and of the payload's errors.

    With the torque T that the equations predict, the step is G i - W_p p = W d + F f
    + W_p dp - T dG / G. In the first step T is G i, which makes the equations linear in the gains.

    Parameters
    ----------
    model
        Model of the arm without friction.
    runs
        The runs.
    body
        Expected inertial parameters of the payload, (10,).
    prior
        Prior standard deviations of the relative errors of the gains and of the payload's scale,
        and of the errors of its other parameters, (n + 10,).

    """
    n = model.arm.n
    size, expected = (np.abs(np.concatenate(x)).mean(axis=0) for x in (
        [run.torque for run, _ in runs], [run.predicted for run, _ in runs]))
    gains = np.maximum(expected, 1e-3 * expected.max()) / np.maximum(size, 1e-12)
    torques = [gains * run.torque for run, _ in runs]
    ends = np.cumsum([len(torque) for torque in torques])[:-1]
    values = np.zeros(n + 10)
    for k in range(_ROUNDS):
        equations = [_linearised(*run, gains, torque, body) for run, torque in zip(runs, torques)]
        fit = JointFit.of(equations, values=values)
        effect = fit.estimate(range(n + 10), prior)
        if k == 0:    # the residuals at the gains of the start say nothing
            fit = replace(fit, errors=JointFit.of(equations, values=effect.values).errors)
        factor = np.clip(1 + effect.values[:n], 1 / _STEP, _STEP)
        torques = [factor * (gains * run.torque - errors)
                   for (run, _), errors in zip(runs, np.split(fit.errors, ends))]
        gains, values = factor * gains, np.concatenate([np.zeros(n), effect.values[n:]])
        if np.abs(factor - 1)[model.arm.measured].max() < _CONVERGED:
            break
    return gains, effect


def _linearised(run: MotionRun, equations: Equations, gains: Array, torque: Array,
                body: Array) -> Equations:
    """Return the equations of a Gauss-Newton step; see `_solve_gains`."""
    joints, known = np.eye(len(gains)), equations.effects @ body
    slope = np.gradient(torque, run.step / run.rate, axis=0)
    return replace(
        equations, target=gains * run.torque - known,
        nuisance=np.concatenate([equations.nuisance, slope[:, :, None] * joints], axis=2),
        effects=np.concatenate([-torque[:, :, None] * joints, known[:, :, None],
                                equations.effects[:, :, 1:]], axis=2))


def _urdf_ratio(runs: Sequence[tuple[MotionRun, Equations]], gains: Array) -> float:
    """Return the torques without payload over those of the URDF's links."""
    empty = [run for run, equations in runs if not equations.effects.any()]
    torque, expected = (np.concatenate(x) for x in (
        [gains * run.measured for run in empty], [run.predicted for run in empty]))
    return float(np.sum(torque * expected) / max(float(np.sum(expected ** 2)), 1e-300))
