"""What the headers of a response say about its price, its data and the rate limits."""

from __future__ import annotations

from dataclasses import dataclass

import httpx


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The requests that the account may send in 10 and 60 seconds, and how many of them are left."""

    tier: str
    limit_10s: int
    remaining_10s: int
    limit_60s: int
    remaining_60s: int


@dataclass(frozen=True, slots=True)
class ResponseInfo:
    """The headers of a response."""

    status: int
    request_id: str | None
    usage_class: str | None
    """The class that the request was billed as; None if it was not billed."""
    cost_micros: int
    """What was charged, in millionths of a US dollar."""
    is_replayed: bool
    """Whether the response repeats one that was charged before."""
    data_version: str | None
    total_count: int | None
    rate_limit: RateLimit | None
    """None if the response does not identify an account."""


def info_of(response: httpx.Response) -> ResponseInfo:
    """Returns what the headers of a response say."""
    headers = response.headers
    return ResponseInfo(
        status=response.status_code,
        request_id=headers.get("X-Request-Id"),
        usage_class=headers.get("X-Usage-Class"),
        cost_micros=_number(headers, "X-Usage-Cost-Micros") or 0,
        is_replayed=headers.get("Idempotent-Replayed") == "true",
        data_version=headers.get("Carquet-Version"),
        total_count=_number(headers, "X-Total-Count"),
        rate_limit=_rate_limit_in(headers),
    )


def _rate_limit_in(headers: httpx.Headers) -> RateLimit | None:
    tier = headers.get("X-RateLimit-Tier")
    if tier is None:
        return None
    numbers = {
        f"{name}_{window}": _number(headers, f"X-RateLimit-{name}-{window}") or 0
        for name in ("limit", "remaining")
        for window in ("10s", "60s")
    }
    return RateLimit(tier=tier, **numbers)


def _number(headers: httpx.Headers, name: str) -> int | None:
    text = headers.get(name, "")
    return int(text) if text.isdecimal() else None
