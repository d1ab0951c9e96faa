Apps with the SDK of Braze can be pointed at the gateway, where a binding allows it (`sdkEnabled: true`): sessions, users, tokens, permission, events, purchases and opens by `POST /api/v3/data`. SDK authentication by JWT may be optional or required.
Bodies of vendors' calls may be compressed with gzip or deflate.
