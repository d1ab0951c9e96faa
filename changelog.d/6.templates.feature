Notification Hubs: sends by template (`ServiceBusNotification-Format: template`) fill the templates of installations, each of which is a target with its own
tags, push and outcome.
