"""Run the agent of the demo in a process of its own: print its URL, and stop when standard input is closed."""

from __future__ import annotations

import asyncio
import gc
import sys

gc.disable()  # while modules are loaded, garbage collection would take a tenth of the time until the agent answers

from .server import MockAgent  # noqa: E402 - see above


async def main() -> None:
    """Serve until the parent process closes the pipe or ends."""
    agent = MockAgent()
    print(await agent.start(), flush=True)  # noqa: T201 - the parent reads it
    gc.enable()
    try:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    finally:
        await agent.stop()


if __name__ == "__main__":
    asyncio.run(main())
