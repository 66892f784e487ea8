import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { roleOf } from '@tessera/methods';
import { CostEstimates, partitionOf } from '@tessera/routing';
import { type Asking, type Edge, noNode } from '../asking.js';
import { withToken } from '../passed-fields.js';
import { FORWARDED } from './forwarded-methods.js';
import { hopOf, identity } from './hop-metadata.js';
import type { UnaryHop } from './unary-hop.js';
import { textAt } from './wire-path.js';

const NOBODY = { userAt: undefined, nodeAt: undefined };

/** Calls that one node answers: the user's owner, or any. Messages pass as bytes. */
export class OneNodeCalls {
  constructor(
    private readonly asking: Asking,
    private readonly connection: Connection,
    private readonly edge: Edge = 'grpc',
  ) {}

  /** To the owner of the user whom the message names, or to the node that it names, or to any. */
  unary(path: string, call: UnaryHop): Promise<Buffer> {
    const routing = FORWARDED.get(path);
    const { userAt, nodeAt } = routing?.to === 'user' ? routing : NOBODY;
    const user = userAt && textAt(call.request, userAt);
    const node = nodeAt && textAt(call.request, nodeAt);
    const named = node && Buffer.from(node).toString();
    return this.ask(path, call.request, call, user && partitionOf(user), named);
  }

  /** Calls as unary() does, for a message that the gateway makes itself. */
  ask(
    path: string,
    bytes: Buffer,
    call: UnaryHop,
    partition: number | undefined,
    node?: string,
  ): Promise<Buffer> {
    const fields = withToken(call.fields, this.connection);
    let cancel: () => void = () => undefined;
    call.onCancelled(() => cancel());
    const asked = {
      partition,
      role: roleOf(path),
      node,
      kind: CostEstimates.kindOf(path, bytes.length),
      edge: this.edge,
      deadlineMs: call.deadlineMs,
      isChange: FORWARDED.get(path)?.to === 'change',
      isOver: () => call.cancelled || Date.now() >= call.deadlineMs,
    };
    return this.asking.ask(asked, (link, deadlineMs) =>
      link.unary(path, bytes, fields, deadlineMs, (ended) => {
        cancel = ended;
      }),
    );
  }

  /** Answers of one node, as they come. Rejects with a ServiceError or NODE_UNAVAILABLE. */
  async stream(path: string, call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
    const chosen = this.asking.cluster.choose(undefined, roleOf(path));
    if (chosen === undefined) throw noNode(this.asking.cluster);
    const { link } = chosen;
    const end = this.asking.cluster.begin(link, path);
    const answers = link.client.makeServerStreamRequest(
      path,
      identity,
      identity,
      call.request,
      ...hopOf(call, this.connection),
    );
    call.once('cancelled', () => answers.cancel());
    answers.pipe(call as unknown as NodeJS.WritableStream);
    try {
      await once(answers, 'end');
    } finally {
      end(false);
    }
  }
}
