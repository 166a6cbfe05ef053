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
A node as a process: start-up errors, diagnostics and clean shutdown.

A node that cannot start logs the reason. It ends on SIGINT, on SIGTERM, and when the process that
started it is gone, so that nothing is left behind by a killed launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import faulthandler
import os
import signal
import threading
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.signals import SignalHandlerOptions
from robot_identification.errors import RobotIdentificationError

GRACE = 2.0  # [s] for which a node that is being created may continue
HARD_LIMIT = 2.0  # [s] more until a blocked process writes its stacks and is ended


class Health:
    """
    State of a node on /diagnostics, published once a second and at every change.

    Parameters
    ----------
    node
        The node.

    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._status = DiagnosticStatus(name='robot_identification: '
                                        f'{node.get_fully_qualified_name().lstrip("/")}',
                                        hardware_id='robot_identification')
        self.ok('started')
        self._timer = node.create_timer(1.0, self._publish)

    def ok(self, message: str, **values: object) -> None:
        """Publish the level OK with a message and named values."""
        self._report(DiagnosticStatus.OK, message, values)

    def warn(self, message: str, **values: object) -> None:
        """Publish the level WARN with a message and named values."""
        self._report(DiagnosticStatus.WARN, message, values)

    def error(self, message: str, **values: object) -> None:
        """Publish the level ERROR with a message and named values."""
        self._report(DiagnosticStatus.ERROR, message, values)

    def _report(self, level: bytes, message: str, values: dict[str, object]) -> None:
        self._status.level, self._status.message = level, message
        self._status.values = [KeyValue(key=key, value=str(value))
                               for key, value in values.items()]
        self._publish()

    def _publish(self) -> None:
        message = DiagnosticArray(status=[self._status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


class NodeProcess:
    """
    A node with the life cycle of a process; base class of the nodes of this package.

    Parameters
    ----------
    node
        The ROS node.

    """

    patience = 4.0
    """Time that shutting down may take [s]."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self._ending = False

    @property
    def nodes(self) -> Sequence[Any]:
        """The ROS nodes, for the executor."""
        return (self.node,)

    def stop(self) -> None:
        """Start to shut down; called once."""
        self._ending = True

    @property
    def stopped(self) -> bool:
        """Whether all work has ended, so that communication may be shut down."""
        return self._ending


def run(make: Callable[[], NodeProcess], args: Sequence[str] | None = None) -> int:
    """
    Run a node until SIGINT, SIGTERM or the end of the process that started it.

    Parameters
    ----------
    make
        Creates the node.
    args
        Command line with ROS arguments.

    Returns
    -------
    int
        Exit code: 0; 1 if the node ended by itself; 2 if it could not be created, with the reason
        in the log.

    """
    rclpy.init(args=list(args) if args is not None else None,
               signal_handler_options=SignalHandlerOptions.NO)
    ending = threading.Event()

    def end_on_signals(patience: float, code: int) -> None:
        def end(*_: Any) -> None:
            if not ending.is_set():
                ending.set()
                # a blocked executor does not notice the event
                timer = threading.Timer(patience, os._exit, (code,))
                timer.daemon = True
                timer.start()
                # a library that blocks with the interpreter's lock stops the timer too
                faulthandler.dump_traceback_later(patience + HARD_LIMIT, exit=True)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)

    parent = os.getppid()
    end_on_signals(GRACE, 0)    # nothing is open yet
    try:
        process = make()
    except RobotIdentificationError as error:
        get_logger('robot_identification').fatal(str(error))
        rclpy.try_shutdown()
        return 2
    end_on_signals(process.patience + GRACE, 1)
    executor = SingleThreadedExecutor()
    for node in process.nodes:
        executor.add_node(node)
    try:
        while not ending.is_set() and not process.stopped:
            _spin(executor, 0.1)
            if _is_orphan(parent):
                get_logger('robot_identification').error(
                    'the process that started this node is gone: the node ends')
                ending.set()
        code = 0 if ending.is_set() else 1
        process.stop()
        deadline = time.monotonic() + process.patience
        while not process.stopped and time.monotonic() < deadline:
            _spin(executor, 0.05)
    except ExternalShutdownException:
        code = 0
        process.stop()
    finally:
        executor.shutdown(timeout_sec=1.0)
        for node in process.nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    return code


def _spin(executor: Any, seconds: float) -> None:
    """Run pending callbacks; log unexpected exceptions and keep the node alive."""
    try:
        executor.spin_once(timeout_sec=seconds)
    except ExternalShutdownException:
        raise
    except Exception as error:
        get_logger('robot_identification').error(f'unexpected: {error!r}',
                                                 throttle_duration_sec=1.0)


def _is_orphan(parent: int) -> bool:
    """Return whether the parent is gone and the node has neither nohup nor a session."""
    return (os.getppid() != parent and os.getsid(0) != os.getpid()
            and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN)


def main_of(make: Callable[[], NodeProcess]) -> Callable[[], int]:
    """Return the entry point of a console script."""
    def main() -> int:
        return run(make)
    return main
