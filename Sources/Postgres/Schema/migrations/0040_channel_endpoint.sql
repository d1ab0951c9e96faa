-- A credential may name where its channels are managed, because a simulator or a proxy has them at another address than pushes.
-- Oldest program: 39
-- Routines: 82d75cfebb5bb3da

ALTER TABLE gateway.credential ADD COLUMN channel_endpoint text;
