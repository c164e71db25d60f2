from workbench.api.event_stream import EventStream as EventStream
from workbench.api.finished_run import Run as Run
from workbench.api.finished_run import StepFailed as StepFailed
from workbench.api.going_live import NotLive as NotLive
from workbench.api.going_live import replay as replay
from workbench.api.sessions import open as open
from workbench.api.sessions import resume as resume
from workbench.cases.saved_run import RunUnreadable as RunUnreadable
from workbench.engine.breakpoints import Breakpoint as Breakpoint
from workbench.engine.breakpoints import Watch as Watch
from workbench.engine.debugger import Debugger as Debugger
from workbench.engine.events import Event as Event
from workbench.engine.expressions import ExpressionError as ExpressionError
from workbench.engine.ports import ServerStartFailed as ServerStartFailed
from workbench.engine.state import CommandRefused as CommandRefused
from workbench.pipeline.problems import PipelineError as PipelineError
from workbench.record.session_reader import SessionUnreadable as SessionUnreadable
from workbench.ultrarag import ultrarag_path as ultrarag_path

__version__: str
