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
"""Search for the joints of a robot's arm: a serial chain in the tree of its links."""

from collections.abc import Collection
from dataclasses import dataclass
import fnmatch
import re
from xml.etree import ElementTree

from robot_identification.arm.urdf import MOVING
from robot_identification.errors import ArmError

SHORTEST_ARM = 3
"""Smallest number of joints of an arm; a wheel, a caster or a head has fewer."""
LONGEST_FINGER = 6
"""Largest number of joints of a finger; some URDFs give a finger auxiliary joints."""
_GRIPPER = re.compile('gripper|finger|jaw|claw', re.IGNORECASE)
_WRIST = re.compile('rot|roll|yaw|pitch|twist|wrist|spin', re.IGNORECASE)


@dataclass(frozen=True)
class ArmChoice:
    """
    Which joints of a robot belong to its arm.

    Parameters
    ----------
    base, tip
        Links between which the arm moves; None to search.
    lock
        Joints to lock: names, or shell patterns (`*wheel*`).
    moving
        Joints that a controller moves; all others are locked. A joint that the controller moves
        is not locked as a gripper, whatever its name. Empty if they are not known.

    """

    base: str | None = None
    tip: str | None = None
    lock: Collection[str] = ()
    moving: Collection[str] = ()


class _Tree:
    """
    The tree of links and joints of a URDF.

    Parameters
    ----------
    root
        Root element of the URDF, from `parse_urdf`.

    Attributes
    ----------
    links
        Names of the links.
    movable
        Names of the joints whose type allows motion.
    parents, children
        Parent and child link of each joint.
    locked
        Reason why each locked joint is locked, by joint; initially those of mimic joints and of
        the joints that they follow.

    """

    def __init__(self, root: ElementTree.Element) -> None:
        self.links = [link.get('name', '') for link in root.findall('link')]
        self.parents: dict[str, str] = {}
        self.children: dict[str, str] = {}
        self.locked: dict[str, str] = {}
        self.movable: set[str] = set()
        for joint in root.findall('joint'):
            name, children = joint.get('name', ''), {child.tag: child for child in joint}
            self.parents[name] = children['parent'].get('link', '')
            self.children[name] = children['child'].get('link', '')
            if joint.get('type') in MOVING:
                self.movable.add(name)
            if 'mimic' in children:
                leader = children['mimic'].get('joint', '')
                self.locked |= {leader: f'{name} mimics it', name: f'it mimics {leader}'}
        for leader in [joint for joint in self.locked if joint in self.movable]:
            if 'mimics it' in self.locked[leader] and self.depth(leader) >= SHORTEST_ARM:
                del self.locked[leader]    # it carries an arm, as if a parallel rod follows it

    @property
    def moving(self) -> list[str]:
        """Names of the joints that can move and are not locked."""
        return [joint for joint in self.parents
                if joint in self.movable and joint not in self.locked]

    def path(self, link: str) -> list[str]:
        """Return all joints between the root and a link, from the root outwards."""
        joint = next((joint for joint, child in self.children.items() if child == link), None)
        return [] if joint is None else [*self.path(self.parents[joint]), joint]

    def next_moving(self, link: str) -> list[str]:
        """Return the first moving joint of every branch that leaves a link."""
        moving = self.moving
        joints: list[str] = []
        for joint, parent in self.parents.items():
            if parent == link:
                joints += [joint] if joint in moving else self.next_moving(self.children[joint])
        return joints

    def depth(self, joint: str) -> int:
        """Return the number of moving joints of the longest branch that begins with a joint."""
        return 1 + max(map(self.depth, self.next_moving(self.children[joint])), default=0)

    def branches(self, joint: str, above: int = 0) -> list[list[str]]:
        """
        Return every branch that begins with a joint, as lists of joints; fingers are left out.

        `above` is the number of moving joints before the joint.
        """
        following = self.next_moving(self.children[joint])
        longest = max(map(self.depth, following), default=0)
        if (len(following) > 1 and above + 1 >= SHORTEST_ARM
                and longest <= min(LONGEST_FINGER, above + 1)):    # fingers follow
            return [[joint]]
        branches = [b for other in following for b in self.branches(other, above + 1)]
        return [[joint, *branch] for branch in branches] or [[joint]]

    def grippers(self) -> list[str]:
        """Return the joints at the end of an arm that are grippers according to their names."""
        moving = self.moving
        return [joint for joint in moving
                if _GRIPPER.search(joint) and not _WRIST.search(joint) and self.depth(joint) == 1
                and len(set(moving).intersection(self.path(self.parents[joint]))) >= SHORTEST_ARM]


