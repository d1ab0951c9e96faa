Notification Hubs: an installation ends at its `expirationTime`: it is rung no more, answers 404, and leaves at the next upkeep. Its migration rewrites the table of
identities once.
