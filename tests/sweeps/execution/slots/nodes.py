"""A Ray cluster of several nodes on this machine, in a process of its own: told on its input what to do.

add CPUS        a node joins; prints its id
drain ID        it is told that it will be taken away in a minute
kill ID         it is gone at once
"""

from __future__ import annotations

import sys
import time

from ray._raylet import GcsClient
from ray.cluster_utils import Cluster
from ray.core.generated.autoscaler_pb2 import DrainNodeReason


def main() -> None:
    """Start a head without CPUs, print its address, and do what is asked until the input ends."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    print(cluster.address, flush=True)
    gcs = GcsClient(address=cluster.address)
    nodes = {}
    for line in sys.stdin:
        command, what = line.split()
        if command == "add":
            node = cluster.add_node(num_cpus=int(what))
            nodes[node.node_id] = node
            print(node.node_id, flush=True)
        elif command == "drain":
            deadline = int((time.time() + 60) * 1000)
            accepted, reason = gcs.drain_node(what, DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION, "a test", deadline)
            print("drains" if accepted else reason, flush=True)
        else:
            cluster.remove_node(nodes.pop(what), allow_graceful=False)
            print("killed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
