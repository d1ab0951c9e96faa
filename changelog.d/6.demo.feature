`push-gateway demo` also plays an app with Braze's SDK and the app of the Notification Hubs tutorials.
