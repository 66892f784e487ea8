export { Etcd, endOf } from "./etcd.js";
export { NodeKey, nodesOf } from "./node-key.js";

//# sourceMappingURL=index.js.map