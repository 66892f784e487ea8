import { protoSchema } from '@tessera/contracts';
import { errorBody, type TesseraError } from '@tessera/errors';
import protobuf from 'protobufjs';

/**
 * Trailer under which clients of gRPC look for a google.rpc.Status (grpc.io, "Richer error
 * model").
 */
export const STATUS_DETAILS = 'grpc-status-details-bin';

const DOMAIN = 'tessera';
const TYPE_URL = 'type.googleapis.com/';
const MS_PER_SECOND = 1000;
const NANOSECONDS_PER_MS = 1_000_000;
/** Maximum characters of texts: a client takes 8 KiB of headers, which repeat the message. */
const TEXT_CHARACTERS_MAX = 512;

/** Parts of google/rpc/status.proto and error_details.proto that are sent, with their numbers. */
const rpc = protobuf.Root.fromJSON({
  nested: {
    google: {
      nested: {
        protobuf: {
          nested: {
            Any: message({ type_url: ['string', 1], value: ['bytes', 2] }),
            Duration: message({ seconds: ['int64', 1], nanos: ['int32', 2] }),
          },
        },
        rpc: {
          nested: {
            Status: {
              fields: {
                code: { type: 'int32', id: 1 },
                message: { type: 'string', id: 2 },
                details: { rule: 'repeated', type: 'google.protobuf.Any', id: 3 },
              },
            },
            ErrorInfo: {
              fields: {
                reason: { type: 'string', id: 1 },
                domain: { type: 'string', id: 2 },
                metadata: { keyType: 'string', type: 'string', id: 3 },
              },
            },
            RetryInfo: message({ retry_delay: ['google.protobuf.Duration', 1] }),
            BadRequest: {
              fields: {
                field_violations: { rule: 'repeated', type: 'FieldViolation', id: 1 },
              },
              nested: {
                FieldViolation: message({ field: ['string', 1], description: ['string', 2] }),
              },
            },
          },
        },
      },
    },
  },
} as protobuf.INamespace);

function message(fields: Readonly<Record<string, readonly [string, number]>>) {
  const entries = Object.entries(fields).map(([name, [type, id]]) => [name, { type, id }]);
  return { fields: Object.fromEntries(entries) };
}

const ofRpc = (name: string) => rpc.lookupType(`google.rpc.${name}`);
const Status = ofRpc('Status');
const ErrorInfo = ofRpc('ErrorInfo');
const BadRequest = ofRpc('BadRequest');
const RetryInfo = ofRpc('RetryInfo');

function any(type: protobuf.Type, content: object) {
  const value = type.encode(content).finish();
  return { type_url: `${TYPE_URL}google.rpc.${type.name}`, value };
}

/**
 * Details of an error beside its status, as a google.rpc.Status: ErrorInfo with the code of the
 * table as its reason, BadRequest with the field as the proto file spells it, RetryInfo with the
 * hint.
 */
export function statusDetails(error: TesseraError): Buffer {
  const { code, message: text, field, retryable, retryAfterMs } = errorBody(error).error;
  const shown = text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed();
  const metadata = { retryable: String(retryable) };
  const details = [any(ErrorInfo, { reason: code, domain: DOMAIN, metadata })];
  if (field !== undefined) {
    const path = protoPath(field).slice(0, TEXT_CHARACTERS_MAX).toWellFormed();
    const violation = { field: path, description: shown };
    details.push(any(BadRequest, { field_violations: [violation] }));
  }
  if (retryAfterMs !== undefined) {
    const seconds = Math.floor(retryAfterMs / MS_PER_SECOND);
    const nanos = Math.round((retryAfterMs % MS_PER_SECOND) * NANOSECONDS_PER_MS);
    details.push(any(RetryInfo, { retry_delay: { seconds, nanos } }));
  }
  const status = { code: error.row.grpc, message: shown, details };
  return Buffer.from(Status.encode(status).finish());
}

/** Fields of all messages by their names in JSON. */
const FIELDS = new Map<string, { readonly name: string; readonly isMap: boolean }>();

function addFields({ nested, fields }: protobuf.INamespace & Partial<protobuf.IType>): void {
  for (const [name, field] of Object.entries(fields ?? {})) {
    const written = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    FIELDS.set(name, { name: written, isMap: 'keyType' in field });
  }
  for (const below of Object.values(nested ?? {})) addFields(below as protobuf.INamespace);
}
addFields(protoSchema as protobuf.INamespace);

/** `eligibility.all[0].itemIds` as `eligibility.all[0].item_ids`; keys of maps stay as they are. */
export function protoPath(path: string): string {
  let isKey = false;
  return path
    .split('.')
    .map((part) => {
      const [, name = '', rest = ''] = /^([^[]*)(.*)$/s.exec(part) ?? [];
      const field = isKey ? undefined : FIELDS.get(name);
      isKey = field?.isMap === true && rest === '';
      return (field?.name ?? name) + rest;
    })
    .join('.');
}
