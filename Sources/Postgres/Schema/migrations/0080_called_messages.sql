-- Receipts of messages that were sent through upstreams, by the upstream's name of the message (`called_message`, `numbered_message`, `message_owner`).
-- Oldest program: 39
-- Routines: 8534b16a27ff4900

GRANT SELECT (tenant_id, credential_id, kind) ON gateway.credential TO gateway_call;
