"""A client of the Carquet Vehicle Listings Data API. Types of queries and responses are in `carquet_client.models`."""

from .client import Client
from .errors import CarquetError
from .exports import Export, ExportFormat, Statements
from .lakes import lake
from .pages import Page, Pages
from .responses import RateLimit, ResponseInfo

__all__ = ["CarquetError", "Client", "Export", "ExportFormat", "Page", "Pages", "RateLimit", "ResponseInfo", "Statements", "lake"]
