Notification Hubs: template sends (`ServiceBusNotification-Format: template`) fill the templates of installations. Each template is a target with its own
tags, push and outcome.
