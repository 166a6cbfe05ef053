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
"""Name prefixes of joints and links, which distinguish several arms in one ROS system."""

from xml.etree import ElementTree

_NAME_ATTRIBUTES = {
    'link': ('name',), 'joint': ('name',), 'parent': ('link',), 'child': ('link',),
    'mimic': ('joint',), 'gazebo': ('reference',)}
"""For each XML element of a URDF, its attributes that contain names of joints or links."""


def with_prefix(urdf: str, prefix: str) -> str:
    """
    Return URDF text with a prefix added to the names of all joints and links.

    The result has the names that vendors' drivers use with the same prefix. The link `world` keeps
    its name.

    Parameters
    ----------
    urdf
        URDF text.
    prefix
        The prefix, for example 'left_'; with '' the text is returned unchanged.

    """
    if not prefix:
        return urdf
    root = ElementTree.fromstring(urdf)
    for element in root.iter():
        for attribute in _NAME_ATTRIBUTES.get(element.tag, ()):
            value = element.get(attribute)
            if value and value != 'world':
                element.set(attribute, prefix + value)
    return ElementTree.tostring(root, encoding='unicode')
