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
"""Sphinx extension that writes formulas as MathML, which browsers show without a script."""

from typing import Any

from latex2mathml.converter import convert


def _visit_math(translator: Any, node: Any) -> None:
    translator.body.append(convert(node.astext()))
    raise _skip()


def _visit_math_block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise _skip()


def _skip() -> Exception:
    """Return the exception with which a visitor says that the node is done."""
    from docutils.nodes import SkipNode
    return SkipNode()


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer('mathml', (_visit_math, None), (_visit_math_block, None))
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
