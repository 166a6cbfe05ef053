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
Distances with derivatives during a search: the compiled kernel against coal on the same hulls.

The proof measures with coal; a search asks for all pairs at all times, a thousand times. What coal
costs is measured without the derivatives, which it does not give, and with placements at hand. The
kernel keeps its place where it is three times as fast; this prints the ratio for each arm.

    python benchmarks/collision_engine.py [--robots panda ur10 xarm7] [--motions 10]
"""

from __future__ import annotations

import argparse
import json
import time

import coal
import numpy as np
from robot_identification.arm import load_arm
from robot_identification.dynamics.kernels import placements
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation import (
    build_scene,
    DEFAULT_REQUIREMENTS,
    DesignOptions,
    motion_limits,
    Requirements,
)
from robot_identification.excitation.certificate.clearance import (
    INFLUENCE,
    make_coal_body,
    RESERVE,
)
from robot_identification.excitation.certificate.geometry.shapes import coarsen
from robot_identification.excitation.design.design import build_problem

TIMES = 200     # of a motion, as a search looks at it


def compare(name: str, motions: int) -> dict[str, float | str]:
    """Return processor times of one pair at one time [us], and how far both differ [m]."""
    arm = load_arm(name)
    scene, tree = build_scene(arm, DEFAULT_REQUIREMENTS), Kinematics.of(arm)
    problem = build_problem(arm, DesignOptions(requirements=Requirements()),
                            motion_limits(arm)[0])
    cutoff = (DEFAULT_REQUIREMENTS.clearance or 0.0) + RESERVE + INFLUENCE
    basis = problem.series.basis(problem.series.period * np.arange(TIMES) / TIMES)
    shapes = [coarsen(shape) for shape in scene.shapes]
    bodies = [make_coal_body(coal, shape) for shape in shapes]
    world, origin = np.empty((TIMES, arm.n + 1, 3, 3)), np.zeros((TIMES, arm.n + 1, 3))
    world[:, -1] = np.eye(3)                      # link -1 is the base
    own = theirs = worst = 0.0
    scene.distances(basis @ problem.start(np.random.default_rng(0)), cutoff)    # compiles
    for seed in range(motions):
        q = basis @ problem.start(np.random.default_rng(seed))
        began = time.process_time()
        found, _ = scene.distances(q, cutoff)
        own += time.process_time() - began
        placements(q, *tree[:5], world[:, :-1], origin[:, :-1])
        measured = np.empty(found.shape)
        began = time.process_time()
        for k in range(TIMES):
            placed = [coal.Transform3s(world[k, s.link] @ turned, world[k, s.link] @ offset
                                       + origin[k, s.link])
                      for s, (_, turned, offset) in zip(shapes, bodies)]
            for p, (i, j) in enumerate(scene.pairs):
                measured[k, p] = coal.distance(
                    bodies[i][0], placed[i], bodies[j][0], placed[j], coal.DistanceRequest(),
                    coal.DistanceResult())
        theirs += time.process_time() - began
        radii = np.array([[shapes[i].radius + shapes[j].radius for i, j in scene.pairs]])
        # coal's spheres and capsules have their radius already, its hulls have not
        near = (found > 0) & (found < cutoff) & all(len(s.vertices) > 2 for s in shapes)
        worst = max(worst, float(np.abs(measured - radii - found)[near].max(initial=0.0)))
    each = motions * TIMES * len(scene.pairs) / 1e6
    return {'robot': name, 'pairs': len(scene.pairs), 'kernel': own / each, 'coal': theirs / each,
            'ratio': theirs / own, 'difference': worst}


def main() -> None:
    """Print the table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur10', 'xarm7'])
    parser.add_argument('--motions', type=int, default=10)
    options = parser.parse_args()
    rows = [compare(name, options.motions) for name in options.robots]
    print(f"{'robot':>8}  {'pairs':>5}  {'kernel [us]':>11}  {'coal [us]':>9}  {'ratio':>6}")
    for row in rows:
        print(f"{row['robot']:>8}  {row['pairs']:>5}  {row['kernel']:>11.3f}  "
              f"{row['coal']:>9.3f}  {row['ratio']:>6.1f}")
    print(json.dumps(rows))


if __name__ == '__main__':
    main()
