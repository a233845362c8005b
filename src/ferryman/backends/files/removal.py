"""Taking a job's folder away, its task first: what has no task is no job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.files.disk import SyncFailed
from ferryman.backends.files.names import shown, text_of
from ferryman.backends.files.quarantine import set_aside

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held, Place
    from ferryman.backends.files.store import Store

FILES: Final = ("task.json", "history.json", "ask.json", "lease.json")


def remove_job(store: Store, place: Held) -> None:
    """Empty and remove a locked job's folder. What people put beside the files is set aside."""
    for file in FILES:
        store.disk.unlink(file, place.lock)
    if not store.disk.remove_folder(place.path):
        try:
            _set_strangers_aside(store, place)
        except SyncFailed:
            raise
        except OSError:
            return  # the job is gone all the same, and a sweep finds the folder


def _set_strangers_aside(store: Store, place: Held) -> None:
    """Their folder would keep the job's id from being used again."""
    job = shown(text_of(place.name))
    reason = f"somebody left it in the folder of job {job!r}, which is gone"
    # A task that is there by now is a new job's.
    for file in set(store.disk.names(place.path, place.lock) or ()) - set(FILES):
        path, name = f"{place.path}/{file}", f"{place.name}.{file}"
        set_aside(store, place.folders, path, name, reason)
    store.disk.remove_folder(place.path)


def forget_job(store: Store, place: Held) -> None:
    """Remove a job for which no record stands: its task first, and for good.

    Otherwise a loss of power could bring back the task without its past, as a job to which nothing
    had happened yet.
    """
    store.disk.unlink("task.json", place.lock)
    if store.disk.exists("history.json", place.lock):
        store.disk.sync_folder(place.path, place.lock)
    remove_job(store, place)


def mark_paused(store: Store, place: Place, paused: bool) -> None:
    """Keep the list of paused jobs, by which they are counted. A hint: `history.json` decides."""
    marker = f"{place.folders.paused_jobs}/{place.name}"
    if not paused:
        store.disk.unlink(marker)
    elif not store.disk.exists(marker):
        store.disk.create(marker, b"", sync=False)
