-- Devices whose system shows no pushes of the app, as an SDK tells: none is sent, whatever their users chose.
--
-- Such an identity says "deniesPush" in its attributes. A column, because every push asks for it: attributes may be 8 KiB and stand elsewhere.
ALTER TABLE gateway.identity ADD COLUMN denies_push boolean GENERATED ALWAYS AS (attributes->>'deniesPush' = 'true') STORED;
