import protobuf from 'protobufjs';

/** Of google/rpc/status.proto and error_details.proto what is read. */
const PROTO = `
  syntax = "proto3";
  package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { repeated Any details = 3; }
  message ErrorInfo { string reason = 1; map<string, string> metadata = 3; }
`;
const { root } = protobuf.parse(PROTO, { keepCase: false });
const Status = root.lookupType('google.rpc.Status');
const ErrorInfo = root.lookupType('google.rpc.ErrorInfo');

interface Details {
  readonly details: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
}

/**
 * True where the service says, in a google.rpc.Status, that the same call may succeed later.
 * Undefined: it says nothing that can be read.
 */
export function isRetryable(status: Uint8Array): boolean | undefined {
  try {
    const { details } = Status.decode(status) as unknown as Details;
    const info = details.find(({ typeUrl }) => typeUrl.endsWith('google.rpc.ErrorInfo'));
    if (info === undefined) return undefined;
    const { metadata } = ErrorInfo.decode(info.value) as unknown as {
      readonly metadata: Readonly<Record<string, string>>;
    };
    return metadata.retryable === 'true';
  } catch {
    // Bytes of a proxy, or cut off: the status remains.
    return undefined;
  }
}
