import type { PushPart } from '@tessera/adapter';
import { type Call, plain, type Read, service, submissionOf } from '@tessera/call';
import type {
  WireActivateRequest,
  WireActivateResponse,
  WireDeleteRequest,
  WireDeleteResponse,
  WireGetRequest,
  WireGetResponse,
  WireListRequest,
  WireListResponse,
  WirePinRequest,
  WirePinResponse,
  WirePushRequest,
  WirePushResponse,
  WireRollbackRequest,
  WireRollbackResponse,
} from '@tessera/contracts';
import { text } from '@tessera/grpc';
import type { AdapterEdge } from '../adapter-edge.js';
import {
  parseActivation,
  parsePushPart,
  toWireActivated,
  toWireComparison,
  toWireVersion,
} from '../wire/adapter.mapper.js';

/** Parts as the disk takes them: while it does not, they wait in the client. */
async function* partsOf(messages: AsyncIterable<WirePushRequest>): AsyncGenerator<PushPart> {
  for await (const message of messages) yield parsePushPart(message);
}

function named({ name, digest }: { readonly name: string; readonly digest: string }) {
  return { name: text('name', name), digest: text('digest', digest) };
}

/** Versions of adapters. */
export function adapterHandlers(edge: AdapterEdge) {
  const pinned =
    (isPinned: boolean) =>
    async (read: Read<WirePinRequest>, call: Call): Promise<WirePinResponse> => {
      const how = submissionOf(call);
      const version = await edge.pinAs(call.caller, named(read()), isPinned, how);
      return { version: toWireVersion(edge.described(version)) };
    };
  return service('tessera.adapter.v1.AdapterService', {
    Push: async (
      messages: AsyncIterable<WirePushRequest>,
      call: Call,
    ): Promise<WirePushResponse> => {
      const how = submissionOf(call);
      const { version, isKnown } = await edge.pushAs(call.caller, partsOf(messages), how);
      return { version: toWireVersion(edge.described(version)), known: isKnown };
    },
    List: plain((message: WireListRequest): WireListResponse => listed(edge, message)),
    Get: plain((message: WireGetRequest): WireGetResponse => {
      const { version, comparison } = edge.get(named(message));
      return { version: toWireVersion(version), comparison: toWireComparison(comparison) };
    }),
    Activate: async (
      read: Read<WireActivateRequest>,
      call: Call,
    ): Promise<WireActivateResponse> => {
      const message = read();
      const wanted = parseActivation(message);
      const how = submissionOf(call);
      const activated = await edge.activateAs(call.caller, named(message), wanted, how);
      return toWireActivated(activated, edge.described(activated.version));
    },
    Rollback: async (
      read: Read<WireRollbackRequest>,
      call: Call,
    ): Promise<WireRollbackResponse> => {
      const message = read();
      const { name, digest } = named(message);
      const wanted = { digest, holder: text('holder', message.holder) };
      const how = submissionOf(call);
      const { serves, replaced } = await edge.rollBackAs(call.caller, name, wanted, how);
      return {
        version: serves && toWireVersion(edge.described(serves)),
        replaced: replaced && toWireVersion(edge.described(replaced)),
      };
    },
    Pin: pinned(true),
    Unpin: pinned(false),
    Delete: async (read: Read<WireDeleteRequest>, call: Call): Promise<WireDeleteResponse> => {
      await edge.deleteAs(call.caller, named(read()), submissionOf(call));
      return {};
    },
  });
}

function listed(edge: AdapterEdge, { name }: WireListRequest): WireListResponse {
  const { versions, defaultName, arena, disk } = edge.list(text('name', name));
  return {
    versions: versions.map(toWireVersion),
    defaultName,
    arenaUsedBytes: arena.usedBytes,
    arenaMaxBytes: arena.maxBytes,
    diskUsedBytes: disk.usedBytes,
    diskMaxBytes: disk.maxBytes,
  };
}
