import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { JARS } from "./kafka-broker.js";
/** Programs that are missing to start these; the set-up of the tests installs all of them. */ export function missingFor(servers) {
    const missing = [];
    if (servers.includes('kafka') && !runs('java', '-version')) missing.push('java');
    if (servers.includes('kafka') && !existsSync(JARS)) missing.push("the broker's jars");
    if (servers.includes('redis') && !runs('redis-server', '--version')) missing.push('redis-server');
    if (servers.includes('etcd') && !runs('etcd', '--version')) missing.push('etcd-server');
    if (servers.includes('haproxy') && !runs('haproxy', '-v')) missing.push('haproxy');
    return missing;
}
const runs = (command, version)=>spawnSync(command, [
        version
    ]).status === 0;

//# sourceMappingURL=real-servers.js.map