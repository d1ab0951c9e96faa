Apps with Braze's SDK can use the gateway when a binding allows it (`sdkEnabled: true`): sessions, users, tokens, permission, events, purchases and opens through `POST /api/v3/data`. SDK authentication by JWT can be optional or required.
Bodies of vendor calls may be compressed with gzip or deflate.
