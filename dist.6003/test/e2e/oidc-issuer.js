/** An OpenID provider with some people, on this machine under another name than the service. */ import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import Provider from "oidc-provider";
export const CLIENT_ID = 'tessera-console';
export const CLIENT_SECRET = 'a secret of the console alone';
/** Any port of it. */ const REDIRECT_URI = 'http://127.0.0.1/console/api/login/oidc/return';
function configuration(people) {
    const { privateKey } = generateKeyPairSync('rsa', {
        modulusLength: 2048
    });
    return {
        clients: [
            {
                client_id: CLIENT_ID,
                client_secret: CLIENT_SECRET,
                application_type: 'native',
                redirect_uris: [
                    REDIRECT_URI
                ]
            }
        ],
        claims: {
            openid: [
                'sub'
            ],
            profile: [
                'preferred_username',
                'roles'
            ]
        },
        cookies: {
            keys: [
                'of the provider in tests'
            ]
        },
        jwks: {
            keys: [
                {
                    ...privateKey.export({
                        format: 'jwk'
                    }),
                    use: 'sig',
                    alg: 'RS256'
                }
            ]
        },
        features: {
            devInteractions: {
                enabled: false
            }
        },
        interactions: {
            url: (_context, { uid })=>`/people/${uid}`
        },
        findAccount: (_context, id)=>({
                accountId: id,
                claims: async ()=>({
                        sub: id,
                        preferred_username: id,
                        roles: people[id]
                    })
            }),
        ttl: {
            AccessToken: 60,
            AuthorizationCode: 60,
            IdToken: 60,
            Grant: 600,
            Interaction: 600,
            Session: 600
        }
    };
}
export class OidcIssuer {
    server;
    url;
    constructor(server, url){
        this.server = server;
        this.url = url;
    }
    /** @param name that it gives itself; left out: its address */ static async start(people, name) {
        const server = createServer();
        server.listen(0, 'localhost');
        await once(server, 'listening');
        const url = `http://localhost:${server.address().port}`;
        const provider = new Provider(name ?? url, configuration(people));
        const serve = provider.callback();
        server.on('request', (request, response)=>{
            if (!request.url?.startsWith('/people/')) serve(request, response);
            else if (request.method === 'POST') void chosen(provider, request, response);
            else choice(people, response);
        });
        return new OidcIssuer(server, url);
    }
    async stop() {
        this.server.closeAllConnections();
        this.server.close();
        await once(this.server, 'close');
    }
}
/** A page with a button for each of the people, and one to give up. */ function choice(people, response) {
    const buttons = Object.keys(people).map((name)=>`<button name="who" value="${name}">${name}`);
    const form = `<form method="post">${buttons.join('</button>')}</button></form>`;
    const nobody = '<form method="post"><button name="who" value="">Nobody</button></form>';
    response.setHeader('content-type', 'text/html').end(`<h1>Provider</h1>${form}${nobody}`);
}
async function chosen(provider, request, response) {
    const parts = [];
    for await (const part of request)parts.push(part);
    const accountId = new URLSearchParams(Buffer.concat(parts).toString()).get('who') ?? '';
    if (accountId === '') {
        const denied = {
            error: 'access_denied',
            error_description: 'nobody was chosen'
        };
        return provider.interactionFinished(request, response, denied);
    }
    const { params } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({
        accountId,
        clientId: params.client_id
    });
    grant.addOIDCScope(params.scope);
    const consent = {
        grantId: await grant.save()
    };
    return provider.interactionFinished(request, response, {
        login: {
            accountId
        },
        consent
    });
}

//# sourceMappingURL=oidc-issuer.js.map