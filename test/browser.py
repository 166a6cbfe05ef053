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
"""A headless Chromium for the tests of pages, controlled by the DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
import select
import shutil
import subprocess
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
PATIENCE = 60.0      # [s] for one answer of the browser


def executable() -> str | None:
    """Return the path of an installed browser."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """
    One tab of the browser.

    Parameters
    ----------
    profile
        Empty folder for the browser's own files.
    """

    def __init__(self, profile: Path):
        (down, self._out), (self._in, up) = os.pipe(), os.pipe()
        # the browser reads its descriptor 3 and writes its descriptor 4
        line = (f'exec {executable()} --headless --no-sandbox --disable-gpu --hide-scrollbars '
                f'--disable-dev-shm-usage --user-data-dir={profile} --remote-debugging-pipe '
                f'about:blank 3<&{down} 4>&{up}')
        self._process = subprocess.Popen(
            ['bash', '-c', line], pass_fds=(down, up), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self._number, self._rest, self._session = 0, b'', None
        self.errors: list[str] = []
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self._session = self.call('Target.attachToTarget', targetId=target,
                                  flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(f'{domain}.enable')

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: object) -> dict:
        """Send a command of the protocol and return the response."""
        self._number += 1
        message = {'id': self._number, 'method': method, 'params': parameters}
        if self._session:
            message['sessionId'] = self._session
        os.write(self._out, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._read()
            if answer.get('id') == self._number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']

    def _read(self) -> dict:
        deadline = time.monotonic() + PATIENCE
        while b'\0' not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._in, 1 << 20) if ready else b''
            if not part:
                raise TimeoutError('the browser does not answer')
            self._rest += part
        first, self._rest = self._rest.split(b'\0', 1)
        message = json.loads(first)
        self._note(message)
        return message

    def _note(self, message: dict) -> None:
        """Store messages of the console."""
        method, said = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            details = said['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description', details['text']))
        elif method == 'Log.entryAdded' and said['entry']['level'] == 'error':
            self.errors.append(said['entry']['text'])
        elif method == 'Runtime.consoleAPICalled' and said['type'] == 'error':
            self.errors.append(str(said['args']))

    def evaluate(self, expression: str) -> object:
        """Return the value of a JavaScript expression."""
        answer = self.call('Runtime.evaluate', expression=expression, awaitPromise=True,
                           returnByValue=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(str(answer['exceptionDetails']))
        return answer['result'].get('value')

    def visit(self, page: Path, width: int) -> None:
        """Open a page in a window of a given width [px], and scroll through the whole page."""
        self.errors = []
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)
        self.appear()
        self.call('Page.navigate', url=page.resolve().as_uri())
        self.evaluate("""(async () => {
          const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          while (document.readyState !== 'complete'
                 || !location.href.startsWith('file:')) { await frame(); }
          for (let y = 0; y < document.documentElement.scrollHeight; y += 800) {
            scrollTo({top: y, behavior: 'instant'});
            await frame();
          }
          scrollTo({top: 0, behavior: 'instant'});
          await frame();
        })()""")

    def appear(self, *, dark: bool = False, printed: bool = False) -> None:
        """Emulate a light or dark theme, on a screen or on paper."""
        self.call('Emulation.setEmulatedMedia', media='print' if printed else 'screen', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'},
            {'name': 'prefers-reduced-motion', 'value': 'reduce'}])

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Save a screenshot of the whole page or of the visible part."""
        picture = self.call('Page.captureScreenshot', captureBeyondViewport=whole)['data']
        path.write_bytes(base64.b64decode(picture))

    def to_pdf(self, path: Path) -> None:
        """Save the page as it is printed: a PDF on A4."""
        self.call('Emulation.setEmulatedMedia', media='', features=[])
        printed = self.call('Page.printToPDF', paperWidth=8.27, paperHeight=11.69,
                            printBackground=True)['data']
        path.write_bytes(base64.b64decode(printed))
