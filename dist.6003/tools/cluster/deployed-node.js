/** A node as the files of deploy/cluster/ name it. */ export { };

//# sourceMappingURL=deployed-node.js.map