import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { ClientDuplexStream, ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import { roleOf } from '@tessera/methods';
import { noNode } from '../asking.js';
import type { Cluster } from '../cluster.js';
import type { NodeLink } from '../node-link.js';
import { type Fields, KEY_FIELD } from '../passed-fields.js';
import { hopOf, identity } from './hop-metadata.js';

/** A change that is asked of another node again counts once. */
export const keyed = (fields: Fields): Fields =>
  fields[KEY_FIELD] === undefined ? { ...fields, [KEY_FIELD]: randomUUID() } : fields;

/**
 * A node that brings changes to all others.
 * @throws TesseraError NODE_UNAVAILABLE
 */
export function checkLog(cluster: Cluster): void {
  const links = cluster.links();
  const without = links.filter(({ state, log }) => state === 'up' && log.identity === '');
  if (links.length < 2 || without.length === 0) return;
  const names = without.map(({ member }) => member.name).join(', ');
  const expected = 'all to follow a cluster log (cluster.logStore)';
  const message = `nodes: expected ${expected}, got ${names} without`;
  throw new TesseraError('NODE_UNAVAILABLE', message);
}

/** Changes in several messages. One node takes them, and the cluster's log brings them to all. */
export class StreamedChanges {
  constructor(
    private readonly cluster: Cluster,
    private readonly connection: Connection,
  ) {}

  /** Messages that are answered once. Rejects with a ServiceError or NODE_UNAVAILABLE. */
  async send(path: string, call: ServerReadableStream<Buffer, Buffer>): Promise<Buffer> {
    const { link, end } = this.begin(path);
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        const answered = (error: unknown, bytes?: Buffer) =>
          error === null ? resolve(bytes as Buffer) : reject(error);
        const sink = link.client.makeClientStreamRequest<Buffer, Buffer>(
          path,
          identity,
          identity,
          ...hopOf(call, this.connection),
          answered,
        );
        sink.on('error', () => undefined);
        call.once('cancelled', () => sink.cancel());
        passed(call, sink).catch(() => sink.cancel());
      });
    } finally {
      end(false);
    }
  }

  /** Each message is answered. Rejects as send() does. */
  async converse(path: string, call: ServerDuplexStream<Buffer, Buffer>): Promise<void> {
    const { link, end } = this.begin(path);
    const stream: ClientDuplexStream<Buffer, Buffer> = link.client.makeBidiStreamRequest(
      path,
      identity,
      identity,
      ...hopOf(call, this.connection),
    );
    call.once('cancelled', () => stream.cancel());
    passed(call, stream).catch(() => stream.cancel());
    try {
      for await (const answer of stream as AsyncIterable<Buffer>) {
        if (!call.write(answer)) await once(call, 'drain');
      }
      call.end();
    } finally {
      end(false);
    }
  }

  private begin(path: string): { readonly link: NodeLink; readonly end: (is: boolean) => void } {
    checkLog(this.cluster);
    const chosen = this.cluster.choose(undefined, roleOf(path));
    if (chosen === undefined) throw noNode(this.cluster);
    return { link: chosen.link, end: this.cluster.begin(chosen.link, path) };
  }
}

interface Sink extends NodeJS.EventEmitter {
  write(message: Buffer): boolean;
  end(): void;
}

/** All messages of a client, as the node takes them. */
async function passed(call: Readable, sink: Sink): Promise<void> {
  // An iterator of its own would close the call with it.
  for await (const message of call.iterator({ destroyOnReturn: false })) {
    if (!sink.write(message as Buffer)) await settled(sink);
  }
  sink.end();
}

/** A sink that takes messages again, or has ended. */
function settled(sink: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      for (const event of ['drain', 'close', 'error']) sink.off(event, over);
      resolve();
    };
    for (const event of ['drain', 'close', 'error']) sink.on(event, over);
  });
}
