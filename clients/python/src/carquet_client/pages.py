"""Pages of a collection, read one after the other while they are iterated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypedDict, TypeVar

from .models import CollectionMeta, Pagination

Item = TypeVar("Item")


class Page(TypedDict, Generic[Item]):
    """A page as the API returns it."""

    data: list[Item]
    pagination: Pagination
    meta: CollectionMeta


class Pages(Generic[Item]):
    """
    A search, which requests each page when its first item is needed. Iterate it for items, or `iter_pages()` for whole pages; leaving the loop
    ends the requests. Each iteration requests and charges all pages again.
    """

    def __init__(self, load: Callable[[int | str], Page[Item]], start: int | str, items_max: int | None) -> None:
        """`load` returns the page at an offset, or at a cursor; `start` is that of the first page."""
        if items_max is not None and items_max < 0:
            raise ValueError(f"Invalid value {items_max} for items_max: expected a whole number from 0.")
        self._load = load
        self._start = start
        self._items_max = items_max

    def iter_pages(self) -> Iterator[Page[Item]]:
        """Requests pages until the last one, or until they hold `items_max` items."""
        count = 0
        at: int | str | None = self._start
        while at is not None and (self._items_max is None or count < self._items_max):
            page = self._load(at)
            yield page
            count += len(page["data"])
            pagination = page["pagination"]
            at = pagination.get("next_cursor") if isinstance(at, str) else pagination["next_offset"]

    def __iter__(self) -> Iterator[Item]:
        count = 0
        for page in self.iter_pages():
            for item in page["data"]:
                if count == self._items_max:
                    return
                count += 1
                yield item
