Notification Hubs: direct sends and batches reach handles without an installation.
