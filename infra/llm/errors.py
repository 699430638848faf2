"""What went wrong at a Messages endpoint, in the six kinds that the core knows."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

import anthropic
import httpx2

from agents.ports import ModelError, ModelErrorKind

_BY_STATUS: dict[int, ModelErrorKind] = {
    401: "unauthorised",
    402: "spend_limit",
    403: "unauthorised",
    408: "unavailable",
    409: "unavailable",
    429: "rate_limited",
    499: "unavailable",
    529: "overloaded",
}

_BY_TYPE: dict[str, ModelErrorKind] = {
    "api_error": "unavailable",
    "authentication_error": "unauthorised",
    "billing_error": "spend_limit",
    "conflict_error": "unavailable",
    "invalid_request_error": "rejected",
    "not_found_error": "rejected",
    "overloaded_error": "overloaded",
    "permission_error": "unauthorised",
    "rate_limit_error": "rate_limited",
    "request_too_large": "rejected",
    "timeout_error": "unavailable",
}

_DECIDED_BY_STATUS = frozenset({401, 402, 403, 429, 529})

_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, AssertionError, RuntimeError)
"""What the SDK's accumulator raises on events that are out of order, half missing, or hold broken tool input."""


def classify(status: int, error_type: str | None, error_code: str | None) -> ModelErrorKind:
    """The kind of an error by HTTP status, `error.type` and `error.details.error_code`.

    An error that arrives inside a stream has status 200, so there the type decides. Where a status has one meaning
    it goes first, because gateways put their own types beside it. Source: Claude API docs, "Errors".
    """
    if error_code is not None and "spend_limit" in error_code:
        return "spend_limit"
    if status in _DECIDED_BY_STATUS:
        return _BY_STATUS[status]
    if error_type in _BY_TYPE:
        return _BY_TYPE[error_type]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return "rejected" if 400 <= status < 500 else "unavailable"


def retry_after_s(headers: httpx2.Headers) -> float | None:
    """Seconds that the endpoint asks to wait: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date.

    None when there is no such header or it makes no sense. Large values are returned as they are; the caller caps.
    """
    milliseconds = _finite(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    raw = headers.get("retry-after")
    seconds = _finite(raw)
    if seconds is not None or raw is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(raw).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _finite(raw: str | None) -> float | None:
    try:
        value = float(raw) if raw is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _from_status(error: anthropic.APIStatusError) -> ModelError:
    error_type = error.type if isinstance(error.type, str) else None
    kind = classify(error.status_code, error_type, error.error_code)
    said = _short(error.api_message) if isinstance(error.api_message, str) else "no explanation"
    where = "in the stream" if error.status_code < 400 else f"HTTP {error.status_code}"
    request = f", request {error.request_id}" if error.request_id else ""
    wait = retry_after_s(error.response.headers)
    return ModelError(kind, f"the model endpoint answered {error_type or 'an error'} ({where}{request}): {said}", wait)


def _short(text: str) -> str:
    return text if len(text) <= 400 else text[:400] + " …"


@contextmanager
def model_errors(seconds: float) -> Iterator[None]:
    """Turn what the SDK, the connection or the deadline of `seconds` raises into `ModelError`."""
    try:
        yield
    except anthropic.APIStatusError as error:
        raise _from_status(error) from error
    except (TimeoutError, anthropic.APITimeoutError, httpx2.TimeoutException) as error:
        raise ModelError("unavailable", f"the model endpoint did not finish within {seconds:g} s") from error
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        cause = error.__cause__ or error
        raise ModelError("unavailable", f"the connection to the model endpoint failed: {_short(str(cause))}") from error
    except anthropic.APIError as error:
        raise ModelError("unavailable", f"the model endpoint's answer made no sense: {_short(str(error))}") from error


@contextmanager
def unreadable_answers() -> Iterator[None]:
    """Turn an answer that cannot be read into `ModelError` unavailable: asking again can bring a sound one."""
    try:
        yield
    except _UNREADABLE as error:
        detail = _short(str(error)) or type(error).__name__
        raise ModelError("unavailable", f"the model's answer could not be read: {detail}") from error
