import { resolveSrv } from "node:dns/promises";
import { PolledMembership } from "./polled-membership.js";
/**
 * Milliseconds for which a pod that DNS lists no more stays a member: health decides whether it is
 * asked. A pod that is rolled comes back under its name, and its users' owners stay.
 */ const KEPT_MS = 60_000;
/** By target: the pods that there are, each under a name of its own that it keeps. */ async function portsOf(resolve, name) {
    const records = await resolve(name);
    return new Map(records.map(({ name: target, port })=>[
            target,
            port
        ]));
}
/**
 * The pods behind a headless service with ports named `grpc` and `http` (Kubernetes, "DNS for
 * Services and Pods", SRV records). A node's name is the first label of its pod's; records have no
 * room for a role, so each node is there for every call.
 */ export function dnsMembership(service, resolve = resolveSrv, nowMs = ()=>performance.now(), everyMs) {
    const seen = new Map();
    const ask = async ()=>{
        const [grpc, http] = await Promise.all([
            portsOf(resolve, `_grpc._tcp.${service}`),
            portsOf(resolve, `_http._tcp.${service}`)
        ]);
        const listed = [
            ...grpc
        ].flatMap(([target, port])=>{
            const httpPort = http.get(target);
            // The two questions may have been answered around a change.
            if (httpPort === undefined) return [];
            const [name = target] = target.split('.');
            return [
                {
                    name,
                    grpc: `${target}:${port}`,
                    http: `${target}:${httpPort}`,
                    weight: 1
                }
            ];
        });
        const atMs = nowMs();
        for (const member of listed)seen.set(member.name, {
            member,
            atMs
        });
        for (const [name, kept] of seen)if (kept.atMs <= atMs - KEPT_MS) seen.delete(name);
        return [
            ...seen.values()
        ].map(({ member })=>member);
    };
    return new PolledMembership('cluster.dns', ask, everyMs);
}

//# sourceMappingURL=dns-members.js.map