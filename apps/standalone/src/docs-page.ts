import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import { repositoryRoot } from '@tessera/config';
import type { FastifyInstance } from 'fastify';
import { PAGE_HEADERS } from '../../console/src/index.js';
import { consoleDocument, openApiDocument } from './openapi.js';

const PAGE = '/docs';
const DOCUMENT = '/docs-json';
const CONSOLE_DOCUMENT = '/docs-json/console';

/** Folder into which the build puts Swagger UI's files. */
const SWAGGER_UI_FOLDER = join(repositoryRoot, 'build', 'swagger-ui');

/** In place of the initializer of the same name that Swagger UI comes with. */
const INITIALIZER = `SwaggerUIBundle({ url: '..${DOCUMENT}', dom_id: '#swagger-ui' });
`;

/** The OpenAPI page at /docs, its document at /docs-json, and that of the console beside it. */
export async function serveDocs(instance: FastifyInstance, version: string): Promise<void> {
  const documents = {
    [DOCUMENT]: JSON.stringify(openApiDocument(version)),
    [CONSOLE_DOCUMENT]: JSON.stringify(consoleDocument(version)),
  };
  for (const [path, document] of Object.entries(documents)) {
    instance.get(path, (_request, reply) =>
      reply.headers(PAGE_HEADERS).type('application/json').send(document),
    );
  }
  instance.get(`${PAGE}/swagger-initializer.js`, (_request, reply) =>
    reply.headers(PAGE_HEADERS).type('text/javascript').send(INITIALIZER),
  );
  instance.get(PAGE, (_request, reply) => reply.headers(PAGE_HEADERS).redirect('docs/'));
  await instance.register(fastifyStatic, {
    root: SWAGGER_UI_FOLDER,
    prefix: `${PAGE}/`,
    decorateReply: false,
    setHeaders: (reply) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) reply.header(name, value);
    },
  });
}
