"""Moments in the work of a stream."""

from __future__ import annotations

from tileproof.diagnostics.errors import LaunchError

from .driver_api import NOT_READY, Gpu


class Event:
    """A moment in the work of a stream. `Device.event` has ones that were used before, which costs less."""

    __slots__ = ("__weakref__", "_is_idle", "device", "handle", "is_timed")

    def __init__(self, device: Gpu, *, is_timed: bool = False) -> None:
        driver = device.driver
        flags = driver.api.CUevent_flags
        flag = flags.CU_EVENT_DEFAULT if is_timed else flags.CU_EVENT_DISABLE_TIMING
        self.device, self.is_timed, self._is_idle = device, is_timed, False
        self.handle = int(device.call("making an event", "cuEventCreate", int(flag)))
        driver.drop_with(self, "cuEventDestroy", self.handle)

    def record(self, stream: int) -> None:
        """Makes it the moment when a stream has done what it was given so far."""
        self.device.call("recording an event", "cuEventRecord", self.handle, stream)

    def wait_on(self, stream: int) -> None:
        """Has a stream wait for the moment; the host does not."""
        self.device.call("waiting for an event", "cuStreamWaitEvent", stream, self.handle, 0)

    def synchronize(self) -> None:
        """Waits for the moment."""
        self.device.call("waiting for an event", "cuEventSynchronize", self.handle)

    @property
    def is_done(self) -> bool:
        """Whether the moment has come."""
        driver = self.device.driver
        if driver.lost is not None:
            raise driver.gone("asking for an event")
        (result,) = driver.api.cuEventQuery(self.handle)
        if not result:
            return True
        if int(result) != NOT_READY:
            raise LaunchError(driver.failure(result, "asking for an event"))
        return False

    def milliseconds_since(self, earlier: Event) -> float:
        """The time between two moments that have come. Both events are made with `is_timed`."""
        if not (self.is_timed and earlier.is_timed):
            raise ValueError("only events that are made with is_timed=True know the time")
        return float(self.device.call("reading a time", "cuEventElapsedTime", earlier.handle, self.handle))

    def give_back(self) -> None:
        """Lets `Device.event` hand it out again. Streams that wait for it still do; the giver must not touch it."""
        if self.is_timed:
            raise ValueError("events that know the time are not handed out again")
        if self._is_idle:
            raise ValueError("the event was given back before")
        self._is_idle = True
        self.device.driver.events.setdefault(self.device.ordinal, []).append(self)


def taken(device: Gpu) -> Event:
    """An event that was given back, or a new one."""
    try:
        event: Event = device.driver.events[device.ordinal].pop()
    except LookupError:
        return Event(device)
    event._is_idle = False
    return event
