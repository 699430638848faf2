"""The part of GitHub that Seconder uses, on this machine: REST, a little GraphQL, git over HTTP, webhooks and pages."""

from infra.local_github.faults import Fault
from infra.local_github.records import Protection
from infra.local_github.server import LocalGitHub, create_app
from infra.local_github.world import AppSpec, World

__all__ = ["AppSpec", "Fault", "LocalGitHub", "Protection", "World", "create_app"]
