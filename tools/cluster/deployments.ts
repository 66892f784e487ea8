import { parseMembers, RoutingTable } from '@tessera/routing';
import type { DeployedNode } from './deployed-node.js';
import { envoyConfig } from './envoy.js';
import { haproxyConfig, haproxyMap } from './haproxy.js';

/** Outputs of `config`. */
export const DEPLOYMENTS = ['haproxy', 'haproxy-map', 'envoy'] as const;
export type Deployment = (typeof DEPLOYMENTS)[number];

/** Nodes as `npm run cluster` starts them. */
function localNodes(count: number): readonly DeployedNode[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `node-${at + 1}`,
    host: '127.0.0.1',
    httpPort: 8081 + at,
    grpcPort: 50_061 + at,
  }));
}

function tableOf(nodes: readonly DeployedNode[]): RoutingTable {
  const members = nodes.map(
    ({ name, host, httpPort, grpcPort }) => `${name}=${host}:${grpcPort}/${host}:${httpPort}`,
  );
  return new RoutingTable(parseMembers(members.join()), 1);
}

/** The text of a file, without the end of its last line. */
export function deploymentFile(kind: Deployment, nodeCount: number): string {
  const nodes = localNodes(nodeCount);
  switch (kind) {
    case 'haproxy':
      return haproxyConfig(nodes);
    case 'haproxy-map':
      return haproxyMap(tableOf(nodes));
    case 'envoy':
      return envoyConfig(nodes);
  }
}
