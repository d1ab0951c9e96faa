Notification Hubs: `POST /{hub}/messages/$batch` sends one notification to up to 1,000 device handles.
