/** Functions of the addon for stores (native/src/store): see abi.ts. */ export { };

//# sourceMappingURL=store-abi.js.map