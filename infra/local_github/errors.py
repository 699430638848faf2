"""Refusals, worded and numbered as GitHub does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infra.local_github.records import Json

DOCS = "https://docs.github.com/rest"


class ApiError(Exception):
    """An answer other than success: HTTP status, message and GitHub's `errors` list."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: Sequence[Json | str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = list(errors)
        self.headers = dict(headers or {})

    def body(self) -> Json:
        """The JSON object that GitHub would send."""
        shown: Json = {"message": self.message}
        if self.errors:
            shown["errors"] = self.errors
        return shown | {"documentation_url": DOCS, "status": str(self.status)}


def not_found() -> ApiError:
    """404, for what is missing and for what the caller may not see."""
    return ApiError(404, "Not Found")


def invalid(resource: str, field: str, code: str = "invalid", value: object = None) -> ApiError:
    """422 for one field; `code` is one of GitHub's (missing_field, invalid, already_exists ...)."""
    error: Json = {"resource": resource, "field": field, "code": code}
    if value is not None:
        error["value"] = value
    return ApiError(422, "Validation Failed", [error])


def custom(resource: str, message: str) -> ApiError:
    """422 whose reason is a sentence in `errors[0].message`."""
    return ApiError(422, "Validation Failed", [{"resource": resource, "code": "custom", "message": message}])


def unprocessable(message: str) -> ApiError:
    """422 whose reason is the message itself."""
    return ApiError(422, message)
