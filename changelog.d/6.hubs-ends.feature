Notification Hubs: an installation ends at its `expirationTime`: it receives no further pushes, answers 404, and is removed by the next maintenance run. The migration rewrites the table of
identities once.
