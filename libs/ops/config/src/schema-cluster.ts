/** Keys of a cluster: of its gateways, and of a node that joins one. */

import { z } from 'zod';
import { integer, nonEmptyText, oneOf, text } from './schema-fields.js';

const WEIGHT_MAX = 1000;
const L = {
  logLeaseMsMin: 500,
  logLeaseMsMax: 60_000,
  logBehindMsMax: 3_600_000,
  logKeepDaysMax: 3650,
};

export const clusterSchema = z.strictObject({
  name: nonEmptyText('tessera', 'name of the cluster, which parts clusters of one etcd'),
  nodes: text(
    '',
    'nodes of a gateway, NAME=GRPC_HOST:PORT/HTTP_HOST:PORT, with *WEIGHT behind where it is not ' +
      '1, separated by commas; empty: cluster.etcd or cluster.dns knows them',
  ),
  etcd: text(
    '',
    'HOST:PORT of etcd, several separated by commas, with https:// before each where it speaks ' +
      'TLS: a node joins the cluster there, a gateway knows the nodes from there; empty: none',
  ),
  etcdUser: text('', 'user that etcd knows this process as; empty: etcd asks for none'),
  etcdPasswordPath: text('', 'file of its password'),
  etcdCaPath: text(
    '',
    "PEM file of the authority of etcd's certificate; empty: those of the system",
  ),
  etcdCertificatePath: text('', 'PEM file of the certificate that etcd is shown; empty: none'),
  etcdKeyPath: text('', 'PEM file of its private key'),
  dns: text('', 'headless service whose pods are the nodes of a gateway; empty: none'),
  weight: integer(1, WEIGHT_MAX, 1, 'share of the users that this node takes, beside the others'),
  advertiseGrpc: text(
    '',
    'HOST:PORT that gateways reach gRPC of this node by; empty: as it listens',
  ),
  advertiseHttp: text(
    '',
    'HOST:PORT that gateways reach HTTP of this node by; empty: as it listens',
  ),
  behaviours: text(
    '',
    'HOST:PORT of the gRPC edge of a feature process, which a gateway sends calls about ' +
      'behaviours to; empty: to the nodes, which share a store',
  ),
  log: oneOf(
    ['none', 'redis', 'kafka'],
    'none',
    'log that decides what all nodes serve: none, where this process is the only one; in Redis ' +
      'at cluster.logRedis, with the user and TLS of behaviours.redis*; in the brokers of kafka.*',
  ),
  logRedis: text('', 'HOST:PORT of the Redis or Valkey that keeps the log; its appendonly is on'),
  logStore: text(
    '',
    'folder that all nodes share, or s3://BUCKET/PREFIX (adapters.s3*), of what is too large for ' +
      'the log: snapshots, adapters, large batches',
  ),
  logLeaseMs: integer(
    L.logLeaseMsMin,
    L.logLeaseMsMax,
    3000,
    'milliseconds for which an erasure waits for a node that no longer says how far it is',
  ),
  logBehindEntries: integer(
    0,
    Number.MAX_SAFE_INTEGER,
    1000,
    'entries that a node may be behind the log and take requests',
  ),
  logBehindMs: integer(
    0,
    L.logBehindMsMax,
    5000,
    'milliseconds for which it may be further behind',
  ),
  logSnapshotEntries: integer(
    1,
    Number.MAX_SAFE_INTEGER,
    10_000,
    'entries after which the state is put into cluster.logStore, and older entries may go',
  ),
  logKeepDays: integer(
    1,
    L.logKeepDaysMax,
    90,
    'days for which the log names users who were erased: no older backup or disk may be used',
  ),
});
