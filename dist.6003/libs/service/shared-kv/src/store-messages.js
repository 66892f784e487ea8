/** From the thread: once a second, and where the breaker changes. */ export { };

//# sourceMappingURL=store-messages.js.map