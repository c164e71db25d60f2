"""What an endpoint's error means: whether trying again helps, and what the user is told."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

_NO_CREDIT = re.compile(r"insufficient_quota|no credit|exceeded your current quota|billing", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|maximum context", re.IGNORECASE
)


def wait_before_retry(error: OpenAIError, attempt: int, base_delay: float) -> float | None:
    """Seconds to wait before trying again; None where it is of no use.

    Rate limits, server errors and broken connections pass; an empty account, a wrong key or request do not.
    """
    from openai import APIConnectionError, APIStatusError

    delay = base_delay * 2.0**attempt + random.uniform(0, 0.25)
    if isinstance(error, APIConnectionError):
        return delay
    if not isinstance(error, APIStatusError):
        return None
    passes = error.status_code in (408, 429) or error.status_code >= 500
    if not passes or _NO_CREDIT.search(f"{error.code} {error.type} {server_text(error)}"):
        return None
    asked = retry_after(error.response.headers.get("retry-after"))
    return delay if asked is None else asked


def retry_after(value: str | None) -> float | None:
    """The header Retry-After in seconds; it may hold seconds or a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def explain(error: OpenAIError, label: str, where: str, tries: int, characters: int) -> str:
    """One message: the item, the server and its own words, and the way out."""
    from openai import APIConnectionError, APIStatusError

    tried = f" after {tries} tries" if tries > 1 else ""
    if isinstance(error, APIConnectionError):
        cause = error.__cause__ or error
        advice = "is the server running, is base_url right?"
        return f"item {label}: no connection to {where}{tried} ({cause}): {advice}"
    if not isinstance(error, APIStatusError):
        return f"item {label}: {where}: {error}"
    status, text = error.status_code, server_text(error)
    if _TOO_LONG.search(f"{error.code} {error.type} {text}"):
        return (
            f"item {label}: the prompt ({characters} characters) is too long for {where}: {text}. "
            "Shorten it, e.g. by a smaller retriever.top_k"
        )
    hints = {
        401: " Set the environment variable LLM_API_KEY or generation.backend_configs.openai.api_key",
        403: " Does the key in LLM_API_KEY may use this model?",
        404: " Are base_url and model_name right?",
    }
    return f"item {label}: {where} answered {status}{tried}: {text}.{hints.get(status, '')}".rstrip(".")


def server_text(error: APIStatusError) -> str:
    """The server's own words."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") or inner.get("detail") if isinstance(inner, dict) else inner
        if message:
            return str(message)
    return error.response.text.strip()[:300] or error.message
