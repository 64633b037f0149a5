"""The table: every attack that once succeeded, by its severity, and how it is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.attack import costs, leaving, naming, thefts
from tests.attack.play import Play


@dataclass(frozen=True, slots=True)
class Line:
    """One attack. `is_slow` takes more than some seconds and is left to the command."""

    severity: str
    attack: str
    play: Callable[[Play], str]
    is_slow: bool = False

    @property
    def name(self) -> str:
        """Return the name of what plays it."""
        return self.play.__name__


LINES: Final = (
    Line("critical", "the cluster label is taken off a replica that runs", thefts.label_taken_off),
    Line("critical", "an admitted replica is edited to nine times its size", thefts.grown),
    Line("critical", "a replica by hand says Running on a full cluster", thefts.says_it_runs),
    Line("high", "a larger replica takes the name of one that went", thefts.next_of_its_name),
    Line("high", "the status of workload or route is absent for a moment", thefts.silent_for_a_moment),
    Line("high", "a sidecar asks for a device plugin's resource", thefts.sidecar_asks_for_devices),
    Line("high", "a replica names a cheap device and claims another", thefts.cheap_device),
    Line("high", "an admitted replica gets a value that nobody can read", thefts.unreadable_value),
    Line("high", "1,024 selectors in one object of 200 KB", costs.many_selectors, is_slow=True),
    Line("high", "endpoint URLs of Services, pods, the API server, metadata", leaving.urls),
    Line("high", "a client's own Host names a replica of another tenant", leaving.clients_host),
    Line("high", "a credential in the header Host", leaving.header_host),
    Line("high", "a template action in a key", leaving.template_action_in_a_key),
    Line("medium", "a replica's devices emptied, an Object edited by hand", thefts.emptied_and_edited),
    Line("medium", "a replica by hand past a NoExecute taint", thefts.past_a_taint),
    Line("medium", "jwksUri of loopback and link-local addresses", leaving.token_keys),
    Line("medium", "prefill gangs, and clusters, that share a cut name", naming.shared_names),
    Line("low", "replicas: -1 past the schema; two deployments of one cut name", naming.fewer_than_none),
    Line("medium", "auth.secretRef.key of an endpoint that serves mistyped", leaving.mistyped_key),
    Line("medium", "thousands of names, to find two that are cut to one", naming.birthday),
    Line("medium", "one InferenceCluster that cannot be read", naming.unreadable_cluster),
    Line("medium", "32 requests, one unsatisfiable; deadline; SIGTERM", costs.one_unsatisfiable, is_slow=True),
    Line("low", "a pool listed twice; sharedCounters.count past its definition", naming.twice_and_huge),
    Line("command", "a file of 10 MB; a FIFO in a folder", costs.files, is_slow=True),
    Line("beyond", "two attackers at once, with the ledger wiped", thefts.two_at_once),
    Line("beyond", "the backend Native: labels, replicas by hand, 50 pods, silence", thefts.native),
    Line("beyond", "a replica by hand, for which others are to make room", thefts.made_room_for_nobody),
)
"""The lines in the order of the table that they come from; `beyond` is what nobody had made then."""
