"""Errors of the API as one exception, with the API's code."""

from __future__ import annotations

import re
from typing import Any

import httpx

# An invalid value can contain any text, so the last match within the message counts.
_NAMED_PARAMETER = re.compile(
    r"(?:Invalid value .* for (?=\w+: expected)|Unknown query parameter |API key in query parameter |Missing parameter |Parameter |"
    r"No snapshot for )(\S+?)[:.]?(?:\s|$)",
    re.DOTALL,
)


class CarquetError(Exception):
    """A response that is an error. Branch on `code`; `message` is for people."""

    def __init__(self, status: int, code: str, message: str, request_id: str | None, retry_after: int | None) -> None:
        # An exception is pickled by its arguments.
        super().__init__(status, code, message, request_id, retry_after)
        self.status = status
        self.code = code
        """A code of the document; `unexpected_response` if the response is not one of the API, such as that of a failed proxy."""
        self.message = message
        self.parameter = _parameter_in(message) if status == httpx.codes.BAD_REQUEST else None
        """The parameter that the message names; None if it names none or several."""
        self.request_id = request_id
        """Quote it to the operator of the service."""
        self.retry_after = retry_after
        """Seconds to wait before the next request, if the API names them."""

    def __str__(self) -> str:
        return f"{self.message} [{self.status} {self.code}, request {self.request_id}]"


def json_of(response: httpx.Response) -> Any:
    """Returns the body of a response. Raises a CarquetError if it is not JSON."""
    try:
        return response.json()
    except ValueError:
        raise error_of(response) from None


def error_of(response: httpx.Response) -> CarquetError:
    """Returns the exception for a response that is an error, or not one of the API."""
    code, message = _error_in(response)
    return CarquetError(
        response.status_code, code, message, response.headers.get("X-Request-Id"), seconds_in(response)
    )


def seconds_in(response: httpx.Response) -> int | None:
    """Returns the seconds of `Retry-After`; None without the header."""
    text = response.headers.get("Retry-After", "")
    return int(text) if re.fullmatch("[0-9]+", text) else None


def missing_extra(module: str, use: str) -> ImportError:
    """Returns the exception for an optional library that is not installed."""
    return ImportError(f'{module} is not installed: expected it for {use}. Run pip install "carquet-client[{module}]".')


def _parameter_in(message: str) -> str | None:
    found = _NAMED_PARAMETER.match(message)
    return None if found is None else found[1]


def _error_in(response: httpx.Response) -> tuple[str, str]:
    """Returns the code and the message of the shape that all errors of the API share. Codes of a later release pass."""
    try:
        body: object = response.json()
    except ValueError:
        body = None
    error: object = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        code, message = error.get("code"), error.get("message")
        if isinstance(code, str) and isinstance(message, str):
            return code, message
    expected = "expected a response of the Carquet API"
    return "unexpected_response", f"Unexpected response {response.status_code}: {expected}."
