"""Receive webhook deliveries: `inspector` with our receiver, judged and recorded; `bare` with an aiohttp handler.

Prints a JSON object with `url` and `token`, serves on 127.0.0.1 until its standard input ends, then prints how many
deliveries it has recorded or counted.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from aiohttp import web

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.session.session import Session


async def inspector() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deliveries.a2acap"
        session = Session(path)
        await session.push.turn_on()
        registration = session.push.register().registration
        print(json.dumps({"url": registration.url, "token": registration.token}), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await session.close()
        with Capture.open(path) as capture:
            accepted = [record for record in capture.select(kinds={Kind.DELIVERY}) if not record.meta["refused"]]
        print(len(accepted))


async def bare() -> None:
    count = 0

    async def receive(request: web.Request) -> web.Response:
        nonlocal count
        await request.read()
        count += 1
        return web.Response(status=204)

    app = web.Application()
    app.router.add_post("/push", receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    print(json.dumps({"url": f"http://127.0.0.1:{port}/push", "token": "none"}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()
    print(count)


if __name__ == "__main__":
    asyncio.run({"inspector": inspector, "bare": bare}[sys.argv[1]]())
