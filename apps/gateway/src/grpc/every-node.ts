import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { ClientDuplexStream, ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import type { Cluster } from '../cluster.js';
import type { NodeLink } from '../node-link.js';
import { withToken } from '../passed-fields.js';
import { hopMetadata } from './hop-metadata.js';
import { deadlineOf, isServiceError } from './one-node.js';
import type { UnaryHop } from './unary-hop.js';

const identity = (bytes: Buffer): Buffer => bytes;

interface NodeAnswer {
  readonly link: NodeLink;
  readonly answer: PromiseSettledResult<Buffer>;
}

/**
 * Changes, which every node takes or none begins: one after the other, so that all nodes have them
 * in one order. That holds for one gateway; several take changes from topics (docs/cluster.md).
 */
export class EveryNodeCalls {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly cluster: Cluster,
    private readonly connection: Connection,
  ) {}

  unary(path: string, call: UnaryHop): Promise<Buffer> {
    const fields = withToken(call.fields, this.connection);
    const deadline = deadlineOf(call);
    // A change that has begun is not taken back: its caller going away ends nothing.
    return this.ask((link) => link.unary(path, call.request, fields, deadline, () => undefined));
  }

  /** One message to every node, in turn with all other changes; `act` gives a node's answer. */
  ask(act: (link: NodeLink) => Promise<Buffer>): Promise<Buffer> {
    return this.inTurn(async () => {
      const links = this.all();
      const answers = await Promise.allSettled(links.map(act));
      return agreed(
        links.map((link, at) => ({ link, answer: answers[at] as NodeAnswer['answer'] })),
      );
    });
  }

  /** Messages to every node, which each answers once. */
  send(path: string, call: ServerReadableStream<Buffer, Buffer>): Promise<Buffer> {
    const metadata = hopMetadata(call.metadata, this.connection);
    const options = { deadline: Number(call.getDeadline()) };
    return this.inTurn(async () => {
      const links = this.all();
      const sinks = links.map(({ client }) => {
        let sink: ReturnType<typeof client.makeClientStreamRequest<Buffer, Buffer>> | undefined;
        const answer = new Promise<Buffer>((resolve, reject) => {
          sink = client.makeClientStreamRequest<Buffer, Buffer>(
            path,
            identity,
            identity,
            metadata,
            options,
            (error, bytes) => (error ? reject(error) : resolve(bytes as Buffer)),
          );
        });
        answer.catch(() => undefined);
        sink?.on('error', () => undefined);
        return { sink, answer };
      });
      try {
        for await (const message of messagesOf(call)) {
          for (const { sink } of sinks) {
            if (sink?.write(message) === false) await settled(sink);
          }
        }
      } catch (thrown) {
        for (const { sink } of sinks) sink?.cancel();
        throw thrown;
      }
      for (const { sink } of sinks) sink?.end();
      const answers = await Promise.allSettled(sinks.map(({ answer }) => answer));
      return agreed(
        links.map((link, at) => ({ link, answer: answers[at] as NodeAnswer['answer'] })),
      );
    });
  }

  /** Each message to every node, and one answer when all have answered it. */
  async converse(path: string, call: ServerDuplexStream<Buffer, Buffer>): Promise<void> {
    const metadata = hopMetadata(call.metadata, this.connection);
    const links = this.all();
    const streams = links.map(({ client }) => {
      const stream = client.makeBidiStreamRequest<Buffer, Buffer>(
        path,
        identity,
        identity,
        metadata,
        { deadline: Number(call.getDeadline()) },
      );
      stream.on('error', () => undefined);
      return { stream, answers: stream[Symbol.asyncIterator]() as AsyncIterator<Buffer> };
    });
    try {
      for await (const message of messagesOf(call)) {
        const answer = await this.inTurn(async () => {
          const answers = await Promise.allSettled(
            streams.map(async ({ stream, answers }) => {
              stream.write(message);
              const { done, value } = await answers.next();
              if (done !== true) return value;
              throw new TesseraError('NODE_UNAVAILABLE', 'expected an answer, got the end');
            }),
          );
          return agreed(
            links.map((link, at) => ({ link, answer: answers[at] as NodeAnswer['answer'] })),
          );
        });
        if (!call.write(answer)) await once(call, 'drain');
      }
      for (const { stream } of streams) stream.end();
      call.end();
    } catch (thrown) {
      for (const { stream } of streams) (stream as ClientDuplexStream<Buffer, Buffer>).cancel();
      throw thrown;
    }
  }

  /** @throws TesseraError NODE_UNAVAILABLE where a node would not take the change */
  private all(): readonly NodeLink[] {
    const links = this.cluster.links();
    const away = links.filter(({ state }) => state !== 'up' && state !== 'different');
    if (links.length > 0 && away.length === 0) return links;
    const got = away.map(({ member, state }) => `${member.name} ${state}`).join(', ');
    const message = `nodes: expected all to take a change, got ${got === '' ? 'no nodes' : got}`;
    throw new TesseraError('NODE_UNAVAILABLE', message);
  }

  private inTurn<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    const own = this.turn.then(act);
    this.turn = own.catch(() => undefined);
    return own;
  }
}

/** To the end, and no further: an iterator of its own would close the call with it. */
function messagesOf(call: Readable): AsyncIterable<Buffer> {
  return call.iterator({ destroyOnReturn: false });
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

/**
 * The answer of the first node where all have taken the change; their refusal where none has.
 * @throws the ServiceError of a node, or TesseraError NODE_UNAVAILABLE naming who has taken it
 */
function agreed(given: readonly NodeAnswer[]): Buffer {
  const failed = given.filter(({ answer }) => answer.status === 'rejected');
  const taken = given.filter(({ answer }) => answer.status === 'fulfilled');
  const [first] = taken;
  if (failed.length === 0 && first?.answer.status === 'fulfilled') return first.answer.value;
  const reasons = failed.map(({ link, answer }) => {
    const thrown = answer.status === 'rejected' ? answer.reason : undefined;
    const reason = isServiceError(thrown) ? thrown.details : (thrown as Error).message;
    return `${link.member.name}: ${reason}`;
  });
  const refusal = failed[0]?.answer;
  if (taken.length === 0 && refusal?.status === 'rejected') throw refusal.reason;
  const names = taken.map(({ link }) => link.member.name).join(', ');
  const expected = 'expected all to take the change';
  const message = `nodes: ${expected}, got it on ${names} alone; ${reasons.join('; ')}`;
  throw new TesseraError('NODE_UNAVAILABLE', message);
}
