"""Every act that the dashboard offers, done by hand, and what became of it in the store."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from ferryman import Ferry, State
from ferryman.message import Message
from ferryman.service.api_keys import ApiKeys
from ferryman.service.bulk import BulkActs
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.service.roles import Role
from ferryman.testing.waiting import wait_until
from ferryman.worker.settings import Settings
from tests.system.dashboard import scene
from tests.system.dashboard.fixtures import served

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Route

    from ferryman.lifecycle import Act
    from ferryman.queue.answers import Acted
    from ferryman.web.server import Server
    from tests.system.dashboard.fixtures import Look
    from tests.system.dashboard.screen import Screen

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def ferry() -> Iterator[Ferry]:
    with Ferry("memory://") as ferry:
        scene.app(ferry)
        yield ferry


@pytest.fixture
def server(ferry: Ferry) -> Iterator[Server]:
    with served(ferry) as server:
        yield server


@pytest.fixture
def screen(server: Server, look: Look) -> Screen:
    return look(server.address)


def state(ferry: Ferry, job_id: str) -> State:
    return Insights(ferry.backend).job(job_id).state


def work(ferry: Ferry, *queues: str) -> None:
    """Let a worker do all that is ready in these queues."""
    worker = ferry.worker(dict.fromkeys(queues, 2), Settings(drain=5.0))
    worker.start()
    going = (State.PENDING, State.PROCESSING)
    wait_until(
        lambda: not any(ferry.backend.snapshot().count(one, q) for one in going for q in queues),
        what="the queues to be empty",
    )
    worker.stop()
    worker.join()


def test_a_job_is_paused_resumed_cancelled_retried_and_deleted(
    ferry: Ferry, screen: Screen
) -> None:
    job = ferry.push("send", "ada", id="the job").id
    page = screen.open("jobs/the%20job", "send")
    for verb, end in {
        "Pause": State.PAUSED,
        "Resume": State.PENDING,
        "Cancel": State.CANCELLED,
        "Retry": State.PENDING,
    }.items():
        screen.button(verb).click()
        command = screen.confirm(verb, jobs=1)
        assert command == f"ferryman jobs {verb.lower()} 'the job'"
        expect(page.locator(".sentence .state")).to_have_text(end)
        assert state(ferry, job) is end
    screen.button("Delete").click()
    screen.confirm("Delete", jobs=1, typed="delete")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    assert ferry.backend.get(job) is None


def test_a_queue_is_paused_resumed_and_purged(ferry: Ferry, screen: Screen) -> None:
    for name in ("ada", "bob"):
        ferry.push("send", name)
    page = screen.open("queues/mail", "mail")
    screen.button("Pause mail").click()
    assert screen.confirm("Pause", jobs=2) == "ferryman queues pause mail"
    expect(page.get_by_role("region", name="Why is nothing starting?")).to_contain_text("is paused")
    assert ferry.backend.snapshot().queues["mail"].paused
    screen.button("Resume mail").click()
    screen.confirm("Resume")
    expect(screen.button("Pause mail")).to_be_visible()
    screen.button("Purge mail").click()
    screen.confirm("Purge", jobs=2, typed="mail")
    wait_until(
        lambda: (
            "mail" not in ferry.backend.snapshot().queues
            or not ferry.backend.snapshot().queues["mail"].total
        ),
        what="the purge",
    )


def test_why_nothing_starts_is_told_with_the_way_out(ferry: Ferry, screen: Screen) -> None:
    ferry.push("send", "ada")
    page = screen.open("queues/mail", "mail")
    why = page.get_by_role("region", name="Why is nothing starting?")
    expect(why).to_contain_text("no worker serves this queue, and 1 jobs are ready")
    expect(why.locator("code")).to_have_text(re.compile("^ferryman work .* --queues mail"))


def test_selected_jobs_and_all_that_match_are_acted_on_with_exact_counts(
    ferry: Ferry, screen: Screen
) -> None:
    for index in range(120):
        ferry.push("send", f"user {index}", id=f"mail-{index}")
    page = screen.open("jobs?where=queue%3Amail", "Jobs")
    page.get_by_label("Select mail-119", exact=True).check()
    page.get_by_label("Select mail-117", exact=True).check()
    screen.button("Pause").click()
    screen.confirm("Pause", jobs=2)
    expect(page.get_by_role("status").filter(has_text="2 done")).to_be_visible()
    assert [state(ferry, f"mail-{n}") for n in (119, 118, 117)] == ["paused", "pending", "paused"]
    page.get_by_label("Select all on this page").check()
    screen.button("Select all 120 that match").click()
    screen.button("Cancel").click()
    assert screen.confirm("Cancel", jobs=120) == "ferryman jobs cancel --where queue:mail --yes"
    expect(page.get_by_role("status").filter(has_text="120 done")).to_be_visible()
    assert ferry.backend.snapshot().count(State.CANCELLED) == 120
    page.get_by_label("Select all on this page").check()
    screen.button("Select all 120 that match").click()
    screen.button("Delete").click()
    screen.confirm("Delete", jobs=120, typed="delete")
    wait_until(lambda: not ferry.backend.snapshot().count(State.CANCELLED), what="the deletion")
    expect(page.get_by_role("status").filter(has_text="120 done")).to_be_visible()


def test_an_act_on_many_is_stopped_in_between(
    ferry: Ferry, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    ferry.backend.push([Message.of("mail", "send", index) for index in range(2_100)])
    parts = gated(monkeypatch)
    page = screen.open("jobs?where=queue%3Amail", "Jobs")
    page.get_by_label("Select all on this page").check()
    screen.button("Select all 2,100 that match").click()
    screen.button("Cancel").click()
    screen.confirm("Cancel", jobs=2_100)
    parts.release()
    under_way = page.get_by_role("status").filter(has_text="cancel 500 of 2,100")
    expect(under_way).to_be_visible()
    screen.button("Stop", under_way).click()
    wait_until(lambda: BulkActs(ferry.backend).list()[0].cancelling, what="the stop to be known")
    for _ in range(2):
        parts.release()
    # The part that was under way is done to its end, and so is the one that was held by then.
    expect(page.get_by_role("status").filter(has_text="1,500 done, then stopped")).to_be_visible()
    expect(under_way).to_have_count(0)
    assert ferry.backend.snapshot().count(State.CANCELLED) == 1_500
    assert ferry.backend.snapshot().count(State.PENDING) == 600


def gated(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Lets a part of a bulk act be done for each release."""
    parts, act_on = threading.Semaphore(0), Control.act_on

    def waiting(control: Control, act: Act, ids: Sequence[str]) -> Sequence[Acted]:
        assert parts.acquire(timeout=60)
        return act_on(control, act, ids)

    monkeypatch.setattr(Control, "act_on", waiting)
    return parts


