"""The table: every attack that once succeeded, by its severity, and how it is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.attack import backends, costs, leaving, lies, naming, sequences, sharing, tenants, thefts
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
    Line("beyond", "each backend: labels, replicas by hand, images, silence", backends.every_backend, is_slow=True),
    Line("beyond", "text for the configuration of the endpoint picker", backends.picker_configuration),
    Line("beyond", "patches of rendered objects", backends.overrides, is_slow=True),
    Line("beyond", "where traces go", backends.tracing),
    Line("beyond", "BackendRules that never end, fail, or come while replicas run", backends.rules, is_slow=True),
    Line("beyond", "BackendRules of a tenant", backends.rules_of_a_tenant),
    Line("beyond", "arguments of an engine that KubeRay starts", backends.kuberay),
    Line("beyond", "edited, drained, scaled, and all of it taken back", sequences.edit_drain_scale, is_slow=True),
    Line("beyond", "a tenant deploys and forges on a cluster of another", tenants.cluster_of_another),
    Line(
        "beyond",
        "the list of a cluster is narrowed, its tenant scales and grows, and is allowed again",
        tenants.list_narrowed,
    ),
    Line(
        "beyond",
        "an endpoint with the name of another tenant's replica or Service",
        tenants.host_of_another,
        is_slow=True,
    ),
    Line("beyond", "another tenant copies replicas into its namespace", sequences.two_tenants),
    Line("beyond", "a deployment goes and others of its name come, again and again", sequences.same_name_again),
    Line("beyond", "orphans of a deployment, and another of its name", sequences.orphans_of_the_same_name),
    Line("beyond", "a ledger by hand between two reads", lies.ledger_between_reads, is_slow=True),
    Line("beyond", "a workload cluster that lies step by step", lies.cluster_that_lies),
    Line("beyond", "a workload cluster that lies about its gateway", lies.gateway_that_lies),
    Line("beyond", "a cluster in use that is renamed", lies.cluster_renamed),
    Line("beyond", "a class that is replaced while replicas run", lies.class_replaced, is_slow=True),
    Line("beyond", "rebalance and priority against another tenant", sequences.rebalance_against_others),
    Line("beyond", "names of 253 characters, alike but for the end", sequences.long_names),
    Line("beyond", "our labels on everything a tenant writes", sequences.labels_on_everything),
    Line("beyond", "all names of the next replica are taken before", sequences.name_taken_before),
    Line("beyond", "ledger wiped, replicas edited, cluster silent, at once", lies.three_at_once),
    Line("beyond", "a pool that shrinks, grows and is selected otherwise", lies.pool_breathes),
    Line("beyond", "a pool in use that is renamed", lies.pool_renamed),
    Line("beyond", "parts of devices that several pods share", sharing.parts_of_devices),
    Line("beyond", "all devices of a node", sharing.all_of_a_node),
    Line("beyond", "a pool in use with another name and other labels, or twice", lies.pool_relabelled),
    Line("beyond", "a drain that comes and goes while nobody reports", lies.drained_again_and_again),
    Line("beyond", "a replica's owner is edited", sequences.owner_changed),
    Line("beyond", "Objects are moved to another cluster's credentials", sequences.object_moved),
    Line("beyond", "one role, two roles, one again, with edits between", sequences.shape_changes_back),
    Line("beyond", "hosts and paths of another namespace, in turns", sequences.host_changes_hands),
    Line("beyond", "a spec that changes before every look", sequences.endless_flood),
    Line("beyond", "a cheap device, then the dear one, in steps", sequences.cheap_then_dear, is_slow=True),
)
"""The lines in the order of the table that they come from; `beyond` is what nobody had made then."""
