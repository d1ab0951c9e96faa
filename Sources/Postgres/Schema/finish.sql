-- The last step of a new database, after its tables and routines exist.

-- Weekly partitions from two weeks ago, for deliveries of messages that were due a while ago.
SELECT gateway.make_delivery_partitions(floor(extract(epoch FROM now()) / 86400)::integer - 14, 8);

-- Daily partitions of the event log.
SELECT gateway.make_event_partitions(floor(extract(epoch FROM now()) / 86400)::integer, 8);
