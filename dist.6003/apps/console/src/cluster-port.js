/** Port: the cluster that this node is one of. */ export { };

//# sourceMappingURL=cluster-port.js.map