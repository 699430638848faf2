"""Plain pages for people: lists, issues, pull requests; forms act as a chosen sample user. Loopback only."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request as Http
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from infra.local_github.api import Api, Request
from infra.local_github.auth import Actor
from infra.local_github.errors import ApiError, not_found
from infra.local_github.objects_base import node_id
from infra.local_github.page_views import row, thread
from infra.local_github.records import Issue, Json, Repo, User
from infra.local_github.world import World

_HERE = Path(__file__).parent / "templates"
_FORM_LIMIT = 2**20
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STATIC = {"style.css": "text/css", "live.js": "text/javascript"}
_REVIEWS = {"approve": "APPROVE", "request_changes": "REQUEST_CHANGES", "review": "COMMENT"}


class Pages:
    """Serves everything that is neither API nor git."""

    def __init__(self, world: World, api: Api) -> None:
        self.world, self.api = world, api
        self.templates = Environment(loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined)
        self.templates.filters["safe_html"] = Markup  # only for what `markdown.render` made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one page or form."""
        http = Http(scope, receive)
        try:
            if http.url.hostname not in _LOOPBACK:
                raise ApiError(421, "The local GitHub answers only to 127.0.0.1 and localhost.")
            answer = await (self._post(http) if http.method == "POST" else self._get(http))
        except ApiError as refused:
            answer = self._problem(http, refused)
        answer.headers.update(_HEADERS)
        await answer(scope, receive, send)

    # -- reading -----------------------------------------------------------------------------------------------

    async def _get(self, http: Http) -> Response:
        parts = [p for p in http.url.path.split("/") if p]
        match parts:
            case []:
                return self._page(http, "home.html", repos=list(self.world.state.repos.values()))
            case ["local", "version"]:
                return PlainTextResponse(str(self.world.version))
            case ["local", name] if name in _STATIC:
                return Response((_HERE / name).read_bytes(), media_type=_STATIC[name])
            case ["avatars", number]:
                return self._avatar(number)
            case [owner, name]:
                return RedirectResponse(f"/{quote(owner)}/{quote(name)}/issues", 302)
            case [owner, name, ("issues" | "pulls") as what]:
                return self._list(http, self._repo(owner, name), what)
            case [owner, name, ("issues" | "pull") as what, number]:
                return await self._thread(http, self._repo(owner, name), what, number)
            case [owner, name, "pull", number, "files"]:
                return RedirectResponse(f"/{quote(owner)}/{quote(name)}/pull/{quote(number)}#files", 302)
            case [owner, name, "runs", number]:
                return self._run(self._repo(owner, name), number)
        raise not_found()

    def _list(self, http: Http, repo: Repo, what: str) -> Response:
        wanted = http.query_params.get("state", "open")
        found = [i for i in repo.issues.values() if (i.number in repo.pulls) == (what == "pulls")]
        rows = [row(self.world, repo, i) for i in found if wanted in ("all", i.state)]
        counts = {state: sum(1 for i in found if i.state == state) for state in ("open", "closed")}
        rows.sort(key=lambda item: int(item["number"]), reverse=True)
        return self._page(http, "list.html", repo=repo, what=what, rows=rows, counts=counts, wanted=wanted)

    async def _thread(self, http: Http, repo: Repo, what: str, number: str) -> Response:
        issue = self._issue(repo, number.removesuffix(".diff"))
        pull = repo.pulls.get(issue.number)
        if number.endswith(".diff") and pull:
            args = ("diff", "--no-ext-diff", "--no-textconv", pull.merge_base, pull.head_sha)
            return PlainTextResponse(await self.world.git.git(repo.id, *args))
        if (what == "pull") != (pull is not None):
            return RedirectResponse(self._where(repo, issue), 302)
        view = await thread(self.world, repo, issue)
        return self._page(http, "thread.html", repo=repo, view=view, what="pulls" if pull else "issues")

    def _run(self, repo: Repo, number: str) -> Response:
        run = repo.checks.get(int(number)) if number.isdigit() else None
        pulls = [p for p in repo.pulls.values() if run and p.head_sha == run.head_sha]
        if run is None or not pulls:
            raise not_found()
        return RedirectResponse(f"{self._where(repo, repo.issues[pulls[-1].number])}#check-{run.id}", 302)

    def _avatar(self, number: str) -> Response:
        user = self.world.state.users.get(int(number)) if number.isdigit() else None
        letter = escape((user.login if user else "?")[0].upper())
        hue = (user.id if user else 0) * 47 % 360
        shape = "8" if user and user.type != "User" else "20"
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" rx="{shape}" '
            f'fill="hsl({hue},45%,42%)"/><text x="20" y="27" font-family="sans-serif" font-size="19" fill="#fff" '
            f'text-anchor="middle">{letter}</text></svg>'
        )
        return Response(svg, media_type="image/svg+xml")

    def _repo(self, owner: str, name: str) -> Repo:
        repo = self.world.repo(f"{owner}/{name}")
        if repo is None:
            raise not_found()
        return repo

    def _issue(self, repo: Repo, number: str) -> Issue:
        issue = repo.issues.get(int(number)) if number.isascii() and number.isdigit() else None
        if issue is None:
            raise not_found()
        return issue

    def _where(self, repo: Repo, issue: Issue) -> str:
        kind = "pull" if issue.number in repo.pulls else "issues"
        return f"/{self.world.full_name(repo)}/{kind}/{issue.number}"

    def people(self) -> list[User]:
        """The sample users that a visitor may act as."""
        return [u for u in self.world.state.users.values() if u.type == "User"]

    def _me(self, http: Http) -> User | None:
        chosen = self.world.user(http.cookies.get("as", ""))
        people = self.people()
        return chosen if chosen in people else next(iter(people), None)

    def _page(self, http: Http, template: str, **more: object) -> Response:
        values = {"world": self.world, "people": self.people(), "me": self._me(http), "path": http.url.path, **more}
        return HTMLResponse(self.templates.get_template(template).render(values))

    def _problem(self, http: Http, refused: ApiError) -> Response:
        details = [e if isinstance(e, str) else str(e.get("message") or e.get("code", "")) for e in refused.errors]
        text = self.templates.get_template("problem.html").render(
            world=self.world,
            people=self.people(),
            me=self._me(http),
            path=http.url.path,
            status=refused.status,
            message=refused.message,
            details=details,
        )
        return HTMLResponse(text, refused.status)

    # -- acting ------------------------------------------------------------------------------------------------

    async def _post(self, http: Http) -> Response:
        """A form: same origin only, then one REST call as the chosen user."""
        origin, host = http.headers.get("origin", ""), http.headers.get("host", "")
        if urlsplit(origin).netloc != host or http.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise ApiError(403, "Forms are taken from the local GitHub's own pages only.")
        form = await _form(http)
        parts = [p for p in http.url.path.split("/") if p]
        if parts == ["local", "as"]:
            return self._become(form)
        match parts:
            case [owner, name, "issues", "new"]:
                repo = self._repo(owner, name)
                body = {"title": form.get("title", ""), "body": form.get("body", "")}
                made = await self._act(http, "POST", f"{self._api_path(repo)}/issues", body)
                return RedirectResponse(f"/{self.world.full_name(repo)}/issues/{made['number']}", 303)
            case [owner, name, ("issues" | "pull"), number, "act"]:
                repo = self._repo(owner, name)
                issue = self._issue(repo, number)
                await self._do(http, repo, issue, form)
                return RedirectResponse(self._where(repo, issue), 303)
        raise not_found()

    def _become(self, form: dict[str, str]) -> Response:
        back = form.get("next", "/")
        safe = back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/"
        answer = RedirectResponse(safe, 303)
        if user := self.world.user(form.get("as", "")):
            answer.set_cookie("as", user.login, httponly=True, samesite="strict")
        return answer

    def _api_path(self, repo: Repo) -> str:
        return f"/repos/{quote(self.world.full_name(repo))}"

    async def _do(self, http: Http, repo: Repo, issue: Issue, form: dict[str, str]) -> None:
        base, number, text = self._api_path(repo), issue.number, form.get("body", "")

        async def act(method: str, path: str, body: Json) -> Json:
            return await self._act(http, method, f"{base}{path}", body)

        match form.get("do", "").split(":"):
            case ["comment"]:
                await act("POST", f"/issues/{number}/comments", {"body": text})
            case ["close" | "reopen" as verb]:
                if text.strip():
                    await act("POST", f"/issues/{number}/comments", {"body": text})
                await act("PATCH", f"/issues/{number}", {"state": "closed" if verb == "close" else "open"})
            case ["label"]:
                await act("POST", f"/issues/{number}/labels", {"labels": [form.get("label", "")]})
            case ["unlabel", *rest]:
                await act("DELETE", f"/issues/{number}/labels/{quote(':'.join(rest), safe='')}", {})
            case [("approve" | "request_changes" | "review") as verb]:
                head = form.get("head", "")
                review = {"event": _REVIEWS[verb], "body": text, "commit_id": head}
                await act("POST", f"/pulls/{number}/reviews", review)
            case ["merge"]:
                body = {"sha": form.get("head", ""), "merge_method": form.get("method", "merge")}
                await act("PUT", f"/pulls/{number}/merge", body)
            case ["ready" | "draft" as verb]:
                await self._draft(http, repo, number, verb)
            case ["press", run, identifier]:
                await act("POST", f"/check-runs/{quote(run)}/press", {"identifier": identifier})
            case _:
                raise ApiError(400, "The form asks for nothing that is known here.")

    async def _draft(self, http: Http, repo: Repo, number: int, verb: str) -> None:
        name = "markPullRequestReadyForReview" if verb == "ready" else "convertPullRequestToDraft"
        node = node_id("PullRequest", repo.pulls[number].id)
        query = f'mutation {{ {name}(input: {{pullRequestId: "{node}"}}) {{ clientMutationId }} }}'
        reply = await self._act(http, "POST", "/graphql", {"query": query})
        if reply.get("errors"):
            raise ApiError(403, str(reply["errors"][0]["message"]))

    async def _act(self, http: Http, method: str, path: str, body: Json) -> Json:
        me = self._me(http)
        if me is None:
            raise ApiError(403, "There is no user to act as; add one first.")
        answer = await self.api.perform(Actor(user=me), Request(method, path, body))
        return answer.body if isinstance(answer.body, dict) else {}


async def _form(http: Http) -> dict[str, str]:
    raw = bytearray()
    async for chunk in http.stream():
        raw += chunk
        if len(raw) > _FORM_LIMIT:
            raise ApiError(413, "That is too long.")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise ApiError(400, "The form is not UTF-8.") from None
    return {k: v.replace("\r\n", "\n") for k, v in parse_qsl(text, keep_blank_values=True)}
