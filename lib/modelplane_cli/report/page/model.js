// The data of one frame, joined for drawing. Nothing is counted here that the data does not say.

const SYSTEM_LABEL = /^crossplane\.io\//;

/** Return the labels that people wrote. */
function ownLabels(labels) {
  return Object.entries(labels ?? {}).filter(([key]) => !SYSTEM_LABEL.test(key));
}

/** Return the model of a frame: clusters, deployments, replicas and services, each known by its key. */
function modelOf(frame) {
  const labels = new Map(frame.labels.map((one) => [qualified(one.namespace, one.name), one.labels]));
  const holders = new Map(frame.holders.map((one) => [qualified(one.namespace, one.name), one]));
  const model = { frame, deployments: new Map(), replicas: new Map(), services: new Map(), clusters: new Map() };
  for (const one of frame.plan.deployments) {
    const key = qualified(one.namespace, one.name);
    const deployment = { ...one, key, labels: labels.get(key) ?? {}, holder: holders.get(key), keys: [], services: [] };
    model.deployments.set(key, deployment);
    for (const replica of one.replicas) {
      const own = qualified(one.namespace, replica.name);
      deployment.keys.push(own);
      model.replicas.set(own, { ...replica, key: own, namespace: one.namespace, deployment, services: [] });
    }
  }
  joinServices(model);
  joinClusters(model);
  return model;
}

function joinServices(model) {
  const routes = new Map(model.frame.plan.routes.map((one) => [qualified(one.namespace, one.name), one]));
  for (const one of model.frame.services) {
    const key = qualified(one.namespace, one.name);
    const service = { ...one, key, route: routes.get(key) };
    model.services.set(key, service);
    for (const endpoint of one.endpoints) {
      const replica = endpoint.replica && model.replicas.get(qualified(one.namespace, endpoint.replica));
      if (replica && !replica.services.includes(service)) replica.services.push(service);
      if (replica && !replica.deployment.services.includes(service)) replica.deployment.services.push(service);
    }
  }
}

function joinClusters(model) {
  const pools = new Map(model.frame.plan.pools.map((one) => [`${one.cluster} ${one.pool}`, one]));
  for (const one of model.frame.clusters) {
    const cluster = { ...one, keys: new Set(), pools: one.pools.map((pool) => joinPool(one, pool, pools)) };
    for (const pool of cluster.pools) for (const held of pool.held) cluster.keys.add(held.replica);
    cluster.used = sum(cluster.pools.map((pool) => pool.used));
    cluster.total = sum(cluster.pools.map((pool) => pool.total));
    model.clusters.set(one.name, cluster);
  }
  for (const replica of model.replicas.values()) model.clusters.get(replica.cluster)?.keys.add(replica.key);
}

function joinPool(cluster, pool, pools) {
  const use = pools.get(`${cluster.name} ${pool.name}`) ?? { class: "", nodes: 0, nodesUsed: 0, nodesGrowable: 0, devices: {} };
  const devices = Object.entries(use.devices).map(([name, counted]) => ({
    name,
    ...counted,
    perNode: pool.devicesPerNode[name] ?? 0,
    shared: pool.shared.includes(name),
  }));
  const main = devices.find((one) => one.name === pool.main) ?? { used: 0, total: 0, free: 0 };
  return { ...pool, use, devices, used: main.used, total: main.total, free: main.free };
}

/** Return the nodes of a pool on which something stands, by the ledger's number, with the holdings of each. */
function nodesOf(pool) {
  const nodes = new Map();
  for (const held of pool.held) {
    if (held.node === null) continue;
    if (!nodes.has(held.node)) nodes.set(held.node, []);
    nodes.get(held.node).push(held);
  }
  return [...nodes].sort(([a], [b]) => a - b);
}

/** Return the devices of a kind that are held by somebody whom the cluster has not recorded. */
function unrecorded(pool, kind, wholeNodes) {
  if (wholeNodes || kind.shared) return 0;
  return Math.max(0, kind.used - sum(pool.held.map((held) => held.devices[kind.name] ?? 0)));
}

/** Return the devices of a holding: those of the main kind, or all where it has none of these. */
const devicesOf = (pool, held) => held.devices[pool.main] ?? sum(Object.values(held.devices));

/** Return the devices held by each replica of a cluster. */
function heldBy(cluster) {
  const found = new Map();
  for (const pool of cluster.pools) {
    for (const held of pool.held) found.set(held.replica, (found.get(held.replica) ?? 0) + devicesOf(pool, held));
  }
  return found;
}

/** Return the devices held by each deployment. */
function heldByDeployment(model) {
  const found = new Map();
  for (const cluster of model.clusters.values()) {
    for (const [key, devices] of heldBy(cluster)) {
      const owner = model.replicas.get(key)?.deployment.key;
      found.set(owner, (found.get(owner) ?? 0) + devices);
    }
  }
  return found;
}

/** Return the part of its node that a holding takes, in devices of the main kind: some take slices of them. */
function takenOf(pool, held) {
  const shares = Object.entries(held.devices).map(([kind, number]) => number / (pool.devicesPerNode[kind] || number || 1));
  return Math.max(0, ...shares) * (pool.devicesPerNode[pool.main] ?? 1);
}

/** Return all labels as KEY=VALUE, of clusters and deployments. */
function labelsOf(model) {
  const found = new Set();
  for (const one of [...model.clusters.values(), ...model.deployments.values()]) {
    for (const [key, value] of ownLabels(one.labels)) found.add(`${key}=${value}`);
  }
  return [...found].sort(byText);
}

const hasLabel = (labels, wanted) => {
  const at = wanted.indexOf("=");
  return at < 0 ? Object.hasOwn(labels, wanted) : labels[wanted.slice(0, at)] === wanted.slice(at + 1);
};

/** Return what a view's filter leaves: names of clusters and keys of replicas; null where nothing is filtered. */
function matching(model, view) {
  if (!view.ns && !view.class && !view.label && !view.q) return null;
  const words = view.q.toLowerCase();
  const clusters = new Set();
  const replicas = new Set();
  for (const cluster of model.clusters.values()) {
    const named = !words || `${cluster.name} ${cluster.region}`.toLowerCase().includes(words);
    const labelled = !view.label || hasLabel(cluster.labels, view.label);
    const ofClass = view.class ? new Set() : null;
    if (ofClass) {
      const pools = cluster.pools.filter((pool) => pool.use.class === view.class);
      if (!pools.length) continue;
      for (const pool of pools) for (const held of pool.held) ofClass.add(held.replica);
    }
    let any = false;
    for (const key of cluster.keys) {
      const replica = model.replicas.get(key);
      const fits =
        (!view.ns || key.startsWith(`${view.ns}/`)) &&
        (!ofClass || ofClass.has(key)) &&
        (labelled || (replica && hasLabel(replica.deployment.labels, view.label))) &&
        (named || key.toLowerCase().includes(words));
      if (fits) replicas.add(key);
      any = any || fits;
    }
    if (any || (!view.ns && labelled && named)) clusters.add(cluster.name);
  }
  return { clusters, replicas };
}
