import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TesseraError } from '@tessera/errors';
import { checkedMembers, type Member } from '@tessera/routing';
import { type Connection, tokenHeaders } from './connection.js';

const ANSWER_MS_MAX = 2000;

/** A node as a gateway's `GET /v1/cluster` shows it. */
export interface ShownNode extends Member {
  readonly state: string;
}

/**
 * The nodes that a gateway knows. `address`: HOST:PORT of its HTTP edge. Rejects with
 * NODE_UNAVAILABLE.
 */
export async function clusterState(
  address: string,
  connection: Connection,
): Promise<readonly ShownNode[]> {
  const text = await textAt(address, connection).catch((cause: unknown) => {
    const message = `gateway: expected its nodes, got: ${(cause as Error).message}`;
    throw new TesseraError('NODE_UNAVAILABLE', message, { cause });
  });
  const { nodes } = JSON.parse(text) as { readonly nodes: readonly ShownNode[] };
  const states = new Map(nodes.map(({ name, state }) => [name, state]));
  return checkedMembers(nodes, 'gateway').map(({ name, grpc, http, weight }) => ({
    name,
    grpc,
    http,
    weight,
    state: states.get(name) ?? '',
  }));
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
