// An OpenID provider made with oidc-provider, on a free port of this machine. Its own pages ask for a login and consent.

import { createServer } from "node:http";

import Provider from "oidc-provider";

const LOOPBACK = "http://127.0.0.1/callback";
const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
const PUBLIC = {
  application_type: "native", // the port of loopback redirects may change
  redirect_uris: [LOOPBACK],
  response_types: ["code"],
  grant_types: ["authorization_code", "refresh_token", DEVICE_CODE],
  token_endpoint_auth_method: "none",
};
const SECRET = {
  redirect_uris: [],
  response_types: [],
  grant_types: ["client_credentials"],
};

const http = createServer();
await new Promise((done) => http.listen(0, "127.0.0.1", done));
const issuer = `http://127.0.0.1:${http.address().port}`;
const provider = new Provider(issuer, {
  clients: [
    { client_id: "inspector", ...PUBLIC },
    { client_id: "short-lived", ...PUBLIC },
    { client_id: "service", client_secret: "s3cret/+ &", ...SECRET },
    { client_id: "agent", client_secret: "agent-secret", ...SECRET },
  ],
  scopes: ["openid", "offline_access", "profile", "agent:call"],
  cookies: { keys: ["interop"] },
  features: {
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    introspection: { enabled: true, allowedPolicy: (_context, client) => client.clientId === "agent" },
    revocation: { enabled: true },
  },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  ttl: { AccessToken: (_context, _token, client) => (client.clientId === "short-lived" ? 20 : 3600) },
});
http.on("request", provider.callback());
console.log(issuer);
