import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LoginState, OidcBegun, Visitor } from '../api-types.js';
import { Audits } from '../audits.js';
import { ConsoleParts } from '../console-parts.js';
import { fieldsOf, invalid, optionalText, textOf } from '../fields.js';
import { Gate, visitorRequest } from '../gate.js';
import type { LoginAccess } from '../login-access.js';

const TOKEN_LENGTH_MAX = 1024;
const PAGE_LENGTH_MAX = 1024;
const FOUND = 302;
/** Path of the pages from `api/login/oidc/return`, whatever a proxy puts before it. */
const PAGES = '../../../';

@Controller('console/api/login')
export class LoginController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly audits: Audits,
  ) {}

  /** The person who asks, and the ways to log in; open to everybody. */
  @Get()
  async state(@Req() request: FastifyRequest): Promise<LoginState> {
    const { access, logins } = this.parts;
    const visitor = await access.visitor(visitorRequest(request));
    return { visitor: visitor ?? null, ways: logins?.ways ?? null };
  }

  @Post()
  @HttpCode(200)
  async logIn(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoginState> {
    this.gate.checkOrigin(request);
    const token = textOf(fieldsOf(body, ['token']), 'token', TOKEN_LENGTH_MAX);
    const logins = this.logins();
    const { visitor, cookies } = await this.audited(request, () =>
      logins.logIn(token, visitorRequest(request), request.ip),
    );
    await this.noteLogin(visitor, `with a token, from ${request.ip}`);
    reply.header('set-cookie', cookies);
    return { visitor, ways: logins.ways };
  }

  @Delete()
  async logOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoginState> {
    this.gate.checkOrigin(request);
    const logins = this.logins();
    // A visitor who has no session any more may leave as well.
    const visitor = await logins.visitor(visitorRequest(request)).catch(() => undefined);
    reply.header('set-cookie', logins.logOut(visitorRequest(request)));
    if (visitor !== undefined) {
      await this.audits.note(visitor, { action: 'logout', name: visitor.name }, 'OK');
    }
    return { visitor: null, ways: logins.ways };
  }

  /** Tells the address to log in with the provider. */
  @Post('oidc')
  @HttpCode(200)
  async beginOidc(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OidcBegun> {
    this.gate.checkOrigin(request);
    const page = optionalText(fieldsOf(body, ['returnTo']), 'returnTo', PAGE_LENGTH_MAX) ?? '/';
    if (!page.startsWith('/')) throw invalid('returnTo', 'a page that begins with /', page);
    const { url, cookies } = await this.logins().beginOidc(visitorRequest(request), page);
    reply.header('set-cookie', cookies);
    return { url };
  }

  /** The provider sends browsers back here; a page follows, logged in or with the reason. */
  @Get('oidc/return')
  async endOidc(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = new URL(request.url, 'http://here').search;
    try {
      const { visitor, subject, cookies, returnTo } = await this.audited(request, () =>
        this.logins().endOidc(query, visitorRequest(request), request.ip),
      );
      await this.noteLogin(visitor, `with a provider, as ${subject}, from ${request.ip}`);
      void reply.header('set-cookie', cookies).redirect(`${PAGES}#${returnTo}`, FOUND);
    } catch (thrown) {
      const { code } = TesseraError.from(thrown);
      this.parts.log.warn({ err: thrown }, 'a login with the provider failed');
      void reply.redirect(`${PAGES}#/?refused=${code}`, FOUND);
    }
  }

  private async noteLogin(visitor: Visitor, how: string): Promise<void> {
    await this.audits.note(visitor, { action: 'login', name: visitor.name, detail: how }, 'OK');
  }

  /** Attempts that fail are few for each address, so each is a line; those beyond are counted. */
  private async audited<Result>(
    request: FastifyRequest,
    act: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await act();
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      if (code === 'TOO_MANY_ATTEMPTS') this.parts.countAction('login', code);
      else {
        const detail = `${message}; from ${request.ip}`;
        await this.audits.note(undefined, { action: 'login', name: '', detail }, code);
      }
      throw thrown;
    }
  }

  private logins(): LoginAccess {
    const { logins } = this.parts;
    if (logins !== undefined) return logins;
    const message = 'login: expected a console that asks who comes, got one on this machine alone';
    throw new TesseraError('REQUEST_INVALID', message, { field: 'login' });
  }
}
