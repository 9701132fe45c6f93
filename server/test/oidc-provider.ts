import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** Whom the provider knows; the next sign-in is theirs. */
export interface KnownPerson {
  sub: string;
  email: string;
  email_verified: boolean;
}

export interface TestProvider extends AsyncDisposable {
  issuer: string;
  /** Who is sitting at the browser. */
  person: KnownPerson;
}

export const client = { client_id: 'millrun', client_secret: 'a-secret-of-the-client-that-is-long-enough' };

/** A real OpenID Connect provider, whose people agree to everything at once. */
export async function startProvider(redirectUri: string, person: KnownPerson): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = { issuer, person };
  const provider = new Provider(issuer, {
    clients: [
      { ...client, redirect_uris: [redirectUri], response_types: ['code'], grant_types: ['authorization_code'] },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...state.person }) }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  });
  const callback = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const answer =
      request.url?.startsWith('/interaction/') === true
        ? agree(provider, state, request, response)
        : callback(request, response);
    answer.catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return Object.assign(state, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function agree(
  provider: Provider,
  { person }: { person: KnownPerson },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: person.sub } });
    return;
  }
  const grant = new provider.Grant({
    accountId: session?.accountId ?? person.sub,
    clientId: String(params['client_id']),
  });
  grant.addOIDCScope('openid email profile');
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}
