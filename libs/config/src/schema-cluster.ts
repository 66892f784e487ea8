/** Keys of a cluster: of its gateways, and of a node that joins one. */

import { z } from 'zod';
import { integer, nonEmptyText, storeFolder, text } from './schema-fields.js';

const WEIGHT_MAX = 1000;

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
  path: storeFolder('gateway', 'folder of what a gateway keeps: erasures that are pending', {
    canBeEmpty: false,
  }),
});
