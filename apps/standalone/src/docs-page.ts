import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { openApiDocument } from './openapi.js';

/** The OpenAPI page at /docs and the document itself at /docs-json. */
export async function serveDocs(app: NestFastifyApplication, version: string): Promise<void> {
  SwaggerModule.setup('docs', app, openApiDocument(version) as unknown as OpenAPIObject);
}
