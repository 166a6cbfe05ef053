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
"""Recordings from which no payload follows: it changes, or the poses are too similar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.changes.joint_fit import (
    Effect,
    Equations,
    join_runs,
    JointFit,
    LARGEST,
    time_blocks,
)
from robot_identification.changes.motion_run import MotionRun, top_speed
from robot_identification.changes.torque_columns import body_torques
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from robot_identification.dynamics.inertial import BODY_SCALE
from robot_identification.errors import ConfigurationError
from robot_identification.recording import Recording

_LEVEL = 0.001
"""Probability that a payload that does not change is said to change."""
_PARTS = 8
"""Number of equal parts of a recording, between which a change is searched."""
_FINEST = 1 / _PARTS ** 2
"""Smallest distance of two splits, as a part of the recording: an eighth of these parts."""
_NOTICEABLE = 0.1, 0.02
"""Smallest change of the mass, relative to it, and of the centre of mass [m] that counts."""
_REST, _STILL = 0.2, 0.002
"""A joint that moves less than the second number [rad or m] in the first [s] rests."""
_RESTING = 0.25
"""Part of the recording at rest above which only poses at rest count."""
_MAX_POSES = 2000
"""Largest number of samples whose poses are compared."""
FEWEST_POSES = 4
"""Poses that must differ; UR's payload wizard asks for as many."""
_DIFFERENT = 0.2
"""[rad or m] Norm of the difference of the joints' positions between poses that differ."""


@dataclass(frozen=True)
class PayloadChange:
    """
    Change of the payload during a recording.

    Parameters
    ----------
    time
        Time from the start of the recording [s], to the accuracy of 1/64 of it; an eighth if the
        arm often rests.
    mass, deviation
        Change of the mass and its standard deviation [kg].
    moment
        Change of mass times centre, (3,) [kg m].

    """

    time: float
    mass: float
    deviation: float
    moment: tuple[float, ...]


def find_change(model: IdentifiedModel, runs: Sequence[MotionRun], carried: float,
                unloaded: Sequence[MotionRun] = ()) -> PayloadChange | None:
    """
    Return the change of the payload in a recording, or None if there is none.

    The recording is split between eighths, and, unless the arm often rests, then ever closer to
    the best split. The model of the arm and the payload are fitted to all of it, and a change of
    mass and first moment to what comes after the split. A recording without payload is fitted
    together with it, see `join_runs`; if the motion is the same, errors of the model cancel, and
    smaller changes are found. Covariances are those of a jackknife over blocks of time; p-values
    are adjusted for the splits (Bonferroni).

    Parameters
    ----------
    model
        The model of the arm.
    runs
        The runs of the recording, from `recorded_runs`.
    carried
        Mass of the payload [kg], to which changes are compared.
    unloaded
        The runs of a recording without payload.

    """
    top, starts = top_speed((*unloaded, *runs)), np.cumsum([0.0, *(run.t[-1] for run in runs)])
    count = sum(len(np.unique(time_blocks(run.clock))) for run in runs)
    bodies = [run.apply(partial(body_torques, model)) for run in runs]
    clocks = [(run.clock + start) / starts[-1] for run, start in zip(runs, starts)]
    dated = [np.concatenate([body, np.broadcast_to(clock[:, None, None], (*body.shape[:2], 1))],
                            axis=2) for body, clock in zip(bodies, clocks)]
    errors = [run.residual for run in (*unloaded, *runs)]
    # without `unloaded`, blocks are parts of the recording, and common columns contain the body's
    timed = runs if unloaded else [replace(run, period=None) for run in runs]
    equations, _ = join_runs(model, (unloaded, timed), errors, dated, top)
    body = range(10 if unloaded else 0)
    # errors within one pose at rest are alike: a part that ends within poses has too few of them
    rests = np.concatenate([~run.moving(top).any(axis=1) for run in runs]).mean() > _RESTING
    finest = 1 / _PARTS if rests else _FINEST
    effects: dict[float, Effect] = {}    # by the split as a part of the recording
    parts, step = list(np.arange(1, _PARTS) / _PARTS), 1 / _PARTS
    while parts:
        # a part has as many blocks as a change has parameters
        parts = [part for part in parts if min(part, 1 - part) * count >= 4]
        effects |= _changes_after(parts, equations, body)
        if not effects:
            return None
        best = min(effects, key=lambda part: effects[part].squares)
        step /= 2
        parts = [best - step, best + step] if step >= finest else []
    effect = effects[best]
    mass, *moment = map(float, effect.values)
    small, near = (share * abs(carried) for share in _NOTICEABLE)
    if effect.p * len(effects) > _LEVEL or (
            abs(mass) < small and np.linalg.norm(moment) < near):
        return None
    return PayloadChange(float(starts[-1] * best), mass, float(effect.deviations[0]),
                         tuple(moment))


