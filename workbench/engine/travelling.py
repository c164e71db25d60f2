"""Goes back and forth in what has run: nothing is run by it."""

from __future__ import annotations

from workbench.engine.events import Stopped, WentBack
from workbench.engine.running import Running
from workbench.engine.state import CommandRefused


class Travelling(Running):
    """The commands that go to a checkpoint. Running on from one in the past begins a fork."""

    async def go_to(self, visit: int) -> Stopped:
        """Go to the checkpoint before a visit of this timeline, without running anything. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        self.moment(visit)
        return self._travel(self.timeline.index_of(visit) or 0)

    async def go_to_end(self) -> Stopped:
        """Go to the end of this timeline, without running anything."""
        self._refuse_while_busy()
        return self._travel(len(self.timeline.moments))

    async def step_back(self) -> Stopped:
        """Go to the checkpoint before the last visit. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if not self.state.position:
            raise CommandRefused("this is the beginning")
        return self._travel(self.state.position - 1)

    async def step_forth(self) -> Stopped:
        """Go over the next recorded visit, without running it. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if not self.state.is_past:
            raise CommandRefused("nothing is recorded after this")
        return self._travel(self.state.position + 1)

    async def round_back(self) -> Stopped:
        """Go to the begin of this round, or from there to that of the one before. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if not self.state.position:
            raise CommandRefused("this is the beginning")
        return self._travel(self.timeline.round_begins(self.state.position))

    async def switch_to(self, timeline: int) -> Stopped:
        """Go to the end of another timeline. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if timeline not in self.timelines:
            raise CommandRefused(f"there is no timeline {timeline}")
        await self._publish()
        self.timeline = self.timelines[timeline]
        self._recorder.went_to(self.timeline)
        await self._publish()
        return self._travel(len(self.timeline.moments))

    def _travel(self, position: int) -> Stopped:
        checkpoint = self._set_position(position)
        stateful = self.out_of_step()
        before = self.timeline.moments[position].visit.number if position < len(self.timeline.moments) else None
        self._emit(WentBack(visit=before, timeline=self.timeline.number, stateful=stateful))
        last = "the last visit" + (" that fits the pipeline as it is now" if self.timeline.is_cut else "")
        why = f"before visit {before}" if before is not None else f"after {last}"
        if stateful:
            why += f"; {', '.join(stateful)} kept the state of what ran since"
        return self._stop("went back" if not checkpoint.cursor.is_end else "finished", why)
