/** Keys of a cluster: of its gateways, and of a node that joins one. */

import { z } from 'zod';
import { integer, nonEmptyText, oneOf, text } from './schema-fields.js';

const WEIGHT_MAX = 1000;
const NODES_MAX = 1000;
const L = {
  logKeepDaysMax: 3650,
  staleMsMax: 86_400_000,
};

export const clusterSchema = z.strictObject({
  name: nonEmptyText(
    'tessera',
    'name of the cluster: prefix of its keys in etcd and Redis and of its consumer groups in Kafka',
  ),
  nodes: text(
    '',
    'nodes of a gateway, NAME=GRPC_HOST:PORT/HTTP_HOST:PORT, with *WEIGHT behind unless it ' +
      'is 1 and @append or @answer behind unless its role is both, separated by commas; empty: ' +
      'from cluster.etcd or cluster.dns',
  ),
  etcd: text(
    '',
    'HOST:PORT of etcd, several separated by commas, with https:// in front for TLS: nodes ' +
      'register there, gateways read the nodes from there, and the log is there if ' +
      'cluster.logStore is given; empty: none',
  ),
  etcdUser: text('', 'user of the login with etcd; empty: no login'),
  etcdPasswordPath: text('', 'file of the password'),
  dns: text('', 'headless service whose pods are the nodes of a gateway; empty: none'),
  nodesWanted: integer(
    0,
    NODES_MAX,
    0,
    'nodes that there should be, for alerts of a gateway without cluster.nodes; 0: unknown',
  ),
  weight: integer(
    1,
    WEIGHT_MAX,
    1,
    'share of the users for this node, relative to the other nodes',
  ),
  role: oneOf(
    ['both', 'append', 'answer'],
    'both',
    'calls that gateways send to this node: append: those that compute new behaviours ahead of ' +
      'a recall and fill the shared store; answer: all others; both: all',
  ),
  advertise: text(
    '',
    'address of this node for gateways, GRPC_HOST:PORT/HTTP_HOST:PORT; empty: the listening ' +
      'addresses',
  ),
  behaviours: text(
    '',
    'feature process that takes the calls about behaviours, HOST:PORT of its gRPC edge, and for ' +
      'calls over HTTP /HOST:PORT of that one; empty: the nodes, which share a store',
  ),
  logStore: text(
    '',
    'folder shared by all nodes, or s3://BUCKET/PREFIX (with AWS_ENDPOINT_URL), for what is too ' +
      'large for the log at cluster.etcd that decides the state of all nodes: snapshots, ' +
      'adapters, large batches; empty: no log, this process is the only one',
  ),
  staleMs: integer(
    1000,
    L.staleMsMax,
    10_000,
    'milliseconds without the log after which a node is stale: /health says so, and ' +
      '/health/current is 503 for balancers that know nothing else',
  ),
  logSnapshotEntries: integer(
    1,
    Number.MAX_SAFE_INTEGER,
    10_000,
    'entries between two snapshots of the state in cluster.logStore; older entries may be trimmed',
  ),
  logKeepDays: integer(
    1,
    L.logKeepDaysMax,
    90,
    'days that the log keeps the names of erased users; no older backup or disk may be used',
  ),
});