def find_locked_joints(root: ElementTree.Element, label: str,
                       choice: ArmChoice) -> dict[str, str]:
    """
    Return the joints of a robot that do not belong to its arm, with the reason to lock each.

    With a tip, the arm consists of the moving joints between base and tip. Without one, it is the
    only branch that is long enough for an arm. All other joints that could move are locked: mimic
    joints and the joints that they follow, fingers and grippers at the end of the arm, wheels,
    casters and heads.

    Parameters
    ----------
    root, label
        The URDF, from `parse_urdf`, and its name in errors.
    choice
        Which joints are the arm.

    Raises
    ------
    ArmError
        A link or joint does not exist, no joint between base and tip moves, or the robot has
        several arms and no tip is given.

    """
    tree, base, tip = _Tree(root), choice.base, choice.tip
    for pattern in choice.lock:
        names = fnmatch.filter(tree.parents, pattern)
        if not names:
            raise ArmError(f"{label} has no joint '{pattern}' to lock; it has: "
                           f'{", ".join(tree.parents)}')
        tree.locked |= dict.fromkeys(names, f"matches '{pattern}'")
    if choice.moving:
        tree.locked |= {joint: 'its controller does not move it' for joint in tree.moving
                        if joint not in choice.moving}
    elif tip is None:
        tree.locked |= dict.fromkeys(tree.grippers(),
                                     'a gripper by its name; init --tip with its link moves it')
    for link in (base, tip):
        if link is not None and link not in tree.links:
            raise ArmError(f"{label} has no link '{link}'; it has: {', '.join(tree.links)}")
    if tip is None:
        joints, reason = _only_arm(tree, base, label), 'not a joint of the arm'
    else:
        path, reason = tree.path(tip), f'not between base and {tip}'
        parents = [tree.parents[joint] for joint in path]
        if base is not None and base not in parents:
            raise ArmError(f"{label}: the link '{tip}' is not below the link '{base}'")
        first = 0 if base is None else parents.index(base)
        joints = [joint for joint in path[first:] if joint in tree.moving]
    if not joints:
        raise ArmError(f'{label} has no joint that moves'
                       + (f" between '{base or 'the base'}' and '{tip}'" if tip else ''))
    tree.locked |= {joint: reason for joint in tree.moving if joint not in joints}
    return {joint: reason for joint, reason in tree.locked.items() if joint in tree.movable}


def _only_arm(tree: _Tree, base: str | None, label: str) -> list[str]:
    """Return the joints of the only branch that is long enough for an arm."""
    starts = [base] if base else [x for x in tree.links if x not in tree.children.values()]
    branches = [branch for link in starts for joint in tree.next_moving(link)
                for branch in tree.branches(joint)]
    if len(branches) < 2:
        return branches[0] if branches else []
    arms = [branch for branch in branches if len(branch) >= SHORTEST_ARM]
    if len(arms) > 1:    # without joints that all arms share, as those of a torso
        shared = len(set.intersection(*map(set, arms)))
        arms = [branch for branch in arms if len(branch) - shared >= SHORTEST_ARM]
    if len(arms) != 1:
        listed = '; '.join(f'--tip {tree.children[b[-1]]} ({len(b)} joints, {b[0]} to {b[-1]})'
                           for b in arms or branches)
        raise ArmError(f'{label} has {len(arms) or len(branches)} branches that move; '
                       f'choose the arm: {listed}')
    return arms[0]
