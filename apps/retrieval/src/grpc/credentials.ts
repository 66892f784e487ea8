import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { Credentials } from '@tessera/access';

export type Call = Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'getAuthContext'>;

/** Who calls, as metadata and transport say it; a certificate that is there was checked. */
export function credentialsOf(call: Call): Credentials {
  const authorization = call.metadata.get('authorization')[0]?.toString();
  const subject = call.getAuthContext()?.sslPeerCertificate?.subject;
  return { authorization, certificate: subject?.CN?.toString() };
}
