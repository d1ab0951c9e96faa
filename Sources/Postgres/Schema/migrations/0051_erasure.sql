-- An erasure empties the messages that were addressed to the erased person alone, and the kept answers that name the person.
-- Oldest program: 39
-- Routines: 79aa0ea77c32fc43

GRANT DELETE ON gateway.message_media, gateway.page TO gateway_call;
GRANT SELECT (tenant_id, message_id) ON gateway.page TO gateway_call;
GRANT UPDATE (answer) ON gateway.idempotency TO gateway_call;

--@ index
CREATE INDEX idempotency_answered ON gateway.idempotency (tenant_id) WHERE answer IS NOT NULL;
