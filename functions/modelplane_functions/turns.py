"""The scheduling of calls: queues by namespace, in which long calls yield to short ones.

All calls share one interpreter, so two calls that compute at the same time each take twice as long. Three rules keep
the calls of one tenant from delaying those of another. Namespaces take turns. Each namespace has a limited number of
running calls. A call that has computed for longer than `SHORT_SECONDS` pauses at its next checkpoint while a shorter
call runs, or while another long call has its time slice. It continues after `GIVE_WAY_SECONDS` at the latest, so that
it ends too.

A cancelled call is removed from its queue, or it stops at its next checkpoint.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from modelplane import interruption

T = TypeVar("T")

SHORT_SECONDS = 0.1
"""The processor time after which a call counts as long. Nearly all calls take less."""
GIVE_WAY_SECONDS = 0.2
"""The longest pause of a long call. It computes for `SLICE_SECONDS` between two pauses."""
SLICE_SECONDS = 0.05
WAITING_MAX = 1024
"""The maximum number of queued calls of one namespace. Crossplane retries a call that is rejected."""


class BusyError(Exception):
    """A namespace has too many calls waiting."""


class Call(Generic[T]):
    """A call: its tenant, its computation and its result."""

    def __init__(self, tenant: str, compute: Callable[[], T]) -> None:
        self.tenant = tenant
        self.compute = compute
        self.result: Future[T] = Future()
        self.is_unwanted = False
        self.is_long = False
        self.began = 0.0
        """Processor time of its thread when it began."""
        self.slice_until = 0.0
        """Processor time of its thread up to which no other long call has a slice."""
        self.stays_until = 0.0
        """Processor time of its thread up to which it computes without a pause, after the longest pause."""


class Turns:
    """A pool of threads that compute calls fairly between tenants."""

    def __init__(self, workers: int) -> None:
        """Compute at most `workers` calls at the same time. One tenant has a quarter of them at most, or one."""
        self._workers = workers
        self.most_of_one = max(1, workers // 4)
        self._waiting: OrderedDict[str, deque[Call[object]]] = OrderedDict()
        self._running: list[Call[object]] = []
        self._short = 0
        """The number of running calls that are not long yet."""
        self._long: deque[Call[object]] = deque()
        """The running long calls. The first has the time slice."""
        self._lock = threading.Lock()
        self._offered = threading.Condition(self._lock)
        """Threads without a call wait for it. One call wakes one thread; a thread that ends a call looks by itself."""
        self._changed = threading.Condition(self._lock)
        """Long calls wait for it while they pause, and `close` waits for it."""
        self._is_closed = False
        self._threads: list[threading.Thread] = []

    def submit(self, tenant: str, compute: Callable[[], T]) -> Call[T]:
        """Return the call, which is computed when its turn comes. Raises: BusyError."""
        call = Call(tenant, compute)
        with self._lock:
            waiting = len(self._waiting.get(tenant, ()))
            if self._is_closed or waiting >= WAITING_MAX:
                raise BusyError(f"{waiting} calls of {tenant or 'the platform'} are already queued")
            self._waiting.setdefault(tenant, deque()).append(call)  # type: ignore[arg-type]  # calls of any result
            if len(self._threads) < self._workers:
                # A daemon: a thread that does not come to a checkpoint must not keep the process from ending.
                thread = threading.Thread(target=self._work, name=f"compute-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._offered.notify()
        return call

    def drop(self, call: Call[T]) -> None:
        """Cancel a call."""
        with self._lock:
            call.is_unwanted = True
            queue = self._waiting.get(call.tenant)
            if queue is not None and call in queue:
                queue.remove(call)  # type: ignore[arg-type]  # as in submit
                call.result.cancel()
                if not queue:
                    del self._waiting[call.tenant]
            self._changed.notify_all()

    def close(self, seconds: float) -> bool:
        """Cancel every call. Return whether all running calls have ended after `seconds`."""
        with self._lock:
            self._is_closed = True
            waiting = [call for queue in self._waiting.values() for call in queue]
            for call in (*waiting, *self._running):
                call.is_unwanted = True
            for call in waiting:
                call.result.cancel()
            self._waiting.clear()
            self._offered.notify_all()
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._running, seconds)

    def _work(self) -> None:
        while self._compute_one():
            pass

    def _compute_one(self) -> bool:
        """Compute the next call and keep no reference to it. Return False after `close`."""
        call = self._next()
        if call is None:
            return False
        call.began = time.thread_time()
        error: BaseException | None = None
        result: object = None
        try:
            with interruption.asking(lambda: self._check(call)):
                result = call.compute() if call.result.set_running_or_notify_cancel() else None
        except BaseException as raised:  # whoever waits for the call is told
            error = raised
        with self._lock:
            self._running.remove(call)
            if call.is_long:
                self._long.remove(call)
            else:
                self._short -= 1
            self._changed.notify_all()
        if error is not None:
            call.result.set_exception(error)
        elif not call.result.cancelled():
            call.result.set_result(result)
        return True

    def _next(self) -> Call[object] | None:
        """Return the next call to compute. Wait for one, and return None after `close`."""
        with self._lock:
            while True:
                call = self._take()
                if call is not None:
                    self._running.append(call)
                    self._short += 1
                    return call
                if self._is_closed:
                    return None
                self._offered.wait()

    def _take(self) -> Call[object] | None:
        """Return the first call of the next tenant, and move that tenant to the end of the queue."""
        for tenant in self._waiting:
            if sum(call.tenant == tenant for call in self._running) < self.most_of_one:
                queue = self._waiting[tenant]
                call = queue.popleft()
                self._waiting.move_to_end(tenant)
                if not queue:
                    del self._waiting[tenant]
                return call
        return None

    def _check(self, call: Call[object]) -> None:
        """Pause or stop a running call at a checkpoint."""
        if call.is_unwanted:
            raise interruption.Interrupted
        if call.is_long and not self._short and len(self._long) == 1:
            return
        spent = time.thread_time()
        if spent - call.began < SHORT_SECONDS or spent < call.stays_until:
            return
        with self._lock:
            self._line_up(call, spent)
            if not self._changed.wait_for(lambda: call.is_unwanted or self._may_compute(call), GIVE_WAY_SECONDS):
                call.stays_until = spent + SLICE_SECONDS
        if call.is_unwanted:
            raise interruption.Interrupted

    def _line_up(self, call: Call[object], spent: float) -> None:
        """Move a call that has become long, or whose time slice is over, to the end of the long calls."""
        if not call.is_long:
            call.is_long = True
            self._short -= 1
            self._long.append(call)
        elif spent >= call.slice_until and self._long[0] is call:
            self._long.rotate(-1)
        else:
            return
        call.slice_until = spent + SLICE_SECONDS
        self._changed.notify_all()

    def _may_compute(self, call: Call[object]) -> bool:
        return not self._short and self._long[0] is call
