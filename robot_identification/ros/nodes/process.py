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
Base class of the nodes, and the function that runs a node as a process.

A node that cannot start logs the reason. A node ends on SIGINT, on SIGTERM, and when its parent
process has ended. Therefore no node keeps running after its launch process was killed.
"""

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
from robot_identification.ros.nodes.long_work import LongWork, Report
from robot_identification.ros.nodes.requests import reply_always

GRACE = 2.0  # [s] for which a node may continue after its time to end; twice that if it is blocked


class Health:
    """
    Publisher of a node's state on /diagnostics, once a second and at every change.

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
    Base class of the nodes of this package, each of which runs as a process.

    Parameters
    ----------
    node
        The ROS node.

    """

    patience = 4.0
    """Longest duration of the shutdown [s]."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self._ending = False

    def add_service(self, kind: Any, name: str, callback: Callable[[Any], Any],
                    group: Any = None) -> None:
        """
        Offer a service; see `reply_always`.

        Parameters
        ----------
        kind
            Type of the service.
        name
            Its name below that of the node.
        callback
            Called with the request; returns the fields of the response by name.
        group
            Callback group; None for that of the node.

        """
        self.node.create_service(kind, f'~/{name}', reply_always(self.node, callback),
                                 callback_group=group)

    @property
    def nodes(self) -> Sequence[Any]:
        """The ROS nodes that the executor serves."""
        return (self.node,)

    def stop(self) -> None:
        """Request the end of the node; called once."""
        self._ending = True

    @property
    def stopped(self) -> bool:
        """Whether all work has ended, so that the process may exit."""
        return self._ending


class WorkingProcess(NodeProcess):
    """Base class of the nodes that do long work; a node ends after its job was cancelled."""

    def __init__(self, node: Any, report: Report = lambda text, fraction: None) -> None:
        super().__init__(node)
        self._work = LongWork(node, report)

    def stop(self) -> None:
        """Cancel the current job and end the node."""
        super().stop()
        self._work.cancel()

    @property
    def stopped(self) -> bool:
        """Whether the node is ending and no job is running."""
        return self._ending and not self._work.busy


class ThreadedProcess(NodeProcess):
    """Base class of the nodes whose work is done in a thread, from its start to the end."""

    def start_thread(self, loop: Callable[[threading.Event], None]) -> None:
        """Run a function in the thread; it returns soon after the event that it gets is set."""
        self._ending_thread = threading.Event()
        self._thread = threading.Thread(target=loop, args=(self._ending_thread,), daemon=True,
                                        name=self.node.get_name())
        self._thread.start()

    def stop(self) -> None:
        """Request the end of the thread."""
        self._ending_thread.set()

    @property
    def stopped(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()


def run_node(make: Callable[[], NodeProcess], args: Sequence[str] | None = None) -> int:
    """
    Run a node until SIGINT, SIGTERM or the end of the parent process.

    Parameters
    ----------
    make
        Creates the node.
    args
        Command line with ROS arguments; if None, that of the process.

    Returns
    -------
    int
        Exit code: 0 after a signal or the end of the parent process; 1 if the node ended by itself
        or its shutdown took too long; 2 if it could not be created (the log states the reason).

    """
    rclpy.init(args=list(args) if args is not None else None,
               signal_handler_options=SignalHandlerOptions.NO)
    ending = threading.Event()

    def end_on_signals(patience: float, code: int) -> None:
        def end(*_: Any) -> None:
            if not ending.is_set():
                ending.set()
                # ends the process even if the executor is blocked and does not check the event
                timer = threading.Timer(patience, os._exit, (code,))
                timer.daemon = True
                timer.start()
                # ends it even if a library holds the interpreter lock and so blocks the timer
                faulthandler.dump_traceback_later(patience + GRACE, exit=True)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)

    parent = os.getppid()
    end_on_signals(GRACE, 0)    # no work has begun that could fail to end
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
                    'the process that started this node has ended: the node ends')
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
    """Return whether the parent has ended, unless the node was detached (nohup or setsid)."""
    return (os.getppid() != parent and os.getsid(0) != os.getpid()
            and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN)


def main_of(make: Callable[[], NodeProcess]) -> Callable[[], int]:
    """Return the entry point of a node: a function that runs it and returns the exit code."""
    def main() -> int:
        return run_node(make)
    return main
