export { BucketClient, bucketFault, isAbsent, statusOf } from "./bucket-client.js";

//# sourceMappingURL=index.js.map