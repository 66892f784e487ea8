import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TesseraError } from '@tessera/errors';
import { checkedMembers, type Member } from '@tessera/routing';
import { type Connection, tokenHeaders } from './connection.js';

const ANSWER_MS_MAX = 2000;

/** A node as a gateway's `GET /v1/cluster` shows it. */
export interface ShownNode extends Member {
  /** unknown, up, draining, down or different. */
  readonly state: string;
  /** Why it gets no requests; '' where it does. */
  readonly reason: string;
  readonly ownedPartitions: number;
  readonly inFlight: number;
  readonly outstandingUs: number;
  /** Users' chains in its KV pool, when it was last seen. */
  readonly chains: number;
}

export interface ClusterState {
  readonly revision: number;
  readonly digest: string;
  readonly partitions: number;
  /** In the order of their names. */
  readonly nodes: readonly ShownNode[];
}

/**
 * What a gateway knows of its cluster. `address`: HOST:PORT of its HTTP edge. Rejects with
 * NODE_UNAVAILABLE.
 */
export async function clusterState(address: string, connection: Connection): Promise<ClusterState> {
  try {
    const state = JSON.parse(await textAt(address, connection)) as ClusterState;
    checkedMembers(state.nodes, 'nodes');
    return state;
  } catch (cause) {
    const message = `gateway: expected its nodes, got: ${(cause as Error).message}`;
    throw new TesseraError('NODE_UNAVAILABLE', message, { cause });
  }
}

function textAt(address: string, connection: Connection): Promise<string> {
  const { isTls, files } = connection;
  const { cert, key, ca } = files;
  const ask = isTls ? httpsRequest : httpRequest;
  const url = `${isTls ? 'https' : 'http'}://${address}/v1/cluster`;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const options = { headers: tokenHeaders(connection), signal, ...(isTls && { cert, key, ca }) };
    const asked = ask(url, options, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (part: string) => {
        text += part;
      });
      reply.on('error', reject);
      reply.on('end', () => {
        if (reply.statusCode === 200) resolve(text);
        else reject(new Error(`HTTP ${reply.statusCode}: ${text.slice(0, 200)}`));
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}