def _changes_after(parts: Sequence[float], equations: Sequence[Equations], body: Sequence[int]
                   ) -> dict[float, Effect]:
    """
    Return the change of mass and first moment after each split that the recording determines.

    Parameters
    ----------
    parts
        The splits, as parts of the recording.
    equations
        Equations whose effects are the ten parameters of a body and the time of each row, as a
        part of the recording.
    body
        Indices of the parameters of the body that are fitted beside the change.

    """
    fit = JointFit.of([replace(each, effects=np.concatenate([each.effects[:, :, :10], *(
        each.effects[:, :, :4] * (each.effects[:, :, 10:] > part) for part in parts)], axis=2))
        for each in equations], body)
    prior = np.array([*(LARGEST * BODY_SCALE)[:len(body)], *[np.inf] * 4])
    freedom = np.full(4, len(fit.by_block) - 1.0)    # of all blocks: a short part has few of them
    known = fit.by_block.sum(axis=0).diagonal()[fit.nuisance:]    # zero if nothing moves after it
    return {part: replace(
        fit.estimate([*body, *range(first, first + 4)], prior).part(len(body)), freedom=freedom)
        for part, first in zip(parts, range(10, 10 + 4 * len(parts), 4)) if known[first] > 0}


def describe_overload(model: IdentifiedModel, recording: Recording, body: Array) -> str:
    """
    Return a note if a joint's torque limit does not hold the arm with a payload, or ''.

    A URDF states no rated payload; its torque limits and the recorded poses do.

    Parameters
    ----------
    model
        The model of the arm.
    recording
        The recording, whose poses count.
    body
        Inertial parameters of the payload, (10,).

    """
    q = recording.q[::max(1, len(recording.q) // _MAX_POSES)]
    inertial = np.array(model.inertial)
    inertial[-1] += body
    still = np.zeros_like(q)
    used = (np.abs(inverse_dynamics(model.arm, q, still, still, inertial)).max(axis=0)
            / model.arm.limits.torque)
    joint = int(np.argmax(used))
    if not used[joint] > 1:
        return ''
    return (f'holding the payload takes {used[joint]:.0%} of the torque limit of '
            f'{model.arm.joint_names[joint]} in the recorded poses: it is above what the arm can '
            'carry')


def count_poses(recording: Recording) -> int:
    """
    Return the number of poses that differ, at most `FEWEST_POSES`.

    If the arm rests for a quarter of the recording or longer, only poses at rest count.

    Parameters
    ----------
    recording
        The recording.

    """
    q = recording.q
    step = max(1, int(_REST / np.median(np.diff(recording.t))))
    moved = np.abs(q[step:] - q[:-step]).max(axis=1)
    still = q[:-step][moved < _STILL]
    q = still if len(still) > _RESTING * len(moved) else q
    q, count = q[::max(1, len(q) // _MAX_POSES)], 1
    nearest = np.linalg.norm(q - q[0], axis=1)
    while count < FEWEST_POSES and nearest.max() > _DIFFERENT:
        nearest = np.minimum(nearest, np.linalg.norm(q - q[np.argmax(nearest)], axis=1))
        count += 1
    return count


def frame_on_last_link(arm: Arm, frame: str) -> tuple[Array, Array]:
    """
    Return rotation (3, 3) and position (3,) [m] of a frame in that of the last joint.

    Parameters
    ----------
    arm
        The arm.
    frame
        Name of a link or frame that is fixed to the last joint, or an offset 'X,Y,Z' from the
        flange [m] (the last frame on the last link).

    Raises
    ------
    ConfigurationError
        The text is neither three numbers nor the name of such a frame.

    """
    frames = {each.name: each.placement for each in arm.model.frames if each.parentJoint == arm.n}
    if frame in frames:
        return np.array(frames[frame].rotation), np.array(frames[frame].translation)
    try:
        offset = np.array([float(x) for x in frame.split(',')])
        if offset.shape != (3,) or not np.all(np.isfinite(offset)):
            raise ValueError
    except ValueError:
        raise ConfigurationError(
            f"--frame is the name of a link that moves with the last joint, or an offset 'X,Y,Z' "
            f"from the flange in metres, not '{frame}'; there is: {', '.join(frames)}") from None
    flange = arm.model.frames[arm.tool].placement
    return np.array(flange.rotation), flange.rotation @ offset + flange.translation
