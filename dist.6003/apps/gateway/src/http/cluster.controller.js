function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function _ts_metadata(metadataKey, metadataValue) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") {
        return Reflect.metadata(metadataKey, metadataValue);
    }
}
function _ts_param(paramIndex, decorator) {
    return function(target, key) {
        decorator(target, key, paramIndex);
    };
}
import { Body, Controller, Get, HttpCode, Post, Query } from "@nestjs/common";
import { expecting } from "../../../../libs/ops/errors/src/index.js";
import { memberOf } from "../../../../libs/edge/httpjson/src/index.js";
import { PARTITION_COUNT, partitionOf } from "../../../../libs/cluster/routing/src/index.js";
import { Cluster } from "../cluster.js";
import { textAt } from "./http-hop.js";
const invalid = expecting('REQUEST_INVALID');
function nodesOf(table, partition) {
    return [
        0,
        1,
        2
    ].flatMap((place)=>table.nodeAt(partition, place) ?? []);
}
function partitionIn(query, name, fallback) {
    const text = query[name];
    if (text === undefined) return fallback;
    const value = typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (value < PARTITION_COUNT) return value;
    throw invalid(name, `a partition, 0..${PARTITION_COUNT - 1}`, text);
}
export class ClusterController {
    cluster;
    constructor(cluster){
        this.cluster = cluster;
    }
    /** Nodes with their state, their share of the partitions and what is outstanding at them. */ state() {
        const { table, versions } = this.cluster;
        const owned = table.ownedCounts();
        return {
            revision: table.revision,
            digest: table.digest,
            partitions: PARTITION_COUNT,
            versions,
            nodes: this.cluster.links().map((link, node)=>({
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
                        tokenUs: link.relevance.tokenUs
                    },
                    versions: link.versions,
                    log: link.log
                }))
        };
    }
    /** Owner and successors of partitions for answers, indices into `nodes`; equal ones as one. */ partitions(query) {
        const from = partitionIn(query, 'from', 0);
        const to = partitionIn(query, 'to', PARTITION_COUNT - 1);
        const { table } = this.cluster;
        const ranges = [];
        for(let partition = from; partition <= to; partition += 1){
            const nodes = nodesOf(table, partition);
            const last = ranges.at(-1);
            if (last?.[2].join() === nodes.join()) last[1] = partition;
            else ranges.push([
                partition,
                partition,
                nodes
            ]);
        }
        const names = table.members.map(({ name })=>name);
        return {
            revision: table.revision,
            digest: table.digest,
            nodes: names,
            ranges
        };
    }
    /** Where a user's requests go, but for those that append ahead of recalls. */ route(body) {
        const userId = textAt(body, 'userId');
        if (userId === undefined) {
            throw invalid('userId', 'text that is not empty', memberOf(body, 'userId'));
        }
        const partition = partitionOf(userId);
        const { table } = this.cluster;
        const named = nodesOf(table, partition).flatMap((node)=>table.members[node]?.name ?? []);
        const [owner = null, ...successors] = named;
        const chosen = this.cluster.choose(partition, 'answer');
        return {
            revision: table.revision,
            partition,
            owner,
            successors,
            now: chosen?.link.member.name ?? null,
            reason: chosen?.reason ?? 'nobody'
        };
    }
}
_ts_decorate([
    Get(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", []),
    _ts_metadata("design:returntype", typeof ClusterState === "undefined" ? Object : ClusterState)
], ClusterController.prototype, "state", null);
_ts_decorate([
    Get('partitions'),
    _ts_param(0, Query()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof Readonly === "undefined" ? Object : Readonly
    ]),
    _ts_metadata("design:returntype", Object)
], ClusterController.prototype, "partitions", null);
_ts_decorate([
    Post('route'),
    HttpCode(200),
    _ts_param(0, Body()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        Object
    ]),
    _ts_metadata("design:returntype", typeof UserRoute === "undefined" ? Object : UserRoute)
], ClusterController.prototype, "route", null);
ClusterController = _ts_decorate([
    Controller('v1/cluster'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof Cluster === "undefined" ? Object : Cluster
    ])
], ClusterController);

//# sourceMappingURL=cluster.controller.js.map