export {
  BucketClient,
  type BucketSettings,
  bucketFault,
  isAbsent,
  type ObjectPlace,
  type PutCondition,
  statusOf,
} from './bucket-client.js';
