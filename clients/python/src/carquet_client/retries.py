"""
Retries. A response whose status has a documented `Retry-After` is requested again after that time. A request that was lost on its way, or
whose response was, is repeated if it has an idempotency key, because only then is it charged once.
"""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import dataclass

import httpx

from .errors import seconds_in
from .operations import RETRIED_STATUSES

_JITTER_SECONDS = 0.5
"""Spreads the retries of clients that were refused at the same time."""

_FIRST_WAIT_SECONDS = 0.5
"""The wait after the first lost request is at most this long; it doubles with each further one."""


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """How often a request is repeated at most, and the longest wait before that."""

    retries: int
    longest_wait_seconds: float


def send_with_retries(
    http: httpx.Client, request: httpx.Request, settings: RetrySettings, *, is_stream: bool
) -> httpx.Response:
    """Sends a request without a body, and repeats it where that is allowed. Without `is_stream`, reads the whole response."""
    for retry in itertools.count():
        outcome = _attempt(http, request, is_stream=is_stream)
        wait = _wait_after(outcome, request, retry) if retry < settings.retries else None
        if wait is None or wait > settings.longest_wait_seconds + _JITTER_SECONDS:
            break
        if isinstance(outcome, httpx.Response):
            outcome.close()
        time.sleep(wait)
    if isinstance(outcome, httpx.Response):
        return outcome
    raise outcome


def _attempt(
    http: httpx.Client, request: httpx.Request, *, is_stream: bool
) -> httpx.Response | httpx.RequestError:
    """Returns the response, or why there is no whole one."""
    try:
        return http.send(request, stream=is_stream)
    except httpx.RequestError as loss:
        return loss


def _wait_after(
    outcome: httpx.Response | httpx.RequestError, request: httpx.Request, retry: int
) -> float | None:
    """Returns the seconds to wait before a retry; None if there must be none."""
    if isinstance(outcome, httpx.Response):
        seconds = seconds_in(outcome) if outcome.status_code in RETRIED_STATUSES else None
        return None if seconds is None else seconds + random.random() * _JITTER_SECONDS
    if "Idempotency-Key" not in request.headers:
        return None
    return random.random() * _FIRST_WAIT_SECONDS * 2.0**retry
