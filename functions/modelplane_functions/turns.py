"""The scheduling of calls: queues by namespace, one call computes at a time, and long ones yield to short ones.

All calls share one interpreter, so two calls that compute at the same time each take twice as long. Five rules keep
the calls of one tenant from delaying those of another. The namespace that has computed least is next (`accounts`). A
namespace has one short call under way, and a limited number of long ones. Of the short calls under way, those of the
namespace that has computed least compute, and the others pause at their next checkpoint. A call that has computed for
longer than `SHORT_SECONDS` pauses until no short call is under way and no other long call has its time slice. Where
short calls never end, one long call computes for `SLICE_SECONDS` after each `GIVE_WAY_SECONDS`, so that it ends too.

So a short call shares the interpreter with a step of another call that has no checkpoint, and with the event loop. A
short call that waits for one in such a step computes beside it after `STUCK_SECONDS`. A cancelled call is removed from
its queue, or it stops at its next checkpoint.

Long calls of all namespaces together leave `RESERVED` threads to short ones. A call that becomes long when the others
are taken is postponed: its computation ends, and begins anew when a thread for long calls is free. It loses
`SHORT_SECONDS` once, because it is known to be long from then on.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from kubecel import interruption
from modelplane_functions import accounts

T = TypeVar("T")

SHORT_SECONDS = 0.02
"""The processor time after which a call counts as long. Most calls take a fifth of it."""
SILENT_SECONDS = 0.1
"""The time after which a second call of a namespace begins, although the first has not become long."""
GIVE_WAY_SECONDS = 0.2
"""The longest time in which no long call computes."""
SLICE_SECONDS = 0.05
"""The processor time that a long call has before the next one."""
PROGRESS_SECONDS = 0.005
"""The processor time of a long call after which it is not overdue."""
STUCK_SECONDS = 0.02
"""The time after which another short call computes beside one that has reached no checkpoint."""
RESERVED = 2
"""The threads that long calls do not take, where there are more than these."""
COMPARED = 64
"""The tenants with queued calls that are compared, from the first of the queue."""
WAITING_MAX = 1024
"""The maximum number of queued calls of one namespace. Crossplane retries a call that is rejected."""


class BusyError(Exception):
    """A namespace has too many calls waiting."""


class Postponed(interruption.Interrupted):
    """The computation of a long call ends here and begins anew later. Its caller still waits."""


class Call(Generic[T]):
    """A call: its tenant, its computation and its result."""

    def __init__(self, tenant: str, compute: Callable[[], T], turn: threading.Condition) -> None:
        self.tenant = tenant
        self.compute = compute
        self.turn = turn
        """The condition that it waits for while it pauses."""
        self.result: Future[T] = Future()
        self.is_unwanted = False
        self.begun = 0.0
        self.charged = 0.0
        """Processor time of its thread that is on the account of its tenant."""
        self.is_paused = False
        self.is_long = False
        """It has computed for longer than `SHORT_SECONDS`, as seen at a checkpoint, perhaps before it was postponed."""
        self.short_until = 0.0
        """Processor time of its thread up to which it counts as short."""
        self.runs_until = 0.0
        """Processor time of its thread up to which it computes beside whoever has the turn."""
        self.resumed = 0.0
        """Processor time of its thread when it last began to compute."""
        self.slice_until = 0.0
        """Processor time of its thread up to which the turn is not looked for again."""


class Turns:
    """A pool of threads that compute calls fairly between tenants."""

    def __init__(self, workers: int) -> None:
        """Compute at most `workers` calls at the same time, of one tenant a quarter of them or one."""
        self._workers = workers
        self.most_of_one = max(1, workers // 4)
        self.most_long = workers - RESERVED if workers > RESERVED else workers
        self._waiting: OrderedDict[str, deque[Call[object]]] = OrderedDict()
        self._postponed: OrderedDict[str, deque[Call[object]]] = OrderedDict()
        self._running: list[Call[object]] = []
        self._begun: deque[Call[object]] = deque()
        """The running calls that no thread has taken yet."""
        self._short: set[Call[object]] = set()
        """The calls that are not long, from their beginning until their caller has the result."""
        self._long: deque[Call[object]] = deque()
        """The running long calls. The first has the time slice."""
        self._accounts = accounts.Accounts()
        self._first: str | None = None
        """The tenant whose short call computes, while there are short calls."""
        self._moved_at = 0.0
        """The time at which a short call last reached the end of a grain, began or ended."""
        self._overdue_at = 0.0
        """The time after which a long call computes beside short ones."""
        self._lock = threading.Lock()
        self._offered = threading.Condition(self._lock)
        """Threads without a call wait for it. One call wakes one thread; a thread that ends a call looks by itself."""
        self._ended = threading.Condition(self._lock)
        """`close` waits for it."""
        self._is_closed = False
        self._threads: list[threading.Thread] = []

    def submit(self, tenant: str, compute: Callable[[], T]) -> Call[T]:
        """Return the call, which is computed when its turn comes. Raises: BusyError."""
        call = Call(tenant, compute, threading.Condition(self._lock))
        with self._lock:
            waiting = sum(len(queues.get(tenant, ())) for queues in (self._waiting, self._postponed))
            if self._is_closed or waiting >= WAITING_MAX:
                raise BusyError(f"{waiting} calls of {tenant or 'the platform'} are already queued")
            self._waiting.setdefault(tenant, deque()).append(call)  # type: ignore[arg-type]  # calls of any result
            if len(self._threads) < self._workers:
                # A daemon: a thread that does not come to a checkpoint must not keep the process from ending.
                thread = threading.Thread(target=self._work, name=f"compute-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._begin()
            if self._waiting:
                self._offered.notify()  # a thread that waited for any call waits for the time of this one
        return call

    def answered(self, call: Call[T]) -> None:
        """Note that the caller has the result or has given up. Long calls pause until then."""
        with self._lock:
            self._short.discard(call)
            self._resume()

    def drop(self, call: Call[T]) -> None:
        """Cancel a call."""
        with self._lock:
            self._stop(call)  # type: ignore[arg-type]  # as in submit
            for queues in (self._waiting, self._postponed):
                queue = queues.get(call.tenant)
                if queue is not None and call in queue:
                    queue.remove(call)  # type: ignore[arg-type]
                    _give_up(call)
                    if not queue:
                        del queues[call.tenant]

    def load(self) -> tuple[int, int]:
        """Return how many calls are queued, and how many have begun and not ended."""
        with self._lock:
            queued = sum(len(queue) for queues in (self._waiting, self._postponed) for queue in queues.values())
            return queued, len(self._running)

    def close(self, seconds: float) -> bool:
        """Cancel every call. Return whether all running calls have ended after `seconds`."""
        with self._lock:
            self._is_closed = True
            queues = (*self._waiting.values(), *self._postponed.values())
            waiting = [call for queue in queues for call in queue]
            for call in (*waiting, *self._running):
                self._stop(call)
            for call in waiting:
                _give_up(call)
            self._waiting.clear()
            self._postponed.clear()
            self._offered.notify_all()
            return self._ended.wait_for(lambda: not self._running, seconds)

    def _stop(self, call: Call[object]) -> None:
        call.is_unwanted = True
        call.turn.notify()

    def _work(self) -> None:
        while self._compute_one():
            pass

    def _compute_one(self) -> bool:
        """Compute the next call and keep no reference to it. Return False after `close`."""
        call = self._next()
        if call is None:
            return False
        call.resumed = call.charged = time.thread_time()
        call.runs_until = 0.0
        call.short_until = call.resumed + SHORT_SECONDS
        call.slice_until = call.resumed + (SHORT_SECONDS if call.is_long else accounts.GRAIN_SECONDS)
        error: BaseException | None = None
        result: object = None
        try:
            with interruption.asking(lambda: self._check(call)):
                wanted = call.result.running() or call.result.set_running_or_notify_cancel()
                if wanted:
                    self._check(call)  # it may have to wait before it computes anything
                    result = call.compute()
        except BaseException as raised:  # whoever waits for the call is told
            error = raised
        spent = time.thread_time()
        with self._lock:
            self._charge(call, spent)
            self._running.remove(call)
            if call in self._long:
                self._long.remove(call)
            is_postponed = isinstance(error, Postponed) and not call.is_unwanted
            if is_postponed:
                self._postponed.setdefault(call.tenant, deque()).append(call)
            self._begin()
            self._resume()
            self._ended.notify_all()
        if is_postponed:
            return True
        if error is not None:
            call.result.set_exception(error)
        elif not call.result.cancelled():
            call.result.set_result(result)
        return True

    def _next(self) -> Call[object] | None:
        """Return the next call to compute. Wait for one, and return None after `close`.

        While calls are queued, at least one of the threads without a call looks after each `SILENT_SECONDS`.
        """
        with self._lock:
            while not self._begun:
                if self._is_closed:
                    return None
                self._offered.wait(SILENT_SECONDS if self._waiting else None)
                self._begin()
            if self._waiting:
                self._offered.notify()  # another one looks now
            return self._begun.popleft()

    def _begin(self) -> None:
        """Begin the calls that have room, first those of the tenants that have computed least."""
        while len(self._running) < self._workers:
            call = self._taken(self._postponed, self._has_room_for_long) or self._taken(self._waiting, self._has_room)
            if call is None:
                return
            call.begun = time.monotonic()
            self._running.append(call)
            if call.is_long:
                self._long.append(call)
            else:
                self._short.add(call)
                self._choose()
            self._begun.append(call)
            self._offered.notify()

    def _taken(
        self, queues: OrderedDict[str, deque[Call[object]]], has_room: Callable[[str], bool]
    ) -> Call[object] | None:
        """Return the first call of a tenant that has room and has computed least. The tenant goes to the end."""
        tenant = self._accounts.next(one for one in itertools.islice(queues, COMPARED) if has_room(one))
        if tenant is None:
            return None
        call = queues[tenant].popleft()
        queues.move_to_end(tenant)
        if not queues[tenant]:
            del queues[tenant]
        return call

    def _has_room_for_long(self, tenant: str) -> bool:
        """Return whether a call of the tenant that is known to be long may begin."""
        under_way = sum(call.tenant == tenant for call in self._running)
        return len(self._long) < self.most_long and under_way < self.most_of_one

    def _has_room(self, tenant: str) -> bool:
        """Return whether another call of the tenant may begin: few are under way, and none of them is short.

        A call that has reached no checkpoint for a while may be in a step that has none. While a call of the tenant is
        postponed, none is tried: a hundred long calls would take the threads that are reserved for short ones.
        """
        if tenant in self._postponed:
            return False
        under_way = [call for call in self._running if call.tenant == tenant]
        recent = time.monotonic() - SILENT_SECONDS
        # One that is long and not in line is about to be postponed.
        may = (call in self._long if call.is_long else call.begun < recent and not call.is_paused for call in under_way)
        return len(under_way) < self.most_of_one and all(may)

    def _check(self, call: Call[object]) -> None:
        """Pause, postpone or stop a running call at a checkpoint.

        Cost: less than a microsecond unless it pauses. It takes no lock before that: a thread that loses the
        interpreter while it holds the lock delays every other one.
        """
        if call.is_unwanted:
            raise interruption.Interrupted
        if len(self._running) == 1 and not self._waiting:
            return
        spent = time.thread_time()
        if spent < call.runs_until or (spent < call.slice_until and self._has_turn(call)):
            return
        with self._lock:
            self._charge(call, spent)
            if call.is_long or spent >= call.short_until:
                self._line_up(call, spent)
            self._resume()
            self._pause(call, spent)
            call.resumed = spent
            call.slice_until = spent + (SLICE_SECONDS if call.is_long else accounts.GRAIN_SECONDS)
        if call.is_unwanted:
            raise interruption.Interrupted

    def _pause(self, call: Call[object], spent: float) -> None:
        """Wait until a call may compute, or until it was kept from it for too long."""
        call.is_paused = True
        while not (call.is_unwanted or self._may_compute(call)):
            left, more = self._patience(call)
            if left <= 0:
                call.runs_until = spent + more
                if call.is_long:
                    self._overdue_at = time.monotonic() + SLICE_SECONDS + GIVE_WAY_SECONDS
                break
            call.turn.wait(left)
        call.is_paused = False

    def _patience(self, call: Call[object]) -> tuple[float, float]:
        """Return the time that a call still waits for its turn, and the processor time that it has after that."""
        now = time.monotonic()
        if not call.is_long:
            return self._moved_at + STUCK_SECONDS - now, accounts.GRAIN_SECONDS
        # Others wait a little longer than the first, which may be in a step without a checkpoint.
        return self._overdue_at - now + (self._long[0] is not call) * PROGRESS_SECONDS, SLICE_SECONDS

    def _line_up(self, call: Call[object], spent: float) -> None:
        """Move a call that has become long, or whose time slice is over, to the end of the long calls."""
        is_new = not call.is_long
        if is_new:
            call.is_long = True
            self._short.discard(call)
            if len(self._long) >= self.most_long:
                raise Postponed
            self._long.append(call)
            self._begin()  # its tenant may have a short one beside it
        if is_new or spent - call.resumed >= PROGRESS_SECONDS:
            self._overdue_at = time.monotonic() + GIVE_WAY_SECONDS
        if spent >= call.slice_until:
            self._long.remove(call)
            self._long.append(call)

    def _charge(self, call: Call[object], spent: float) -> None:
        """Put what a call has computed since the last time on the account of its tenant."""
        self._accounts.charge(call.tenant, spent - call.charged)
        call.charged = spent
        if not call.is_long:
            self._moved_at = time.monotonic()

    def _choose(self) -> None:
        """Choose the tenant whose short call computes."""
        before = self._first
        self._first = self._accounts.kept({call.tenant for call in self._short}, before)
        if self._first != before:
            self._moved_at = time.monotonic()

    def _resume(self) -> None:
        """Wake the calls that may continue."""
        self._choose()
        for call in self._running:
            if call.is_paused and self._may_compute(call):
                call.turn.notify()

    def _has_turn(self, call: Call[object]) -> bool:
        return not self._short if call.is_long else call.tenant == self._first

    def _may_compute(self, call: Call[object]) -> bool:
        return self._has_turn(call) and (not call.is_long or self._long[0] is call)


def _give_up(call: Call[T]) -> None:
    """End a call that is queued. One that was postponed has begun before and cannot be cancelled any more."""
    if not call.result.cancel():
        call.result.set_exception(interruption.Interrupted())
