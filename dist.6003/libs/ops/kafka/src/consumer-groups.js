import { createHash } from "node:crypto";
import { resolve } from "node:path";
const HASH_DIGITS = 8;
/**
 * Name of the consumer group of a topic. The processes of one `groupId` share its records. A
 * process that is in no cluster has the whole topic where the records change what it keeps: its
 * group is that of its folder, so that two processes on one host differ.
 * @param folder of what the records change; undefined: they are shared
 */ export function groupOf(topic, { groupId, node }, folder) {
    const shared = `${groupId}.${topic}`;
    if (folder === undefined) return shared;
    const place = createHash('sha256').update(resolve(folder)).digest('hex');
    return `${shared}.${node}.${place.slice(0, HASH_DIGITS)}`;
}

//# sourceMappingURL=consumer-groups.js.map