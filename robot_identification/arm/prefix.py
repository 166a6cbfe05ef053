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
"""Prefixes of joints and links, which tell several arms of one ROS system apart."""

from __future__ import annotations

import copy
import re
from xml.etree import ElementTree

from robot_identification.errors import ArmError

NAMED = {'link': ('name',), 'joint': ('name',), 'parent': ('link',), 'child': ('link',),
         'mimic': ('joint',), 'gazebo': ('reference',)}
"""Which attributes of which elements are names of joints or links."""
FORM = re.compile(r'[A-Za-z0-9_/]*')


def check_prefix(prefix: str, origin: str) -> str:
    """
    Return a prefix that can stand before names of ROS.

    Raises
    ------
    ArmError
        It has other characters than letters, digits, _ and /.

    """
    if not FORM.fullmatch(prefix):
        raise ArmError(f"{origin}: the tf_prefix '{prefix}' may have letters, digits, _ and / "
                       f'only, as left_')
    return prefix


def with_prefix(urdf: str, prefix: str) -> str:
    """
    Return a URDF whose joints and links have a prefix, as drivers' descriptions have it.

    Parameters
    ----------
    urdf
        URDF text.
    prefix
        For instance 'left_'.

    """
    if not prefix:
        return urdf
    root = copy.deepcopy(ElementTree.fromstring(urdf))
    for element in root.iter():
        for attribute in NAMED.get(element.tag, ()):
            value = element.get(attribute)
            if value and value != 'world':    # there is one
                element.set(attribute, prefix + value)
    return ElementTree.tostring(root, encoding='unicode')
