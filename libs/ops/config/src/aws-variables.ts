/**
 * The variables of AWS that say where buckets are. The SDK reads those of credentials by itself; of
 * these, stores other than AWS need the first, and none but AWS the second.
 */

/** Place of all buckets. */
export interface BucketPlace {
  /** http(s)://HOST[:PORT]; '' for AWS. */
  readonly endpoint: string;
  readonly region: string;
}

const DEFAULT_REGION = 'us-east-1';

/** An empty variable counts as one that is not set. */
export function bucketPlace(
  environment: Readonly<Record<string, string | undefined>>,
): BucketPlace {
  const of = (name: string) => environment[`AWS_${name}`]?.trim() || undefined;
  return {
    endpoint: of('ENDPOINT_URL_S3') ?? of('ENDPOINT_URL') ?? '',
    region: of('REGION') ?? of('DEFAULT_REGION') ?? DEFAULT_REGION,
  };
}
