"""After a refusal, the app offers the other body of a push configuration in A2A 0.3 over HTTP+JSON."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from driving import Open
from push_bodies import registering

from inspector.protocol.operations import Operation
from inspector.tui.views.base import CallWanted


async def test_the_whole_request_is_sent_if_the_user_agrees(open_app: Open):
    bodies: list[Any] = []
    runner = web.ServerRunner(web.Server(registering(whole=True, bodies=bodies), access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with open_app(f"http://127.0.0.1:{runner.addresses[0][1]}", a2a_version="0.3") as driver:
            await driver.connected()
            driver.app.screen.post_message(CallWanted(Operation.SET_PUSH, "task-1"))
            await driver.until("Send the whole request?")
            assert "pushNotificationConfig" in bodies[0]
            await driver.press("enter")
            await driver.until("the agent returned 1 webhook")
            assert bodies[1]["parent"] == "tasks/task-1"
            assert bodies[1]["config"]["pushNotificationConfig"] == bodies[0]["pushNotificationConfig"]
    finally:
        await runner.cleanup()
