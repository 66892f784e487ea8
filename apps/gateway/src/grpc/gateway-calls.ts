import type { ServerDuplexStream, ServerReadableStream, ServerWritableStream } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import type { Asking } from '../asking.js';
import type { KeptErasures } from '../kept-erasures.js';
import { NodeAway, type NodeLink } from '../node-link.js';
import { withToken } from '../passed-fields.js';
import type { SplitCalls } from '../relevance/split-calls.js';
import { appendByOwner } from './append-parts.js';
import type { EveryNodeCalls } from './every-node.js';
import { forgetUser } from './forgetting.js';
import type { ForwardedCalls } from './forwarded-services.js';
import type { MethodKind } from './method-kinds.js';
import { deadlineOf, OneNodeCalls } from './one-node.js';
import { scoreInParts } from './score-parts.js';
import type { UnaryHop } from './unary-hop.js';

const BEHAVIOURS = '/tessera.behaviour.v1.BehaviourService/';
const NOBODY = undefined;

export interface CallParts {
  readonly asking: Asking;
  readonly every: EveryNodeCalls;
  readonly split: SplitCalls;
  readonly connection: Connection;
  readonly erasures: KeptErasures;
  /** A feature process; undefined: the nodes answer calls about behaviours. */
  readonly behaviours: NodeLink | undefined;
}

/** Calls over gRPC, each to the nodes that it is for. */
export class GatewayCalls implements ForwardedCalls {
  private readonly one: OneNodeCalls;
  private readonly every: EveryNodeCalls;

  constructor(private readonly parts: CallParts) {
    const { asking, every, connection } = parts;
    this.one = new OneNodeCalls(asking, connection);
    this.every = every;
  }

  unary(path: string, kind: MethodKind, call: UnaryHop): Promise<Buffer> {
    const { one, every, parts } = this;
    if (parts.behaviours !== undefined && path.startsWith(BEHAVIOURS)) {
      return this.askBehaviours(parts.behaviours, path, call);
    }
    switch (kind.does) {
      case 'user':
        return one.unary(path, call, kind.userAt, kind.nodeAt);
      case 'any':
        return one.unary(path, call, NOBODY);
      case 'every':
        return every.unary(path, call);
      case 'split':
        return (
          scoreInParts(parts.split, parts.connection, path, call) ?? one.unary(path, call, NOBODY)
        );
      case 'append':
        return appendByOwner(one, parts.asking.cluster, path, call);
      case 'forget':
        return forgetUser(parts.erasures, one, path, call, kind.userAt, (drop) =>
          every.unary(path, drop),
        );
    }
  }

  send(path: string, call: ServerReadableStream<Buffer, Buffer>): Promise<Buffer> {
    return this.every.send(path, call);
  }

  stream(path: string, call: ServerWritableStream<Buffer, Buffer>): void {
    this.one.stream(path, call);
  }

  converse(path: string, call: ServerDuplexStream<Buffer, Buffer>): Promise<void> {
    return this.every.converse(path, call);
  }

  private async askBehaviours(link: NodeLink, path: string, call: UnaryHop): Promise<Buffer> {
    const fields = withToken(call.fields, this.parts.connection);
    const cancelled = (cancel: () => void) => call.onCancelled(cancel);
    try {
      return await link.unary(path, call.request, fields, deadlineOf(call), cancelled);
    } catch (thrown) {
      if (!(thrown instanceof NodeAway)) throw thrown;
      throw new TesseraError('STORE_UNAVAILABLE', `cluster.behaviours: ${thrown.message}`);
    }
  }
}
