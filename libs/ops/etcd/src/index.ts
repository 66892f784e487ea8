export { Etcd, type EtcdEntry, type EtcdSecurity, type EtcdStep, endOf } from './etcd.js';
export { NodeKey, nodesOf } from './node-key.js';
