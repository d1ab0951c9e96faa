-- Lookups whose cost does not depend on the number of slices of a message, the pages of an app's devices, and the
-- erasure of a user's badges and campaign marks.
-- Oldest program: 39
-- Routines: 37c1023f57f9b659

ALTER TABLE gateway.slice ADD COLUMN first_target uuid;

--@ index
CREATE INDEX slice_leased ON gateway.slice (tenant_id, message_id) WHERE state = 'leased';

--@ index
CREATE INDEX slice_first ON gateway.slice (tenant_id, message_id, first_target) WHERE state = 'ready' AND first_target IS NOT NULL;

--@ index
CREATE INDEX device_app ON gateway.device (tenant_id, app_id, device_id);

--@ index
CREATE INDEX badge_holder ON gateway.badge (tenant_id, holder);

--@ index
CREATE INDEX campaign_mark_user ON gateway.campaign_mark (tenant_id, user_id);

--@ backfill
UPDATE gateway.slice AS t SET first_target = targets[1]
WHERE first_target IS NULL AND kind = 'deliver' AND state <> 'done' AND cardinality(targets) > 0;
