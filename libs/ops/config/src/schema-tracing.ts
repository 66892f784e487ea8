/** Keys of traces. */

import { z } from 'zod';
import { OTEL_SAMPLERS } from './otel-variables.js';
import { decimal, oneOf, text } from './schema-fields.js';

export const tracingSchema = z.strictObject({
  otlpUrl: text(
    '',
    'where traces are sent, OTLP over HTTP such as http://127.0.0.1:4318; /v1/traces where there ' +
      'is no path; empty: OTEL_EXPORTER_OTLP_ENDPOINT, or none are kept',
  ),
  percent: decimal(
    0,
    100,
    100,
    'of the traces that begin here, how many are kept by a sampler of ratio',
  ),
  sampler: oneOf(
    OTEL_SAMPLERS,
    'parentbased_traceidratio',
    'which traces are kept, as OTEL_TRACES_SAMPLER names them; parentbased: those of callers as ' +
      'the caller says',
  ),
});
