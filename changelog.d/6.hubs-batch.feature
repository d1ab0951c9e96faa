Notification Hubs: one notification goes to 1,000 device handles by `POST /{hub}/messages/$batch`.
