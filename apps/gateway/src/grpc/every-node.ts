import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type {
  ClientDuplexStream,
  ClientWritableStream,
  Metadata,
  ServerDuplexStream,
  ServerReadableStream,
  ServiceError,
} from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import type { Cluster } from '../cluster.js';
import type { NodeLink } from '../node-link.js';
import { withToken } from '../passed-fields.js';
import { ChangeTurn, type TurnTaker } from './change-turn.js';
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
 * A turn is held by the gateway alone, never while a client's bytes are waited for: uploads of one
 * method have turns of their own, and take that of the changes for their last message.
 */
export class EveryNodeCalls {
  private readonly changes = new ChangeTurn();
  private readonly uploads = new Map<string, ChangeTurn>();

  constructor(
    private readonly cluster: Cluster,
    private readonly connection: Connection,
  ) {}

  unary(path: string, call: UnaryHop): Promise<Buffer> {
    const fields = withToken(call.fields, this.connection);
    const deadline = deadlineOf(call);
    // A change that has begun is not taken back: its caller going away ends nothing.
    return this.ask(path, call, (link) =>
      link.unary(path, call.request, fields, deadline, () => undefined),
    );
  }

  /** One message to every node, in turn with all other changes; `act` gives a node's answer. */
  ask(path: string, caller: TurnTaker, act: (link: NodeLink) => Promise<Buffer>): Promise<Buffer> {
    return this.changes.run(caller, async () => {
      const links = this.all();
      return this.answeredBy(links, path, () => agreedBy(links, links.map(act)));
    });
  }

  /** Messages to every node, which each answers once. */
  send(path: string, call: ServerReadableStream<Buffer, Buffer>): Promise<Buffer> {
    const metadata = hopMetadata(call.metadata, this.connection);
    const caller = callerOf(call);
    const turn = this.uploads.get(path) ?? new ChangeTurn();
    this.uploads.set(path, turn);
    return turn.run(caller, async () => {
      const links = this.all();
      return this.answeredBy(links, path, async () => {
        const uploads = links.map((link) => beginUpload(link, path, metadata, caller.deadlineMs));
        try {
          // Nodes take the upload with its last message: that one waits for its turn.
          let last: Buffer | undefined;
          for await (const message of messagesOf(call)) {
            if (last !== undefined) await writeAll(uploads, last);
            last = message;
          }
          return await this.changes.run(caller, async () => {
            if (last !== undefined) await writeAll(uploads, last);
            for (const { sink } of uploads) sink.end();
            const answers = uploads.map(({ answer }) => answer);
            return agreedBy(links, answers);
          });
        } catch (thrown) {
          for (const { sink } of uploads) sink.cancel();
          throw thrown;
        }
      });
    });
  }

  /** Each message to every node, and one answer when all have answered it. */
  async converse(path: string, call: ServerDuplexStream<Buffer, Buffer>): Promise<void> {
    const metadata = hopMetadata(call.metadata, this.connection);
    const links = this.all();
    const caller = callerOf(call);
    await this.answeredBy(links, path, async () => {
      const streams = links.map(({ client }) => {
        const stream = client.makeBidiStreamRequest<Buffer, Buffer>(
          path,
          identity,
          identity,
          metadata,
          { deadline: caller.deadlineMs },
        );
        stream.on('error', () => undefined);
        return { stream, answers: stream[Symbol.asyncIterator]() as AsyncIterator<Buffer> };
      });
      try {
        for await (const message of messagesOf(call)) {
          const answer = await this.changes.run(caller, () =>
            agreedBy(
              links,
              streams.map((one) => exchanged(one, message)),
            ),
          );
          if (!call.write(answer)) await once(call, 'drain');
        }
        for (const { stream } of streams) stream.end();
        call.end();
      } catch (thrown) {
        for (const { stream } of streams) stream.cancel();
        throw thrown;
      }
    });
  }

  /** Each node has a request under way from now on until `act` has ended. */
  private async answeredBy<Answer>(
    links: readonly NodeLink[],
    path: string,
    act: () => Promise<Answer>,
  ): Promise<Answer> {
    const ends = links.map((link) => this.cluster.begin(link, path));
    try {
      return await act();
    } finally {
      for (const end of ends) end(false);
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
}

interface Upload {
  readonly sink: ClientWritableStream<Buffer>;
  readonly answer: Promise<Buffer>;
}

function beginUpload(
  { client }: NodeLink,
  path: string,
  metadata: Metadata,
  deadline: number,
): Upload {
  let settle: (error: ServiceError | null, bytes?: Buffer) => void = () => undefined;
  const answer = new Promise<Buffer>((resolve, reject) => {
    settle = (error, bytes) => (error ? reject(error) : resolve(bytes as Buffer));
  });
  answer.catch(() => undefined);
  const sink = client.makeClientStreamRequest<Buffer, Buffer>(
    path,
    identity,
    identity,
    metadata,
    { deadline },
    (error, bytes) => settle(error, bytes),
  );
  sink.on('error', () => undefined);
  return { sink, answer };
}

async function writeAll(uploads: readonly Upload[], message: Buffer): Promise<void> {
  for (const { sink } of uploads) if (!sink.write(message)) await settled(sink);
}

interface Conversation {
  readonly stream: ClientDuplexStream<Buffer, Buffer>;
  readonly answers: AsyncIterator<Buffer>;
}

async function exchanged({ stream, answers }: Conversation, message: Buffer): Promise<Buffer> {
  stream.write(message);
  const { done, value } = await answers.next();
  if (done !== true) return value;
  throw new TesseraError('NODE_UNAVAILABLE', 'expected an answer, got the end');
}

function callerOf(call: ServerReadableStream<Buffer, Buffer> | ServerDuplexStream<Buffer, Buffer>) {
  return {
    get cancelled() {
      return call.cancelled;
    },
    deadlineMs: Number(call.getDeadline()),
  };
}

async function agreedBy(
  links: readonly NodeLink[],
  asked: readonly Promise<Buffer>[],
): Promise<Buffer> {
  const answers = await Promise.allSettled(asked);
  return agreed(links.map((link, at) => ({ link, answer: answers[at] as NodeAnswer['answer'] })));
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
