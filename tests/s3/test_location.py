"""Which URLs name a place in a bucket, and where things lie in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ferryman.backends.s3.location import Consistency, Location
from ferryman.errors import BackendRejected


def test_a_bucket_alone_is_enough_and_strict() -> None:
    assert Location.parse("s3://jobs") == Location("jobs")
    assert Location.parse("s3://jobs/").consistency is Consistency.STRICT


def test_every_option_is_read() -> None:
    url = (
        "s3://jobs/a/b/?root=/var/lib/x&campaign=roofers%2024/7&consistency=relaxed"
        "&endpoint=http://127.0.0.1:9000/&region=eu-central-1"
    )
    assert Location.parse(url) == Location(
        "jobs",
        "a/b",
        Path("/var/lib/x"),
        "roofers 24/7",
        Consistency.RELAXED,
        "http://127.0.0.1:9000",
        "eu-central-1",
    )


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("s3://jobs", "mail/"),
        ("s3://jobs/team/a", "team/a/mail/"),
        ("s3://jobs?campaign=roofers", "campaigns/roofers/queues/mail/"),
        ("s3://jobs/team?campaign=roofers", "team/campaigns/roofers/queues/mail/"),
        ("s3://jobs?campaign=24/7", "campaigns/24%2F7/queues/mail/"),
        ("s3://jobs?campaign=..", "campaigns/%2E./queues/mail/"),
    ],
)
def test_a_queue_lies_below_prefix_and_campaign(url: str, key: str) -> None:
    assert Location.parse(url).queue("mail") == key


@pytest.mark.parametrize("queue", ["24/7", "..", ".probes", "ü", "x" * 300, "a/../b", ""])
def test_no_queue_leaves_its_folder_or_takes_another_ones(queue: str) -> None:
    location = Location.parse("s3://jobs/team")
    folder = location.queue(queue)
    assert folder.count("/") == 2
    assert len(folder.encode()) < 300
    assert not folder.startswith("team/.")
    assert folder != location.aside("probes")


@pytest.mark.parametrize(
    "url",
    [
        "s3://",
        "s3:///prefix",
        "s3://Jobs",
        "s3://jo..bs",
        "s3://ab",
        "s3://jobs:80",
        "s3://jobs/a//b",
        "s3://jobs/../b",
        "s3://jobs/.hidden",
        "s3://jobs/a%00b",
        "s3://jobs/" + "x" * 201,
        "s3://jobs#part",
        "s3://jobs?root=relative",
        "s3://jobs?campaign=",
        "s3://jobs?consistency=eventual",
        "s3://jobs?consistency=relaxed",
        "s3://jobs?endpoint=localhost:9000",
        "s3://jobs?endpoint=http://host?x=1",
        "s3://jobs?region=eu%20central",
        "s3://jobs?region=a&region=b",
        "s3://jobs?profile=x",
    ],
)
def test_what_cannot_be_meant_is_refused(url: str) -> None:
    with pytest.raises(BackendRejected):
        Location.parse(url)


@pytest.mark.parametrize(
    "url",
    [
        "s3://AKIAKEY:hunter2secret@jobs",
        "s3://jobs?secret_access_key=hunter2secret",
        "s3://jobs?endpoint=http://user:hunter2secret@host",
    ],
)
def test_credentials_in_a_url_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BackendRejected) as caught:
        Location.parse(url)
    assert "hunter2secret" not in str(caught.value)
