import type { ServerDuplexStream, ServerReadableStream, ServerWritableStream } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import type { Asking } from '../asking.js';
import { behavioursAway, isOfBehaviours } from '../behaviours-link.js';
import type { NodeLink } from '../node-link.js';
import { withToken } from '../passed-fields.js';
import type { SplitCalls } from '../relevance/split-calls.js';
import { FORWARDED } from './forwarded-methods.js';
import type { ForwardedCalls } from './forwarded-services.js';
import { checkLog, keyed, StreamedChanges } from './one-change.js';
import { OneNodeCalls } from './one-node.js';
import { askByOwner } from './owner-calls.js';
import { scoreInParts } from './score-parts.js';
import type { UnaryHop } from './unary-hop.js';

export interface CallParts {
  readonly asking: Asking;
  readonly split: SplitCalls;
  readonly connection: Connection;
  /** A feature process; undefined: the nodes answer calls about behaviours. */
  readonly behaviours: NodeLink | undefined;
}

/** Calls over gRPC, each to the nodes that it is for. */
export class GatewayCalls implements ForwardedCalls {
  private readonly one: OneNodeCalls;
  private readonly streamed: StreamedChanges;

  constructor(private readonly parts: CallParts) {
    const { asking, connection } = parts;
    this.one = new OneNodeCalls(asking, connection);
    this.streamed = new StreamedChanges(asking.cluster, connection);
  }

  async unary(path: string, call: UnaryHop): Promise<Buffer> {
    const { one, parts } = this;
    if (parts.behaviours !== undefined && isOfBehaviours(path)) {
      return this.askBehaviours(parts.behaviours, path, call);
    }
    switch (FORWARDED.get(path)?.to) {
      case 'change':
        checkLog(parts.asking.cluster);
        return one.unary(path, withKey(call));
      case 'split':
        return scoreInParts(parts.split, parts.connection, path, call) ?? one.unary(path, call);
      case 'owners':
        return askByOwner(one, parts.asking.cluster, path, call);
      default:
        return one.unary(path, call);
    }
  }

  send(path: string, call: ServerReadableStream<Buffer, Buffer>): Promise<Buffer> {
    return this.streamed.send(path, call);
  }

  stream(path: string, call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
    return this.one.stream(path, call);
  }

  converse(path: string, call: ServerDuplexStream<Buffer, Buffer>): Promise<void> {
    return this.streamed.converse(path, call);
  }

  private async askBehaviours(link: NodeLink, path: string, call: UnaryHop): Promise<Buffer> {
    const fields = withToken(call.fields, this.parts.connection);
    const cancelled = (cancel: () => void) => call.onCancelled(cancel);
    try {
      return await link.unary(path, call.request, fields, call.deadlineMs, cancelled);
    } catch (thrown) {
      throw behavioursAway(thrown);
    }
  }
}

/** The call as it is, with a key where its caller gave none. */
function withKey(call: UnaryHop): UnaryHop {
  return Object.create(call, { fields: { value: keyed(call.fields) } }) as UnaryHop;
}
