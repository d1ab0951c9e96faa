Campaigns of Braze are kept by the native API (`/v1/campaigns`) and sent by `/campaigns/trigger/send`, each recipient with properties of its own;
`/messages/send` may be counted for one.
