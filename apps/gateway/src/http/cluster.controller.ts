import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import type { ClusterState, UserRoute } from '@tessera/client';
import { expecting, TesseraError } from '@tessera/errors';
import { memberOf } from '@tessera/httpjson';
import { PARTITION_COUNT, partitionOf, type RoutingTable } from '@tessera/routing';
import { Cluster } from '../cluster.js';
import { textAt } from './http-hop.js';

const invalid = expecting('REQUEST_INVALID');

function nodesOf(table: RoutingTable, partition: number): readonly number[] {
  return [0, 1, 2].flatMap((place) => table.nodeAt(partition, place) ?? []);
}

type Fields = Readonly<Record<string, unknown>>;

function partitionIn(query: Fields, name: string, least: number, fallback: number): number {
  const text = query[name];
  if (text === undefined) return fallback;
  const value = typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value < PARTITION_COUNT) return value;
  throw invalid(name, `a partition, ${least}..${PARTITION_COUNT - 1}`, text);
}

/** @throws TesseraError REQUEST_INVALID for any other field, as bodies of methods have it */
function checkFields(fields: object, ...known: readonly string[]): void {
  const stranger = Object.keys(fields).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  const message = `${stranger}: unknown field; expected ${known.join(', ')}`;
  throw new TesseraError('REQUEST_INVALID', message, { field: stranger });
}

/** State of the cluster, as the gateway knows it. */
@Controller('v1/cluster')
export class ClusterController {
  constructor(private readonly cluster: Cluster) {}

  /** Nodes with their state, their share of the partitions and what is outstanding at them. */
  @Get()
  state(): ClusterState {
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
        role: link.member.role ?? 'both',
        state: link.state,
        reason: link.reason,
        ownedPartitions: owned[node] ?? 0,
        inFlight: link.inFlight,
        chains: link.chains,
        outstandingUs: Math.round(this.cluster.outstandingUs(link.member.name)),
        relevance: link.relevance && {
          model: link.relevance.model,
          template: link.relevance.template,
          backlogUs: Math.round(link.work.backlogUs(performance.now())),
          tokenUs: link.relevance.tokenUs,
        },
        versions: link.versions,
        log: link.log,
      })),
    };
  }

  /** Owner and successors of partitions for answers, indices into `nodes`; equal ones as one. */
  @Get('partitions')
  partitions(@Query() query: Fields): object {
    checkFields(query, 'from', 'to');
    const from = partitionIn(query, 'from', 0, 0);
    const to = partitionIn(query, 'to', from, PARTITION_COUNT - 1);
    const { table } = this.cluster;
    const ranges: [from: number, to: number, nodes: readonly number[]][] = [];
    for (let partition = from; partition <= to; partition += 1) {
      const nodes = nodesOf(table, partition);
      const last = ranges.at(-1);
      if (last?.[2].join() === nodes.join()) last[1] = partition;
      else ranges.push([partition, partition, nodes]);
    }
    const names = table.members.map(({ name }) => name);
    return { revision: table.revision, digest: table.digest, nodes: names, ranges };
  }

  /** Tells the route of a user's requests, without those that append ahead of recalls. */
  @Post('route')
  @HttpCode(200)
  route(@Body() body: unknown): UserRoute {
    const userId = textAt(body, 'userId');
    if (userId === undefined) {
      throw invalid('userId', 'text that is not empty', memberOf(body, 'userId'));
    }
    const fields = Object(body) as object;
    checkFields(fields, Object.hasOwn(fields, 'userId') ? 'userId' : 'user_id');
    const partition = partitionOf(userId);
    const { table } = this.cluster;
    const named = nodesOf(table, partition).flatMap((node) => table.members[node]?.name ?? []);
    const [owner = null, ...successors] = named;
    const chosen = this.cluster.choose(partition, 'answer');
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
