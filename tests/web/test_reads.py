"""What the API shows: the same shapes as the command line's `--json`."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ferryman import Ferry, Job  # noqa: TC001 - the task reads its annotations
from ferryman.service import presentation
from ferryman.service.insights import Insights
from ferryman.service.roles import Role
from ferryman.service.search import LOOK
from ferryman.testing import drain
from ferryman.web.site import SCANS
from tests.web.client import part

if TYPE_CHECKING:
    import pytest

    from ferryman.filter import Filter
    from ferryman.queue.answers import Page
    from tests.web.client import Client
    from tests.web.conftest import Visitors


def test_a_stranger_sees_nothing_but_whether_the_server_lives(stranger: Client) -> None:
    assert stranger.get("/livez").json == {"status": "ok"}
    assert stranger.get("/readyz").json == {"status": "ok"}
    for path in ("/livez", "/readyz", "/healthz"):
        head = stranger.send("HEAD", path)
        assert (head.status, head.text) == (200, "")
    assert stranger.get("/healthz", verbose="").json["parts"] == {"server": "ok", "store": "ok"}
    for path in ("/v1/me", "/v1/overview", "/v1/jobs", "/openapi.json"):
        answer = stranger.get(path)
        assert (answer.status, answer.code) == (401, "unauthenticated")
        assert answer.headers["www-authenticate"] == "Bearer"


def test_overview_queues_and_jobs_have_the_shapes_of_the_command_line(
    ferry: Ferry, admin: Client
) -> None:
    handle = ferry.push("mail", {"to": "ada"}, queue="out")
    insights = Insights(ferry.backend)
    seen = admin.get("/v1/overview").json
    assert {**seen, "at": None} == {**presentation.overview(insights.overview()), "at": None}
    assert admin.get("/v1/queues").json["queues"] == seen["queues"]
    assert admin.get("/v1/queues/out").json["ready"] == 1
    shown = admin.get(f"/v1/jobs/{handle.id}").json
    assert shown == presentation.job_whole(insights.job(handle.id))
    assert admin.get("/v1/jobs").json == {
        "jobs": [presentation.job_summary(insights.job(handle.id))],
        "next": None,
        "scanned": None,
        "complete": True,
    }


def test_me_says_who_asks_and_what_the_store_can_do(visitor: Visitors) -> None:
    me = visitor(Role.OPERATOR, "mail").get("/v1/me").json
    assert (me["name"], me["role"], me["queues"]) == ("key:a operator", "operator", ["mail"])
    assert (me["backend"], me["capabilities"]["cells"], me["csrf"]) == ("memory", True, None)


def test_pages_follow_each_other_without_gaps_or_doubles(ferry: Ferry, admin: Client) -> None:
    pushed = [ferry.push("count", n, id=f"job-{n:02}").id for n in range(25)]
    seen: list[str] = []
    after = None
    for _ in range(3):
        page = admin.get("/v1/jobs", where="task:count", limit=10, after=after).json
        seen += [job["id"] for job in page["jobs"]]
        after = page["next"]
    assert after is None
    assert seen == pushed[::-1]


def test_a_search_in_payloads_pages_exactly_and_says_how_far_it_looked(
    ferry: Ferry, admin: Client
) -> None:
    for n in range(40):
        ferry.push("count", {"even": n % 2 == 0}, id=f"job-{n:02}")
    first = admin.get("/v1/jobs", where="payload.even:true", limit=7).json
    assert (len(first["jobs"]), first["complete"], first["scanned"]) == (7, True, 14)
    rest = admin.get("/v1/jobs", where="payload.even:true", limit=50, after=first["next"]).json
    ids = [job["id"] for job in [*first["jobs"], *rest["jobs"]]]
    assert ids == [f"job-{n:02}" for n in range(38, -1, -2)]
    assert (rest["next"], rest["complete"]) == (None, True)


def test_searches_that_take_long_leave_the_other_threads_to_others(
    ferry: Ferry, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, may_look, looking = ferry.backend, threading.Event(), threading.Semaphore(0)
    look_up = backend.list

    def slowly(where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        if limit == LOOK:
            looking.release()
            assert may_look.wait(30)
        return look_up(where, limit=limit, after=after)

    monkeypatch.setattr(backend, "list", slowly)
    pushed = ferry.push("mail", {"user": 7}).id
    with ThreadPoolExecutor(40) as people:
        searches = [people.submit(admin.get, "/v1/jobs", where="payload.user:7") for _ in range(40)]
        for _ in range(SCANS):
            assert looking.acquire(timeout=30)
        assert admin.get("/v1/jobs", where="queue:mail").json["jobs"][0]["id"] == pushed
        assert not looking.acquire(blocking=False)
        may_look.set()
        answers = [search.result().json["jobs"][0]["id"] for search in searches]
    assert answers == [pushed] * 40


def test_result_logs_and_progress_of_a_job(ferry: Ferry, admin: Client) -> None:
    @ferry.task(queue="out")
    def send(to: str, job: Job) -> str:
        job.log("sending")
        job.progress(50, "half")
        return f"sent to {to}"

    handle = send.push("ada")
    before = admin.get(f"/v1/jobs/{handle.id}/progress")
    assert before.json["state"] == "pending"
    drain(ferry)
    assert admin.get(f"/v1/jobs/{handle.id}/result").json["result"] == "sent to ada"
    assert [line["text"] for line in admin.get(f"/v1/jobs/{handle.id}/logs").json["logs"]] == [
        "sending"
    ]
    now = admin.using(If_None_Match=before.headers["etag"]).get(f"/v1/jobs/{handle.id}/progress")
    assert (now.status, now.json["state"]) == (200, "completed")
    etag = now.headers["etag"]
    for sent in (etag, f"W/{etag}", f'"another", W/{etag}', "*"):
        same = admin.using(If_None_Match=sent).get(f"/v1/jobs/{handle.id}/progress")
        assert (same.status, same.text) == (304, "")


def test_counts_by_state_are_those_of_the_filter(ferry: Ferry, admin: Client) -> None:
    ferry.push("mail", 1, queue="a")
    ferry.push("mail", 2, queue="b")
    ferry.backend.cancel([ferry.push("post", 3, queue="b").id])
    for where, pending, cancelled in (("", 2, 1), ("queue:b", 1, 1), ("task:mail", 2, 0)):
        states = admin.get("/v1/jobs/counts", where=where).json["states"]
        assert (states["pending"], states["cancelled"]) == (pending, cancelled), where


def test_any_name_can_stand_in_a_path(ferry: Ferry, admin: Client) -> None:
    for name in ("24/7", "a b", "ünï", "x%2Fy", "100%", "?#&", "counts/result"):
        ferry.push("mail", 1, queue=name, id=name)
        assert admin.get(f"/v1/queues/{part(name)}").json["queue"] == name
        assert admin.get(f"/v1/jobs/{part(name)}").json["id"] == name
        assert admin.get(f"/v1/jobs/{part(name)}/result").json["id"] == name


def test_numbers_of_any_size_and_any_text_come_through(ferry: Ferry, admin: Client) -> None:
    payload = {"big": 2**53 + 1, "huge": 10**300, "text": "é\u2028\x00🚢"}
    handle = ferry.push("mail", payload)
    assert admin.get(f"/v1/jobs/{handle.id}").json["payload"] == payload


def test_errors_are_problem_documents_everywhere(admin: Client) -> None:
    for answer, status, code in (
        (admin.get("/v1/nothing"), 404, "not_found"),
        (admin.get("/v1/jobs/none"), 404, "not_found"),
        (admin.get("/v1/queues/none"), 404, "not_found"),
        (admin.get("/v1/runs/none"), 404, "not_found"),
        (admin.get("/v1/pipelines/none"), 404, "not_found"),
        (admin.send("PUT", "/v1/jobs"), 405, "method_not_allowed"),
        (admin.get("/v1/jobs", limit=0), 422, "invalid"),
        (admin.get("/v1/jobs", where="state:lost"), 422, "invalid"),
        (admin.get("/v1/jobs", after="what"), 422, "invalid"),
    ):
        assert (answer.status, answer.code) == (status, code), answer.text
        assert answer.json["status"] == status
        assert answer.json["detail"]


def test_every_answer_has_headers_that_keep_browsers_safe(stranger: Client) -> None:
    for path in ("/livez", "/v1/jobs", "/nowhere"):
        headers = stranger.get(path).headers
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
    assert stranger.using(X_Request_ID="abc-1").get("/livez").headers["x-request-id"] == "abc-1"
    assert stranger.using(X_Request_ID="a b").get("/livez").headers["x-request-id"] != "a b"
