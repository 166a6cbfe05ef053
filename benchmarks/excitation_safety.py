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
"""
Short designs, checked at random times and executed in MuJoCo.

    python benchmarks/excitation_safety.py [--robot panda] [--designs 100] [--json FILE]

Every design respects position, velocity, acceleration, jerk, torque and clearance by its
certificate, which is read from a file and proven again. Then each is looked at with code that
shares nothing with the proof: limits at 10 000 random times, torques by Pinocchio's RNEA, and
collisions by Pinocchio and coal on the URDF's own triangle meshes, with the clearance as security
margin. MuJoCo's plant (other inertias, Stribeck friction, delay) executes each with its own
controller, and MuJoCo looks for contact, with its own reading of the meshes, all along the path
that the arm really took; where its convex hulls overlap, the triangles decide.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
import statistics
import sys
import tempfile
import time
from typing import Any

from contact_geometry import ContactGeometry
import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.meshes import with_mesh_paths
from robot_identification.arrays import Array
from robot_identification.excitation import (
    build_scene,
    check_certificate,
    design,
    Excitation,
    load_excitation,
    Requirements,
    save_excitation,
)
from robot_identification.simulation import Plant, PlantOptions, simulate

RANDOM_TIMES = 10_000
PATH_RATE = 1000      # samples of the executed path that are searched for contact, a second


class Meshes:
    """
    Distances by Pinocchio and coal on the URDF's collision geometry, without hulls.

    Parameters
    ----------
    arm
        The arm.
    ignored
        Pairs of links that the design does not look at.
    clearance
        That every other pair must keep [m].

    """

    def __init__(self, arm: Arm, ignored: set[frozenset[str]], clearance: float) -> None:
        self._model = arm.model
        self._geometry = pin.buildGeomFromUrdfString(
            arm.model, with_mesh_paths(arm), pin.GeometryType.COLLISION)
        objects = self._geometry.geometryObjects
        names = [arm.model.frames[item.parentFrame].name for item in objects]
        for i, k in itertools.combinations(range(len(objects)), 2):
            if (frozenset((names[i], names[k])) not in ignored
                    and objects[i].parentJoint != objects[k].parentJoint):
                self._geometry.addCollisionPair(pin.CollisionPair(i, k))
        self._data = self._geometry.createData()
        for request in self._data.collisionRequests:
            request.security_margin = clearance
        self._kinematics = arm.model.createData()

    def too_near(self, q: Array) -> int:
        """Return at how many of some states any pair is nearer than the clearance."""
        return sum(pin.computeCollisions(self._model, self._kinematics, self._geometry,
                                         self._data, state, True) for state in q)


def excess(arm: Arm, found: Excitation, times: Array) -> float:
    """Return how far limits are exceeded at most, as a part; negative when they are not."""
    q, v, a, jerk = found.trajectory.evaluate(times, 3)
    limits, data = found.limits, arm.model.createData()
    tau = np.array([pin.rnea(arm.model, data, *state) for state in zip(q, v, a)])
    allowed = 1.0 - (found.requirements.torque_margin or 0.0)
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    return max(float(np.max(x)) for x in (
        np.abs(q - middle) / half, np.abs(v) / limits.velocity, np.abs(a) / limits.acceleration,
        np.abs(jerk) / limits.jerk, np.abs(tau) / limits.torque / allowed)) - 1.0


def main() -> int:
    """Print a line a design and a summary."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--designs', type=int, default=100)
    parser.add_argument('--first', type=int, default=0, help='seed of the first design')
    parser.add_argument('--budget', type=float, default=2.0, help='of a design [s]')
    parser.add_argument('--tracking', type=float, default=0.05,
                        help='bound of the tracking error [rad]')
    parser.add_argument('--json', type=Path, default=Path('results/excitation_safety.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    requirements = Requirements(torque_margin=0.1, clearance=0.01)
    ignored = build_scene(arm, requirements).excluded
    meshes = Meshes(arm, {frozenset(pair) for pair in ignored}, requirements.clearance or 0.0)
    contacts = ContactGeometry(arm, ignored=list(ignored))
    # compile, or load from the cache, before the clock runs
    design(arm, kind='mfs', starts=1, time_budget=0.1, requirements=requirements)
    runs: list[dict[str, Any]] = []
    file = Path(tempfile.mkdtemp()) / 'excitation.yaml'
    for seed in range(options.first, options.first + options.designs):
        began = time.process_time()
        found = design(arm, kind='mfs', starts=1, seed=seed, time_budget=options.budget,
                       requirements=requirements)
        spent = time.process_time() - began
        save_excitation(found, file)
        proven = check_certificate(load_excitation(file), arm)
        times = np.random.default_rng(seed).uniform(0, found.period, RANDOM_TIMES)
        plant = Plant(arm, PlantOptions(seed=seed))
        run = simulate(plant, found, rng=np.random.default_rng(seed))
        step = max(1, round(plant.options.rate / PATH_RATE))
        touching = contacts.find_contacts(run.q[::step])
        runs.append({
            'seed': seed, 'condition_number': found.condition_number, 'seconds': found.seconds,
            'cpu': spent, 'excess': excess(arm, found, times),
            'too_near': meshes.too_near(found.trajectory.derivative(times, 0)),
            'clearance': proven['clearance'].bound,
            'tracking_error': float(np.max(run.tracking_error)),
            'end_stops': bool(run.end_stops), 'contacts': [str(touch) for touch in touching]})
        last = runs[-1]
        print(f"{seed:4d}  condition {last['condition_number']:7.2f}  excess {last['excess']:+.4f}"
              f"  too near {last['too_near']}  tracking {last['tracking_error']:.4f}  contacts "
              f"{'; '.join(last['contacts']) or 'none'}", flush=True)
    broken = sum(run['excess'] > 0 or run['too_near'] > 0 for run in runs)
    touched = sum(bool(run['contacts']) or run['end_stops'] for run in runs)
    astray = sum(run['tracking_error'] > options.tracking for run in runs)
    print(f'{len(runs)} designs of {options.robot}, certificates proven again: {broken} with '
          f'violations at {RANDOM_TIMES} random times each; in MuJoCo {touched} with contact or '
          f'end stops, {astray} with a tracking error above {options.tracking:g} rad (largest '
          f"{max(run['tracking_error'] for run in runs):.4f}); condition number, median "
          f"{statistics.median(run['condition_number'] for run in runs):.2f}, "
          f"{statistics.median(run['seconds'] for run in runs):.1f} s a design")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'runs': runs}, indent=1))
    return 1 if broken or touched or astray else 0


if __name__ == '__main__':
    sys.exit(main())
