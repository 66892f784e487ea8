/** Keys of who may do what, and of how this process shows itself to others. */

import { z } from 'zod';
import { oneOf, text } from './schema-fields.js';

export const accessSchema = z.strictObject({
  mode: oneOf(
    ['guarded', 'open'],
    'guarded',
    'where no access.tokensPath is given: refuse to serve beyond a loopback address, or let ' +
      'everybody who reaches the service do everything',
  ),
  tokensPath: text(
    '',
    'JSON file of tokens and certificates, with their scopes; empty: all may do all on a ' +
      'loopback address',
  ),
  auditPath: text(
    '',
    'file of audits; empty: audit.jsonl in adapters.path, weights.path or inspection.path, of a ' +
      'feature process behaviours.path with .audit.jsonl behind it',
  ),
});

export const peerSchema = z.strictObject({
  tls: oneOf(
    ['off', 'on'],
    'off',
    'call other processes of Tessera (behaviours.remote, behaviours.retrieval) over TLS',
  ),
  caPath: text('', 'PEM file of the authority of their certificates; empty: those of the system'),
  certificatePath: text('', 'PEM file of the certificate that they are shown; empty: none'),
  keyPath: text('', 'PEM file of its private key'),
  tokenPath: text('', 'file of the token that they are shown; empty: none'),
});
