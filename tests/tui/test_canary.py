"""A secret in every place where one can occur is nowhere on the disk and in no view of the app."""

from __future__ import annotations

from pathlib import Path

from canary import HELD, LOCATED, URLS, leaks, parrot, secret_card, with_secrets
from driving import Driver, Open
from players import playing

SIZE = (160, 45)
HEADERS = (("X-Custom", HELD),)


def assert_hidden(driver: Driver) -> None:
    shown = f"{driver.screen}\n{driver.app.title} {driver.app.sub_title}"
    assert not [line for line in shown.splitlines() if HELD in line]


async def test_the_app_stores_and_shows_no_secret(open_app: Open, home: Path):
    async with playing(parrot, card=secret_card()) as agent:
        reference = with_secrets(agent)
        async with open_app(reference, SIZE, bearer=HELD, api_key=HELD, headers=HEADERS) as driver:
            await driver.connected()
            assert_hidden(driver)
            await driver.ask(f"look at {URLS[1]}")
            assert HELD in agent.calls[-1].request.headers["Authorization"]
            for view in (1, 4, 5, 6):  # Chat and Tasks show content of the task, which is not masked (docs/captures.md)
                await driver.go(view)
                await driver.settled()
                assert_hidden(driver)
            await driver.go(2)
            await driver.press("ctrl+o")
            await driver.settled()
            await driver.press("escape")
            await driver.go(5)
            for _ in range(6):
                await driver.press("down")
                await driver.settled()
                assert_hidden(driver)
    assert len(list(home.rglob("*"))) > 3
    assert not leaks(home, HELD, LOCATED)
    [capture] = home.rglob("*.a2a")
    assert capture.stem.endswith(f"_{agent.url.removeprefix('http://').replace(':', '-')}")
