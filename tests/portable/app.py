"""An app that knows nothing of its store: `FERRYMAN_URL` names it, and the output is the same."""

from __future__ import annotations

import json
import sys

from pydantic import BaseModel

from ferryman import Fail, Ferry, Job, Retry, Settings, State

ferry = Ferry()


class Order(BaseModel):
    number: int
    items: list[str]


@ferry.task(queue="orders", retry=Retry(3, base=0.01, cap=0.01))
def pack(order: Order, job: Job) -> str:
    job.progress(50, "half packed")
    if order.number == 2 and job.attempts < 3:
        raise ConnectionError("the scales are away")
    if order.number == 3:
        raise Fail("nothing to pack")
    label.using(id=f"label-{order.number}").push(order.number)
    return " and ".join(order.items)


@ferry.task(queue="labels")
async def label(number: int) -> str:
    return f"parcel {number:03}"


def main() -> None:
    orders = [Order(number=n, items=["ink", "päper"][: n + 1]) for n in range(5)]
    worker = ferry.worker({"orders": 2, "labels": 1}, Settings(drain=5.0))
    worker.start()
    packed = [
        pack.using(id=f"order-{one.number}", priority="high" if one.number else "low").push(one)
        for one in orders
    ]
    late = label.using(id="late", delay=0.3).push(99)
    again = pack.using(id="order-0", priority="low").push(orders[0])
    ended = [handle.wait(60) for handle in [*packed, late]]
    # The same id and payload is the same job: these are pushed already.
    labels = [label.using(id=f"label-{n}").push(n).wait(60) for n in (0, 1, 2, 4)]
    worker.join()
    told = {
        job.id: [job.state, job.attempts, job.result and json.loads(job.result)]
        for job in [*ended, *labels]
    }
    counts = {state.value: ferry.backend.snapshot().count(state) for state in State}
    json.dump({"jobs": told, "pushed again": again.created, "counts": counts}, sys.stdout)


if __name__ == "__main__":
    with ferry:
        main()
