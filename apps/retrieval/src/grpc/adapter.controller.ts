import type { Metadata, ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod, GrpcStreamCall } from '@nestjs/microservices';
import type { PushPart } from '@tessera/adapter';
import type {
  Submission,
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
import { TesseraError } from '@tessera/errors';
import { callerOf, GrpcErrorFilter, grpcStatus, refuseMalformed, text } from '@tessera/grpc';
import { Log } from '@tessera/telemetry';
import { AdapterEdge } from '../adapter-edge.js';
import { submissionOf } from '../wire/submission.js';
import {
  parseActivation,
  parsePushPart,
  toWireActivated,
  toWireComparison,
  toWireVersion,
} from './adapter.mapper.js';

/** Read as the disk takes them: what waits for it waits in the client. */
async function* partsOf(
  call: ServerReadableStream<WirePushRequest, WirePushResponse>,
): AsyncGenerator<PushPart> {
  // An answer may come before the last part has been read.
  const messages = call.iterator({ destroyOnReturn: false }) as AsyncIterable<WirePushRequest>;
  for await (const message of messages) yield parsePushPart(message);
}

const howOf = (metadata: Metadata): Submission => submissionOf((name) => metadata.get(name)[0]);

function named(message: { readonly name: string; readonly digest: string }) {
  refuseMalformed(message);
  return { name: text('name', message.name), digest: text('digest', message.digest) };
}

@Controller()
@UseFilters(GrpcErrorFilter)
export class AdapterGrpcController {
  constructor(
    private readonly edge: AdapterEdge,
    private readonly log: Log,
  ) {}

  /** Nest's own streams have no back pressure, so the call itself is read. */
  @GrpcStreamCall('AdapterService', 'Push')
  push(
    call: ServerReadableStream<WirePushRequest, WirePushResponse>,
    done: sendUnaryData<WirePushResponse>,
  ): void {
    this.edge
      .pushAs(callerOf(call.metadata), partsOf(call), howOf(call.metadata))
      .then(({ version, isKnown }) => {
        done(null, { version: toWireVersion(this.edge.described(version)), known: isKnown });
      })
      .catch((thrown: unknown) => {
        const error = TesseraError.from(thrown);
        if (error.code === 'INTERNAL') this.log.error({ err: thrown }, 'a push failed');
        done(grpcStatus(error));
      })
      .finally(() => call.resume());
  }

  @GrpcMethod('AdapterService', 'List')
  list(message: WireListRequest): WireListResponse {
    refuseMalformed(message);
    const listed = this.edge.list(text('name', message.name));
    const { versions, defaultName, arena, disk } = listed;
    return {
      versions: versions.map(toWireVersion),
      defaultName,
      arenaUsedBytes: arena.usedBytes,
      arenaMaxBytes: arena.maxBytes,
      diskUsedBytes: disk.usedBytes,
      diskMaxBytes: disk.maxBytes,
    };
  }

  @GrpcMethod('AdapterService', 'Get')
  get(message: WireGetRequest): WireGetResponse {
    const { version, comparison } = this.edge.get(named(message));
    return { version: toWireVersion(version), comparison: toWireComparison(comparison) };
  }

  @GrpcMethod('AdapterService', 'Activate')
  async activate(message: WireActivateRequest, metadata: Metadata): Promise<WireActivateResponse> {
    const version = named(message);
    const wanted = parseActivation(message);
    const activated = await this.edge.activateAs(
      callerOf(metadata),
      version,
      wanted,
      howOf(metadata),
    );
    return toWireActivated(activated, this.edge.described(activated.version));
  }

  @GrpcMethod('AdapterService', 'Rollback')
  async rollBack(message: WireRollbackRequest, metadata: Metadata): Promise<WireRollbackResponse> {
    refuseMalformed(message);
    const name = text('name', message.name);
    const { serves, replaced } = await this.edge.rollBackAs(
      callerOf(metadata),
      name,
      howOf(metadata),
    );
    return {
      version: serves && toWireVersion(this.edge.described(serves)),
      replaced: replaced && toWireVersion(this.edge.described(replaced)),
    };
  }

  @GrpcMethod('AdapterService', 'Pin')
  pin(message: WirePinRequest, metadata: Metadata): Promise<WirePinResponse> {
    return this.pinned(message, metadata, true);
  }

  @GrpcMethod('AdapterService', 'Unpin')
  unpin(message: WirePinRequest, metadata: Metadata): Promise<WirePinResponse> {
    return this.pinned(message, metadata, false);
  }

  @GrpcMethod('AdapterService', 'Delete')
  async delete(message: WireDeleteRequest, metadata: Metadata): Promise<WireDeleteResponse> {
    await this.edge.deleteAs(callerOf(metadata), named(message), howOf(metadata));
    return {};
  }

  private async pinned(message: WirePinRequest, metadata: Metadata, isPinned: boolean) {
    const how = howOf(metadata);
    const version = await this.edge.pinAs(callerOf(metadata), named(message), isPinned, how);
    return { version: toWireVersion(this.edge.described(version)) };
  }
}
