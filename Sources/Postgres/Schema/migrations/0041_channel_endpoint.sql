-- A credential may name where its channels are managed, because a simulator or a proxy has them at another address than pushes.
-- Oldest program: 39
-- Routines: ec2e947f8a303532

ALTER TABLE gateway.credential ADD COLUMN channel_endpoint text;
