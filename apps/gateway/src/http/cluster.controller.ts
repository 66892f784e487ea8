import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { expecting } from '@tessera/errors';
import { PARTITION_COUNT, partitionOf } from '@tessera/routing';
import { Cluster } from '../cluster.js';

const invalid = expecting('REQUEST_INVALID');

/** What a gateway knows of its cluster. */
@Controller('v1/cluster')
export class ClusterController {
  constructor(private readonly cluster: Cluster) {}

  /** Nodes with their state, their share of the partitions and what is outstanding at them. */
  @Get()
  state(): object {
    const { table, versions } = this.cluster;
    const owned = table.ownedCounts();
    return {
      revision: table.revision,
      digest: table.digest,
      partitions: PARTITION_COUNT,
      versions,
      nodes: this.cluster.links().map((link, node) => ({
        name: link.member.name,
        grpc: link.member.grpc,
        http: link.member.http,
        weight: link.member.weight,
        state: link.state,
        reason: link.reason,
        ownedPartitions: owned[node],
        inFlight: link.inFlight,
        outstandingUs: Math.round(this.cluster.outstandingUs(link.member.name)),
        versions: link.versions,
      })),
    };
  }

  /** Where a user's requests go. */
  @Post('route')
  @HttpCode(200)
  route(@Body() body: { readonly userId?: unknown }): object {
    const userId = body?.userId;
    if (typeof userId !== 'string' || userId === '') {
      throw invalid('userId', 'text that is not empty', userId);
    }
    const partition = partitionOf(userId);
    const { table } = this.cluster;
    const named = [0, 1, 2].flatMap((place) => {
      const node = table.nodeAt(partition, place);
      return node === undefined ? [] : [table.members[node]?.name];
    });
    const [owner = null, ...successors] = named;
    const chosen = this.cluster.choose(partition, new Set());
    return {
      revision: table.revision,
      partition,
      owner,
      successors,
      now: chosen?.link.member.name ?? null,
      reason: chosen?.reason ?? 'nobody',
    };
  }
}
