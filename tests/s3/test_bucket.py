"""Every call on servers that hold conditions."""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.rivals import at_once
from tests.servers.line import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.backends.s3.bucket import Bucket
    from tests.servers.line import Exchange, Line
    from tests.servers.shared import Server


def test_what_was_put_is_read_back_with_its_etag(bucket: Bucket, key: str) -> None:
    etag = bucket.put(key, b"one")
    found = bucket.get(key)
    assert found is not None
    assert (found.body, found.etag) == (b"one", etag)
    assert abs(found.modified - time.time()) < 60


def test_a_missing_object_is_none(bucket: Bucket, key: str) -> None:
    assert bucket.get(key) is None


def test_a_new_object_is_made_once_and_the_loser_sees_the_winner(bucket: Bucket, key: str) -> None:
    etag = bucket.put_new(key, b"one")
    lost = bucket.put_new(key, b"two")
    assert isinstance(lost, Lost)
    assert lost.found == bucket.get(key)
    assert lost.found is not None
    assert lost.found.etag == etag


def test_an_object_is_replaced_only_in_the_version_that_was_seen(bucket: Bucket, key: str) -> None:
    first = bucket.put(key, b"one")
    second = bucket.put_over(key, b"two", first)
    assert isinstance(second, str)
    assert isinstance(bucket.put_over(key, b"three", first), Lost)
    assert isinstance(bucket.put_over(key, b"four", second), str)


def test_replacing_what_is_gone_is_lost(bucket: Bucket, key: str) -> None:
    etag = bucket.put(key, b"one")
    assert bucket.delete(key)
    assert bucket.put_over(key, b"two", etag) == Lost(None)


def test_a_version_is_deleted_only_while_it_stands(bucket: Bucket, key: str) -> None:
    first = bucket.put(key, b"one")
    second = bucket.put(key, b"two")
    assert not bucket.delete(key, first)
    assert bucket.get(key) is not None
    assert bucket.delete(key, second)
    assert bucket.get(key) is None


def test_deleting_what_is_gone_is_well(bucket: Bucket, key: str) -> None:
    etag = bucket.put(key, b"one")
    assert bucket.delete(key)
    assert bucket.delete(key)
    assert bucket.delete(key, etag)


def test_of_many_creators_one_wins(bucket: Bucket, key: str) -> None:
    written = at_once([partial(bucket.put_new, key, b"%d" % n) for n in range(6)])
    winners = [n for n, answer in enumerate(written) if isinstance(answer, str)]
    found = bucket.get(key)
    assert found is not None
    assert [b"%d" % n for n in winners] == [found.body]


def test_keys_with_awkward_signs_are_listed_as_they_were_put(bucket: Bucket, folder: str) -> None:
    names = {"a b", "é", "%25", "%2F", "z+=&", "~", "A", "a", "a.json", "a/b"}
    for name in names:
        bucket.put(f"{folder}{name}", name.encode())
    for page in (1, 3, 1_000):
        listed = [entry.key.removeprefix(folder) for entry in bucket.list(folder, page=page)]
        assert sorted(listed) == sorted(names)


def test_a_listing_goes_over_all_pages(bucket: Bucket, folder: str) -> None:
    keys = [f"{folder}{number:03}" for number in range(7)]
    for key in keys:
        bucket.put(key, key.encode())
    before = bucket.requests.get("list", 0)
    entries = list(bucket.list(folder, page=3))
    assert [entry.key for entry in entries] == keys
    assert bucket.requests["list"] - before == 3
    found = bucket.get(keys[0])
    assert found is not None
    assert (entries[0].etag, entries[0].size) == (found.etag, len(keys[0]))


def test_a_listing_begins_behind_the_given_key(bucket: Bucket, folder: str) -> None:
    keys = [f"{folder}{number:03}" for number in range(5)]
    for key in keys:
        bucket.put(key, key.encode())
    assert [entry.key for entry in bucket.list(folder, keys[2], page=1)] == keys[3:]


def test_an_empty_folder_lists_nothing(bucket: Bucket, folder: str) -> None:
    assert list(bucket.list(folder)) == []


def test_many_keys_are_deleted_at_once_whether_they_are_there_or_not(
    bucket: Bucket, folder: str
) -> None:
    keys = [f"{folder}{number}" for number in range(4)]
    for key in keys[:3]:
        bucket.put(key, b"body")
    bucket.delete_many(keys)
    assert list(bucket.list(folder)) == []


def test_more_keys_than_a_request_takes_are_deleted_in_several(other: Bucket, folder: str) -> None:
    other.put(f"{folder}2499", b"the last")
    other.delete_many([f"{folder}{number}" for number in range(2_500)])
    assert other.requests["delete"] == 3
    assert list(other.list(folder)) == []


def test_requests_are_counted_by_kind(other: Bucket, key: str) -> None:
    other.put_new(key, b"one")
    other.get(key)
    list(other.list(key))
    other.delete(key)
    assert other.requests == {"put": 1, "get": 1, "list": 1, "delete": 1}


def test_a_bucket_is_shared_by_threads(other: Bucket, folder: str) -> None:
    def work(name: str) -> None:
        for number in range(5):
            assert other.put_new(f"{folder}{name}/{number}", name.encode())

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(other.list(folder))) == 20


def test_a_forked_child_uses_connections_of_its_own(line: Line, steady: Bucket, key: str) -> None:
    peers: list[tuple[str, int]] = []

    def look(exchange: Exchange) -> None:
        peers.append(exchange.peer)
        exchange.answer(exchange.forward())

    line.fault(look, times=FOREVER)
    steady.put(key, b"parent")
    child = os.fork()
    if child == 0:
        found = steady.get(key)
        os._exit(0 if found is not None and found.body == b"parent" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert steady.get(key) is not None
    assert peers[0] == peers[2] != peers[1]


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])
def test_the_endpoint_comes_from_the_aws_settings_if_none_is_given(
    name: str, ministack: Server, connect: Callable[..., Bucket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, ministack.address)
    bucket = connect(None)
    assert bucket.get("missing") is None
