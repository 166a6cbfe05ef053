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
"""Which joints of a robot are its arm: a serial chain out of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
import re
from xml.etree import ElementTree

from robot_identification.arm.urdf import MOVING
from robot_identification.errors import ArmError

SHORTEST_ARM = 3
"""Joints that a branch needs to be taken for an arm; a wheel, a caster or a head has fewer."""
LONGEST_FINGER = 6
"""Joints of the longest finger of a hand, with those that some descriptions add."""
_GRIPPER = re.compile('gripper|finger|jaw|claw', re.IGNORECASE)
_WRIST = re.compile('rot|roll|yaw|pitch|twist|wrist|spin', re.IGNORECASE)


@dataclass(frozen=True)
class ArmChain:
    """
    The joints of a robot that are identified, and those that are locked.

    Parameters
    ----------
    joints
        Moving joints from the base outwards.
    locked
        Every other joint that could move, with the reason why it is locked.

    """

    joints: tuple[str, ...]
    locked: dict[str, str]


@dataclass(frozen=True)
class _Joint:
    name: str
    parent: str
    child: str
    moves: bool


class _Tree:
    """The joints of a URDF, without those that are locked already."""

    def __init__(self, root: ElementTree.Element, locked: Iterable[str]) -> None:
        still = set(locked)
        self.links = [link.get('name', '') for link in root.findall('link')]
        self.joints = [_Joint(
            joint.get('name', ''), _end(joint, 'parent'), _end(joint, 'child'),
            joint.get('type') in MOVING and joint.get('name') not in still)
            for joint in root.findall('joint')]
        self.above = {joint.child: joint for joint in self.joints}

    def path(self, link: str) -> list[_Joint]:
        """Return all joints from the root to a link."""
        path: list[_Joint] = []
        while link in self.above and len(path) <= len(self.joints):
            path.append(self.above[link])
            link = path[-1].parent
        return path[::-1]

    def next_moving(self, link: str) -> list[_Joint]:
        """Return the first moving joint of every branch that leaves a link."""
        found: list[_Joint] = []
        for joint in self.joints:
            if joint.parent == link:
                found += [joint] if joint.moves else self.next_moving(joint.child)
        return found

    def depth(self, joint: _Joint) -> int:
        """Return the number of moving joints of the longest branch that begins with a joint."""
        return 1 + max((self.depth(following) for following in self.next_moving(joint.child)),
                       default=0)

    def arms(self, joint: _Joint, above: int = 0) -> list[list[_Joint]]:
        """Return every branch that is long enough to be an arm, without its fingers."""
        following = self.next_moving(joint.child)
        if self._fingers(following, above + 1):
            return [[joint]]
        branches = [b for other in following for b in self.arms(other, above + 1)]
        return [[joint, *branch] for branch in branches] or [[joint]]

    def grippers(self) -> list[str]:
        """Return joints at the end of an arm whose names say that they open a gripper."""
        found: list[str] = []
        for joint in self.joints:
            above = [other for other in self.path(joint.parent) if other.moves]
            if (joint.moves and len(above) >= SHORTEST_ARM and _GRIPPER.search(joint.name)
                    and not _WRIST.search(joint.name) and self.depth(joint) == 1):
                found.append(joint.name)
        return found

    def _fingers(self, joints: list[_Joint], above: int) -> bool:
        """Whether several short branches end what is already an arm."""
        longest = max((self.depth(joint) for joint in joints), default=0)
        return len(joints) > 1 and above >= SHORTEST_ARM and longest <= min(LONGEST_FINGER, above)


def choose_chain(root: ElementTree.Element, origin: str, *, base: str | None = None,
                 tip: str | None = None, lock: Iterable[str] = (),
                 moving: Iterable[str] = ()) -> ArmChain:
    """
    Choose the arm of a robot.

    Given a tip, it is what moves between base and tip. Otherwise it is the one branch that is
    long enough: joints that mimic others and those that they follow, fingers and grippers at the
    end of an arm, wheels, casters and heads beside it are locked.

    Parameters
    ----------
    root, origin
        The URDF and how to call it in an error.
    base, tip
        Links between which the arm moves.
    lock
        Joints to lock: names, or patterns as of a shell (`*wheel*`).
    moving
        Joints that a controller moves: all others are locked, and none of these for being called
        a gripper.

    Raises
    ------
    ArmError
        A link or a pattern that the robot does not have, nothing that moves between them, or
        several arms and no tip.

    """
    locked = _grippers(root)
    every = _Tree(root, locked)
    for pattern in lock:
        names = [joint.name for joint in every.joints if fnmatchcase(joint.name, pattern)]
        if not names:
            raise ArmError(f"{origin} has no joint '{pattern}' to lock; it has: "
                           f'{", ".join(joint.name for joint in every.joints)}')
        locked |= dict.fromkeys(names, f"as '{pattern}' says")
    controlled = set(moving)
    if controlled:
        locked |= {joint.name: 'its controller does not move it' for joint in every.joints
                   if joint.moves and joint.name not in controlled}
    elif tip is None:
        locked |= dict.fromkeys(_Tree(root, locked).grippers(),
                                'a gripper by its name; init --tip with its link moves it')
    tree = _Tree(root, locked)
    for link in (base, tip):
        if link is not None and link not in tree.links:
            raise ArmError(f"{origin} has no link '{link}'; it has: {', '.join(tree.links)}")
    if tip is not None:
        path = tree.path(tip)
        if base is not None and base not in {joint.parent for joint in path}:
            raise ArmError(f"{origin}: the link '{tip}' does not hang on '{base}'")
        first = 0 if base is None else [joint.parent for joint in path].index(base)
        chosen, reason = [j for j in path[first:] if j.moves], f'not between base and {tip}'
    else:
        chosen, reason = _only_arm(tree, base, origin), 'not of the arm'
    if not chosen:
        raise ArmError(f'{origin} has no joint that moves'
                       + (f" between '{base or 'the base'}' and '{tip}'" if tip else ''))
    joints = tuple(joint.name for joint in chosen)
    locked |= {joint.name: reason for joint in tree.joints
               if joint.moves and joint.name not in joints}
    movable = {joint.get('name') for joint in root.findall('joint')
               if joint.get('type') in MOVING}
    return ArmChain(joints, {name: why for name, why in locked.items() if name in movable})


def _only_arm(tree: _Tree, base: str | None, origin: str) -> list[_Joint]:
    starts = [base] if base else [link for link in tree.links if link not in tree.above]
    first = [joint for link in starts for joint in tree.next_moving(link)]
    branches = [branch for joint in first for branch in tree.arms(joint)]
    if len(branches) > 1:
        arms = _long_enough([b for b in branches if len(b) >= SHORTEST_ARM])
        if len(arms) != 1:
            listed = '; '.join(
                f'--tip {b[-1].child} ({len(b)} joints, {b[0].name} to {b[-1].name})'
                for b in arms or branches)
            raise ArmError(f'{origin} has {len(arms) or len(branches)} branches that move, so '
                           f'say which one is the arm: {listed}')
        branches = arms
    return branches[0] if branches else []


def _long_enough(branches: list[list[_Joint]]) -> list[list[_Joint]]:
    """Return the branches with enough joints for an arm, shared joints (a torso) not counted."""
    if len(branches) < 2:
        return branches
    common = next((k for k, joints in enumerate(zip(*branches)) if len(set(joints)) > 1),
                  min(map(len, branches)))
    return [branch for branch in branches if len(branch) - common >= SHORTEST_ARM]


def _grippers(root: ElementTree.Element) -> dict[str, str]:
    """Return joints that mimic another one, and those that they follow."""
    names: dict[str, str] = {}
    for joint in root.findall('joint'):
        follows = joint.find('mimic')
        if follows is not None:
            master, name = follows.get('joint', ''), joint.get('name', '')
            names |= {master: f'{name} mimics it', name: f'it mimics {master}'}
    return names


def _end(joint: ElementTree.Element, tag: str) -> str:
    element = joint.find(tag)
    return '' if element is None else element.get('link', '')
