"""Read a stream like the inspector without a screen: decode, judge, fold and record, until it is on the disk.

Arguments: the url of the agent and the texts to send; prints a JSON object for each text with `events`, `seconds` and
`growth`, the largest growth of the process in bytes.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import psutil

from inspector.garbage_collection import freeze_loaded_modules
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session


async def ingest(session: Session, text: str) -> dict[str, float]:
    before = psutil.Process().memory_info().rss
    started = time.perf_counter()
    call = session.send(text_draft(text), stream=True)
    await call.finish()
    if not session.journal.capture.flush():
        raise RuntimeError(session.journal.capture.failure)
    seconds = time.perf_counter() - started
    summary = session.journal.exchanges.get(call.exchange.number)
    events = summary.events if summary is not None else 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"events": events, "seconds": seconds, "growth": max(0, most - before)}


async def main(url: str, *texts: str) -> None:
    freeze_loaded_modules()  # as every command and the app do
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            session = Session(Path(folder) / f"{number}.a2acap")
            await session.connect(url)
            print(json.dumps(await ingest(session, text)), flush=True)
            await session.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
