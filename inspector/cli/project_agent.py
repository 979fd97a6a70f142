"""Keep the secrets of the user from an agent that a file of the project names: a foreign project can name any host."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from inspector.options import CREDENTIALS
from inspector.text.reference import with_scheme
from inspector.wire.client.credentials import origin

_SECRET = CREDENTIALS | {"token"}
"""The options whose values are secrets; `token` is that of a webhook."""


def restrict(given: argparse.Namespace, place: str, foreign: Collection[str]) -> None:
    """Note in `given` what an agent may not get that `place` (file and line) names.

    `foreign` are the options that have values of the project itself. Other credentials are withheld, except those of
    the command line; only origins that the user trusts get them.
    """
    members = vars(given)
    reference = members.get("reference") or members.get("agent_card") or ""
    trusted = members.get("trust") or ()
    if origin(with_scheme(reference)) in {origin(with_scheme(each)) for each in trusted}:
        return
    given.named_by = place
    secrets = {name for name in _SECRET if members.get(name) and name not in foreign}
    given.withheld = any(given.sources.get(name) != "option" for name in secrets)
