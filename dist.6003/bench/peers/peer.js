/** An engine's answer to a prompt; members that it cannot give are absent. */ /** Settings of a peer. */ export { };

//# sourceMappingURL=peer.js.map