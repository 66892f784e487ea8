/** Keys of traces; their sampling is set by the variables of OpenTelemetry. */

import { z } from 'zod';
import { text } from './schema-fields.js';

export const tracingSchema = z.strictObject({
  otlpUrl: text(
    '',
    'URL of an OTLP collector over HTTP, e.g. http://127.0.0.1:4318, with /v1/traces unless it ' +
      'has a path; empty: OTEL_EXPORTER_OTLP_ENDPOINT, or no traces',
  ),
});
