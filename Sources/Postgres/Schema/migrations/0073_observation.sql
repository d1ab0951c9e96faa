-- Messages that upstreams sent: `observe_message`, `message_owner`, and receipts by the upstream's names of messages.
-- Oldest program: 39
-- Routines: c26fb988f41f111c
-- The upstream that sent the message, of which the gateway has seen the call and the answer; null: the gateway sends it. Programs of earlier versions show such a
-- message as done, and it has no slices.
ALTER TABLE gateway.message ADD COLUMN observed_from text;
-- The upstream that has given the message this name; null: the gateway.
ALTER TABLE gateway.message_ref ADD COLUMN owner text;
-- Whether that upstream sends a paid message to a device that does not report this one.
ALTER TABLE gateway.message_ref ADD COLUMN is_paid boolean NOT NULL DEFAULT false;
