Notification Hubs: direct sends and batches reach handles that no installation has.
