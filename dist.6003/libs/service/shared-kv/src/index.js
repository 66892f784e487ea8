export { parseStoreAddress } from "./domain/store-address.js";
export { openStore } from "./open-store.js";
export { StoreThread } from "./store-thread.js";

//# sourceMappingURL=index.js.map