def test_an_act_on_many_that_may_not_be_watched_is_not_asked_about_again(
    ferry: Ferry, screen: Screen
) -> None:
    for index in range(3):
        ferry.push("send", f"user {index}")
    page = screen.open("jobs?where=queue%3Amail", "Jobs")
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=403, json={"title": "Forbidden", "code": "forbidden"})

    page.route(re.compile("/v1/bulk/(?!preview)[^/]+$"), refuse)
    page.get_by_label("Select all on this page").check()
    screen.button("Cancel").click()
    screen.confirm("Cancel", jobs=3)
    expect(page.get_by_role("status").filter(has_text="may not be seen")).to_be_visible()
    expect(screen.button("Stop")).to_have_count(0)
    assert len(asked) == 1


def test_who_signs_out_is_asked_for_a_key_again(ferry: Ferry, screen: Screen) -> None:
    page = screen.open("queues", "Queues")
    screen.button("Sign out").click()
    expect(page.get_by_label("Token or key")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Token or key")).to_be_visible()
    expect(page.get_by_role("link", name="Queues")).to_have_count(0)
    refused = page.evaluate("fetch('v1/queues').then((answer) => answer.status)")
    assert refused == 401


def test_a_key_of_some_queues_is_offered_only_what_it_may_see(
    ferry: Ferry, server: Server, look: Look
) -> None:
    ferry.push("send", "ada", id="ada")
    _, key = ApiKeys(ferry.backend).create("the mail room", Role.OPERATOR, queues=["mail"])
    screen = look(server.address, key)
    page = screen.page
    refused: list[str] = []
    page.on("response", lambda one: refused.append(one.url) if one.status == 403 else None)
    rail = page.get_by_role("navigation", name="Pages")
    expect(rail.get_by_role("link")).to_have_text(
        [re.compile(f"^{name}") for name in ("Overview", "Queues", "Jobs", "Failures", "Workers")]
    )
    for path, heading in {
        "queues/mail": "mail",
        "jobs": "Jobs",
        "failures": "Failures",
        "workers": "Workers",
        "": "Overview",
    }.items():
        expect(screen.open(path, heading).locator(".loading")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.keyboard.press("?")
    expect(screen.dialog).not_to_contain_text("go to pipelines")
    assert refused == []


def test_a_group_of_failures_is_retried(ferry: Ferry, screen: Screen) -> None:
    for index in range(4):
        ferry.push("send", f"bad{index}")
    ferry.push("extract", 13)
    work(ferry, "mail", "extract")
    page = screen.open("failures", "Failures")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    row = rows.filter(has_text="ConnectionError")
    expect(row).to_contain_text("no such mailbox")
    row.get_by_role("button", name=re.compile("^Retry all 4 jobs")).click()
    screen.confirm("Retry", jobs=4)
    expect(page.get_by_role("status").filter(has_text="4 done")).to_be_visible()
    assert ferry.backend.snapshot().count(State.PENDING, "mail") == 4
    assert ferry.backend.snapshot().count(State.FAILED, "extract") == 1


def test_a_run_is_paused_resumed_cancelled_retried_and_begun_again_from_a_stage(
    ferry: Ferry, screen: Screen
) -> None:
    gazette = ferry.pipelines["gazette"]
    run = gazette.using(id="the-run").push("2026")
    work(ferry, "discover")
    page = screen.open("pipelines", "Pipelines")
    page.get_by_role("link", name="the-run").click()
    shown = page.locator(".sentence .state")
    for verb, end in {
        "Pause": "paused",
        "Resume": "running",
        "Cancel": "cancelled",
        "Retry": "running",
    }.items():
        screen.button(verb).click()
        screen.confirm(verb)
        expect(shown).to_have_text(end)
        assert run.state() == end
    work(ferry, "extract", "rank", "discover")
    expect(shown).to_have_text("failed")
    page.get_by_role("button", name=re.compile("^extract")).click()
    screen.button("Again from extract").click()
    command = screen.confirm("Retry", jobs=60)
    assert command == "ferryman runs retry the-run --stage extract --yes"
    expect(shown).to_have_text("running")


def test_schedules_are_paused_resumed_and_run_now(ferry: Ferry, screen: Screen) -> None:
    work(ferry, "reports")
    page = screen.open("schedules", "Schedules")
    expect(page.locator("tbody tr")).to_contain_text("daily at 02:30")
    screen.button("Pause: nightly").click()
    assert screen.confirm("Pause") == "ferryman schedules pause nightly"
    expect(page.locator("tbody .tag")).to_have_text("paused")
    screen.button("Resume: nightly").click()
    screen.confirm("Resume")
    expect(screen.button("Pause: nightly")).to_be_visible()
    screen.button("Run now: nightly").click()
    screen.confirm("Run now")
    expect(page.get_by_role("status").filter(has_text="Pushed")).to_be_visible()
    assert ferry.backend.snapshot().count(State.PENDING, "reports") == 1


def test_an_open_breaker_is_reset(ferry: Ferry, screen: Screen) -> None:
    ferry.push("report", "full")
    worker = ferry.worker({"reports": 1}, Settings())
    worker.start()
    wait_until(lambda: ferry.breaker("ledger").phase() == "open", what="the breaker to open")
    worker.stop()
    worker.join()
    page = screen.open("breakers", "Limits")
    row = page.locator("tbody tr", has_text="ledger")
    expect(row).to_contain_text("open")
    expect(row).to_contain_text("the ledger did not answer for full")
    screen.button("Reset ledger").click()
    assert screen.confirm("Reset") == "ferryman breakers reset ledger"
    expect(row).to_have_count(0)
    assert ferry.breaker("ledger").phase() == "closed"


def test_a_key_is_made_shown_once_used_and_revoked(
    ferry: Ferry, server: Server, screen: Screen, look: Look
) -> None:
    page = screen.open("keys", "API keys")
    page.locator("[name=name]").fill("the robot")
    page.locator("[name=role]").select_option("viewer")
    page.locator("[name=rate]").fill("ten")
    screen.button("Make the key").click()
    expect(page.get_by_role("alert")).to_contain_text("rate: 'ten'")
    page.locator("[name=rate]").fill("1000/s")
    page.locator("[name=pushes]").fill("500/d")
    screen.button("Make the key").click()
    key = page.locator(".note.good code").inner_text()
    row = page.locator("tbody tr", has_text="the robot")
    expect(row).to_contain_text("1000/s requests; 500/d pushes, 500 left")
    expect(row).to_contain_text("never")
    robot = look(server.address, key)
    expect(row).not_to_contain_text("never")
    assert robot.page.get_by_role("link", name="API keys").count() == 0
    screen.button("Revoke the robot").click()
    screen.confirm("Revoke")
    expect(page.get_by_text("No keys yet.")).to_be_visible()
    assert list(ApiKeys(ferry.backend).list()) == []
    expect(robot.page.get_by_label("Token or key")).to_be_visible()
    screen.open("audit", "Audit")
    expect(page.locator("tbody code").filter(has_text="keys.revoke")).to_be_visible()


def test_a_viewer_is_offered_no_acts_and_an_operator_no_deletion(
    ferry: Ferry, server: Server, look: Look
) -> None:
    ferry.push("send", "ada", id="ada")
    for role, offered in ((Role.VIEWER, []), (Role.OPERATOR, ["Cancel", "Pause"])):
        _, key = ApiKeys(ferry.backend).create(f"a {role}", role)
        screen = look(server.address, key)
        page = screen.open("jobs/ada", "send")
        expect(page.locator(".sentence")).to_be_visible()
        expect(page.locator(".head-acts button")).to_have_text(offered)


def test_what_the_store_refuses_is_told_in_the_dialog(ferry: Ferry, screen: Screen) -> None:
    ferry.push("send", "ada", id="ada")
    page = screen.open("jobs/ada", "send")
    screen.button("Pause").click()
    expect(screen.dialog.locator(".counted strong")).to_have_text("1")
    ferry.backend.cancel(["ada"])
    screen.button("Pause", screen.dialog).click()
    expect(screen.dialog.get_by_role("alert")).to_contain_text("can be paused")
    screen.button("Keep as it is").click()
    expect(page.locator(".sentence .state")).to_have_text("cancelled")
