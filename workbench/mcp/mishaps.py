"""What a tool raises, as an error that says what happened and where in the server's code."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastmcp.exceptions import FastMCPError, ToolError
from pydantic import ValidationError


def telling_where(function: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, with every mishap of its own turned into a ``ToolError`` that names its kind and its line.

    ``sys.exit`` in a tool would leave its caller waiting for ever: it is a mishap too.
    """
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except (Exception, SystemExit) as error:
                raise _told(error) from error

        return later

    @functools.wraps(function)
    def now(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (Exception, SystemExit) as error:
            raise _told(error) from error

    return now


def _told(error: BaseException) -> BaseException:
    if isinstance(error, FastMCPError | ValidationError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    what = f"it called sys.exit({error.code})" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
    return ToolError(what + place)
