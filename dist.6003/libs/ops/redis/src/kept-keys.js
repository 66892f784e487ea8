import { mastersOf } from "./redis-link.js";
const KEPT = {
    evictsBy: '',
    outlivesProcess: true
};
/**
 * The worst case of all servers with keys, read by INFO, because many users may not read CONFIG. A
 * line that INFO leaves out counts as kept. Policies `volatile-*` take keys with an expiry alone.
 */ export async function keyKeeping(client) {
    const all = await Promise.all(mastersOf(client).map(async (server)=>{
        const sections = [
            'memory',
            'persistence',
            'replication'
        ].map((name)=>server.info(name));
        return keepingIn((await Promise.all(sections)).join('\n'));
    }));
    return all.reduce((worst, one)=>({
            evictsBy: worst.evictsBy || one.evictsBy,
            outlivesProcess: worst.outlivesProcess && one.outlivesProcess
        }), KEPT);
}
function keepingIn(info) {
    const of = (name)=>new RegExp(`^${name}:(.*?)\\s*$`, 'm').exec(info)?.[1] ?? '';
    const policy = of('maxmemory_policy');
    const evictsBy = policy.startsWith('allkeys') && of('maxmemory') !== '0' ? policy : '';
    const outlivesProcess = of('aof_enabled') !== '0' || Number(of('connected_slaves')) > 0;
    return {
        evictsBy,
        outlivesProcess
    };
}

//# sourceMappingURL=kept-keys.js.map