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
"""The documentation site: Sphinx with MyST; `make docs` builds it with warnings as errors."""

from pathlib import Path
import sys

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from robot_identification import __version__  # noqa: E402

project = 'robot_identification'
author = 'The robot_identification authors'
project_copyright = author
version = release = __version__
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon', 'command_reference',
              'mathml']
smartquotes = False    # options are written with two hyphens
html_math_renderer = 'mathml'    # browsers show it without a network
exclude_patterns = ['studies.json']

myst_enable_extensions = ['dollarmath', 'colon_fence']
myst_heading_anchors = 3

autodoc_member_order = 'bysource'
autodoc_typehints = 'description'
autodoc_typehints_description_target = 'documented_params'
autodoc_default_options = {'members': True, 'imported-members': True, 'show-inheritance': True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = False

html_theme = 'furo'
html_title = f'robot_identification {__version__}'
html_static_path = ['site/static']
html_css_files = ['site.css']
